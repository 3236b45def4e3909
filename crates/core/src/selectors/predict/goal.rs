//! What counts as a gain: throughput, latency, fairness, the slowest process, or a mix; but nobody may wait too long.

use core::cmp::Ordering;

use crate::selectors::contract::Prediction;
use crate::selectors::summary::Summary;
use crate::tunables::{Count, Milliseconds};
use crate::units::Duration;

crate::tunables! {
    /// The weight of each aim in the goal.
    pub struct Goal {
        /// The weight of bytes in a second.
        throughput: Count = 100, 0..=1000;
        /// The weight of the latency that 99 in 100 synchronous reads do not exceed.
        latency: Count = 0, 0..=1000;
        /// The weight of fairness among processes (Jain's index).
        fairness: Count = 0, 0..=1000;
        /// The weight of what the slowest process gets.
        slowest: Count = 0, 0..=1000;
        /// Nobody may wait longer than this, nor than twice as long as `mq-deadline` has somebody wait, if that is a
        /// candidate; whatever else would be gained.
        patience: Milliseconds = 1000, 0..=86_400_000;
    }
}

/// A gain or loss in thousandths of the smaller is at most this.
const MOST: i64 = 1_000_000;

/// Under schedulers that starve nobody, the longest wait is within this factor of the usual.
const USUAL_TIMES: u64 = 2;

/// How much more `new` is than `old`, in thousandths of the smaller: twice as much is 1000, half as much −1000. So in a
/// mix of aims a gain in one makes up for an equal loss in another.
fn more(new: u64, old: u64) -> i64 {
    let over = |large: u64, small: u64| {
        let (large, small) =
            if large > u64::MAX / 1000 { (large / 1000, small / 1000) } else { (large, small) };
        large
            .saturating_mul(1000)
            .checked_div(small)
            .map_or(MOST, |ratio| (ratio as i64 - 1000).clamp(0, MOST))
    };
    match new.cmp(&old) {
        Ordering::Equal => 0,
        Ordering::Greater => over(new, old),
        Ordering::Less => -over(old, new),
    }
}

/// How much shorter `new` is than `old`, as [`more`] has it; nothing where there were or will be no reads.
fn shorter(new: Duration, old: Duration) -> i64 {
    if new == Duration::ZERO || old == Duration::ZERO { 0 } else { more(old.0, new.0) }
}

impl Goal {
    /// Nothing but throughput counts.
    pub(super) fn is_throughput(&self) -> bool {
        (self.latency.0, self.fairness.0, self.slowest.0) == (0, 0, 0)
    }

    /// What `new` gains over `old`, in thousandths; below zero, what it loses.
    pub(super) fn gain(&self, new: &Prediction, old: &Prediction) -> i64 {
        let parts = [
            (self.throughput.0, more(new.throughput, old.throughput)),
            (self.latency.0, shorter(new.sync_read_p99, old.sync_read_p99)),
            (self.fairness.0, more(new.jain_permille, old.jain_permille)),
            (self.slowest.0, more(new.slowest, old.slowest)),
        ];
        let weights: u64 = parts.iter().map(|(weight, _)| weight).sum();
        let sum: i64 = parts.iter().map(|(weight, gain)| *weight as i64 * gain).sum();
        let mean = sum / weights.max(1) as i64;
        if mean < 0 { mean * 1000 / (1000 - mean) } else { mean }
    }

    /// The longest that anybody may wait, where `mq-deadline` has somebody wait for `usual`.
    pub fn limit(&self, usual: Duration) -> Duration {
        self.patience.0.max(usual * USUAL_TIMES)
    }

    /// The same where nobody may wait longer than `limits`, the first under `new` and the second under `old`: who has somebody wait longer
    /// loses to who has not.
    pub(super) fn gain_within(&self, limits: [Duration; 2], new: &Prediction, old: &Prediction) -> i64 {
        match (new.longest > limits[0], old.longest > limits[1]) {
            (true, false) => -MOST,
            (false, true) => MOST,
            _ => self.gain(new, old),
        }
    }

    /// What a period gave, as a prediction would say it.
    pub(super) fn seen(summary: &Summary) -> Prediction {
        let Summary { jain_permille, sync_read_p99, .. } = *summary;
        let (throughput, slowest) = (summary.throughput(), summary.slowest());
        Prediction { throughput, slowest, jain_permille, sync_read_p99, ..Prediction::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tunables::Tunables as _;

    #[test]
    fn a_gain_is_weighed_by_the_goal() {
        let old = Prediction {
            throughput: 1000,
            jain_permille: 1000,
            sync_read_p99: Duration(10),
            ..Prediction::default()
        };
        let new = Prediction { throughput: 2000, jain_permille: 500, sync_read_p99: Duration(40), ..old };
        let goal = Goal::defaults();
        assert_eq!(goal.gain(&new, &old), 1000);
        let fair = Goal { throughput: Count(0), fairness: Count(1), ..goal };
        assert_eq!(fair.gain(&new, &old), -500);
        let quick = Goal { throughput: Count(0), latency: Count(1), ..goal };
        assert_eq!(quick.gain(&new, &old), -750);
        let mix = Goal { throughput: Count(1), fairness: Count(1), ..goal };
        assert_eq!(mix.gain(&new, &old), 0, "twice and half");
        let both = Goal { throughput: Count(1), latency: Count(1), ..goal };
        assert_eq!(both.gain(&new, &old), -500, "twice the throughput, four times the latency");
        let more = |times: u64| goal.gain(&Prediction { throughput: 1000 * times, ..old }, &old);
        assert!(more(36) > more(27), "what is far better can be told from what is better still");
        let silent = Prediction { sync_read_p99: Duration::ZERO, ..new };
        assert_eq!(quick.gain(&silent, &old), 0, "no reads: nothing to compare");
    }
}
