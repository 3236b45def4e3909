//! What the candidate in use really gives: measured since it is in use and the load is of one kind.
//!
//! After a switch the measurement tells how far the prediction was too good, and whether things got worse.

use super::goal::Goal;
use crate::selectors::contract::Prediction;
use crate::selectors::summary::Summary;
use crate::units::Duration;

/// After a switch or a change this long is not measured, and longer if a prediction says that the disk takes longer to
/// settle: the new scheduler is not the cause of what was in flight and in the disk's buffer.
const SETTLE: Duration = Duration::from_ms(250);
/// A disk that has not settled by then, with its whole buffer written out, does not settle.
const SETTLE_MAX: Duration = Duration::from_ms(5000);
/// A measurement over less time says little: throughput varies from one second to the next.
const ENOUGH: Duration = Duration::from_ms(1250);
/// A switch that falls this far short of what was promised, to less than a quarter, …
const FAR: i64 = -750;
/// … shows it in a shorter measurement.
const SOON: Duration = Duration::from_ms(500);
/// A measurement over more time forgets, half at a time, so that it follows the load.
const LONG: Duration = Duration::from_ms(5000);
/// A loss beyond this, in thousandths, is worse than before. A tenth may be chance.
const WORSE: i64 = -150;
/// One outcome makes up a quarter of the error, so that a single odd one does not decide.
const MEMORY: u64 = 4;

/// Sums over periods, each weighed by its length in milliseconds.
#[derive(Clone, Copy, Debug)]
struct Measured {
    /// How long it will not be measured yet.
    settle: Duration,
    /// How long it has not been measured.
    settled: Duration,
    time: Duration,
    /// The part of it in which there were synchronous reads.
    read_time: Duration,
    sums: Prediction,
}

/// A switch whose outcome is awaited.
#[derive(Clone, Copy, Debug)]
struct Awaited {
    before: usize,
    after: usize,
    /// What was measured before it, if it was measured long enough.
    had: Option<Prediction>,
    /// What was predicted, with the model's bias.
    promised: Prediction,
}

impl Default for Measured {
    fn default() -> Self {
        Measured::after(Duration::ZERO)
    }
}

/// What outcomes have taught.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Outcome {
    measured: Measured,
    current: usize,
    awaited: Option<Awaited>,
    error_permille: u64,
    /// What the candidate in use gives is far from what was promised.
    disappoints: bool,
    /// The disappointment was seen in the last period.
    news: bool,
    /// Since the last period it is measured what came of a switch.
    begins: bool,
}

/// A switch that made things worse.
#[derive(Clone, Copy, Debug)]
pub(super) struct Worse {
    /// The candidate that was in use before.
    pub(super) before: usize,
    /// The candidate that is in use since.
    pub(super) after: usize,
    /// What is got now of what was got then, in thousandths.
    pub(super) ratio_permille: u64,
}

impl Measured {
    /// Nothing yet, of a disk that takes this long to settle.
    fn after(settles: Duration) -> Measured {
        let (time, sums) = (Duration::ZERO, Prediction::default());
        Measured { settle: SETTLE + settles, settled: time, time, read_time: time, sums }
    }

    /// The disk takes so much longer to settle: what was measured until now does not count.
    fn wait(&mut self, settles: Duration) {
        let settled = self.settled + self.time;
        if settles > Duration::ZERO && settled + settles <= SETTLE_MAX {
            *self = Measured { settle: settles, settled, ..Measured::after(settles) };
        }
    }

