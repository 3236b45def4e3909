//! Service: which queue it is, how it begins, and how it ends.

use super::Bfq;
use super::budget::{self, Reason};
use super::inject::Whose;
use super::queue::Queue;
use super::raise::Kind;
use super::rate::Sent;
use crate::request::Class;
use crate::scheduler::{Cx, Decision};
use crate::schedulers::shared::ways::Back;
use crate::units::{Duration, Issuer, RequestId};

/// Queues without requests that may wait for their turn, because they would else lose their share.
const EMPTY_MAX: usize = 32;

/// How the last service ended, until a request goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ended {
    pub(super) who: Option<Issuer>,
    pub(super) reason: Reason,
    pub(super) service: u64,
    /// For slow queues: what it was charged instead.
    pub(super) charged: Option<u64>,
}

/// What goes to the device.
#[derive(Clone, Copy)]
pub(super) struct Chosen {
    pub(super) id: RequestId,
    /// Its queue.
    pub(super) index: usize,
    /// What it costs that.
    pub(super) cost: u64,
    pub(super) whose: Whose,
}

impl Bfq {
    pub(super) fn back(&self) -> Back {
        let furthest = self.tunables.back_seek_max.0.saturating_mul(2);
        Back { furthest, penalty: self.tunables.back_seek_penalty.0 }
    }

    /// What `id` costs the queue `index`.
    pub(super) fn charge(&self, cx: Cx<'_>, index: usize, id: RequestId) -> u64 {
        let queue = &self.queues[index];
        let differs = || self.service.shares.differ(index);
        let plain = queue.is_sync() || queue.is_raised() || differs();
        budget::charge(cx[id].length.0, plain, false, false)
    }

    /// Does what may change how a queue is raised, and enters that in its weight and the count.
    pub(super) fn change_raise<R>(&mut self, index: usize, what: impl FnOnce(&mut Queue) -> R) -> R {
        let queue = &mut self.queues[index];
        let before = queue.raise.kind;
        let result = what(queue);
        let after = queue.raise.kind;
        if before != after {
            self.service.entities[index].raised = queue.raise.factor();
            self.service.entities[index].changed = true;
            if self.service.shares.is_busy(index) {
                self.raised_busy += u32::from(after != Kind::Not);
                self.raised_busy -= u32::from(before != Kind::Not);
            }
        }
        result
    }

    /// `index` has something to do from now on.
    pub(super) fn make_busy(&mut self, cx: Cx<'_>, index: usize) {
        let waited = core::mem::take(&mut self.queues[index].waited);
        self.service.activate(cx.now, index, waited);
        let entity = self.service.entities[index];
        self.service.shares.set_busy(index, entity.class, true);
        let queue = &self.queues[index];
        if queue.in_flight == 0 && !queue.is_raised() {
            self.service.shares.count(index, entity.weight());
        }
        self.raised_busy += u32::from(queue.is_raised());
        if let Some(place) = queue.place {
            self.issuers.hold(place);
        }
        self.note_woken(index);
    }

    /// `index` has nothing more to do.
    pub(super) fn not_busy(&mut self, cx: Cx<'_>, index: usize, expires: bool) {
        let class = self.service.entities[index].class;
        self.service.shares.set_busy(index, class, false);
        let queue = &self.queues[index];
        self.raised_busy -= u32::from(queue.is_raised());
        if let Some(place) = queue.place {
            self.issuers.release(place);
        }
        let in_flight = queue.in_flight;
        self.service.deactivate(cx.now, index, true, expires);
        if in_flight == 0 {
            self.service.shares.uncount(index);
        }
    }

    /// Takes the next queue into service.
    fn begin_service(&mut self, cx: Cx<'_>) -> Option<usize> {
        let index = self.service.take_next(cx.now)?;
        let queue = &mut self.queues[index];
        queue.fifo_looked = false;
        self.bounds.give();
        queue.raise.taken(cx.now, queue.timeout);
        let soft = queue.raise.kind == Kind::Soft;
        let factor = if soft { 1 } else { self.service.entities[index].raised_now().max(1) };
        queue.timeout = Some(cx.now + self.tunables.timeout_sync.0 * factor);
        self.budget_start = cx.now;
        self.served_to = crate::units::Sector(0);
        Some(index)
    }

