//! The dispatch list of Linux 2.6: what a two-stage scheduler has decided to send, in elevator order.
//!
//! Requests on it still wait: they can be withdrawn. Nothing merges into them.

use alloc::vec::Vec;

use crate::collections::{Links, List, OutOfMemory, table};
use crate::scheduler::Cx;
use crate::units::{RequestId, Sector};

/// Requests that go to the device next. Shares its links with the queue that they come from.
pub(crate) struct DispatchList {
    list: List,
    listed: Vec<bool>,
    /// Where the last dispatched request ends: where the elevator starts.
    head: Sector,
}

impl DispatchList {
    pub(crate) fn new(capacity: usize) -> Result<Self, OutOfMemory> {
        Ok(DispatchList { list: List::default(), listed: table(capacity, false)?, head: Sector(0) })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// The request that goes next.
    pub(crate) fn first(&self) -> Option<RequestId> {
        self.list.front()
    }

    pub(crate) fn contains(&self, id: RequestId) -> bool {
        self.listed[id.index()]
    }

    /// Sorts `id` in as Linux's `elv_dispatch_sort` does: among the requests of its direction at the
    /// end of the list, in upward order from the head, then from the lowest; behind its equals.
    pub(crate) fn sort_in(&mut self, cx: Cx<'_>, links: &mut Links, id: RequestId) {
        self.listed[id.index()] = true;
        // What lies below the head wraps: it comes after all that lies above.
        let rank = |id: RequestId| cx[id].start.0.wrapping_sub(self.head.0);
        let (direction, own) = (cx[id].direction(), rank(id));
        let passes = |listed: RequestId| cx[listed].direction() == direction && rank(listed) > own;
        let mut successor = None;
        let mut at = self.list.back();
        while let Some(listed) = at.filter(|listed| passes(*listed)) {
            successor = at;
            at = links.previous(listed);
        }
        match successor {
            Some(place) => links.insert_before(&mut self.list, place, id),
            None => links.push_back(&mut self.list, id),
        }
    }

    /// Sorts `id` in by address alone, behind its equals.
    pub(crate) fn sort_in_upward(&mut self, cx: Cx<'_>, links: &mut Links, id: RequestId) {
        self.listed[id.index()] = true;
        let mut successor = None;
        let mut at = self.list.back();
        while let Some(listed) = at.filter(|listed| cx[*listed].start > cx[id].start) {
            successor = at;
            at = links.previous(listed);
        }
        match successor {
            Some(place) => links.insert_before(&mut self.list, place, id),
            None => links.push_back(&mut self.list, id),
        }
    }

    /// Takes out the first request.
    pub(crate) fn pop(&mut self, cx: Cx<'_>, links: &mut Links) -> Option<RequestId> {
        let id = links.pop_front(&mut self.list)?;
        self.listed[id.index()] = false;
        self.head = cx[id].end();
        Some(id)
    }

    /// Takes out `id`, which is on the list.
    pub(crate) fn remove(&mut self, links: &mut Links, id: RequestId) {
        links.remove(&mut self.list, id);
        self.listed[id.index()] = false;
    }
}
