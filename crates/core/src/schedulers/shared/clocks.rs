//! Virtual clocks: how much of the disk each issuer has had, divided by its weight.
//!
//! A clock counts what an issuer of weight 100 would have been charged: charge × 100 / weight. Clocks
//! have 64 bits and saturate. In nanoseconds an issuer of the least weight gets there after 5.8 years
//! of disk time, in bytes after 184 PB; issuers whose clocks are at the end are served in order of
//! arrival. A charge is rounded up, so that every request moves its issuer's clock.

use alloc::vec::Vec;

use super::issuer_fifos::IssuerFifos;
use crate::collections::{Heap, OutOfMemory, table};
use crate::scheduler::{Cx, Policy};
use crate::units::{Duration, Instant, Issuer, RequestId, Weight};
use crate::why::Fact;

/// A policy that shares the disk by virtual clocks.
pub trait Clocked: Policy {
    /// The virtual clock of `who`, if it is known.
    fn clock(&self, who: Issuer) -> Option<u64>;
    /// The least virtual clock among issuers that have requests waiting.
    fn least_clock(&self) -> Option<u64>;
    /// How far ahead of the least clock an issuer may be and still be served; 0 for strict ones.
    fn reach(&self) -> u64;
    /// What a difference of clocks is, for people.
    fn amount(difference: u64) -> Fact {
        Duration(difference).into()
    }
}

/// By how much a clock moves: `charge` × 100 / `weight`, rounded up and at least 1.
pub(crate) fn weighed(charge: u64, weight: Weight) -> u64 {
    charge.saturating_mul(u64::from(Weight::default().get())).div_ceil(u64::from(weight.get())).max(1)
}

/// The requests of each issuer in order of arrival, and its clock.
pub(crate) struct Clocks {
    pub(crate) lines: IssuerFifos<u64>,
    /// The first request of each issuer that has any: by the issuer's clock, then by arrival.
    heads: Heap,
    /// The greatest clock that anyone had after a request of theirs was taken.
    latest: u64,
}

impl Clocks {
    /// Inlined: each level would keep the value a second time on the stack, of which a kernel has little.
    #[inline(always)]
    pub(crate) fn new(capacity: usize) -> Result<Self, OutOfMemory> {
        Ok(Clocks { lines: IssuerFifos::new(capacity)?, heads: Heap::new(capacity)?, latest: 0 })
    }

    /// The clock of `who`, if it is known.
    pub(crate) fn clock(&self, who: Issuer) -> Option<u64> {
        self.lines.find(who).map(|place| self.lines[place])
    }

    /// The first request of the issuer with the least clock among those that wait, and that clock. Of
    /// several, the request that came first.
    pub(crate) fn first(&self) -> Option<(u64, RequestId)> {
        self.heads.first()
    }

    /// The greatest clock that anyone had after a request of theirs was taken: where to begin when
    /// nobody waits.
    pub(crate) fn latest(&self) -> u64 {
        self.latest
    }

    /// The first waiting request of `who`, and the clock by which it stands in `heads`.
    fn head(&self, who: Issuer) -> Option<(u64, RequestId)> {
        let place = self.lines.find(who)?;
        self.lines.head(place).map(|head| (self.lines[place], head))
    }

    /// Does what changes the line or the clock of `who`.
    fn change<R>(&mut self, who: Issuer, what: impl FnOnce(&mut IssuerFifos<u64>) -> R) -> R {
        let before = self.head(who);
        let result = what(&mut self.lines);
        let after = self.head(who);
        if before != after {
            if let Some((_, head)) = before {
                self.heads.remove(head);
            }
            if let Some((clock, head)) = after {
                self.heads.insert_as(clock, self.lines.turn(head), head);
            }
        }
        result
    }

    /// `id` arrives. Its issuer's clock is raised to `floor`, if that is ahead of it.
    pub(crate) fn insert(&mut self, cx: Cx<'_>, id: RequestId, floor: u64) {
        self.change(cx[id].issuer, |lines| {
            let place = lines.push(cx, id);
            lines[place] = lines[place].max(floor);
        });
    }

    /// `id` goes to the device. Its issuer is charged `advance` now.
    pub(crate) fn take(&mut self, cx: Cx<'_>, id: RequestId, advance: u64) {
        let latest = self.change(cx[id].issuer, |lines| {
            let place = lines.take(cx, id);
            lines[place] = lines[place].saturating_add(advance);
            lines[place]
        });
        self.latest = self.latest.max(latest);
    }

