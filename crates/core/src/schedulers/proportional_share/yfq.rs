//! Yet-another fair queueing: each process gets bytes in proportion to its weight.
//!
//! # How it decides
//! Each process has a virtual clock: its bytes × 100 / its weight. Its oldest request has a start tag,
//! which is the clock, and a finish tag, which is the clock after that request.
//! 1. If the batch holds anything, serve its first request.
//! 2. Else serve the request with the least finish tag among the oldest of each process; of equals, the
//!    one that arrived first. Its process's clock moves to that finish tag, and its next request has the
//!    next pair of tags.
//! 3. Then fill the batch in the same manner, until `batch` requests are picked with the one served.
//!    The batch is in elevator order from where that one ends.
//!
//! A process that had nothing waiting or in flight for longer than `lag` starts at the virtual work, if its clock is behind
//! that: the least start tag of all requests that wait first in their line, are in the batch or are in
//! flight. If there are none, the virtual work is the greatest finish tag that was served.
//!
//! A finish tag has the weight at the time when the request became its process's oldest or last grew. A
//! request without an extent counts as one sector.
//!
//! # Source
//! Bruno, Brustoloni, Gabber, Özden and Silberschatz 1999; SOSP'01 §2 and §3.4.
//!
//! # Differs from the source
//! In the source, a request stays at the head of its line while it is served and its successor gets tags at its
//! completion. Here the successor gets the same tags at the dispatch, so that a device can have several
//! at once. The source sorts a batch as a whole; here the first of a batch is the one that is due, and
//! Linux's elevator sorts the others, in runs of one direction. Requests of the batch do not merge, and
//! one that is withdrawn from it has been charged. In the source, a process starts at the virtual work whenever
//! it had nothing waiting; then a synchronous process that is waited for loses its share while it
//! thinks. `lag=0` is that rule. Requests in flight from an earlier scheduler are not
//! charged.
//!
//! # Good for, bad for
//! Good for shares of throughput among processes that keep requests waiting; a larger batch trades some
//! of that for shorter seeks. Bad for synchronous processes, which have nothing waiting when the next
//! request is chosen, and for shares of disk time: a byte costs the same wherever it lies.
//!
//! # Starvation
//! Unbounded: each new process may go before a request whose process has a small weight.

use crate::collections::{Heap, OutOfMemory};
use crate::request::Request;
use crate::scheduler::{Algorithm, Cx, Decision, Policy, Scheduler, Setup, Starvation};
use crate::schedulers::shared::clocks::{Clocked, Clocks, weighed};
use crate::schedulers::shared::dispatch_list::DispatchList;
use crate::tunables::{Count, Milliseconds};
use crate::units::{Duration, Issuer, RequestId, Sectors};
use crate::why::Fact;

crate::tunables! {
    /// Tunables of [`Yfq`].
    pub struct Settings {
        /// Requests that are picked by tag at a time and then served in elevator order.
        batch: Count = 1, 1..=1_000_000;
        /// A process that asks for nothing for longer than this loses what its clock lags behind.
        lag: Milliseconds = 100, 0..=3_600_000;
    }
}

/// Shares of bytes by weight.
pub struct Yfq {
    clocks: Clocks,
    /// The oldest request of each process that has any, by finish tag, then by arrival.
    finishes: Heap,
    /// Requests in the batch and in flight, by start tag.
    started: Heap,
    batch: DispatchList,
    tunables: Settings,
}

impl Algorithm for Yfq {
    const NAME: &'static str = "yfq";
    const SUMMARY: &'static str = "Gives each process bytes in proportion to its weight.";
    const SOURCE: &'static str = "Bruno et al. 1999; SOSP'01 §2, §3.4";
    type Tunables = Settings;

    fn new(setup: Setup<'_>, tunables: Settings) -> Result<Self, OutOfMemory> {
        let capacity = setup.capacity;
        Ok(Yfq {
            clocks: Clocks::new(capacity)?,
            finishes: Heap::new(capacity)?,
            started: Heap::new(capacity)?,
            batch: DispatchList::new(capacity)?,
            tunables,
        })
    }

    fn tune(&mut self, tunables: Settings) {
        self.tunables = tunables;
    }

    fn starvation(_: &Settings) -> Starvation {
        Starvation::Unbounded
    }
}

/// By how much `request` moves the clock of its process.
fn cost(cx: Cx<'_>, request: &Request) -> u64 {
    weighed(request.length.max(Sectors(1)).bytes(), cx.weight(request.issuer))
}

impl Yfq {
    /// The oldest request of `who`.
    fn head(&self, who: Issuer) -> Option<RequestId> {
        self.clocks.lines.head(self.clocks.lines.find(who)?)
    }

    /// The virtual work: where a process starts that comes anew.
    fn work(&self) -> u64 {
        let starts = [self.clocks.first(), self.started.first()];
        let least = starts.into_iter().flatten().map(|(start, _)| start).min();
        least.unwrap_or(self.clocks.latest())
    }

