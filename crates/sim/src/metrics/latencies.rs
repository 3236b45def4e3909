//! Latencies and times of completion as distributions. What is longest is known to the nanosecond, the rest to 1 part in 1000.

use hdrhistogram::Histogram;

use super::looks::looks;
use super::series::Quantile;

/// Latencies, told apart to 1 part in 1000, up to three hours.
#[derive(Clone)]
pub(super) struct Latencies {
    histogram: Histogram<u64>,
    /// What an observer sees of a request after the first look.
    later: Option<Histogram<u64>>,
    sum: u128,
    /// The longest to the nanosecond: a bin of the histogram ends later.
    max: u64,
}

fn histogram() -> Histogram<u64> {
    const LONGEST_NS: u64 = 3 * 3600 * 1_000_000_000;
    Histogram::new_with_bounds(1_000, LONGEST_NS, 3).expect("the bounds are valid")
}

impl Default for Latencies {
    fn default() -> Latencies {
        Latencies { histogram: histogram(), later: None, sum: 0, max: 0 }
    }
}

impl Latencies {
    #[inline]
    pub(super) fn record(&mut self, latency_ns: u64) {
        self.histogram.saturating_record(latency_ns);
        self.sum += u128::from(latency_ns);
        self.max = self.max.max(latency_ns);
        for look in looks(latency_ns).skip(1) {
            self.later.get_or_insert_with(histogram).saturating_record(look);
        }
    }

    pub(super) fn count(&self) -> u64 {
        self.histogram.len()
    }

    pub(super) fn sum(&self) -> f64 {
        self.sum as f64
    }

    /// 0 if there are none, as for quantiles.
    pub(super) fn mean(&self) -> f64 {
        self.sum() / self.count().max(1) as f64
    }

    pub(super) fn max(&self) -> u64 {
        self.max
    }

    /// What a share of the latencies does not exceed; no more than the longest.
    pub(super) fn quantile(&self, share: f64) -> u64 {
        if share < 1.0 { self.histogram.value_at_quantile(share).min(self.max) } else { self.max }
    }

    /// These and those of `other`.
    pub(super) fn with(&self, other: &Latencies) -> Latencies {
        let mut all = self.clone();
        all.histogram.add(&other.histogram).expect("both have the same bounds");
        all.sum += other.sum;
        all.max = all.max.max(other.max);
        all
    }

    /// Points of the distribution that a plot needs: hundredths, and towards the end ever finer parts.
    pub(super) fn distribution(&self) -> Vec<Quantile> {
        if self.count() == 0 {
            return Vec::new();
        }
        let hundredths = (0..=49).map(|n| f64::from(n) / 50.0);
        let tail = (1..=4).flat_map(|digits| [2, 1].map(|n| 1.0 - f64::from(n) / 10f64.powi(digits + 1)));
        let mut shares: Vec<f64> = hundredths.chain(tail).chain([1.0]).collect();
        shares.sort_by(f64::total_cmp);
        shares.dedup();
        shares.into_iter().map(|share| Quantile { share, ns: self.quantile(share) }).collect()
    }

    /// The same of what an observer sees ([`looks`]).
    pub(super) fn observed(&self, share: f64) -> u64 {
        let Some(later) = &self.later else { return self.quantile(share) };
        let mut all = self.histogram.clone();
        all += later;
        all.value_at_quantile(share).min(self.max)
    }
}

/// How long after the first issue requests were done, told apart to 1 part in 1000, however long a run is.
pub(super) struct Completions {
    histogram: Histogram<u64>,
    /// The last to the nanosecond.
    max: u64,
}

impl Default for Completions {
    fn default() -> Completions {
        Completions { histogram: Histogram::new(3).expect("three digits are valid"), max: 0 }
    }
}

impl Completions {
    #[inline]
    pub(super) fn record(&mut self, since_ns: u64) {
        self.histogram.record(since_ns).expect("the histogram grows");
        self.max = self.max.max(since_ns);
    }

    pub(super) fn quantile(&self, share: f64) -> u64 {
        self.histogram.value_at_quantile(share).min(self.max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_is_exact_even_where_bins_end() {
        let mut latencies = Latencies::default();
        latencies.record(1 << 50);
        assert_eq!((latencies.quantile(1.0), latencies.max()), (1 << 50, 1 << 50));
    }

    #[test]
    fn who_waits_long_is_seen_often() {
        let mut latencies = Latencies::default();
        (0..999).for_each(|_| latencies.record(1_000_000));
        assert_eq!(latencies.observed(0.99), latencies.quantile(0.99));
        // Seen 300 times, the last time a tenth of a second before the end.
        latencies.record(30_000_000_000);
        let seen = latencies.observed(0.99) as f64 / 1e9;
        assert!((28.6..29.0).contains(&seen), "{seen}");
        assert!(latencies.quantile(0.99) < 2_000_000);
    }
}
