//! Statistics of one process, which say what to expect of it (SOSP'01 §3.3): think times, positioning
//! times and seek directions, recent ones counting more.
//!
//! Everything is kept in whole numbers. Shares have 16 binary digits after the point.

use crate::request::Request;
use crate::units::{Duration, Instant, Sector};

crate::choices! {
    /// Of which think times a wait covers 95 %.
    pub enum Percentile {
        /// Of those below 15 ms.
        Short = "short",
        /// Of all; longer ones count as 15 ms (SOSP'01 §3.3).
        All = "all",
    }
}

/// Think times are counted in buckets of this width.
pub(super) const BUCKET: Duration = Duration::from_us(500);
/// Buckets: up to 15 ms.
const BUCKETS: usize = 30;
/// One, with 16 binary digits after the point.
pub(super) const ONE: u64 = 1 << 16;
/// What a bucket keeps of its count at each request: 0.9.
const BUCKET_KEEPS: u64 = ONE * 9 / 10;
/// What a mean positioning time keeps at each sample: 0.05^(1/10) = 0.7411, so that after ten samples
/// 95 % is forgotten.
const POSITIONING_KEEPS: u64 = 48_570;
/// Means of think times move by a tenth of the difference.
const MEAN_STEP: i64 = 10;

/// The decayed frequency table of think times.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ThinkTimes {
    /// The last one counts all that are longer.
    counts: [u32; BUCKETS + 1],
    /// The sum of the others.
    short: u32,
}

impl ThinkTimes {
    const EMPTY: ThinkTimes = ThinkTimes { counts: [0; BUCKETS + 1], short: 0 };

    fn add(&mut self, think: Duration) {
        let bucket = (think.0 / BUCKET.0).min(BUCKETS as u64) as usize;
        let mut sum = 0;
        for count in &mut self.counts {
            *count = ((u64::from(*count) * BUCKET_KEEPS) >> 16) as u32;
            sum += *count;
        }
        self.counts[bucket] += ONE as u32;
        self.short = sum + ONE as u32 - self.counts[BUCKETS];
    }

    /// The upper edge of the bucket at which this many are counted; 15 ms if there are fewer.
    fn edge(&self, wanted: u32) -> Duration {
        let mut counted = 0;
        let reached = self.counts[..BUCKETS].iter().position(|count| {
            counted += *count;
            counted >= wanted
        });
        BUCKET * (reached.unwrap_or(BUCKETS - 1) as u64 + 1)
    }

    /// The median, and the 95th percentile of all think times or of those below 15 ms.
    fn median_and_latest(&self, of: Percentile) -> (Duration, Duration) {
        let all = self.short + self.counts[BUCKETS];
        let counted = if of == Percentile::All { all } else { self.short };
        // All counts together stay below ten times ONE (1 + 0.9 + 0.81 + …), so that 95 times that fits.
        (self.edge(all.div_ceil(2)), self.edge((counted * 95).div_ceil(100)))
    }
}

/// What is expected of a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Expected {
    /// Half of its think times are shorter than this. A multiple of 500 us, at most 15 ms.
    pub median: Duration,
    /// 95 % of its think times are shorter than this. A multiple of 500 us, at most 15 ms.
    pub latest: Duration,
    /// How long the head is expected to take to its next request.
    pub positioning: Duration,
    /// In how many of a hundred cases its next request lies before its last one on the disk.
    pub backward_percent: u64,
}

/// Statistics of a process, a group of processes or a region of the disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Statistics {
    thinks: ThinkTimes,
    median: Duration,
    latest: Duration,
    /// Think times since statistics began.
    pub(super) samples: u32,
    /// Mean think time and mean distance from it, in nanoseconds.
    mean: i64,
    spread: i64,
    positioning: Option<Duration>,
    backward: u64,
    /// The share of think times that were longer than expected.
    misses: u64,
    /// Where its last request ended.
    pub(super) position: Option<Sector>,
    /// When its last request was completed.
    completed: Option<Instant>,
    /// The process's synchronous requests that wait, and the ones in the device.
    pub(super) waiting: u32,
    pub(super) in_flight: u32,
    /// The process's last request was a part of a larger one, and the next part follows.
    in_parts: bool,
    /// A wait for it has run out since its last request.
    pub(super) expired: bool,
}

impl Default for Statistics {
    fn default() -> Self {
        Statistics {
            thinks: ThinkTimes::EMPTY,
            median: Duration::ZERO,
            latest: Duration::ZERO,
            samples: 0,
            mean: 0,
            spread: 0,
            positioning: None,
            backward: 0,
            misses: 0,
            position: None,
            completed: None,
            waiting: 0,
            in_flight: 0,
            in_parts: false,
            expired: false,
        }
    }
}