    /// The clock of `who`, who has a request in flight, moves by `advance`.
    pub(crate) fn advance(&mut self, who: Issuer, advance: u64) {
        self.change(who, |lines| {
            let Some(place) = lines.find(who) else { return };
            lines[place] = lines[place].saturating_add(advance);
        });
    }

    pub(crate) fn remove(&mut self, cx: Cx<'_>, id: RequestId) {
        self.change(cx[id].issuer, |lines| lines.remove(cx, id));
    }

    pub(crate) fn absorbed(&mut self, cx: Cx<'_>, survivor: RequestId, other: RequestId) {
        if cx[survivor].issuer == cx[other].issuer {
            self.change(cx[survivor].issuer, |lines| lines.absorb(cx, survivor, other));
        } else {
            self.remove(cx, other);
        }
    }
}

/// Clocks that are charged with disk time.
///
/// A completion costs its issuer the time since the later of two moments: when the request was sent,
/// and when the device last completed one. So the charges add up to the time that the device was busy,
/// however many requests it has at once. A request that an earlier scheduler sent counts from the
/// change of schedulers, one that the device gave back from when it was first sent.
pub(crate) struct TimeShares {
    clocks: Clocks,
    /// When each request in flight was sent.
    sent: Vec<Instant>,
    last_completion: Instant,
}

impl TimeShares {
    /// Not inlined, so that what it takes of the stack is free when the next part is built.
    #[inline(never)]
    pub(crate) fn new(capacity: usize) -> Result<Self, OutOfMemory> {
        let (clocks, sent) = (Clocks::new(capacity)?, table(capacity, Instant::ZERO)?);
        Ok(TimeShares { clocks, sent, last_completion: Instant::ZERO })
    }

    pub(crate) fn clock(&self, who: Issuer) -> Option<u64> {
        self.clocks.clock(who)
    }

    /// The first request of the issuer with the least clock, and that clock.
    pub(crate) fn first(&self) -> Option<(u64, RequestId)> {
        self.clocks.first()
    }

    /// `id` arrives. An issuer that was away for longer than `lag` gets no credit for that.
    pub(crate) fn insert(&mut self, cx: Cx<'_>, id: RequestId, lag: Duration) {
        let away = self.clocks.lines.away(cx.now, cx[id].issuer);
        let floor = match away {
            Some(away) if away > lag => self.first().map_or(self.clocks.latest(), |(least, _)| least),
            _ => 0,
        };
        self.clocks.insert(cx, id, floor);
    }

    pub(crate) fn take(&mut self, cx: Cx<'_>, id: RequestId) {
        self.clocks.take(cx, id, 0);
        self.sent[id.index()] = cx.now;
    }

    pub(crate) fn adopt(&mut self, cx: Cx<'_>, id: RequestId) {
        self.clocks.lines.adopt(cx, id);
        self.sent[id.index()] = cx.now;
    }

    pub(crate) fn complete(&mut self, cx: Cx<'_>, id: RequestId) {
        let who = cx[id].issuer;
        let time = cx.now.since(self.sent[id.index()].max(self.last_completion));
        self.clocks.advance(who, weighed(time.0, cx.weight(who)));
        self.clocks.lines.finish(cx, id);
        self.last_completion = cx.now;
    }

    pub(crate) fn remove(&mut self, cx: Cx<'_>, id: RequestId) {
        self.clocks.remove(cx, id);
    }

    pub(crate) fn absorbed(&mut self, cx: Cx<'_>, survivor: RequestId, other: RequestId) {
        self.clocks.absorbed(cx, survivor, other);
    }

    pub(crate) fn issuer_gone(&mut self, who: Issuer) {
        self.clocks.lines.forget(who);
    }

    /// The least clock of those that wait, apart from `who`, for a reason.
    pub(crate) fn next_after(&self, cx: Cx<'_>, who: Issuer) -> Fact {
        let others = self.clocks.heads.iter().filter(|(_, id)| cx[*id].issuer != who);
        others.map(|(clock, _)| clock).min().map_or("nobody".into(), |clock| Duration(clock).into())
    }
}

#[cfg(test)]
mod tests;
