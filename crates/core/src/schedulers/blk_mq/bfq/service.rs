//! Service: which queue is served, how its service begins and ends, and how long it is idled for.

use super::budget::{Reason, Served};
use super::idling;
use super::inject::Injection;
use super::queues::{Queue, Queues};
use super::raise::Kind;
use super::rate::LARGE;
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

/// Whose request goes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Whose {
    /// A request of the queue in service.
    Own,
    /// An asynchronous one of the process in service.
    OwnAsync,
    /// One of the waker of the queue in service.
    Waker,
    /// One of a queue that the queue in service wakes.
    Woken,
    Other,
}

/// What goes to the device.
#[derive(Clone, Copy)]
pub(super) struct Chosen {
    pub(super) id: RequestId,
    pub(super) queue: usize,
    /// What it costs that.
    pub(super) cost: u64,
    pub(super) whose: Whose,
}

/// What goes next, if anything does.
pub(super) enum Selected {
    Goes(Chosen),
    /// The device is idled for this queue, which is in service.
    Idled(usize),
    Nothing,
}

/// All queues, and the one in service.
pub(super) struct Service {
    pub(super) queues: Queues,
    /// When the queue in service became that.
    start: Instant,
    /// Until when it is idled for, if it is.
    idle_until: Option<Instant>,
    /// When the device was last idled.
    idle_since: Instant,
    pub(super) ended: Option<Ended>,
}

impl Service {
    pub(super) fn new(queues: Queues) -> Service {
        let start = Instant::ZERO;
        Service { queues, start, idle_until: None, idle_since: start, ended: None }
    }

    /// Until when the queue in service is idled for, if it is and its time is not over earlier.
    pub(super) fn idles_until(&self, cx: Cx<'_>, queue: usize) -> Option<Instant> {
        let until = self.idle_until?;
        let timeout = self.queues.list[queue].budget.timeout.filter(|timeout| *timeout > cx.now);
        let ends = timeout.filter(|_| {
            self.queues.wf2q.entities[queue].has_third_left() && !idling::is_better(&self.queues, cx, queue)
        });
        Some(ends.map_or(until, |timeout| until.min(timeout)))
    }

    /// Lets idling end, if its time has come. Calls do that first, as of that time, so that it does not
    /// matter whether the host asked then.
    pub(super) fn catch_up(&mut self, cx: Cx<'_>) {
        if let Some(until) = self.idle_until.filter(|until| *until <= cx.now) {
            self.give_up(cx.at(until));
        }
    }

    fn give_up(&mut self, cx: Cx<'_>) {
        self.idle_until = None;
        let Some(queue) = self.queues.wf2q.in_service else { return };
        if self.queues.list[queue].budget.is_over(cx.now) {
            self.expire(cx, queue, Reason::Timeout, true);
        } else if self.queues.list[queue].line.is_empty() {
            self.expire(cx, queue, Reason::TooIdle, true);
        }
    }

    /// The queue's time is over, and that ends its service: while it is idled for, a queue that has used most of its
    /// budget may finish what it began.
    fn times_out(&self, now: Instant, queue: usize) -> bool {
        self.queues.list[queue].budget.is_over(now)
            && (self.idle_until.is_none() || self.queues.wf2q.entities[queue].has_third_left())
    }

    /// A request has arrived in `queue`.
    pub(super) fn note_request(&mut self, cx: Cx<'_>, queue: usize) {
        if self.queues.wf2q.in_service == Some(queue)
            && self.idle_until.take().is_some()
            && self.queues.list[queue].budget.is_over(cx.now)
        {
            self.expire(cx, queue, Reason::Timeout, false);
        }
    }