    /// Ends the service of `index` with all that follows from it. If its process was idled for, that time
    /// does not count as its service (`idled`).
    pub(super) fn expire(&mut self, cx: Cx<'_>, index: usize, reason: Reason, idled: bool) {
        let entity = self.service.entities[index];
        let queue = &self.queues[index];
        let end = if idled { self.idling_since } else { cx.now };
        let time = end.since(self.budget_start);
        let (slow, time) = self.bounds.slow(queue, time, entity.service, cx.device.rotational);
        let wasted = reason == Reason::Timeout && entity.left() >= entity.budget / 3;
        let (who, service) = (queue.is_sync().then_some(queue.who), entity.service);
        let by_time = !queue.is_raised() && (slow || wasted);
        let charged = by_time.then(|| self.charge_time(cx, index, time));
        self.ended = Some(Ended { who, reason, service, charged });
        self.plan(cx, index);
        (self.watch.injected, self.watch.for_dispatch, self.watch.request) = (false, false, None);
        self.rebudget(cx, index, reason);
        self.leave_service(cx, index, reason);
        if !self.service.shares.is_busy(index) && !matches!(reason, Reason::Timeout | Reason::Exhausted) {
            self.queues[index].waited = true;
        } else {
            self.service.entities[index].service = 0;
        }
    }

    /// Charges `index` for its time, if that is more than for its sectors. Returns what it was charged.
    fn charge_time(&mut self, cx: Cx<'_>, index: usize, time: Duration) -> u64 {
        let entity = &mut self.service.entities[index];
        let total = self.bounds.worth(time).max(entity.service);
        entity.budget = entity.budget.max(total);
        let more = total - entity.service;
        self.queues[index].serve(cx.now, more);
        self.service.serve(index, more);
        total
    }

    /// When a queue goes out of service: from when on it may be raised.
    fn plan(&mut self, cx: Cx<'_>, index: usize) {
        let slice_idle = self.slice_idle();
        let queue = &mut self.queues[index];
        if !self.tunables.low_latency {
            return;
        }
        if !queue.is_raised() {
            queue.raise.since = cx.now;
        }
        if queue.is_empty() && queue.in_flight == 0 {
            queue.raise.plan_soft(cx.now, slice_idle);
        } else if queue.is_empty() {
            queue.plans_soft = true;
        }
    }

    /// The next budget of `index`.
    fn rebudget(&mut self, cx: Cx<'_>, index: usize, reason: Reason) {
        let service = self.service.entities[index].service;
        let Some(budget) = self.bounds.feedback(&self.queues[index], reason, service) else { return };
        self.queues[index].max_budget = budget;
        if let Some(next) = self.queues[index].next {
            self.service.entities[index].budget = budget.max(self.charge(cx, index, next));
        }
    }

    /// `index` goes out of service: it waits for its turn, or has nothing to do.
    pub(super) fn leave_service(&mut self, cx: Cx<'_>, index: usize, reason: Reason) {
        let queue = &mut self.queues[index];
        if queue.shared && queue.is_seeky() {
            queue.splits = true;
        }
        let empty = queue.is_empty();
        let stays = empty && reason == Reason::Preempted && self.idling_needed(index) && self.few_are_empty();
        if empty && !stays {
            let queue = &mut self.queues[index];
            if queue.in_flight == 0 {
                queue.timeout = Some(cx.now);
            }
            self.not_busy(cx, index, true);
        } else {
            self.service.requeue(cx.now, index, true);
        }
        self.idle = None;
        self.service.in_service = None;
    }

    fn few_are_empty(&self) -> bool {
        self.service.active().filter(|index| self.queues[*index].is_empty()).count() < EMPTY_MAX
    }

    /// The next request of `index`, if the budget suffices for it.
    #[inline]
    pub(super) fn affordable(&self, cx: Cx<'_>, index: usize, whose: Whose) -> Option<Chosen> {
        let id = self.queues[index].next?;
        let cost = self.charge(cx, index, id);
        (cost <= self.service.entities[index].left()).then_some(Chosen { id, index, cost, whose })
    }

