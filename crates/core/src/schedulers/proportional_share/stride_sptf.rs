//! Stride scheduling that spares seeks: shares of disk time, kept a little less strictly.
//!
//! # How it decides
//! Processes have the virtual clocks of `stride`, with the same rule for those that
//! return.
//! 1. A process is within reach if its clock is at most `tau` ahead of the least clock of those that
//!    have requests waiting.
//! 2. Among all requests of processes within reach, serve the one with the shortest positioning time by
//!    the learned curve of `sptf`; ties go to the one that arrived first.
//!
//! A choice may look at all waiting requests, if those nearest to the head are of processes beyond reach.
//!
//! # Source
//! SOSP'01 §3.5 and §4.7, which has it from its reference 29; there, too, `tau` is 1 s.
//!
//! # Differs from the source
//! SOSP'01 does not say for how long the clock of a process may lag: here that is the tunable `lag`. The paper
//! does not say in what unit `tau` counts: here it is disk time of a process of weight 100.
//!
//! # Good for, bad for
//! Good for shares at little cost in throughput: several requests of one process go before the next
//! process has its turn. Bad for latency: a process may wait for `tau` and more until its turn comes.
//! Synchronous processes get their shares only if it anticipates, as with `stride`.
//!
//! # Starvation
//! Unbounded: weights go up to 10 000:1, a request may take any time, and a process's requests near the
//! head go before its others.

use crate::collections::OutOfMemory;
use crate::learned::Learned;
use crate::request::Request;
use crate::scheduler::{Algorithm, Cx, Decision, Policy, Scheduler, Setup, Starvation};
use crate::schedulers::shared::by_positioning_time::ByPositioningTime;
use crate::schedulers::shared::clocks::{Clocked, TimeShares};
use crate::tunables::Milliseconds;
use crate::units::{Duration, Issuer, RequestId};

crate::tunables! {
    /// Tunables of [`StrideSptf`].
    pub struct Settings {
        /// How far a process may be ahead of the one that is most behind, in disk time at weight 100.
        tau: Milliseconds = 1000, 0..=3_600_000;
        /// A process that asks for nothing for longer than this loses what its clock lags behind.
        lag: Milliseconds = 100, 0..=3_600_000;
    }
}

/// Shares of disk time by weight, with short seeks.
pub struct StrideSptf {
    shares: TimeShares,
    positions: ByPositioningTime,
    tunables: Settings,
}

impl Algorithm for StrideSptf {
    const NAME: &'static str = "stride-sptf";
    const SUMMARY: &'static str =
        "Shares disk time by weight, and spares seeks among those near their share.";
    const SOURCE: &'static str = "SOSP'01 §3.5, §4.7";
    type Tunables = Settings;

    fn new(setup: Setup<'_>, tunables: Settings) -> Result<Self, OutOfMemory> {
        let (shares, positions) = (TimeShares::new(setup.capacity)?, ByPositioningTime::new(setup)?);
        Ok(StrideSptf { shares, positions, tunables })
    }

    fn tune(&mut self, tunables: Settings) {
        self.tunables = tunables;
    }

    fn starvation(_: &Settings) -> Starvation {
        Starvation::Unbounded
    }
}

impl Scheduler for StrideSptf {
    fn insert(&mut self, cx: Cx<'_>, id: RequestId) {
        self.shares.insert(cx, id, self.tunables.lag.0);
        self.positions.insert(cx, id);
    }

    fn dispatch(&mut self, cx: Cx<'_>) -> Decision {
        self.serve(cx)
    }

    fn complete(&mut self, cx: Cx<'_>, id: RequestId) {
        self.shares.complete(cx, id);
        self.positions.completed(cx);
    }

    fn remove(&mut self, cx: Cx<'_>, id: RequestId) {
        self.shares.remove(cx, id);
        self.positions.remove(id);
    }

    fn grown(&mut self, cx: Cx<'_>, id: RequestId) {
        self.positions.grown(cx, id);
    }

    fn absorbed(&mut self, cx: Cx<'_>, survivor: RequestId, other: RequestId) {
        self.shares.absorbed(cx, survivor, other);
        self.positions.absorbed(cx, survivor, other);
    }

    fn issuer_gone(&mut self, _: Cx<'_>, who: Issuer) {
        self.shares.issuer_gone(who);
    }

    fn adopt(&mut self, cx: Cx<'_>, id: RequestId) {
        self.shares.adopt(cx, id);
        self.positions.adopted();
    }

    fn may_merge(&self, cx: Cx<'_>, id: RequestId, new: &Request) -> bool {
        cx[id].issuer == new.issuer
    }

    fn learned(&self) -> Option<&Learned> {
        Some(&self.positions.learned)
    }

    fn inherit(&mut self, learned: &Learned) {
        self.positions.learned.clone_from(learned);
    }
}

impl Policy for StrideSptf {
    fn select(&self, cx: Cx<'_>) -> Option<RequestId> {
        let limit = self.least_clock()?.saturating_add(self.reach());
        let beyond = |id: RequestId| self.clock(cx[id].issuer).is_none_or(|clock| clock > limit);
        self.positions.least(cx, |time, id| (beyond(id), time), |time| (false, time))
    }

    fn take(&mut self, cx: Cx<'_>, id: RequestId) {
        let who = cx[id].issuer;
        cx.because("the head is there soonest, in about {}; issuer {}'s clock is {}, the least {}", || {
            let clock = |clock: Option<u64>| Duration(clock.unwrap_or(0)).into();
            let (own, least) = (clock(self.clock(who)), clock(self.least_clock()));
            [self.positions.expected(cx, id).into(), who.into(), own, least]
        });
        self.shares.take(cx, id);
        self.positions.take(cx, id);
    }
}

impl Clocked for StrideSptf {
    fn clock(&self, who: Issuer) -> Option<u64> {
        self.shares.clock(who)
    }

    fn least_clock(&self) -> Option<u64> {
        self.shares.first().map(|(clock, _)| clock)
    }

    fn reach(&self) -> u64 {
        self.tunables.tau.0.0
    }
}
