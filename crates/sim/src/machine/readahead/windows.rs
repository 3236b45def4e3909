//! Linux 2.6.11 to 2.6.22: a current window, in which the process reads, and an ahead window, which is on its way.
//!
//! The first read at the beginning of a file opens a window of a quarter of the maximum, or all of it if the call is
//! longer than that. From the second read on there is an ahead window of twice the current one's size. When the
//! process enters the ahead window, it becomes the current one and the next one is read, also if the process sleeps at once. A page that was read
//! ahead and is gone again makes the next window two pages smaller. Any other read but the next one in order
//! closes both windows and reads what it wants. After 256 pages in a row that were all in the cache there is no more
//! read-ahead until a page is missing.
//!
//! Source: mm/readahead.c of Linux 2.6.11.

use super::window::{Found, Unit, Window};

/// The smallest window after a miss, in pages: `VM_MIN_READAHEAD` of 16 KiB.
const MIN: u64 = 4;
/// Pages in the cache after which nothing is read ahead: `VM_MAX_CACHE_HIT`.
const ALL_CACHED: u64 = 256;

/// The state of an open file.
#[derive(Clone, Copy, Debug)]
pub struct Windows {
    max: u64,
    /// Current window. A size of 0: there is none.
    start: u64,
    size: u64,
    /// Ahead window. A size of 0: there is none.
    ahead: u64,
    ahead_size: u64,
    /// The last page of the last read. `None`: nothing was read yet.
    last: Option<u64>,
    /// The page of this call at which the algorithm is asked again. `None`: at the call's first.
    ask_at: Option<u64>,
    missed: bool,
    hits: u64,
    in_cache: bool,
}

impl Windows {
    pub(super) fn new(max: u32) -> Windows {
        Windows {
            max: u64::from(max),
            start: 0,
            size: 0,
            ahead: 0,
            ahead_size: 0,
            last: None,
            ask_at: None,
            missed: false,
            hits: 0,
            in_cache: false,
        }
    }

    pub(super) fn call(&mut self) {
        self.ask_at = None;
    }

    pub(super) fn missed(&mut self) {
        (self.missed, self.in_cache) = (true, false);
    }

    pub(super) fn at(&mut self, unit: Unit, cached: &dyn Fn(u64) -> bool, out: &mut Vec<Window>) {
        if unit.found == Found::Absent && self.in_cache {
            self.missed();
        }
        if self.ask_at.is_some_and(|page| page != unit.place) {
            return;
        }
        let (mut place, mut left) = (unit.place, unit.left);
        // The rest of a page that an earlier call began.
        if self.last == Some(place) {
            (place, left) = (place + 1, left - 1);
        }
        let in_order = self.last.map_or(place == 0, |last| last + 1 == place);
        let last = if left == 0 { unit.place } else { place + left.min(self.max) - 1 };
        (self.last, self.ask_at) = (Some(last), Some(last + 1));
        if left > 0 && !self.in_cache {
            self.step(place, left, in_order, unit.end, cached, out);
        }
    }

    fn step(
        &mut self,
        place: u64,
        left: u64,
        in_order: bool,
        end: u64,
        cached: &dyn Fn(u64) -> bool,
        out: &mut Vec<Window>,
    ) {
        let wanted = left.min(self.max);
        if in_order && self.size == 0 {
            (self.start, self.size) = (place, self.initial(wanted));
            if self.read(place, self.size, end, cached, out) && left >= self.max {
                self.open_ahead(end, cached, out);
            }
            return;
        }
        if !in_order {
            (self.start, self.size, self.ahead_size, self.missed) = (0, 0, 0, false);
            self.read(place, wanted, end, cached, out);
            return;
        }
        if self.ahead_size == 0 {
            self.open_ahead(end, cached, out);
        }
        let last = self.last.unwrap_or_default();
        if self.ahead_size > 0 && last >= self.ahead {
            (self.start, self.size) = (self.ahead, self.ahead_size);
            self.open_ahead(end, cached, out);
        }
    }

    /// The first window for a call of `wanted` pages.
    fn initial(&self, wanted: u64) -> u64 {
        let wanted = wanted.next_power_of_two();
        if wanted <= self.max / 4 { self.max / 4 } else { self.max }
    }

    /// The window after the current one.
    fn next_size(&mut self) -> u64 {
        if std::mem::take(&mut self.missed) {
            return self.size.saturating_sub(2).max(MIN).min(self.max);
        }
        let grown = if self.size < self.max / 16 { 4 * self.size } else { 2 * self.size };
        grown.min(self.max)
    }

    fn open_ahead(&mut self, end: u64, cached: &dyn Fn(u64) -> bool, out: &mut Vec<Window>) {
        self.ahead = self.start + self.size;
        self.ahead_size = self.next_size();
        self.read(self.ahead, self.ahead_size, end, cached, out);
    }

    /// Reads these pages; false if they were all there.
    fn read(
        &mut self,
        start: u64,
        count: u64,
        end: u64,
        cached: &dyn Fn(u64) -> bool,
        out: &mut Vec<Window>,
    ) -> bool {
        if start < end && (start..end.min(start + count)).any(|page| !cached(page)) {
            self.hits = 0;
            out.push(Window::plain(start, count));
            return true;
        }
        self.hits += count;
        if self.hits >= ALL_CACHED {
            (self.in_cache, self.size, self.ahead_size) = (true, 0, 0);
        }
        false
    }
}