    /// Does what may change who is the oldest request of `who`, and gives that one a finish tag if it
    /// is another than before or `renewed`.
    fn retag(&mut self, cx: Cx<'_>, who: Issuer, renewed: Option<RequestId>, what: impl FnOnce(&mut Clocks)) {
        let before = self.head(who);
        what(&mut self.clocks);
        let after = self.head(who);
        if before == after && (after.is_none() || after != renewed) {
            return;
        }
        if let Some(head) = before {
            self.finishes.remove(head);
        }
        if let Some(head) = after {
            let finish = self.clocks.clock(who).unwrap_or(0).saturating_add(cost(cx, &cx[head]));
            self.finishes.insert_as(finish, self.clocks.lines.turn(head), head);
        }
    }

    /// Picks the request with the least finish tag for the batch.
    fn pick(&mut self, cx: Cx<'_>) -> Option<RequestId> {
        let (finish, id) = self.finishes.first()?;
        let who = cx[id].issuer;
        let start = self.clocks.clock(who).unwrap_or(0);
        self.retag(cx, who, None, |clocks| clocks.take(cx, id, finish - start));
        self.started.insert(start, id);
        self.batch.sort_in(cx, self.clocks.lines.links(), id);
        Some(id)
    }

    /// The least finish tag, `who` apart, for a reason.
    fn next_after(&self, cx: Cx<'_>, who: Issuer) -> Fact {
        let others = self.finishes.iter().filter(|(_, id)| cx[*id].issuer != who);
        others.map(|(finish, _)| finish).min().map_or("nobody".into(), Fact::from)
    }

    fn explain(&self, cx: Cx<'_>, id: RequestId) {
        let who = cx[id].issuer;
        if self.batch.is_empty() {
            let finish = self.finishes.first().map_or(0, |(finish, _)| finish);
            let facts = || [who.into(), finish.into(), self.next_after(cx, who)];
            cx.because("issuer {} has the least finish tag, {}; next: {}", facts);
        } else {
            cx.because("next of the batch, which has {}", || [self.batch.len().into()]);
        }
    }
}

impl Scheduler for Yfq {
    fn insert(&mut self, cx: Cx<'_>, id: RequestId) {
        let who = cx[id].issuer;
        // Somebody whose request is in flight was not away at all.
        let away = self.clocks.lines.away(cx.now, who).unwrap_or(Duration::ZERO);
        let floor = if away > self.tunables.lag.0 { self.work() } else { 0 };
        self.retag(cx, who, None, |clocks| clocks.insert(cx, id, floor));
    }

    fn dispatch(&mut self, cx: Cx<'_>) -> Decision {
        self.serve(cx)
    }

    fn complete(&mut self, cx: Cx<'_>, id: RequestId) {
        if self.started.contains(id) {
            self.started.remove(id);
        }
        self.clocks.lines.finish(cx, id);
    }

    fn remove(&mut self, cx: Cx<'_>, id: RequestId) {
        if self.batch.contains(id) {
            self.batch.remove(self.clocks.lines.links(), id);
            return self.complete(cx, id);
        }
        self.retag(cx, cx[id].issuer, None, |clocks| clocks.remove(cx, id));
    }

    fn grown(&mut self, cx: Cx<'_>, id: RequestId) {
        self.retag(cx, cx[id].issuer, Some(id), |_| ());
    }

    fn absorbed(&mut self, cx: Cx<'_>, survivor: RequestId, other: RequestId) {
        let (who, others) = (cx[survivor].issuer, cx[other].issuer);
        if who == others {
            self.retag(cx, who, Some(survivor), |clocks| clocks.absorbed(cx, survivor, other));
        } else {
            self.remove(cx, other);
            self.grown(cx, survivor);
        }
    }

    fn issuer_gone(&mut self, _: Cx<'_>, who: Issuer) {
        self.clocks.lines.forget(who);
    }

    fn adopt(&mut self, cx: Cx<'_>, id: RequestId) {
        self.clocks.lines.adopt(cx, id);
    }

    fn may_merge(&self, cx: Cx<'_>, id: RequestId, new: &Request) -> bool {
        cx[id].issuer == new.issuer && !self.batch.contains(id)
    }
}

impl Policy for Yfq {
    fn select(&self, _: Cx<'_>) -> Option<RequestId> {
        self.batch.first().or_else(|| self.finishes.first().map(|(_, id)| id))
    }

    fn take(&mut self, cx: Cx<'_>, id: RequestId) {
        self.explain(cx, id);
        let begins = self.batch.is_empty();
        if begins {
            self.pick(cx);
        }
        self.batch.pop(cx, self.clocks.lines.links());
        if begins {
            for _ in 1..self.tunables.batch.0 {
                if self.pick(cx).is_none() {
                    break;
                }
            }
        }
    }
}

impl Clocked for Yfq {
    fn clock(&self, who: Issuer) -> Option<u64> {
        self.clocks.clock(who)
    }

    fn least_clock(&self) -> Option<u64> {
        self.clocks.first().map(|(clock, _)| clock)
    }

    fn reach(&self) -> u64 {
        0
    }

    /// Bytes.
    fn amount(difference: u64) -> Fact {
        difference.into()
    }
}
