//! A member of an array: a disk, what it is given, and what waits for it.
//!
//! Spindles of drives turn independently of each other. A model's platters all stand alike at time zero, so each member
//! lives at a time of its own: the array's, and a shift.

use super::parts::{NONE, Parts};
use crate::device::{Command, Completion, DiskModel, News};
use idlewise_core::{Instant, Request, Sector, Sectors};

/// 2^64 divided by the golden ratio: multiples of it, taken for fractions, lie far from each other.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// Shifts are below 2^30 ns, about a second: many turns of any spindle.
const SHIFT_BITS: u32 = 30;

#[derive(Clone, Debug)]
pub(super) struct Member<D> {
    pub(super) disk: D,
    /// Its time is the array's and this many nanoseconds.
    shift: u64,
    depth: u32,
    /// Commands that the disk has.
    busy: u32,
    /// Parts that wait, and the first and the last of them.
    waiting: u32,
    first: u32,
    last: u32,
    /// Where the head is: behind what was done last.
    pub(super) head: u64,
    /// Behind the last read that was given out.
    pub(super) follows: u64,
}

impl<D: DiskModel> Member<D> {
    /// Member `number` of an array.
    pub(super) fn new(number: u64, disk: D) -> Member<D> {
        let shift = number.wrapping_mul(GOLDEN) >> (u64::BITS - SHIFT_BITS);
        let depth = disk.depth();
        Member {
            disk,
            shift,
            depth,
            busy: 0,
            waiting: 0,
            first: NONE,
            last: NONE,
            head: 0,
            follows: u64::MAX,
        }
    }

    /// Parts that it has and that wait.
    pub(super) fn load(&self) -> u32 {
        self.busy + self.waiting
    }

    /// `part` waits, behind all others.
    pub(super) fn join(&mut self, part: u32, parts: &mut Parts) {
        if self.waiting == 0 {
            self.first = part;
        } else {
            parts[self.last].next = part;
        }
        self.last = part;
        self.waiting += 1;
    }

    /// The first that waits, if the disk has room for it.
    pub(super) fn next(&mut self, parts: &Parts) -> Option<u32> {
        if self.busy >= self.depth || self.waiting == 0 {
            return None;
        }
        let part = self.first;
        self.first = parts[part].next;
        self.waiting -= 1;
        self.busy += 1;
        Some(part)
    }

    /// Sends the disk `part`.
    pub(super) fn send(&mut self, now: u64, part: u32, parts: &Parts, fua: bool, request: &Request) {
        let own = parts[part].piece;
        let command = Command {
            tag: part,
            operation: own.operation,
            start: Sector(own.start),
            length: Sectors(own.length),
            fua,
        };
        let sent = self.disk.submit_for(Instant(now + self.shift), command, request);
        // The layout gives no place beyond a member's end, and `next` minds the depth.
        sent.unwrap_or_else(|error| unreachable!("a member refuses its part: {error}"));
    }

    /// When something happens in it.
    #[inline]
    pub(super) fn next_event(&self) -> Option<u64> {
        let at = if self.busy > 0 { self.disk.next_event() } else { None };
        at.map(|at| at.0.saturating_sub(self.shift))
    }

    /// What it has finished by `now`, in the array's time.
    pub(super) fn advance(&mut self, now: u64) -> Option<Completion> {
        let mut done = self.disk.advance(Instant(now + self.shift))?;
        self.busy -= 1;
        done.at.0 = done.at.0.saturating_sub(self.shift);
        done.started.0 = done.started.0.saturating_sub(self.shift);
        Some(done)
    }

    /// Something happened to a process.
    pub(super) fn tell(&mut self, now: u64, news: News) {
        self.disk.tell(Instant(now + self.shift), news);
    }
}
