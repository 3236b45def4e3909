//! What came of a switch: how far the prediction was too good, and whether to undo it.

use super::change::Watch;
use super::goal::Goal;
use crate::selectors::contract::Prediction;
use crate::selectors::summary::Summary;
use crate::units::Duration;

/// Periods after a switch that are not judged: what was in flight is not the new scheduler's doing.
const SETTLE: u64 = 1;
/// Periods that are judged.
const JUDGED: u64 = 4;
/// Less than this of what was before, in thousandths, is worse.
const WORSE: i64 = -100;
/// The part of the error that one outcome makes up: a quarter.
const MEMORY: u64 = 4;

/// A switch whose outcome is awaited.
#[derive(Clone, Copy, Debug)]
struct Awaited {
    before: usize,
    after: usize,
    /// What the last period before it gave.
    had: Prediction,
    /// The gain that was predicted, in thousandths.
    gain: i64,
    periods: u64,
    sum: Prediction,
}

/// What outcomes have taught.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Outcome {
    awaited: Option<Awaited>,
    error_permille: u64,
}

/// A switch that made things worse.
#[derive(Clone, Copy, Debug)]
pub(super) struct Worse {
    /// Who was in use before.
    pub(super) before: usize,
    /// What is got now of what was got then, in thousandths.
    pub(super) ratio_permille: u64,
}

impl Outcome {
    /// How far predictions were too good of late, in thousandths.
    pub(super) fn error_permille(&self) -> u64 {
        self.error_permille
    }

    /// The candidate `before` is given up for `after`, for a gain of so many thousandths.
    pub(super) fn expect(&mut self, (before, after): (usize, usize), gain: i64, watch: &Watch) {
        let had = Goal::seen(watch.last());
        self.awaited = Some(Awaited { before, after, had, gain, periods: 0, sum: Prediction::default() });
    }

    /// The load has changed: nothing can be compared.
    pub(super) fn forget(&mut self) {
        self.awaited = None;
    }

    /// Takes a period after the switch in, with the candidate in use.
    pub(super) fn look(&mut self, current: usize, summary: &Summary, goal: &Goal) -> Option<Worse> {
        // Something else held the switch back, or chose another one.
        self.awaited = self.awaited.filter(|awaited| awaited.after == current);
        let awaited = self.awaited.as_mut()?;
        awaited.periods += 1;
        if awaited.periods <= SETTLE {
            return None;
        }
        let seen = Goal::seen(summary);
        let sum = &mut awaited.sum;
        sum.throughput += seen.throughput;
        sum.slowest += seen.slowest;
        sum.jain_permille += seen.jain_permille;
        sum.sync_read_p99 = Duration(sum.sync_read_p99.0 + seen.sync_read_p99.0);
        if awaited.periods < SETTLE + JUDGED {
            return None;
        }
        let Awaited { before, had, gain, .. } = *awaited;
        let got = goal.gain(&Goal::mean(&awaited.sum, JUDGED), &had);
        self.awaited = None;
        // As a share of what was promised: 5 times promised and 4 times seen is an error of a fifth.
        let short = (gain - got).max(0) * 1000 / (1000 + gain).max(1);
        self.error_permille = (self.error_permille * (MEMORY - 1) + short as u64) / MEMORY;
        let ratio_permille = (1000 + got).max(0) as u64;
        (got < WORSE).then_some(Worse { before, ratio_permille })
    }
}
