//! The waiting requests: synchronous and asynchronous ones apart, each by address and by arrival.

use crate::collections::{Lanes, OutOfMemory};
use crate::request::Request;
use crate::scheduler::Cx;
use crate::schedulers::shared::nearer::{Back, better};
use crate::units::{Duration, Instant, RequestId, Sector};

/// Linux's `MAXBACK` and `BACK_PENALTY`: the head may go back 512 MiB.
const BACK: Back = Back { furthest: 1024 * 1024, penalty: 2 };

/// The two kinds of requests that are kept apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// Nobody waits for them.
    Async,
    /// Somebody does: reads, and some writes.
    Sync,
}

impl Side {
    pub(super) const fn of(request: &Request) -> Side {
        if request.sync { Side::Sync } else { Side::Async }
    }

    pub(super) const fn index(self) -> usize {
        self as usize
    }

    /// What Linux's tunables call them, though a write can be synchronous.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Side::Async => "writes",
            Side::Sync => "reads",
        }
    }
}

/// Where one side continues.
#[derive(Clone, Copy)]
struct Position {
    /// The best of all requests to continue with, as far as is known: Linux's `next_rq`.
    next: Option<RequestId>,
    /// Where the last request dispatched ends.
    head: Sector,
    /// When it was last looked at whether the oldest is overdue.
    looked: Option<Instant>,
}

impl Position {
    /// The better of the two to continue with; ties go to the first.
    #[inline]
    fn choose(&self, cx: Cx<'_>, one: Option<RequestId>, other: Option<RequestId>) -> Option<RequestId> {
        match (one, other) {
            (Some(one), Some(other)) => {
                let wins = better(BACK, self.head, cx[other].start, cx[one].start);
                Some(if wins { other } else { one })
            }
            _ => one.or(other),
        }
    }
}

/// The two sides.
pub(super) struct Requests {
    lanes: Lanes<2>,
    /// How long an asynchronous and a synchronous request may wait before its turn.
    expire: [Duration; 2],
    positions: [Position; 2],
}

impl Requests {
    pub(super) fn new(capacity: usize, expire: [Duration; 2]) -> Result<Requests, OutOfMemory> {
        let positions = [Position { next: None, head: Sector(0), looked: None }; 2];
        Ok(Requests { lanes: Lanes::new(capacity)?, expire, positions })
    }

    pub(super) fn tune(&mut self, expire: [Duration; 2]) {
        self.expire = expire;
    }

    /// How long a request may wait before its turn, and how often that is looked at.
    pub(super) fn expire(&self, side: Side) -> Duration {
        self.expire[side.index()]
    }

    /// How many wait.
    pub(super) fn len(&self, side: Side) -> usize {
        self.lanes.len(side.index())
    }

    /// Whether any wait.
    pub(super) fn any(&self, side: Side) -> bool {
        !self.lanes.is_empty(side.index())
    }

    /// Where to continue.
    pub(super) fn next(&self, side: Side) -> Option<RequestId> {
        self.positions[side.index()].next
    }

    /// Where the last request dispatched ends.
    pub(super) fn head(&self, side: Side) -> Sector {
        self.positions[side.index()].head
    }

    /// How long `id` is overdue.
    pub(super) fn late(&self, now: Instant, id: RequestId) -> Duration {
        now.since(self.lanes.deadline(id))
    }

    #[inline(always)] // Each version calls it in one place.
    pub(super) fn insert(&mut self, cx: Cx<'_>, id: RequestId, side: Side) {
        let request = &cx[id];
        self.lanes.insert(side.index(), id, request.start, request.arrival + self.expire[side.index()]);
        let position = &mut self.positions[side.index()];
        position.next = position.choose(cx, position.next, Some(id));
    }

    /// The oldest, if it is overdue. Looked at once in each expiry time; `None` in between.
    #[inline]
    pub(super) fn overdue(&mut self, now: Instant, side: Side) -> Option<RequestId> {
        let expire = self.expire(side);
        if self.positions[side.index()].looked.is_some_and(|looked| now.since(looked) < expire) {
            return None;
        }
        self.oldest_now(now, side).filter(|oldest| now > self.lanes.deadline(*oldest))
    }

    /// Who came first, which counts as a check of who is overdue.
    #[inline]
    pub(super) fn oldest_now(&mut self, now: Instant, side: Side) -> Option<RequestId> {
        self.positions[side.index()].looked = Some(now);
        self.lanes.oldest(side.index())
    }

    /// Takes `id` out and returns where to continue: at one of its neighbours by address.
    #[inline(never)]
    fn take(&mut self, cx: Cx<'_>, id: RequestId, side: Side) -> Option<RequestId> {
        let (before, behind) = self.lanes.take_between(side.index(), id);
        let behind = behind.or_else(|| self.lanes.lowest(side.index()));
        self.positions[side.index()].choose(cx, before, behind)
    }

    /// Takes out `id`, which goes to the device.
    #[inline]
    pub(super) fn dispatch(&mut self, cx: Cx<'_>, id: RequestId, side: Side) {
        self.positions[side.index()].head = cx[id].end();
        self.positions[side.index()].next = self.take(cx, id, side);
    }

    /// Takes out `id`, which is withdrawn.
    pub(super) fn remove(&mut self, cx: Cx<'_>, id: RequestId, side: Side) {
        let next = self.take(cx, id, side);
        let position = &mut self.positions[side.index()];
        if position.next == Some(id) {
            position.next = next;
        }
    }

    /// The extent of `id` has changed. Where to continue stays as it is, as in Linux.
    pub(super) fn grown(&mut self, cx: Cx<'_>, id: RequestId, side: Side) {
        self.lanes.rekey(side.index(), id, cx[id].start);
    }

    /// If `other` is due earlier, `survivor` gets its time and its place in order of arrival.
    pub(super) fn inherit(&mut self, survivor: RequestId, other: RequestId, side: Side) -> bool {
        self.lanes.inherit(side.index(), survivor, other)
    }
}
