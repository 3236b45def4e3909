//! The queue: what a host holds.
//!
//! A queue keeps the requests, merges neighbours, checks the host's calls, and asks its scheduler. The
//! scheduler can be replaced at any moment with requests waiting and in flight.

mod contents;
mod error;
mod handover;
mod host_merge;
mod join;
mod merge;

pub use error::HostError;

use crate::admission::{Admission, DepthLimit};
use crate::collections::OutOfMemory;
use crate::device::Device;
use crate::learned::Learned;
use crate::request::Request;
use crate::request_table::{State, Table};
use crate::scheduler::{Decision, Scheduler, Setup};
use crate::units::{Instant, Issuer, RequestId, Weight};
use crate::why::Why;
use contents::Contents;

/// What became of a request that was inserted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inserted {
    /// The request waits by itself.
    Queued(RequestId),
    /// The request went to the back of the waiting request `into` and completes with it.
    MergedBack {
        /// The id of the new request.
        id: RequestId,
        /// The request that it is now a part of.
        into: RequestId,
    },
    /// The request went to the front of a waiting request, is now a part of `into` and completes with it.
    MergedFront {
        /// The id of the new request.
        id: RequestId,
        /// The request that it is now a part of.
        into: RequestId,
    },
}

impl Inserted {
    /// The id of the new request.
    pub fn id(self) -> RequestId {
        match self {
            Inserted::Queued(id) | Inserted::MergedBack { id, .. } | Inserted::MergedFront { id, .. } => id,
        }
    }
}

/// Requests, and the scheduler that orders them.
pub struct Queue<S> {
    contents: Contents,
    scheduler: S,
}

