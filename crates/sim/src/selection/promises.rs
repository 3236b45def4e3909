//! Counts the promises that switches have kept, for a run's report. Nothing is decided here: the guard of
//! `auto-predict` does that.

use idlewise_core::selectors::predict::{ENOUGH, SETTLE};
use idlewise_core::selectors::{Prediction, Summary};
use idlewise_core::{Duration, Instant};

use crate::metrics::selector::Account;

/// A switch that a prediction has led to.
#[derive(Clone, Copy, Debug)]
struct Promise {
    /// Bytes in a second.
    promised: u64,
    /// The time that was simulated: nothing is promised beyond it.
    from: Instant,
    until: Instant,
    bytes: u64,
    time: Duration,
}

/// Measures what each of these switches brings, until the next one or as long as was simulated.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Promises {
    open: Option<Promise>,
    /// Promises that were measured, and those of which between two thirds and one and a half times as much came.
    measured: u64,
    kept: u64,
}

impl Promises {
    /// A switch at `now` promises what `prediction` says, for `horizon`.
    pub(super) fn expect(&mut self, now: Instant, prediction: &Prediction, horizon: Duration) {
        self.end();
        let (promised, from) = (prediction.throughput, now + SETTLE + prediction.settles);
        self.open = Some(Promise { promised, from, until: from + horizon, bytes: 0, time: Duration::ZERO });
    }

    /// A period has ended at `now`.
    pub(super) fn add(&mut self, now: Instant, period: &Summary) {
        let Some(open) = &mut self.open else { return };
        if now > open.until {
            self.end();
        } else if now - period.length >= open.from {
            open.bytes += period.done_bytes;
            open.time += period.length;
        }
    }

    /// Another scheduler takes over, or the run ends.
    pub(super) fn end(&mut self) {
        let Some(Promise { promised, bytes, time, .. }) = self.open.take() else { return };
        if time < ENOUGH {
            return;
        }
        let measured = u128::from(bytes) * 1_000_000_000 / u128::from(time.0);
        let (least, most) = (measured.min(promised.into()), measured.max(promised.into()));
        self.measured += 1;
        self.kept += u64::from(2 * most <= 3 * least);
    }

    /// Says how many there were.
    pub(super) fn tell(mut self, account: &mut Account) {
        self.end();
        (account.promises, account.promises_kept) = (self.measured, self.kept);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The counts of promises and of kept ones, after a promise of 1 MB/s for 4 s. Each of `periods` tenths of a second brings
    /// `bytes`.
    fn told(bytes: u64, periods: u64) -> (u64, u64) {
        let (mut promises, mut account) = (Promises::default(), Account::default());
        let promise = Prediction { throughput: 1_000_000, ..Prediction::default() };
        promises.expect(Instant::ZERO, &promise, Duration::from_ms(4000));
        let period =
            |done_bytes| Summary { done_bytes, length: Duration::from_ms(100), ..Summary::default() };
        for tenth in 1..=periods {
            // What comes soon after the switch, and what comes after the time that was simulated, does not count.
            let counts = (4..=42).contains(&tenth);
            promises.add(Instant(tenth * 100_000_000), &period(if counts { bytes } else { 0 }));
        }
        promises.tell(&mut account);
        (account.promises, account.promises_kept)
    }

    #[test]
    fn a_promise_is_kept_within_half_as_much_again() {
        assert_eq!(told(100_000, 100), (1, 1));
        assert_eq!([told(67_000, 30), told(66_000, 30)], [(1, 1), (1, 0)]);
        assert_eq!([told(149_000, 100), told(151_000, 100)], [(1, 1), (1, 0)]);
    }

    #[test]
    fn a_switch_that_does_not_last_tells_nothing() {
        assert_eq!([told(1, 14), told(1, 17)], [(0, 0), (1, 0)]);
    }
}
