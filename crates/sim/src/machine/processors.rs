//! The machine's processors: who wants one gets the first that is free, in order of asking.

use idlewise_core::{Duration, Instant};

/// Processors, by the time until which each is busy.
#[derive(Clone, Debug)]
pub(super) struct Processors {
    busy: Vec<Instant>,
}

impl Processors {
    /// This number of processors, all idle; one at least.
    pub(super) fn new(count: u32) -> Processors {
        Processors { busy: vec![Instant::ZERO; count.max(1) as usize] }
    }

    /// When one is free.
    pub(super) fn free_at(&self) -> Instant {
        self.busy.iter().min().copied().unwrap_or_default()
    }

    /// Somebody wants a processor for `time` from `now` on. Returns when that is over.
    pub(super) fn spend(&mut self, now: Instant, time: Duration) -> Instant {
        let first = self.busy.iter_mut().min();
        let Some(busy) = first else { return now + time };
        *busy = now.max(*busy) + time;
        *busy
    }
}
