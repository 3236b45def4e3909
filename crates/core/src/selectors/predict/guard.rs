//! The reality guard: stops trusting predictions for a while after they have misled.
//!
//! A model may be of another disk, and what was played again may not be what comes next, as where processes come and go.
//! Neither shows in the predictions themselves. What a switch promised is therefore compared with what is measured
//! then: if twice in a row the switch was wrong, predictions of this load are not believed for a while.

use super::goal::Goal;
use crate::selectors::contract::Prediction;
use crate::selectors::summary::Summary;
use crate::units::{Duration, Instant};

/// For so long after a switch or a change nothing is measured: the new scheduler is not the cause of what was in flight
/// and in the disk's buffer. Longer, if the prediction says that the disk takes longer to settle.
pub const SETTLE: Duration = Duration::from_ms(250);
/// A disk that has not settled by then, with its whole buffer written out, does not settle.
const SETTLE_MAX: Duration = Duration::from_ms(5000);
/// A measurement over less time says little: throughput varies from one second to the next.
pub const ENOUGH: Duration = Duration::from_ms(1250);
/// A measurement over more time forgets, half at a time, so that it follows the load.
const LONG: Duration = Duration::from_ms(5000);
/// A promise that parts from what is measured by more than this factor was of something else.
const FAR: u64 = 3;
/// A loss beyond this, in thousandths, is worse than before. A tenth may be chance.
const WORSE: i64 = -150;
/// One wrong switch may be chance; as many in a row are not.
const STRIKES: u32 = 2;
/// How often the time without predictions may double.
const DOUBLINGS: u32 = 4;

/// Sums over periods, each weighed by its length in milliseconds.
#[derive(Clone, Copy, Debug)]
struct Measured {
    /// For how much longer nothing is measured.
    settle: Duration,
    time: Duration,
    /// The part of it in which there were synchronous reads.
    read_time: Duration,
    sums: Prediction,
}

impl Measured {
    /// Nothing yet, of a disk that takes this long to settle.
    fn after(settles: Duration) -> Measured {
        let (settle, time) = (SETTLE + settles.min(SETTLE_MAX), Duration::ZERO);
        Measured { settle, time, read_time: time, sums: Prediction::default() }
    }

    fn add(&mut self, period: &Summary) {
        if self.settle > Duration::ZERO {
            self.settle = self.settle - period.length;
            return;
        }
        let sums = &mut self.sums;
        if self.time >= LONG {
            (self.time, self.read_time) = (self.time / 2, self.read_time / 2);
            sums.throughput /= 2;
            sums.slowest /= 2;
            sums.jain_permille /= 2;
            sums.sync_read_p99 = sums.sync_read_p99 / 2;
        }
        let (seen, ms) = (Goal::seen(period), period.length.as_ms());
        self.time += period.length;
        sums.throughput += seen.throughput.saturating_mul(ms);
        sums.slowest += seen.slowest.saturating_mul(ms);
        sums.jain_permille += seen.jain_permille * ms;
        if seen.sync_read_p99 > Duration::ZERO {
            self.read_time += period.length;
            sums.sync_read_p99 += seen.sync_read_p99 * ms;
        }
    }

    /// The mean, if it was measured for long enough.
    fn mean(&self) -> Option<Prediction> {
        let ms = self.time.as_ms().max(1);
        let sums = &self.sums;
        let mean = Prediction {
            throughput: sums.throughput / ms,
            slowest: sums.slowest / ms,
            jain_permille: sums.jain_permille / ms,
            sync_read_p99: sums.sync_read_p99 / self.read_time.as_ms().max(1),
            ..Prediction::default()
        };
        (self.time >= ENOUGH).then_some(mean)
    }
}

/// A switch whose outcome is awaited.
#[derive(Clone, Copy, Debug)]
struct Awaited {
    /// What was measured before it, if it was measured long enough and has to be reached.
    had: Option<Prediction>,
    promised: Prediction,
}

/// A switch that was wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wrong {
    /// The candidate that is in use since.
    pub(super) after: usize,
    /// Bytes in a second that were promised, and that are measured.
    pub(super) promised: u64,
    pub(super) got: u64,
}

/// What switches have brought.
#[derive(Clone, Copy, Debug)]
pub(super) struct Guard {
    measured: Measured,
    current: usize,
    awaited: Option<Awaited>,
    /// Wrong switches in a row.
    strikes: u32,
    /// How often predictions were not believed since a switch was right.
    trips: u32,
    /// Until when they are not.
    until: Instant,
}

impl Default for Guard {
    fn default() -> Self {
        let (measured, until) = (Measured::after(Duration::ZERO), Instant::ZERO);
        Guard { measured, current: 0, awaited: None, strikes: 0, trips: 0, until }
    }
}

impl Guard {
    /// The candidate in use is given up for another, which promises so much. `relieves`: because somebody would wait too
    /// long, so that to have less is not worse.
    pub(super) fn expect(&mut self, promised: Prediction, relieves: bool) {
        let had = self.measured.mean().filter(|_| !relieves);
        self.awaited = Some(Awaited { had, promised });
    }

    /// The load has changed: what is measured cannot be compared with what was before. A switch shortly before that has
    /// brought nothing: what was predicted did not last.
    pub(super) fn forget(&mut self, now: Instant, rest: Duration) {
        if self.awaited.take().is_some() {
            self.strike(now, rest);
        }
        self.measured = Measured::after(Duration::ZERO);
    }

    /// A switch was wrong. If it was not the first in a row, predictions are not believed for `rest`, or for a multiple of it.
    fn strike(&mut self, now: Instant, rest: Duration) {
        self.strikes += 1;
        if self.strikes >= STRIKES {
            self.until = now + rest * (1u64 << self.trips.min(DOUBLINGS));
            self.trips += 1;
        }
    }