    /// A request of `queue` is done. If that is in service, it is idled for, continues, or goes out of service.
    pub(super) fn note_done(&mut self, cx: Cx<'_>, queue: usize) {
        if self.queues.wf2q.in_service != Some(queue) {
            return;
        }
        let empty = self.queues.list[queue].line.is_empty();
        if empty && idling::is_better(&self.queues, cx, queue) {
            if self.queues.list[queue].line.in_flight == 0 {
                (self.idle_since, self.idle_until) =
                    (cx.now, Some(cx.now + idling::time(&self.queues, queue)));
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
        let Some(serving) = self.queues.wf2q.in_service else { return };
        let factor = |queue: usize| self.queues.list[queue].raise.factor();
        let resumes = goes_on && factor(queue) >= factor(serving);
        let higher = self.queues.wf2q.entities[queue].class < self.queues.wf2q.entities[serving].class
            || self.queues.wf2q.entities[queue].weight > self.queues.wf2q.entities[serving].weight;
        if (resumes || higher || !idling::is_better(&self.queues, cx, serving))
            && self.queues.wf2q.next != Some(serving)
        {
            self.expire(cx, serving, Reason::Preempted, false);
        }
    }

    /// What goes next.
    pub(super) fn select(&mut self, cx: Cx<'_>) -> Selected {
        if let Some(queue) = self.queues.wf2q.in_service
            && self.times_out(cx.now, queue)
            && !(self.queues.list[queue].line.is_empty() && idling::is_better(&self.queues, cx, queue))
        {
            self.expire(cx, queue, Reason::Timeout, false);
        }
        loop {
            let serving = self.queues.wf2q.in_service.or_else(|| self.begin_service(cx));
            let Some(queue) = serving else { return Selected::Nothing };
            if let Some(chosen) = self.afford(cx, queue, Whose::Own) {
                self.idle_until = None;
                return Selected::Goes(chosen);
            }
            let reason = if self.queues.list[queue].line.next.is_some() {
                Reason::Exhausted
            } else if self.idle_until.is_some()
                || self.queues.list[queue].line.in_flight > 0 && idling::is_better(&self.queues, cx, queue)
            {
                return self.inject(cx, queue).map_or(Selected::Idled(queue), Selected::Goes);
            } else {
                Reason::NoMore
            };
            self.expire(cx, queue, reason, false);
        }
    }

    /// The next request of `queue`, if there is one and the budget suffices.
    #[inline(always)]
    pub(super) fn afford(&self, cx: Cx<'_>, queue: usize, whose: Whose) -> Option<Chosen> {
        let id = self.queues.list[queue].line.next?;
        let cost = self.queues.charge(cx, queue, id);
        (cost <= self.queues.wf2q.entities[queue].left()).then_some(Chosen { id, queue, cost, whose })
    }

    /// What goes while `queue` is idled for: what its process waits for, else another's within the limit. Large
    /// requests of others go only alone on a device without heads.
    fn inject(&mut self, cx: Cx<'_>, queue: usize) -> Option<Chosen> {
        let Queues { processes, list, wf2q, requests, .. } = &self.queues;
        let Queue { waker, raise, habits, limit, .. } = &list[queue];
        let own = processes.only_user(queue).filter(|(place, other)| {
            list[*other].line.next.is_some_and(|next| requests.place(next) == Some(*place))
        });
        let waits = |woken: &usize| list[*woken].waker.known == Some(processes.reference(queue));
        let near = [
            (own.map(|(_, other)| other), Whose::OwnAsync),
            (processes.alive(waker.known), Whose::Waker),
            (processes.alive(waker.woken).filter(waits), Whose::Woken),
        ];
        let near = near.into_iter().find_map(|(other, whose)| self.afford(cx, other?, whose));
        let guarded = raise.is_on() && habits.short;
        let none = guarded && self.queues.raised_busy <= 1 || requests.in_flight >= limit.limit;
        if near.is_some() || none || idling::boosts(&self.queues, cx, queue) {
            return near;
        }
        let other = wf2q.newest(|other| {
            let Some(next) = list[other].line.next else { return false };
            let large = !cx.device.rotational && u64::from(cx[next].length.0) >= LARGE;
            let limit = if large { limit.limit.min(1) } else { limit.limit };
            requests.in_flight < limit
                && (!guarded || list[other].raise.is_on())
                && self.afford(cx, other, Whose::Other).is_some()
        })?;
        let chosen = self.afford(cx, other, Whose::Other);
        self.queues.injection.injected = true;
        chosen
    }

    /// Takes the next queue into service.
    fn begin_service(&mut self, cx: Cx<'_>) -> Option<usize> {
        let Queues { wf2q, list, budgets, settings, .. } = &mut self.queues;
        let queue = wf2q.take_next(cx.now)?;
        let Queue { line, raise, budget, .. } = &mut list[queue];
        line.fifo_checked = false;
        raise.taken(cx.now, budget.timeout);
        let soft = raise.kind == Kind::Soft;
        let factor = if soft { 1 } else { wf2q.entities[queue].raised_now() };
        budgets.give();
        budget.timeout = Some(cx.now + settings.timeout_sync.0 * factor);
        (self.start, self.queues.served_to) = (cx.now, Sector(0));
        Some(queue)
    }

    /// The chosen request goes to the device.
    pub(super) fn send(&mut self, cx: Cx<'_>, Chosen { id, queue, cost, .. }: Chosen) {
        let Queues { requests, list, budgets, injection, wf2q, settings, .. } = &mut self.queues;
        let (request, Queue { line, raise, .. }) = (&cx[id], &mut list[queue]);
        raise.serve(cx.now, cost);
        wf2q.serve(queue, cost);
        if budgets.rate.sent(cx.now, request, requests.in_flight) {
            budgets.retune(settings);
        }
        requests.send(line, request.end());
        let serving = wf2q.in_service == Some(queue);
        if serving {
            injection.send(id);
            self.queues.served_to = request.end();
        }
        self.queues.take_out(cx, queue, id);
        if serving {
            self.end_raise_in_time(cx, queue);
        }
    }

    /// `queue`, which is in service, was served: it may have been raised for long enough, or have had enough of the
    /// device for the idle class.
    fn end_raise_in_time(&mut self, cx: Cx<'_>, queue: usize) {
        if self.queues.list[queue].raise.is_on() {
            let span = self.queues.budgets.rate.raise_time;
            self.queues.change_raise(queue, |raise| raise.expire(cx.now, span));
        }
        let class = self.queues.wf2q.apply_raise(queue);
        if class == Class::Idle && self.queues.wf2q.busy() > 1 {
            self.expire(cx, queue, Reason::Exhausted, false);
        }
    }

    /// Ends the service of `queue` with all that follows from it. If its process was idled for, that time
    /// does not count as its service (`idled`).
    pub(super) fn expire(&mut self, cx: Cx<'_>, queue: usize, reason: Reason, idled: bool) {
        let served = self.queues.served(queue);
        let wasted = reason == Reason::Timeout && self.queues.wf2q.entities[queue].has_third_left();
        let time = if idled { self.idle_since } else { cx.now }.since(self.start);
        let charged = self.queues.budgets.for_time(served, time, wasted, cx.device.rotational);
        if let Some(total) = charged {
            let entity = &mut self.queues.wf2q.entities[queue];
            entity.budget = entity.budget.max(total);
            self.queues.serve(cx.now, queue, total - served.service);
        }
        let (who, service) = (self.queues.processes.who(queue), served.service);
        self.ended = Some(Ended { who, reason, service, charged });
        let Queues { list, settings, budgets, injection, .. } = &mut self.queues;
        let Queue { line, raise, budget, .. } = &mut list[queue];
        if settings.low_latency {
            raise.plan(cx.now, line.is_empty(), !served.in_flight, settings.idle_time());
        }
        *injection = Injection::default();
        let service = charged.unwrap_or(service);
        if let Some(most) = budgets.feedback(budget.most, Served { service, ..served }, reason) {
            budget.most = most;
            if let Some(next) = line.next {
                let cost = self.queues.charge(cx, queue, next);
                self.queues.wf2q.entities[queue].budget = most.max(cost);
            }
        }
        self.leave_service(cx, queue, reason);
        if !self.queues.wf2q.entities[queue].busy && !matches!(reason, Reason::Timeout | Reason::Exhausted) {
            self.queues.list[queue].budget.waited = true;
        } else {
            self.queues.wf2q.entities[queue].service = 0;
        }
    }

    /// `queue` goes out of service: it waits for its turn, or has nothing to do.
    pub(super) fn leave_service(&mut self, cx: Cx<'_>, queue: usize, reason: Reason) {
        let owner = &mut self.queues.processes.owners[queue];
        if owner.shared && self.queues.list[queue].habits.is_seeky() {
            owner.splits = true;
        }
        let stays = !self.queues.list[queue].line.is_empty()
            || reason == Reason::Preempted && idling::is_needed(&self.queues, queue) && self.few_are_empty();
        if !stays {
            if self.queues.list[queue].line.in_flight == 0 {
                self.queues.list[queue].budget.timeout = Some(cx.now);
            }
            self.queues.not_busy(cx.now, queue, true);
        } else {
            self.queues.wf2q.put_back(cx.now, queue);
        }
        self.idle_until = None;
        self.queues.note_position(cx, queue);
    }

    fn few_are_empty(&self) -> bool {
        let empty = |queue: &usize| self.queues.list[*queue].line.is_empty();
        self.queues.wf2q.active().filter(empty).count() < EMPTY_MAX
    }
}
