//! Which queues are raised, and how many of those that have something to do.

use alloc::vec::Vec;

use super::burst::Burst;
use super::raise::{ASYNC_APART, Claim, Kind, RAISED, Raise, passed};
use super::wf2q::Wf2q;
use crate::collections::{OutOfMemory, table};
use crate::units::{Duration, Instant};

/// Linux's `bfq_merge_time_limit`: a queue that was served for longer is not merged.
const MERGE_TIME: Duration = Duration::from_ms(100);

/// A queue's raising, and what speaks for and against it.
#[derive(Clone, Copy)]
struct Queue {
    raise: Raise,
    in_burst: bool,
    /// Once its requests in flight are done, it is planned when it may be a film's.
    plans_soft: bool,
    /// When it was first served since it has something to do.
    first_service: Instant,
}

impl Queue {
    const fn new(now: Instant) -> Queue {
        Queue { raise: Raise::new(now), in_burst: false, plans_soft: false, first_service: now }
    }
}

/// The raising of all queues.
pub(super) struct Raising {
    queues: Vec<Queue>,
    /// Busy queues that are raised.
    busy: u32,
    burst: Burst<usize>,
}

impl Raising {
    pub(super) fn new(queues: usize) -> Result<Raising, OutOfMemory> {
        let queues = table(queues, Queue::new(Instant::ZERO))?;
        Ok(Raising { queues, busy: 0, burst: Burst::default() })
    }

    /// `queue` is another's from now on.
    pub(super) fn replace(&mut self, now: Instant, queue: usize) {
        self.queues[queue] = Queue::new(now);
    }

    #[inline]
    pub(super) fn is_on(&self, queue: usize) -> bool {
        self.queues[queue].raise.is_on()
    }

    pub(super) fn kind(&self, queue: usize) -> Kind {
        self.queues[queue].raise.kind()
    }

    /// By how much the weight of `queue` shall be raised.
    pub(super) fn factor(&self, queue: usize) -> u64 {
        self.queues[queue].raise.factor()
    }

    /// How `queue` is raised.
    pub(super) fn of(&self, queue: usize) -> &Raise {
        &self.queues[queue].raise
    }

    /// How many busy queues are raised.
    pub(super) const fn busy(&self) -> u32 {
        self.busy
    }

    /// `queue` has something to do from now on, or no longer.
    pub(super) fn set_busy(&mut self, queue: usize, busy: bool) {
        let count = u32::from(self.is_on(queue));
        self.busy = if busy { self.busy + count } else { self.busy - count };
    }

    /// Does what may change how `queue` is raised, and enters that in its weight and the count.
    pub(super) fn change<R>(
        &mut self,
        wf2q: &mut Wf2q,
        queue: usize,
        what: impl FnOnce(&mut Raise, bool) -> R,
    ) -> R {
        let Queue { raise, in_burst, .. } = &mut self.queues[queue];
        let before = raise.kind();
        let result = what(raise, *in_burst);
        let after = raise.kind();
        if before != after {
            wf2q.raise(queue, raise.factor());
            if wf2q.is_busy(queue) {
                self.busy += u32::from(after != Kind::Not);
                self.busy -= u32::from(before != Kind::Not);
            }
        }
        result
    }

    /// Ends all raising.
    pub(super) fn switch_off(&mut self, wf2q: &mut Wf2q) {
        (0..self.queues.len()).for_each(|queue| self.change(wf2q, queue, |raise, _| raise.switch_off()));
    }

    /// `queue`, which is busy, gets another request. Asynchronous requests that come rarely make their queue
    /// interactive, for `span`.
    pub(super) fn note_request(
        &mut self,
        now: Instant,
        wf2q: &mut Wf2q,
        queue: usize,
        sync: bool,
        span: Duration,
    ) {
        let raise = &mut self.queues[queue].raise;
        if raise.is_on() {
            return;
        }
        let last = raise.since();
        raise.restart(now);
        if !sync && passed(Some(last), ASYNC_APART, now) {
            self.change(wf2q, queue, |raise, _| raise.as_interactive(span));
        }
    }

