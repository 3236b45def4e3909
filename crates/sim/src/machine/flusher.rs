//! The flusher: which dirty file is written next, and when.
//!
//! Every few seconds a pass writes what has been dirty for long. Beyond the background limit the flusher writes on, the
//! oldest file first, until it is below. When the cache finds no room, it writes some pages. A file that has more
//! than 1024 dirty pages goes to the end of the line after these.
//!
//! Source: mm/page-writeback.c and fs/fs-writeback.c of Linux 2.6.9; Documentation/sysctl/vm.txt. FreeBSD's syncer and its
//! daemon for buffers do the same with limits of their own.

use idlewise_core::{Duration, Instant};

use super::cache::Cache;
use super::parameters::DirtyLimits;
use super::program::FileId;

/// Pages of a file that are written before another file's turn: `MAX_WRITEBACK_PAGES`.
const TURN: u32 = 1024;

/// What the flusher is about.
#[derive(Debug)]
pub struct Flusher {
    /// When the next pass begins.
    pub next_pass: Instant,
    period: Duration,
    age: Duration,
    background: u32,
    /// What became dirty before this is written now.
    pass: Option<Instant>,
    /// Pages that are to be written for want of room.
    wanted: u32,
    /// The file at which it is: the next page, and how many were written in this turn.
    at: Option<(FileId, u32, u32)>,
    /// Requests that are not done.
    pub outstanding: u32,
    /// There were as many as the queue takes, and the flusher waits.
    held: bool,
    /// When the flusher has prepared what it sends next.
    pub ready: Instant,
}

impl Flusher {
    /// A flusher that has nothing to do.
    pub fn new(limits: &DirtyLimits) -> Flusher {
        Flusher {
            next_pass: Instant::ZERO + limits.period,
            period: limits.period,
            age: limits.age,
            background: limits.background,
            pass: None,
            wanted: 0,
            at: None,
            outstanding: 0,
            held: false,
            ready: Instant::ZERO,
        }
    }

    /// A pass begins at `now`.
    pub fn begin_pass(&mut self, now: Instant) {
        self.next_pass = now + self.period;
        self.pass = now.0.checked_sub(self.age.0).map(Instant);
    }

    /// Somebody found no room: write about as many pages as a turn has.
    pub fn want_room(&mut self) {
        self.wanted = TURN;
    }

    /// Whether the flusher sends now: with a queue that `is_full` it waits until `again` of its requests are left.
    pub fn may_send(&mut self, now: Instant, is_full: bool, again: u32) -> bool {
        self.held = is_full || self.held && self.outstanding > again;
        !self.held && self.ready <= now
    }

    /// The file to write next, and the page from which on. `None`: nothing is to be written now.
    pub fn next(&mut self, cache: &mut Cache, now: Instant) -> Option<(FileId, u32)> {
        loop {
            let pressing = cache.dirty() > self.background || self.wanted > 0;
            let oldest = cache.oldest_dirty();
            let aged = oldest.filter(|(since, _)| self.pass.is_some_and(|before| *since <= before));
            if aged.is_none() {
                self.pass = None;
            }
            if oldest.is_none() {
                self.wanted = 0;
            }
            let Some((_, file)) = aged.or(oldest.filter(|_| pressing)) else {
                self.at = None;
                return None;
            };
            let (from, written) = match self.at {
                Some((own, page, written)) if own == file => (page, written),
                _ => (0, 0),
            };
            if written >= TURN {
                if aged.is_none() {
                    cache.redirty(file, now);
                }
                self.at = None;
                if aged.is_none() && cache.oldest_dirty().is_some_and(|(_, other)| other == file) {
                    self.at = Some((file, from, 0));
                }
                if aged.is_some() {
                    self.at = Some((file, from, 0));
                }
                continue;
            }
            match cache.next_dirty(file, from).or_else(|| cache.next_dirty(file, 0)) {
                Some(page) => return Some((file, page)),
                None => return None,
            }
        }
    }

    /// The pages of `file` up to `page` were sent, `count` of them.
    pub fn sent(&mut self, file: FileId, page: u32, count: u32) {
        let written = match self.at {
            Some((own, _, written)) if own == file => written,
            _ => 0,
        };
        self.at = Some((file, page, written + count));
        self.wanted = self.wanted.saturating_sub(count);
        self.outstanding += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::presets;

    #[test]
    fn a_full_queue_holds_the_flusher_until_little_is_left() {
        let mut flusher = Flusher::new(&presets::named("debian12").unwrap().dirty);
        let mut may = |outstanding, is_full| {
            flusher.outstanding = outstanding;
            flusher.may_send(Instant::ZERO, is_full, 1)
        };
        assert_eq!([may(7, false), may(8, true), may(7, false), may(2, false)], [true, false, false, false]);
        assert_eq!([may(1, false), may(7, false)], [true, true]);
        flusher.ready = Instant(1);
        assert!(!flusher.may_send(Instant::ZERO, false, 1), "what comes next is not prepared");
    }
}
