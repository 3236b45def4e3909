//! The flusher: which dirty file is written next, and when.
//!
//! Every few seconds a pass writes what has been dirty for long. Beyond the background limit the flusher writes on, the
//! oldest file first, until it is below. When the cache finds no room, it writes some pages. A file that has more
//! than 1024 dirty pages goes to the end of the line after these. Until Linux 2.6.31 each file system has a line of its
//! own; the devices' line, where its own blocks are, comes after it, and waits while the queue is congested.
//!
//! Source: mm/page-writeback.c and fs/fs-writeback.c (`sync_sb_inodes`) of Linux 2.6.9; Documentation/sysctl/vm.txt. FreeBSD's syncer and its
//! daemon for buffers do the same with limits of their own.

use idlewise_core::{Duration, Instant};

use super::cache::{Cache, DEVICE};
use super::parameters::{Congestion, DirtyLimits};
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
    device_last: Option<Congestion>,
    /// The queue is so full that the device's line waits.
    congested: bool,
    /// What became dirty before this is written now.
    pass: Option<Instant>,
    /// Pages that are to be written for want of room.
    wanted: u32,
    /// The file at which it is: the next page, and how many were written in this turn.
    at: Option<(FileId, u32, u32)>,
    /// The file of which pages are gathered, up to which page, and whether those behind it are, too.
    gathered: Option<(FileId, u32, bool)>,
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
            device_last: limits.device_last,
            congested: false,
            pass: None,
            wanted: 0,
            at: None,
            gathered: None,
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

    /// Whether the flusher sends now, with `queued` writes in the queue: when that `is_full` it waits until it `goes_on`.
    pub fn may_send(&mut self, now: Instant, queued: u32, is_full: bool, goes_on: bool) -> bool {
        self.congested =
            self.device_last.is_some_and(|line| queued >= line.on || self.congested && queued >= line.off);
        self.held = is_full || self.held && !goes_on;
        !self.held && self.ready <= now
    }

    /// The file to write next, and the page from which on. `None`: nothing is to be written now.
    pub fn next(&mut self, cache: &mut Cache, now: Instant) -> Option<(FileId, u32)> {
        loop {
            let pressing = cache.dirty() > self.background || self.wanted > 0;
            let oldest = self.oldest(cache);
            let is_aged = |(since, _): &(Instant, FileId)| self.pass.is_some_and(|before| *since <= before);
            let aged = oldest.filter(is_aged).or(cache.oldest_dirty().filter(is_aged));
            if aged.is_none() {
                self.pass = None;
            }
            let may = |(_, file): &(Instant, FileId)| *file != DEVICE || !self.congested;
            let (aged, first) = (aged.filter(may), oldest.filter(may));
            if oldest.is_none() {
                self.wanted = 0;
            }
            let Some((_, file)) = aged.or(first.filter(|_| pressing)) else {
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
                if aged.is_none() && self.oldest(cache).is_some_and(|(_, other)| other == file) {
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

    /// The first in line, and since when it is dirty.
    fn oldest(&self, cache: &Cache) -> Option<(Instant, FileId)> {
        let file = if self.device_last.is_some() { cache.oldest_dirty_file() } else { None };
        file.or(cache.oldest_dirty())
    }

    /// Pages of `file` from `page` on are to be sent, at most `request` at a time, of which `gathers` are gathered at a time: up to
    /// which page, and whether others are to be gathered first.
    pub fn gather(&mut self, file: FileId, page: u32, gathers: u32, request: u32) -> (u32, bool) {
        let (end, ahead) = match self.gathered {
            Some((own, end, ahead)) if own == file && page < end && page + gathers >= end => (end, ahead),
            _ => (page.saturating_add(gathers), false),
        };
        let first = !ahead && end - page <= request;
        self.gathered = Some((file, end, ahead || first));
        (end, first)
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
    use crate::machine::cache::Busy;
    use crate::machine::presets;

    #[test]
    fn a_full_queue_holds_the_flusher_until_little_is_left() {
        let mut flusher = Flusher::new(&presets::named("debian12").unwrap().dirty);
        let mut may = |outstanding, is_full| {
            flusher.outstanding = outstanding;
            flusher.may_send(Instant::ZERO, outstanding, is_full, outstanding <= 1)
        };
        assert_eq!([may(7, false), may(8, true), may(7, false), may(2, false)], [true, false, false, false]);
        assert_eq!([may(1, false), may(7, false)], [true, true]);
        flusher.ready = Instant(1);
        assert!(!flusher.may_send(Instant::ZERO, 0, false, true), "what comes next is not prepared");
    }
    #[test]
    fn the_devices_line_comes_last_and_waits_while_the_queue_is_congested() {
        let (file, seconds) = (FileId(1), |count: u64| Instant(count * 1_000_000_000));
        let next = |machine, queued: [u32; 2], age| {
            let mut cache = Cache::new(1 << 20);
            let limits = DirtyLimits { background: 1, ..presets::named(machine).unwrap().dirty };
            let mut flusher = Flusher::new(&limits);
            for (of, index, since) in [(DEVICE, 7, 1), (file, 0, 2), (file, 1, 2)] {
                let page = cache.insert(of, index, Busy::No).unwrap();
                cache.set_dirty(page, seconds(since));
            }
            flusher.begin_pass(seconds(age));
            let sends = queued.map(|queued| flusher.may_send(seconds(age), queued, false, true));
            assert_eq!(sends, [true; 2]);
            flusher.next(&mut cache, seconds(age)).map(|(file, _)| file)
        };
        assert_eq!(next("linux-2.6.9", [0, 0], 20), Some(file), "neither is old");
        assert_eq!(next("linux-2.6.9", [0, 0], 31), Some(DEVICE), "the device's pages are old");
        assert_eq!(next("linux-2.6.9", [0, 0], 33), Some(file), "both are");
        assert_eq!(next("linux-2.6.9", [113, 103], 31), Some(file), "congested");
        assert_eq!(next("linux-2.6.9", [113, 102], 31), Some(DEVICE), "no longer");
        assert_eq!(next("linux-2.6.32", [113, 103], 20), Some(DEVICE), "one line for all, the oldest first");
    }
}
