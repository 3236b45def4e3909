//! Finding the waiting request that a new one continues: hash tables of ends and of starts.

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

/// A hash table from a sector to the waiting requests that have it as an edge.
struct Edges {
    heads: Vec<u32>,
    next: Vec<u32>,
    shift: u32,
}

impl Edges {
    fn new(capacity: usize) -> Result<Self, OutOfMemory> {
        // Sparse, so that a look is nearly always one glance: a slot in eight is taken, at most.
        let bits = capacity.next_power_of_two().trailing_zeros() + 3;
        Ok(Edges { heads: table(1 << bits, NIL)?, next: table(capacity, NIL)?, shift: 64 - bits })
    }

    #[inline]
    fn slot(&self, edge: Sector) -> usize {
        (edge.0.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> self.shift) as usize
    }

    #[inline]
    fn add(&mut self, edge: Sector, id: RequestId) {
        let slot = self.slot(edge);
        self.next[id.index()] = self.heads[slot];
        self.heads[slot] = id.0;
    }

    #[inline]
    fn remove(&mut self, edge: Sector, id: RequestId) {
        let slot = self.slot(edge);
        let after = self.next[id.index()];
        if self.heads[slot] == id.0 {
            self.heads[slot] = after;
            return;
        }
        let mut at = self.heads[slot];
        while self.next[at as usize] != id.0 {
            at = self.next[at as usize];
        }
        self.next[at as usize] = after;
    }

    /// Requests that may have `edge`: those in its slot, newest first.
    #[inline]
    fn candidates(&self, edge: Sector) -> impl Iterator<Item = RequestId> + '_ {
        let mut at = self.heads[self.slot(edge)];
        core::iter::from_fn(move || {
            let id = at;
            if id == NIL {
                return None;
            }
            at = self.next[id as usize];
            Some(RequestId(id))
        })
    }
}

/// The edges of all waiting requests.
pub(super) struct Merger {
    ends: Edges,
    starts: Edges,
    last: Option<RequestId>,
}

impl Merger {
    pub(super) fn new(capacity: usize) -> Result<Self, OutOfMemory> {
        Ok(Merger { ends: Edges::new(capacity)?, starts: Edges::new(capacity)?, last: None })
    }

    /// The request that last arrived or grew, if it still waits.
    #[inline]
    pub(super) fn last(&self) -> Option<RequestId> {
        self.last
    }

    /// `id` waits with this extent.
    #[inline]
    pub(super) fn add(&mut self, id: RequestId, request: &Request) {
        self.ends.add(request.end(), id);
        self.starts.add(request.start, id);
        self.last = Some(id);
    }

    /// `id`, which had this extent, no longer waits with it.
    #[inline]
    pub(super) fn drop(&mut self, id: RequestId, request: &Request) {
        self.ends.remove(request.end(), id);
        self.starts.remove(request.start, id);
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
        self.ends.candidates(sector).find(|id| requests[*id].end() == sector && fits(*id))
    }

    /// A waiting request that starts at `sector` and `fits`.
    #[inline]
    pub(super) fn starting_at(
        &self,
        sector: Sector,
        requests: &Table,
        fits: impl Fn(RequestId) -> bool,
    ) -> Option<RequestId> {
        self.starts.candidates(sector).find(|id| requests[*id].start == sector && fits(*id))
    }
}
