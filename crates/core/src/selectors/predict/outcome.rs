//! What the candidate in use really gives: measured since it is in use and the load is of one kind.
//!
//! Of a switch it tells how far the prediction was too good, and whether things got worse.

use super::goal::Goal;
use crate::selectors::contract::Prediction;
use crate::selectors::summary::Summary;
use crate::units::Duration;

/// After a switch or a change this long is not measured: what was in flight is not the scheduler's doing.
const SETTLE: Duration = Duration::from_ms(250);
/// A measurement over less time says little.
const ENOUGH: Duration = Duration::from_ms(1250);
/// A measurement over more time forgets.
const LONG: Duration = Duration::from_ms(5000);
/// Less than this of what was before, in thousandths, is worse.
const WORSE: i64 = -150;
/// The part of the error that one outcome makes up: a quarter.
const MEMORY: u64 = 4;

/// Sums over periods, each weighed by its length in milliseconds.
#[derive(Clone, Copy, Debug, Default)]
struct Measured {
    skipped: Duration,
    time: Duration,
    sums: Prediction,
}

/// A switch whose outcome is awaited.
#[derive(Clone, Copy, Debug)]
struct Awaited {
    before: usize,
    after: usize,
    /// What was measured before it, if it was measured long enough.
    had: Option<Prediction>,
    /// What was predicted, with the model's bias: bytes in a second.
    promised: u64,
}

/// What outcomes have taught.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Outcome {
    measured: Measured,
    current: usize,
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

impl Measured {
    fn add(&mut self, period: &Summary) {
        if self.skipped < SETTLE {
            self.skipped += period.length;
            return;
        }
        let sums = &mut self.sums;
        if self.time >= LONG {
            self.time = self.time / 2;
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
        sums.sync_read_p99 += seen.sync_read_p99 * ms;
    }

    /// The mean, if it was measured long enough.
    fn mean(&self) -> Option<Prediction> {
        let ms = self.time.as_ms().max(1);
        let sums = &self.sums;
        let mean = Prediction {
            candidate: 0,
            throughput: sums.throughput / ms,
            slowest: sums.slowest / ms,
            jain_permille: sums.jain_permille / ms,
            sync_read_p99: sums.sync_read_p99 / ms,
        };
        (self.time >= ENOUGH).then_some(mean)
    }
}

impl Outcome {
    /// How far predictions were too good of late, in thousandths.
    pub(super) fn error_permille(&self) -> u64 {
        self.error_permille
    }

    /// Bytes in a second under the candidate in use, if they were measured long enough.
    pub(super) fn measured(&self) -> Option<u64> {
        self.measured.mean().map(|mean| mean.throughput)
    }

    /// The candidate `before` is given up for `after`, which promises so many bytes in a second.
    pub(super) fn expect(&mut self, (before, after): (usize, usize), promised: u64) {
        self.awaited = Some(Awaited { before, after, had: self.measured.mean(), promised });
    }

    /// The load has changed: nothing can be compared.
    pub(super) fn forget(&mut self) {
        (self.awaited, self.measured) = (None, Measured::default());
    }

    /// Takes a period in; if it completes the picture of a switch that made things worse, says so.
    pub(super) fn look(&mut self, current: usize, summary: &Summary, goal: &Goal) -> Option<Worse> {
        if self.current != current {
            (self.current, self.measured) = (current, Measured::default());
        }
        self.measured.add(summary);
        // Something else held the switch back, or chose another one.
        self.awaited = self.awaited.filter(|awaited| awaited.after == current);
        let got = self.measured.mean().filter(|_| self.awaited.is_some())?;
        let Awaited { before, had, promised, .. } = self.awaited.take()?;
        let short = promised.saturating_sub(got.throughput) / (promised / 1000).max(1);
        self.error_permille = (self.error_permille * (MEMORY - 1) + short.min(1000)) / MEMORY;
        let gained = goal.gain(&got, &had?);
        let ratio_permille = (1000 + gained).max(0) as u64;
        (gained < WORSE).then_some(Worse { before, ratio_permille })
    }
}
