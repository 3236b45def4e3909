//! Arrivals: what a new request changes.

use super::Bfq;
use super::budget::Reason;
use super::raise::{ASYNC_APART, AWAY, Claim, Kind, passed};
use super::requests::Requests;
use crate::collections::Place;
use crate::request::{Class, Request};
use crate::scheduler::Cx;
use crate::units::{Duration, RequestId};

/// The weight that a queue must have to be raised: nobody has given it another.
const PLAIN_WEIGHT: u64 = 40;
/// A process that was away for so long is no longer part of the burst in which it was created.
const BURST_FORGOTTEN: Duration = Duration::from_ms(10_000);
/// A process has come back in time after so many times the time that is idled.
const IN_TIME: u64 = 3;

/// A request that arrives.
#[derive(Clone, Copy)]
pub(super) struct Arrival<'a> {
    pub(super) id: RequestId,
    pub(super) request: &'a Request,
    /// Who issued it.
    pub(super) place: Place,
    /// Its process has no other.
    pub(super) alone: bool,
    /// The queue that it arrives in.
    pub(super) index: usize,
}

impl Bfq {
    /// A request arrives in its queue.
    pub(super) fn arrive(&mut self, cx: Cx<'_>, arrival: Arrival<'_>) {
        let index = arrival.index;
        let busy = self.service.shares.is_busy(index);
        self.observe(cx, arrival, busy);
        self.add(cx, arrival, busy);
        if self.service.in_service == Some(index)
            && self.idle.take().is_some()
            && self.timed_out(cx.now, index)
        {
            self.expire(cx, index, Reason::Timeout, false);
        }
    }

    /// What an arrival tells of who issues into its queue, which was `busy` or not.
    fn observe(&mut self, cx: Cx<'_>, Arrival { request, alone, index, .. }: Arrival<'_>, busy: bool) {
        let slice_idle = self.slice_idle();
        let queue = &mut self.queues[index];
        queue.note_thought(cx.now, busy, slice_idle);
        queue.note_seek(cx, request);
        let only_seeks = queue.raise.kind == Kind::Soft && queue.seeks == u32::MAX;
        let (sync, little) = (queue.is_sync(), !queue.thought.is_long(slice_idle));
        let thinks_else = queue.thinks_little != little;
        if sync {
            queue.note_intensity(cx.now, queue.is_empty());
        }
        if thinks_else {
            self.judge_thinking(cx, index, little);
        }
        if only_seeks {
            let span = self.rate.raise_time;
            self.change_raise(index, |queue| queue.raise.end_soft(cx.now, span));
        }
        if sync && alone {
            self.learn(cx.now, index);
        }
    }

    /// Whether the process thinks little is another answer than so far, if it can be told.
    #[cold]
    fn judge_thinking(&mut self, cx: Cx<'_>, index: usize, little: bool) {
        let queue = &self.queues[index];
        let never = !queue.is_sync() || self.service.entities[index].class == Class::Idle;
        if !never && self.slice_idle() > Duration::ZERO && passed(queue.split, AWAY, cx.now) {
            self.note_thinking(cx.now, index, little);
        }
    }

    /// Puts what arrives among what waits in its queue, which was `busy` or not.
    fn add(&mut self, cx: Cx<'_>, Arrival { id, request, place, index, .. }: Arrival<'_>, busy: bool) {
        let (back, head) = (self.back(), self.rate.position);
        self.waiting += 1;
        self.requests.sort_in(index, id, request.start);
        let queue = &mut self.queues[index];
        self.requests.links.push_back(&mut queue.fifo, id);
        queue.last_end = request.end();
        let leads = queue.next.is_none_or(|next| Requests::wins(back, head, request, &cx[next]));
        if leads {
            queue.next = Some(id);
        }
        if !busy {
            return self.wake(cx, index, place);
        }
        if self.tunables.low_latency && !queue.is_raised() {
            let last = core::mem::replace(&mut queue.raise.since, cx.now);
            // Asynchronous requests that come rarely make their queue interactive.
            if passed(Some(last), ASYNC_APART, cx.now) && !queue.is_sync() {
                let span = self.rate.raise_time;
                self.change_raise(index, |queue| queue.raise.as_interactive(span));
            }
        }
        if leads {
            self.renew_budget(cx, index);
        }
    }

