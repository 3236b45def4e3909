//! The calls of a host.

use super::Cfq;
use super::queues::{Index, Owner, Queues, Way};
use super::reasons::{Choice, End, NoWait, name};
use super::select::{Hold, Plan};
use crate::request::Request;
use crate::scheduler::{Cx, Decision, Scheduler};
use crate::units::{Issuer, RequestId};
use crate::why::Fact;

impl Cfq {
    #[inline]
    fn way(&self) -> Way {
        Way { head: self.head, back: self.settings.back() }
    }

    /// The queue `index` has sent its last request, or lost it.
    #[inline]
    fn ran_empty(&mut self, index: Index) {
        self.busy -= 1;
        if self.active.as_ref().is_none_or(|active| active.queue != index) {
            self.order.remove(index);
        }
        self.queues[index].key = 0;
    }

    /// Takes `id` out of its queue.
    #[inline]
    fn take(&mut self, cx: Cx<'_>, id: RequestId, index: Index) {
        self.queues.remove(cx, id, index, self.way());
        self.waiting -= 1;
        if self.queues[index].is_empty() {
            self.ran_empty(index);
        }
    }

    /// `id` was inserted into the queue `index`.
    #[inline]
    fn arrived(&mut self, cx: Cx<'_>, id: RequestId, index: Index) {
        if let Some(active) = &mut self.active
            && active.queue == index
        {
            active.owed |= active.wait.take().is_some();
        } else if let Some(rule) = self.preempts(cx, id, index) {
            self.preempt(cx, index, rule);
        }
    }

    /// Nothing goes now: says why and until when.
    #[cold]
    fn hold_back(&self, cx: Cx<'_>, plan: Plan, hold: Option<Hold>) -> Decision {
        match (plan, hold, &self.active) {
            (Plan::Wait, _, Some(active)) => self.say_wait(cx, active),
            (Plan::Keep(index) | Plan::Change { to: index, .. }, Some(hold), _) => {
                let (kind, who) = name(&self.queues[index]);
                let kind = Fact::Word(kind);
                match hold {
                    Hold::AsyncInFlight(count) => cx
                        .because("{} {} waits for the {} async requests in flight", || {
                            [kind, who, count.into()]
                        }),
                    Hold::SyncInFlight(count) => cx
                        .because("{} {} waits for the {} sync requests in flight", || {
                            [kind, who, count.into()]
                        }),
                    Hold::Enough(count) => {
                        cx.because("{} {} has {} in flight, which is enough", || [kind, who, count.into()]);
                    }
                    Hold::Ramp(from) => {
                        cx.because("{} {} may have one more in flight at {}", || [kind, who, from.into()]);
                    }
                }
            }
            _ => {}
        }
        self.changes_at(cx.now, plan, hold).map_or(Decision::Idle, Decision::WaitUntil)
    }

    /// Carries out `plan`: the queue that has the disk now, and how it came to have it.
    #[inline]
    fn carry_out(&mut self, cx: Cx<'_>, plan: Plan) -> (Index, Choice) {
        match plan {
            Plan::Change { to, choice, end } => {
                if let (Some(active), Some(end)) = (&self.active, end) {
                    let from = active.queue;
                    if let Choice::Close(_) = choice {
                        self.join(from, to);
                    }
                    self.expire(cx, end, false);
                }
                self.activate(to);
                (to, choice)
            }
            Plan::Keep(index) => (index, Choice::GoesOn),
            Plan::Wait => unreachable!("nothing goes during a wait"),
        }
    }

    /// The queue `index`, which has the disk, sends a request.
    #[inline]
    fn send(&mut self, cx: Cx<'_>, index: Index, choice: Choice) -> Decision {
        let Some(active) = &mut self.active else { return Decision::Idle };
        let looked = core::mem::replace(&mut active.looked, true);
        let late = |id: &RequestId| cx.now >= self.queues.due(*id);
        let overdue = if looked { None } else { self.queues.oldest(index).filter(late) };
        let Some(id) = overdue.or(self.queues[index].next) else { return Decision::Idle };
        if cx.notes().is_some() {
            self.say_why(cx, index, id, choice, overdue.is_some());
        }
        self.ended = None;
        self.take(cx, id, index);
        let queue = &mut self.queues[index];
        queue.in_flight += 1;
        let (sync, level, idle_class) = (queue.sync, queue.level, queue.is_idle_class());
        self.sync_in_flight += u64::from(sync);
        self.in_flight[usize::from(sync)] += 1;
        self.head = cx[id].end();
        if let Some(active) = &mut self.active {
            if active.process.is_none()
                && let Some(owner) = self.queues.owners[id.index()]
            {
                active.process = Some(owner.process);
                self.processes.hold(owner.process.place);
            }
            active.sent += 1;
            active.owed = false;
            let sent = active.sent;
            if self.busy > 1 && idle_class {
                self.expire(cx, End::IdleClass, false);
            } else if self.busy > 1 && !sync && sent >= self.settings.async_quota(level) {
                self.expire(cx, End::Quota(sent), false);
            }
        }
        Decision::Dispatch(id)
    }

