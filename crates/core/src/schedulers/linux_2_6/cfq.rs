//! Linux 2.6.32's CFQ: each process has the disk for a slice of time; its I/O priority sets the length.
//!
//! # How it decides
//! A process's synchronous requests wait in a queue of its own. Asynchronous ones wait in queues that
//! all processes share, one for each priority.
//! 1. One queue at a time has the disk, for a slice: `slice_sync` (`slice_async`) at level 4, a fifth of
//!    that more or less with each level. The time runs from the first completion in the slice.
//! 2. When the slice is over, or its queue is empty and not waited for, the next queue is the first by
//!    class (real time, best effort, idle) and then by key. A queue's key is the time when it gets one;
//!    plus, for each other queue, the time by which the longest slice is longer than its own; less what
//!    it had left of its last slice, if that was taken from it or overran.
//! 3. In a slice the best place to continue is next: metadata first, then the nearest ahead of where the
//!    last request ended, or behind it within `back_seek_max`, where the distance counts `back_seek_penalty`
//!    times. Only the first request of a slice may be the oldest instead, if that is overdue.
//! 4. When the last request of a synchronous queue is done, its process is waited for, `slice_idle` from
//!    then, or 2 ms if it seeks more than 8192 sectors on average. Not if it has exited, thinks longer
//!    than that on average or than its slice lasts, or if the device has no seeks but its own queue.
//! 5. Instead of waiting, a queue of the same level whose next request is close takes over: as close as
//!    the processes of the empty one seek on average. From then on both are to share a queue; if that
//!    seeks for more than a second, they part again.
//! 6. A new request's queue preempts the one whose slice is used up; one of the idle class; an
//!    asynchronous one, if it is synchronous itself; one without metadata, if it is metadata; one that
//!    is not real time, if it is; one that is waited for, if it is close. The new one is then served before all others.
//! 7. Of a queue at most `quantum` requests are in flight (four times as many if no other queue has
//!    any; one in the idle class). Asynchronous requests wait until synchronous ones in flight are done,
//!    and vice versa if the queue is one that is waited for. Under `low_latency` asynchronous
//!    ones may be in flight one for each `slice_sync` since a synchronous one was last done, or one.
//! 8. An asynchronous queue loses the disk after 4 to 32 requests, by level, and one of the idle class
//!    after one, if other queues have requests.
//!
//! # Source
//! Linux 2.6.32 `block/cfq-iosched.c`. The service trees by kind and the latency target of 300 ms came
//! later. UNC §II says that CFQ has 64 queues; this one has as many as processes.
//!
//! # Differs from the source
//! - Linux counts in ticks; here times are nanoseconds, except that mean think times round as with ticks
//!   of 1 ms.
//! - Linux makes a queue active even if it may not send anything yet. Here nothing changes until it does;
//!   so what arrives before that is judged by the queue whose slice it was.
//! - Linux's dispatch list is left out: a request goes to the device at once. A small request that was waited
//!   for is dispatched when the host asks, as if it had been unplugged; Linux may wait for it to grow until then.
//! - Where the device has no seeks but its own queue, requests in flight of an empty queue are not waited for either, and a
//!   queue that is alone has no limit. Linux has both so in later versions; with this one four readers of an SSD got a quarter
//!   of it, and who kept 32 requests waiting had 16 in the device.
//! - A wait ends with the slice. Linux finds out only when somebody asks.
//! - Of the neighbours of the head the nearest is looked at for continuing, and the one ahead of two as near;
//!   in Linux it is one of the two next to it by the shape of a tree.
//! - Requests with equal addresses are dispatched in order of arrival; Linux sends an older one to the device at once.
//! - No request is known after which its process is not to be waited for (`REQ_NOIDLE`), nor that a
//!   process holds a lock of a file system, which lends it a higher priority in Linux. Which process may
//!   allocate a request, and when (`may_queue`), is the host's matter.
//! - Who parts from a shared queue gives up the one that it was to join as well.
//! - A process is an issuer's number, and its latest request has its priority. 64 processes are
//!   remembered besides those with requests here.
//!
//! # Good for, bad for
//! Good for disks with heads and many programs at once: each reads on for a while, and shares follow
//! priorities: readers at levels 0, 4 and 7 have the time as their slices are, 180 to 100 to 40, though the
//! last may miss rounds, as its key also comes later. Bad for many processes that seek, for devices with deep
//! queues, and for latency among many readers.
//!
//! # Starvation
//! Requests of the idle class wait as long as there are others. In its own queue a request is passed over
//! as long as its process reads on elsewhere, but for one overdue request in each slice. Real-time
//! requests starve all others.

