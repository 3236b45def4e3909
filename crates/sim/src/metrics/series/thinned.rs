//! A sequence of any length as at most 1024 of its items, equally far apart.

/// Dots that a plot can show apart on a screen.
const MOST: usize = 1024;

/// Every n-th of the items that came; n doubles whenever there are too many.
pub(super) struct Thinned<T> {
    items: Vec<T>,
    /// Items that came.
    seen: u64,
    /// One in two to this power is kept.
    sparse: u32,
}

impl<T> Default for Thinned<T> {
    fn default() -> Self {
        Thinned { items: Vec::new(), seen: 0, sparse: 0 }
    }
}

impl<T> Thinned<T> {
    /// Whether the next item would be kept.
    pub(super) fn wants(&self) -> bool {
        self.seen & ((1 << self.sparse) - 1) == 0
    }

    /// The next item.
    pub(super) fn push(&mut self, item: T) {
        if self.wants() {
            if self.items.len() == MOST {
                self.sparse += 1;
                let mut place = 0;
                self.items.retain(|_| {
                    place += 1;
                    place % 2 == 1
                });
            }
            // The item that made room necessary is itself one of those that stay: it is the 1024th of 2 to the n.
            self.items.push(item);
        }
        self.seen += 1;
    }

    /// What is left.
    pub(super) fn into_items(self) -> Vec<T> {
        self.items
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_stay_equally_far_apart() {
        for count in [0u64, 1, 1023, 1024, 1025, 5000, 100_000] {
            let mut thinned = Thinned::default();
            (0..count).for_each(|item| thinned.push(item));
            let items = thinned.into_items();
            assert!(items.len() as u64 == count.min(MOST as u64) || items.len() >= MOST / 2, "{count}");
            let step = items.get(1).copied().unwrap_or(1);
            assert!(items.iter().enumerate().all(|(place, item)| *item == place as u64 * step), "{count}");
        }
    }
}
