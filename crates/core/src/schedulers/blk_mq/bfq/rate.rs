//! How fast the device is: its peak rate, from which the greatest budget and the time of raising follow,
//! and whether it takes several commands.
//!
//! Rates are sectors per microsecond with 16 binary digits after the point. What is measured is the rate
//! of dispatch over up to a second. A measurement counts the more, the more of it was sequential and the longer it
//! took.

use crate::request::Request;
use crate::units::{Duration, Instant, Sector};

/// Linux's `BFQ_RATE_SHIFT`.
const SHIFT: u32 = 16;
/// Linux's reference rates and times of raising, of devices with heads and without.
const REFERENCE_RATE: [u64; 2] = [14_000, 33_000];
const REFERENCE_TIME: [Duration; 2] = [Duration::from_ms(7_000), Duration::from_ms(2_500)];
const SHORTEST_RAISE: Duration = Duration::from_ms(3_000);
const LONGEST_RAISE: Duration = Duration::from_ms(25_000);
/// A measurement needs this many requests and this much time; the longer time ends it.
const LEAST_SAMPLES: u64 = 32;
const LEAST_TIME: Duration = Duration::from_ms(300);
const WHOLE_TIME: Duration = Duration::from_s(1);
/// A pause that ends a measurement.
const PAUSE: Duration = Duration::from_ms(100);
/// Linux's `BFQ_MIN_TT`: after a longer pause requests do not follow upon each other.
pub(crate) const SHORT: Duration = Duration::from_ms(2);
/// Linux's `BFQQ_SEEK_THR`: a longer way is a seek, in sectors.
const SEEK: u64 = 800;
/// Linux's `BFQQ_SECT_THR_NONROT`: without heads, only to smaller requests a way matters.
pub(crate) const LARGE: u64 = 64;

/// Whether a request is far from `last`. Nothing is far from sector 0, where all begins.
pub(crate) fn seeks(rotational: bool, last: Sector, start: Sector, length: u64) -> bool {
    (rotational || length < LARGE) && start.distance(last) > SEEK && last.0 != 0
}

/// How long an interactive queue is raised on a device of this rate.
fn raise_time(peak: u64, rotational: bool) -> Duration {
    let which = usize::from(!rotational);
    let ms = REFERENCE_RATE[which] * (REFERENCE_TIME[which].0 / 1_000_000) / peak;
    Duration::from_ms(ms).clamp(SHORTEST_RAISE, LONGEST_RAISE)
}

/// The estimate and the measurement under way.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rate {
    peak: u64,
    /// How long an interactive queue is raised: as long as a large program takes to start.
    pub(crate) raise_time: Duration,
    samples: u64,
    sequential: u64,
    sectors: u64,
    largest: u64,
    first: Instant,
    last: Instant,
    elapsed: Duration,
    pub(crate) last_completion: Option<Instant>,
    /// Where the last request ends.
    pub(crate) position: Sector,
    rotational: bool,
}

impl Rate {
    pub(crate) fn new(rotational: bool) -> Rate {
        let peak = REFERENCE_RATE[usize::from(!rotational)] * 2 / 3;
        Rate { peak, raise_time: raise_time(peak, rotational), rotational, ..Rate::default() }
    }

    /// What the device can do in `time`, in sectors.
    pub(crate) fn sectors_in(&self, time: Duration) -> u64 {
        self.peak.saturating_mul(time.0 / 1_000) >> SHIFT
    }

    /// A request goes to the device. True if the estimate has changed.
    pub(crate) fn sent(&mut self, now: Instant, request: &Request, in_flight: u32) -> bool {
        let mut changed = false;
        if self.samples == 0 {
            self.restart(now, request);
        } else if now.since(self.last) > PAUSE && in_flight == 0 {
            changed = self.finish();
            self.restart(now, request);
        } else {
            self.sample(now, request, in_flight);
            if self.elapsed >= WHOLE_TIME {
                changed = self.finish();
                self.restart(now, request);
            }
        }
        self.position = request.end();
        self.last = now;
        changed
    }

    fn sample(&mut self, now: Instant, request: &Request, in_flight: u32) {
        let length = u64::from(request.length.0);
        self.samples += 1;
        let follows = || in_flight > 0 || self.last_completion.is_some_and(|at| now.since(at) < SHORT);
        if !seeks(self.rotational, self.position, request.start, length) && follows() {
            self.sequential += 1;
        }
        self.sectors += length;
        let keeps = self.samples.is_multiple_of(32);
        self.largest = if keeps { length } else { self.largest.max(length) };
        self.elapsed = now.since(self.first);
    }

