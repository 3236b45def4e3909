//! Linux's pacing of writers: who fills pages sleeps now and then, so that pages become dirty as fast as the disk takes them.
//!
//! Up to half-way between the background limit and the limit nobody sleeps. Beyond, a learned rate says how many pages a writer may dirty
//! in a second. The goal is half-way from there to the limit: with fewer dirty pages a writer may dirty more, with more dirty pages
//! fewer, and at the limit none. The rate follows what the disk writes in a second.
//!
//! Source: mm/page-writeback.c of Linux 6.1 (`balance_dirty_pages`), for one disk.

use idlewise_core::{Duration, Instant};

use super::throttle::TICK;

/// Ticks in a second.
const HZ: f64 = 250.0;
/// What a disk is taken to write in a second before anything is known, in pages: `INIT_BW`.
const INITIAL: f64 = 25_600.0;
/// How often the rate and what the disk writes are measured: `BANDWIDTH_INTERVAL`.
const INTERVAL: Duration = Duration::from_ms(200);
/// Over how many ticks what the disk writes is averaged: three seconds, rounded up to a power of two.
const PERIOD: f64 = 1024.0;
/// The longest sleep, in ticks: `MAX_PAUSE`.
const LONGEST: f64 = 50.0;
/// A writer that sleeps after fewer pages than this would sleep too often: `DIRTY_POLL_THRESH`.
const FEW: f64 = 32.0;

/// What is known of one writer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// Pages dirtied since the writer was looked at.
    dirtied: u32,
    /// With how many the writer is looked at again.
    until: u32,
    /// The tick at which its last sleep should have ended.
    paused: Option<f64>,
}

impl Default for Pace {
    fn default() -> Pace {
        Pace { dirtied: 0, until: FEW as u32, paused: None }
    }
}

impl Pace {
    /// The writer has dirtied a page.
    pub(super) fn dirtied(&mut self) {
        self.dirtied += 1;
    }

    /// The writer is to be looked at.
    pub(super) fn is_due(&self) -> bool {
        self.dirtied >= self.until
    }
}

/// The limits, and how many pages are dirty or being written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Level {
    pub dirty: u32,
    pub background: u32,
    pub most: u32,
}

impl Level {
    /// Up to here nobody sleeps.
    fn free(self) -> f64 {
        f64::from(self.background + self.most) / 2.0
    }

    /// How many pages are to be dirty.
    fn goal(self) -> f64 {
        (self.free() + f64::from(self.most)) / 2.0
    }

    /// How much faster than the rate pages may become dirty, where the disk writes `bandwidth`.
    fn factor(self, bandwidth: f64) -> f64 {
        if self.dirty >= self.most {
            return 0.0;
        }
        let off = self.goal() - f64::from(self.dirty);
        let x = off / (f64::from(self.most) - self.goal() + 1.0);
        let span = 8.0 * bandwidth;
        (1.0 + x * x * x).clamp(0.0, 2.0) * (1.0 + off / (span + 1.0)).max(0.25)
    }
}

/// The pacing of one disk's writers.
#[derive(Clone, Debug)]
pub(super) struct Pacing {
    /// Pages that the disk writes in a second, lately and smoothed.
    bandwidth: f64,
    smooth: f64,
    /// Pages that a writer may dirty in a second, and what the last measurement would have it be.
    rate: f64,
    balanced: f64,
    /// Pages dirtied and written so far, and then as of the last measurement.
    dirtied: u64,
    written: u64,
    measured: (Instant, u64, u64),
}

impl Default for Pacing {
    fn default() -> Pacing {
        let (bandwidth, smooth, rate, balanced) = (INITIAL, INITIAL, INITIAL, INITIAL);
        Pacing { bandwidth, smooth, rate, balanced, dirtied: 0, written: 0, measured: (Instant::ZERO, 0, 0) }
    }
}

impl Pacing {
    /// A page has become dirty.
    pub(super) fn dirtied(&mut self) {
        self.dirtied += 1;
    }

    /// The disk has written pages.
    pub(super) fn written(&mut self, pages: u32) {
        self.written += u64::from(pages);
    }

