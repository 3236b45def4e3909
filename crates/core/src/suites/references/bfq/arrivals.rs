//! Arrivals and completions in the slow reference for `bfq`.

use alloc::vec::Vec;

use super::record::Queue;
use super::{Held, Process, Reference, Seat, Slow};
use crate::request::{Class, Priority, Request};
use crate::scheduler::Cx;
use crate::schedulers::blk_mq::bfq::budget::Reason;
use crate::schedulers::blk_mq::bfq::processes::{async_index, weight_of};
use crate::schedulers::blk_mq::bfq::raise::{Claim, Kind, passed};
use crate::units::{Duration, Instant, RequestId, Sector, Weight};

impl Reference {
    fn fresh(&self, now: Instant, sync: bool, class: Class, weight: u64) -> Slow {
        let q = Queue::new(now, sync, class);
        Slow {
            q: Queue { max_budget: self.first_budget(), users: 1, ..q },
            sync,
            line: Vec::new(),
            next: None,
            busy: false,
            class,
            wanted_class: class,
            wanted: weight,
            own: weight,
            weight: 0,
            counted: 0,
            start: 0,
            finish: 0,
            budget: 0,
            service: 0,
            seat: Seat::Off,
            turn: 0,
            weighs: false,
        }
    }

    /// The process that issues `request`, alive.
    fn admit(&mut self, cx: Cx<'_>, request: &Request) -> usize {
        let rank = (request.priority, cx.weight(request.issuer));
        let at = self.process(request.issuer).unwrap_or_else(|| {
            let own = self.queues.len();
            let mut queue = self.fresh(cx.now, true, rank.0.class, 1);
            queue.q.users = 0;
            self.queues.push(queue);
            let who = request.issuer;
            self.processes.push(Process {
                who,
                alive: false,
                own,
                queue: own,
                pending: 0,
                rank,
                last_async: None,
                saved: None,
                met: false,
                stable: None,
                stably: false,
            });
            self.processes.len() - 1
        });
        if !self.processes[at].alive {
            let own = self.processes[at].own;
            let old = &self.queues[own];
            if !old.busy && old.q.in_flight == 0 {
                self.burst.leave(self.reference(own), true);
                let (life, users) = (self.queues[own].q.life + 1, self.queues[own].q.users);
                let mut new = self.fresh(cx.now, true, rank.0.class, weight_of(rank.0, rank.1));
                (new.q.life, new.q.users, new.q.shared) = (life, users, users > 0);
                self.queues[own] = new;
                let process = &mut self.processes[at];
                (process.rank, process.last_async, process.saved) = (rank, None, None);
                (process.met, process.stable, process.stably) = (false, None, false);
            }
            (self.processes[at].alive, self.processes[at].queue) = (true, own);
            self.queues[own].q.users += 1;
        }
        self.processes[at].pending += 1;
        at
    }

    fn async_queue(&mut self, now: Instant, priority: Priority) -> usize {
        self.async_at(priority).unwrap_or_else(|| {
            let weight = weight_of(priority, Weight::default());
            let queue = self.fresh(now, false, priority.class, weight);
            self.queues.push(queue);
            self.asyncs.push((async_index(priority), self.queues.len() - 1));
            self.queues.len() - 1
        })
    }

