//! Latencies of one period: a histogram of four ranges for each power of two.

use crate::units::Duration;

const RANGES: usize = 4 * 64;

/// How often an observer looks: a tenth of a second is what people notice. See [`observed`].
const LOOKS: Duration = Duration::from_ms(100);

/// What an observer who looks ten times a second sees of a request with this latency.
///
/// A process that waits for its requests issues none while one takes long: the longer the stall, the fewer the
/// latencies, and a percentile of them hides that a scheduler starves a process. So each stall counts as often as it was
/// there to be seen (the correction for "coordinated omission" of HdrHistogram).
pub fn observed(latency: Duration) -> impl Iterator<Item = Duration> {
    core::iter::successors(Some(latency), |left| (*left > LOOKS).then(|| *left - LOOKS))
}

/// How many requests took how long. A percentile is exact to a quarter of its power of two.
pub(super) struct Latencies {
    counts: [u32; RANGES],
    total: u64,
}

impl Default for Latencies {
    fn default() -> Self {
        Latencies { counts: [0; RANGES], total: 0 }
    }
}

/// The range of a time: its highest bit, and the two below.
#[inline]
fn range(time: u64) -> usize {
    let time = time.max(4);
    let high = time.ilog2();
    (high as usize) << 2 | (time >> (high - 2)) as usize & 3
}

/// The end of a range.
fn end(range: usize) -> u64 {
    let (high, part) = ((range >> 2) as u32, (range & 3) as u64);
    if high < 2 { 4 } else { (1 << high).max((5 + part) << (high - 2)) - 1 }
}

impl Latencies {
    #[inline]
    pub(super) fn record(&mut self, latency: Duration) {
        self.counts[range(latency.0)] += 1;
        self.total += 1;
    }

    /// 99 in 100 took no longer; zero if there were none. Empties the histogram.
    pub(super) fn take_p99(&mut self) -> Duration {
        let wanted = self.total - self.total / 100;
        let mut seen = 0;
        let mut found = 0;
        if self.total > 0 {
            for (range, count) in self.counts.iter().enumerate() {
                seen += u64::from(*count);
                if seen >= wanted {
                    found = end(range);
                    break;
                }
            }
            *self = Latencies::default();
        }
        Duration(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_percentile_is_right_to_a_quarter_of_a_power_of_two() {
        let mut latencies = Latencies::default();
        (1..=1000u64).for_each(|ms| latencies.record(Duration::from_ms(ms)));
        let p99 = latencies.take_p99().as_ms();
        assert!((990..=1100).contains(&p99), "{p99}");
        assert_eq!(latencies.take_p99(), Duration::ZERO);
    }

    #[test]
    fn a_stall_counts_as_often_as_it_could_be_seen() {
        let times = |ms: u64| {
            observed(Duration::from_ms(ms)).map(|time| time.as_ms()).collect::<alloc::vec::Vec<_>>()
        };
        assert_eq!(times(30), [30]);
        assert_eq!(times(100), [100]);
        assert_eq!(times(320), [320, 220, 120, 20]);
    }

    #[test]
    fn ranges_follow_one_another() {
        for time in [4, 5, 7, 8, 9, 10, 100, 1 << 40, u64::MAX / 2] {
            assert!(end(range(time)) >= time, "{time}");
            assert!(end(range(time)) <= time + time / 4 + 1, "{time}");
        }
    }
}
