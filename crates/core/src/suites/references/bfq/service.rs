//! B-WF2Q+, budgets and service in the slow reference for `bfq`.

use alloc::vec::Vec;

use super::{Reference, Seat, Slow};
use crate::request::Class;
use crate::scheduler::{Cx, Decision};
use crate::schedulers::blk_mq::bfq::budget::Reason;
use crate::schedulers::blk_mq::bfq::raise::{Kind, Raise};
use crate::units::{Duration, Instant, Sector};

const CLASSES: [Class; 3] = [Class::RealTime, Class::BestEffort, Class::Idle];

/// Virtual times do not wrap here: no scene is that long.
fn span(sectors: u64, weight: u64) -> u64 {
    (sectors << 22) / weight.max(1)
}

impl Reference {
    fn weights(&self, class: Class) -> u64 {
        self.queues.iter().filter(|q| q.weighs && q.class == class).map(|q| q.weight).sum()
    }

    fn listed(&self, class: Class, seat: Seat) -> Vec<usize> {
        let mut found: Vec<usize> = (0..self.queues.len())
            .filter(|at| self.queues[*at].seat == seat && self.queues[*at].class == class)
            .collect();
        found.sort_by_key(|at| (self.queues[*at].finish, self.queues[*at].turn));
        found
    }

    pub(super) fn active(&self) -> Vec<usize> {
        (0..self.queues.len()).filter(|at| self.queues[*at].seat == Seat::Active).collect()
    }

    fn sit(&mut self, index: usize, seat: Seat) {
        self.turn += 1;
        (self.queues[index].seat, self.queues[index].turn) = (seat, self.turn);
    }

    fn forget_idle(&mut self, class: Class) {
        let idle = self.listed(class, Seat::Idle);
        let (Some(first), Some(last)) = (idle.first(), idle.last()) else { return };
        let finish = self.queues[*last].finish;
        if self.listed(class, Seat::Active).is_empty() && finish <= self.times[class as usize] {
            self.times[class as usize] = finish;
        }
        if self.queues[*first].finish <= self.times[class as usize] {
            let queue = &mut self.queues[*first];
            (queue.seat, queue.weighs) = (Seat::Off, false);
        }
    }

    pub(super) fn reweigh(&mut self, index: usize, class_too: bool) {
        let time = self.times;
        let queue = &mut self.queues[index];
        let before = (queue.weight, queue.class);
        queue.own = queue.wanted;
        if class_too {
            queue.class = queue.wanted_class;
        }
        queue.weight = queue.own * queue.q.raise.factor();
        if queue.weight != before.0 {
            queue.counted = if queue.q.is_raised() { 0 } else { queue.weight };
        }
        if queue.class != before.1 {
            queue.start = time[queue.class as usize];
        }
    }

    pub(super) fn activate(&mut self, now: Instant, index: usize, waited: bool) {
        let queue = &self.queues[index];
        let time = self.times[queue.class as usize];
        let back = waited && time > queue.finish;
        let earliest = if back { queue.finish } else { time };
        let queue = &mut self.queues[index];
        queue.start = if queue.seat == Seat::Idle { earliest.max(queue.finish) } else { earliest };
        (queue.seat, queue.weighs) = (Seat::Off, true);
        self.enqueue(index, back);
        self.renew_next(now, Some(index), false);
    }

    fn enqueue(&mut self, index: usize, back: bool) {
        self.reweigh(index, true);
        let queue = &mut self.queues[index];
        let time = self.times[queue.class as usize];
        queue.finish = queue.start + span(queue.budget, queue.weight);
        if back && time > queue.finish {
            let behind = (time - queue.finish) / queue.q.raise.factor();
            queue.start += behind;
            queue.finish += behind;
        }
        self.sit(index, Seat::Active);
    }

    pub(super) fn requeue(&mut self, now: Instant, index: usize, expires: bool) {
        if self.serving == Some(index) {
            let queue = &mut self.queues[index];
            queue.start += span(queue.service, queue.weight);
        }
        self.queues[index].seat = Seat::Off;
        self.enqueue(index, false);
        self.renew_next(now, Some(index), expires);
    }

    fn deactivate(&mut self, now: Instant, index: usize, expires: bool) {
        let queue = &mut self.queues[index];
        if !queue.weighs {
            return;
        }
        queue.finish = queue.start + span(queue.service, queue.weight);
        queue.seat = Seat::Off;
        if self.serving == Some(index) {
            self.serving = None;
        } else {
            queue.service = 0;
        }
        if queue.finish > self.times[queue.class as usize] {
            self.sit(index, Seat::Idle);
        } else {
            queue.weighs = false;
        }
        if self.next == Some(index) {
            self.renew_next(now, None, expires);
        }
    }

