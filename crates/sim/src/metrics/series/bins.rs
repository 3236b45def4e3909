//! Bins of time: 256 at most. When a run outlasts them, neighbours become one, so that each is twice as wide.

use idlewise_core::{Duration, Instant};

use super::super::small_histogram::SmallHistogram;

/// Bins that a plot can show apart on a screen.
const MOST: usize = 256;

/// The width of the first bins, as a power of two of nanoseconds: 1 ms.
const FIRST_WIDTH: u32 = 20;

/// Sums over a bin.
#[derive(Clone, Default)]
pub(super) struct Sums {
    /// Of reads, then of writes.
    pub(super) bytes: [u64; 2],
    pub(super) latencies: [SmallHistogram; 2],
    /// Requests times how long each was outstanding within the bin.
    pub(super) outstanding_ns: u64,
    pub(super) waiting_ns: u64,
    /// By column of processes.
    pub(super) service_ns: Vec<u64>,
}

impl Sums {
    pub(super) fn add(&mut self, other: &Sums) {
        for direction in 0..2 {
            self.bytes[direction] += other.bytes[direction];
            self.latencies[direction].add(&other.latencies[direction]);
        }
        self.outstanding_ns += other.outstanding_ns;
        self.waiting_ns += other.waiting_ns;
        for (column, ns) in other.service_ns.iter().enumerate() {
            self.serve(column, *ns);
        }
    }

    /// Adds device time to a column.
    pub(super) fn serve(&mut self, column: usize, ns: u64) {
        if self.service_ns.len() <= column {
            self.service_ns.resize(column + 1, 0);
        }
        self.service_ns[column] += ns;
    }
}

/// All bins from time zero on.
pub(super) struct Bins {
    sums: Vec<Sums>,
    width: u32,
}

impl Default for Bins {
    fn default() -> Bins {
        Bins { sums: Vec::new(), width: FIRST_WIDTH }
    }
}

impl Bins {
    /// How long a bin is.
    pub(super) fn width(&self) -> Duration {
        Duration(1 << self.width)
    }

    /// The bins so far.
    pub(super) fn all(&self) -> &[Sums] {
        &self.sums
    }

    /// The bin of `now`.
    pub(super) fn at(&mut self, now: Instant) -> &mut Sums {
        while now.0 >> self.width >= MOST as u64 {
            self.fold();
        }
        let place = (now.0 >> self.width) as usize;
        if self.sums.len() <= place {
            self.sums.resize(place + 1, Sums::default());
        }
        &mut self.sums[place]
    }

    /// Gives each bin between two times its part, in nanoseconds.
    pub(super) fn spread(&mut self, from: Instant, to: Instant, give: impl Fn(&mut Sums, u64)) {
        self.at(to);
        let mut from = from;
        while from < to {
            let end = Instant(((from.0 >> self.width) + 1) << self.width).min(to);
            give(self.at(from), end.since(from).0);
            from = end;
        }
    }

    fn fold(&mut self) {
        self.width += 1;
        let pairs = self.sums.chunks(2).map(|pair| {
            let mut sum = pair[0].clone();
            pair[1..].iter().for_each(|other| sum.add(other));
            sum
        });
        self.sums = pairs.collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_lost_when_bins_get_wider() {
        let mut bins = Bins::default();
        let (mut bytes, mut last) = (0, Instant::ZERO);
        for step in 0..3000u64 {
            let now = Instant(step * step * 7_919);
            bins.at(now).bytes[0] += step;
            bins.spread(last, now, |sums, ns| sums.outstanding_ns += ns);
            bins.at(now).serve(step as usize % 5, 3);
            (bytes, last) = (bytes + step, now);
            assert!(bins.all().len() <= MOST);
        }
        assert!(bins.all().len() > MOST / 2, "{} bins", bins.all().len());
        let sum = |figure: fn(&Sums) -> u64| bins.all().iter().map(figure).sum::<u64>();
        assert_eq!(sum(|sums| sums.bytes[0]), bytes);
        assert_eq!(sum(|sums| sums.outstanding_ns), last.0);
        assert_eq!(sum(|sums| sums.service_ns.iter().sum()), 9000);
        let full = |sums: &Sums| sums.outstanding_ns == bins.width().0;
        assert!(bins.all()[..bins.all().len() - 1].iter().all(full), "each bin has all of its time");
    }
}
