//! The waiting requests: synchronous and asynchronous ones apart, each by address and by arrival.

use alloc::vec::Vec;

use crate::collections::{Links, List, OutOfMemory, Sorted, table};
use crate::request::Request;
use crate::scheduler::Cx;
use crate::schedulers::shared::ways::{Back, better};
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
    #[inline]
    pub(super) const fn of(request: &Request) -> Side {
        if request.sync { Side::Sync } else { Side::Async }
    }

    #[inline]
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

/// One side.
struct Line {
    sorted: Sorted,
    fifo: List,
    /// The best of all to go on with, as far as is known.
    next: Option<RequestId>,
    /// Where the last request dispatched ends.
    head: Sector,
    /// When it was last looked at whether the oldest is overdue.
    looked: Option<Instant>,
}

/// The two sides.
pub(super) struct Lines {
    lines: [Line; 2],
    links: Links,
    /// By request: when it is overdue.
    due: Vec<Instant>,
}

impl Line {
    fn new(capacity: usize) -> Result<Line, OutOfMemory> {
        let sorted = Sorted::new(capacity)?;
        Ok(Line { sorted, fifo: List::default(), next: None, head: Sector(0), looked: None })
    }

    /// The better of the two, of equals the first.
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

impl Lines {
    pub(super) fn new(capacity: usize) -> Result<Lines, OutOfMemory> {
        let lines = [Line::new(capacity)?, Line::new(capacity)?];
        Ok(Lines { lines, links: Links::new(capacity)?, due: table(capacity, Instant::ZERO)? })
    }

    /// How many wait.
    #[inline]
    pub(super) fn len(&self, side: Side) -> usize {
        self.lines[side.index()].fifo.len()
    }

    /// Whether any wait.
    #[inline]
    pub(super) fn any(&self, side: Side) -> bool {
        !self.lines[side.index()].fifo.is_empty()
    }

    /// Where to go on.
    #[inline]
    pub(super) fn next(&self, side: Side) -> Option<RequestId> {
        self.lines[side.index()].next
    }

    /// Who came first.
    #[inline]
    pub(super) fn oldest(&self, side: Side) -> Option<RequestId> {
        self.lines[side.index()].fifo.front()
    }

    /// Where the last request dispatched ends.
    #[inline]
    pub(super) fn head(&self, side: Side) -> Sector {
        self.lines[side.index()].head
    }

    /// How long `id` is overdue.
    pub(super) fn late(&self, now: Instant, id: RequestId) -> Duration {
        now.since(self.due[id.index()])
    }

    #[inline(always)] // Each version calls it in one place.
    pub(super) fn insert(&mut self, cx: Cx<'_>, id: RequestId, side: Side, expire: Duration) {
        let request = &cx[id];
        let line = &mut self.lines[side.index()];
        self.due[id.index()] = request.arrival + expire;
        self.links.push_back(&mut line.fifo, id);
        line.sorted.insert(request.start.0, id);
        line.next = line.choose(cx, line.next, Some(id));
    }

    /// The oldest, if it is overdue. That is looked at once in `expire`; else it is not known.
    #[inline]
    pub(super) fn overdue(&mut self, now: Instant, side: Side, expire: Duration) -> Option<RequestId> {
        let line = &mut self.lines[side.index()];
        if line.looked.is_some_and(|looked| now.since(looked) < expire) {
            return None;
        }
        line.looked = Some(now);
        line.fifo.front().filter(|oldest| now > self.due[oldest.index()])
    }

    /// Who came first, which counts as a look at who is overdue.
    #[inline]
    pub(super) fn oldest_now(&mut self, now: Instant, side: Side) -> Option<RequestId> {
        self.lines[side.index()].looked = Some(now);
        self.oldest(side)
    }

    /// Takes `id` out and returns where to go on: at one of its neighbours by address.
    #[inline(never)]
    fn take(&mut self, cx: Cx<'_>, id: RequestId, side: Side) -> Option<RequestId> {
        let line = &mut self.lines[side.index()];
        self.links.remove(&mut line.fifo, id);
        let (before, behind) = line.sorted.remove_between(id);
        let behind = behind.or_else(|| line.sorted.first());
        line.choose(cx, before, behind)
    }

    /// Takes out `id`, which goes to the device.
    #[inline]
    pub(super) fn dispatch(&mut self, cx: Cx<'_>, id: RequestId, side: Side) {
        self.lines[side.index()].head = cx[id].end();
        self.lines[side.index()].next = self.take(cx, id, side);
    }

    /// Takes out `id`, which is withdrawn.
    pub(super) fn remove(&mut self, cx: Cx<'_>, id: RequestId, side: Side) {
        let next = self.take(cx, id, side);
        let line = &mut self.lines[side.index()];
        if line.next == Some(id) {
            line.next = next;
        }
    }

    /// The extent of `id` has changed. Where to go on stays as it is, as in Linux.
    pub(super) fn grown(&mut self, cx: Cx<'_>, id: RequestId, side: Side) {
        self.lines[side.index()].sorted.rekey(id, cx[id].start.0);
    }

    /// If `other` is due earlier, `survivor` gets its time and its place in order of arrival.
    pub(super) fn inherit(&mut self, survivor: RequestId, other: RequestId, side: Side) -> bool {
        let earlier = self.due[other.index()] < self.due[survivor.index()];
        if earlier {
            let fifo = &mut self.lines[side.index()].fifo;
            self.links.remove(fifo, survivor);
            self.links.insert_before(fifo, other, survivor);
            self.due[survivor.index()] = self.due[other.index()];
        }
        earlier
    }
}
