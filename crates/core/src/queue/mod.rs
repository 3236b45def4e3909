//! The queue: what a host holds.
//!
//! It keeps the requests, merges neighbours, checks the host's calls, and asks its scheduler. The
//! scheduler can be exchanged at any moment with requests waiting and in flight.

mod error;
mod host_merge;
mod join;
mod merge;
mod named;
mod table;
mod weights;

pub use error::{HostError, SwitchError};
pub use table::{State, Table};
pub use weights::WEIGHTS_MAX;

use crate::collections::{NIL, OutOfMemory};
use crate::device::{Device, Merging};
use crate::request::Request;
use crate::room::{Quota, Room};
use crate::scheduler::{Cx, Decision, Scheduler, Setup};
use crate::units::{Instant, Issuer, RequestId, Weight};
use crate::why::{Notes, Why};
use merge::Merger;

/// What became of a request that was inserted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inserted {
    /// It waits by itself.
    Queued(RequestId),
    /// It went to the back of the waiting request `into` and completes with it.
    MergedBack {
        /// The id of the new request.
        id: RequestId,
        /// The request that it is now a part of.
        into: RequestId,
    },
    /// It went to the front of a waiting request, is now a part of `into` and completes with it.
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
    now: Instant,
    device: Device,
    table: Table,
    merger: Merger,
    merges: u64,
    /// Reasons for decisions, if the host asked for them.
    notes: Option<Notes>,
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
        let (table, merger) = (Table::new(capacity)?, Merger::new(capacity)?);
        Ok(Queue { now: Instant::ZERO, device, table, merger, merges: 0, notes: None, scheduler })
    }

    /// Adds `request`, which arrives now, under any free id.
    ///
    /// # Errors
    /// [`HostError::Full`], [`HostError::TimeWentBack`].
    #[inline]
    pub fn insert(&mut self, now: Instant, request: Request) -> Result<Inserted, HostError> {
        let id = self.table.any_free().ok_or(HostError::Full)?;
        self.advance(now)?;
        self.table.take_last_spare();
        Ok(self.admit(id, request, false))
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
        self.expect(id, State::Free)?;
        self.advance(now)?;
        let listed = !self.table.take_spare(id);
        Ok(self.admit(id, request, listed))
    }

    /// Adds `request`, which arrives now, under the free `id`. `listed`: the id is still among the spare ones.
    #[inline]
    fn admit(&mut self, id: RequestId, mut request: Request, listed: bool) -> Inserted {
        request.arrival = self.now;
        if self.device.merging == Merging::Off {
            self.table.insert(id, request, listed, [NIL; 2]);
        } else {
            let slots = self.merger.slots(&request);
            if !self.merger.may_touch(slots) {
                self.table.insert(id, request, listed, self.merger.enter(id, slots));
            } else if let Some(merged) = self.admit_touching(id, request, listed) {
                return merged;
            }
        }
        let Queue { scheduler, table, device, now, .. } = self;
        scheduler.insert(Cx { now: *now, requests: table, device, notes: None }, id);
        Inserted::Queued(id)
    }

    /// Asks what the device, which has room, should do next.
    ///
    /// # Errors
    /// [`HostError::TimeWentBack`].
    ///
    /// # Panics
    /// If the scheduler breaks its contract: gives out a request that does not wait, or wants to
    /// wait until a time that is not in the future.
    #[inline]
    pub fn dispatch(&mut self, now: Instant) -> Result<Decision, HostError> {
        self.advance(now)?;
        if self.table.any_returned()
            && let Some(id) = self.table.take_returned()
        {
            return Ok(Decision::Dispatch(id));
        }
        if let Some(notes) = &self.notes {
            notes.take();
        }
        let (requests, device) = (&self.table, &self.device);
        let decision = self.scheduler.dispatch(Cx { now, requests, device, notes: self.notes.as_ref() });
        match decision {
            Decision::Dispatch(id) => {
                let Some(row) = self.table.dispatch(id) else {
                    panic!("the scheduler gave out {id}, which does not wait")
                };
                if self.device.merging != Merging::Off {
                    let slots = self.merger.slots(&row.request);
                    if !self.merger.leave(id, slots, row.chain) {
                        self.merger.drop(id, &mut self.table);
                    }
                }
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
        self.expect(id, State::InFlight)?;
        self.advance(now)?;
        self.scheduler.complete(Cx { now, requests: &self.table, device: &self.device, notes: None }, id);
        self.table.free(id);
        Ok(())
    }

    /// The device could not take `id` after all. It goes first when the host next asks; the
    /// scheduler, whose decision stands, is not told.
    ///
    /// # Errors
    /// [`HostError::WrongState`] unless it is in flight, [`HostError::TimeWentBack`].
    pub fn requeue(&mut self, now: Instant, id: RequestId) -> Result<(), HostError> {
        self.expect(id, State::InFlight)?;
        self.advance(now)?;
        self.table.returned(id);
        Ok(())
    }

    /// Withdraws the waiting request `id` with its parts. Their ids are free again.
    ///
    /// # Errors
    /// [`HostError::WrongState`] unless it waits, [`HostError::TimeWentBack`].
    pub fn cancel(&mut self, now: Instant, id: RequestId) -> Result<(), HostError> {
        self.expect(id, State::Waiting)?;
        self.advance(now)?;
        self.scheduler.remove(Cx { now, requests: &self.table, device: &self.device, notes: None }, id);
        if self.device.merging != Merging::Off {
            self.merger.drop(id, &mut self.table);
        }
        self.table.free(id);
        Ok(())
    }

    /// The process `who` has exited. Its weight is the default again, for whoever gets its number.
    ///
    /// # Errors
    /// [`HostError::TimeWentBack`].
    pub fn issuer_gone(&mut self, now: Instant, who: Issuer) -> Result<(), HostError> {
        self.advance(now)?;
        self.scheduler.issuer_gone(Cx { now, requests: &self.table, device: &self.device, notes: None }, who);
        self.table.weights.forget(who);
        Ok(())
    }

    /// Gives `who` a weight. Schedulers that share the disk by weights follow it from now on, and so
    /// does any that takes over.
    ///
    /// # Errors
    /// [`HostError::TooManyWeights`], [`HostError::TimeWentBack`].
    pub fn set_weight(&mut self, now: Instant, who: Issuer, weight: Weight) -> Result<(), HostError> {
        self.advance(now)?;
        if self.table.weights.set(who, weight) { Ok(()) } else { Err(HostError::TooManyWeights) }
    }

    /// Puts `successor` in the scheduler's place. Waiting requests move over in order of arrival
    /// with their arrival times; requests in flight complete into the successor. Nothing drains.
    ///
    /// # Errors
    /// [`HostError::TimeWentBack`].
    pub fn replace(&mut self, now: Instant, successor: S) -> Result<S, HostError> {
        self.advance(now)?;
        let old = core::mem::replace(&mut self.scheduler, successor);
        let Queue { scheduler, table, device, .. } = self;
        table.sort_by_arrival();
        let cx = Cx { now, requests: table, device, notes: None };
        for id in table.by_arrival() {
            match table.state(id) {
                State::Waiting => scheduler.insert(cx, id),
                _ => scheduler.adopt(cx, id),
            }
        }
        Ok(old)
    }

    /// From now on schedulers say why they decide as they do.
    pub fn explain(&mut self) {
        self.notes = Some(Notes::default());
    }

    /// Why the last dispatch call was answered as it was, if [`Queue::explain`] was called and the
    /// scheduler has said.
    pub fn why(&self) -> Option<Why> {
        self.notes.as_ref()?.take()
    }

    /// How much of a queue of `size` requests may be of which kind, until the next event: for a host that keeps
    /// the rest outside by other means than [`Queue::room`].
    pub fn quota(&self, size: usize) -> Quota {
        self.scheduler.quota(size)
    }

    /// What may enter now. The scheduler's wish, not a rule: `insert` takes whatever there is an id for.
    #[inline]
    pub fn room(&self) -> Room {
        let quota = self.scheduler.quota(self.table.capacity());
        quota.room(self.table.asynchronous(), self.table.sync_writes())
    }

    /// The time of the last call.
    #[inline]
    pub fn now(&self) -> Instant {
        self.now
    }

    /// The request under `id`, as large as merging has made it.
    pub fn request(&self, id: RequestId) -> &Request {
        &self.table[id]
    }

    /// All requests.
    pub fn requests(&self) -> &Table {
        &self.table
    }

    /// The device as the scheduler sees it.
    pub fn device(&self) -> &Device {
        &self.device
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
        self.merges
    }

    #[inline]
    fn advance(&mut self, now: Instant) -> Result<(), HostError> {
        if now < self.now {
            return Err(HostError::TimeWentBack(now));
        }
        self.now = now;
        Ok(())
    }

    /// An error unless `id` is in this state.
    #[inline]
    pub(crate) fn expect(&self, id: RequestId, wanted: State) -> Result<(), HostError> {
        let Some(state) = self.table.state_of(id) else { return Err(HostError::BeyondCapacity(id)) };
        if state == wanted { Ok(()) } else { Err(HostError::WrongState(id, state)) }
    }
}
