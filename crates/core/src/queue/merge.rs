//! Finding the waiting request that a new one continues: a hash table of ends and starts.

use alloc::vec::Vec;

use super::Table;
use crate::collections::{NIL, OutOfMemory, table};
use crate::device::Device;
use crate::request::{Operation, Request};
use crate::units::{RequestId, Sector};

/// Where a new request joins an old one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// It begins where the old one ends.
    Back,
    /// It ends where the old one begins.
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

/// A hash table from a sector to the waiting requests that have it as an edge.
///
/// Where a new request begins, old ones may end, and it is itself to be found as one that starts there. So each slot
/// has a list for either edge, and a request touches two slots instead of four.
pub(super) struct Merger {
    heads: Vec<[u32; 2]>,
    next: Vec<[u32; 2]>,
    shift: u32,
    last: Option<RequestId>,
}

impl Merger {
    pub(super) fn new(capacity: usize) -> Result<Self, OutOfMemory> {
        // Sparse, so that a look is nearly always one glance: a slot in eight is taken, at most.
        let bits = capacity.next_power_of_two().trailing_zeros() + 3;
        let (heads, next) = (table(1 << bits, [NIL; 2])?, table(capacity, [NIL; 2])?);
        Ok(Merger { heads, next, shift: 64 - bits, last: None })
    }

    #[inline]
    fn slot(&self, sector: Sector) -> usize {
        (sector.0.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> self.shift) as usize
    }

    #[inline]
    fn link(&mut self, edge: Edge, sector: Sector, id: RequestId) {
        let slot = self.slot(sector);
        self.next[id.index()][edge as usize] = self.heads[slot][edge as usize];
        self.heads[slot][edge as usize] = id.0;
    }

    #[inline]
    fn unlink(&mut self, edge: Edge, sector: Sector, id: RequestId) {
        let slot = self.slot(sector);
        let after = self.next[id.index()][edge as usize];
        let mut at = self.heads[slot][edge as usize];
        if at == id.0 {
            self.heads[slot][edge as usize] = after;
            return;
        }
        while self.next[at as usize][edge as usize] != id.0 {
            at = self.next[at as usize][edge as usize];
        }
        self.next[at as usize][edge as usize] = after;
    }

    /// Requests that may have this edge at `sector`: those in its slot, newest first.
    #[inline]
    fn candidates(&self, edge: Edge, sector: Sector) -> impl Iterator<Item = RequestId> + '_ {
        let mut at = self.heads[self.slot(sector)][edge as usize];
        core::iter::from_fn(move || {
            let id = at;
            if id == NIL {
                return None;
            }
            at = self.next[id as usize][edge as usize];
            Some(RequestId(id))
        })
    }

    /// The request that last arrived or grew, if it still waits.
    #[inline]
    pub(super) fn last(&self) -> Option<RequestId> {
        self.last
    }

    /// `id` waits with this extent.
    #[inline]
    pub(super) fn add(&mut self, id: RequestId, request: &Request) {
        self.link(Edge::End, request.end(), id);
        self.link(Edge::Start, request.start, id);
        self.last = Some(id);
    }

    /// `id`, which had this extent, no longer waits with it.
    #[inline]
    pub(super) fn drop(&mut self, id: RequestId, request: &Request) {
        self.unlink(Edge::End, request.end(), id);
        self.unlink(Edge::Start, request.start, id);
        if self.last == Some(id) {
            self.last = None;
        }
    }

    /// A waiting request that ends at `sector` and `fits`.
    #[inline]
    pub(super) fn ending_at(
        &self,
        sector: Sector,
        requests: &Table,
        fits: impl Fn(RequestId) -> bool,
    ) -> Option<RequestId> {
        self.candidates(Edge::End, sector).find(|id| requests[*id].end() == sector && fits(*id))
    }

    /// A waiting request that starts at `sector` and `fits`.
    #[inline]
    pub(super) fn starting_at(
        &self,
        sector: Sector,
        requests: &Table,
        fits: impl Fn(RequestId) -> bool,
    ) -> Option<RequestId> {
        self.candidates(Edge::Start, sector).find(|id| requests[*id].start == sector && fits(*id))
    }
}