    /// Something is sent to the disk, of which nothing was on its way: how fast it writes can be told from now on.
    pub(super) fn begin(&mut self, now: Instant) {
        if now.since(self.measured.0) > INTERVAL {
            self.measured = (now, self.dirtied, self.written);
        }
    }

    /// The flusher begins another piece of a file: what the disk writes is measured, if it is time.
    pub(super) fn piece(&mut self, now: Instant) {
        self.measure(now, None);
    }

    /// A writer is looked at. Returns until when it sleeps, if it does.
    pub(super) fn look(&mut self, now: Instant, pace: &mut Pace, level: Level) -> Option<Instant> {
        let dirty = f64::from(level.dirty);
        let tick = (now.0 / TICK.0) as f64;
        if dirty <= level.free() {
            let room = f64::from(level.most) - dirty;
            *pace = Pace { dirtied: 0, until: 1 << ((room.max(1.0) as u32).ilog2() / 2), paused: Some(tick) };
            return None;
        }
        self.measure(now, Some(level));
        let allowed = self.rate * level.factor(self.smooth);
        let longest = (dirty / (1.0 + self.smooth / 32.0) + 1.0).min(LONGEST).floor();
        let (shortest, until) = self.shortest(longest, allowed);
        let pages = f64::from(pace.dirtied);
        let period = if allowed < 1.0 { longest } else { (HZ * pages / allowed).floor() };
        let since = pace.paused.map_or(0.0, |at| tick - at);
        let pause = if allowed < 1.0 { longest } else { period - since };
        if pause < shortest {
            if pause < -HZ {
                (pace.paused, pace.dirtied) = (Some(tick), 0);
            } else if period >= 1.0 {
                (pace.paused, pace.dirtied) = (Some(pace.paused.unwrap_or(0.0) + period), 0);
            } else if pace.until <= pace.dirtied {
                pace.until += pace.dirtied;
            }
            return None;
        }
        let (over, pause) = ((pause - longest).clamp(0.0, longest), pause.min(longest));
        *pace = Pace { dirtied: 0, until, paused: Some(tick + over + pause) };
        // A timer goes off with the tick after its own: it must not be early.
        Some(Instant((tick + pause) as u64 * TICK.0) + TICK)
    }

    /// The shortest sleep that is worth it, in ticks, and after how many pages the next one is to come.
    fn shortest(&self, longest: f64, allowed: f64) -> (f64, u32) {
        let log = |value: f64| f64::from((value.max(1.0) as u32).ilog2());
        // Several writers sleep for longer each.
        let more = (log(self.smooth) - log(self.rate)).max(0.0) * 10.0 * HZ / 1024.0;
        let mut time = (2.0 + more).floor().min(1.0 + (longest / 2.0).floor());
        let mut pages = self.rate * time / 256.0;
        if pages < FEW {
            time = longest;
            pages = self.rate * time / 256.0;
            if pages > FEW {
                (time, pages) = ((HZ * FEW / self.rate).floor(), FEW);
            }
        }
        if HZ * pages / (allowed + 1.0) > longest {
            time = longest;
            pages = allowed * time / 256.0;
        }
        let shortest = if pages >= FEW { 1.0 + (time / 2.0).floor() } else { time };
        (shortest, (pages as u32).max(1))
    }

    /// Measures what the disk writes, and with a level also what writers may.
    fn measure(&mut self, now: Instant, level: Option<Level>) {
        let (at, dirtied, written) = self.measured;
        let elapsed = now.since(at);
        if elapsed < INTERVAL {
            return;
        }
        let elapsed = ticks(elapsed);
        if let Some(level) = level {
            self.follow((self.dirtied - dirtied) as f64 * HZ / elapsed, level);
        }
        let lately = (self.written - written) as f64 * HZ;
        let before = self.bandwidth;
        self.bandwidth = if elapsed > PERIOD {
            self.smooth = lately / elapsed;
            lately / elapsed
        } else {
            (lately + before * (PERIOD - elapsed)) / PERIOD
        };
        if self.smooth > before && before >= self.bandwidth {
            self.smooth -= (self.smooth - before) / 8.0;
        } else if self.smooth < before && before <= self.bandwidth {
            self.smooth += (before - self.smooth) / 8.0;
        }
        self.smooth = self.smooth.max(1.0);
        self.measured = (now, self.dirtied, self.written);
    }

