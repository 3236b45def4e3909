//! How often a selector is asked, and what holds it back: dwell time, agreement, idleness, a choice
//! made by hand. Faithful selectors have all but the period switched off.

use super::summary::Summary;
use crate::tunables::{Count, Milliseconds};
use crate::units::{Duration, Instant};
use crate::why::Reason;

crate::tunables! {
    /// How often a selector is asked, and what holds it back.
    pub struct Pace {
        /// How often it is asked.
        period: Milliseconds = 1000, 10..=3_600_000;
        /// After a switch none follows for this long.
        dwell: Milliseconds = 0, 0..=3_600_000;
        /// How many times in a row it must want the same: periods, or predictions if it asks for them.
        agree: Count = 1, 1..=1000;
        /// With fewer requests in a period it is not asked.
        idle: Count = 0, 0..=1_000_000;
        /// The candidate to use whatever is seen, counted from 1; 0 lets the selector choose.
        manual: Count = 0, 0..=32;
    }
}

/// What has been wanted, and when there was a switch.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Restraint {
    last_switch: Option<Instant>,
    /// What was wanted last, and how often in a row.
    wanted: Option<(usize, u64)>,
}

impl Restraint {
    /// Whether the dwell time has passed.
    pub(super) fn free(&self, now: Instant, pace: &Pace) -> bool {
        self.last_switch.is_none_or(|last| now.since(last) >= pace.dwell.0)
    }

    /// How much of the dwell time is left.
    fn left(&self, now: Instant, pace: &Pace) -> Duration {
        self.last_switch.map_or(Duration::ZERO, |last| (last + pace.dwell.0).since(now))
    }

    /// Why the selector is not asked after a period like this, if it is not, which ends a series.
    pub(super) fn idle(&mut self, summary: &Summary, pace: &Pace) -> Option<Reason> {
        let idle = summary.requests < pace.idle.0.max(1);
        self.wanted = self.wanted.filter(|_| !idle);
        (summary.requests < pace.idle.0).then(|| {
            Reason::new(
                "idle: {} requests, of {} that it takes",
                &[summary.requests.into(), pace.idle.0.into()],
            )
        })
    }

    /// Whether there is a switch to `wanted` now; if not, why. Wanting the candidate in use ends a series.
    pub(super) fn allow(
        &mut self,
        now: Instant,
        wanted: usize,
        current: usize,
        pace: &Pace,
    ) -> Result<Option<usize>, Reason> {
        if wanted == current {
            self.wanted = None;
            return Ok(None);
        }
        let times = match self.wanted {
            Some((before, times)) if before == wanted => times + 1,
            _ => 1,
        };
        self.wanted = Some((wanted, times));
        if times < pace.agree.0 {
            return Err(Reason::new(
                "held back: wanted {} times in a row, of {}",
                &[times.into(), pace.agree.0.into()],
            ));
        }
        if !self.free(now, pace) {
            let left = self.left(now, pace);
            return Err(Reason::new("held back: the dwell time lasts {} more", &[left.into()]));
        }
        Ok(Some(wanted))
    }

    /// The host has switched.
    pub(super) fn switched(&mut self, now: Instant) {
        *self = Restraint { last_switch: Some(now), wanted: None };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tunables::Tunables as _;

    #[test]
    fn a_period_without_requests_ends_a_series() {
        let pace = Pace { agree: Count(2), ..Pace::defaults() };
        let mut restraint = Restraint::default();
        let mut wants = |requests| {
            let idle = restraint.idle(&Summary { requests, ..Summary::default() }, &pace);
            assert!(idle.is_none(), "it is asked all the same");
            restraint.allow(Instant::ZERO, 1, 0, &pace).ok().flatten()
        };
        assert_eq!([wants(5), wants(0), wants(5), wants(5)], [None, None, Some(1), Some(1)]);
    }
}
