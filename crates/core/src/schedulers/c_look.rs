//! Upward sweeps only: the head serves requests in ascending order and returns to the lowest.
//!
//! # How it decides
//! 1. Take the first request at or after the end of the last one dispatched.
//! 2. If there is none, take the request with the lowest address.
//!
//! Requests with equal addresses go in order of arrival.
//!
//! # Source
//! Textbooks. SOSP'01 calls it CSCAN (§3.3, "starts over at the first available request"); FreeBSD's
//! `disksort` is the same.
//!
//! # Good for, bad for
//! Good for deep queues of scattered requests: short seeks, and a wait that is alike everywhere on
//! the disk. Bad for synchronous processes: it serves them round robin, with a seek each.
//!
//! # Starvation
//! Unbounded: arrivals just ahead of the head hold it in place.

use crate::collections::{OutOfMemory, Sorted};
use crate::scheduler::{Algorithm, Cx, Decision, Scheduler, Setup, Starvation};
use crate::tunables;
use crate::units::{RequestId, Sector};

/// Upward sweeps only, from the lowest waiting request to the highest.
pub struct CLook {
    waiting: Sorted,
    /// Where the last request dispatched ends.
    head: Sector,
    tunables: tunables::Nothing,
}

impl Algorithm for CLook {
    const NAME: &'static str = "c-look";
    const SUMMARY: &'static str = "Sweeps upward over the waiting requests and starts again at the lowest.";
    const SOURCE: &'static str = "textbook; SOSP'01 §3.3 (there: CSCAN)";
    type Tunables = tunables::Nothing;

    fn new(setup: Setup<'_>, tunables: tunables::Nothing) -> Result<Self, OutOfMemory> {
        Ok(CLook { waiting: Sorted::new(setup.capacity)?, head: Sector(0), tunables })
    }

    fn tunables(&self) -> &tunables::Nothing {
        &self.tunables
    }

    fn tunables_mut(&mut self) -> &mut tunables::Nothing {
        &mut self.tunables
    }

    fn starvation(_: &tunables::Nothing) -> Starvation {
        Starvation::Unbounded
    }

    #[cfg(test)]
    fn reference(_: Setup<'_>, _: tunables::Nothing) -> alloc::boxed::Box<dyn Scheduler> {
        alloc::boxed::Box::new(tests::Reference::default())
    }
}

impl Scheduler for CLook {
    #[inline]
    fn insert(&mut self, cx: Cx<'_>, id: RequestId) {
        self.waiting.insert(cx[id].start.0, id);
    }

    #[inline]
    fn dispatch(&mut self, cx: Cx<'_>) -> Decision {
        let Some(id) = self.waiting.at_or_after(self.head.0).or_else(|| self.waiting.first()) else {
            return Decision::Idle;
        };
        self.waiting.remove(id);
        self.head = cx[id].end();
        Decision::Dispatch(id)
    }

    fn remove(&mut self, _: Cx<'_>, id: RequestId) {
        self.waiting.remove(id);
    }

    fn grown(&mut self, cx: Cx<'_>, id: RequestId) {
        let start = cx[id].start.0;
        if self.waiting.key(id) != start {
            self.waiting.remove(id);
            self.waiting.insert(start, id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suites::Pool;

    #[derive(Default)]
    pub(super) struct Reference {
        pool: Pool,
        head: u64,
    }

    impl Scheduler for Reference {
        fn insert(&mut self, cx: Cx<'_>, id: RequestId) {
            self.pool.insert(cx, id);
        }
        fn dispatch(&mut self, cx: Cx<'_>) -> Decision {
            let head = self.head;
            let Some(best) = self.pool.take_min_by(|start, _| (start < head, start)) else {
                return Decision::Idle;
            };
            self.head = cx[best].end().0;
            Decision::Dispatch(best)
        }
        fn remove(&mut self, _: Cx<'_>, id: RequestId) {
            self.pool.remove(id);
        }
        fn grown(&mut self, cx: Cx<'_>, id: RequestId) {
            self.pool.grown(cx, id);
        }
    }
}
