//! What a queue keeps beside its scheduler: the time, the requests, which of them are neighbours, and reasons.

use alloc::collections::VecDeque;

use super::HostError;
use super::merge::Merger;
use crate::collections::OutOfMemory;
use crate::device::{Device, Merging};
use crate::request_table::{State, Table};
use crate::scheduler::Cx;
use crate::units::{Instant, Issuer, RequestId};
use crate::why::{Notes, Why};

/// All of a queue but its scheduler.
pub(super) struct Contents {
    pub(super) now: Instant,
    pub(super) device: Device,
    pub(super) table: Table,
    pub(super) merger: Merger,
    /// How many requests became part of another.
    pub(super) merges: u64,
    /// Who has exited while requests were handed over.
    pub(super) exits: VecDeque<Issuer>,
    /// Reasons for decisions, if the host asked for them.
    notes: Option<Notes>,
}

impl Contents {
    pub(super) fn new(capacity: usize, device: Device) -> Result<Contents, OutOfMemory> {
        let (table, merger) = (Table::new(capacity)?, Merger::new(capacity)?);
        let mut exits = VecDeque::new();
        // Most of those who exit have no request here, so room for one of each request is plenty.
        exits.try_reserve_exact(capacity).map_err(|_| OutOfMemory)?;
        Ok(Contents { now: Instant::ZERO, device, table, merger, merges: 0, exits, notes: None })
    }

    /// What the scheduler sees, but for a decision.
    #[inline]
    pub(super) fn cx(&self) -> Cx<'_> {
        Cx::new(self.now, &self.table, &self.device, None)
    }

    /// What the scheduler sees when it decides: it may leave a reason.
    #[inline]
    pub(super) fn cx_for_decision(&self) -> Cx<'_> {
        if let Some(notes) = &self.notes {
            notes.take();
        }
        Cx::new(self.now, &self.table, &self.device, self.notes.as_ref())
    }

    /// From now on reasons are kept.
    pub(super) fn explain(&mut self) {
        self.notes = Some(Notes::default());
    }

    /// The reason of the last decision.
    pub(super) fn why(&self) -> Option<Why> {
        self.notes.as_ref()?.take()
    }

    /// `id` goes to the device. False if it does not wait.
    #[inline]
    pub(super) fn leave(&mut self, id: RequestId) -> bool {
        let Some(row) = self.table.dispatch(id) else { return false };
        if self.device.merging != Merging::Off {
            let slots = self.merger.slots(&row.request);
            if !self.merger.leave(id, slots, row.chain) {
                self.merger.drop(id, &mut self.table);
            }
        }
        true
    }

    /// `id`, which waits, is withdrawn with its parts.
    pub(super) fn withdraw(&mut self, id: RequestId) {
        if self.device.merging != Merging::Off {
            self.merger.drop(id, &mut self.table);
        }
        self.table.withdraw(id);
    }

    #[inline]
    pub(super) fn advance(&mut self, now: Instant) -> Result<(), HostError> {
        if now < self.now {
            return Err(HostError::TimeWentBack(now));
        }
        self.now = now;
        Ok(())
    }

    #[inline]
    pub(super) fn expect(&self, id: RequestId, wanted: State) -> Result<(), HostError> {
        let Some(state) = self.table.state_of(id) else { return Err(HostError::BeyondCapacity(id)) };
        if state == wanted { Ok(()) } else { Err(HostError::WrongState(id, state)) }
    }

    /// The same of a request that waits and that the scheduler has been handed: one that can take another in.
    #[inline]
    pub(super) fn expect_handed(&self, id: RequestId) -> Result<(), HostError> {
        self.expect(id, State::Waiting)?;
        if self.table.handed(id) { Ok(()) } else { Err(HostError::NotHandedOver(id)) }
    }
}
