//! Whether what a prediction promises is believed.
//!
//! A load that has been seen for a while does not become another one from one prediction to the next. But chance has it
//! that what is played again now and then comes out quite differently, such as a reader that is never
//! interrupted. So a candidate that was no better in the prediction before must be so twice.

use crate::units::Duration;

/// In a load that has lasted this long, a single prediction that contradicts those before is doubted: to ask again
/// takes a hundredth of that time.
const KNOWN: Duration = Duration::from_ms(8000);

/// What the last prediction for this load, with the same candidate in use, has said.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Doubt {
    current: usize,
    /// The candidates that were better in the last one, a bit for each; `None` if there was none.
    better: Option<u32>,
}

impl Doubt {
    /// Takes a prediction in, in which these candidates are better than `current` by more than the margin, and tells
    /// whether it is to be believed of `best`, in a load of that age.
    pub(super) fn believes(&mut self, current: usize, better: u32, best: u8, age: Duration) -> bool {
        if self.current != current {
            *self = Doubt { current, ..Doubt::default() };
        }
        let before = self.better.replace(better);
        age < KNOWN || before.is_none_or(|before| before & bit(best) != 0)
    }

    /// The load has changed.
    pub(super) fn forget(&mut self) {
        self.better = None;
    }
}

/// The bit of a candidate.
pub(super) fn bit(candidate: u8) -> u32 {
    1u32.checked_shl(candidate.into()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_contradicts_the_prediction_before_must_be_said_twice() {
        let mut doubt = Doubt::default();
        assert!(doubt.believes(0, bit(1), 1, KNOWN), "there was none before");
        assert!(doubt.believes(0, bit(1), 1, KNOWN), "it was better before");
        assert!(!doubt.believes(0, bit(1) | bit(2), 2, KNOWN), "this one was not");
        assert!(doubt.believes(0, bit(2), 2, KNOWN), "now it has been said twice");
        assert!(!doubt.believes(0, 0, 1, KNOWN) && !doubt.believes(0, bit(2), 2, KNOWN), "not in a row");
        assert!(doubt.believes(0, bit(3), 3, KNOWN - Duration(1)), "there is no time to ask again");
    }

    #[test]
    fn another_load_or_another_choice_begins_anew() {
        let mut doubt = Doubt::default();
        assert!(doubt.believes(0, 0, 1, KNOWN) && !doubt.believes(0, bit(1), 1, KNOWN));
        assert!(doubt.believes(3, bit(2), 2, KNOWN) && !doubt.believes(3, bit(1), 1, KNOWN));
        doubt.forget();
        assert!(doubt.believes(3, bit(4), 4, KNOWN));
    }
}
