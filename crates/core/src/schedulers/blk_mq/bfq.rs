//! Budget fair queueing: each process gets its share of service, and what a user waits for goes first.
//!
//! # How it decides
//! Each process has a queue for its synchronous requests; the asynchronous requests of one I/O priority
//! share one. One queue is in service at a time.
//! 1. The queue in service continues, at the best place near the head, until its next request costs more
//!    than what is left of its budget, until its time (`timeout_sync`) is over, or until it is empty and
//!    not worth waiting for. Its oldest request is dispatched first once, if that is overdue.
//! 2. Then the next is chosen by B-WF2Q+: real time before best effort before idle; within a class, of
//!    those whose virtual start has come, the one with the least virtual finish. A queue's share is its
//!    weight: 80 for the highest level, 40 for the default, 10 for the lowest, times what the host has set
//!    for its process, of 100. Every 200 ms the idle class may be served first.
//! 3. A budget grows if it is used up and shrinks if the process lets it lie. A queue that seeks, or that
//!    does less than half a full budget in its time, is charged for the time it took. The greatest budget is
//!    what the device can do in `timeout_sync` at its peak rate, which is measured.
//! 4. When the queue in service is empty, its process is waited for up to `slice_idle`: if it streams and
//!    the device would only lose by seeking, or if it would lose its share.
//! 5. Meanwhile others' requests may be dispatched: those that it waits for, and a few that cost it little.
//! 6. A queue that was away for 2 s, or is new, is raised: it weighs 30 times as much for some seconds. One
//!    that asks for a little, regularly, weighs 3000 times as much for 300 ms. Many new queues at once are
//!    not raised.
//! 7. Processes that read near each other share a queue, until that turns out to be seeky.
//!    Processes that begin together share one for good, unless they stream on a disk.
//! 8. Asynchronous requests have room in half of the queue, and together with synchronous writes in three
//!    quarters; while something is raised, in 3/16 and 6/16.
//!
//! # Source
//! Linux 6.1.192 `block/bfq-iosched.c`, `bfq-wf2q.c` and `Documentation/block/bfq-iosched.rst`; Valente and
//! Avanzini 2015.
//!
//! # Differs from the source
//! - Control groups and further actuators are left out. Admission in the queue is limited by kind of request; Linux
//!   with control groups also keeps each process to its share of it.
//! - Linux counts in ticks; here times are nanoseconds, except that charges for time are whole milliseconds.
//! - The host's weight of a process multiplies its level's weight, and the product is rounded up. Linux has weights only
//!   of groups. A process with a weight of its own is not raised, as in Linux one of another level.
//! - `strict_guarantees` makes `slice_idle` at least 8 ms while it is on; Linux changes the tunable. Its
//!   `slice_idle_us` is left out, and what a change of `low_latency` does to times of raising.
//! - A small request that arrives while its process is waited for is dispatched at once. Linux would wait for more
//!   to merge with it, but its driver asks at once.
//! - When nothing waits at all, an empty queue in service stays so until something arrives, so that asking
//!   is free. Linux's block layer does not ask then.
//! - Near queues are looked for among all that wait for their turn, the nearest first, and are all merged at
//!   once. When a shared queue splits, its guests go back to the queues that they had; the process whose
//!   queue it is stays. At most 32 processes are guests. Linux's own order depends on a tree's shape.
//! - A queue knows the last queue that it woke, not all. Processes that have exited wake nobody.
//! - Linux means to let one request of another go after `slice_idle` in vain, but compares nanoseconds with
//!   ticks, so that it never does. Nor does this.
//! - Flushes and discards are requests like others; Linux sends flushes past the scheduler. One without an
//!   extent costs a sector. Requests in flight from an earlier scheduler are not counted.
//! - At most 32 queues without requests wait for their turn after they were preempted. Of processes with
//!   nothing to do at least as many are remembered as the queue has ids; the queue of one that has
//!   issued after its exit starts over, unless it has requests still.
//!
//! # Good for, bad for
//! Good for a desktop on a disk or a slow card: programs start while something copies, and films play.
//! Good for shares of throughput among processes that seek differently. Bad for fast drives with queues
//! of their own, which it keeps waiting and for which it computes much; bad for databases whose processes
//! wait for each other in ways that it does not see.
//!
//! # Starvation
//! No number of requests bounds it. The idle class may go first every 200 ms, if the service of a queue
//! ends then; real time before best effort is strict; and a queue of least weight waits while one of
//! greatest weight has 640 times its service.