    /// What speaks for raising `queue`, which a request wakes after it was `away` or not; `calm` if the request has
    /// nothing in flight before it and does not only seek. `fit` if it is one process's, which waits for its requests.
    pub(super) fn claim(&self, now: Instant, queue: usize, away: bool, calm: bool, fit: bool) -> Claim {
        let Queue { raise, in_burst, .. } = self.queues[queue];
        let interactive = !in_burst && away;
        let soft = calm && !in_burst && raise.may_be_soft(now);
        Claim { interactive, soft, in_burst, deserves: raise.is_on() || fit && (interactive || soft) }
    }

    /// `queue` has something to do after nothing.
    pub(super) fn wake(&mut self, now: Instant, queue: usize) {
        let queue = &mut self.queues[queue];
        queue.raise.wake(now);
        queue.plans_soft = false;
    }

    /// The raising of `queue`, or the time without it, begins anew.
    pub(super) fn restart(&mut self, now: Instant, queue: usize) {
        self.queues[queue].raise.restart(now);
    }

    /// `queue` is served, or is charged as if.
    pub(super) fn serve(&mut self, now: Instant, queue: usize, sectors: u64) {
        let queue = &mut self.queues[queue];
        if !queue.raise.was_served() {
            queue.first_service = now;
        }
        queue.raise.serve(sectors);
    }

    /// Whether `queue` has been served for so long that its process is known.
    pub(super) fn is_known(&self, now: Instant, queue: usize) -> bool {
        let queue = &self.queues[queue];
        queue.raise.was_served() && passed(Some(queue.first_service), MERGE_TIME, now)
    }

    /// `queue` goes into service, for which it waits since then.
    pub(super) fn taken(&mut self, now: Instant, queue: usize, waits_since: Option<Instant>) {
        self.queues[queue].raise.taken(now, waits_since);
    }

    /// `queue` goes out of service: from when on may it be raised? It is empty or not, and done or has requests
    /// in flight.
    pub(super) fn plan(&mut self, now: Instant, queue: usize, empty: bool, done: bool, slice_idle: Duration) {
        let Queue { raise, plans_soft, .. } = &mut self.queues[queue];
        if !raise.is_on() {
            raise.restart(now);
        }
        if empty && done {
            raise.plan_soft(now, slice_idle);
        } else if empty {
            *plans_soft = true;
        }
    }

    /// The last request of `queue`, which is empty, is done.
    pub(super) fn note_done(&mut self, now: Instant, queue: usize, slice_idle: Duration) {
        let Queue { raise, plans_soft, .. } = &mut self.queues[queue];
        if *plans_soft && raise.factor() != RAISED {
            raise.plan_soft(now, slice_idle);
        }
    }

    /// `queue` is created, while others are busy or not: it may be one of many.
    #[cold]
    pub(super) fn note_created(&mut self, now: Instant, queue: usize, others: bool) {
        if self.burst.is_empty() && others || self.queues[queue].in_burst {
            return;
        }
        for queue in self.burst.created(now, queue, others).into_iter().flatten() {
            self.queues[queue].in_burst = true;
        }
    }

    /// `queue` was away for so long that it is no longer part of a burst.
    pub(super) fn forget_burst(&mut self, queue: usize) {
        self.burst.leave(queue, false);
        self.queues[queue].in_burst = false;
    }

    /// The process of `queue` has exited.
    pub(super) fn exited(&mut self, queue: usize) {
        self.burst.leave(queue, true);
    }

    pub(super) fn in_burst(&self, queue: usize) -> bool {
        self.queues[queue].in_burst
    }

    /// Those who issued into `queue` issue into `host` from now on.
    pub(super) fn pass(&mut self, wf2q: &mut Wf2q, queue: usize, host: usize) {
        let mut raise = self.queues[queue].raise;
        self.change(wf2q, host, |host, _| raise.pass_to(host));
        self.change(wf2q, queue, |own, _| *own = raise);
    }
}
