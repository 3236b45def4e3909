//! The host kit: a queue, its clock, and a follower that may want another scheduler.
//!
//! A *host* is a program that drives a scheduler, never a machine: the simulator, a kernel, a server. A program that
//! holds a [`Host`] tells it what happened and when, and asks what to do next. The kit tells the follower of everything
//! that the queue is told. With a [`Chooser`](crate::selectors::Chooser) as the follower the kit also carries out what
//! the selector decides. `examples/vec_disk.rs` is a whole host in a few lines.

mod choosing;
mod follower;
#[cfg(test)]
mod tests;

pub use choosing::{chooser, settings};
pub use follower::Follower;

use crate::queue::{HostError, Inserted, Queue};
use crate::request::Request;
use crate::request_table::State;
use crate::scheduler::{Decision, Scheduler};
use crate::units::{Instant, Issuer, RequestId, Sector, Sectors};

/// A queue with its follower.
pub struct Host<S, F = ()> {
    queue: Queue<S>,
    follower: F,
}

impl<S: Scheduler, F: Follower> Host<S, F> {
    /// `queue`, as `follower` sees it from now on.
    pub fn new(queue: Queue<S>, follower: F) -> Self {
        Host { queue, follower }
    }

    /// The queue.
    #[inline]
    pub fn queue(&self) -> &Queue<S> {
        &self.queue
    }

    /// The follower.
    #[inline]
    pub fn follower(&self) -> &F {
        &self.follower
    }

    /// Both, to be changed.
    #[inline]
    pub fn parts(&mut self) -> (&mut Queue<S>, &mut F) {
        (&mut self.queue, &mut self.follower)
    }

    /// Both, apart again.
    pub fn into_parts(self) -> (Queue<S>, F) {
        (self.queue, self.follower)
    }

    /// The time of a call at `now`, which is not before the last call: for a host whose processors each read the
    /// clock before they take their turn.
    #[inline]
    pub fn at(&self, now: Instant) -> Instant {
        now.max(self.queue.now())
    }

    /// Adds `request`, which arrives now, under any free id.
    ///
    /// # Errors
    /// [`HostError::Full`], [`HostError::TimeWentBack`].
    #[inline]
    pub fn insert(&mut self, now: Instant, request: Request) -> Result<Inserted, HostError> {
        let inserted = self.queue.insert(now, request)?;
        if self.follower.follows() {
            self.tell_insertion(now, inserted, &request);
        }
        Ok(inserted)
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
        let inserted = self.queue.insert_as(now, id, request)?;
        if self.follower.follows() {
            self.tell_insertion(now, inserted, &request);
        }
        Ok(inserted)
    }

    #[inline(never)]
    fn tell_insertion(&mut self, now: Instant, inserted: Inserted, request: &Request) {
        self.follower.inserted(inserted, &Request { arrival: now, ..*request });
    }

    /// Asks what the device, which has room, should do next. What is returned goes to the device now.
    ///
    /// # Errors
    /// [`HostError::TimeWentBack`].
    #[inline]
    pub fn dispatch(&mut self, now: Instant) -> Result<Decision, HostError> {
        let decision = self.queue.dispatch(now)?;
        if let Decision::Dispatch(id) = decision {
            self.follower.dispatched(now, id);
        }
        Ok(decision)
    }

    /// The device has finished `id` and its parts, whose ids are free again.
    ///
    /// # Errors
    /// [`HostError::WrongState`] unless it is in flight, [`HostError::BeyondCapacity`],
    /// [`HostError::TimeWentBack`].
    #[inline]
    pub fn complete(&mut self, now: Instant, id: RequestId) -> Result<(), HostError> {
        if self.follower.follows() {
            self.tell_completion(now, id)?;
        }
        self.queue.complete(now, id)
    }

    // Apart, so that a host without a follower saves no registers for it.
    #[inline(never)]
    fn tell_completion(&mut self, now: Instant, id: RequestId) -> Result<(), HostError> {
        self.queue.expect(now, id, State::InFlight)?;
        let requests = self.queue.requests();
        for part in requests.parts(id) {
            self.follower.completed(now, part, requests.original(part));
        }
        Ok(())
    }

    /// The device could not take `id` after all, which goes first when the host next asks.
    ///
    /// # Errors
    /// [`HostError::WrongState`] unless it is in flight, [`HostError::BeyondCapacity`],
    /// [`HostError::TimeWentBack`].
    pub fn requeue(&mut self, now: Instant, id: RequestId) -> Result<(), HostError> {
        self.queue.requeue(now, id)
    }

    /// Withdraws the waiting request `id` with its parts.
    ///
    /// # Errors
    /// [`HostError::WrongState`] unless it waits, [`HostError::BeyondCapacity`],
    /// [`HostError::TimeWentBack`].
    pub fn cancel(&mut self, now: Instant, id: RequestId) -> Result<(), HostError> {
        self.leaves(now, id)?;
        self.queue.cancel(now, id)
    }

    /// The process `who` has exited.
    ///
    /// # Errors
    /// [`HostError::TimeWentBack`].
    pub fn exited(&mut self, now: Instant, who: Issuer) -> Result<(), HostError> {
        self.queue.issuer_gone(now, who)?;
        self.follower.exited(now, who);
        Ok(())
    }

    /// The waiting request `id`, to which the host itself has added, has this extent now. Nothing happens if it had.
    ///
    /// # Errors
    /// [`HostError::WrongState`] unless it waits, [`HostError::NotHandedOver`], [`HostError::BeyondCapacity`],
    /// [`HostError::TimeWentBack`].
    pub fn grown(
        &mut self,
        now: Instant,
        id: RequestId,
        start: Sector,
        length: Sectors,
    ) -> Result<(), HostError> {
        self.queue.expect_mergeable(now, id)?;
        let known = *self.queue.request(id);
        if known.start == start && known.length == length {
            return Ok(());
        }
        if self.follower.follows() {
            let first = if start < known.start { start } else { known.end() };
            let more = Sectors(length.0.saturating_sub(known.length.0));
            self.follower.joined(&Request { arrival: now, start: first, length: more, ..known });
        }
        self.queue.grown(now, id, start, length)
    }

    /// The host itself has made the waiting request `taken` a part of `survivor`, which waits too.
    ///
    /// # Errors
    /// [`HostError::WrongState`] unless both wait, [`HostError::NotHandedOver`], [`HostError::BeyondCapacity`],
    /// [`HostError::TimeWentBack`].
    pub fn absorbed(&mut self, now: Instant, survivor: RequestId, taken: RequestId) -> Result<(), HostError> {
        self.queue.expect_mergeable(now, survivor)?;
        self.queue.expect_mergeable(now, taken)?;
        if survivor != taken {
            self.leaves(now, taken)?;
        }
        self.queue.absorbed(now, survivor, taken)
    }

    /// Tells the follower that the waiting request `id` goes away with its parts.
    fn leaves(&mut self, now: Instant, id: RequestId) -> Result<(), HostError> {
        self.queue.expect(now, id, State::Waiting)?;
        if self.follower.follows() {
            let requests = self.queue.requests();
            requests.parts(id).for_each(|part| self.follower.left(requests.original(part)));
        }
        Ok(())
    }
}
