//! Decaying means of think times and seek distances, as Linux's `as` and `cfq` keep them.
//!
//! Each new sample has an eighth of the weight. Weights and totals are whole numbers with 8 binary
//! digits after the point, so that 256 is one.
//!
//! Times are nanoseconds, but a mean of them is a whole number of ticks, as in Linux with `HZ` = 1000.
//! Linux adds a constant before it divides, to round. Once the mean has many samples, that is half a tick; in the first
//! sample it is 4 ms.

use crate::units::Duration;

/// 1, and certainty.
pub(crate) const ONE: u64 = 256;
/// 50 %.
pub(crate) const HALF: u64 = ONE / 2;

/// Linux's unit of time.
pub(crate) const TICK: Duration = Duration::from_ms(1);
/// While samples weigh no more than this, which the first three do, seeks may be long.
const FEW_SAMPLES: u64 = 60;
/// A mean of samples that weigh no more than this is not relied upon: the first two do not suffice.
const UNRELIABLE: u64 = 80;
/// What a seek may exceed four times the mean by, in sectors: the first ones, and later.
const FIRST_SEEKS: u64 = 1 << 21;
const LATER_SEEKS: u64 = 1 << 17;

/// The weight of all samples once there are many: what rounding leaves of 256.
const STEADY: u64 = 249;

/// Whole ticks.
pub(crate) const fn ticks(time: u64) -> Duration {
    Duration(time - time % TICK.0)
}

/// Seven eighths of `total`, and an eighth of `sample`.
pub(crate) const fn decayed(total: u64, sample: u64) -> u64 {
    total.saturating_mul(7).saturating_add(sample.saturating_mul(ONE)) / 8
}

/// A decaying mean.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Mean {
    /// The weight of all samples so far.
    samples: u64,
    total: u64,
    mean: u64,
}

impl Mean {
    /// The weight of all samples: 0, 32, 60, 84, 105, … 249.
    #[inline]
    pub(crate) const fn weight(&self) -> u64 {
        self.samples
    }

    /// The mean: a time in nanoseconds, or a distance in sectors.
    #[inline]
    pub(crate) const fn mean(&self) -> u64 {
        self.mean
    }

    /// The mean, if enough is known to rely on it.
    #[inline]
    pub(crate) fn reliable(&self) -> Option<u64> {
        (self.samples > UNRELIABLE).then_some(self.mean)
    }

    /// The mean as a time: whole ticks.
    #[inline]
    pub(crate) const fn thought(&self) -> Duration {
        ticks(self.mean)
    }

    #[inline]
    fn enter(&mut self, sample: u64) {
        if self.samples != STEADY {
            self.samples = decayed(self.samples, 1);
        }
        self.total = decayed(self.total, sample);
    }

    /// A think time is over.
    #[inline]
    pub(crate) fn enter_thought(&mut self, Duration(thought): Duration) {
        self.enter(thought);
        self.mean = self.share_of(self.total + HALF * TICK.0);
    }

    /// A request begins `seek` sectors from where the last one ended. A seek that is much longer than the
    /// mean counts less.
    #[inline]
    pub(crate) fn enter_seek(&mut self, seek: u64) {
        let more = if self.samples <= FEW_SAMPLES { FIRST_SEEKS } else { LATER_SEEKS };
        self.enter(seek.min(self.mean.saturating_mul(4).saturating_add(more)));
        self.mean = self.share_of(self.total.saturating_add(self.samples / 2));
    }

    /// `total` by the weight of all samples. By a constant is faster, and soon it is one.
    #[inline]
    fn share_of(&self, total: u64) -> u64 {
        if self.samples == STEADY { total / STEADY } else { total / self.samples }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn the_weight_of_samples_grows_as_in_linux() {
        let mut mean = Mean::default();
        let weights: Vec<u64> = (0..5)
            .map(|_| {
                mean.enter(0);
                mean.samples
            })
            .collect();
        assert_eq!(weights, [32, 60, 84, 105, 123]);
        (0..100).for_each(|_| mean.enter(0));
        assert_eq!(mean.samples, STEADY, "what rounding leaves of 256");
    }
}