    /// Until when predictions are not believed, and how often that has been so of late, if it is so.
    pub(super) fn distrusts(&self, now: Instant) -> Option<(Instant, u32)> {
        (now < self.until).then_some((self.until, self.trips))
    }

    /// Takes a period in; if it completes the picture of a switch that was wrong, says so.
    pub(super) fn look(
        &mut self,
        now: Instant,
        current: usize,
        period: &Summary,
        goal: &Goal,
        rest: Duration,
    ) -> Option<Wrong> {
        // Something else held the switch back, or chose another one.
        self.awaited = self.awaited.filter(|awaited| usize::from(awaited.promised.candidate) == current);
        if self.current != current {
            let settles = self.awaited.map_or(Duration::ZERO, |awaited| awaited.promised.settles);
            (self.current, self.measured) = (current, Measured::after(settles));
        }
        self.measured.add(period);
        let Awaited { had, promised } = self.awaited?;
        let got = self.measured.mean()?;
        self.awaited = None;
        let (most, least) =
            (got.throughput.max(promised.throughput), got.throughput.min(promised.throughput));
        let worse = had.is_some_and(|had| goal.gain(&got, &had) < WORSE);
        if most <= least.saturating_mul(FAR) && !worse {
            (self.strikes, self.trips) = (0, 0);
            return None;
        }
        self.strike(now, rest);
        Some(Wrong { after: current, promised: promised.throughput, got: got.throughput })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tunables::Tunables as _;

    const PERIOD: Duration = Duration::from_ms(100);
    const REST: Duration = Duration::from_ms(20_000);

    /// Candidate 1 is in use for two seconds and gives that many bytes in each tenth, where candidate 0 gave 100 000 and
    /// the prediction promised as many in a second. Returns whether the switch was wrong.
    fn switched(guard: &mut Guard, now: &mut Instant, promised: u64, done_bytes: u64) -> bool {
        let goal = Goal::defaults();
        let mut look = |guard: &mut Guard, current, done_bytes| {
            *now += PERIOD;
            let period = Summary { length: PERIOD, done: 10, done_bytes, ..Summary::default() };
            guard.look(*now, current, &period, &goal, REST).is_some()
        };
        (0..20).for_each(|_| assert!(!look(guard, 0, 100_000)));
        guard.expect(Prediction { candidate: 1, throughput: promised, ..Prediction::default() }, false);
        (0..20).filter(|_| look(guard, 1, done_bytes)).count() > 0
    }

    #[test]
    fn a_switch_is_wrong_if_it_keeps_no_promise_or_makes_things_worse() {
        let wrong = |promised, done| switched(&mut Guard::default(), &mut { Instant::ZERO }, promised, done);
        assert!(!wrong(2_000_000, 200_000) && !wrong(2_000_000, 100_000), "a half of it is no proof");
        assert!(!wrong(2_000_000, 90_000), "a tenth less may be chance");
        assert!(wrong(2_000_000, 80_000), "a fifth less than before is not");
        assert!(wrong(4_000_000, 130_000), "not a third of what was promised");
        assert!(wrong(1_100_000, 400_000), "more than three times as much: it is another load");
    }

    #[test]
    fn two_wrong_switches_in_a_row_end_belief_for_longer_and_longer() {
        let (mut guard, mut now) = (Guard::default(), Instant::ZERO);
        assert!(switched(&mut guard, &mut now, 9_000_000, 100_000));
        assert_eq!(guard.distrusts(now), None, "once may be chance");
        assert!(switched(&mut guard, &mut now, 9_000_000, 100_000));
        let (until, trips) = guard.distrusts(now).expect("twice is not");
        assert!(trips == 1 && until > now + REST - PERIOD * 20 && until <= now + REST);
        assert!(switched(&mut guard, &mut now, 9_000_000, 100_000), "after it, at once");
        assert!(guard.distrusts(now).is_some_and(|(until, trips)| trips == 2 && until > now + REST));
        assert!(!switched(&mut guard, &mut now, 2_000_000, 200_000), "right");
        assert!(switched(&mut guard, &mut now, 9_000_000, 100_000));
        now += REST * 2;
        assert_eq!(guard.distrusts(now), None, "the count has begun anew");
    }

    #[test]
    fn a_switch_that_another_load_follows_at_once_has_brought_nothing() {
        let (mut guard, now) = (Guard::default(), Instant(1_000_000_000));
        guard.forget(now, REST);
        guard.forget(now, REST);
        assert_eq!(guard.distrusts(now), None, "there was none");
        for expected in [None, Some((now + REST, 1))] {
            guard.expect(Prediction::default(), false);
            guard.forget(now, REST);
            assert_eq!(guard.distrusts(now), expected);
        }
    }

    #[test]
    fn a_disk_that_has_to_settle_is_measured_later() {
        let (mut guard, goal) = (Guard::default(), Goal::defaults());
        let settles = Duration::from_ms(2000);
        let promised = Prediction { candidate: 1, throughput: 2_000_000, settles, ..Prediction::default() };
        guard.expect(promised, false);
        let mut wrong = |tenths: u64, done_bytes| {
            let period = Summary { length: PERIOD, done: 10, done_bytes, ..Summary::default() };
            (0..tenths).any(|_| guard.look(Instant::ZERO, 1, &period, &goal, REST).is_some())
        };
        assert!(!wrong((SETTLE + settles).0.div_ceil(PERIOD.0), 0) && !wrong(20, 200_000));
    }
}
