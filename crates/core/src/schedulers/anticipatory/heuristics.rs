//! Whether to wait for the last process rather than serve the candidate, and how long.
//!
//! A heuristic is the part of anticipation that depends on what the inner scheduler is for (SOSP'01 §3.3–3.5).

use super::statistics::Expected;
use crate::scheduler::{Cx, Policy};
use crate::schedulers::textbook::aged_sptf::AgedSptf;
use crate::tunables::{Nothing, Percent, Presets, Tunables};
use crate::units::{Duration, Issuer, RequestId};

/// The request that the inner scheduler would serve, and the process that may be worth waiting for instead.
#[derive(Clone, Copy)]
pub struct NextRequest<'a> {
    /// The time, the requests, the device, and where to say why.
    pub cx: Cx<'a>,
    /// The request.
    pub id: RequestId,
    /// How long the head is expected to take to it.
    pub positioning: Duration,
    /// The request lies at or after the place where the head is.
    pub forward: bool,
    /// The process whose request was completed last, and which has none waiting.
    pub last: Issuer,
    /// The time since that completion.
    pub elapsed: Duration,
    /// What is expected of that process.
    pub expected: Expected,
}

/// Weighs waiting for the last process against serving the inner scheduler's candidate.
pub trait Heuristic<P: Policy>: Sized + 'static {
    /// What the scheduler's name has in place of the inner scheduler's; empty: the inner scheduler's.
    const LABEL: &'static str = "";
    /// What the heuristic makes of the inner scheduler, in a sentence.
    const SUMMARY: &'static str;
    /// Where its rules come from.
    const SOURCE: &'static str;
    /// The heuristic's settings.
    type Tunables: Tunables + 'static;
    /// Defaults of the framework's settings that differ.
    type Presets: Presets + 'static;

    /// How long to wait. `None`: not at all; then [`Cx::rather`] has said why.
    fn wait(policy: &P, candidate: &NextRequest<'_>, tunables: &Self::Tunables) -> Option<Duration>;
}

/// The framework's own defaults.
impl Presets for () {
    const PRESETS: &'static [(&'static str, u64)] = &[];
}

/// Waits if the time that it is expected to save exceeds the time that it is expected to cost: the
/// heuristic for SPTF (SOSP'01 §3.3).
pub struct CostBenefit;

impl CostBenefit {
    /// The equation.
    pub(super) fn weigh(candidate: &NextRequest<'_>) -> Option<Duration> {
        let Expected { median, latest, positioning, .. } = candidate.expected;
        let benefit = candidate.positioning - positioning;
        let cost = median - candidate.elapsed;
        let wait = latest - candidate.elapsed;
        if wait == Duration::ZERO {
            let facts = || [candidate.last.into(), latest.into()];
            candidate.cx.rather("gives up on process {}, which mostly comes within {}", facts);
            return None;
        }
        if benefit <= cost {
            let facts = || [candidate.last.into(), benefit.into(), cost.into()];
            candidate.cx.rather("no wait for process {}: it would save {} and cost {}", facts);
            return None;
        }
        let facts = || [candidate.last.into(), benefit.into(), cost.into(), wait.into()];
        candidate.cx.because("waits for process {}: that saves {} and costs {}; for {} at most", facts);
        Some(wait)
    }
}

impl<P: Policy> Heuristic<P> for CostBenefit {
    const SUMMARY: &'static str =
        "Shortest positioning time first, but waits for the process just served if that saves time.";
    const SOURCE: &'static str = "SOSP'01 §3.2, §3.3";
    type Tunables = Nothing;
    type Presets = ();

    fn wait(_: &P, candidate: &NextRequest<'_>, _: &Nothing) -> Option<Duration> {
        CostBenefit::weigh(candidate)
    }
}

/// [`CostBenefit`] for SPTF with ageing: does not wait when age has overruled positioning time
/// (SOSP'01 §3.3).
pub struct Aged;

impl Aged {
    fn weigh(policy: &AgedSptf, candidate: &NextRequest<'_>) -> Option<Duration> {
        if policy.nearest(candidate.cx) != Some(candidate.id) {
            let facts = || [candidate.cx.age(candidate.id).into()];
            candidate.cx.rather("no wait: the next request is due to its age, {}", facts);
            return None;
        }
        CostBenefit::weigh(candidate)
    }
}

impl Heuristic<AgedSptf> for Aged {
    const SUMMARY: &'static str =
        "SPTF with ageing, but waits for the process just served if that saves time.";
    const SOURCE: &'static str = "SOSP'01 §3.2, §3.3, §4";
    type Tunables = Nothing;
    type Presets = ();

    fn wait(policy: &AgedSptf, candidate: &NextRequest<'_>, _: &Nothing) -> Option<Duration> {
        Aged::weigh(policy, candidate)
    }
}

/// [`Aged`] with what SOSP'01 §5.2 suggests and did not build: scattered statistics are dropped, and those
/// of groups and regions used where they are more consistent.
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

    fn wait(policy: &AgedSptf, candidate: &NextRequest<'_>, _: &Nothing) -> Option<Duration> {
        Aged::weigh(policy, candidate)
    }
}

crate::tunables! {
    /// Tunables of [`Sweep`].
    pub struct SweepSettings {
        /// If more than this percentage of the last process's seeks go backward, a request ahead is served at once.
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
    type Presets = ();

    fn wait(_: &P, candidate: &NextRequest<'_>, tunables: &SweepSettings) -> Option<Duration> {
        let backward = candidate.expected.backward_percent;
        if candidate.forward && backward > tunables.backward_limit.0 {
            let facts = || [candidate.last.into(), backward.into()];
            candidate.cx.rather("no wait for process {}: {} % of its seeks go backward", facts);
            return None;
        }
        CostBenefit::weigh(candidate)
    }
}
