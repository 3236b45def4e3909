//! The requests that wait: of each queue by address, and in order of arrival.

use alloc::vec::Vec;

use super::queue::Queue;
use crate::collections::{Links, NIL, OutOfMemory, Place, Sorted, table};
use crate::request::Request;
use crate::scheduler::Cx;
use crate::schedulers::shared::ways::{Back, better};
use crate::units::{Instant, RequestId, Sector};

/// The requests.
pub(super) struct Requests {
    /// By queue, then by address. Addresses beyond 2^(63 − bits of a queue's index) are equal.
    sorted: Sorted,
    shift: u32,
    pub(super) links: Links,
    owned: Vec<Owned>,
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

    pub(super) fn sort_in(&mut self, queue: usize, id: RequestId, start: Sector) {
        self.sorted.insert(self.key(queue, start), id);
    }

    /// The extent of `id` has changed. True if it begins elsewhere.
    pub(super) fn rekey(&mut self, cx: Cx<'_>, queue: usize, id: RequestId) -> bool {
        let key = self.key(queue, cx[id].start);
        self.sorted.rekey(id, key)
    }

    /// Takes `id`, with which its queue does not go on, out of the order by address.
    pub(super) fn unsort(&mut self, id: RequestId) {
        self.sorted.remove(id);
    }

    /// Whether `new` is better to go on with from `head` than `old`: metadata, then the shorter way.
    #[inline]
    pub(super) fn wins(back: Back, head: Sector, new: &Request, old: &Request) -> bool {
        if old.metadata == new.metadata { better(back, head, new.start, old.start) } else { new.metadata }
    }

    /// The better of the two to go on with from `head`.
    #[inline]
    pub(super) fn choose(
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
    pub(super) fn go_on_after(
        &mut self,
        cx: Cx<'_>,
        back: Back,
        index: usize,
        queue: &mut Queue,
        last: RequestId,
    ) -> Option<RequestId> {
        let (before, behind) = self.sorted.remove_between(last);
        if !core::mem::replace(&mut queue.fifo_looked, true) {
            let oldest = queue.fifo.front().filter(|oldest| *oldest != last);
            if let Some(oldest) = oldest.filter(|oldest| cx.now >= self.owned[oldest.index()].due) {
                return Some(oldest);
            }
        }
        if queue.fifo.len() == 1 {
            return None;
        }
        let own = |id: &RequestId| self.owned[id.index()].queue == index as u32;
        let behind = behind.filter(own);
        let behind = behind.or_else(|| self.sorted.at_or_after((index as u64) << self.shift).filter(own));
        Self::choose(cx, back, cx[last].start, behind, before.filter(own))
    }

    /// If `other` is overdue earlier, `survivor` gets its time and its place in order of arrival.
    pub(super) fn inherit(&mut self, queue: &mut Queue, survivor: RequestId, other: RequestId) {
        let due = self.owned[other.index()].due;
        if due < self.owned[survivor.index()].due {
            self.links.remove(&mut queue.fifo, survivor);
            self.links.insert_before(&mut queue.fifo, other, survivor);
            self.owned[survivor.index()].due = due;
        }
    }
}