    fn restart(&mut self, now: Instant, request: &Request) {
        let length = u64::from(request.length.0);
        (self.samples, self.sequential) = (1, 0);
        (self.sectors, self.largest) = (length, length);
        (self.first, self.last) = (now, now);
    }

    /// A request is done. If the device did very little meanwhile, the measurement ends. True if the
    /// estimate has changed.
    pub(crate) fn completed(&mut self, now: Instant) -> bool {
        let pause = self.last_completion.map_or(Duration::MAX, |last| now.since(last));
        let slow = pause >= SHORT + Duration::from_us(1)
            && (self.largest << SHIFT) / (pause.0 / 1_000) < 1 << (SHIFT - 10);
        let changed = slow && self.finish();
        if slow {
            self.samples = 0;
        }
        self.last_completion = Some(now);
        changed
    }

    /// Ends a measurement, which counts if it was long enough, and mostly sequential or faster than known.
    fn finish(&mut self) -> bool {
        if self.samples < LEAST_SAMPLES || self.elapsed < LEAST_TIME {
            return false;
        }
        let served = self.last_completion.unwrap_or(self.first).since(self.first);
        self.elapsed = self.elapsed.max(served);
        let rate = (self.sectors << SHIFT) / (self.elapsed.0 / 1_000);
        let mostly_seeks = self.sequential < 3 * self.samples / 4;
        if mostly_seeks && rate <= self.peak || rate > 20 << SHIFT {
            return false;
        }
        let sequential = 9 * self.sequential / self.samples;
        let weight = (sequential * self.elapsed.0 / WHOLE_TIME.0).min(8);
        let divisor = 10 - weight;
        self.peak = (self.peak * (divisor - 1) / divisor + rate / divisor).max(1);
        self.raise_time = raise_time(self.peak, self.rotational);
        true
    }
}

/// Whether the device was seen to take several commands: Linux's `hw_tag`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tagging {
    /// `None` until that was seen; then it counts as one that does.
    known: Option<bool>,
    samples: u32,
    /// The most requests that the device had at once.
    pub(crate) most: u32,
}

/// The device must have more than this at once, and 32 times have had so much to do.
const SEVERAL: u32 = 3;
const TAG_SAMPLES: u32 = 32;

impl Tagging {
    pub(crate) const fn queues(self) -> bool {
        !matches!(self.known, Some(false))
    }

    /// A request is done, before it is counted: `waiting` and `in_flight` ones, and `own` ones of the
    /// queue in service if that thinks little.
    pub(crate) fn observe(&mut self, waiting: u32, in_flight: u32, own: Option<u32>) {
        self.most = self.most.max(in_flight);
        let few = own.is_some_and(|own| own < SEVERAL) && in_flight < SEVERAL;
        if self.known == Some(true) || in_flight + waiting <= SEVERAL || few {
            return;
        }
        self.samples += 1;
        if self.samples > TAG_SAMPLES {
            *self = Tagging { known: Some(self.most > SEVERAL), samples: 0, most: 0 };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Sectors;

    #[test]
    fn a_disk_read_in_order_is_known_after_some_seconds() {
        let mut rate = Rate::new(true);
        assert_eq!(rate.sectors_in(Duration::from_ms(125)), 17_801, "two thirds of the reference");
        let mut changes = 0;
        for n in 0..4_000u64 {
            let (now, request) = (Instant(n * 2_000_000), Request::read(Sector(8 + n * 512), Sectors(512)));
            changes += u32::from(rate.sent(now, &request, 0));
            rate.completed(now + Duration::from_us(1_900));
        }
        assert!(changes >= 6, "{changes}");
        let expected = 512 * 125 / 2;
        let found = rate.sectors_in(Duration::from_ms(125));
        assert!(found.abs_diff(expected) < expected / 50, "{found} sectors in 125 ms, not {expected}");
        assert_eq!(rate.raise_time.as_ms(), 14_000 * 7_000 / rate.peak);
    }

    #[test]
    fn a_device_that_takes_four_commands_is_noticed_after_32_samples() {
        let mut tagging = Tagging::default();
        (0..32).for_each(|_| tagging.observe(10, 4, None));
        assert_eq!(tagging.known, None);
        tagging.observe(10, 4, None);
        assert_eq!(tagging.known, Some(true));
        let mut single = Tagging::default();
        (0..33).for_each(|_| single.observe(10, 1, None));
        assert!(!single.queues());
    }
}