    pub(super) fn arrive(&mut self, cx: Cx<'_>, id: RequestId) {
        let request = &cx[id];
        let at = self.admit(cx, request);
        let mut index = if request.sync {
            let rank = (request.priority, cx.weight(request.issuer));
            if self.processes[at].rank != rank {
                self.processes[at].rank = rank;
                let queue = &mut self.queues[self.processes[at].queue];
                (queue.wanted_class, queue.wanted) = (rank.0.class, weight_of(rank.0, rank.1));
            }
            self.meet(cx, at);
            self.split(cx, at)
        } else {
            self.processes[at].last_async = Some(request.priority);
            self.async_queue(cx.now, request.priority)
        };
        self.enter_burst(cx.now, index);
        if request.sync {
            index = self.merge(cx, index, at, id);
        }
        let slice = self.slice();
        let span = self.rate.raise_time;
        let queue = &mut self.queues[index];
        queue.q.note_thought(cx.now, queue.busy, slice);
        self.judge_thinking(cx, index);
        let queue = &mut self.queues[index];
        queue.q.note_seek(cx, &cx[id]);
        if queue.q.raise.kind == Kind::Soft && queue.q.seeks == u32::MAX {
            self.raising(index, |raise| raise.end_soft(cx.now, span));
        }
        self.add(cx, index, at, id);
        self.queues[index].q.last_end = request.end();
        let over = self.queues[index].q.timeout.is_none_or(|at| at <= cx.now);
        if self.serving == Some(index) && self.wait.take().is_some() && over {
            self.expire(cx, index, Reason::Timeout, false);
        }
    }

    fn enter_burst(&mut self, now: Instant, index: usize) {
        let busy = self.busy() > 0;
        let q = &self.queues[index].q;
        let settling = q.split.is_some() && !passed(q.split, Duration::from_ms(10), now);
        if !q.created || self.burst.is_empty() && busy || q.raise.in_burst || settling {
            return;
        }
        for member in self.burst.created(now, self.reference(index), busy).into_iter().flatten() {
            if self.queues[member.queue].q.life == member.life {
                self.queues[member.queue].q.raise.in_burst = true;
            }
        }
    }

    fn add(&mut self, cx: Cx<'_>, index: usize, at: usize, id: RequestId) {
        let was_raised = self.queues[index].q.is_raised();
        if self.queues[index].sync {
            if self.processes[at].pending <= 1 {
                self.learn(cx.now, index);
            }
            let queue = &mut self.queues[index];
            queue.q.note_intensity(cx.now, queue.line.is_empty());
        }
        let expire =
            if self.queues[index].sync { self.set.fifo_expire_sync } else { self.set.fifo_expire_async };
        let (who, due) = (self.processes[at].who, cx[id].arrival + expire.0);
        self.turn += 1;
        self.held.push(Held { id, queue: index, who, due, turn: self.turn, waits: true });
        self.starts.push((id, cx[id].start));
        self.queues[index].line.push(id);
        let before = self.queues[index].next;
        let next = self.better(cx, self.rate.position, before, Some(id));
        self.queues[index].next = next;
        let mut interactive = false;
        if self.queues[index].busy {
            let queue = &mut self.queues[index];
            let rare = cx.now.since(queue.q.raise.since) > Duration::from_ms(500);
            if self.set.low_latency && !was_raised && !queue.sync && rare {
                queue.q.raise.as_interactive(self.rate.raise_time);
            }
            if next != before {
                self.renew_budget(cx, index);
            }
        } else {
            interactive = self.wake(cx, index, at);
        }
        let q = &mut self.queues[index].q;
        if self.set.low_latency && (!was_raised || !q.is_raised() || interactive) {
            q.raise.since = cx.now;
        }
    }