mod cooperation;
mod in_flight;
mod processes;
mod queues;
mod reasons;
mod service;
mod service_tree;
mod settings;
mod slice;

#[cfg(test)]
mod tests;

use crate::collections::{OutOfMemory, Place};
use crate::request::{Priority, Request};
use crate::scheduler::{Algorithm, Cx, Decision, PriorityEffects, Scheduler, Setup, Starvation};
use crate::tunables::Unit;
use crate::units::{Issuer, RequestId, Sector};
use in_flight::{Hold, InFlight};
use processes::{Owner, Processes, Who};
use queues::{Index, Kind, Queues};
use service::{Choice, End, Plan, Service};
pub use settings::Settings;
use slice::NoWait;

/// Linux 2.6.32's completely fair queueing.
pub struct Cfq {
    processes: Processes,
    queues: Queues,
    service: Service,
    in_flight: InFlight,
    /// Where the last request that went ends.
    head: Sector,
}

impl Algorithm for Cfq {
    const NAME: &'static str = "cfq";
    const SUMMARY: &'static str = "Gives each process the disk for a slice of time, by its I/O priority.";
    const SOURCE: &'static str = "Linux 2.6.32 block/cfq-iosched.c";
    type Tunables = Settings;

    fn new(setup: Setup<'_>, settings: Settings) -> Result<Self, OutOfMemory> {
        // One for each process, and those with requests whose process has left them, or with the disk.
        let own = Processes::places(setup.capacity).saturating_add(setup.capacity).saturating_add(2);
        let queues = Queues::new(setup.capacity, own, settings)?;
        Ok(Cfq {
            processes: Processes::new(setup.capacity)?,
            service: Service::new(queues.len())?,
            queues,
            in_flight: InFlight::new(),
            head: Sector(0),
        })
    }

    fn tune(&mut self, settings: Settings) {
        self.queues.settings = settings;
    }

    /// A process that keeps reading near the head passes over its own requests elsewhere, all but
    /// one in a slice; and no number of requests bounds a slice.
    fn priority_effects(tunables: &Settings, priority: Priority) -> PriorityEffects {
        let level = Kind::new(true, priority).level;
        let slice = |sync: bool| tunables.slice(sync, level).as_ms();
        [
            Some(("slice of synchronous requests", slice(true), Unit::Milliseconds)),
            Some(("of asynchronous ones", slice(false), Unit::Milliseconds)),
            Some(("requests in that at most", tunables.async_quota(level), Unit::Count)),
        ]
    }

    fn starvation(_: &Settings) -> Starvation {
        Starvation::Unbounded
    }
}

impl Cfq {
    /// Lets the timer end the wait, if its time has come. Calls do that first, so that it does not
    /// matter whether the host asked at that very time.
    #[inline]
    fn catch_up(&mut self, cx: Cx<'_>) {
        if let Some(slice) = self.service.slice_mut()
            && let Some((length, used)) = slice.time_out(cx.now)
        {
            let empty = self.queues[slice.queue].is_empty();
            if used || self.queues.busy() > 0 && empty {
                self.expire(cx, End::Waited(length), false);
            }
        }
    }

    /// Takes the disk from the queue that has it.
    fn expire(&mut self, cx: Cx<'_>, end: End, keep_residual: bool) {
        let slice = self.service.expire(cx.now, &mut self.queues, end, keep_residual);
        let Some(slice) = slice else { return };
        if let Some(who) = slice.process {
            self.processes.release(who);
        }
        self.queues.tidy(slice.queue, None);
    }

    /// The process at `place`, which has exited or is forgotten, gives up its queue, and the queue's slice ends.
    fn leave(&mut self, cx: Cx<'_>, place: Place) {
        let Some(own) = self.processes[place].queue.take() else { return };
        if self.service.active() == Some(own) {
            self.expire(cx, End::Exited, false);
        }
        self.queues.leave(own, self.service.active());
    }

    /// Who issues `request`. The process is held once more.
    #[inline]
    fn enter_process(&mut self, cx: Cx<'_>, request: &Request) -> Who {
        if let Some(place) = self.processes.makes_room_for(request.issuer) {
            self.leave(cx, place);
        }
        let (who, changed) = self.processes.enter(cx.now, request);
        if changed && let Some(own) = self.processes[who.place].queue {
            self.queues[own].set_priority(request.priority);
        }
        who
    }

    /// The queue for `request` of the process at `place`.
    #[inline]
    fn queue_for(&mut self, cx: Cx<'_>, request: &Request, place: Place) -> Index {
        if !request.sync {
            return Queues::shared(request.priority);
        }
        let active = self.service.active();
        let queue = match self.processes[place].queue {
            Some(own) => self.queues.next_for(cx.now, own, request, active),
            None => self.queues.open(request),
        };
        self.processes[place].queue = Some(queue);
        queue
    }