pub(crate) mod budget;
mod entity;
mod habits;
mod idling;
mod inject;
mod next_addresses;
pub(crate) mod processes;
mod queues;
pub(crate) mod raise;
pub(crate) mod rate;
mod reasons;
mod requests;
mod service;
mod settings;
mod sharing;
mod tree;
mod wf2q;

#[cfg(test)]
mod tests;

pub use settings::Settings;

use crate::admission::DepthLimit;
use crate::collections::{OutOfMemory, Place};
use crate::request::{Class, Priority, Request};
use crate::scheduler::{Algorithm, Cx, Decision, PriorityEffects, Scheduler, Setup, Starvation};
use crate::tunables::Unit;
use crate::units::{Duration, Issuer, RequestId, Weight};
use budget::Reason;
use processes::weight_of;
use queues::{Queue, Queues};
use raise::{AWAY, Kind, passed};
use service::{Selected, Service};
use sharing::Sharing;

/// The weight that a queue must have to be raised: nobody has given it another.
const PLAIN_WEIGHT: u64 = 40;
/// A process that was away for so long is no longer part of the burst in which it was created.
const BURST_FORGOTTEN: Duration = Duration::from_ms(10_000);

/// Queues by B-WF2Q+, with budgets, idling and weight raising.
pub struct Bfq {
    service: Service,
    sharing: Sharing,
}

impl Bfq {
    /// `request` is the first, or the only one, of the process at `place`. If an earlier process of that number still
    /// has something to do here, its queue continues.
    fn welcome(&mut self, cx: Cx<'_>, place: Place, request: &Request) {
        let (queues, queue) = (&mut self.service.queues, place.index());
        if queues.processes.enter(place) {
            queues.clear(cx, place);
        }
        if queues.processes.list[queue].alive {
            return;
        }
        if !queues.wf2q.entities[queue].busy && queues.list[queue].line.in_flight == 0 {
            let rank = (request.priority, cx.weight(request.issuer));
            queues.clear(cx, place);
            queues.begin(cx.now, queue, rank.0.class, weight_of(rank.0, rank.1));
            let process = &mut queues.processes.list[queue];
            (process.rank, process.born) = (rank, cx.now);
            let owner = &mut queues.processes.owners[queue];
            (owner.place, owner.shared) = (Some(place), owner.users > 0);
        }
        queues.processes.begin(place);
        queues.note_position(cx, queue);
    }

    /// The queue in which `request` of the process at `place` goes, and whether that process has no other.
    fn queue_for(&mut self, cx: Cx<'_>, place: Place, request: &Request) -> (usize, bool) {
        let queues = &mut self.service.queues;
        let process = &mut queues.processes.list[place.index()];
        process.pending += 1;
        let alone = process.pending == 1;
        if request.sync {
            let rank = (request.priority, cx.weight(request.issuer));
            if core::mem::replace(&mut process.rank, rank) != rank {
                let entity = &mut queues.wf2q.entities[process.queue];
                (entity.wanted_class, entity.changed) = (rank.0.class, true);
                entity.wanted = weight_of(rank.0, rank.1);
            }
            return (self.sharing.lead(queues, cx, place, request.start), alone);
        }
        process.async_priority = Some(request.priority);
        let queue = queues.processes.async_queue(request.priority);
        if core::mem::replace(&mut queues.processes.owners[queue].users, 1) == 0 {
            let weight = weight_of(request.priority, Weight::default());
            queues.begin(cx.now, queue, request.priority.class, weight);
        }
        (queue, alone)
    }

    /// What an arrival tells of who issues into its queue; `alone` if its process has no other request.
    fn observe(&mut self, cx: Cx<'_>, queue: usize, request: &Request, alone: bool) {
        let Queues { list, wf2q, processes, injection, settings, .. } = &mut self.service.queues;
        let Queue { line, habits, limit, raise, .. } = &mut list[queue];
        let (slice_idle, sync) = (settings.idle_time(), processes.is_sync(queue));
        let (entity, done) = (&wf2q.entities[queue], line.in_flight == 0);
        if done && !entity.busy {
            habits.note_thought(cx.now, slice_idle);
        }
        habits.note_seek(cx, request);
        if sync {
            habits.note_intensity(cx.now, done && line.is_empty(), processes.owners[queue].new);
        }
        let short = !habits.is_long(slice_idle);
        if short != habits.short
            && sync
            && entity.class != Class::Idle
            && slice_idle > Duration::ZERO
            && processes.is_settled(cx.now, queue, AWAY)
        {
            habits.short = short;
            injection.note_thinking(cx.now, limit, short);
        }
        if raise.kind == Kind::Soft && habits.only_seeks() {
            let span = self.service.queues.budgets.rate.raise_time;
            self.service.queues.change_raise(queue, |raise| raise.end_soft(cx.now, span));
        }
        if sync && alone {
            self.service.queues.learn(cx.now, queue);
        }
    }

