//! Flash: how many writes may be in flight while others read, by what becomes of the reads.
//!
//! A device without heads serves reads and writes at the same time, until the writes keep its channels from the reads. So
//! writes in flight are limited, and the limit follows the latency of reads as a sender follows what its network loses.
//! Reads may be late for another reason, such as more reads. So each fall of the limit is a trial: if reads do not gain more
//! than writes lose, the limit is as before. Writes that somebody waits for and others have limits of their own.

use crate::units::{Duration, Instant, Sectors};

/// The limit is looked at once in this time.
const WINDOW: Duration = Duration::from_ms(5);
/// A read that takes more than this times the shortest is late.
const TOLERANCE: u64 = 3;
/// If no shorter read is known, the shortest takes this: the target of kyber. Reads may have been late from the first on.
const BEST: Duration = Duration::from_ms(2);
/// Reads must be late in that many windows in a row: a burst of writes is soon done if nobody holds it back.
const ENOUGH: u64 = 8;
/// The same where reads have been late before, so that there is a limit.
const KNOWN: u64 = 2;
/// After a trial in vain, the next begins after this times as long: such trials take about a sixteenth of the time.
const AGAIN: u64 = 16;
/// The kinds of writes: those that nobody waits for, and those that somebody does.
pub(super) const ASYNC: usize = 0;
pub(super) const SYNC: usize = 1;
/// A lower limit pays if the cost falls by more than this factor: any for writes that nobody waits for, and a clear one for others.
const GAINS: [u64; 2] = [1, 2];
/// A device has this time to write what is in its buffer before a trial counts as one in vain.
const DRAIN: Duration = Duration::from_ms(200);
/// With the lowest limit, reads may be late for this many windows in a row. Then there is a trial anew: the last may have misled.
const STALE: u64 = ENOUGH * AGAIN * AGAIN;
/// Nobody reads who has not done so for this time.
const GONE: Duration = Duration::from_ms(1_000);
/// Limits have 4 binary digits after the point.
const ONE: u64 = 16;
/// No device takes more at once.
const MOST: u64 = 1024 * ONE;

/// What has been done: reads, their time, and sectors written.
#[derive(Clone, Copy, Default)]
struct Done {
    reads: u64,
    time: Duration,
    written: u64,
}

/// Windows in a row in which reads were late.
#[derive(Clone, Copy, Default)]
struct Row {
    windows: u64,
    /// When the row began, and what had been done by then.
    began: Instant,
    before: Done,
}

/// Whether a lower limit pays.
#[derive(Clone, Copy)]
struct Trial {
    began: Instant,
    /// The limit before the trial, and the cost.
    limit: u64,
    cost: u64,
    /// When the limit fell last.
    fell: Instant,
}

/// The limit of writes of a kind that are in flight.
struct Limit {
    /// A trial is in vain if the cost does not fall by more than this factor.
    gain: u64,
    limit: u64,
    /// Sectors written.
    written: u64,
    row: Row,
    trial: Option<Trial>,
    /// When the next trial may begin.
    next: Instant,
}

impl Limit {
    fn new(gain: u64) -> Self {
        Limit { gain, limit: MOST, written: 0, row: Row::default(), trial: None, next: Instant::ZERO }
    }

    /// The limit is lifted.
    fn open(&mut self, now: Instant, done: Done) {
        (self.limit, self.trial, self.next) = (MOST, None, Instant::ZERO);
        self.restart(now, done);
    }

    /// The limit after a window, which ends now with a read that took `service`. `late`: reads were late. `writes` are in flight.
    fn look(&mut self, now: Instant, done: Done, late: bool, service: Duration, writes: usize) {
        if !late || now < self.next {
            self.trial = None;
            self.restart(now, done);
            return self.rise();
        }
        self.row.windows += 1;
        let wrote = writes > 0 || self.written > self.row.before.written;
        match self.trial {
            Some(trial) if self.limit > ONE => self.fall(now, done, trial, writes),
            // What the device took before, it had to write first.
            Some(trial) if now.since(trial.fell) < service => self.restart(now, done),
            Some(trial) if self.row.windows >= ENOUGH => self.judge(now, done, trial),
            None if !wrote || self.row.windows < self.enough() => self.rise(),
            None if self.limit > ONE => {
                let cost = self.cost(now, done);
                self.fall(now, done, Trial { began: now, limit: self.limit, cost, fell: now }, writes);
            }
            None if self.row.windows >= STALE => self.open(now, done),
            _ => {}
        }
    }

