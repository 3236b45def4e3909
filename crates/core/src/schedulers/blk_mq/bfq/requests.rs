//! The requests of each queue: what waits, by address and in order of arrival, and how many are in flight.

use alloc::vec::Vec;

use crate::collections::{Links, List, NIL, OutOfMemory, Place, Sorted, table};
use crate::request::Request;
use crate::scheduler::Cx;
use crate::schedulers::shared::ways::{Back, better};
use crate::units::{Instant, RequestId, Sector};

/// The requests.
pub(super) struct Requests {
    /// By queue, then by address. Addresses beyond 2^(63 − bits of a queue's index) are equal.
    sorted: Sorted,
    shift: u32,
    links: Links,
    owned: Vec<Owned>,
    /// How many wait, and how many the device has from here.
    pub(super) waiting: u32,
    pub(super) in_flight: u32,
}

/// The requests of one queue.
#[derive(Clone, Copy, Default)]
pub(super) struct Line {
    /// What waits, in order of arrival.
    fifo: List,
    /// Where to go on.
    pub(super) next: Option<RequestId>,
    /// Since it is in service, it was looked at whether its oldest request is overdue.
    pub(super) fifo_checked: bool,
    pub(super) in_flight: u32,
}

impl Line {
    /// Whether nothing waits.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.fifo.is_empty()
    }

    /// How many requests wait or are in flight.
    pub(super) fn len(&self) -> u32 {
        self.in_flight + self.fifo.len() as u32
    }
}

/// What is known of a request.
#[derive(Clone, Copy)]
struct Owned {
    /// When it is overdue.
    due: Instant,
    /// In which queue it is; [`NIL`] for one that an earlier scheduler sent.
    queue: u32,
    /// Who issued it.
    place: Option<Place>,
}

const NOBODYS: Owned = Owned { due: Instant::ZERO, queue: NIL, place: None };

impl Requests {
    pub(super) fn new(capacity: usize, queues: usize) -> Result<Requests, OutOfMemory> {
        Ok(Requests {
            sorted: Sorted::new(capacity)?,
            shift: (queues as u64).leading_zeros() - 1,
            links: Links::new(capacity)?,
            owned: table(capacity, NOBODYS)?,
            waiting: 0,
            in_flight: 0,
        })
    }

    fn key(&self, queue: usize, Sector(start): Sector) -> u64 {
        (queue as u64) << self.shift | start.min((1 << self.shift) - 1)
    }

    /// In which queue `id` waits, or from which it went to the device.
    #[inline]
    pub(super) fn queue(&self, id: RequestId) -> Option<usize> {
        let queue = self.owned[id.index()].queue;
        (queue != NIL).then_some(queue as usize)
    }

    /// Who issued `id`.
    pub(super) fn place(&self, id: RequestId) -> Option<Place> {
        self.owned[id.index()].place
    }

    /// `id`, issued by the process at `place`, belongs to `queue` and is overdue from `due` on.
    pub(super) fn own(&mut self, id: RequestId, queue: usize, place: Place, due: Instant) {
        self.owned[id.index()] = Owned { due, queue: queue as u32, place: Some(place) };
    }

    /// `id` is nobody's any more. Returns in which queue it was, and who issued it.
    pub(super) fn disown(&mut self, id: RequestId) -> Option<(usize, Place)> {
        let Owned { queue, place, .. } = core::mem::replace(&mut self.owned[id.index()], NOBODYS);
        place.map(|place| (queue as usize, place))
    }

    /// `id` waits in `queue` from now on. True if that goes on with it.
    #[inline]
    pub(super) fn add(
        &mut self,
        cx: Cx<'_>,
        (back, head): (Back, Sector),
        (queue, line): (usize, &mut Line),
        id: RequestId,
    ) -> bool {
        self.waiting += 1;
        self.sorted.insert(self.key(queue, cx[id].start), id);
        self.links.push_back(&mut line.fifo, id);
        let leads = line.next.is_none_or(|next| Self::wins(back, head, &cx[id], &cx[next]));
        if leads {
            line.next = Some(id);
        }
        leads
    }