    /// The queue had nothing to do so far.
    fn wake(&mut self, cx: Cx<'_>, index: usize, place: Place) {
        let away = self.away_for(cx.now, index, AWAY);
        let in_time = cx.now <= self.queues[index].thought.since + self.slice_idle() * IN_TIME;
        let plain = self.service.entities[index].wanted == PLAIN_WEIGHT;
        let queue = &self.queues[index];
        let (in_burst, was_raised) = (queue.in_burst, queue.is_raised());
        let calm = queue.seeks != u32::MAX && queue.in_flight == 0;
        let soft = calm && !in_burst && queue.raise.soft_from < cx.now && plain;
        let interactive = !in_burst && away && plain;
        let alone = queue.is_sync() && (!queue.shared || self.processes[place.index()].stably);
        let deserves = self.tunables.low_latency && (queue.is_raised() || alone && (interactive || soft));
        let preempts = self.budget_for_arrival(cx, index, in_time);
        let forgotten = !self.queues[index].created && self.away_for(cx.now, index, BURST_FORGOTTEN);
        if away && forgotten {
            self.burst.leave(self.reference(index), false);
            self.queues[index].in_burst = false;
        }
        self.queues[index].created = false;
        if self.tunables.low_latency && passed(self.queues[index].split, AWAY, cx.now) {
            self.claim(cx, index, Claim { interactive, soft, in_burst, deserves });
        }
        let queue = &mut self.queues[index];
        queue.raise.busy_since = cx.now;
        queue.raise.busy_service = 0;
        queue.plans_soft = false;
        if self.tunables.low_latency && (!was_raised || !queue.is_raised() || interactive) {
            queue.raise.since = cx.now;
        }
        self.make_busy(cx, index);
        self.preempt(cx, index, preempts);
    }

    fn claim(&mut self, cx: Cx<'_>, index: usize, claim: Claim) {
        let span = self.rate.raise_time;
        let newly = self.change_raise(index, |queue| queue.raise.claim(cx.now, claim, span));
        if newly {
            let entity = &mut self.service.entities[index];
            entity.budget = entity.budget.min(2 * self.bounds.least());
        }
    }

    /// Its budget, as it has something to do. If it emptied before the last one was used up, and its
    /// process has come back in time, it may go on with what was left: true.
    fn budget_for_arrival(&mut self, cx: Cx<'_>, index: usize, in_time: bool) -> bool {
        let entity = self.service.entities[index];
        let goes_on = self.queues[index].waited && in_time && entity.left() > 0;
        let max_budget = self.queues[index].max_budget;
        let budget = if goes_on {
            entity.left().min(max_budget)
        } else {
            self.queues[index].waited = false;
            let cost = self.queues[index].next.map_or(0, |next| self.charge(cx, index, next));
            max_budget.max(cost)
        };
        let entity = &mut self.service.entities[index];
        (entity.budget, entity.service) = (budget, 0);
        goes_on
    }

    /// `index` has come: the queue in service gives way if `index` was interrupted, or is of a higher class
    /// or weight, or if nobody loses when it is not idled for.
    fn preempt(&mut self, cx: Cx<'_>, index: usize, goes_on: bool) {
        let Some(serving) = self.service.in_service else { return };
        let (new, old) = (&self.service.entities[index], &self.service.entities[serving]);
        let factors = (self.queues[index].raise.factor(), self.queues[serving].raise.factor());
        let higher = new.class < old.class || new.weight() > old.weight();
        if (goes_on && factors.0 >= factors.1 || higher || !self.better_to_idle(cx, serving))
            && self.service.next != Some(serving)
        {
            self.expire(cx, serving, Reason::Preempted, false);
        }
    }
}