    /// A request of the queue that has the disk is done: its slice begins, ends, or waits for more.
    #[inline]
    fn goes_on_after(&mut self, cx: Cx<'_>, index: Index) {
        let queue = &self.queues[index];
        let (sync, idle_class, empty) = (queue.sync, queue.is_idle_class(), queue.is_empty());
        let slice = self.settings.slice(sync, queue.level);
        let Some(active) = &mut self.active else { return };
        let end = *active.end.get_or_insert(cx.now + slice);
        if cx.now >= end {
            self.expire(cx, End::Used(cx.now.since(end)), true);
        } else if idle_class {
            self.expire(cx, End::IdleClass, true);
        } else if empty && sync {
            if self.cooperator(cx, index).is_some() {
                if let Some(active) = &mut self.active {
                    active.no_wait = NoWait::Company;
                }
            } else {
                self.begin_wait(cx);
            }
        }
    }
}

impl Scheduler for Cfq {
    #[inline]
    fn insert(&mut self, cx: Cx<'_>, id: RequestId) {
        self.catch_up(cx);
        self.last_sync.get_or_insert(cx.now);
        let request = &cx[id];
        let process = self.enter_process(cx, id);
        let index = if request.sync {
            self.queue_of(cx, process.place, request.issuer)
        } else {
            Queues::shared(request.priority)
        };
        self.queues.owners[id.index()] = Some(Owner { queue: index, process });
        let due = request.arrival + self.settings.expire(request.sync);
        let was_empty = self.queues[index].is_empty();
        self.queues.insert(cx, id, index, due);
        self.waiting += 1;
        if was_empty {
            self.busy += 1;
            self.set_key(cx.now, index);
            if self.active.as_ref().is_none_or(|active| active.queue != index) {
                self.order.insert(self.queues[index].key, index);
            }
        }
        let way = self.way();
        self.queues.consider(cx, id, index, way);
        self.learn(cx, id, index, process.place);
        self.arrived(cx, id, index);
    }

    #[inline]
    fn dispatch(&mut self, cx: Cx<'_>) -> Decision {
        self.catch_up(cx);
        let Some(plan) = self.plan(cx).filter(|_| self.busy > 0) else { return Decision::Idle };
        let held = match plan {
            Plan::Keep(index) | Plan::Change { to: index, .. } => self.may_send(cx.now, index).err(),
            Plan::Wait => return self.hold_back(cx, plan, None),
        };
        if held.is_some() {
            return self.hold_back(cx, plan, held);
        }
        let (index, choice) = self.carry_out(cx, plan);
        self.send(cx, index, choice)
    }

    #[inline]
    fn complete(&mut self, cx: Cx<'_>, id: RequestId) {
        self.catch_up(cx);
        self.depth.look(self.in_flight[0] + self.in_flight[1], self.waiting);
        let owner = self.queues.owners[id.index()].take();
        let sync = owner.map_or(cx[id].sync, |owner| self.queues[owner.queue].sync);
        self.in_flight[usize::from(sync)] -= 1;
        if sync {
            self.sync_in_flight -= 1;
            self.last_sync = Some(cx.now);
        }
        // Of one that an earlier scheduler dispatched no more is known.
        let Some(Owner { queue: index, process }) = owner else { return };
        self.queues[index].in_flight -= 1;
        if sync && self.processes[process.place].is(process) {
            self.processes[process.place].done = cx.now;
        }
        if self.active.as_ref().is_some_and(|active| active.queue == index) {
            self.goes_on_after(cx, index);
        } else {
            self.tidy(index);
        }
        self.release(process.place);
    }

    fn remove(&mut self, cx: Cx<'_>, id: RequestId) {
        self.catch_up(cx);
        let Some(Owner { queue: index, process }) = self.queues.owners[id.index()].take() else { return };
        self.take(cx, id, index);
        self.tidy(index);
        self.release(process.place);
    }

    fn grown(&mut self, cx: Cx<'_>, id: RequestId) {
        let Some(owner) = self.queues.owners[id.index()] else { return };
        if self.queues.rekey(cx, id, owner.queue) {
            let way = self.way();
            self.queues.consider(cx, id, owner.queue, way);
        }
    }

    /// The survivor goes by the earlier time, if both are in one queue.
    fn absorbed(&mut self, cx: Cx<'_>, survivor: RequestId, other: RequestId) {
        let owners = [survivor, other].map(|id| self.queues.owners[id.index()]);
        if let [Some(own), Some(others)] = owners
            && own.queue == others.queue
        {
            self.queues.inherit(survivor, other, own.queue);
        }
        self.grown(cx, survivor);
        self.remove(cx, other);
    }

    fn issuer_gone(&mut self, cx: Cx<'_>, who: Issuer) {
        self.catch_up(cx);
        if let Some(place) = self.processes.find(who) {
            self.processes[place].exit();
            self.leave(cx, place);
            self.processes.forget(who);
        }
    }

    fn adopt(&mut self, cx: Cx<'_>, id: RequestId) {
        self.last_sync.get_or_insert(cx.now);
        self.in_flight[usize::from(cx[id].sync)] += 1;
        self.sync_in_flight += u64::from(cx[id].sync);
    }

    /// Requests of one queue merge with each other.
    fn may_merge(&self, _: Cx<'_>, id: RequestId, new: &Request) -> bool {
        let queue = if new.sync {
            self.processes.find(new.issuer).and_then(|place| self.processes[place].queue)
        } else {
            Some(Queues::shared(new.priority))
        };
        queue.is_some_and(|queue| self.queues.owners[id.index()].is_some_and(|owner| owner.queue == queue))
    }
}