impl Statistics {
    /// `request` arrives. Says whether it is a further part of a larger one.
    pub(super) fn arrives(&mut self, now: Instant, request: &Request, of: Percentile) -> bool {
        let (start, end, more) = (request.start, request.end(), request.more_follows);
        let part = core::mem::replace(&mut self.in_parts, more);
        let before = self.position.replace(end);
        self.waiting += 1;
        if part {
            return true;
        }
        if let Some(before) = before {
            let sample = if start < before { ONE } else { 0 };
            self.backward = mixed(self.backward, sample, BUCKET_KEEPS);
        }
        let busy = self.waiting + self.in_flight > 1;
        if let Some(think) = self.completed.map(|at| if busy { Duration::ZERO } else { now.since(at) }) {
            self.thought(think, of);
        }
        false
    }

    /// A request went into one that waits already, which has grown to `request`.
    pub(super) fn extends(&mut self, request: &Request, of: Percentile) {
        self.position = Some(request.end());
        if !core::mem::replace(&mut self.in_parts, request.more_follows) && self.completed.is_some() {
            self.thought(Duration::ZERO, of);
        }
    }

    /// A think time of this length has passed.
    fn thought(&mut self, think: Duration, of: Percentile) {
        if self.samples > 0 {
            let missed = core::mem::take(&mut self.expired) || think > self.latest;
            self.misses = mixed(self.misses, if missed { ONE } else { 0 }, BUCKET_KEEPS);
        }
        self.thinks.add(think);
        (self.median, self.latest) = self.thinks.median_and_latest(of);
        // A minute is as good as for ever, and keeps the sums small.
        let sample = think.0.min(60_000_000_000) as i64;
        if self.samples == 0 {
            (self.mean, self.spread) = (sample, 0);
        }
        let apart = sample - self.mean;
        self.mean += apart / MEAN_STEP;
        self.spread += (apart.abs() - self.spread) / MEAN_STEP;
        self.samples = self.samples.saturating_add(1);
    }

    /// A request of the process was completed.
    pub(super) fn completes(&mut self, now: Instant) {
        self.in_flight = self.in_flight.saturating_sub(1);
        self.completed = Some(now);
    }

    /// The head took this long to one of its requests.
    pub(super) fn positioned(&mut self, time: Duration) {
        let mean = self.positioning.map_or(time.0, |mean| mixed(mean.0, time.0, POSITIONING_KEEPS));
        self.positioning = Some(Duration(mean));
    }

    /// How far its think times scatter, in hundredths of their mean or, if that is shorter, of a bucket.
    pub(super) fn spread_percent(&self) -> u64 {
        (self.spread * 100 / self.mean.max(BUCKET.0 as i64)) as u64
    }

    /// How many of a hundred think times were longer than expected.
    pub(super) fn miss_percent(&self) -> u64 {
        (self.misses * 100) >> 16
    }

    /// Forgets what it knew of think times and positioning times.
    pub(super) fn reset(&mut self) {
        (self.thinks, self.samples, self.positioning) = (ThinkTimes::EMPTY, 0, None);
    }

    /// What is expected, if anything is known.
    pub(super) fn expected(&self) -> Option<Expected> {
        if self.samples == 0 {
            return None;
        }
        Some(Expected {
            median: self.median,
            latest: self.latest,
            positioning: self.positioning?,
            backward_percent: (self.backward * 100) >> 16,
        })
    }
}

