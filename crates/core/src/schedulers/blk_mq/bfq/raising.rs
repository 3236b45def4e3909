//! Which queues are raised, and how many of those that have something to do.

use super::raise::{ASYNC_APART, Claim, Kind, RAISED, Raise, passed};
use super::wf2q::Wf2q;
use crate::units::{Duration, Instant};

/// Linux's `bfq_merge_time_limit`: a queue that was served for longer is not merged.
const MERGE_TIME: Duration = Duration::from_ms(100);

/// A queue's raising, and what speaks for and against it.
#[derive(Clone, Copy)]
pub(super) struct Raised {
    raise: Raise,
    in_burst: bool,
    /// Once its requests in flight are done, it is planned when it may be a film's.
    plans_soft: bool,
    /// When it was first served since it has something to do.
    first_service: Instant,
}

impl Raised {
    pub(super) const fn new(now: Instant) -> Raised {
        Raised { raise: Raise::new(now), in_burst: false, plans_soft: false, first_service: now }
    }

    /// How the queue is raised.
    #[inline]
    pub(super) const fn raise(&self) -> &Raise {
        &self.raise
    }

    #[inline]
    pub(super) const fn is_on(&self) -> bool {
        self.raise.is_on()
    }

    pub(super) const fn in_burst(&self) -> bool {
        self.in_burst
    }

    /// The queue, which is busy, gets another request. True if that comes so long after the last that an
    /// asynchronous queue becomes interactive.
    pub(super) fn note_request(&mut self, now: Instant) -> bool {
        let last = self.raise.since();
        if !self.is_on() {
            self.raise.restart(now);
        }
        !self.is_on() && passed(Some(last), ASYNC_APART, now)
    }

    /// What speaks for raising the queue, which a request wakes after it was `away` or not; `calm` if the request
    /// has nothing in flight before it and does not only seek. `fit` if the queue is one process's, which waits for
    /// its requests.
    pub(super) fn claim(&self, now: Instant, away: bool, calm: bool, fit: bool) -> Claim {
        let Raised { raise, in_burst, .. } = *self;
        let interactive = !in_burst && away;
        let soft = calm && !in_burst && raise.may_be_soft(now);
        Claim { interactive, soft, in_burst, deserves: raise.is_on() || fit && (interactive || soft) }
    }

    /// The queue has something to do after nothing. If it `restarts`, how it is raised begins anew, or the time
    /// without that.
    pub(super) fn wake(&mut self, now: Instant, restarts: bool) {
        self.raise.wake(now);
        self.plans_soft = false;
        if restarts {
            self.raise.restart(now);
        }
    }

    /// The queue is served, or is charged as if.
    pub(super) fn serve(&mut self, now: Instant, sectors: u64) {
        if !self.raise.was_served() {
            self.first_service = now;
        }
        self.raise.serve(sectors);
    }

    /// Whether the queue has been served for so long that its process is known.
    pub(super) fn is_known(&self, now: Instant) -> bool {
        self.raise.was_served() && passed(Some(self.first_service), MERGE_TIME, now)
    }

    /// The queue goes into service, for which it waits since then.
    pub(super) fn taken(&mut self, now: Instant, waits_since: Option<Instant>) {
        self.raise.taken(now, waits_since);
    }

    /// The queue goes out of service: from when on may it be raised? It is empty or not, and done or has requests
    /// in flight.
    pub(super) fn plan(&mut self, now: Instant, empty: bool, done: bool, slice_idle: Duration) {
        if !self.is_on() {
            self.raise.restart(now);
        }
        if empty && done {
            self.raise.plan_soft(now, slice_idle);
        } else if empty {
            self.plans_soft = true;
        }
    }

    /// The last request of the queue, which is empty, is done.
    pub(super) fn note_done(&mut self, now: Instant, slice_idle: Duration) {
        if self.plans_soft && self.raise.factor() != RAISED {
            self.raise.plan_soft(now, slice_idle);
        }
    }

    pub(super) const fn set_in_burst(&mut self, in_burst: bool) {
        self.in_burst = in_burst;
    }
}

/// How many busy queues are raised.
#[derive(Default)]
pub(super) struct Raising {
    busy: u32,
}

impl Raising {
    /// How many busy queues are raised.
    pub(super) const fn busy(&self) -> u32 {
        self.busy
    }

    /// A queue has something to do from now on, or no longer.
    pub(super) fn set_busy(&mut self, queue: &Raised, busy: bool) {
        let count = u32::from(queue.is_on());
        self.busy = if busy { self.busy + count } else { self.busy - count };
    }

    /// Does what may change how `queue` is raised, and enters that in its weight and the count.
    pub(super) fn change<R>(
        &mut self,
        wf2q: &mut Wf2q,
        (queue, raised): (usize, &mut Raised),
        what: impl FnOnce(&mut Raise, bool) -> R,
    ) -> R {
        let before = raised.raise.kind();
        let result = what(&mut raised.raise, raised.in_burst);
        let after = raised.raise.kind();
        if before != after {
            wf2q.raise(queue, raised.raise.factor());
            if wf2q.is_busy(queue) {
                self.busy += u32::from(after != Kind::Not);
                self.busy -= u32::from(before != Kind::Not);
            }
        }
        result
    }
}