    fn renew_next(&mut self, now: Instant, arrived: Option<usize>, expires: bool) {
        if let Some(new) = arrived.filter(|new| self.next != Some(*new)) {
            let fresh = &self.queues[new];
            let old = self.next.map(|next| &self.queues[next]);
            let come = fresh.start <= self.times[fresh.class as usize];
            if old.is_none_or(|old| old.class == fresh.class && come && fresh.finish < old.finish) {
                self.next = Some(new);
                return;
            }
        }
        let mut order = CLASSES.to_vec();
        let looked = *self.idle_looked.get_or_insert(now);
        if now.since(looked) > Duration::from_ms(200) {
            self.idle_looked = Some(now);
            order.insert(0, Class::Idle);
        }
        self.next = order.into_iter().find_map(|class| self.first_of(class, expires));
    }

    fn first_of(&mut self, class: Class, expires: bool) -> Option<usize> {
        let active = self.listed(class, Seat::Active);
        let least = active.iter().map(|at| self.queues[*at].start).min()?;
        let time = self.times[class as usize].max(least);
        if (self.serving.is_none() || expires) && time > self.times[class as usize] {
            self.times[class as usize] = time;
            self.forget_idle(class);
        }
        active.into_iter().find(|at| self.queues[*at].start <= time)
    }

    /// What changes a queue's raising; its weight follows when it is next listed.
    pub(super) fn raising<R>(&mut self, index: usize, what: impl FnOnce(&mut Raise) -> R) -> R {
        what(&mut self.queues[index].q.raise)
    }

    fn served(&mut self, cx: Cx<'_>, index: usize, sectors: u64) {
        let class = self.queues[index].class;
        let weights = self.weights(class);
        let queue = &mut self.queues[index];
        queue.q.raise.serve(cx.now, sectors);
        queue.service += sectors;
        self.times[class as usize] += span(sectors, weights);
        self.forget_idle(class);
    }

    pub(super) fn not_busy(&mut self, cx: Cx<'_>, index: usize, expires: bool) {
        self.queues[index].busy = false;
        self.deactivate(cx.now, index, expires);
        if self.queues[index].q.in_flight == 0 {
            self.queues[index].counted = 0;
        }
    }

    fn known(&self) -> u64 {
        if self.given < 194 { 16_384 } else { self.most }
    }

    pub(super) fn first_budget(&self) -> u64 {
        self.known() * 2 / 3
    }

    pub(super) fn least_budget(&self) -> u64 {
        self.known() / 32
    }

    fn left(queue: &Slow) -> u64 {
        queue.budget.saturating_sub(queue.service)
    }

    pub(super) fn affords(&self, cx: Cx<'_>, index: usize) -> bool {
        let queue = &self.queues[index];
        queue.busy && queue.next.is_some_and(|next| self.cost(cx, index, next) <= Self::left(queue))
    }

    /// Slow queues, and those that waste their time, pay for it.
    fn pay_for_time(&mut self, cx: Cx<'_>, index: usize, reason: Reason, idled: bool) {
        let end = if idled { self.idling_since } else { cx.now };
        let queue = &self.queues[index];
        let mut time = end.since(self.budget_start);
        let slow = match () {
            () if !queue.sync => {
                time = Duration::ZERO;
                false
            }
            () if time.0 < 1_000_000 => {
                time = Duration::from_ms(if cx.device.rotational { 8 } else { 2 });
                queue.q.is_seeky()
            }
            () if time.0 > 20_000_000 => queue.service < self.most / 2,
            () => queue.q.is_seeky(),
        };
        let wasted = reason == Reason::Timeout && Self::left(queue) >= queue.budget / 3;
        if queue.q.is_raised() || !(slow || wasted) {
            return;
        }
        let total = queue.service.max(self.most * (time.0 / 1_000_000).min(125) / 125);
        let more = total - queue.service;
        self.queues[index].budget = self.queues[index].budget.max(total);
        self.served(cx, index, more);
    }

    fn feedback(&mut self, cx: Cx<'_>, index: usize, reason: Reason) {
        let (least, most) = (self.least_budget(), self.most);
        let queue = &mut self.queues[index];
        let old = queue.q.max_budget;
        let mut new = match (queue.sync, queue.q.is_raised(), reason) {
            (false, ..) => most,
            (_, true, _) => 2 * least,
            (.., Reason::TooIdle) if queue.q.in_flight > 0 => most.min(2 * old),
            (.., Reason::TooIdle) if old > 5 * least => old - 4 * least,
            (.., Reason::TooIdle) => least,
            (.., Reason::Timeout) => most.min(2 * old),
            (.., Reason::Exhausted) => most.min(4 * old),
            (.., Reason::NoMore) => queue.service.max(least),
            (.., Reason::Preempted) => return,
        };
        if self.given >= 194 && self.set.max_budget.0 == 0 {
            new = new.min(most);
        }
        queue.q.max_budget = new;
        if let Some(next) = queue.next {
            self.queues[index].budget = new.max(self.cost(cx, index, next));
        }
    }