    fn add(&mut self, period: &Summary) {
        if self.settle > Duration::ZERO {
            self.settle = self.settle - period.length;
            self.settled += period.length;
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

    /// The mean, if it was measured for at least this long.
    fn mean(&self, least: Duration) -> Option<Prediction> {
        let ms = self.time.as_ms().max(1);
        let sums = &self.sums;
        let mean = Prediction {
            throughput: sums.throughput / ms,
            slowest: sums.slowest / ms,
            jain_permille: sums.jain_permille / ms,
            sync_read_p99: sums.sync_read_p99 / self.read_time.as_ms().max(1),
            ..Prediction::default()
        };
        (self.time >= least).then_some(mean)
    }
}

impl Outcome {
    /// How far predictions were too good of late, in thousandths.
    pub(super) fn error_permille(&self) -> u64 {
        self.error_permille
    }

    /// Bytes in a second under the candidate in use, if they were measured long enough.
    pub(super) fn measured(&self) -> Option<u64> {
        let enough = if self.disappoints { SOON } else { ENOUGH };
        self.measured.mean(enough).map(|mean| mean.throughput)
    }

    /// Whether it was just seen that a switch does not keep what was promised, by far.
    pub(super) fn has_news(&self) -> bool {
        self.news
    }

    /// Whether the disk should just have settled after a switch.
    pub(super) fn should_have_settled(&self) -> bool {
        self.begins
    }

    /// A new prediction for the candidate in use says that the disk takes so much longer to settle.
    pub(super) fn settling(&mut self, settles: Duration) {
        self.measured.wait(settles);
    }

    /// The candidate `before` is given up for another, which promises so much. `relieves`: because somebody would wait too
    /// long, so that to have less is not worse.
    pub(super) fn expect(&mut self, before: usize, promised: Prediction, relieves: bool) {
        let (after, had) =
            (usize::from(promised.candidate), self.measured.mean(ENOUGH).filter(|_| !relieves));
        self.awaited = Some(Awaited { before, after, had, promised });
    }

    /// What is measured of the candidate in use is as good as `predicted` for it, or so much worse: an error that was
    /// greater is forgotten by and by.
    pub(super) fn confirm(&mut self, predicted: &Prediction, goal: &Goal) {
        let Some(got) = self.measured.mean(ENOUGH) else { return };
        let short = goal.gain(&got, predicted).min(0).unsigned_abs();
        self.error_permille -= self.error_permille.saturating_sub(short).div_ceil(MEMORY);
    }

    /// The load has changed: nothing can be compared.
    pub(super) fn forget(&mut self) {
        (self.awaited, self.measured, self.disappoints) = (None, Measured::default(), false);
    }

    /// Takes a period in; if it completes the picture of a switch that made things worse, says so.
    pub(super) fn look(&mut self, current: usize, summary: &Summary, goal: &Goal) -> Option<Worse> {
        // Something else held the switch back, or chose another one.
        self.awaited = self.awaited.filter(|awaited| awaited.after == current);
        if self.current != current {
            let settles = self.awaited.map_or(Duration::ZERO, |awaited| awaited.promised.settles);
            (self.current, self.measured, self.disappoints) = (current, Measured::after(settles), false);
        }
        self.news = false;
        let settles = self.measured.settle > Duration::ZERO;
        self.measured.add(summary);
        self.begins = settles && self.measured.settle == Duration::ZERO && self.awaited.is_some();
        let Awaited { before, after, had, promised } = self.awaited?;
        let far = |got: &Prediction| goal.gain(got, &promised) < FAR;
        let soon = self.measured.mean(SOON).filter(far);
        let got = soon.or_else(|| self.measured.mean(ENOUGH))?;
        self.awaited = None;
        (self.disappoints, self.news) = (soon.is_some(), soon.is_some());
        let short = goal.gain(&got, &promised).min(0).unsigned_abs();
        self.error_permille = (self.error_permille * (MEMORY - 1) + short.min(1000)) / MEMORY;
        let gained = goal.gain(&got, &had?);
        let ratio_permille = (1000 + gained).max(0) as u64;
        (gained < WORSE).then_some(Worse { before, after, ratio_permille })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tunables::Tunables as _;

    const PERIOD: Duration = Duration::from_ms(100);

    /// After how many periods with these bytes a switch that promised 20 MB/s disappoints, within 20.
    fn disappointed_after(bytes: u64) -> Option<u64> {
        let mut outcome = Outcome::default();
        outcome.expect(
            0,
            Prediction { candidate: 1, throughput: 20_000_000, ..Prediction::default() },
            false,
        );
        let period = Summary { length: PERIOD, done: 10, done_bytes: bytes, ..Summary::default() };
        (1..=20).find(|_| {
            outcome.look(1, &period, &Goal::defaults());
            outcome.has_news()
        })
    }

    #[test]
    fn less_than_a_quarter_is_seen_after_half_a_second() {
        let settled = (SETTLE + SOON).0.div_ceil(PERIOD.0);
        assert_eq!(disappointed_after(490_000), Some(settled));
        assert_eq!(disappointed_after(510_000), None, "that takes longer to be sure of");
    }

    #[test]
    fn what_takes_longer_to_settle_is_measured_later() {
        let settles = Duration::from_ms(700);
        let promised = Prediction { candidate: 1, throughput: 20_000_000, settles, ..Prediction::default() };
        let mut outcome = Outcome::default();
        outcome.expect(0, promised, false);
        let period = |done_bytes| Summary { length: PERIOD, done: 10, done_bytes, ..Summary::default() };
        let settling = (SETTLE + settles).0.div_ceil(PERIOD.0);
        (0..settling).for_each(|_| _ = outcome.look(1, &period(0), &Goal::defaults()));
        (0..20).for_each(|_| _ = outcome.look(1, &period(2_000_000), &Goal::defaults()));
        assert_eq!((outcome.measured(), outcome.error_permille()), (Some(20_000_000), 0));
    }

    #[test]
    fn as_long_as_predictions_say_that_the_disk_settles_nothing_is_measured() {
        let mut outcome = Outcome::default();
        let period = |done_bytes| Summary { length: PERIOD, done: 10, done_bytes, ..Summary::default() };
        let mut measured = |settles_ms| {
            outcome.settling(Duration::from_ms(settles_ms));
            (0..10).for_each(|_| _ = outcome.look(0, &period(1_000_000), &Goal::defaults()));
            outcome.measured()
        };
        assert_eq!([measured(1000), measured(1000), measured(1000)], [None; 3]);
        assert_eq!([measured(0), measured(0)], [None, Some(10_000_000)]);
        assert_eq!(measured(1000), Some(10_000_000), "not for ever");
    }

    #[test]
    fn an_error_is_forgotten_if_predictions_come_true() {
        let mut outcome = Outcome::default();
        let promised = |throughput| Prediction { candidate: 1, throughput, ..Prediction::default() };
        outcome.expect(0, promised(20_000_000), false);
        let period = Summary { length: PERIOD, done: 10, done_bytes: 1_000_000, ..Summary::default() };
        (0..20).for_each(|_| _ = outcome.look(1, &period, &Goal::defaults()));
        let error = outcome.error_permille();
        assert!(error > 100, "half of it came: {error}");
        outcome.confirm(&promised(20_000_000), &Goal::defaults());
        assert_eq!(outcome.error_permille(), error, "still half of it");
        (0..20).for_each(|_| outcome.confirm(&promised(10_000_000), &Goal::defaults()));
        assert_eq!(outcome.error_permille(), 0);
    }

    #[test]
    fn it_is_measured_from_then_on() {
        let mut outcome = Outcome::default();
        outcome.expect(
            0,
            Prediction { candidate: 1, throughput: 20_000_000, ..Prediction::default() },
            false,
        );
        let period = Summary { length: PERIOD, done: 10, done_bytes: 100_000, ..Summary::default() };
        while !outcome.has_news() {
            assert_eq!(outcome.measured(), None);
            outcome.look(1, &period, &Goal::defaults());
        }
        assert_eq!(outcome.measured(), Some(1_000_000));
        outcome.forget();
        assert_eq!(outcome.measured(), None, "another load");
    }
}