    /// Puts `id` among what waits in `queue`.
    fn add(&mut self, cx: Cx<'_>, queue: usize, id: RequestId, request: &Request, place: Place) {
        let queues = &mut self.service.queues;
        let Queue { line, raise, .. } = &mut queues.list[queue];
        let due = request.arrival + queues.settings.expiry(request.sync);
        let leads = queues.requests.add(cx, line, id, request, due);
        if !queues.wf2q.entities[queue].busy {
            self.wake(cx, queue, place);
        } else {
            if queues.settings.low_latency && raise.note_request(cx.now) && !queues.processes.is_sync(queue) {
                let span = queues.budgets.rate.raise_time;
                queues.change_raise(queue, |raise| raise.as_interactive(span));
            }
            if leads {
                queues.renew_budget(cx, queue);
            }
        }
        self.service.queues.note_arrival(cx, queue, leads);
    }

    /// `queue` had nothing to do so far: it may be raised, gets a budget, and may preempt.
    fn wake(&mut self, cx: Cx<'_>, queue: usize, place: Place) {
        let queues = &mut self.service.queues;
        let low_latency = queues.settings.low_latency;
        let Queue { line, budget, habits, raise, .. } = &queues.list[queue];
        let done = line.in_flight == 0;
        let away = |span: Duration| done && passed(budget.timeout, span, cx.now);
        let plain = queues.wf2q.entities[queue].wanted == PLAIN_WEIGHT;
        let calm = plain && done && !habits.only_seeks();
        let shared = queues.processes.owners[queue].shared && !queues.processes.list[place.index()].stably;
        let fit = queues.processes.is_sync(queue) && !shared;
        let (was_raised, claim) = (raise.is_on(), raise.weigh(cx.now, plain && away(AWAY), calm, fit));
        let forgotten = away(AWAY) && away(BURST_FORGOTTEN) && !queues.processes.owners[queue].new;
        let goes_on = queues.begin_budget(cx, queue);
        if forgotten {
            queues.burst.leave(queue, false);
            queues.list[queue].raise.in_burst = false;
        }
        queues.processes.owners[queue].new = false;
        let span = queues.budgets.rate.raise_time;
        if low_latency
            && queues.processes.is_settled(cx.now, queue, AWAY)
            && queues.change_raise(queue, |raise| raise.claim(cx.now, claim, span))
        {
            let entity = &mut queues.wf2q.entities[queue];
            entity.budget = entity.budget.min(2 * queues.budgets.least());
        }
        let raise = &mut queues.list[queue].raise;
        let restarts = !was_raised || !raise.is_on() || claim.interactive;
        raise.wake(cx.now, low_latency && restarts);
        queues.make_busy(cx.now, queue, goes_on);
        self.service.preempt(cx, queue, goes_on);
    }
}

impl Scheduler for Bfq {
    fn insert(&mut self, cx: Cx<'_>, id: RequestId) {
        self.service.catch_up(cx);
        let request = &cx.requests[id];
        let processes = &mut self.service.queues.processes;
        let place = processes.issuers.enter(request.issuer);
        let process = &processes.list[place.index()];
        if process.pending == 0 || !process.alive {
            self.welcome(cx, place, request);
        }
        let (queue, alone) = self.queue_for(cx, place, request);
        let queues = &mut self.service.queues;
        if queue != place.index() {
            queues.processes.hold(queue);
        }
        queues.requests.own(id, queue, place);
        self.observe(cx, queue, request, alone);
        self.add(cx, queue, id, request, place);
        self.service.note_request(cx, queue);
    }

    fn dispatch(&mut self, cx: Cx<'_>) -> Decision {
        self.service.catch_up(cx);
        let queues = &self.service.queues;
        if queues.requests.waiting == 0 {
            return Decision::Idle;
        }
        if queues.settings.strict_guarantees && queues.requests.in_flight > 0 {
            cx.because("strict guarantees: one at a time", || []);
            return Decision::Idle;
        }
        let before = queues.wf2q.in_service;
        let chosen = match self.service.select(cx) {
            Selected::Goes(chosen) => chosen,
            Selected::Idled(queue) => {
                let until = self.service.idles_until(cx, queue);
                reasons::wait(cx, &self.service.queues, queue, until);
                return until.map_or(Decision::Idle, Decision::WaitUntil);
            }
            Selected::Nothing => return Decision::Idle,
        };
        if cx.notes().is_some() {
            self.service.ended.take().into_iter().for_each(|ended| reasons::end(cx, ended));
            reasons::dispatch(cx, &self.service.queues, chosen, before);
        }
        self.service.send(cx, chosen);
        Decision::Dispatch(chosen.id)
    }

