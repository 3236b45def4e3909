//! Stride scheduling: each process gets disk time in proportion to its weight.
//!
//! # How it decides
//! Each process has a virtual clock: the disk time that it has had × 100 / its weight.
//! 1. Among the processes that have requests waiting, take the one with the least clock.
//! 2. Serve its oldest request. If several clocks are equal, serve the oldest of their requests.
//!
//! A completion moves the clock of the process by the time since the request was sent or since the last
//! completion, whichever is later: the time that the device was busy with it. A change of weight counts
//! for completions from then on. Asynchronous writes are charged to their issuer like everything else;
//! requests without a known issuer are one process.
//!
//! A process that has had nothing waiting or in flight for longer than `lag` returns with its clock
//! raised to the least of those that wait or, if nobody waits, to the greatest at which anybody was
//! served. So does one that is new. Nobody saves up time by asking for nothing. After a shorter pause a
//! process keeps its clock, and with it the credit for what it could not ask for in time.
//!
//! # Source
//! SOSP'01 §2 and §3.4; Waldspurger and Weihl 1995 for the stride, here in time and not in requests.
//!
//! # Differs from the source
//! SOSP'01 does not say for how long the clock of a process may lag: here that is the tunable `lag`. The paper
//! has one request in flight; how several share the time is decided here.
//!
//! # Good for, bad for
//! Good for processes that keep requests waiting: they get their shares. Bad for synchronous processes,
//! which have nothing waiting when the next request is chosen: two of them get 1:1, whatever their
//! weights, unless it anticipates. What such a process could not use, it may claim later: its clock lags
//! until it is away for `lag`. Seeks freely from one process's files to another's.
//!
//! # Starvation
//! Unbounded: weights go up to 10 000:1, and a request may take any time.

use crate::collections::OutOfMemory;
use crate::request::Request;
use crate::scheduler::{Algorithm, Cx, Decision, Policy, Scheduler, Setup, Starvation};
use crate::schedulers::shared::clocks::{Clocked, TimeShares};
use crate::tunables::Milliseconds;
use crate::units::{Duration, Issuer, RequestId};

crate::tunables! {
    /// Tunables of [`Stride`].
    pub struct Settings {
        /// A process that asks for nothing for longer than this loses what its clock lags behind.
        lag: Milliseconds = 100, 0..=3_600_000;
    }
}

/// Shares of disk time by weight.
pub struct Stride {
    shares: TimeShares,
    tunables: Settings,
}

impl Algorithm for Stride {
    const NAME: &'static str = "stride";
    const SUMMARY: &'static str = "Gives each process disk time in proportion to its weight.";
    const SOURCE: &'static str = "SOSP'01 §2, §3.4; Waldspurger and Weihl 1995";
    type Tunables = Settings;

    fn new(setup: Setup<'_>, tunables: Settings) -> Result<Self, OutOfMemory> {
        Ok(Stride { shares: TimeShares::new(setup.capacity)?, tunables })
    }

    fn tune(&mut self, tunables: Settings) {
        self.tunables = tunables;
    }

    fn starvation(_: &Settings) -> Starvation {
        Starvation::Unbounded
    }
}

impl Scheduler for Stride {
    fn insert(&mut self, cx: Cx<'_>, id: RequestId) {
        self.shares.insert(cx, id, self.tunables.lag.0);
    }

    fn dispatch(&mut self, cx: Cx<'_>) -> Decision {
        self.serve(cx)
    }

    fn complete(&mut self, cx: Cx<'_>, id: RequestId) {
        self.shares.complete(cx, id);
    }

    fn remove(&mut self, cx: Cx<'_>, id: RequestId) {
        self.shares.remove(cx, id);
    }

    fn absorbed(&mut self, cx: Cx<'_>, survivor: RequestId, other: RequestId) {
        self.shares.absorbed(cx, survivor, other);
    }

    fn issuer_gone(&mut self, _: Cx<'_>, who: Issuer) {
        self.shares.issuer_gone(who);
    }

    fn adopt(&mut self, cx: Cx<'_>, id: RequestId) {
        self.shares.adopt(cx, id);
    }

    fn may_merge(&self, cx: Cx<'_>, id: RequestId, new: &Request) -> bool {
        cx[id].issuer == new.issuer
    }
}

impl Policy for Stride {
    fn select(&self, _: Cx<'_>) -> Option<RequestId> {
        self.shares.first().map(|(_, id)| id)
    }

    fn take(&mut self, cx: Cx<'_>, id: RequestId) {
        let who = cx[id].issuer;
        cx.because("issuer {} has the least clock, {}; next: {}", || {
            [who.into(), Duration(self.clock(who).unwrap_or(0)).into(), self.shares.next_after(cx, who)]
        });
        self.shares.take(cx, id);
    }
}

impl Clocked for Stride {
    fn clock(&self, who: Issuer) -> Option<u64> {
        self.shares.clock(who)
    }

    fn least_clock(&self) -> Option<u64> {
        self.shares.first().map(|(clock, _)| clock)
    }

    fn reach(&self) -> u64 {
        0
    }
}
