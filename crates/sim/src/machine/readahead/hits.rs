//! Linux 2.6 until 2.6.10: a current and an ahead window that grow by two pages with each page in order.
//!
//! The first read opens a window of half the maximum. The second page of a window asks for the ahead window; when the
//! process comes to that, it becomes the current one, and only its second page asks for the next. So a process that
//! is faster than the disk has one window on its way, and sleeps on it. A page elsewhere makes the next window two pages
//! smaller, down to none; one that was read ahead and is gone, three.
//!
//! Source: mm/readahead.c of Linux 2.6.8. 2.6.9 also weighs how long runs were, which changes nothing for files that are
//! read in order.

use super::window::{Unit, Window};

/// The smallest window after a miss, in pages: `VM_MIN_READAHEAD` of 16 KiB.
const MIN: u64 = 4;

/// The state of an open file.
#[derive(Clone, Copy, Debug)]
pub struct Hits {
    max: u64,
    /// Current window.
    start: u64,
    size: u64,
    /// Ahead window. A size of 0: there is none.
    ahead: u64,
    ahead_size: u64,
    /// The size of the next window. `None`: nothing was read yet. 0: there is none.
    next: Option<u64>,
    last: Option<u64>,
}

impl Hits {
    pub(super) fn new(max: u32) -> Hits {
        Hits { max: u64::from(max), start: 0, size: 0, ahead: 0, ahead_size: 0, next: None, last: None }
    }

    pub(super) fn missed(&mut self) {
        self.next = self.next.map(|next| next.saturating_sub(3).max(MIN));
    }

    pub(super) fn at(&mut self, unit: Unit, cached: &dyn Fn(u64) -> bool, out: &mut Vec<Window>) {
        let Unit { place, end, .. } = unit;
        if self.last.replace(place) == Some(place) || self.next == Some(0) {
            return;
        }
        let mut read = |start: u64, count: u64| {
            if (start..end.min(start + count)).any(|page| !cached(page)) {
                out.push(Window::plain(start, count));
            }
        };
        let inside = (self.start..self.start + self.size).contains(&place);
        let next = match self.next {
            None => self.max / 2,
            Some(next) if inside || place == self.start + self.size => (next + 2).min(self.max),
            Some(next) => next.saturating_sub(2),
        };
        self.next = Some(next);
        if inside {
            if self.ahead_size == 0 {
                (self.ahead, self.ahead_size) = (self.start + self.size, next);
                read(self.ahead, next);
            }
        } else if self.ahead_size > 0 && place == self.ahead {
            (self.start, self.size, self.ahead_size) = (self.ahead, self.ahead_size, 0);
        } else {
            (self.start, self.size, self.ahead_size) = (place, next, 0);
            read(place, next);
        }
    }
}
