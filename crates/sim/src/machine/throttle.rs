//! Linux's throttling of writeback: how many writes may be in the queue, so that reads need not wait for long.
//!
//! The drive's depth sets the number, and the latency of reads in the drive moves it: after each window of a tenth of a
//! second in which even the shortest read took longer than the target the number is halved; after one without such a read
//! it doubles, up to three quarters of the drive's depth. A drive that takes one command gets two writes. While nobody
//! waits until fewer pages are dirty, the flusher has half as many or a quarter.
//!
//! Source: block/blk-wbt.c, block/blk-rq-qos.c and block/blk-stat.c of Linux 6.1.

use idlewise_core::{Duration, Instant};

/// Writes at a time, before anything is known: `RWB_DEF_DEPTH`.
const USUAL: u32 = 16;
/// `RWB_WINDOW_NSEC`.
const WINDOW: Duration = Duration::from_ms(100);
/// A timer of the kernel goes off with a tick: Debian's comes 250 times a second.
pub(super) const TICK: Duration = Duration::from_ms(4);
/// Writes in a window without which nothing is known of reads: `RWB_MIN_WRITE_SAMPLES`.
const WRITES_MIN: u32 = 3;
/// Windows without either after which the number goes back to the usual one: `RWB_UNKNOWN_BUMP`.
const UNKNOWN_MAX: u32 = 5;
/// For so long after somebody waited for fewer dirty pages the flusher may use all (`wb_recent_wait`).
const RECENT: Duration = Duration::from_ms(1000);

/// The tick after `now`.
pub(super) fn next_tick(now: Instant) -> Instant {
    Instant((now.0 / TICK.0 + 1) * TICK.0)
}

/// What a window has shown.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    shortest_read: Option<Duration>,
    writes: u32,
}

/// The throttle of one drive.
#[derive(Debug)]
pub struct Throttle {
    target: Duration,
    drive: u32,
    /// Below 0: more writes than usual. Above 0: fewer.
    step: i32,
    /// More is not possible.
    at_most: bool,
    /// Writes at a time.
    depth: u32,
    unknown: u32,
    /// The window's end, while one is open.
    window: Option<Instant>,
    length: Duration,
    seen: Seen,
    /// The read in the drive that is watched, and since when it is there.
    watched: Option<(u32, Instant)>,
    /// Until when a wait for fewer dirty pages is recent.
    recent: Instant,
}

impl Throttle {
    /// The throttle of a drive that takes `drive` commands at a time, for reads that are to take at most `target`.
    pub fn new(target: Duration, drive: u32) -> Throttle {
        let mut throttle = Throttle {
            target,
            drive: drive.max(1),
            step: 0,
            at_most: false,
            depth: 0,
            unknown: 0,
            window: None,
            length: WINDOW,
            seen: Seen::default(),
            watched: None,
            recent: Instant::ZERO,
        };
        throttle.set_depth();
        throttle
    }

    /// When a window ends.
    pub fn due(&self) -> Option<Instant> {
        self.window
    }

    /// Somebody waits until fewer pages are dirty.
    pub fn hurry(&mut self, now: Instant) {
        self.recent = now + RECENT;
    }

    /// Writes that may be in the queue; `waits`: somebody waits for them.
    pub fn most(&self, now: Instant, waits: bool) -> u32 {
        if waits || now < self.recent { self.depth } else { self.background() }
    }

    /// Whether a flusher that waits goes on.
    pub fn goes_on(&self, now: Instant, queued: u32) -> bool {
        // A drive with a cache for writes takes them at once: without hurry none is to be left.
        let most = if now < self.recent { self.normal() } else { 0 };
        queued == 0 || queued < most && most - queued >= self.background() / 2
    }

    /// A write goes into the queue.
    pub fn write(&mut self, now: Instant) {
        if self.window.is_none() {
            self.open(now);
        }
    }

    /// A read goes to the drive, known as `read`.
    pub fn read_starts(&mut self, now: Instant, read: u32) {
        self.watched.get_or_insert((read, now));
    }

    /// A request is done that went to the drive at `started`.
    pub fn done(&mut self, now: Instant, request: u32, write: bool, started: Instant) {
        if self.watched.is_some_and(|(watched, _)| watched == request) {
            self.watched = None;
        }
        if self.window.is_none() {
            return;
        }
        if write {
            self.seen.writes += 1;
        } else {
            let took = now.since(started);
            self.seen.shortest_read = Some(self.seen.shortest_read.map_or(took, |least| least.min(took)));
        }
    }

    /// The window ends, with `queued` writes in the queue.
    pub fn judge(&mut self, now: Instant, queued: u32) {
        let seen = std::mem::take(&mut self.seen);
        let waits = self.watched.map_or(Duration(0), |(_, since)| now.since(since));
        let too_long = waits > self.length || waits > self.target && seen.shortest_read.is_none();
        match seen.shortest_read.filter(|_| seen.writes >= WRITES_MIN) {
            _ if too_long => self.fewer(true),
            Some(least) if least > self.target => self.fewer(true),
            Some(_) => self.more(),
            None if seen.writes > 0 || now < self.recent || queued > 0 => self.more(),
            None => self.forget(),
        }
        self.window = None;
        if self.step != 0 || queued > 0 {
            self.open(now);
        }
    }

