//! Two lists of pages, from warm to cold: linked by number, so that any page can leave at once.

/// No page.
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Ends {
    warm: u32,
    cold: u32,
    len: u32,
}

/// The inactive and the active list. A page is on one of them.
#[derive(Debug)]
pub(super) struct Lists {
    /// Inactive, active.
    ends: [Ends; 2],
    /// By page: the next warmer and the next colder one.
    links: Vec<(u32, u32)>,
}

impl Default for Lists {
    fn default() -> Self {
        Lists { ends: [Ends { warm: NONE, cold: NONE, len: 0 }; 2], links: Vec::new() }
    }
}

impl Lists {
    pub(super) fn len(&self, active: bool) -> u32 {
        self.ends[usize::from(active)].len
    }

    pub(super) fn coldest(&self, active: bool) -> Option<u32> {
        let cold = self.ends[usize::from(active)].cold;
        (cold != NONE).then_some(cold)
    }

    /// `page`, which is on neither list, becomes the warmest of one.
    pub(super) fn push(&mut self, active: bool, page: u32) {
        if self.links.len() <= page as usize {
            self.links.resize(page as usize + 1, (NONE, NONE));
        }
        let ends = &mut self.ends[usize::from(active)];
        let before = std::mem::replace(&mut ends.warm, page);
        ends.len += 1;
        self.links[page as usize] = (NONE, before);
        match before {
            NONE => ends.cold = page,
            _ => self.links[before as usize].0 = page,
        }
    }

    /// `page` leaves the list that it is on.
    pub(super) fn remove(&mut self, active: bool, page: u32) {
        let (warmer, colder) = self.links[page as usize];
        let ends = &mut self.ends[usize::from(active)];
        ends.len -= 1;
        match warmer {
            NONE => ends.warm = colder,
            _ => self.links[warmer as usize].1 = colder,
        }
        match colder {
            NONE => ends.cold = warmer,
            _ => self.links[colder as usize].0 = warmer,
        }
    }
}
