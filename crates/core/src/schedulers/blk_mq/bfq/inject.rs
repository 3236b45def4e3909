//! Injection: how many requests of others may be dispatched while a queue is idled for.
//!
//! As many as do not make the queue's own requests slower by half: that is tried out. One request of the queue
//! in service at a time is watched, from its arrival to its completion.

use super::processes::Ref;
use crate::units::{Duration, Instant, RequestId};

/// The limit is learnt anew this long after it was lowered, raised again after that, and judged after that.
const FORGET: Duration = Duration::from_ms(1_000);
const RELEARN: Duration = Duration::from_ms(100);
const SETTLE: Duration = Duration::from_ms(10);

/// What is learnt about one queue.
#[derive(Clone, Copy, Default)]
pub(super) struct Limit {
    /// How many requests of others may go.
    pub(super) limit: u32,
    /// What a request takes if no others go: Linux's `last_serv_time_ns`. 0: not known.
    alone: Duration,
    lowered: Option<Instant>,
}

impl Limit {
    fn lowered_before(&self, span: Duration, now: Instant) -> bool {
        self.lowered.is_none_or(|since| since + span <= now)
    }
}

/// How the limit of the queue in service is learnt: from a request of it that is watched.
#[derive(Default)]
pub(super) struct Injection {
    /// When the watched request came.
    since: Instant,
    /// The watched request is the next to go.
    next: bool,
    /// The watched request, once it has been dispatched.
    request: Option<RequestId>,
    /// Others went since.
    pub(super) injected: bool,
}

impl Injection {
    /// A request of a process that has no other has come to a queue, which is `serving` or not and thinks for a
    /// `short` time or not.
    pub(super) fn note_request(
        &mut self,
        now: Instant,
        limit: &mut Limit,
        in_flight: u32,
        serving: bool,
        short: bool,
    ) {
        if limit.lowered_before(FORGET, now) {
            self.forget(now, limit, short);
        }
        let undisturbed = in_flight == 0;
        let disturbed = limit.alone > Duration::ZERO && self.injected && in_flight > 0;
        if serving && (undisturbed || disturbed) && limit.lowered_before(SETTLE, now) {
            (self.since, self.next) = (now, true);
            self.injected &= !undisturbed;
        }
    }

    fn forget(&mut self, now: Instant, limit: &mut Limit, short: bool) {
        self.request = None;
        *limit = Limit { limit: u32::from(!short), alone: Duration::ZERO, lowered: Some(now) };
    }

    /// Whether think times of a queue are `short` is another answer than so far.
    pub(super) fn note_thinking(&mut self, now: Instant, limit: &mut Limit, short: bool) {
        if limit.alone == Duration::ZERO && (limit.lowered_before(RELEARN, now) || !short) {
            self.forget(now, limit, short);
        }
    }

    /// `id`, of the queue in service, goes.
    pub(super) const fn send(&mut self, id: RequestId) {
        if self.next {
            (self.next, self.request) = (false, Some(id));
        }
    }

    /// `id` of a queue is done, while it still counts among the `in_flight`. If it was watched: what did others cost
    /// it? The device had `most` requests at once so far.
    pub(super) fn done(&mut self, now: Instant, limit: &mut Limit, id: RequestId, in_flight: u32, most: u32) {
        if self.request != Some(id) {
            return;
        }
        let took = now.since(self.since);
        let Limit { limit: before, alone, .. } = *limit;
        if alone > Duration::ZERO && self.injected {
            let slower = took.0 >= alone.0.saturating_mul(3) / 2;
            if slower && before > 0 {
                limit.limit -= 1;
                limit.lowered = Some(now);
            } else if !slower && before <= most {
                limit.limit += 1;
            }
        }
        if alone == Duration::ZERO && in_flight == 1 {
            limit.limit = before.max(1);
            limit.alone = took;
        } else if took < alone || !self.injected && in_flight == 1 {
            limit.alone = took;
        }
        (self.request, self.injected) = (None, false);
    }
}

/// Linux's times: a request so soon after another's completion may wait for it; so often for a waker; and in so
/// many times the time that is idled.
const SOON: Duration = Duration::from_ms(4);
const DETECTIONS: u32 = 3;
const DETECTION_SLICES: u64 = 128;

/// What is known of one queue's waker: a queue after whose completions it issues, as its process waits for theirs.
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

    /// A request that may wait for one of `other` has come, `since` the last completion. True if `other` has been
    /// suspected often enough to be the waker.
    pub(super) fn suspect(&mut self, now: Instant, other: Ref, since: Duration, idle: Duration) -> bool {
        if since >= SOON {
            return false;
        }
        if self.suspect == Some(other) && now <= self.since + idle * DETECTION_SLICES {
            self.seen += 1;
        } else {
            *self = Waker { suspect: Some(other), seen: 1, since: now, ..*self };
        }
        self.seen == DETECTIONS
    }
}
