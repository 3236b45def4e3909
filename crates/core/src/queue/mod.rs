//! The queue: what a host holds.
//!
//! It keeps the requests, merges neighbours, checks the host's calls, and asks its scheduler. The
//! scheduler can be exchanged at any moment with requests waiting and in flight.

mod merge;
mod table;

use core::fmt;

pub use table::{State, Table};

use crate::collections::OutOfMemory;
use crate::device::{Device, Merging};
use crate::registry::{Assignment, BuildError, Entry};
use crate::request::Request;
use crate::scheduler::{Cx, Decision, Scheduler, Setup};
use crate::schedulers::AnyScheduler;
use crate::tunables::TunableError;
use crate::units::{Instant, Issuer, RequestId};
use crate::why::{Notes, Why};
use merge::{Merger, Side};

/// A call that the host should not have made. Nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostError {
    /// All request ids are in use: complete something first, or build a larger queue.
    Full,
    /// The id is at or beyond the queue's capacity.
    BeyondCapacity(RequestId),
    /// The request is not in the state that the call wants.
    WrongState(RequestId, State),
    /// The time lies before that of an earlier call.
    TimeWentBack(Instant),
}

impl fmt::Display for HostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HostError::Full => {
                f.write_str("the queue is full: complete a request first, or build a larger queue")
            }
            HostError::BeyondCapacity(id) => write!(f, "request {id} is beyond the queue's capacity"),
            HostError::WrongState(id, state) => write!(f, "request {id} is {state}: the call does not fit"),
            HostError::TimeWentBack(now) => {
                write!(f, "time went back to {now}: pass times that never decrease")
            }
        }
    }
}

