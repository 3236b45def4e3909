//! Admission: which requests may enter the queue now, and which wait outside.
//!
//! A queue holds a limited number of requests. Writers that nobody waits for issue many at once; if they could fill the
//! queue, a reader would wait outside until one of them is done. Linux's schedulers limit how many of the queue's tags
//! such requests may have (`limit_depth`). Here a scheduler states its limits, and a host that knows where to keep the
//! rest asks before it inserts.

use crate::request::{Operation, Request};

/// A request as a depth limit sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AdmissionClass {
    /// A synchronous read, a flush, or what goes past the scheduler: never limited.
    #[default]
    Free,
    /// A synchronous write or discard.
    SyncWrite,
    /// A request that nobody waits for.
    Async,
}

impl AdmissionClass {
    /// What `request` is.
    #[inline]
    pub fn of(request: &Request) -> AdmissionClass {
        use AdmissionClass::{Async, Free, SyncWrite};
        // Looked up rather than branched on: what comes next is hard to predict.
        let [asynchronous, sync] = match request.operation {
            Operation::Read => [Async, Free],
            Operation::Write | Operation::Discard => [Async, SyncWrite],
            Operation::Flush => [Free, Free],
        };
        if request.past {
            Free
        } else if request.sync {
            sync
        } else {
            asynchronous
        }
    }
}

/// How many requests of a kind the queue may hold at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DepthLimit {
    /// Of all but synchronous reads and flushes.
    pub others: usize,
    /// Of asynchronous requests, which `others` counts too.
    pub asynchronous: usize,
}

impl DepthLimit {
    /// As many as there is memory for.
    pub const NONE: DepthLimit = DepthLimit { others: usize::MAX, asynchronous: usize::MAX };

    /// What may enter a queue that holds these. Whatever the limit, one request of each kind may.
    #[inline]
    pub(crate) fn admits(self, asynchronous: usize, sync_writes: usize) -> Admission {
        let all = asynchronous + sync_writes < self.others.max(1);
        Admission { sync_writes: all, asynchronous: all && asynchronous < self.asynchronous.max(1) }
    }
}

/// Which requests may enter the queue, as far as its scheduler limits them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Admission {
    /// Synchronous writes may enter.
    pub sync_writes: bool,
    /// Asynchronous requests may enter.
    pub asynchronous: bool,
}

impl Admission {
    /// Nothing is limited.
    pub const ALL: Admission = Admission { sync_writes: true, asynchronous: true };

    /// Whether `entrant` may enter.
    #[inline]
    pub const fn admits(self, entrant: AdmissionClass) -> bool {
        match entrant {
            AdmissionClass::Free => true,
            AdmissionClass::SyncWrite => self.sync_writes,
            AdmissionClass::Async => self.asynchronous,
        }
    }
}