    fn complete(&mut self, cx: Cx<'_>, id: RequestId) {
        self.service.catch_up(cx);
        let queues = &mut self.service.queues;
        let Some((queue, place)) = queues.requests.disown(id) else { return };
        queues.note_done(cx.now, queue, id);
        self.service.note_done(cx, queue);
        self.service.queues.processes.release_request(queue, place);
    }

    fn remove(&mut self, cx: Cx<'_>, id: RequestId) {
        self.service.catch_up(cx);
        let queues = &mut self.service.queues;
        if let Some((queue, place)) = queues.requests.disown(id) {
            queues.take_out(cx, queue, id);
            queues.processes.release_request(queue, place);
        }
    }

    fn grown(&mut self, cx: Cx<'_>, id: RequestId) {
        self.service.catch_up(cx);
        let queues = &mut self.service.queues;
        let Some(queue) = queues.requests.queue(id) else { return };
        let line = &mut queues.list[queue].line;
        if queues.requests.grown(cx, line, id) {
            queues.renew_budget(cx, queue);
        }
        queues.note_position(cx, queue);
    }

    fn absorbed(&mut self, cx: Cx<'_>, survivor: RequestId, other: RequestId) {
        let Queues { requests, list, .. } = &mut self.service.queues;
        if let Some(queue) = requests.queue(survivor)
            && requests.queue(other) == Some(queue)
        {
            requests.absorb(&mut list[queue].line, survivor, other);
        }
        self.remove(cx, other);
        self.grown(cx, survivor);
    }

    fn issuer_gone(&mut self, cx: Cx<'_>, who: Issuer) {
        self.service.catch_up(cx);
        let processes = &self.service.queues.processes;
        let Some(place) = processes.find(who) else { return };
        let queue = processes.queue(place);
        if self.service.queues.wf2q.in_service == Some(queue) {
            self.service.leave_service(cx, queue, Reason::Timeout);
        }
        let queues = &mut self.service.queues;
        queues.processes.exit(place);
        self.sharing.follow(queues.processes.reference(queue), None);
        queues.leave(cx, queue);
        if queues.processes.forget(who) {
            queues.clear(cx, place);
        }
    }

    fn may_merge(&self, _: Cx<'_>, id: RequestId, new: &Request) -> bool {
        let Queues { processes, requests, .. } = &self.service.queues;
        let queue = if new.sync {
            processes.find(new.issuer).map(|place| processes.queue(place))
        } else {
            Some(processes.async_queue(new.priority))
        };
        queue.is_some() && requests.queue(id) == queue
    }

    fn depth_limit(&self, size: usize) -> DepthLimit {
        // Linux's `word_depths`: in sixteenths for asynchronous requests, and for all but synchronous reads.
        let raised = self.service.queues.raised_busy > 0;
        let (asynchronous, others) = if raised { (3, 6) } else { (8, 12) };
        DepthLimit { others: size * others / 16, asynchronous: size * asynchronous / 16 }
    }
}

impl Algorithm for Bfq {
    const NAME: &'static str = "bfq";
    const SUMMARY: &'static str =
        "Gives each process its share by budgets; what a user waits for goes first.";
    const SOURCE: &'static str = "Linux 6.1.192 block/bfq-iosched.c, bfq-wf2q.c; Valente and Avanzini 2015";
    type Tunables = Settings;

    fn new(setup: Setup<'_>, tunables: Settings) -> Result<Self, OutOfMemory> {
        let service = Service::new(Queues::new(setup, tunables)?);
        Ok(Bfq { service, sharing: Sharing::default() })
    }

    fn tune(&mut self, tunables: Settings) {
        let queues = &mut self.service.queues;
        let ends = queues.settings.low_latency && !tunables.low_latency;
        queues.settings = tunables;
        queues.requests.back = tunables.back();
        queues.budgets.retune(&tunables);
        if ends {
            (0..queues.list.len()).for_each(|queue| queues.change_raise(queue, |raise| raise.switch_off()));
        }
    }

    fn priority_effects(_: &Settings, priority: Priority) -> PriorityEffects {
        [Some(("weight", weight_of(priority, Weight::default()), Unit::Count)), None, None]
    }

    fn starvation(_: &Settings) -> Starvation {
        Starvation::Unbounded
    }
}