    /// The extent of `id`, which waits in `queue`, has changed. True if that goes on with it instead of another.
    pub(super) fn grown(
        &mut self,
        cx: Cx<'_>,
        (back, head): (Back, Sector),
        (queue, line): (usize, &mut Line),
        id: RequestId,
    ) -> bool {
        let (key, before) = (self.key(queue, cx[id].start), line.next);
        if self.sorted.rekey(id, key) {
            line.next = Self::choose(cx, back, head, before, Some(id));
        }
        line.next != before
    }

    /// `other` becomes part of `survivor`, which waits in the same queue. If `other` is overdue earlier, `survivor`
    /// gets its time and its place in order of arrival.
    pub(super) fn absorb(&mut self, line: &mut Line, survivor: RequestId, other: RequestId) {
        let due = self.owned[other.index()].due;
        if due < self.owned[survivor.index()].due {
            self.links.remove(&mut line.fifo, survivor);
            self.links.insert_before(&mut line.fifo, other, survivor);
            self.owned[survivor.index()].due = due;
        }
        if line.next == Some(other) {
            line.next = Some(survivor);
        }
    }

    /// A request goes to the device, and is taken out next.
    pub(super) const fn send(&mut self, line: &mut Line) {
        line.in_flight += 1;
        self.in_flight += 1;
    }

    /// The device is done with a request.
    pub(super) const fn done(&mut self, line: &mut Line) {
        line.in_flight -= 1;
        self.in_flight -= 1;
    }

    /// `id` waits in `queue` no longer. True if that was to go on with it.
    #[inline]
    pub(super) fn take_out(
        &mut self,
        cx: Cx<'_>,
        back: Back,
        (queue, line): (usize, &mut Line),
        id: RequestId,
    ) -> bool {
        let leads = line.next == Some(id);
        if leads {
            line.next = self.go_on_after(cx, back, queue, line, id);
        } else {
            self.sorted.remove(id);
        }
        self.links.remove(&mut line.fifo, id);
        self.waiting -= 1;
        leads
    }

    /// Whether `new` is better to go on with from `head` than `old`: metadata, then the shorter way.
    #[inline]
    fn wins(back: Back, head: Sector, new: &Request, old: &Request) -> bool {
        if old.metadata == new.metadata { better(back, head, new.start, old.start) } else { new.metadata }
    }

    /// The better of the two to go on with from `head`.
    #[inline]
    fn choose(
        cx: Cx<'_>,
        back: Back,
        head: Sector,
        one: Option<RequestId>,
        other: Option<RequestId>,
    ) -> Option<RequestId> {
        let (Some(first), Some(second)) = (one, other) else { return one.or(other) };
        Some(if Self::wins(back, head, &cx[second], &cx[first]) { second } else { first })
    }

    /// Takes `last` out of the order by address, and says where its queue goes on: with its oldest
    /// request, if that is overdue and was not looked at; else at a neighbour of `last`.
    fn go_on_after(
        &mut self,
        cx: Cx<'_>,
        back: Back,
        queue: usize,
        line: &mut Line,
        last: RequestId,
    ) -> Option<RequestId> {
        let (before, behind) = self.sorted.remove_between(last);
        if !core::mem::replace(&mut line.fifo_checked, true) {
            let oldest = line.fifo.front().filter(|oldest| *oldest != last);
            if let Some(oldest) = oldest.filter(|oldest| cx.now >= self.owned[oldest.index()].due) {
                return Some(oldest);
            }
        }
        if line.fifo.len() == 1 {
            return None;
        }
        let own = |id: &RequestId| self.owned[id.index()].queue == queue as u32;
        let behind = behind.filter(own);
        let behind = behind.or_else(|| self.sorted.at_or_after((queue as u64) << self.shift).filter(own));
        Self::choose(cx, back, cx[last].start, behind, before.filter(own))
    }
}
