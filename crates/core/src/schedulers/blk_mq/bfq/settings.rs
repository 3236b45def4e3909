//! Tunables of [`Bfq`](super::Bfq), and what follows from them.

use crate::schedulers::shared::nearer::Back;
use crate::tunables::{Count, Kibibytes, Milliseconds, SectorCount};
use crate::units::Duration;

crate::tunables! {
    /// Tunables of [`Bfq`](super::Bfq). Names, units and defaults are Linux's.
    pub struct Settings {
        /// When an asynchronous request is overdue.
        fifo_expire_async: Milliseconds = 250, 1..=3_600_000;
        /// When a synchronous request is overdue.
        fifo_expire_sync: Milliseconds = 125, 1..=3_600_000;
        /// How far back the head may go within a queue.
        back_seek_max: Kibibytes = 16_384, 0..=2_147_483_647;
        /// How many times longer than a seek forward a seek backward counts.
        back_seek_penalty: Count = 2, 1..=2_147_483_647;
        /// How long a process is waited for. 0: not at all.
        slice_idle: Milliseconds = 8, 0..=3_600_000;
        /// How long a queue is in service at most, unless it is raised.
        timeout_sync: Milliseconds = 125, 1..=3_600_000;
        /// The greatest budget of a queue. 0: what the device can do in timeout_sync.
        max_budget: SectorCount = 0, 0..=2_147_483_647;
        /// Wait for every process, and give the device one request at a time.
        strict_guarantees: bool = 0, 0..=1;
        /// Raise queues that seem interactive or to play a film.
        low_latency: bool = 1, 0..=1;
    }
}

/// Linux's default `slice_idle`: the least with `strict_guarantees`.
const LEAST_STRICT: Duration = Duration::from_ms(8);

impl Settings {
    /// How long a process is waited for.
    pub(super) fn idle_time(&self) -> Duration {
        let set = self.slice_idle.0;
        if self.strict_guarantees { set.max(LEAST_STRICT) } else { set }
    }

    /// Cost of seeking backward.
    pub(super) fn back(&self) -> Back {
        let furthest = self.back_seek_max.0.saturating_mul(2);
        Back { furthest, penalty: self.back_seek_penalty.0 }
    }

    /// How long after its arrival a request is overdue.
    pub(super) fn expiry(&self, sync: bool) -> Duration {
        if sync { self.fifo_expire_sync.0 } else { self.fifo_expire_async.0 }
    }
}
