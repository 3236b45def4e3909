//! Joining requests: a new one with a waiting one, and waiting ones that a merge made neighbours.

use super::Inserted;
use super::contents::Contents;
use super::merge::{self, Side, Slots};
use crate::device::Merging;
use crate::request::Request;
use crate::request_table::Chain;
use crate::scheduler::Scheduler;
use crate::units::RequestId;

impl Contents {
    /// Enters `request`, which arrives, under the free `id`. If it becomes a part of another, says of which; else
    /// the scheduler is to be told of it.
    #[inline]
    pub(super) fn enter<S: Scheduler>(
        &mut self,
        scheduler: &mut S,
        id: RequestId,
        request: Request,
    ) -> Option<Inserted> {
        if self.device.merging == Merging::Off {
            self.table.insert(id, request, Chain::NONE);
            return None;
        }
        let slots = self.merger.slots(&request);
        if self.merger.may_touch(slots) {
            return self.enter_touching(scheduler, id, request, slots);
        }
        self.table.insert(id, request, self.merger.enter(id, slots));
        None
    }

    /// Enters `request`, which goes to the device first, under the free `id`.
    #[cold]
    pub(super) fn enter_past(&mut self, id: RequestId, request: Request) {
        self.table.insert(id, request, Chain::NONE);
        self.table.returned(id);
    }

    /// Enters a request with these slots, which may touch others.
    #[inline(never)]
    fn enter_touching<S: Scheduler>(
        &mut self,
        scheduler: &mut S,
        id: RequestId,
        new: Request,
        slots: Slots,
    ) -> Option<Inserted> {
        let merge = self.find_merge(scheduler, &new, slots);
        let chain = if merge.is_some() { Chain::NONE } else { self.merger.enter(id, slots) };
        self.table.insert(id, new, chain);
        merge.map(|(into, side)| self.merge(scheduler, id, into, side))
    }

    /// The waiting request that `new`, which has these slots, can join: the last one touched, then one that ends where it
    /// begins, then one that begins where it ends.
    fn find_merge<S: Scheduler>(
        &self,
        scheduler: &S,
        new: &Request,
        slots: Slots,
    ) -> Option<(RequestId, Side)> {
        let fits = |id: RequestId| self.fits(scheduler, id, new);
        if let Some(last) = self.merger.last(&self.table)
            && let Some(side) = Side::between(&self.table[last], new)
            && fits(last)
        {
            return Some((last, side));
        }
        if self.device.merging == Merging::LastOnly {
            return None;
        }
        if let Some(id) = self.merger.ending_at_start(new, slots, &self.table, fits) {
            return Some((id, Side::Back));
        }
        if !scheduler.front_merges() {
            return None;
        }
        self.merger.starting_at_end(new, slots, &self.table, fits).map(|id| (id, Side::Front))
    }

    /// Whether `new` may become part of the waiting request `id`, which it touches.
    fn fits<S: Scheduler>(&self, scheduler: &S, id: RequestId, new: &Request) -> bool {
        merge::compatible(&self.table[id], new, &self.device)
            && self.table.handed(id)
            && self.table.parts_count(id) < self.device.max_parts
            && scheduler.may_merge(self.cx(), id, new)
    }

    /// Makes the new request `id` a part of `into`, then joins `into` with a neighbour it now touches.
    #[inline(never)]
    fn merge<S: Scheduler>(
        &mut self,
        scheduler: &mut S,
        id: RequestId,
        into: RequestId,
        side: Side,
    ) -> Inserted {
        self.merges += 1;
        self.merger.drop(into, &mut self.table);
        self.table.join(into, id);
        scheduler.grown(self.cx(), into);
        self.merger.add(into, &mut self.table);
        let into = self.coalesce(scheduler, into, side);
        match side {
            Side::Back => Inserted::MergedBack { id, into },
            Side::Front => Inserted::MergedFront { id, into },
        }
    }

    /// Joins `grown` with the waiting request that it touches on `side`, if they fit together.
    /// Returns the request that holds `grown` now.
    fn coalesce<S: Scheduler>(&mut self, scheduler: &mut S, grown: RequestId, side: Side) -> RequestId {
        if self.device.merging != Merging::All {
            return grown;
        }
        let extent = self.table[grown];
        let fits = |id: RequestId| {
            let parts = self.table.parts_count(id) + self.table.parts_count(grown);
            id != grown
                && merge::compatible(&self.table[id], &extent, &self.device)
                && self.table.handed(id)
                && parts <= self.device.max_parts
                && scheduler.may_merge(self.cx(), id, &extent)
        };
        let slots = self.merger.slots(&extent);
        let neighbour = match side {
            Side::Back => self.merger.starting_at_end(&extent, slots, &self.table, fits),
            Side::Front => self.merger.ending_at_start(&extent, slots, &self.table, fits),
        };
        let Some(other) = neighbour else { return grown };
        let (survivor, taken) = match side {
            Side::Back => (grown, other),
            Side::Front => (other, grown),
        };
        self.merges += 1;
        self.merger.drop(survivor, &mut self.table);
        self.merger.drop(taken, &mut self.table);
        self.table.join(survivor, taken);
        scheduler.absorbed(self.cx(), survivor, taken);
        self.merger.add(survivor, &mut self.table);
        survivor
    }
}
