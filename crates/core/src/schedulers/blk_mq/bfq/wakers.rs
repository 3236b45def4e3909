//! Wakers: queues after whose completions another one issues, because its process waits for theirs.

use super::processes::Ref;
use crate::units::{Duration, Instant};

/// Linux's times: a request so soon after another's completion may wait for it; so often for a waker; and in so
/// many times the time that is idled.
const SOON: Duration = Duration::from_ms(4);
const DETECTIONS: u32 = 3;
const DETECTION_SLICES: u64 = 128;

/// What is known of one queue.
#[derive(Clone, Copy, Default)]
pub(super) struct Waker {
    /// The queue that wakes this one.
    pub(super) known: Option<Ref>,
    suspect: Option<Ref>,
    seen: u32,
    since: Instant,
    /// The queue that was last found, or made busy, that this one wakes.
    pub(super) woken: Option<Ref>,
}

impl Waker {
    /// `waker` wakes this one.
    pub(super) const fn learn(&mut self, waker: Ref) {
        (self.known, self.suspect) = (Some(waker), None);
    }

    /// A request that may wait for that of `other` has come, `since` the last completion. True if `other` has been
    /// suspected often enough to be the waker.
    pub(super) fn suspect(
        &mut self,
        now: Instant,
        other: Ref,
        since: Duration,
        slice_idle: Duration,
    ) -> bool {
        if since >= SOON {
            return false;
        }
        if self.suspect == Some(other) && now <= self.since + slice_idle * DETECTION_SLICES {
            self.seen += 1;
        } else {
            *self = Waker { suspect: Some(other), seen: 1, since: now, ..*self };
        }
        self.seen == DETECTIONS
    }
}
