//! Processes that are about to exit: announced by the workload, carried out by the engine.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use idlewise_core::{Instant, Issuer};

/// Who exits, and when. A process exits once, after its last request is done.
#[derive(Debug, Default)]
pub struct Exits {
    pending: BinaryHeap<Reverse<(Instant, Issuer)>>,
}

impl Exits {
    /// `who` exits at this time, which is not in the past.
    pub fn announce(&mut self, at: Instant, who: Issuer) {
        self.pending.push(Reverse((at, who)));
    }

    /// When the next one exits.
    #[inline]
    pub fn next(&self) -> Option<Instant> {
        self.pending.peek().map(|Reverse((at, _))| *at)
    }

    /// Somebody who has exited by `now`, the earliest first.
    pub fn take(&mut self, now: Instant) -> Option<Issuer> {
        self.next().filter(|at| *at <= now)?;
        self.pending.pop().map(|Reverse((_, who))| who)
    }
}
