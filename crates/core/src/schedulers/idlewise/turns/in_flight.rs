//! Requests in the drive: since when.

use crate::collections::{Fifos, List, OutOfMemory};
use crate::units::{Instant, RequestId};

/// Requests in flight, in order of dispatch.
pub(super) struct InFlight {
    sent: Fifos<Instant>,
    list: List,
}

impl InFlight {
    pub(super) fn new(capacity: usize) -> Result<Self, OutOfMemory> {
        Ok(InFlight { sent: Fifos::new(capacity)?, list: List::default() })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// All, the one first that was sent first.
    pub(super) fn iter(&self) -> impl Iterator<Item = RequestId> + '_ {
        self.sent.iter(&self.list)
    }

    /// When the one that has been in the drive for longest was sent.
    pub(super) fn oldest(&self) -> Option<Instant> {
        self.list.front().map(|id| self.sent.mark(id))
    }

    pub(super) fn push(&mut self, now: Instant, id: RequestId) {
        self.sent.push(&mut self.list, id, now);
    }

    /// Takes `id` out. Returns when it was sent.
    pub(super) fn take(&mut self, id: RequestId) -> Instant {
        self.sent.remove(&mut self.list, id);
        self.sent.mark(id)
    }
}
