//! What counts as a gain: throughput, latency, fairness, the slowest process, or a mix.

use crate::selectors::contract::Prediction;
use crate::selectors::summary::Summary;
use crate::tunables::Count;

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
    }
}

/// A gain or loss in thousandths is at most this.
const MOST: i64 = 20_000;

/// How much more `new` is than `old`, in thousandths of `old`.
fn more(new: u64, old: u64) -> i64 {
    match (new, old) {
        (0, 0) => 0,
        (_, 0) => MOST,
        (new, old) => {
            let (new, old) =
                if new.max(old) > u64::MAX / 1000 { (new / 1000, old / 1000) } else { (new, old) };
            (((new * 1000) / old.max(1)) as i64 - 1000).min(MOST)
        }
    }
}

impl Goal {
    /// What `new` gains over `old`, in thousandths; below zero, what it loses.
    pub(super) fn gain(&self, new: &Prediction, old: &Prediction) -> i64 {
        let parts = [
            (self.throughput.0, more(new.throughput, old.throughput)),
            (self.latency.0, more(old.sync_read_p99.0, new.sync_read_p99.0)),
            (self.fairness.0, more(new.jain_permille, old.jain_permille)),
            (self.slowest.0, more(new.slowest, old.slowest)),
        ];
        let weights: u64 = parts.iter().map(|(weight, _)| weight).sum();
        let sum: i64 = parts.iter().map(|(weight, gain)| *weight as i64 * gain).sum();
        sum / weights.max(1) as i64
    }

    /// What a period gave, as a prediction would say it.
    pub(super) fn seen(summary: &Summary) -> Prediction {
        let Summary { jain_permille, sync_read_p99, .. } = *summary;
        let (throughput, slowest) = (summary.throughput(), summary.slowest());
        Prediction { candidate: 0, throughput, slowest, jain_permille, sync_read_p99 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tunables::Tunables as _;
    use crate::units::Duration;

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
        assert_eq!(mix.gain(&new, &old), 250);
    }
}
