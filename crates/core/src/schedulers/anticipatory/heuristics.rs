//! Whether to wait for the last process rather than serve the candidate, and how long.
//!
//! A heuristic is the part of anticipation that depends on what the policy is for (SOSP'01 §3.3–3.5).

use super::habits::Outlook;
use crate::scheduler::{Cx, Policy};
use crate::schedulers::textbook::aged_sptf::AgedSptf;
use crate::tunables::{Nothing, Percent, Presets, Tunables};
use crate::units::{Duration, Issuer, RequestId};

/// What a heuristic decides by.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// The time, the requests, the device, and where to say why.
    pub cx: Cx<'a>,
    /// The request that the policy would serve.
    pub candidate: RequestId,
    /// How long the head is expected to take to it.
    pub positioning: Duration,
    /// It lies at or after the place where the head is.
    pub forward: bool,
    /// The process whose request was completed last, at this time ago. It has none waiting.
    pub last: Issuer,
    /// The time since that completion.
    pub elapsed: Duration,
    /// What is expected of that process.
    pub outlook: Outlook,
}

/// Weighs waiting for the last process against serving the policy's candidate.
pub trait Heuristic<P: Policy>: Sized + 'static {
    /// What the scheduler's name has in place of the policy's; empty: the policy's.
    const LABEL: &'static str = "";
    /// What it makes of the policy, in a sentence.
    const SUMMARY: &'static str;
    /// Where its rules come from.
    const SOURCE: &'static str;
    /// Its settings.
    type Tunables: Tunables + 'static;
    /// Defaults of the framework's settings that differ.
    type Presets: Presets + 'static;

    /// How long to wait. `None`: not at all; then [`Cx::rather`] has said why.
    fn wait(policy: &P, view: &View<'_>, tunables: &Self::Tunables) -> Option<Duration>;
}

/// The framework's own defaults.
#[derive(Clone, Copy, Debug)]
pub struct AsTheyAre;

impl Presets for AsTheyAre {
    const PRESETS: &'static [(&'static str, u64)] = &[];
}

/// Waits if the time that it is expected to save exceeds the time that it is expected to cost: the
/// heuristic for SPTF (SOSP'01 §3.3).
pub struct CostBenefit;

impl CostBenefit {
    /// The equation.
    pub(super) fn weigh(view: &View<'_>) -> Option<Duration> {
        let Outlook { median, latest, positioning, .. } = view.outlook;
        let benefit = view.positioning - positioning;
        let cost = median - view.elapsed;
        let wait = latest - view.elapsed;
        if wait == Duration::ZERO {
            let facts = || [view.last.into(), latest.into()];
            view.cx.rather("gives up on process {}, which mostly comes within {}", facts);
            return None;
        }
        if benefit <= cost {
            let facts = || [view.last.into(), benefit.into(), cost.into()];
            view.cx.rather("no wait for process {}: it would save {} and cost {}", facts);
            return None;
        }
        let facts = || [view.last.into(), benefit.into(), cost.into(), wait.into()];
        view.cx.because("waits for process {}: that saves {} and costs {}; for {} at most", facts);
        Some(wait)
    }
}

impl<P: Policy> Heuristic<P> for CostBenefit {
    const SUMMARY: &'static str =
        "Shortest positioning time first, but waits for the process just served if that saves time.";
    const SOURCE: &'static str = "SOSP'01 §3.2, §3.3";
    type Tunables = Nothing;
    type Presets = AsTheyAre;

    fn wait(_: &P, view: &View<'_>, _: &Nothing) -> Option<Duration> {
        CostBenefit::weigh(view)
    }
}

/// [`CostBenefit`] for SPTF with ageing: does not wait when age has overruled positioning time
/// (SOSP'01 §3.3).
pub struct Aged;

impl Aged {
    fn weigh(policy: &AgedSptf, view: &View<'_>) -> Option<Duration> {
        if policy.nearest() != Some(view.candidate) {
            let facts = || [view.cx.age(view.candidate).into()];
            view.cx.rather("no wait: the next request is due to its age, {}", facts);
            return None;
        }
        CostBenefit::weigh(view)
    }
}

impl Heuristic<AgedSptf> for Aged {
    const SUMMARY: &'static str =
        "SPTF with ageing, but waits for the process just served if that saves time.";
    const SOURCE: &'static str = "SOSP'01 §3.2, §3.3, §4";
    type Tunables = Nothing;
    type Presets = AsTheyAre;

    fn wait(policy: &AgedSptf, view: &View<'_>, _: &Nothing) -> Option<Duration> {
        Aged::weigh(policy, view)
    }
}

/// [`Aged`] with all that SOSP'01 §5.2 suggests and did not build: see [`Settings`](super::Settings).
pub struct Adaptive;

/// Defaults of [`Adaptive`].
#[derive(Clone, Copy, Debug)]
pub struct Careful;

impl Presets for Careful {
    const PRESETS: &'static [(&'static str, u64)] =
        &[("reset_spread", 90), ("miss_limit", 15), ("levels", 1)];
}

impl Heuristic<AgedSptf> for Adaptive {
    const LABEL: &'static str = "adaptive";
    const SUMMARY: &'static str =
        "As antic-aged-sptf, but trusts only statistics that are consistent, of a process, group or region.";
    const SOURCE: &'static str = "SOSP'01 §5.2";
    type Tunables = Nothing;
    type Presets = Careful;

    fn wait(policy: &AgedSptf, view: &View<'_>, _: &Nothing) -> Option<Duration> {
        Aged::weigh(policy, view)
    }
}

crate::tunables! {
    /// What [`Sweep`] can be told.
    pub struct SweepSettings {
        /// If the last process seeks backward in more than so many of a hundred cases, a request ahead is served at once.
        backward_limit: Percent = 80, 0..=100;
    }
}

/// [`CostBenefit`] for a scheduler that sweeps upward: does not wait for a process that would only come
/// behind the head (SOSP'01 §3.3, there for CSCAN).
pub struct Sweep;

impl<P: Policy> Heuristic<P> for Sweep {
    const SUMMARY: &'static str = "Sweeps upward, but waits for the process just served if that saves time.";
    const SOURCE: &'static str = "SOSP'01 §3.2, §3.3 (there: CSCAN)";
    type Tunables = SweepSettings;
    type Presets = AsTheyAre;

    fn wait(_: &P, view: &View<'_>, tunables: &SweepSettings) -> Option<Duration> {
        let backward = view.outlook.backward_percent;
        if view.forward && backward > tunables.backward_limit.0 {
            let facts = || [view.last.into(), backward.into()];
            view.cx.rather("no wait for process {}: {} % of its seeks go backward", facts);
            return None;
        }
        CostBenefit::weigh(view)
    }
}