    /// In how many windows in a row reads must be late.
    fn enough(&self) -> u64 {
        if self.limit == MOST { ENOUGH } else { KNOWN }
    }

    fn rise(&mut self) {
        self.limit = (self.limit + (self.limit / 64).max(1)).min(MOST);
    }

    /// What is in flight is what the reads have suffered from.
    fn fall(&mut self, now: Instant, done: Done, trial: Trial, writes: usize) {
        self.limit = (self.limit.min(writes as u64 * ONE) / 2).max(ONE);
        self.trial = Some(Trial { fell: now, ..trial });
        self.restart(now, done);
    }

    fn restart(&mut self, now: Instant, done: Done) {
        let before = Done { written: self.written, ..done };
        self.row = Row { windows: 0, began: now, before };
    }

    /// Reads are still late with the lowest limit: is that better?
    fn judge(&mut self, now: Instant, done: Done, trial: Trial) {
        if self.cost(now, done).saturating_mul(self.gain) < trial.cost {
            self.trial = None;
        } else if now.since(trial.fell) < DRAIN {
            self.restart(now, done);
        } else {
            self.trial = None;
            self.limit = trial.limit;
            self.next = now + now.since(trial.began) * AGAIN;
        }
    }

    /// How long a read takes, times the time in which a sector is written. The lower, the better: a limit that makes reads twice as
    /// fast and writes half as many gains nothing.
    fn cost(&self, now: Instant, done: Done) -> u64 {
        let before = self.row.before;
        let read = (done.time - before.time) / (done.reads - before.reads).max(1);
        let write = now.since(self.row.began) * 16 / (self.written - before.written).max(1);
        // In 64ths of a microsecond a read of 10 s has room.
        (read.0 >> 6).saturating_mul(write.0)
    }
}

/// The limits of writes in flight, by kind.
pub(super) struct WriteLimits {
    /// The shortest time that a read has taken, which grows by 1/64 in each window: a device may become slower.
    best: Duration,
    /// The longest in this window.
    worst: Duration,
    /// When this window ends. `None`: nobody has read.
    ends: Option<Instant>,
    done: Done,
    limits: [Limit; 2],
}

impl Default for WriteLimits {
    fn default() -> Self {
        WriteLimits {
            best: BEST,
            worst: Duration::ZERO,
            ends: None,
            done: Done::default(),
            limits: GAINS.map(Limit::new),
        }
    }
}

impl WriteLimits {
    /// A read was in the device for `service`. Of each kind of writes that many are in flight.
    #[inline]
    pub(super) fn read(&mut self, now: Instant, service: Duration, writes: [usize; 2]) {
        self.best = self.best.min(service);
        self.worst = self.worst.max(service);
        self.done.reads += 1;
        self.done.time += service;
        if self.ends.is_none_or(|ends| now >= ends) {
            self.look(now, service, writes);
        }
    }

    /// A write of that kind and `length` is done.
    #[inline]
    pub(super) fn written(&mut self, kind: usize, length: Sectors) {
        self.limits[kind].written += u64::from(length.0);
    }

    /// A window ends now with a read that took `service`.
    #[inline(never)]
    fn look(&mut self, now: Instant, service: Duration, writes: [usize; 2]) {
        if self.is_alone(now) {
            self.limits.iter_mut().for_each(|limit| limit.open(now, self.done));
        }
        let late = self.worst > self.best * TOLERANCE;
        (self.worst, self.ends) = (Duration::ZERO, Some(now + WINDOW));
        self.best = (self.best + self.best / 64).min(BEST);
        for (limit, writes) in self.limits.iter_mut().zip(writes) {
            limit.look(now, self.done, late, service, writes);
        }
    }

    /// Nobody reads.
    fn is_alone(&self, now: Instant) -> bool {
        self.ends.is_none_or(|ends| now >= ends + GONE)
    }

    /// Whether another write of that kind may go beside `writes` of the kind that are in flight.
    #[inline]
    pub(super) fn admits(&self, now: Instant, kind: usize, writes: usize) -> bool {
        (writes as u64) * ONE < self.limits[kind].limit || self.is_alone(now)
    }

