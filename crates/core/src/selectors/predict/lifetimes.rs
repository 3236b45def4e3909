//! How long loads last, and whether a switch is worth it that binds until the next one is there.
//!
//! Where loads change often, it matters to be free when one ends: a gain of a few percent is no reason to be bound by
//! the dwell time just then. Both are weighed by what was seen of the latest loads.

use crate::units::Duration;

/// Loads that are remembered: enough to show how long loads last of late, and few enough to notice a new rhythm.
const LATEST: usize = 8;
/// A load may last this much longer than another, in hundredths, and be taken for one of its kind: its end is seen up
/// to a few periods late.
const LONGER: u64 = 125;
/// One load makes up a quarter of the mean loss, so that a single odd one does not decide.
const MEMORY: u64 = 4;

/// What is known of the latest loads.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lifetimes {
    lengths: [Duration; LATEST],
    ended: usize,
    /// What is lost, in thousandths of what the best gives, with whoever was in use when a load began: the mean.
    loss_permille: u64,
}

/// A gain in thousandths of the old as a loss in thousandths of the new.
fn loss_permille(gain: i64) -> u64 {
    let gain = gain.max(0).unsigned_abs();
    gain * 1000 / (1000 + gain)
}

impl Lifetimes {
    /// A load has ended that lasted this long.
    pub(super) fn ended(&mut self, length: Duration) {
        self.lengths[self.ended % LATEST] = length;
        self.ended += 1;
    }

    /// A load has begun, for which the best promises such a gain over whoever is in use.
    pub(super) fn begun(&mut self, gain: i64) {
        self.loss_permille = (self.loss_permille * (MEMORY - 1) + loss_permille(gain)) / MEMORY;
    }

    /// Whether a switch with such a gain is worth it that binds for `dwell`, in a load of that age.
    pub(super) fn worth(&self, gain: i64, age: Duration, dwell: Duration) -> bool {
        let known = &self.lengths[..self.ended.min(LATEST)];
        let (mut left, mut bound) = (0, 0);
        for length in known.iter().filter(|length| **length * LONGER / 100 > age) {
            left += (*length - age).0;
            bound += (age + dwell - age.max(*length)).0;
        }
        let gained = u128::from(loss_permille(gain)) * u128::from(left);
        gained >= u128::from(self.loss_permille) * u128::from(bound)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn tenths(count: u64) -> Duration {
        Duration::from_ms(100 * count)
    }

    /// After loads of these lengths, in tenths of a second. At the beginning of each, half was lost.
    fn after(lengths: &[u64]) -> Lifetimes {
        let mut lifetimes = Lifetimes::default();
        for length in lengths {
            lifetimes.ended(tenths(*length));
            lifetimes.begun(1000);
        }
        lifetimes
    }

    #[test]
    fn a_small_gain_is_worth_it_while_the_load_is_young() {
        let worth = |gain, age| after(&[50; 8]).worth(gain, tenths(age), tenths(10));
        assert!(worth(50, 2) && worth(50, 40), "the dwell time ends with the load");
        assert!(!worth(50, 44), "0.6 s of a twentieth, for 0.4 s of a half");
        assert!(worth(1000, 44) && !worth(1000, 46), "what is lost at other times");
        assert!(!worth(1_000_000, 60), "it may end any moment");
        assert!(worth(50, 63), "this load is another one");
    }

    #[test]
    fn what_was_not_seen_forbids_nothing() {
        assert!(Lifetimes::default().worth(31, tenths(1), tenths(100)));
        assert!(after(&[1000; 8]).worth(31, tenths(20), tenths(10)), "loads last long");
        assert!(after(&[10; 8]).worth(31, tenths(11), Duration::ZERO), "a switch binds for no time");
        let equal = Lifetimes { loss_permille: 0, ..after(&[10; 8]) };
        assert!(equal.worth(31, tenths(9), tenths(10)), "nothing was lost at the beginning of a load");
    }

    #[test]
    fn old_loads_are_forgotten() {
        let lengths = [[10; 8], [1000; 8]].concat();
        assert!(!after(&lengths[..8]).worth(50, tenths(9), tenths(10)));
        assert!(after(&lengths).worth(50, tenths(9), tenths(10)));
    }
}
