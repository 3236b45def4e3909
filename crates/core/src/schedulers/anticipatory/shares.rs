//! Waiting so that processes get their shares (SOSP'01 §3.4, §3.5).
//!
//! A synchronous process has no request in the queue when its own was just served. A scheduler that
//! never waits then serves somebody else, whatever the shares.

use super::heuristics::{AsTheyAre, CostBenefit, Heuristic, View};
use crate::schedulers::shared::clocks::Clocked;
use crate::tunables::Microseconds;
use crate::units::Duration;

crate::tunables! {
    /// What [`Proportional`] and [`Combined`] can be told.
    pub struct ShareSettings {
        /// For the sake of its share, a process is waited for if its median think time is shorter than this.
        think_limit: Microseconds = 3000, 0..=1_000_000;
    }
}

/// Waits for a process that is behind its share, and will soon ask again.
pub struct Proportional;

impl Proportional {
    /// Waits if (a) the last process has no request waiting, which the framework sees to, (b) its median
    /// think time is below the limit, and (c) its clock is below the least clock of those that wait,
    /// or as far ahead of it as the policy tolerates.
    fn weigh<P: Clocked>(policy: &P, view: &View<'_>, tunables: &ShareSettings) -> Option<Duration> {
        let (own, least) = clocks(policy, view)?;
        let limit = tunables.think_limit.0;
        if view.outlook.median >= limit {
            let facts = || [view.last.into(), view.outlook.median.into(), limit.into()];
            view.cx.rather("no wait for process {}: it thinks for {}, not less than {}", facts);
            return None;
        }
        if own >= least.saturating_add(policy.reach()) {
            let facts = || [view.last.into(), P::amount(own.saturating_sub(least))];
            view.cx.rather("no wait for process {}: it is ahead of its share by {}", facts);
            return None;
        }
        let wait = view.outlook.latest - view.elapsed;
        if wait == Duration::ZERO {
            let facts = || [view.last.into(), view.outlook.latest.into()];
            view.cx.rather("gives up on process {}, which mostly comes within {}", facts);
            return None;
        }
        let (behind, ahead) = (least.saturating_sub(own), own.saturating_sub(least));
        let facts = || {
            let (far, word) = if own <= least { (behind, "behind") } else { (ahead, "ahead of") };
            [view.last.into(), P::amount(far), word.into(), wait.into()]
        };
        view.cx.because(
            "waits for process {}, which is {} {} the least served that waits; for {} at most",
            facts,
        );
        Some(wait)
    }
}

/// The clock of the last process, and the least clock of those that wait.
fn clocks<P: Clocked>(policy: &P, view: &View<'_>) -> Option<(u64, u64)> {
    let clocks = policy.clock(view.last).zip(policy.least_clock());
    if clocks.is_none() {
        view.cx.rather("no wait for process {}, of which nothing is known", || [view.last.into()]);
    }
    clocks
}

impl<P: Clocked> Heuristic<P> for Proportional {
    const SUMMARY: &'static str = "Shares the disk by weight, and waits for a process that is behind its share and will soon ask again.";
    const SOURCE: &'static str = "SOSP'01 §3.2, §3.4";
    type Tunables = ShareSettings;
    type Presets = AsTheyAre;

    fn wait(policy: &P, view: &View<'_>, tunables: &ShareSettings) -> Option<Duration> {
        Proportional::weigh(policy, view, tunables)
    }
}

/// Waits if either [`CostBenefit`] or [`Proportional`] says so, and as long as the longer of the two;
/// but never for a process so far ahead that the policy would not serve it (SOSP'01 §3.5).
pub struct Combined;

impl<P: Clocked> Heuristic<P> for Combined {
    const SUMMARY: &'static str =
        "Shares disk time by weight with few seeks, and waits for the sake of either.";
    const SOURCE: &'static str = "SOSP'01 §3.5, §4.7";
    type Tunables = ShareSettings;
    type Presets = AsTheyAre;

    fn wait(policy: &P, view: &View<'_>, tunables: &ShareSettings) -> Option<Duration> {
        let (own, least) = clocks(policy, view)?;
        let for_share = Proportional::weigh(policy, view, tunables);
        if own > least.saturating_add(policy.reach()) {
            return for_share;
        }
        for_share.max(CostBenefit::weigh(view))
    }
}
