//! How many writes of the page cache may be in the queue: a fixed number, or as many as the drive's reads bear.
//!
//! Linux from 4.10 on (`blk-wbt`) looks at the reads of each window of 100 ms. If even the quickest took the drive too long,
//! the limit is halved, and the window becomes shorter; otherwise the limit is doubled, up to three quarters of what the drive
//! takes. Writes that nobody waits for get a quarter of the limit, unless somebody who makes pages dirty had to wait for the
//! last second. Who found no room sleeps until few are left. A read's time counts from when the drive got it, so that what
//! it waited in the scheduler does not count.
//!
//! Source: block/blk-wbt.c and block/blk-rq-qos.c of Linux 6.1. Its elevator `bfq` switches this off; here it stays on.

use idlewise_core::{Duration, Instant};

use super::parameters::WriteQueue;

/// What the limit is about where the drive takes as many: `RWB_DEF_DEPTH`.
const USUAL: u32 = 16;
/// The usual window: `RWB_WINDOW_NSEC`.
const WINDOW: Duration = Duration::from_ms(100);
/// A window in which some were read tells something if at least this number was written: `RWB_MIN_WRITE_SAMPLES`.
const WRITES: u32 = 3;
/// Windows that tell nothing, after which the limit goes a step back: `RWB_UNKNOWN_BUMP`.
const UNKNOWN: u32 = 5;
/// Who makes pages dirty has had to wait lately: `wb_recent_wait`.
const LATELY: Duration = Duration::from_ms(1000);

/// The drive below a queue, as far as writeback asks.
#[derive(Clone, Copy, Debug)]
pub struct Drive {
    /// Requests that the drive takes at once.
    pub depth: u32,
    /// The drive has moving heads.
    pub rotational: bool,
}

impl Drive {
    /// How long a read may take the drive: `wbt_default_latency_nsec`.
    fn bearable(self) -> Duration {
        Duration::from_ms(if self.rotational { 75 } else { 2 })
    }
}

/// Limits the page cache's writes in the queue.
#[derive(Debug)]
pub struct Throttle {
    queue: WriteQueue,
    /// Writes in the queue or in the drive.
    writes: u32,
    /// Somebody found no room; nobody gets any until few writes are left.
    asleep: bool,
    /// When somebody who makes pages dirty was last made to wait.
    waited: Option<Instant>,
    scale: Scale,
    window: Window,
}

/// The limit, in steps: each above zero halves it, each below zero doubles it.
#[derive(Debug)]
struct Scale {
    drive: Drive,
    step: i32,
    limit: u32,
    /// More steps down change nothing.
    widest: bool,
}

/// What was seen since the window began.
#[derive(Debug, Default)]
struct Window {
    /// Nothing is looked at without one.
    ends: Option<Instant>,
    length: Duration,
    /// The shortest time that the drive took for a read.
    quickest: Option<Duration>,
    written: u32,
    /// A read that the drive has, and since when.
    reading: Option<(u32, Instant)>,
    /// Windows in a row that told nothing.
    unknown: u32,
}

/// What a window tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Bearable,
    TooLong,
    OnlyWrites,
    Nothing,
}

impl Scale {
    fn new(drive: Drive) -> Scale {
        let mut scale = Scale { drive, step: 0, limit: 0, widest: false };
        scale.measure();
        scale
    }

    /// The limit at this step.
    fn measure(&mut self) {
        let depth = self.drive.depth;
        if depth <= 1 {
            self.limit = if self.step > 0 { 1 } else { 2 };
            self.widest = self.step <= 0;
            return;
        }
        let (usual, most) = (USUAL.min(depth), 3 * depth / 4);
        let by = self.step.unsigned_abs().min(31);
        let wide = 1 + u64::from(usual - 1).checked_shl(by).unwrap_or(u64::from(most));
        self.widest = self.step < 0 && wide > u64::from(most);
        self.limit = match self.step {
            1.. => 1 + ((usual - 1) >> by),
            0 => usual,
            _ => wide.min(u64::from(most)) as u32,
        };
    }

    fn widen(&mut self) -> bool {
        let may = !self.widest;
        if may {
            self.step -= 1;
            self.measure();
        }
        may
    }

    /// `at_once`: a limit beyond the usual one becomes the usual one.
    fn narrow(&mut self, at_once: bool) -> bool {
        let may = self.limit > 1;
        if may {
            self.step = if self.step < 0 && at_once { 0 } else { self.step + 1 };
            self.measure();
        }
        may
    }

    /// How many are left when those who found no room get some.
    fn again(&self) -> u32 {
        if self.limit <= 2 { self.limit } else { self.limit.div_ceil(2) }
    }

