//! The flusher: which dirty file is written next, and when.
//!
//! Every few seconds a pass writes what has been dirty for long. Beyond the background limit the flusher writes on, the
//! oldest file first, a chunk of pages at a time, until it is below after a chunk. Today's Linux asks only after a round: a chunk of
//! each file that was dirty when the round began, for a tenth of a second. When the cache finds no room, the flusher writes a chunk.
//! A file that has more dirty pages than a chunk goes to the end of the line after these. Until Linux 2.6.31 each file
//! system has a line of its own; the devices' line, where its own blocks are, comes after it, and waits while the queue is
//! congested.
//!
//! A file system that gives files their blocks late gathers pages of a file before it writes any of them. Today's Linux holds
//! the last request back until another comes behind it or the flusher stops, so that pages of the next file may become part of it.
//!
//! Source: mm/page-writeback.c and fs/fs-writeback.c (`sync_sb_inodes`) of Linux 2.6.9, `writeback_sb_inodes` of Linux 6.1;
//! Documentation/sysctl/vm.txt. FreeBSD's syncer and its daemon for buffers do the same with limits of their own.

use idlewise_core::{Duration, Instant};

use super::cache::{Cache, DEVICE};
use super::parameters::{Congestion, DirtyLimits};
use super::program::FileId;

/// Pages of a file that were gathered: these, and the one behind the last.
#[derive(Clone, Copy, Debug)]
struct Piece {
    file: FileId,
    from: u32,
    end: u32,
}

impl Piece {
    fn holds(self, file: FileId, page: u32) -> bool {
        self.file == file && (self.from..self.end).contains(&page)
    }
}

/// What the flusher is about.
#[derive(Debug)]
pub struct Flusher {
    /// When the next pass begins.
    pub next_pass: Instant,
    period: Duration,
    age: Duration,
    background: u32,
    chunk: u32,
    round: Option<Duration>,
    /// When the round began: what was dirty then is written in it.
    begun: Option<Instant>,
    device_last: Option<Congestion>,
    /// The queue is so full that the device's line waits.
    congested: bool,
    /// What became dirty before this is written now.
    pass: Option<Instant>,
    /// Pages that are to be written for want of room.
    wanted: u32,
    /// Pages of a chunk that are to be written yet.
    left: u32,
    /// The file at which it is: the next page, and how many were written in this turn.
    at: Option<(FileId, u32, u32)>,
    /// The piece that is being sent.
    piece: Option<Piece>,
    /// Time of a processor that the flusher has used and not yet waited for.
    debt: Duration,
    /// Requests that are not done.
    pub outstanding: u32,
    /// There were as many as the queue takes, and the flusher waits.
    held: bool,
    /// The flusher runs, or waits for a processor.
    pub runs: bool,
    /// The flusher has not stopped since it had a processor: it need not be woken.
    pub awake: bool,
    /// What it has sent must enter the queue before it goes on.
    pub has_sent: bool,
}

impl Flusher {
    /// A flusher that has nothing to do.
    pub fn new(limits: &DirtyLimits) -> Flusher {
        Flusher {
            next_pass: Instant::ZERO + limits.period,
            period: limits.period,
            age: limits.age,
            background: limits.background,
            chunk: limits.chunk,
            round: limits.round,
            begun: None,
            device_last: limits.device_last,
            congested: false,
            pass: None,
            wanted: 0,
            left: 0,
            at: None,
            piece: None,
            debt: Duration::ZERO,
            outstanding: 0,
            held: false,
            runs: false,
            awake: false,
            has_sent: false,
        }
    }

    /// A pass begins at `now`.
    pub fn begin_pass(&mut self, now: Instant) {
        self.next_pass = now + self.period;
        self.pass = now.0.checked_sub(self.age.0).map(Instant);
    }

    /// Somebody found no room: write about as many pages as a chunk has.
    pub fn want_room(&mut self) {
        self.wanted = self.chunk;
    }

    /// Owes a processor more time.
    pub fn owe(&mut self, time: Duration) {
        self.debt += time;
    }

    /// The time that it owes, for which it is to run now.
    pub fn pay(&mut self) -> Option<Duration> {
        let debt = std::mem::take(&mut self.debt);
        self.runs = debt > Duration::ZERO;
        self.runs.then_some(debt)
    }

    /// Whether the flusher sends now, with `queued` writes in the queue: when that `is_full` it waits until it `goes_on`.
    pub fn may_send(&mut self, queued: u32, is_full: bool, goes_on: bool) -> bool {
        self.congested =
            self.device_last.is_some_and(|line| queued >= line.on || self.congested && queued >= line.off);
        self.held = is_full || self.held && !goes_on;
        !self.held
    }