    /// `request` was inserted into the queue `index`, perhaps that which has the disk.
    #[inline]
    fn arrived(&mut self, cx: Cx<'_>, request: &Request, index: Index) {
        let Some(slice) = self.service.slice_mut() else { return };
        let (old, new) = (&self.queues[slice.queue], &self.queues[index]);
        if slice.queue == index {
            slice.arrived();
        } else if let Some(rule) = slice.preempted_by(cx.now, self.head, request, new, old) {
            self.expire(cx, End::Preempted(rule), true);
            self.service.move_to_front(index, self.queues[index].kind.class);
        }
    }

    /// Takes `id` out of its queue.
    #[inline]
    fn take(&mut self, cx: Cx<'_>, id: RequestId, index: Index) {
        if self.queues.remove(cx, id, index, self.head) {
            self.service.ran_empty(index);
        }
    }

    /// Carries out that `to` has the disk now.
    fn change(&mut self, cx: Cx<'_>, to: Index, choice: Choice, end: Option<End>) {
        if let (Some(from), Some(end)) = (self.service.active(), end) {
            if let Choice::Close(_) = choice {
                self.queues.join(from, to);
            }
            self.expire(cx, end, false);
        }
        self.service.activate(to);
    }

    /// The queue `index`, which has the disk, sends a request.
    #[inline]
    fn send(&mut self, cx: Cx<'_>, index: Index, choice: Choice) -> Decision {
        let Some(slice) = self.service.slice_mut() else { return Decision::Idle };
        let late = |id: &RequestId| cx.now >= self.queues.due(*id);
        let overdue = if slice.look() { self.queues[index].oldest().filter(late) } else { None };
        let Some(id) = overdue.or(self.queues[index].next) else { return Decision::Idle };
        let Kind { sync, level, .. } = self.queues[index].kind;
        if cx.notes().is_some() {
            let length = self.queues.settings.slice(sync, level);
            let late = overdue.map(|id| cx.now.since(self.queues.due(id)));
            reasons::goes(cx, &self.service, &self.queues, index, length, choice, late);
        }
        self.service.forget_ended();
        self.take(cx, id, index);
        self.queues[index].in_flight += 1;
        self.in_flight.sent(sync);
        self.head = cx[id].end();
        self.count(cx, id, index);
        Decision::Dispatch(id)
    }

    /// `id` went in the slice of the queue `index`, which may end that.
    #[inline]
    fn count(&mut self, cx: Cx<'_>, id: RequestId, index: Index) {
        let (Some(slice), Some(owner)) = (self.service.slice_mut(), self.processes.owner(id)) else { return };
        let (sent, first) = slice.sends(owner.process);
        if first {
            self.processes.hold(owner.process);
        }
        let kind = self.queues[index].kind;
        if self.queues.busy() > 1 && kind.is_idle_class() {
            self.expire(cx, End::IdleClass, false);
        } else if self.queues.busy() > 1 && !kind.sync && sent >= self.queues.settings.async_quota(kind.level)
        {
            self.expire(cx, End::Quota(sent), false);
        }
    }

    /// A request of the queue that has the disk is done: its slice begins, ends, or waits for more.
    #[inline]
    fn goes_on_after(&mut self, cx: Cx<'_>) {
        let Some(slice) = self.service.slice_mut() else { return };
        let queue = &self.queues[slice.queue];
        let kind = queue.kind;
        let end = slice.begin(cx.now, self.queues.settings.slice(kind.sync, kind.level));
        if cx.now >= end {
            self.expire(cx, End::Used(cx.now.since(end)), true);
        } else if kind.is_idle_class() {
            self.expire(cx, End::IdleClass, true);
        } else if queue.is_empty() && kind.sync {
            self.begin_wait(cx);
        }
    }

    /// Nothing goes now: says why and until when.
    #[cold]
    fn hold_back(&self, cx: Cx<'_>, plan: Plan, hold: Option<(Index, Hold)>) -> Decision {
        match (hold, self.service.slice()) {
            (Some((index, hold)), _) => reasons::holds(cx, self.queues[index].name(), hold),
            (None, Some(slice)) => reasons::waits(cx, &self.queues, &self.processes, slice),
            (None, None) => {}
        }
        let ramp = if let Some((_, Hold::Ramp(from))) = hold { Some(from) } else { None };
        let change = self.service.changes_at(cx.now, &self.queues, plan);
        change.into_iter().chain(ramp).min().map_or(Decision::Idle, Decision::WaitUntil)
    }

