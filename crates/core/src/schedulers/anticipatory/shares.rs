//! Waiting so that processes get their shares (SOSP'01 §3.4, §3.5).
//!
//! A synchronous process has no request in the queue when its own was just served. A scheduler that
//! never waits then serves somebody else, whatever the shares.

use super::heuristics::{CostBenefit, Heuristic, NextRequest};
use crate::schedulers::shared::clocks::Clocked;
use crate::tunables::Microseconds;
use crate::units::Duration;

crate::tunables! {
    /// Tunables of [`Proportional`] and [`Combined`].
    pub struct ShareSettings {
        /// For the sake of its share, a process is waited for if its median think time is shorter than this.
        think_limit: Microseconds = 3000, 0..=1_000_000;
    }
}

/// Waits for a process that is behind its share, and will soon ask again.
pub struct Proportional;

impl Proportional {
    /// Waits if (a) the last process has no request waiting, which the framework sees to, (b) its median
    /// think time, an upper bound in steps of 500 us, is within the limit, and (c) its clock is below the least clock of those that wait,
    /// or as far ahead of it as the inner scheduler tolerates.
    fn weigh<P: Clocked>(
        policy: &P,
        candidate: &NextRequest<'_>,
        tunables: &ShareSettings,
    ) -> Option<Duration> {
        let (own, least) = clocks(policy, candidate)?;
        let limit = tunables.think_limit.0;
        if candidate.expected.median > limit {
            let facts = || [candidate.last.into(), candidate.expected.median.into(), limit.into()];
            candidate.cx.rather("no wait for process {}: it thinks for {}, not less than {}", facts);
            return None;
        }
        if own >= least.saturating_add(policy.reach()) {
            let facts = || [candidate.last.into(), P::amount(own.saturating_sub(least))];
            candidate.cx.rather("no wait for process {}: it is ahead of its share by {}", facts);
            return None;
        }
        let wait = candidate.expected.latest - candidate.elapsed;
        if wait == Duration::ZERO {
            let facts = || [candidate.last.into(), candidate.expected.latest.into()];
            candidate.cx.rather("gives up on process {}, which mostly comes within {}", facts);
            return None;
        }
        let (behind, ahead) = (least.saturating_sub(own), own.saturating_sub(least));
        let facts = || {
            let (far, word) = if own <= least { (behind, "behind") } else { (ahead, "ahead of") };
            [candidate.last.into(), P::amount(far), word.into(), wait.into()]
        };
        candidate.cx.because(
            "waits for process {}, which is {} {} the least served that waits; for {} at most",
            facts,
        );
        Some(wait)
    }
}

/// The clock of the last process, and the least clock of those that wait.
fn clocks<P: Clocked>(policy: &P, candidate: &NextRequest<'_>) -> Option<(u64, u64)> {
    let clocks = policy.clock(candidate.last).zip(policy.least_clock());
    if clocks.is_none() {
        candidate.cx.rather("no wait for process {}, of which nothing is known", || [candidate.last.into()]);
    }
    clocks
}

impl<P: Clocked> Heuristic<P> for Proportional {
    const SUMMARY: &'static str = "Shares the disk by weight, and waits for a process that is behind its share and will soon ask again.";
    const SOURCE: &'static str = "SOSP'01 §3.2, §3.4";
    type Tunables = ShareSettings;
    type Presets = ();

    fn wait(policy: &P, candidate: &NextRequest<'_>, tunables: &ShareSettings) -> Option<Duration> {
        Proportional::weigh(policy, candidate, tunables)
    }
}

/// Waits if [`Proportional`] or [`CostBenefit`] says so, but never for a process so far ahead that the
/// inner scheduler would not serve it (SOSP'01 §3.5).
pub struct Combined;

impl<P: Clocked> Heuristic<P> for Combined {
    const SUMMARY: &'static str =
        "Shares disk time by weight with few seeks, and waits for the sake of either.";
    const SOURCE: &'static str = "SOSP'01 §3.5, §4.7";
    type Tunables = ShareSettings;
    type Presets = ();

    fn wait(policy: &P, candidate: &NextRequest<'_>, tunables: &ShareSettings) -> Option<Duration> {
        let (own, least) = clocks(policy, candidate)?;
        let silent = NextRequest { cx: candidate.cx.silent(), ..*candidate };
        // A wait is as long for either reason. The one that counts is said: the seek's, if it holds.
        let would_be_served = own <= least.saturating_add(policy.reach());
        if would_be_served && CostBenefit::weigh(&silent).is_some() {
            return CostBenefit::weigh(candidate);
        }
        Proportional::weigh(policy, candidate, tunables)
    }
}
