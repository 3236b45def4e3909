//! Service: which queue is served, how its service begins and ends, and how long it is idled for.

use super::budget::Reason;
use super::idling;
use super::queues::Queues;
use super::raise::Kind;
use super::rate::Sent;
use super::slot::Slot;
use crate::request::Class;
use crate::scheduler::Cx;
use crate::units::{Instant, Issuer, RequestId, Sector};

/// Queues without requests that may wait for their turn, because they would else lose their share.
const EMPTY_MAX: usize = 32;

/// How the last service ended, until a request goes.
#[derive(Clone, Copy)]
pub(super) struct Ended {
    pub(super) who: Option<Issuer>,
    pub(super) reason: Reason,
    pub(super) service: u64,
    /// For slow queues: what it was charged instead.
    pub(super) charged: Option<u64>,
}

/// What is served next.
pub(super) enum Selected {
    /// The next request of this queue, which is in service, at this cost.
    Own(usize, RequestId, u64),
    /// This queue is in service and idled for.
    Idled(usize),
    Nothing,
}

/// All queues, and the one in service.
pub(super) struct Service {
    pub(super) queues: Queues,
    slot: Slot,
    ended: Option<Ended>,
}

impl Service {
    pub(super) fn new(queues: Queues) -> Service {
        Service { queues, slot: Slot::default(), ended: None }
    }

    /// How the last service ended; asked once.
    pub(super) const fn take_ended(&mut self) -> Option<Ended> {
        self.ended.take()
    }

    /// How far `start` is from where the queue in service was served last.
    pub(super) const fn distance(&self, start: Sector) -> u64 {
        self.slot.distance(start)
    }

    /// Until when the queue in service is idled for, if it is and its time is not over earlier.
    pub(super) fn idles_until(&self, cx: Cx<'_>, queue: usize) -> Option<Instant> {
        let until = self.slot.idle_until()?;
        let timeout = self.queues.budgets.timeout(queue).filter(|timeout| *timeout > cx.now);
        let ends = timeout.filter(|_| {
            self.queues.wf2q.has_third_left(queue) && !idling::is_better(&self.queues, cx, queue)
        });
        Some(ends.map_or(until, |timeout| until.min(timeout)))
    }

    /// Lets idling end, if its time has come. Calls do that first, as of that time, so that it does not
    /// matter whether the host asked then.
    #[inline]
    pub(super) fn catch_up(&mut self, cx: Cx<'_>) {
        if let Some(until) = self.slot.idle_until().filter(|until| *until <= cx.now) {
            self.give_up(Cx { now: until, ..cx });
        }
    }

    fn give_up(&mut self, cx: Cx<'_>) {
        self.slot.stop_idling();
        let Some(queue) = self.queues.wf2q.in_service() else { return };
        if self.queues.budgets.is_over(cx.now, queue) {
            self.expire(cx, queue, Reason::Timeout, true);
        } else if self.queues.requests.is_empty(queue) {
            self.expire(cx, queue, Reason::TooIdle, true);
        }
    }

    /// Its time is over, and that ends its service: while it is idled for, a queue that has used most of its budget
    /// may finish what it began.
    fn times_out(&self, now: Instant, queue: usize) -> bool {
        self.queues.budgets.is_over(now, queue)
            && (self.slot.idle_until().is_none() || self.queues.wf2q.has_third_left(queue))
    }

    /// A request has arrived in `queue`.
    pub(super) fn note_request(&mut self, cx: Cx<'_>, queue: usize) {
        if self.queues.wf2q.in_service() == Some(queue)
            && self.slot.stop_idling()
            && self.queues.budgets.is_over(cx.now, queue)
        {
            self.expire(cx, queue, Reason::Timeout, false);
        }
    }

    /// A request of `queue` is done. If that is in service, it is idled for, goes on, or goes out of service.
    pub(super) fn note_done(&mut self, cx: Cx<'_>, queue: usize) {
        if self.queues.wf2q.in_service() != Some(queue) {
            return;
        }
        let empty = self.queues.requests.is_empty(queue);
        if empty && idling::is_better(&self.queues, cx, queue) {
            if self.queues.requests.in_flight_of(queue) == 0 {
                self.slot.idle(cx.now, idling::time(&self.queues, queue));
            }
        } else if self.times_out(cx.now, queue) {
            self.expire(cx, queue, Reason::Timeout, false);
        } else if empty {
            self.expire(cx, queue, Reason::NoMore, false);
        }
    }

    /// `queue` has come: the queue in service gives way if `queue` was interrupted, or is of a higher class
    /// or weight, or if nobody loses when the one in service is not idled for.
    pub(super) fn preempt(&mut self, cx: Cx<'_>, queue: usize, goes_on: bool) {
        let Some(serving) = self.queues.wf2q.in_service() else { return };
        let resumes = goes_on && self.queues.raising.factor(queue) >= self.queues.raising.factor(serving);
        let higher = self.queues.wf2q.class(queue) < self.queues.wf2q.class(serving)
            || self.queues.wf2q.weight(queue) > self.queues.wf2q.weight(serving);
        if (resumes || higher || !idling::is_better(&self.queues, cx, serving))
            && !self.queues.wf2q.is_next(serving)
        {
            self.expire(cx, serving, Reason::Preempted, false);
        }
    }