    /// The queue that has the disk has no more requests: its process is waited for, unless something
    /// speaks against it.
    fn begin_wait(&mut self, cx: Cx<'_>) {
        let Some(slice) = self.service.slice() else { return };
        let queue = &self.queues[slice.queue];
        let length = match self.service.cooperator(cx, &self.queues, self.head, queue) {
            Some(_) => Err(NoWait::Company),
            None => self.in_flight.wait(cx, &self.queues, slice, &self.processes),
        };
        self.service.slice_mut().into_iter().for_each(|slice| slice.wait(cx.now, length));
    }
}

impl Scheduler for Cfq {
    #[inline]
    fn insert(&mut self, cx: Cx<'_>, id: RequestId) {
        self.catch_up(cx);
        self.in_flight.begin(cx.now);
        let request = &cx[id];
        let who = self.enter_process(cx, request);
        let queue = self.queue_for(cx, request, who.place);
        self.processes.own(id, Owner { queue, process: who });
        if self.queues.insert(cx, id, queue, self.head) {
            self.service.fills(cx.now, &mut self.queues, queue);
        }
        let process = &mut self.processes[who.place];
        process.issues(cx.now, self.queues.settings.slice_idle.0 * 2);
        self.queues[queue].idle_window = self.in_flight.idle_window(&self.queues, queue, process);
        self.arrived(cx, request, queue);
    }

    #[inline]
    fn dispatch(&mut self, cx: Cx<'_>) -> Decision {
        self.catch_up(cx);
        if self.queues.busy() == 0 {
            return Decision::Idle;
        }
        let no_seeks = self.in_flight.no_seeks(cx);
        let Some(plan) = self.service.plan(cx, &self.queues, self.head, no_seeks) else {
            return Decision::Idle;
        };
        let (index, choice) = match plan {
            Plan::Keep(index) => (index, Choice::GoesOn),
            Plan::Change { to, choice, .. } => (to, choice),
            Plan::Wait => return self.hold_back(cx, plan, None),
        };
        if let Err(hold) = self.in_flight.may_send(cx, &self.queues, index) {
            return self.hold_back(cx, plan, Some((index, hold)));
        }
        if let Plan::Change { to, choice, end } = plan {
            self.change(cx, to, choice, end);
        }
        self.send(cx, index, choice)
    }

    #[inline]
    fn complete(&mut self, cx: Cx<'_>, id: RequestId) {
        self.catch_up(cx);
        self.in_flight.done(cx.now, cx[id].sync, self.queues.waiting());
        // Of one that an earlier scheduler dispatched no more is known.
        let Some(Owner { queue, process }) = self.processes.disown(id) else { return };
        self.queues[queue].in_flight -= 1;
        if cx[id].sync {
            self.processes.done(cx.now, process);
        }
        if self.service.active() == Some(queue) {
            self.goes_on_after(cx);
        } else {
            self.queues.tidy(queue, None);
        }
        self.processes.release(process);
    }

    fn remove(&mut self, cx: Cx<'_>, id: RequestId) {
        self.catch_up(cx);
        let Some(Owner { queue, process }) = self.processes.disown(id) else { return };
        self.take(cx, id, queue);
        self.queues.tidy(queue, self.service.active());
        self.processes.release(process);
    }

    fn grown(&mut self, cx: Cx<'_>, id: RequestId) {
        let Some(Owner { queue, .. }) = self.processes.owner(id) else { return };
        self.queues.rekey(cx, id, queue, self.head);
    }

    /// The survivor goes by the earlier time, if both are in one queue.
    fn absorbed(&mut self, cx: Cx<'_>, survivor: RequestId, other: RequestId) {
        let queues = [survivor, other].map(|id| self.processes.owner(id).map(|owner| owner.queue));
        if let [Some(own), Some(others)] = queues
            && own == others
        {
            self.queues.inherit(survivor, other, own);
        }
        self.grown(cx, survivor);
        self.remove(cx, other);
    }

    fn issuer_gone(&mut self, cx: Cx<'_>, who: Issuer) {
        self.catch_up(cx);
        if let Some(place) = self.processes.find(who) {
            self.leave(cx, place);
            self.processes.exit(place);
        }
    }

    fn adopt(&mut self, cx: Cx<'_>, id: RequestId) {
        self.in_flight.begin(cx.now);
        self.in_flight.sent(cx[id].sync);
    }

    /// Requests of one queue merge with each other.
    fn may_merge(&self, _: Cx<'_>, id: RequestId, new: &Request) -> bool {
        let queue = if new.sync {
            self.processes.find(new.issuer).and_then(|place| self.processes[place].queue)
        } else {
            Some(Queues::shared(new.priority))
        };
        queue.is_some() && queue == self.processes.owner(id).map(|owner| owner.queue)
    }
}
