//! Processes that are about to exit: announced by the workload, carried out by the engine.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use idlewise_core::{Instant, Issuer};

/// Who exits, and when. A process exits once, after its last request is done.
#[derive(Debug)]
pub struct Exits {
    /// When the next one exits, at hand for those who ask at every event.
    next: Instant,
    pending: BinaryHeap<Reverse<(Instant, Issuer)>>,
}

impl Default for Exits {
    /// Nobody.
    fn default() -> Self {
        Exits { next: Instant::MAX, pending: BinaryHeap::new() }
    }
}

impl Exits {
    /// `who` exits at this time, which is not in the past.
    pub fn announce(&mut self, at: Instant, who: Issuer) {
        self.pending.push(Reverse((at, who)));
        self.next = self.next.min(at);
    }

    /// When the next one exits; [`Instant::MAX`] if nobody does.
    #[inline]
    pub fn next(&self) -> Instant {
        self.next
    }

    /// Somebody who has exited by `now`, the earliest first.
    pub fn take(&mut self, now: Instant) -> Option<Issuer> {
        if self.next > now {
            return None;
        }
        let first = self.pending.pop();
        self.next = self.pending.peek().map_or(Instant::MAX, |Reverse((at, _))| *at);
        first.map(|Reverse((_, who))| who)
    }
}
