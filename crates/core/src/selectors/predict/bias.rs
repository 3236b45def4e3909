//! How what is measured compares with what is predicted for the candidate in use.
//!
//! A model may be too fast or too slow throughout: that is its bias, which is learned. A candidate that gives
//! much less than the model with its bias expects is in a state from which it does not find out, such as a
//! wrong expectation of its own. Then what it really gives is what others are compared with.

use crate::selectors::contract::Prediction;
use crate::units::Duration;

/// Less than this of what is expected, in thousandths, falls short.
const SHORT: u64 = 700;
/// The part of the bias that one comparison makes up: a quarter.
const MEMORY: u64 = 4;
/// A bias beyond these is not a bias.
const RANGE: (u64, u64) = (100, 3000);

/// What is measured of what is predicted, in thousandths.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bias(u64);

impl Default for Bias {
    fn default() -> Self {
        Bias(1000)
    }
}

/// The same on a disk that does `part` for each `whole` that was predicted.
fn scaled(prediction: &Prediction, part: u64, whole: u64) -> Prediction {
    let more = |amount: u64| (amount / whole).saturating_mul(part);
    Prediction {
        throughput: more(prediction.throughput),
        slowest: more(prediction.slowest),
        sync_read_p99: Duration(prediction.sync_read_p99.0.saturating_mul(whole) / part),
        ..*prediction
    }
}

impl Bias {
    /// What is predicted, seen with the bias.
    pub(super) fn expects(self, predicted: &Prediction) -> Prediction {
        scaled(predicted, self.0, 1000)
    }

    /// What to compare others with: the prediction for the candidate in use, or less if it falls short of
    /// it. `measured` are bytes in a second. Says so by the second part.
    pub(super) fn compare(&mut self, own: &Prediction, measured: Option<u64>) -> (Prediction, bool) {
        let Some(measured) = measured else { return (*own, false) };
        let ratio = (measured / 1000 * 1000 / (own.throughput / 1000).max(1)).clamp(RANGE.0, RANGE.1);
        let short = ratio < self.0 * SHORT / 1000;
        let expected = self.0;
        self.0 = (self.0 * (MEMORY - 1) + ratio) / MEMORY;
        if !short {
            return (*own, false);
        }
        (scaled(own, ratio, expected), true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own() -> Prediction {
        Prediction { throughput: 20_000_000, slowest: 4_000_000, ..Prediction::default() }
    }

    #[test]
    fn who_falls_short_is_taken_for_what_it_gives() {
        let mut bias = Bias::default();
        assert_eq!(bias.compare(&own(), None), (own(), false));
        assert_eq!(bias.compare(&own(), Some(19_000_000)), (own(), false));
        let (real, short) = bias.compare(&own(), Some(5_000_000));
        assert!(short && real.throughput.abs_diff(5_000_000) < 100_000, "{real:?}");
        assert!(real.slowest.abs_diff(1_000_000) < 50_000, "{real:?}");
    }

    #[test]
    fn a_model_that_is_too_fast_throughout_is_learned() {
        let mut bias = Bias::default();
        let shorts = (0..20).filter(|_| bias.compare(&own(), Some(10_000_000)).1).count();
        assert!((1..=4).contains(&shorts), "{shorts} of 20");
    }
}