impl<S: Scheduler> Queue<S> {
    /// A queue for up to `capacity` requests, waiting or in flight. `build` makes the scheduler.
    ///
    /// # Errors
    /// [`OutOfMemory`] if the tables or the scheduler cannot be allocated.
    pub fn with<E: From<OutOfMemory>>(
        capacity: usize,
        device: Device,
        build: impl FnOnce(Setup<'_>) -> Result<S, E>,
    ) -> Result<Self, E> {
        let scheduler = build(Setup { capacity, device: &device })?;
        Ok(Queue { contents: Contents::new(capacity, device)?, scheduler })
    }

    /// Adds `request`, which arrives now, under any free id.
    ///
    /// # Errors
    /// [`HostError::Full`], [`HostError::TimeWentBack`].
    // A host has one place that inserts.
    #[inline(always)]
    pub fn insert(&mut self, now: Instant, request: Request) -> Result<Inserted, HostError> {
        let id = self.any_free().ok_or(HostError::Full)?;
        self.contents.advance(now)?;
        self.contents.table.take_spare();
        Ok(self.admit(id, request))
    }

    /// An id that is not in use, for a host that wants to know the id before it inserts.
    #[inline]
    pub fn any_free(&mut self) -> Option<RequestId> {
        self.contents.table.any_free()
    }

    /// Adds `request`, which arrives now, under an id that the host chose.
    ///
    /// # Errors
    /// [`HostError::BeyondCapacity`], [`HostError::WrongState`] if the id is in use,
    /// [`HostError::TimeWentBack`].
    #[inline]
    pub fn insert_as(
        &mut self,
        now: Instant,
        id: RequestId,
        request: Request,
    ) -> Result<Inserted, HostError> {
        self.contents.expect(id, State::Free)?;
        self.contents.advance(now)?;
        Ok(self.admit(id, request))
    }

    /// Adds `request`, which arrives now, under the free `id`.
    #[inline]
    fn admit(&mut self, id: RequestId, mut request: Request) -> Inserted {
        request.arrival = self.contents.now;
        if request.past | self.contents.table.is_ordered() {
            return self.admit_in_order(id, &request);
        }
        let Queue { contents, scheduler } = self;
        if let Some(merged) = contents.enter(scheduler, id, request) {
            return merged;
        }
        scheduler.insert(contents.cx(), id);
        Inserted::Queued(id)
    }

    /// The same of a request that goes past the scheduler, or where the order of arrival is kept.
    #[inline(never)]
    fn admit_in_order(&mut self, id: RequestId, request: &Request) -> Inserted {
        let Queue { contents, scheduler } = self;
        if contents.table.is_ordered() {
            contents.table.enter_order(id);
        }
        if request.past {
            contents.enter_past(id, *request);
        } else if let Some(merged) = contents.enter(scheduler, id, *request) {
            return merged;
        } else if contents.table.handed(id) {
            scheduler.insert(contents.cx(), id);
        }
        Inserted::Queued(id)
    }

    /// Asks what the device, which has room, should do next.
    ///
    /// # Errors
    /// [`HostError::TimeWentBack`].
    ///
    /// # Panics
    /// If the scheduler breaks its contract: returns a request that does not wait, or wants to
    /// wait until a time that is not in the future.
    #[inline]
    pub fn dispatch(&mut self, now: Instant) -> Result<Decision, HostError> {
        self.contents.advance(now)?;
        if self.contents.table.any_returned()
            && let Some(id) = self.contents.table.take_returned()
        {
            return Ok(Decision::Dispatch(id));
        }
        let Queue { contents, scheduler } = self;
        let decision = scheduler.dispatch(contents.cx_for_decision());
        match decision {
            Decision::Dispatch(id) => {
                assert!(contents.leave(id), "the scheduler gave out {id}, which does not wait");
            }
            Decision::WaitUntil(until) => assert!(until > now, "the scheduler waits until the past"),
            Decision::Idle => {}
        }
        Ok(decision)
    }

    /// The device has finished `id`. Its parts are finished too, and their ids are free again.
    ///
    /// # Errors
    /// [`HostError::WrongState`] unless it is in flight, [`HostError::TimeWentBack`].
    #[inline]
    pub fn complete(&mut self, now: Instant, id: RequestId) -> Result<(), HostError> {
        self.contents.expect(id, State::InFlight)?;
        self.contents.advance(now)?;
        let past = self.contents.table[id].past;
        if past | self.contents.table.is_ordered() {
            self.complete_in_order(id, past);
        } else {
            self.scheduler.complete(self.contents.cx(), id);
        }
        self.contents.table.free(id);
        Ok(())
    }

    /// Tells the scheduler that `id` is done, unless it goes `past` it; also where the order of arrival is kept.
    #[inline(never)]
    fn complete_in_order(&mut self, id: RequestId, past: bool) {
        if self.contents.table.is_ordered() && !self.contents.table.leave_order(id) {
            self.adopt_late(id, past);
        }
        if !past {
            self.scheduler.complete(self.contents.cx(), id);
        }
    }

    /// `id` is done, which the scheduler has not been handed.
    #[cold]
    fn adopt_late(&mut self, id: RequestId, past: bool) {
        if !past {
            self.scheduler.adopt(self.contents.cx(), id);
        }
    }

    /// The device could not take `id` after all, which goes first when the host next asks; the
    /// scheduler, whose decision stands, is not told.
    ///
    /// # Errors
    /// [`HostError::WrongState`] unless it is in flight, [`HostError::TimeWentBack`].
    pub fn requeue(&mut self, now: Instant, id: RequestId) -> Result<(), HostError> {
        self.contents.expect(id, State::InFlight)?;
        self.contents.advance(now)?;
        self.contents.table.returned(id);
        Ok(())
    }

    /// Withdraws the waiting request `id` with its parts. Their ids are free again.
    ///
    /// # Errors
    /// [`HostError::WrongState`] unless it waits, [`HostError::TimeWentBack`].
    pub fn cancel(&mut self, now: Instant, id: RequestId) -> Result<(), HostError> {
        self.contents.expect(id, State::Waiting)?;
        self.contents.advance(now)?;
        if self.contents.table.handed(id) {
            self.scheduler.remove(self.contents.cx(), id);
        }
        self.contents.withdraw(id);
        Ok(())
    }

    /// The process `who` has exited. Its weight is the default again, for whoever gets its number.
    ///
    /// # Errors
    /// [`HostError::TimeWentBack`].
    pub fn issuer_gone(&mut self, now: Instant, who: Issuer) -> Result<(), HostError> {
        self.contents.advance(now)?;
        if !self.told_later(who) {
            self.tell_exit(who);
        }
        Ok(())
    }

    /// Gives `who` a weight. Schedulers that share the disk by weights follow it from now on, and so
    /// does any that takes over.
    ///
    /// # Errors
    /// [`HostError::TooManyWeights`], [`HostError::TimeWentBack`].
    pub fn set_weight(&mut self, now: Instant, who: Issuer, weight: Weight) -> Result<(), HostError> {
        self.contents.advance(now)?;
        if self.contents.table.weights.set(who, weight) { Ok(()) } else { Err(HostError::TooManyWeights) }
    }

    /// From now on schedulers say why they decide as they do.
    pub fn explain(&mut self) {
        self.contents.explain();
    }

    /// Why the last dispatch call was answered as it was, if [`Queue::explain`] was called and the
    /// scheduler has said.
    pub fn why(&self) -> Option<Why> {
        self.contents.why()
    }

    /// How much of a queue of `size` requests may be of which kind, until the next event: for a host that keeps
    /// the rest outside by other means than [`Queue::admission`].
    pub fn depth_limit(&self, size: usize) -> DepthLimit {
        self.scheduler.depth_limit(size)
    }

    /// What may enter now. The scheduler's wish, not a rule: `insert` takes whatever there is an id for.
    #[inline]
    pub fn admission(&self) -> Admission {
        let limit = self.scheduler.depth_limit(self.contents.table.capacity());
        limit.admits(self.contents.table.asynchronous(), self.contents.table.sync_writes())
    }

    /// The time of the last call.
    #[inline]
    pub fn now(&self) -> Instant {
        self.contents.now
    }

    /// An error unless a call for `id`, in this state, fits now.
    #[inline]
    pub(crate) fn expect(&self, now: Instant, id: RequestId, wanted: State) -> Result<(), HostError> {
        self.contents.expect(id, wanted)?;
        if now < self.contents.now { Err(HostError::TimeWentBack(now)) } else { Ok(()) }
    }

    /// An error unless a call that makes `id` larger, or a part of another, fits now.
    pub(crate) fn expect_mergeable(&self, now: Instant, id: RequestId) -> Result<(), HostError> {
        self.contents.expect_handed(id)?;
        if now < self.contents.now { Err(HostError::TimeWentBack(now)) } else { Ok(()) }
    }

    /// The request under `id`, as large as merging has made it.
    pub fn request(&self, id: RequestId) -> &Request {
        &self.contents.table[id]
    }

    /// All requests.
    pub fn requests(&self) -> &Table {
        &self.contents.table
    }

    /// From now on this is known of the device, whatever the scheduler has learned.
    pub fn set_learned(&mut self, learned: &Learned) {
        self.contents.device.learned.clone_from(learned);
        self.scheduler.inherit(learned);
    }

    /// What is known of the device: what the scheduler has learned, or one before it.
    pub fn learned(&self) -> &Learned {
        self.scheduler.learned().unwrap_or(&self.contents.device.learned)
    }

    /// The device as the scheduler sees it.
    pub fn device(&self) -> &Device {
        &self.contents.device
    }

    /// The scheduler.
    pub fn scheduler(&self) -> &S {
        &self.scheduler
    }

    /// The scheduler, to set its tunables.
    pub fn scheduler_mut(&mut self) -> &mut S {
        &mut self.scheduler
    }

    /// How many requests became part of another.
    pub fn merges(&self) -> u64 {
        self.contents.merges
    }
}