    /// What goes now; or the answer if nothing does.
    pub(super) fn select(&mut self, cx: Cx<'_>) -> Result<Chosen, Decision> {
        if let Some(index) = self.service.in_service
            && self.times_out(cx.now, index)
            && !self.must_idle(cx, index)
        {
            self.expire(cx, index, Reason::Timeout, false);
        }
        loop {
            let serving = self.service.in_service.or_else(|| self.begin_service(cx));
            let Some(index) = serving else { return Err(Decision::Idle) };
            if let Some(own) = self.affordable(cx, index, Whose::Own) {
                self.idle = None;
                return Ok(own);
            }
            let queue = &self.queues[index];
            let reason = if queue.next.is_some() {
                Reason::Exhausted
            } else if self.idle.is_some() || queue.in_flight > 0 && self.better_to_idle(cx, index) {
                return self.choose_injection(cx, index).ok_or_else(|| self.wait_on(cx, index));
            } else {
                Reason::NoMore
            };
            self.expire(cx, index, reason, false);
        }
    }

    /// Sends what was chosen.
    pub(super) fn send(&mut self, cx: Cx<'_>, Chosen { id, index, cost, .. }: Chosen) {
        let queue = &mut self.queues[index];
        queue.serve(cx.now, cost);
        queue.in_flight += 1;
        self.service.serve(index, cost);
        let serving = self.service.in_service == Some(index);
        if serving && core::mem::take(&mut self.watch.for_dispatch) {
            self.watch.request = Some(id);
        }
        self.measure(cx, id, serving);
        self.take_out(cx, index, id);
        self.in_flight += 1;
        if serving {
            let class = self.end_raise_in_time(cx, index);
            if class == Class::Idle && self.service.shares.busy() > 1 {
                self.expire(cx, index, Reason::Exhausted, false);
            }
        }
    }

    /// `id` goes to the device: what that tells of its speed.
    fn measure(&mut self, cx: Cx<'_>, id: RequestId, serving: bool) {
        let (start, end, length) = (cx[id].start, cx[id].end(), u64::from(cx[id].length.0));
        let (in_flight, rotational) = (self.in_flight, cx.device.rotational);
        if self.rate.sent(&Sent { now: cx.now, start, end, length, in_flight, rotational }) {
            self.retune();
        }
        if serving {
            self.served_to = end;
        }
    }

    /// The rate is known better, or a tunable is another.
    pub(super) fn retune(&mut self) {
        let set = self.tunables.max_budget.0;
        self.bounds.fixed = set > 0;
        self.bounds.most = if set > 0 { set } else { self.rate.sectors_in(self.tunables.timeout_sync.0) };
    }

    /// The queue in service was served: it may have been raised for long enough. Returns its class.
    fn end_raise_in_time(&mut self, cx: Cx<'_>, index: usize) -> Class {
        let (now, span) = (cx.now, self.rate.raise_time);
        if self.queues[index].is_raised() {
            self.change_raise(index, |queue| queue.raise.expire(now, queue.in_burst, span));
        }
        let entity = &self.service.entities[index];
        let class = entity.class;
        if entity.weighs_more() != entity.is_raised() {
            self.service.reweigh(index, false);
        }
        class
    }

    /// Takes `id` out of `index`.
    pub(super) fn take_out(&mut self, cx: Cx<'_>, index: usize, id: RequestId) {
        let (back, serving) = (self.back(), self.service.in_service == Some(index));
        let queue = &mut self.queues[index];
        let leads = queue.next == Some(id);
        if leads {
            queue.next = self.requests.go_on_after(cx, back, index, queue, id);
        } else {
            self.requests.unsort(id);
        }
        self.requests.links.remove(&mut queue.fifo, id);
        self.waiting -= 1;
        let empty = queue.is_empty();
        if serving {
            return;
        }
        if leads {
            self.renew_budget(cx, index);
        }
        if empty && self.service.shares.is_busy(index) {
            self.not_busy(cx, index, false);
            let entity = &mut self.service.entities[index];
            (entity.budget, entity.service) = (0, 0);
        }
    }

    /// Another request of `index` is next. While it waits for its turn, its budget must suffice for it.
    pub(super) fn renew_budget(&mut self, cx: Cx<'_>, index: usize) {
        if self.service.in_service == Some(index) {
            return;
        }
        let queue = &self.queues[index];
        let Some(next) = queue.next else { return };
        let budget = queue.max_budget.max(self.charge(cx, index, next));
        let entity = &mut self.service.entities[index];
        let budget = budget.max(entity.service);
        if entity.budget != budget {
            entity.budget = budget;
            self.service.requeue(cx.now, index, false);
        }
    }
}