/// `keeps` of the old mean and the rest of the sample.
fn mixed(mean: u64, sample: u64, keeps: u64) -> u64 {
    // Times and shares are far below 2^47.
    (mean * keeps + sample.min(1 << 40) * (ONE - keeps)) >> 16
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Sectors;

    fn ms(ms: u64) -> Duration {
        Duration::from_ms(ms)
    }

    impl Statistics {
        /// A read of `start..start + 8` arrives; parts of it may follow. Says whether it is a part.
        fn comes(&mut self, now: Instant, start: u64, more_follows: bool) -> bool {
            let request = Request { more_follows, ..Request::read(Sector(start), Sectors(8)) };
            self.arrives(now, &request, Percentile::Short)
        }
    }

    /// Statistics after these think times.
    fn after(thinks: &[Duration]) -> Statistics {
        let mut statistics = Statistics::default();
        let mut now = Instant(0);
        for think in [&[Duration::ZERO], thinks].concat() {
            now += think;
            statistics.comes(now, 0, false);
            (statistics.waiting, statistics.in_flight) = (0, 1);
            now += ms(3);
            statistics.completes(now);
            statistics.positioned(ms(1));
        }
        statistics
    }

    #[test]
    fn a_process_is_unknown_until_it_has_thought_once() {
        assert_eq!(after(&[]).expected(), None);
        let known = after(&[ms(2)]).expected().unwrap();
        assert_eq!((known.median, known.latest), (Duration::from_us(2500), Duration::from_us(2500)));
    }

    #[test]
    fn the_percentiles_are_upper_edges_of_half_milliseconds() {
        let mut thinks = alloc::vec![Duration::from_us(600); 19];
        thinks.insert(10, ms(7));
        let known = after(&thinks).expected().unwrap();
        assert_eq!((known.median, known.latest), (ms(1), ms(1)), "one of twenty, decayed, is below 5 %");
        thinks.push(ms(7));
        let known = after(&thinks).expected().unwrap();
        assert_eq!((known.median, known.latest), (ms(1), Duration::from_us(7500)));
    }

    #[test]
    fn longer_think_times_raise_the_median_but_not_the_wait() {
        assert_eq!(after(&[ms(400)]).expected().unwrap().median, ms(15), "longer ones count as 15 ms");
        let mixed = after(&[ms(400), ms(1), ms(400), ms(1)]).expected().unwrap();
        assert_eq!((mixed.median, mixed.latest), (Duration::from_us(1500), Duration::from_us(1500)));
        let mixed = after(&[ms(1), ms(400), ms(1), ms(400)]).expected().unwrap();
        assert_eq!((mixed.median, mixed.latest), (ms(15), Duration::from_us(1500)));
    }

    #[test]
    fn of_all_think_times_a_wait_covers_95_percent_too() {
        let mut known = after(&[ms(1), ms(400), ms(1), ms(400), ms(1)]);
        known.thought(ms(1), Percentile::All);
        assert_eq!(
            (known.median, known.latest),
            (Duration::from_us(1500), ms(15)),
            "longer ones count as 15 ms"
        );
    }

    #[test]
    fn buckets_keep_nine_tenths_at_each_request() {
        // 0.9^n sums: after seven long ones, the seven short ones before weigh 0.4783 / 1.4783 of 1.
        let mut thinks = alloc::vec![ms(1); 30];
        thinks.extend([ms(9); 6]);
        assert_eq!(after(&thinks).median, Duration::from_us(1500), "0.9^6 = 0.531 is more than half");
        thinks.push(ms(9));
        assert_eq!(after(&thinks).median, Duration::from_us(9500), "0.9^7 = 0.478 is less than half");
    }

    #[test]
    fn a_positioning_time_is_forgotten_to_95_percent_after_ten() {
        let mut statistics = Statistics::default();
        statistics.positioned(ms(100));
        (0..10).for_each(|_| statistics.positioned(Duration::ZERO));
        let left = statistics.positioning.unwrap().0;
        assert!((4_900_000..5_100_000).contains(&left), "{left}");
        (0..3).for_each(|_| statistics.positioned(Duration::ZERO));
        assert!(statistics.positioning.unwrap() < ms(3), "it is not the 0.9 of the buckets");
    }

    #[test]
    fn a_request_beside_one_that_waits_was_not_thought_about() {
        let mut statistics = after(&[ms(9)]);
        let now = Instant(0) + ms(500);
        statistics.comes(now, 8, false);
        let first = statistics.clone();
        statistics.comes(now + ms(2), 16, false);
        assert_eq!(first.thinks.counts[BUCKETS], ONE as u32, "half a second is beyond the buckets");
        assert_eq!(statistics.thinks.counts[0], ONE as u32);
    }

    #[test]
    fn parts_of_a_large_request_are_one_request() {
        let mut statistics = after(&[ms(9)]);
        let now = Instant(0) + ms(50);
        assert!(!statistics.comes(now, 8, true));
        let one = statistics.clone();
        assert!(statistics.comes(now, 16, true));
        assert!(statistics.comes(now, 24, false));
        assert_eq!(statistics.thinks, one.thinks);
        assert!(!statistics.comes(now, 32, false));
    }

    #[test]
    fn directions_are_remembered() {
        let mut statistics = Statistics::default();
        for start in (0..20).rev() {
            statistics.comes(Instant(0), start * 100, false);
        }
        assert!(statistics.backward * 100 / ONE > 80);
        statistics.comes(Instant(0), 8, false);
        statistics.comes(Instant(0), 16, false);
        assert!(statistics.backward * 100 / ONE < 80, "going on where it ended is forward");
    }

    #[test]
    fn scattered_think_times_show() {
        assert_eq!(after(&[ms(4); 20]).spread_percent(), 0);
        let mut thinks = alloc::vec::Vec::new();
        (0..20).for_each(|_| thinks.extend([Duration::ZERO, Duration::ZERO, ms(12)]));
        let statistics = after(&thinks);
        assert!(statistics.spread_percent() > 90, "{}", statistics.spread_percent());
        assert!(statistics.miss_percent() < 50);
    }
}
