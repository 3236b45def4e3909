//! Room in the queue: what may enter it now, and what waits outside so that others find room.
//!
//! A queue holds so many requests and no more. Writers that nobody waits for issue many at once; if they
//! could fill the queue, a reader would wait outside until one of them is done. Linux's schedulers
//! limit how many of the queue's tags such requests may have (`limit_depth`); here a scheduler says what has
//! room, and a host that knows where to keep the rest asks before it inserts.

use crate::request::{Operation, Request};

/// A request as a quota sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Entrant {
    /// A synchronous read or a flush: never limited.
    #[default]
    Free,
    /// A synchronous write or discard.
    SyncWrite,
    /// A request that nobody waits for.
    Async,
}

impl Entrant {
    /// What `request` is.
    #[inline]
    pub fn of(request: &Request) -> Entrant {
        use Entrant::{Async, Free, SyncWrite};
        // Looked up rather than branched on: what comes next is hard to predict.
        let [asynchronous, sync] = match request.operation {
            Operation::Read => [Async, Free],
            Operation::Write | Operation::Discard => [Async, SyncWrite],
            Operation::Flush => [Free, Free],
        };
        if request.sync { sync } else { asynchronous }
    }
}

/// How many requests of a kind the queue may hold at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    /// Of all but synchronous reads and flushes.
    pub others: usize,
    /// Of asynchronous requests, which `others` counts too.
    pub asynchronous: usize,
}

impl Quota {
    /// As many as there is memory for.
    pub const NONE: Quota = Quota { others: usize::MAX, asynchronous: usize::MAX };

    /// What has room in a queue that holds so many. Whatever the quota, one of each kind has.
    #[inline]
    pub(crate) fn room(self, asynchronous: usize, sync_writes: usize) -> Room {
        let all = asynchronous + sync_writes < self.others.max(1);
        Room { sync_writes: all, asynchronous: all && asynchronous < self.asynchronous.max(1) }
    }
}

/// Which requests may enter the queue, as far as its scheduler limits them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Synchronous writes may enter.
    pub sync_writes: bool,
    /// Asynchronous requests may enter.
    pub asynchronous: bool,
}

impl Room {
    /// Nothing is limited.
    pub const ALL: Room = Room { sync_writes: true, asynchronous: true };

    /// Whether `entrant` may enter.
    #[inline]
    pub const fn admits(self, entrant: Entrant) -> bool {
        match entrant {
            Entrant::Free => true,
            Entrant::SyncWrite => self.sync_writes,
            Entrant::Async => self.asynchronous,
        }
    }
}