    fn wake(&mut self, cx: Cx<'_>, index: usize, at: usize) -> bool {
        let (slice, span, low_latency) = (self.slice(), self.rate.raise_time, self.set.low_latency);
        let queue = &self.queues[index];
        let q = queue.q;
        let away = |ms| q.in_flight == 0 && passed(q.timeout, Duration::from_ms(ms), cx.now);
        let plain = queue.wanted == 40;
        let soft = plain
            && q.in_flight == 0
            && q.seeks != u32::MAX
            && !q.raise.in_burst
            && q.raise.soft_from < cx.now;
        let interactive = plain && away(2_000) && !q.raise.in_burst;
        let own = queue.sync && (!q.shared || self.processes[at].stably) && (interactive || soft);
        let claim = Claim {
            interactive,
            soft,
            in_burst: q.raise.in_burst,
            deserves: low_latency && (q.is_raised() || own),
        };
        let left = queue.budget.saturating_sub(queue.service);
        let goes_on = q.waited && cx.now <= q.thought.since + slice * 3 && left > 0;
        let cost = self.cost(cx, index, queue.next.unwrap());
        let queue = &mut self.queues[index];
        queue.budget = if goes_on { left.min(q.max_budget) } else { q.max_budget.max(cost) };
        queue.service = 0;
        queue.q.waited = goes_on;
        if !q.created && away(10_000) {
            queue.q.raise.in_burst = false;
            let own = self.reference(index);
            self.burst.leave(own, false);
        }
        self.queues[index].q.created = false;
        if low_latency
            && passed(q.split, Duration::from_ms(2_000), cx.now)
            && self.raising(index, |raise| raise.claim(cx.now, claim, span))
        {
            self.queues[index].budget = self.queues[index].budget.min(2 * self.least_budget());
        }
        let q = &mut self.queues[index].q;
        (q.raise.busy_since, q.raise.busy_service) = (cx.now, 0);
        q.raise.plans_soft = false;
        self.make_busy(cx, index);
        self.preempt(cx, index, goes_on);
        interactive
    }

    fn make_busy(&mut self, cx: Cx<'_>, index: usize) {
        let waited = core::mem::take(&mut self.queues[index].q.waited);
        self.activate(cx.now, index, waited);
        let own = self.reference(index);
        let queue = &mut self.queues[index];
        queue.busy = true;
        if queue.q.in_flight == 0 && !queue.q.is_raised() {
            queue.counted = queue.weight;
        }
        if let Some(waker) = queue.q.waker.known
            && self.queues[waker.queue].q.life == waker.life
        {
            self.queues[waker.queue].q.waker.woken = Some(own);
        }
    }

    fn preempt(&mut self, cx: Cx<'_>, index: usize, goes_on: bool) {
        let Some(serving) = self.serving.filter(|serving| self.next != Some(*serving)) else { return };
        let (new, old) = (&self.queues[index], &self.queues[serving]);
        let higher = new.class < old.class || new.weight > old.weight;
        let resumes = goes_on && new.q.raise.factor() >= old.q.raise.factor();
        if higher || resumes || !self.better_to_idle(cx, serving) {
            self.expire(cx, serving, Reason::Preempted, false);
        }
    }

    /// The better of the two to continue with from `head`; ties go to the first.
    fn better(
        &self,
        cx: Cx<'_>,
        head: Sector,
        one: Option<RequestId>,
        two: Option<RequestId>,
    ) -> Option<RequestId> {
        let furthest = 2 * self.set.back_seek_max.0;
        let order = |id: &RequestId| {
            let start = cx[*id].start.0;
            let ahead = start >= head.0;
            let back = head.0.saturating_sub(start);
            let way = if ahead { start - head.0 } else { back.saturating_mul(self.set.back_seek_penalty.0) };
            let far = !ahead && back > furthest;
            (!cx[*id].metadata, far, if far { start } else { way }, !ahead)
        };
        [one, two].into_iter().flatten().min_by_key(order)
    }

    fn after(&mut self, cx: Cx<'_>, index: usize, last: RequestId) -> Option<RequestId> {
        let queue = &mut self.queues[index];
        let looked = core::mem::replace(&mut queue.q.fifo_looked, true);
        let oldest = queue.line[0];
        let key = |id: RequestId| {
            let held = self.held.iter().find(|held| held.id == id).unwrap();
            (cx[id].start, held.turn, held.due)
        };
        if !looked && oldest != last && cx.now >= key(oldest).2 {
            return Some(oldest);
        }
        let others: Vec<RequestId> =
            self.queues[index].line.iter().copied().filter(|id| *id != last).collect();
        let before = others.iter().copied().filter(|id| key(*id) < key(last)).max_by_key(|id| key(*id));
        let behind = others.iter().copied().filter(|id| key(*id) > key(last)).min_by_key(|id| key(*id));
        let behind = behind.or_else(|| others.iter().copied().min_by_key(|id| key(*id)));
        self.better(cx, cx[last].start, behind, before)
    }