    /// The rate follows what the disk writes, where pages became dirty at `dirtied` a second: step by step, and only where
    /// all that is known says so.
    fn follow(&mut self, dirtied: f64, level: Level) {
        let allowed = self.rate * level.factor(self.smooth) + 1.0;
        let balanced = (allowed * self.smooth / dirtied.max(1.0)).min(self.smooth);
        let step = if f64::from(level.dirty) < level.goal() {
            (self.balanced.min(balanced).min(allowed) - self.rate).max(0.0)
        } else {
            (self.balanced.max(balanced).max(allowed) - self.rate).min(0.0)
        };
        // A small step is not taken at once.
        let shift = (self.rate / (2.0 * step.abs() + 1.0)).floor().min(64.0);
        self.rate = (self.rate + step / 2f64.powf(shift) / 8.0).max(1.0);
        self.balanced = balanced;
    }
}

/// A time in ticks.
fn ticks(time: Duration) -> f64 {
    time.0 as f64 / TICK.0 as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEVEL: Level = Level { dirty: 0, background: 6554, most: 13_108 };

    /// A writer on a disk that writes `disk` pages in a second, for `seconds`, with 21 us a page: pages that became dirty in the last
    /// second, and how many were dirty then at least and at most.
    fn lasting(disk: u64, seconds: u64) -> (u64, u32, u32) {
        let (mut own, mut pace, mut now) = (Pacing::default(), Pace::default(), Instant::ZERO);
        let (mut total, mut written, mut late, mut range) = (0_u64, 0_u64, 0, (u32::MAX, 0));
        let end = Instant::ZERO + Duration::from_s(seconds);
        while now < end {
            if pace.is_due() {
                let done = (now.0 * disk / 1_000_000_000).min(total);
                own.written((done - written) as u32);
                written = done;
                let dirty = (total - written) as u32;
                if now > Instant::ZERO + Duration::from_s(seconds - 1) {
                    range = (range.0.min(dirty), range.1.max(dirty));
                }
                now = own.look(now, &mut pace, Level { dirty, ..LEVEL }).unwrap_or(now);
            }
            (total, now) = (total + 1, now + Duration::from_us(21));
            own.dirtied();
            pace.dirtied();
            late += u64::from(now > Instant::ZERO + Duration::from_s(seconds - 1));
        }
        (late, range.0, range.1)
    }

    #[test]
    fn pages_become_dirty_as_fast_as_the_disk_writes_them() {
        for disk in [2000, 8000, 20_000] {
            let (rate, least, most) = lasting(disk, 40);
            assert!((disk * 4 / 5..=disk * 6 / 5).contains(&rate), "{rate} of {disk}");
            assert!(least > 9831 && most < 13_108, "{least} to {most}");
        }
    }

    #[test]
    fn up_to_half_way_nobody_sleeps_and_at_the_limit_everybody_does_for_long() {
        let sleep = |dirty, dirtied| {
            let (mut own, now) = (Pacing::default(), Instant::ZERO + TICK * 100);
            let mut pace = Pace { dirtied, until: 1, paused: Some(100.0) };
            let end = own.look(now, &mut pace, Level { dirty, ..LEVEL });
            (end.map(|end| end.since(now).0 / TICK.0), pace.until)
        };
        // 2^(log2(13108 - 9831) / 2) pages until the next look.
        assert_eq!(sleep(9831, 1000), (None, 32));
        // 1200 pages at 25600 in a second: 11 ticks, and one more, as a timer is never early.
        assert_eq!(sleep(11_469, 1200).0, Some(11 + 1));
        // 13108 dirty pages of a disk that writes 25600 in a second: 17 ticks at most.
        assert_eq!(sleep(13_108, 32).0, Some(17 + 1));
        assert_eq!(sleep(11_469, 32).0, None, "too short a sleep is put off");
    }
}
