//! How what is measured compares with what is predicted for the candidate in use.
//!
//! A model may be too fast or too slow throughout: that is its bias, which is learned. A candidate that gives
//! much less than the model with its bias expects is in a state from which it does not find out, such as a
//! wrong expectation of its own. Then what it really gives is what others are compared with. But a single
//! prediction that promises far more than what the ones before it had right is wrong itself.

use crate::selectors::contract::Prediction;
use crate::units::Duration;

/// Less than this of what is expected, in thousandths, falls short. A tenth or two may be chance.
const SHORT: u64 = 700;
/// One comparison makes up a quarter of the bias, so that a single odd one does not decide.
const MEMORY: u64 = 4;
/// Beyond a tenth and three times, in thousandths, the model is of another disk: that is no bias to learn.
const RANGE: (u64, u64) = (100, 3000);

/// What is measured of what is predicted, in thousandths.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bias {
    ratio_permille: u64,
    /// The last prediction was right, for this candidate.
    right: Option<u8>,
}

/// What the candidate in use gives, beside what was predicted for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compared {
    /// About as much: to compare others with.
    Right(Prediction),
    /// Much less, which is to compare others with.
    Short(Prediction),
    /// Much less, but the prediction before was right: this one is not.
    Doubtful,
}

impl Default for Bias {
    fn default() -> Self {
        Bias { ratio_permille: 1000, right: None }
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
        scaled(predicted, self.ratio_permille, 1000)
    }

    /// The load has changed: predictions are of another one.
    pub(super) fn forget(&mut self) {
        self.right = None;
    }

    /// Compares the prediction for the candidate in use with the bytes in a second that were measured.
    pub(super) fn compare(&mut self, own: &Prediction, measured: Option<u64>) -> Compared {
        let Some(measured) = measured else { return Compared::Right(*own) };
        let ratio = (measured / 1000 * 1000 / (own.throughput / 1000).max(1)).clamp(RANGE.0, RANGE.1);
        let expected = self.ratio_permille;
        let short = ratio < expected * SHORT / 1000;
        let was_right = core::mem::replace(&mut self.right, (!short).then_some(own.candidate));
        if short && was_right == Some(own.candidate) {
            return Compared::Doubtful;
        }
        self.ratio_permille = (expected * (MEMORY - 1) + ratio) / MEMORY;
        if short { Compared::Short(scaled(own, ratio, expected)) } else { Compared::Right(*own) }
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
        assert_eq!(bias.compare(&own(), None), Compared::Right(own()));
        let Compared::Short(real) = bias.compare(&own(), Some(5_000_000)) else { panic!("it is short") };
        assert!(real.throughput.abs_diff(5_000_000) < 100_000, "{real:?}");
        assert!(real.slowest.abs_diff(1_000_000) < 50_000, "{real:?}");
    }

    #[test]
    fn a_model_that_is_too_fast_throughout_is_learned() {
        let mut bias = Bias::default();
        let compared = (0..20).map(|_| bias.compare(&own(), Some(10_000_000)));
        let shorts = compared.filter(|compared| matches!(compared, Compared::Short(_))).count();
        assert!((1..=4).contains(&shorts), "{shorts} of 20");
    }

    #[test]
    fn a_prediction_far_above_what_others_had_right_is_doubted_once() {
        let mut bias = Bias::default();
        let mut compare =
            |candidate, throughput| bias.compare(&Prediction { candidate, ..own() }, Some(throughput));
        assert!(matches!(compare(1, 19_000_000), Compared::Right(_)));
        assert_eq!(compare(1, 5_000_000), Compared::Doubtful);
        assert!(matches!(compare(1, 5_000_000), Compared::Short(_)), "twice is no chance");
        assert!(matches!(compare(1, 19_000_000), Compared::Right(_)));
        assert!(matches!(compare(2, 5_000_000), Compared::Short(_)), "another one was right");
        assert!(matches!(compare(1, 19_000_000), Compared::Right(_)));
        bias.forget();
        assert!(matches!(
            bias.compare(&Prediction { candidate: 1, ..own() }, Some(5_000_000)),
            Compared::Short(_)
        ));
    }
}
