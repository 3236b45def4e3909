//! Requests in lanes, such as reads and writes: each lane by address and in order of arrival, with a deadline for
//! each request.

use alloc::vec::Vec;
use core::array;

use super::{Fifos, List, OutOfMemory, Sorted};
use crate::units::{Instant, RequestId, Sector};

/// One lane.
struct Lane {
    by_address: Sorted,
    by_arrival: List,
}

/// `N` lanes. A request is in one of them.
pub struct Lanes<const N: usize> {
    lanes: [Lane; N],
    deadlines: Fifos<Instant>,
}

impl<const N: usize> Lanes<N> {
    /// For ids below `capacity`.
    ///
    /// # Errors
    /// [`OutOfMemory`] if the lanes cannot be allocated.
    pub fn new(capacity: usize) -> Result<Self, OutOfMemory> {
        let deadlines = Fifos::new(capacity)?;
        let mut sorted = Vec::new();
        sorted.try_reserve_exact(N).map_err(|_| OutOfMemory)?;
        for _ in 0..N {
            sorted.push(Sorted::new(capacity)?);
        }
        let mut sorted = sorted.into_iter();
        let lanes = array::from_fn(|_| match sorted.next() {
            Some(by_address) => Lane { by_address, by_arrival: List::default() },
            None => unreachable!("there are N of them"),
        });
        Ok(Lanes { lanes, deadlines })
    }

    /// How many are in `lane`.
    #[inline]
    pub fn len(&self, lane: usize) -> usize {
        self.lanes[lane].by_arrival.len()
    }

    /// Whether none is in `lane`.
    #[inline]
    pub fn is_empty(&self, lane: usize) -> bool {
        self.lanes[lane].by_arrival.is_empty()
    }

    /// The one in `lane` that came first.
    #[inline]
    pub fn oldest(&self, lane: usize) -> Option<RequestId> {
        self.lanes[lane].by_arrival.front()
    }

    /// The one in `lane` with the lowest address.
    pub fn lowest(&self, lane: usize) -> Option<RequestId> {
        self.lanes[lane].by_address.first()
    }

    /// The one in `lane` with the lowest address at or after `start`; ties go to the one that came first.
    pub fn at_or_after(&self, lane: usize, start: Sector) -> Option<RequestId> {
        self.lanes[lane].by_address.at_or_after(start.0)
    }

    /// The one after `id` by address.
    pub fn after(&self, lane: usize, id: RequestId) -> Option<RequestId> {
        self.lanes[lane].by_address.next(id)
    }

    /// When `id` is overdue.
    #[inline]
    pub fn deadline(&self, id: RequestId) -> Instant {
        self.deadlines.mark(id)
    }

    /// `id`, which starts at `start`, is overdue after `deadline`.
    #[inline(always)]
    pub fn insert(&mut self, lane: usize, id: RequestId, start: Sector, deadline: Instant) {
        let Lane { by_address, by_arrival } = &mut self.lanes[lane];
        self.deadlines.push(by_arrival, id, deadline);
        by_address.insert(start.0, id);
    }

    /// Takes `id` out. Returns the one after it by address.
    #[inline(always)]
    pub fn take(&mut self, lane: usize, id: RequestId) -> Option<RequestId> {
        let Lane { by_address, by_arrival } = &mut self.lanes[lane];
        self.deadlines.remove(by_arrival, id);
        by_address.remove_before_next(id)
    }

    /// Takes `id` out. Returns its neighbours by address.
    #[inline(always)]
    pub fn take_between(&mut self, lane: usize, id: RequestId) -> (Option<RequestId>, Option<RequestId>) {
        let Lane { by_address, by_arrival } = &mut self.lanes[lane];
        self.deadlines.remove(by_arrival, id);
        by_address.remove_between(id)
    }

    /// Where `id` started when it was sorted in.
    pub fn start(&self, lane: usize, id: RequestId) -> Sector {
        Sector(self.lanes[lane].by_address.key(id))
    }

    /// Sorts `id` in at `start`.
    pub fn rekey(&mut self, lane: usize, id: RequestId, start: Sector) {
        self.lanes[lane].by_address.rekey(id, start.0);
    }

    /// `survivor` gets the deadline of `other` and its place in order of arrival, if that deadline is the earlier
    /// one. Says whether it was.
    pub fn inherit(&mut self, lane: usize, survivor: RequestId, other: RequestId) -> bool {
        self.deadlines.inherit(&mut self.lanes[lane].by_arrival, survivor, other)
    }
}