    /// Neither reads nor writes: slowly back to what is usual.
    fn forget(&mut self) {
        self.unknown += 1;
        if self.unknown >= UNKNOWN_MAX {
            match self.step {
                1.. => self.more(),
                0 => {}
                ..0 => self.fewer(false),
            }
        }
    }

    fn more(&mut self) {
        if !self.at_most {
            self.step -= 1;
            self.unknown = 0;
            self.at_most = self.set_depth();
        }
    }

    fn fewer(&mut self, at_once: bool) {
        if self.depth > 1 {
            self.step = if self.step < 0 && at_once { 0 } else { self.step + 1 };
            self.unknown = 0;
            self.at_most = false;
            self.set_depth();
        }
    }

    /// Sets the depth that the step asks for; true if more is not possible.
    fn set_depth(&mut self) -> bool {
        let usual = USUAL.min(self.drive);
        let (depth, at_most) = match (self.drive, self.step) {
            (1, 1..) => (1, false),
            (1, _) => (2, true),
            (_, 0..) => (1 + ((usual - 1) >> self.step.min(31)), false),
            _ => {
                let most = 3 * self.drive / 4;
                let depth = 1 + ((usual - 1) << -self.step);
                (depth.min(most), depth > most)
            }
        };
        self.depth = depth.max(1);
        at_most
    }

    fn normal(&self) -> u32 {
        if self.depth <= 2 { self.depth } else { self.depth.div_ceil(2) }
    }

    fn background(&self) -> u32 {
        if self.depth <= 2 { 1 } else { self.depth.div_ceil(4) }
    }

    /// A window begins, shorter by the root of the step.
    fn open(&mut self, now: Instant) {
        let root = u64::from(((self.step.max(0) as u32 + 1) << 8).isqrt());
        self.length = Duration((WINDOW.0 << 4) / root);
        let ticks = self.length.0.div_ceil(TICK.0);
        self.window = Some(next_tick(now) + Duration(ticks * TICK.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TARGET: Duration = Duration::from_ms(75);

    fn at(ms: u64) -> Instant {
        Instant(ms * 1_000_000)
    }

    /// A throttle after windows of a tenth of a second, in each of which reads took this long, if there were any.
    fn after(drive: u32, windows: &[Option<u64>]) -> Throttle {
        let mut throttle = Throttle::new(TARGET, drive);
        for (window, read) in windows.iter().enumerate() {
            let now = at(104 * window as u64);
            throttle.write(now);
            (0..3).for_each(|write| throttle.done(now, write, true, now));
            if let Some(ms) = read {
                throttle.done(now + Duration::from_ms(*ms), 9, false, now);
            }
            assert_eq!(throttle.due(), Some(at(104 * (window as u64 + 1))));
            throttle.judge(at(104 * (window as u64 + 1)), 1);
            throttle.window = None;
        }
        throttle
    }

    #[test]
    fn a_drive_that_takes_one_command_gets_two_writes() {
        let throttle = after(1, &[None, Some(50), None]);
        assert_eq!((throttle.step, throttle.most(at(0), true), throttle.most(at(0), false)), (-1, 2, 1));
        assert_eq!([0, 1, 2].map(|queued| throttle.goes_on(at(0), queued)), [true, false, false]);
    }

    #[test]
    fn who_waits_for_fewer_dirty_pages_hurries_the_flusher_for_a_second() {
        let mut throttle = after(1, &[]);
        throttle.hurry(at(500));
        assert_eq!([1499, 1500].map(|ms| throttle.most(at(ms), false)), [2, 1]);
        assert_eq!([0, 1, 2].map(|queued| throttle.goes_on(at(600), queued)), [true, true, false]);
    }

    #[test]
    fn writes_alone_and_quick_reads_let_more_in_up_to_three_quarters_of_the_drive() {
        let depths = |windows: &[Option<u64>]| {
            let throttle = after(32, windows);
            (throttle.most(at(0), true), throttle.most(at(0), false))
        };
        assert_eq!(depths(&[]), (16, 4));
        assert_eq!(depths(&[None]), (24, 6));
        assert_eq!(depths(&[None, Some(20), Some(20)]), (24, 6));
    }

    #[test]
    fn slow_reads_halve_the_writes_and_shorten_the_window() {
        let mut throttle = Throttle::new(TARGET, 32);
        let mut windows = Vec::new();
        let mut now = at(0);
        for _ in 0..6 {
            throttle.write(now);
            (0..3).for_each(|write| throttle.done(now, write, true, now));
            throttle.done(now + Duration::from_ms(80), 9, false, now);
            let end = throttle.due().unwrap();
            throttle.judge(end, 1);
            windows.push(((end.0 - now.0) / 1_000_000, throttle.most(end, true)));
            now = end;
        }
        assert_eq!(windows, [(104, 8), (80, 4), (64, 2), (56, 1), (52, 1), (52, 1)]);
    }

    #[test]
    fn a_read_that_the_drive_keeps_counts_before_it_is_done() {
        let mut throttle = Throttle::new(TARGET, 32);
        throttle.read_starts(at(0), 7);
        throttle.write(at(0));
        throttle.judge(at(104), 5);
        assert_eq!(throttle.most(at(104), true), 8);
        throttle.done(at(105), 7, false, at(0));
        assert_eq!(throttle.watched, None);
    }
}