    /// What goes next.
    pub(super) fn select(&mut self, cx: Cx<'_>) -> Selected {
        if let Some(queue) = self.queues.wf2q.in_service()
            && self.times_out(cx.now, queue)
            && !(self.queues.requests.is_empty(queue) && idling::is_better(&self.queues, cx, queue))
        {
            self.expire(cx, queue, Reason::Timeout, false);
        }
        loop {
            let serving = self.queues.wf2q.in_service().or_else(|| self.begin_service(cx));
            let Some(queue) = serving else { return Selected::Nothing };
            if let Some((id, cost)) = self.queues.affordable(cx, queue) {
                self.slot.stop_idling();
                return Selected::Own(queue, id, cost);
            }
            let reason = if self.queues.requests.next(queue).is_some() {
                Reason::Exhausted
            } else if self.slot.idle_until().is_some()
                || self.queues.requests.in_flight_of(queue) > 0 && idling::is_better(&self.queues, cx, queue)
            {
                return Selected::Idled(queue);
            } else {
                Reason::NoMore
            };
            self.expire(cx, queue, reason, false);
        }
    }

    /// Takes the next queue into service.
    fn begin_service(&mut self, cx: Cx<'_>) -> Option<usize> {
        let queue = self.queues.wf2q.take_next(cx.now)?;
        self.queues.requests.begin_service(queue);
        self.queues.raising.taken(cx.now, queue, self.queues.budgets.timeout(queue));
        let soft = self.queues.raising.kind(queue) == Kind::Soft;
        let factor = if soft { 1 } else { self.queues.wf2q.raised(queue) };
        self.queues.budgets.give(queue, cx.now + self.queues.settings.timeout_sync.0 * factor);
        self.slot.begin(cx.now);
        Some(queue)
    }

    /// `id` of `queue` goes to the device, at this cost.
    pub(super) fn send(&mut self, cx: Cx<'_>, queue: usize, id: RequestId, cost: u64) {
        let (start, end, length) = (cx[id].start, cx[id].end(), u64::from(cx[id].length.0));
        let (in_flight, rotational) = (self.queues.requests.in_flight(), cx.device.rotational);
        self.queues.serve(cx.now, queue, cost);
        self.queues.requests.send(queue);
        self.queues
            .budgets
            .sent(&self.queues.settings, &Sent { now: cx.now, start, end, length, in_flight, rotational });
        let serving = self.queues.wf2q.in_service() == Some(queue);
        if serving {
            self.queues.injection.send(id);
            self.slot.serve(end);
        }
        self.queues.take_out(cx, queue, id);
        if !serving {
            return;
        }
        if self.queues.raising.is_on(queue) {
            let span = self.queues.budgets.raise_time();
            self.queues
                .raising
                .change(&mut self.queues.wf2q, queue, |raise, in_burst| raise.expire(cx.now, in_burst, span));
        }
        self.queues.wf2q.apply_raise(queue);
        if self.queues.wf2q.class(queue) == Class::Idle && self.queues.wf2q.busy() > 1 {
            self.expire(cx, queue, Reason::Exhausted, false);
        }
    }

    /// Ends the service of `queue` with all that follows from it. If its process was idled for, that time
    /// does not count as its service (`idled`).
    pub(super) fn expire(&mut self, cx: Cx<'_>, queue: usize, reason: Reason, idled: bool) {
        let served = self.queues.served(queue);
        let wasted = reason == Reason::Timeout && self.queues.wf2q.has_third_left(queue);
        let time = self.slot.length(cx.now, idled);
        let charged = self.queues.budgets.charge_for_time(served, time, wasted, cx.device.rotational);
        if let Some(total) = charged {
            self.queues.wf2q.raise_budget(queue, total);
            self.queues.serve(cx.now, queue, total - served.service);
        }
        let (who, service) = (self.queues.processes.who(queue), served.service);
        self.ended = Some(Ended { who, reason, service, charged });
        if self.queues.settings.low_latency {
            let (empty, done) = (self.queues.requests.is_empty(queue), !served.in_flight);
            self.queues.raising.plan(cx.now, queue, empty, done, self.queues.settings.idle_time());
        }
        self.queues.injection.expire();
        if let Some(budget) = self.queues.budgets.feedback(queue, self.queues.served(queue), reason)
            && let Some(next) = self.queues.requests.next(queue)
        {
            self.queues.wf2q.set_budget(queue, budget.max(self.queues.charge(cx, queue, next)));
        }
        self.leave_service(cx, queue, reason);
        if !self.queues.wf2q.is_busy(queue) && !matches!(reason, Reason::Timeout | Reason::Exhausted) {
            self.queues.budgets.note_waited(queue);
        } else {
            self.queues.wf2q.end_budget(queue);
        }
    }

    /// `queue` goes out of service: it waits for its turn, or has nothing to do.
    pub(super) fn leave_service(&mut self, cx: Cx<'_>, queue: usize, reason: Reason) {
        if self.queues.habits[queue].is_seeky() {
            self.queues.processes.note_seeky(queue);
        }
        let stays = !self.queues.requests.is_empty(queue)
            || reason == Reason::Preempted && idling::is_needed(&self.queues, queue) && self.few_are_empty();
        if !stays {
            if self.queues.requests.in_flight_of(queue) == 0 {
                self.queues.budgets.note_idle(cx.now, queue);
            }
            self.queues.not_busy(cx, queue, true);
        } else {
            self.queues.wf2q.put_back(cx.now, queue);
        }
        self.slot.stop_idling();
        self.queues.list(cx, queue);
    }

    fn few_are_empty(&self) -> bool {
        let empty = |queue: &usize| self.queues.requests.is_empty(*queue);
        self.queues.wf2q.active().filter(empty).count() < EMPTY_MAX
    }
}