impl core::error::Error for HostError {}

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
        Ok(self.admit(id, Request { arrival: now, ..request }))
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
        Ok(self.admit(id, Request { arrival: now, ..request }))
    }

    /// Adds `request`, which arrives now, under the free `id`.
    #[inline]
    fn admit(&mut self, id: RequestId, request: Request) -> Inserted {
        self.table.insert(id, request);
        if self.device.merging != Merging::Off {
            if let Some((into, side)) = self.find_merge(&request) {
                return self.merge(id, into, side);
            }
            self.merger.add(id, &request);
        }
        let Queue { scheduler, table, device, .. } = self;
        scheduler.insert(Cx { now: request.arrival, requests: table, device, notes: None }, id);
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
        if let Some(id) = self.table.take_returned() {
            return Ok(Decision::Dispatch(id));
        }
        let (requests, device) = (&self.table, &self.device);
        let decision = self.scheduler.dispatch(Cx { now, requests, device, notes: self.notes.as_ref() });
        match decision {
            Decision::Dispatch(id) => {
                assert!(
                    self.table.state(id) == State::Waiting,
                    "the scheduler gave out {id}, which does not wait"
                );
                if self.device.merging != Merging::Off {
                    self.merger.drop(id, &self.table[id]);
                }
                self.table.dispatched(id);
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
            self.merger.drop(id, &self.table[id]);
        }
        self.table.free(id);
        Ok(())
    }

    /// The process `who` has exited.
    ///
    /// # Errors
    /// [`HostError::TimeWentBack`].
    pub fn issuer_gone(&mut self, now: Instant, who: Issuer) -> Result<(), HostError> {
        self.advance(now)?;
        self.scheduler.issuer_gone(Cx { now, requests: &self.table, device: &self.device, notes: None }, who);
        Ok(())
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

    #[inline]
    fn expect(&self, id: RequestId, wanted: State) -> Result<(), HostError> {
        if id.index() >= self.table.capacity() {
            return Err(HostError::BeyondCapacity(id));
        }
        let state = self.table.state(id);
        if state == wanted { Ok(()) } else { Err(HostError::WrongState(id, state)) }
    }

    /// The waiting request that `new` can join: the last one touched, then one that ends where it
    /// begins, then one that begins where it ends.
    #[inline]
    fn find_merge(&self, new: &Request) -> Option<(RequestId, Side)> {
        let fits = |id: RequestId| self.fits(id, new);
        if let Some(last) = self.merger.last()
            && let Some(side) = Side::between(&self.table[last], new)
            && fits(last)
        {
            return Some((last, side));
        }
        if self.device.merging == Merging::LastOnly {
            return None;
        }
        if let Some(id) = self.merger.ending_at(new.start, &self.table, fits) {
            return Some((id, Side::Back));
        }
        if !self.scheduler.front_merges() {
            return None;
        }
        self.merger.starting_at(new.end(), &self.table, fits).map(|id| (id, Side::Front))
    }

    /// Whether `new` may become part of the waiting request `id`, which it touches.
    fn fits(&self, id: RequestId, new: &Request) -> bool {
        merge::compatible(&self.table[id], new, &self.device)
            && self.table.parts_count(id) < self.device.max_parts
            && self.scheduler.may_merge(
                Cx { now: self.now, requests: &self.table, device: &self.device, notes: None },
                id,
                new,
            )
    }

    /// Makes the new request `id` a part of `into`, then joins `into` with a neighbour it now touches.
    fn merge(&mut self, id: RequestId, into: RequestId, side: Side) -> Inserted {
        self.merges += 1;
        self.merger.drop(into, &self.table[into]);
        self.table.join(into, id);
        let cx = Cx { now: self.now, requests: &self.table, device: &self.device, notes: None };
        self.scheduler.grown(cx, into);
        self.merger.add(into, &self.table[into]);
        let into = self.coalesce(into, side);
        match side {
            Side::Back => Inserted::MergedBack { id, into },
            Side::Front => Inserted::MergedFront { id, into },
        }
    }

    /// Joins `grown` with the waiting request that it touches on `side`, if they fit together.
    /// Returns the request that holds `grown` now.
    fn coalesce(&mut self, grown: RequestId, side: Side) -> RequestId {
        if self.device.merging != Merging::All {
            return grown;
        }
        let extent = self.table[grown];
        let cx = Cx { now: self.now, requests: &self.table, device: &self.device, notes: None };
        let fits = |id: RequestId| {
            let parts = self.table.parts_count(id) + self.table.parts_count(grown);
            id != grown
                && merge::compatible(&self.table[id], &extent, &self.device)
                && parts <= self.device.max_parts
                && self.scheduler.may_merge(cx, id, &extent)
        };
        let neighbour = match side {
            Side::Back => self.merger.starting_at(extent.end(), &self.table, fits),
            Side::Front => self.merger.ending_at(extent.start, &self.table, fits),
        };
        let Some(other) = neighbour else { return grown };
        let (survivor, taken) = match side {
            Side::Back => (grown, other),
            Side::Front => (other, grown),
        };
        self.merges += 1;
        self.merger.drop(survivor, &self.table[survivor]);
        self.merger.drop(taken, &self.table[taken]);
        self.table.join(survivor, taken);
        let cx = Cx { now: self.now, requests: &self.table, device: &self.device, notes: None };
        self.scheduler.absorbed(cx, survivor, taken);
        self.merger.add(survivor, &self.table[survivor]);
        survivor
    }
}

impl Queue<AnyScheduler> {
    /// A queue for up to `capacity` requests, waiting or in flight, under the scheduler of `entry`
    /// with these settings.
    ///
    /// # Errors
    /// [`BuildError`] if a setting does not fit or memory is exhausted.
    pub fn new(
        capacity: usize,
        device: Device,
        entry: &Entry,
        settings: &[Assignment<'_>],
    ) -> Result<Self, BuildError> {
        Queue::with(capacity, device, |setup| entry.build(setup, settings))
    }

    /// Goes on with another scheduler. Waiting requests move over in order of arrival with their
    /// arrival times; requests in flight complete into it. Nothing drains, nobody blocks.
    ///
    /// # Errors
    /// [`SwitchError`]; the old scheduler then goes on.
    pub fn switch_to(
        &mut self,
        now: Instant,
        entry: &Entry,
        settings: &[Assignment<'_>],
    ) -> Result<(), SwitchError> {
        let setup = Setup { capacity: self.table.capacity(), device: &self.device };
        let successor = entry.build(setup, settings)?;
        self.replace(now, successor)?;
        Ok(())
    }

    /// Sets a tunable of the scheduler.
    ///
    /// # Errors
    /// [`TunableError::Unknown`], [`TunableError::OutOfRange`].
    pub fn set(&mut self, tunable: &str, value: u64) -> Result<(), TunableError> {
        self.scheduler.set(tunable, value)
    }
}

/// Why a queue could not switch to another scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SwitchError {
    /// The other scheduler could not be built.
    Build(BuildError),
    /// The call did not fit.
    Host(HostError),
}

impl From<BuildError> for SwitchError {
    fn from(error: BuildError) -> Self {
        SwitchError::Build(error)
    }
}

impl From<HostError> for SwitchError {
    fn from(error: HostError) -> Self {
        SwitchError::Host(error)
    }
}

impl fmt::Display for SwitchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SwitchError::Build(error) => error.fmt(f),
            SwitchError::Host(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for SwitchError {}