    /// How many writes of that kind may be in flight.
    pub(super) fn limit(&self, kind: usize) -> u64 {
        self.limits[kind].limit.div_ceil(ONE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A device on which a read takes 1 ms, and beside each write in flight `more` ms. As many writes go as may, and each takes 1 ms.
    struct Device {
        now: Instant,
        limit: WriteLimits,
        more: u64,
    }

    impl Device {
        fn new(more: u64) -> Self {
            let mut device = Device { now: Instant(1), limit: WriteLimits::default(), more };
            device.limit.read(device.now, Duration::from_ms(1), [0; 2]);
            device
        }

        /// Reads for `ms` ms; reads take at least `least` ms. Returns how many writes were in flight at the end.
        fn run(&mut self, ms: u64, least: u64) -> usize {
            let mut writes = 0;
            let end = self.now + Duration::from_ms(ms);
            while self.now < end {
                writes = (0..32).find(|writes| !self.limit.admits(self.now, ASYNC, *writes)).unwrap_or(32);
                let read = least.max(1 + self.more * writes as u64);
                for _ in 0..read {
                    (0..writes).for_each(|_| self.limit.written(ASYNC, Sectors(8)));
                }
                self.now += Duration::from_ms(read);
                self.limit.read(self.now, Duration::from_ms(read), [writes, 0]);
            }
            writes
        }
    }

    #[test]
    fn writes_that_make_reads_late_are_limited() {
        let mut device = Device::new(1);
        let most = (0..20).map(|_| device.run(500, 1)).skip(2).max();
        assert!(most.is_some_and(|most| most <= 8), "{most:?}");
    }

    #[test]
    fn writes_are_free_if_reads_are_late_without_them_too() {
        let mut device = Device::new(0);
        let free = (0..100).filter(|_| device.run(97, 20) == 32).count();
        assert!(free >= 90, "{free}");
    }

    #[test]
    fn writes_are_free_if_nobody_reads() {
        let mut device = Device::new(1);
        device.run(2000, 1);
        assert!(!device.limit.admits(device.now, ASYNC, 16));
        device.now += GONE + WINDOW;
        assert!(device.limit.admits(device.now, ASYNC, 16));
        device.run(20, 1);
        assert_eq!(device.limit.limits[ASYNC].limit, MOST, "a new reader begins without a limit");
    }

    #[test]
    fn the_lowest_limit_is_left_after_a_while_even_if_it_was_worth_it() {
        let (mut now, mut limit) = (Instant(1), WriteLimits::default());
        let mut read = |limit: &mut WriteLimits, ms: u64| {
            now += Duration::from_ms(ms);
            limit.written(SYNC, Sectors(8 * ms as u32));
            limit.read(now, Duration::from_ms(ms), [0, 32]);
        };
        read(&mut limit, 1);
        let slow = (0..100).take_while(|_| {
            read(&mut limit, 40);
            limit.limits[SYNC].limit > ONE
        });
        assert!(slow.count() < 20);
        let fast = (0..9999).take_while(|_| {
            read(&mut limit, 10);
            limit.limits[SYNC].limit == ONE
        });
        let windows = fast.count() as u64;
        assert!((2047..2068).contains(&windows), "{windows}");
    }

    /// Reads take 40 ms, and with the lowest limit for `drain` ms more, then 10 ms. Returns the limit a second later.
    fn limit_of_a_device_that_drains_in(drain: u64) -> u64 {
        let (mut now, mut limit) = (Instant(1), WriteLimits::default());
        let mut lowest = None;
        limit.read(now, Duration::from_ms(1), [0; 2]);
        while lowest.is_none_or(|since| now.since(since) < Duration::from_ms(1000)) {
            let drained = lowest.is_some_and(|since| now.since(since) >= Duration::from_ms(drain));
            now += WINDOW;
            limit.written(SYNC, Sectors(8));
            limit.read(now, Duration::from_ms(if drained { 10 } else { 40 }), [0, 32]);
            if limit.limits[SYNC].limit == ONE {
                lowest.get_or_insert(now);
            }
        }
        limit.limits[SYNC].limit
    }

    #[test]
    fn a_device_has_time_to_write_what_is_in_its_buffer() {
        assert_eq!(limit_of_a_device_that_drains_in(150), ONE);
        assert!(limit_of_a_device_that_drains_in(400) > ONE);
    }

    #[test]
    fn there_is_no_trial_for_writes_that_nobody_issues() {
        let (mut now, mut limit) = (Instant(1), WriteLimits::default());
        limit.read(now, Duration::from_ms(1), [0; 2]);
        for _ in 0..100 {
            now += WINDOW;
            limit.written(ASYNC, Sectors(8));
            limit.read(now, Duration::from_ms(20), [4, 0]);
            assert_eq!(limit.limits[SYNC].limit, MOST);
        }
    }
}