    /// The limit for writes that nobody waits for.
    fn background(&self) -> u32 {
        if self.limit <= 2 { 1 } else { self.limit.div_ceil(4) }
    }

    /// How long the next window is.
    fn window(&self) -> Duration {
        match self.step {
            1.. => Duration((WINDOW.0 << 4) / (u64::from(self.step.unsigned_abs() + 1) << 8).isqrt()),
            _ => WINDOW,
        }
    }
}

impl Window {
    /// What the window tells at its end, if a read may take the drive `bearable`; `writing`: there are writes on their way, or
    /// somebody waits for them.
    fn verdict(&self, now: Instant, bearable: Duration, writing: bool) -> Verdict {
        let reading = self.reading.map_or(Duration::ZERO, |(_, since)| now.since(since));
        if reading > self.length || reading > bearable && self.quickest.is_none() {
            return Verdict::TooLong;
        }
        match self.quickest {
            Some(quickest) if self.written >= WRITES => {
                if quickest > bearable {
                    Verdict::TooLong
                } else {
                    Verdict::Bearable
                }
            }
            _ if self.written > 0 || writing => Verdict::OnlyWrites,
            _ => Verdict::Nothing,
        }
    }
}

impl Throttle {
    /// Nothing has been written to this drive yet.
    pub fn new(queue: WriteQueue, drive: Drive) -> Throttle {
        let (scale, window) = (Scale::new(drive), Window::default());
        Throttle { queue, writes: 0, asleep: false, waited: None, scale, window }
    }

    /// Somebody who makes pages dirty is made to wait.
    pub fn waits(&mut self, now: Instant) {
        self.waited = Some(now);
    }

    fn has_waited(&self, now: Instant) -> bool {
        self.waited.is_some_and(|waited| now.since(waited) < LATELY)
    }

    /// Whether one more write may enter the queue; `sync`: somebody waits for it.
    pub fn admits(&mut self, now: Instant, sync: bool) -> bool {
        let limit = match self.queue {
            WriteQueue::Fixed { most, .. } => most,
            WriteQueue::ByReads if sync || self.has_waited(now) => self.scale.limit,
            WriteQueue::ByReads => self.scale.background(),
        };
        self.asleep |= self.writes >= limit;
        !self.asleep
    }

    /// A write enters the queue.
    pub fn enters(&mut self, now: Instant) {
        self.writes += 1;
        if self.queue == WriteQueue::ByReads && self.window.ends.is_none() {
            self.begin_window(now);
        }
    }

    /// The drive gets the read `number`.
    pub fn read_begins(&mut self, now: Instant, number: u32) {
        self.window.reading.get_or_insert((number, now));
    }

    /// The drive is done with the read `number`, which it got `since`.
    pub fn read_ends(&mut self, now: Instant, number: u32, since: Instant) {
        self.window.reading.take_if(|(reading, _)| *reading == number);
        if self.window.ends.is_some() {
            let time = now.since(since);
            self.window.quickest = Some(self.window.quickest.map_or(time, |quickest| quickest.min(time)));
        }
    }

    /// A write is done. Returns whether those who found no room may try again.
    pub fn write_ends(&mut self, now: Instant) -> bool {
        self.writes -= 1;
        self.window.written += u32::from(self.window.ends.is_some());
        let few = match self.queue {
            WriteQueue::Fixed { again, .. } => self.writes <= again,
            WriteQueue::ByReads => self.writes == 0 || self.has_waited(now) && self.are_few(),
        };
        std::mem::take(&mut self.asleep) && {
            self.asleep = !few;
            few
        }
    }

    /// Whether writes are so much below the limit that those who found no room are woken.
    fn are_few(&self) -> bool {
        let again = self.scale.again();
        self.writes < again && again - self.writes >= self.scale.background() / 2
    }

    /// When the window ends, if there is one.
    pub fn due(&self) -> Option<Instant> {
        self.window.ends
    }

    fn begin_window(&mut self, now: Instant) {
        let length = self.scale.window();
        let Window { reading, unknown, .. } = self.window;
        self.window = Window { ends: Some(now + length), length, reading, unknown, ..Window::default() };
    }

    /// The window ends. Returns whether those who found no room may try again.
    pub fn window_ends(&mut self, now: Instant) -> bool {
        let writing = self.writes > 0 || self.has_waited(now);
        let verdict = self.window.verdict(now, self.scale.drive.bearable(), writing);
        self.window.unknown += u32::from(verdict == Verdict::Nothing);
        let step = self.scale.step;
        let (widened, narrowed) = match verdict {
            Verdict::Bearable | Verdict::OnlyWrites => (self.scale.widen(), false),
            Verdict::TooLong => (false, self.scale.narrow(true)),
            Verdict::Nothing if self.window.unknown < UNKNOWN || step == 0 => (false, false),
            Verdict::Nothing if step > 0 => (self.scale.widen(), false),
            Verdict::Nothing => (false, self.scale.narrow(false)),
        };
        if widened || narrowed {
            self.window.unknown = 0;
        }
        self.asleep &= !widened;
        if self.scale.step != 0 || self.writes > 0 {
            self.begin_window(now);
        } else {
            self.window.ends = None;
        }
        widened
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUEUE: Drive = Drive { depth: 32, rotational: true };

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_ms(ms)
    }