    /// The file to write next, and the page from which on. `None`: nothing is to be written now.
    pub fn next(&mut self, cache: &mut Cache, now: Instant) -> Option<(FileId, u32)> {
        loop {
            let oldest = self.oldest(cache);
            let goes_on = oldest.is_some_and(|oldest| self.goes_on(oldest, now));
            let pressing = goes_on || cache.dirty() > self.background || self.wanted > 0;
            let is_aged = |(since, _): &(Instant, FileId)| self.pass.is_some_and(|before| *since <= before);
            let aged = oldest.filter(is_aged).or(cache.oldest_dirty().filter(is_aged));
            if aged.is_none() {
                self.pass = None;
            }
            let may = |(_, file): &(Instant, FileId)| *file != DEVICE || !self.congested;
            let (aged, first) = (aged.filter(may), oldest.filter(may));
            if oldest.is_none() {
                (self.wanted, self.left) = (0, 0);
            }
            let Some((_, file)) = aged.or(first.filter(|_| pressing)) else {
                self.at = None;
                return None;
            };
            let (from, written) = match self.at {
                Some((own, page, written)) if own == file => (page, written),
                _ => (0, 0),
            };
            if written >= self.chunk {
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
            let page = cache.next_dirty(file, from).or_else(|| cache.next_dirty(file, 0))?;
            if aged.is_none() && !goes_on {
                (self.left, self.begun) = (self.chunk, Some(now));
            }
            return Some((file, page));
        }
    }

    /// Whether the flusher goes on with the first in line, whatever the limits are: to the end of a chunk, and of a round.
    fn goes_on(&self, (since, file): (Instant, FileId), now: Instant) -> bool {
        let Some(round) = self.round else { return self.left > 0 };
        let begins = |begun: Instant| since < begun && now < begun + round;
        self.at.is_some_and(|(own, _, written)| own == file && (1..self.chunk).contains(&written))
            || self.begun.is_some_and(begins)
    }

    /// The first in line, and since when it is dirty.
    fn oldest(&self, cache: &Cache) -> Option<(Instant, FileId)> {
        let file = if self.device_last.is_some() { cache.oldest_dirty_file() } else { None };
        file.or(cache.oldest_dirty())
    }

    /// Where the piece ends in which `page` of `file` lies, if it was gathered already.
    pub fn gathered(&self, file: FileId, page: u32) -> Option<u32> {
        self.piece.filter(|piece| piece.holds(file, page)).map(|piece| piece.end)
    }

    /// Where the piece ends in which `page` of `file` lies, which is to be sent. A piece has `most` pages at most.
    ///
    /// # Errors
    /// That many pages are to be gathered before anything is sent.
    pub fn gather(&mut self, cache: &Cache, (file, page): (FileId, u32), most: u32) -> Result<u32, u32> {
        if let Some(end) = self.gathered(file, page) {
            return Ok(end);
        }
        let pages = cache.dirty_run(file, page, most);
        self.piece = Some(Piece { file, from: page, end: page + pages });
        Err(pages)
    }

    /// The pages of `file` up to `page` were sent, `count` of them, in a request of their own or not.
    pub fn sent(&mut self, file: FileId, page: u32, count: u32, new: bool) {
        let written = match self.at {
            Some((own, _, written)) if own == file => written,
            _ => 0,
        };
        self.at = Some((file, page, written + count));
        self.wanted = self.wanted.saturating_sub(count);
        self.left = self.left.saturating_sub(count);
        self.outstanding += u32::from(new);
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
            flusher.may_send(outstanding, is_full, outstanding <= 1)
        };
        assert_eq!([may(7, false), may(8, true), may(7, false), may(2, false)], [true, false, false, false]);
        assert_eq!([may(1, false), may(7, false)], [true, true]);
    }

    /// A cache with this many dirty pages of one file, and a flusher that wants fewer than `background`.
    fn dirty(pages: u32, background: u32) -> (Cache, Flusher, FileId) {
        let (mut cache, file) = (Cache::new(1 << 20), FileId(1));
        for index in 0..pages {
            let page = cache.insert(file, index, Busy::No).unwrap();
            cache.set_dirty(page, Instant::ZERO);
        }
        let limits = DirtyLimits { background, ..presets::named("debian12").unwrap().dirty };
        (cache, Flusher::new(&limits), file)
    }

    #[test]
    fn the_flusher_goes_on_to_the_end_of_a_chunk() {
        let (mut cache, mut flusher, file) = dirty(5000, 4999);
        let mut sent = 0;
        while let Some((_, page)) = flusher.next(&mut cache, Instant(1)) {
            for index in page..page + 64 {
                let page = cache.find(file, index).unwrap();
                cache.write_begins(page, 0);
                cache.write_done(page);
            }
            flusher.sent(file, page + 64, 64, true);
            sent += 64;
        }
        assert_eq!(sent, 2048);
    }

    #[test]
    fn todays_linux_goes_on_to_the_end_of_a_round() {
        let files = |machine, ms: u64| {
            let limits = DirtyLimits { background: 150, ..presets::named(machine).unwrap().dirty };
            let (mut cache, mut flusher) = (Cache::new(1 << 20), Flusher::new(&limits));
            for index in 0..200 {
                let page = cache.insert(FileId(1 + index / 10), index % 10, Busy::No).unwrap();
                cache.set_dirty(page, Instant::ZERO);
            }
            let mut now = Instant(1);
            let mut files = 0;
            while let Some((file, 0)) = flusher.next(&mut cache, now) {
                for index in 0..10 {
                    let page = cache.find(file, index).unwrap();
                    cache.write_begins(page, 0);
                    cache.write_done(page);
                }
                flusher.sent(file, 10, 10, true);
                now += Duration::from_ms(ms);
                files += 1;
            }
            files
        };
        assert_eq!([files("guest", 1), files("guest", 10), files("guest", 30)], [20, 10, 8]);
        // A thousand pages make a chunk.
        assert_eq!([files("linux-2.6.32", 1), files("linux-2.6.32", 30)], [20, 20]);
    }

    #[test]
    fn pages_are_gathered_before_any_is_sent() {
        let (cache, mut flusher, file) = dirty(5000, 1);
        let of = |page| flusher.gather(&cache, (file, page), 2048);
        let pages = [0, 0, 1920, 2048, 2048, 2048 + 1920, 4096, 4096];
        let expected = [Err(2048), Ok(2048), Ok(2048), Err(2048), Ok(4096), Ok(4096), Err(904), Ok(5000)];
        assert_eq!(pages.map(of), expected);
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
            let sends = queued.map(|queued| flusher.may_send(queued, false, true));
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