    pub(super) fn take_out(&mut self, cx: Cx<'_>, index: usize, id: RequestId) {
        if self.queues[index].next == Some(id) {
            let next = self.after(cx, index, id);
            self.queues[index].next = next;
            self.renew_budget(cx, index);
        }
        self.queues[index].line.retain(|held| *held != id);
        let queue = &self.queues[index];
        if queue.line.is_empty() && queue.busy && self.serving != Some(index) {
            self.not_busy(cx, index, false);
            let queue = &mut self.queues[index];
            (queue.budget, queue.service) = (0, 0);
        }
    }

    fn renew_budget(&mut self, cx: Cx<'_>, index: usize) {
        let Some(next) = self.queues[index].next.filter(|_| self.serving != Some(index)) else { return };
        let cost = self.cost(cx, index, next);
        let queue = &mut self.queues[index];
        let budget = queue.q.max_budget.max(cost).max(queue.service);
        if core::mem::replace(&mut queue.budget, budget) != budget {
            self.requeue(cx.now, index, false);
        }
    }

    pub(super) fn regrow(&mut self, cx: Cx<'_>, id: RequestId) {
        let (start, turn) = (cx[id].start, self.turn + 1);
        let Some(held) = self.held(id) else { return };
        let index = held.queue;
        // Only a request that begins elsewhere is behind its new equals, and may be the next.
        if self.starts.contains(&(id, start)) {
            return;
        }
        self.starts.retain(|(known, _)| *known != id);
        self.starts.push((id, start));
        self.held(id).unwrap().turn = turn;
        self.turn = turn;
        let before = self.queues[index].next;
        let next = self.better(cx, self.rate.position, before, Some(id));
        self.queues[index].next = next;
        if next != before {
            self.renew_budget(cx, index);
        }
    }

    pub(super) fn done(&mut self, cx: Cx<'_>, id: RequestId) {
        let index = self.held(id).unwrap().queue;
        if self.watch.request == Some(id) {
            self.judge(cx.now, index);
        }
        let waiting = self.held.iter().filter(|held| held.waits).count() as u32;
        let serving = self.serving.map(|at| &self.queues[at]).filter(|queue| queue.q.thinks_little);
        let own = serving.map(|queue| queue.q.in_flight + queue.line.len() as u32);
        let in_flight = self.in_flight();
        self.tagging.observe(waiting, in_flight, own);
        self.release(id);
        let slice = self.slice();
        let queue = &mut self.queues[index];
        queue.q.in_flight -= 1;
        let done = queue.q.in_flight == 0;
        if done && !queue.busy {
            (queue.q.timeout, queue.counted) = (Some(cx.now), 0);
        }
        queue.q.thought.since = cx.now;
        if done
            && queue.q.raise.plans_soft
            && queue.line.is_empty()
            && queue.q.raise.kind != Kind::Interactive
        {
            queue.q.raise.plan_soft(cx.now, slice);
        }
        if self.rate.completed(cx.now) {
            self.retune();
        }
        self.last_completed = (!self.queues[index].q.shared).then(|| self.reference(index));
        if self.serving != Some(index) {
            return;
        }
        let empty = self.queues[index].line.is_empty();
        if empty && self.better_to_idle(cx, index) {
            if done {
                let time = self.queues[index].q.idles_for(slice, self.differs(index));
                self.idling_since = cx.now;
                self.wait = Some(cx.now + time);
            }
        } else if self.timed_out(cx.now, index) {
            self.expire(cx, index, Reason::Timeout, false);
        } else if empty {
            self.expire(cx, index, Reason::NoMore, false);
        }
    }
}