    pub(super) fn expire(&mut self, cx: Cx<'_>, index: usize, reason: Reason, idled: bool) {
        self.pay_for_time(cx, index, reason, idled);
        let slice = self.slice();
        let queue = &mut self.queues[index];
        if self.set.low_latency {
            if !queue.q.is_raised() {
                queue.q.raise.since = cx.now;
            }
            match (queue.line.is_empty(), queue.q.in_flight) {
                (true, 0) => queue.q.raise.plan_soft(cx.now, slice),
                (true, _) => queue.q.raise.plans_soft = true,
                (false, _) => {}
            }
        }
        (self.watch.injected, self.watch.for_dispatch, self.watch.request) = (false, false, None);
        self.feedback(cx, index, reason);
        self.leave(cx, index, reason);
        let queue = &mut self.queues[index];
        if queue.busy || matches!(reason, Reason::Timeout | Reason::Exhausted) {
            queue.service = 0;
        } else {
            queue.q.waited = true;
        }
    }

    pub(super) fn leave(&mut self, cx: Cx<'_>, index: usize, reason: Reason) {
        let needed = reason == Reason::Preempted && self.needed(index);
        let queue = &mut self.queues[index];
        queue.q.splits |= queue.q.shared && queue.q.is_seeky();
        if queue.line.is_empty() && !needed {
            if queue.q.in_flight == 0 {
                queue.q.timeout = Some(cx.now);
            }
            self.not_busy(cx, index, true);
        } else {
            self.requeue(cx.now, index, true);
        }
        (self.wait, self.serving) = (None, None);
    }

    fn begin(&mut self, cx: Cx<'_>) -> Option<usize> {
        let index = self.next?;
        self.serving = Some(index);
        self.queues[index].seat = Seat::Off;
        self.renew_next(cx.now, None, false);
        self.given = (self.given * 7 + 256) / 8;
        let queue = &mut self.queues[index];
        queue.q.fifo_looked = false;
        queue.q.raise.taken(cx.now, queue.q.timeout);
        let factor = if queue.q.raise.kind == Kind::Soft { 1 } else { (queue.weight / queue.own).max(1) };
        queue.q.timeout = Some(cx.now + self.set.timeout_sync.0 * factor);
        (self.budget_start, self.served_to) = (cx.now, Sector(0));
        Some(index)
    }

    pub(super) fn timed_out(&self, now: Instant, index: usize) -> bool {
        let queue = &self.queues[index];
        let over = queue.q.timeout.is_none_or(|at| at <= now);
        over && (self.wait.is_none() || Self::left(queue) >= queue.budget / 3)
    }

    /// The queue to serve, or the answer.
    pub(super) fn select(&mut self, cx: Cx<'_>) -> Result<usize, Decision> {
        if let Some(index) = self.serving {
            let waits = self.queues[index].line.is_empty() && self.better_to_idle(cx, index);
            if self.timed_out(cx.now, index) && !waits {
                self.expire(cx, index, Reason::Timeout, false);
            }
        }
        loop {
            if self.serving.is_none() && self.begin(cx).is_none() {
                return Err(Decision::Idle);
            }
            let index = self.serving.unwrap();
            let queue = &self.queues[index];
            if self.affords(cx, index) {
                self.wait = None;
                return Ok(index);
            }
            if queue.next.is_some() {
                self.expire(cx, index, Reason::Exhausted, false);
            } else if self.wait.is_some() || queue.q.in_flight > 0 && self.better_to_idle(cx, index) {
                return self.inject(cx, index).ok_or_else(|| self.answer(cx, index));
            } else {
                self.expire(cx, index, Reason::NoMore, false);
            }
        }
    }

    fn answer(&self, cx: Cx<'_>, index: usize) -> Decision {
        let Some(mut until) = self.wait else { return Decision::Idle };
        let queue = &self.queues[index];
        let timeout = queue.q.timeout.unwrap();
        if timeout > cx.now && Self::left(queue) >= queue.budget / 3 && !self.better_to_idle(cx, index) {
            until = until.min(timeout);
        }
        Decision::WaitUntil(until)
    }

    pub(super) fn send(&mut self, cx: Cx<'_>, index: usize) -> Decision {
        let id = self.queues[index].next.unwrap();
        let cost = self.cost(cx, index, id);
        self.served(cx, index, cost);
        let serving = self.serving == Some(index);
        if serving && self.watch.for_dispatch {
            (self.watch.for_dispatch, self.watch.request) = (false, Some(id));
        }
        let (end, in_flight) = (cx[id].end(), self.in_flight());
        if self.rate.sent(cx.now, &cx[id], in_flight) {
            self.retune();
        }
        if serving {
            self.served_to = end;
        }
        self.queues[index].q.in_flight += 1;
        self.take_out(cx, index, id);
        self.held(id).unwrap().waits = false;
        if serving {
            let span = self.rate.raise_time;
            let queue = &mut self.queues[index];
            queue.q.raise.expire(cx.now, span);
            if (queue.weight > queue.own) != queue.q.is_raised() {
                self.reweigh(index, false);
            }
            if self.queues[index].class == Class::Idle && self.busy() > 1 {
                self.expire(cx, index, Reason::Exhausted, false);
            }
        }
        Decision::Dispatch(id)
    }

    pub(super) fn retune(&mut self) {
        if self.set.max_budget.0 == 0 {
            self.most = self.rate.sectors_in(self.set.timeout_sync.0);
        }
    }
}