    fn fill(throttle: &mut Throttle, now: Instant, sync: bool) -> u32 {
        let mut count = 0;
        while throttle.admits(now, sync) {
            throttle.enters(now);
            count += 1;
        }
        count
    }

    /// A window of 100 ms in which this many writes are done, and a read takes the drive so long.
    fn window(throttle: &mut Throttle, begin: u64, writes: u32, read: Option<u64>) -> i32 {
        if let Some(took) = read {
            throttle.read_begins(at(begin), 7);
            throttle.read_ends(at(begin + took), 7, at(begin));
        }
        for _ in 0..writes {
            throttle.enters(at(begin));
            throttle.write_ends(at(begin));
        }
        throttle.window_ends(throttle.due().unwrap());
        throttle.scale.step
    }

    #[test]
    fn writes_have_a_quarter_of_the_limit_or_all_of_it_and_who_found_no_room_sleeps() {
        let mut throttle = Throttle::new(WriteQueue::ByReads, QUEUE);
        assert_eq!(fill(&mut throttle, at(0), false), 4);
        assert!(!throttle.admits(at(0), true), "a sleeper goes first");
        let woken: Vec<bool> = (0..4).map(|_| throttle.write_ends(at(1))).collect();
        assert_eq!(woken, [false, false, false, true], "a drive with a cache is emptied first");
        throttle.waits(at(1));
        assert_eq!(fill(&mut throttle, at(2), false), 16, "somebody waits for pages");
        let woken = (1..).find(|_| throttle.write_ends(at(2)));
        assert_eq!(woken, Some(10), "6 are left: half of the limit, less half of the background's");
        assert_eq!(fill(&mut Throttle::new(WriteQueue::ByReads, QUEUE), at(0), true), 16);
        let alone = Drive { depth: 1, rotational: true };
        assert_eq!(fill(&mut Throttle::new(WriteQueue::ByReads, alone), at(0), true), 2);
    }

    #[test]
    fn the_limit_follows_the_quickest_read() {
        let mut throttle = Throttle::new(WriteQueue::ByReads, QUEUE);
        throttle.enters(at(0));
        assert_eq!(window(&mut throttle, 0, 5, Some(80)), 1);
        assert_eq!((throttle.scale.limit, throttle.scale.window()), (8, Duration((WINDOW.0 << 4) / 22)));
        assert_eq!(window(&mut throttle, 100, 5, Some(80)), 2);
        assert_eq!(window(&mut throttle, 200, 2, Some(80)), 1, "too few writes to blame them");
        assert_eq!(window(&mut throttle, 300, 5, Some(10)), 0);
        assert_eq!((window(&mut throttle, 400, 5, None), throttle.scale.limit), (-1, 24), "three quarters");
        assert_eq!(window(&mut throttle, 500, 5, None), -1, "more steps change nothing");
        assert_eq!(window(&mut throttle, 700, 5, Some(80)), 0, "at once");
    }

    #[test]
    fn a_read_that_the_drive_still_has_counts_and_without_news_the_limit_becomes_usual() {
        let mut throttle = Throttle::new(WriteQueue::ByReads, QUEUE);
        throttle.enters(at(0));
        throttle.read_begins(at(0), 3);
        assert_eq!([(); 2].map(|()| window(&mut throttle, 0, 0, None)), [1, 2], "100 ms are too long");
        throttle.read_ends(at(180), 3, at(0));
        throttle.write_ends(at(180));
        assert_eq!(window(&mut throttle, 180, 0, None), 1, "one write is not enough to blame");
        assert_eq!([(); 5].map(|()| window(&mut throttle, 300, 0, None)), [1, 1, 1, 1, 0]);
        assert_eq!(throttle.due(), None, "nothing to look at");
    }

    #[test]
    fn a_fixed_limit_is_one() {
        let mut throttle = Throttle::new(WriteQueue::Fixed { most: 3, again: 1 }, QUEUE);
        assert_eq!(fill(&mut throttle, at(0), false), 3);
        assert_eq!([throttle.write_ends(at(0)), throttle.write_ends(at(0))], [false, true]);
        assert!(throttle.due().is_none());
    }
}
