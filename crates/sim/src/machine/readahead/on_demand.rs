//! Linux from 2.6.23 on: one window with a mark in it. Who comes to a missing page or to the mark gets the next window.
//!
//! A window opens at the beginning of a file and where a read goes on in order. The first one is two to four times as
//! large as the call, the next ones twice the one before, up to the maximum. The mark lies where the part that
//! nobody has asked for yet begins. Any other missing page is read as the call wants it, no more.
//!
//! Source: mm/readahead.c of Linux 6.1 without large folios. What a process reads in order beside others through one
//! open file, which 2.6.31 on finds in the cache, is left out.

use super::window::{Found, Unit, Window};

/// The state of an open file.
#[derive(Clone, Copy, Debug)]
pub struct OnDemand {
    max: u64,
    start: u64,
    size: u64,
    /// Pages at the window's end that nobody asked for.
    ahead: u64,
    /// The last page that was read.
    last: Option<u64>,
}

impl OnDemand {
    pub(super) fn new(max: u32) -> OnDemand {
        OnDemand { max: u64::from(max), start: 0, size: 0, ahead: 0, last: None }
    }

    pub(super) fn at(&mut self, unit: Unit, cached: &dyn Fn(u64) -> bool, out: &mut Vec<Window>) {
        let before = self.last.replace(unit.place);
        let Unit { place, left, found, end, .. } = unit;
        if found == Found::Here {
            return;
        }
        let expected = place == self.start + self.size - self.ahead || place == self.start + self.size;
        if place > 0 && self.size > 0 && expected {
            self.start += self.size;
            self.size = self.next_size();
            self.ahead = self.size;
        } else if found == Found::Marked {
            // Somebody else's mark: go on behind what is there.
            let Some(start) = (place + 1..=place + self.max).find(|page| !cached(*page)) else { return };
            self.start = start;
            self.size = start - place + left;
            self.size = self.next_size();
            self.ahead = self.size;
        } else if place == 0
            || left > self.max
            || before.is_some_and(|last| (last..=last + 1).contains(&place))
        {
            self.start = place;
            self.size = self.initial(left);
            self.ahead = if self.size > left { self.size - left } else { self.size };
        } else {
            out.push(Window::plain(place, left));
            return;
        }
        // The call begins in a window of which all is ahead: take the next window with it.
        if place == self.start && self.size == self.ahead {
            let more = self.next_size();
            (self.size, self.ahead) = if self.size + more <= self.max {
                (self.size + more, more)
            } else {
                (self.max, self.max / 2)
            };
        }
        if self.start < end {
            let mark = self.start + self.size - self.ahead;
            out.push(Window { start: self.start, count: self.size, marks: [Some(mark), None] });
        }
    }

    fn initial(&self, left: u64) -> u64 {
        let size = left.next_power_of_two();
        let size = if size <= self.max / 32 {
            4 * size
        } else if size <= self.max / 4 {
            2 * size
        } else {
            self.max
        };
        size.min(self.max)
    }

    fn next_size(&self) -> u64 {
        let grown = if self.size < self.max / 16 { 4 * self.size } else { 2 * self.size };
        grown.min(self.max)
    }
}
