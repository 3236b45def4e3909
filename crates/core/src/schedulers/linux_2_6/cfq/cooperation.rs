//! Close cooperators: processes that read near each other share a queue in the end.
//!
//! When the queue that has the disk is empty, another whose next request is close takes over at once.
//! The processes of the one are then to use the other's queue: each moves with its next request. If
//! together they seek far for more than a second, each gets a queue of its own again with its next one.

use alloc::vec::Vec;

use crate::collections::{OutOfMemory, table};
use crate::units::{Duration, Instant};

/// Linux's `CFQQ_COOP_TOUT`: for longer than this, processes that share a queue may not seek far.
const PATIENCE: Duration = Duration::from_s(1);

/// Who uses one queue.
#[derive(Clone, Copy, Default)]
struct Sharing {
    /// Processes that use it, and those that will.
    users: u32,
    /// The queue's processes are to use this one instead.
    merges_into: Option<u32>,
    /// Processes have come from other queues.
    shared: bool,
    /// Since when its processes together seek far, if they came from several queues.
    seeky_since: Option<Instant>,
}

/// Which queue the next request of a process goes to.
pub(super) enum Next {
    /// The one that it uses.
    Same,
    /// The one that it uses, which is its own again.
    Own,
    /// Another one, which it uses from now on.
    Other(u32),
    /// A new one: it parts from the others.
    New,
}

/// Who uses which queue.
pub(super) struct Cooperation {
    queues: Vec<Sharing>,
}

impl Cooperation {
    pub(super) fn new(queues: usize) -> Result<Cooperation, OutOfMemory> {
        Ok(Cooperation { queues: table(queues, Sharing { users: 1, ..Sharing::default() })? })
    }

    fn of(&mut self, index: u32) -> &mut Sharing {
        &mut self.queues[index as usize]
    }

    /// One process uses `index`, which is new.
    pub(super) fn open(&mut self, index: u32) {
        *self.of(index) = Sharing { users: 1, ..Sharing::default() };
    }

    /// The processes of `index` seek far, or do not.
    #[inline]
    pub(super) fn seeks(&mut self, now: Instant, index: u32, far: bool) {
        let sharing = self.of(index);
        if sharing.shared {
            sharing.seeky_since = far.then(|| sharing.seeky_since.unwrap_or(now));
        }
    }

    /// The processes of one of the two are to use the queue of the other: of the fewer processes.
    pub(super) fn join(&mut self, index: u32, other: u32) {
        if self.of(index).merges_into.is_some() {
            return;
        }
        let mut target = other;
        while let Some(further) = self.of(target).merges_into {
            target = further;
        }
        let (own, others) = (self.of(index).users, self.of(target).users);
        if own == 0 || others == 0 || target == index {
            return;
        }
        let (from, to, users) = if others >= own { (index, target, own) } else { (target, index, others) };
        self.of(from).merges_into = Some(to);
        self.of(to).users += users;
    }

    /// Which queue a process that uses `index` is to use for its next request.
    #[inline]
    pub(super) fn next(&mut self, now: Instant, index: u32) -> Next {
        let sharing = self.of(index);
        let parts = sharing.shared && sharing.seeky_since.is_some_and(|since| now.since(since) > PATIENCE);
        if parts && sharing.users > 1 {
            return Next::New;
        }
        if parts {
            (sharing.seeky_since, sharing.shared) = (None, false);
        }
        let Some(target) = sharing.merges_into else { return if parts { Next::Own } else { Next::Same } };
        sharing.users -= 1;
        self.of(target).shared = true;
        Next::Other(target)
    }

    /// A process uses `index` no longer. Returns the queue that it was to use instead, which it leaves, too.
    pub(super) fn leave(&mut self, index: u32) -> Option<u32> {
        self.of(index).users -= 1;
        self.of(index).merges_into
    }

    /// Whether nobody uses `index`. Then nobody moves from it either, and its target may be closed.
    #[inline]
    pub(super) fn abandoned(&mut self, index: u32) -> bool {
        let sharing = self.of(index);
        if sharing.users == 0 {
            sharing.merges_into = None;
        }
        sharing.users == 0
    }
}
