//! Finding the waiting request that a new one continues: a hash table of ends and starts.

use alloc::vec::Vec;

use crate::collections::{NIL, OutOfMemory, table};
use crate::device::Device;
use crate::request::{Operation, Request};
use crate::request_table::{Chain, State, Table};
use crate::units::{RequestId, Sector};

/// Where a new request joins an old one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// The new request begins where the old one ends.
    Back,
    /// The new request ends where the old one begins.
    Front,
}

impl Side {
    /// Where `new` touches `old`, if it does.
    #[inline]
    pub(super) fn between(old: &Request, new: &Request) -> Option<Side> {
        if old.end() == new.start {
            Some(Side::Back)
        } else if new.end() == old.start {
            Some(Side::Front)
        } else {
            None
        }
    }
}

/// Whether two requests, if they touch, may be served as one.
#[inline]
pub(super) fn compatible(old: &Request, new: &Request, device: &Device) -> bool {
    let length = old.length.0 as u64 + new.length.0 as u64;
    old.operation == new.operation
        && old.operation != Operation::Flush
        && old.priority == new.priority
        && new.length.0 > 0
        && length <= device.max_sectors.0 as u64
}

/// The two edges of a request, and with them the two lists in each slot.
#[derive(Clone, Copy)]
enum Edge {
    End,
    Start,
}

impl Edge {
    fn of(self, chain: &Chain) -> u32 {
        match self {
            Edge::End => chain.end,
            Edge::Start => chain.start,
        }
    }

    fn of_mut(self, chain: &mut Chain) -> &mut u32 {
        match self {
            Edge::End => &mut chain.end,
            Edge::Start => &mut chain.start,
        }
    }
}

/// The slots of a request's edges.
#[derive(Clone, Copy)]
pub(super) struct Slots {
    end: usize,
    start: usize,
}

/// A hash table from a sector to the waiting requests that have it as an edge.
///
/// Where a new request begins, old ones may end, and it is itself to be found as one that starts there. So each slot
/// has a list for either edge, and a request touches two slots instead of four. The lists go through the
/// [`Table`]'s rows.
pub(super) struct Merger {
    heads: Vec<Chain>,
    shift: u32,
    /// The request that last arrived or grew, whether or not it still waits.
    last: u32,
}

impl Merger {
    pub(super) fn new(capacity: usize) -> Result<Self, OutOfMemory> {
        // Sparse, so that a look is nearly always one glance: a slot in eight is taken, at most.
        let bits = capacity.next_power_of_two().trailing_zeros() + 3;
        Ok(Merger { heads: table(1 << bits, Chain::NONE)?, shift: 64 - bits, last: NIL })
    }

    #[inline]
    fn slot(&self, sector: Sector) -> usize {
        (sector.0.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> self.shift) as usize
    }

    #[inline]
    pub(super) fn slots(&self, request: &Request) -> Slots {
        // An end past the last sector there can be touches nothing.
        let end = Sector(request.start.0.wrapping_add(u64::from(request.length.0)));
        Slots { end: self.slot(end), start: self.slot(request.start) }
    }

    /// Whether any request may touch the one with these slots. Mostly none does.
    #[inline]
    pub(super) fn may_touch(&self, Slots { end, start }: Slots) -> bool {
        // NIL has all bits.
        self.heads[start].end & self.heads[end].start != NIL
    }

    /// `id` waits with these slots. Returns its chain.
    #[inline]
    pub(super) fn enter(&mut self, id: RequestId, Slots { end, start }: Slots) -> Chain {
        self.last = id.0;
        let heads = &mut self.heads;
        let at_end = core::mem::replace(&mut heads[end].end, id.0);
        let at_start = core::mem::replace(&mut heads[start].start, id.0);
        Chain { end: at_end, start: at_start }
    }

    /// `id` no longer waits with these slots; this is its chain. False if it is not the first in its lists: then
    /// nothing was done.
    #[inline]
    pub(super) fn leave(&mut self, id: RequestId, Slots { end, start }: Slots, chain: Chain) -> bool {
        let heads = &mut self.heads;
        let first = heads[end].end == id.0 && heads[start].start == id.0;
        if first {
            heads[end].end = chain.end;
            heads[start].start = chain.start;
        }
        first
    }

    fn unlink(&mut self, edge: Edge, slot: usize, id: RequestId, requests: &mut Table) {
        let after = edge.of(requests.chain(id));
        let mut at = edge.of(&self.heads[slot]);
        if at == id.0 {
            *edge.of_mut(&mut self.heads[slot]) = after;
            return;
        }
        while edge.of(requests.chain(RequestId(at))) != id.0 {
            at = edge.of(requests.chain(RequestId(at)));
        }
        *edge.of_mut(requests.chain_mut(RequestId(at))) = after;
    }

    /// Requests with this edge in `slot`, newest first.
    #[inline]
    fn candidates<'a>(
        &self,
        edge: Edge,
        slot: usize,
        requests: &'a Table,
    ) -> impl Iterator<Item = RequestId> + use<'a> {
        let mut at = edge.of(&self.heads[slot]);
        core::iter::from_fn(move || {
            let id = at;
            if id == NIL {
                return None;
            }
            at = edge.of(requests.chain(RequestId(id)));
            Some(RequestId(id))
        })
    }

    /// The request that last arrived or grew, if it still waits.
    pub(super) fn last(&self, requests: &Table) -> Option<RequestId> {
        let last = RequestId(self.last);
        // Whoever has its id by now, and waits, has arrived later.
        (requests.state_of(last) == Some(State::Waiting)).then_some(last)
    }

    /// `id` waits with the extent that it has in the table.
    pub(super) fn add(&mut self, id: RequestId, requests: &mut Table) {
        let slots = self.slots(&requests[id]);
        *requests.chain_mut(id) = self.enter(id, slots);
    }

    /// `id` no longer waits with the extent that it has in the table.
    #[inline(never)]
    pub(super) fn drop(&mut self, id: RequestId, requests: &mut Table) {
        let Slots { end, start } = self.slots(&requests[id]);
        self.unlink(Edge::End, end, id, requests);
        self.unlink(Edge::Start, start, id, requests);
    }

    /// A waiting request that ends where `new`, which has these slots, starts, and `fits`.
    #[inline]
    pub(super) fn ending_at_start(
        &self,
        new: &Request,
        slots: Slots,
        requests: &Table,
        fits: impl Fn(RequestId) -> bool,
    ) -> Option<RequestId> {
        let mut candidates = self.candidates(Edge::End, slots.start, requests);
        candidates.find(|id| requests[*id].end() == new.start && fits(*id))
    }

    /// A waiting request that starts where `new`, which has these slots, ends, and `fits`.
    #[inline]
    pub(super) fn starting_at_end(
        &self,
        new: &Request,
        slots: Slots,
        requests: &Table,
        fits: impl Fn(RequestId) -> bool,
    ) -> Option<RequestId> {
        let mut candidates = self.candidates(Edge::Start, slots.end, requests);
        candidates.find(|id| requests[*id].start == new.end() && fits(*id))
    }
}
