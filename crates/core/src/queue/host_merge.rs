//! Merging by the host: a kernel's block layer joins requests by itself and then says what it did.
//!
//! For queues whose device has [`Merging::Off`](crate::Merging::Off). The host finds the neighbours;
//! the scheduler may veto and is told, as when the queue merges.

use super::{HostError, Queue};
use crate::request::Request;
use crate::request_table::State;
use crate::scheduler::Scheduler;
use crate::units::{Instant, RequestId, Sector, Sectors};

impl<S: Scheduler> Queue<S> {
    /// Whether the scheduler lets `new` become part of `id`, which it touches. Never if `id` does
    /// not wait, or is still to be handed to the scheduler that has taken over.
    #[inline]
    pub fn may_merge(&self, id: RequestId, new: &Request) -> bool {
        self.contents.expect_handed(id).is_ok() && self.scheduler.may_merge(self.contents.cx(), id, new)
    }

    /// Whether the scheduler wants requests looked for that begin where a new one ends.
    #[inline]
    pub fn front_merges(&self) -> bool {
        self.scheduler.front_merges()
    }

    /// The host has made the waiting request `id` larger: this is its extent now.
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
        self.contents.expect_handed(id)?;
        self.contents.advance(now)?;
        self.contents.merges += 1;
        self.contents.table.resize(id, start, length);
        self.scheduler.grown(self.contents.cx(), id);
        Ok(())
    }

    /// The host has made the waiting request `taken` a part of `survivor`, which waits too and
    /// touches it. The id of `taken` is free again.
    ///
    /// # Errors
    /// [`HostError::WrongState`] unless both wait, [`HostError::NotHandedOver`], [`HostError::BeyondCapacity`],
    /// [`HostError::TimeWentBack`].
    pub fn absorbed(&mut self, now: Instant, survivor: RequestId, taken: RequestId) -> Result<(), HostError> {
        self.contents.expect_handed(survivor)?;
        self.contents.expect_handed(taken)?;
        if survivor == taken {
            return Err(HostError::WrongState(taken, State::Waiting));
        }
        self.contents.advance(now)?;
        self.contents.merges += 1;
        self.contents.table.take_in(survivor, taken);
        self.scheduler.absorbed(self.contents.cx(), survivor, taken);
        self.contents.table.withdraw(taken);
        Ok(())
    }
}
