//! A latency distribution that is small enough to be kept for each process.
//!
//! Buckets are 1/16 of an octave wide, in units of 1.024 µs: percentiles are within 3 %.

/// Buckets to an octave, as a power of two.
const STEP_BITS: u32 = 4;
const STEPS: usize = 1 << STEP_BITS;
/// Nanoseconds are counted in units of two to this power.
const UNIT_BITS: u32 = 10;
/// Up to 2^44 units, five hours; what is longer counts in the last bucket.
const BUCKETS: usize = (34 - STEP_BITS as usize + 1) * STEPS;

/// A latency distribution.
#[derive(Clone, Debug)]
pub(super) struct SmallHistogram {
    counts: Box<[u32; BUCKETS]>,
    max: u64,
}

impl Default for SmallHistogram {
    fn default() -> Self {
        SmallHistogram { counts: Box::new([0; BUCKETS]), max: 0 }
    }
}

/// Small values have a bucket each; the others share one with all values of the same leading bits.
#[inline]
const fn bucket(ns: u64) -> usize {
    let units = ns >> UNIT_BITS;
    let octave = (units | (STEPS as u64 - 1)).ilog2() + 1 - STEP_BITS;
    // Where the value begins below its octave's steps, the octave is 0 and nothing is shifted.
    let within = if octave == 0 { units } else { (units >> (octave - 1)) - STEPS as u64 };
    let place = octave as usize * STEPS + within as usize;
    if place < BUCKETS { place } else { BUCKETS - 1 }
}

/// The middle of a bucket.
const fn middle(bucket: usize) -> u64 {
    let (octave, within) = (bucket / STEPS, (bucket % STEPS) as u64);
    let (start, width) =
        if octave == 0 { (within, 1) } else { ((within + STEPS as u64) << (octave - 1), 1 << (octave - 1)) };
    (start << UNIT_BITS) + ((width << UNIT_BITS) >> 1)
}

impl SmallHistogram {
    #[inline]
    pub(super) fn record(&mut self, ns: u64) {
        let count = &mut self.counts[bucket(ns)];
        *count = count.saturating_add(1);
        self.max = self.max.max(ns);
    }

    pub(super) fn add(&mut self, other: &SmallHistogram) {
        for (count, more) in self.counts.iter_mut().zip(other.counts.iter()) {
            *count = count.saturating_add(*more);
        }
        self.max = self.max.max(other.max);
    }

    pub(super) fn max(&self) -> u64 {
        self.max
    }

    /// The latency that this share of the requests did not exceed; 0 if there are none.
    pub(super) fn quantile(&self, share: f64) -> u64 {
        let total: u64 = self.counts.iter().map(|count| u64::from(*count)).sum();
        let wanted = (total as f64 * share).ceil().max(1.0) as u64;
        let mut seen = 0;
        for (place, count) in self.counts.iter().enumerate() {
            seen += u64::from(*count);
            if seen >= wanted {
                return middle(place).min(self.max);
            }
        }
        self.max
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_ascend_and_their_middles_are_near() {
        let mut last = 0;
        for exponent in 0..4400 {
            let ns = 2f64.powf(f64::from(exponent) / 100.0) as u64;
            let place = bucket(ns);
            assert!(place == last || place == last + 1 || ns < 20_000, "{ns}: {last} then {place}");
            assert!(place >= last && place < BUCKETS);
            last = place;
            let off = middle(place).abs_diff(ns) as f64;
            assert!(off <= ns as f64 * 0.0315 + 512.0, "{ns} is off by {off}");
        }
        assert_eq!(last, BUCKETS - 1);
        assert_eq!(bucket(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn percentiles_are_those_of_what_was_recorded() {
        let mut spread = SmallHistogram::default();
        assert_eq!(spread.quantile(0.5), 0);
        (1..=1000).for_each(|ms| spread.record(ms * 1_000_000));
        for (share, ms) in [(0.5, 500.0), (0.95, 950.0), (0.99, 990.0), (1.0, 1000.0)] {
            let found = spread.quantile(share) as f64 / 1e6;
            assert!((found / ms - 1.0).abs() < 0.032, "{share}: {found} for {ms}");
        }
        assert_eq!(spread.max(), 1_000_000_000);
    }
}
