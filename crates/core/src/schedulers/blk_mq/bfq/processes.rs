//! Processes: who issues into which queue, from a process's first request to its exit.

use super::Bfq;
use super::arrive::Arrival;
use super::budget::Reason;
use super::entity::Entity;
use super::queue::{self, ASYNC_QUEUES, Queue, Ref};
use super::raise::{Raise, passed};
use crate::collections::Place;
use crate::request::{Class, Priority, Request};
use crate::scheduler::Cx;
use crate::units::{Duration, Instant, Issuer, RequestId, Weight};

/// Right after it came back to its own queue, a process does not count towards a burst.
const SPLIT_SETTLES: Duration = Duration::from_ms(10);

/// A process.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Process {
    /// It has issued something and not exited since.
    pub(super) alive: bool,
    /// Where its synchronous requests go.
    pub(super) queue: usize,
    /// Its requests, waiting or in flight.
    pub(super) pending: u32,
    /// That of its last synchronous request, and its weight.
    pub(super) rank: (Priority, Weight),
    /// That of its last asynchronous request.
    pub(super) async_priority: Option<Priority>,
    /// It has issued a synchronous request.
    pub(super) met: bool,
    /// The queue that was created with its own, if it may go on in that one for good.
    pub(super) stable: Option<Ref>,
    /// It shares a queue for good.
    pub(super) stably: bool,
    /// How its queue was raised when it went to another's.
    pub(super) saved: Option<Raise>,
}

impl Bfq {
    /// The asynchronous queue of this priority.
    pub(super) fn async_queue(&self, priority: Priority) -> usize {
        self.queues.len() - ASYNC_QUEUES + queue::async_index(priority)
    }

    /// Who has issued `id`, which arrives, and where it belongs. Its process is held while it has requests.
    pub(super) fn admit<'a>(&mut self, cx: Cx<'a>, id: RequestId) -> Arrival<'a> {
        let request = &cx.requests[id];
        let place = self.issuers.enter(request.issuer);
        let process = &self.processes[place.index()];
        if process.pending == 0 || !process.alive {
            self.welcome(cx, place, request);
        }
        let process = &mut self.processes[place.index()];
        process.pending += 1;
        let alone = process.pending == 1;
        let index = if request.sync {
            self.sync_queue(cx, place, request)
        } else {
            process.async_priority = Some(request.priority);
            self.begin_async(cx.now, request.priority)
        };
        Arrival { id, request, place, alone, index }
    }

    /// The process at `place` has no requests, or is not known to live.
    fn welcome(&mut self, cx: Cx<'_>, place: Place, request: &Request) {
        if self.processes[place.index()].pending == 0 {
            if !core::mem::replace(&mut self.issuers[place], true) {
                self.clear(cx.now, place.index());
            }
            self.issuers.hold(place);
        }
        if !self.processes[place.index()].alive {
            self.begin(cx, place, request);
        }
    }

    /// Where the process at `place` goes on with `request`, which is synchronous.
    fn sync_queue(&mut self, cx: Cx<'_>, place: Place, request: &Request) -> usize {
        let rank = (request.priority, cx.weight(request.issuer));
        let process = &self.processes[place.index()];
        let (ranked, met) = (process.rank == rank, process.met);
        if !ranked {
            self.rank(place, rank);
        }
        if !met {
            self.meet(cx, place);
        }
        let mut index = self.processes[place.index()].queue;
        let queue = &self.queues[index];
        if queue.splits || queue.created {
            index = self.split(cx, place, index);
            self.enter_burst(cx.now, index);
        }
        self.merge(cx, index, place, request.start)
    }

    /// `request` is the first of its process. If an earlier one of that number still has something to do
    /// here, its queue goes on.
    fn begin(&mut self, cx: Cx<'_>, place: Place, request: &Request) {
        let index = place.index();
        if !self.service.shares.is_busy(index) && self.queues[index].in_flight == 0 {
            // Asynchronous requests of the earlier one may be under way.
            let pending = self.processes[index].pending;
            self.clear(cx.now, index);
            self.processes[index].pending = pending;
            let weight = cx.weight(request.issuer);
            let class = request.priority.class;
            let life = self.queues[index].life;
            self.queues[index] = Queue {
                life,
                max_budget: self.bounds.first(),
                users: self.queues[index].users,
                shared: self.queues[index].users > 0,
                ..Queue::new(cx.now, Some(place), request.issuer, class)
            };
            self.service.replace(index, Entity::new(class, queue::weight_of(request.priority, weight)));
            self.processes[index].rank = (request.priority, weight);
        }
        let process = &mut self.processes[index];
        (process.alive, process.queue) = (true, index);
        self.queues[index].users += 1;
    }

    /// The asynchronous queue of this priority, which exists from now on.
    fn begin_async(&mut self, now: Instant, priority: Priority) -> usize {
        let index = self.async_queue(priority);
        if self.queues[index].users == 0 {
            let max_budget = self.bounds.first();
            let new = Queue::new(now, None, Issuer::UNKNOWN, priority.class);
            self.queues[index] = Queue { max_budget, users: 1, ..new };
            let weight = queue::weight_of(priority, Weight::default());
            self.service.replace(index, Entity::new(priority.class, weight));
        }
        index
    }

    /// The process at `place` has another priority or weight than before.
    #[cold]
    fn rank(&mut self, place: Place, rank: (Priority, Weight)) {
        let process = &mut self.processes[place.index()];
        process.rank = rank;
        let entity = &mut self.service.entities[process.queue];
        (entity.wanted_class, entity.wanted) = (rank.0.class, queue::weight_of(rank.0, rank.1));
        entity.changed = true;
    }

    /// The queue of the process at `place`: its own again, if `index`, which it shares, shall be split.
    #[cold]
    fn split(&mut self, cx: Cx<'_>, place: Place, index: usize) -> usize {
        let own = place.index();
        let queue = &mut self.queues[index];
        if !(queue.shared && queue.splits) || self.processes[own].stably {
            return index;
        }
        if queue.users == 1 {
            (queue.shared, queue.splits) = (false, false);
            return index;
        }
        if own == index {
            return index;
        }
        self.go_home(place);
        let span = self.rate.raise_time;
        let low_latency = self.tunables.low_latency;
        let queue = &mut self.queues[own];
        queue.users += 1;
        queue.split = Some(cx.now);
        (queue.shared, queue.splits, queue.created) = (false, false, false);
        let saved = self.processes[own].saved.take();
        if let Some(saved) = saved.filter(|_| low_latency) {
            self.change_raise(own, |queue| queue.raise.resume(saved, cx.now, queue.in_burst, span));
        }
        own
    }

    /// The process at `place` issues into another's queue no longer.
    fn go_home(&mut self, place: Place) {
        let process = &mut self.processes[place.index()];
        let index = core::mem::replace(&mut process.queue, place.index());
        self.queues[index].users -= 1;
        if let Some(host) = self.queues[index].place.filter(|host| *host != place) {
            self.issuers.release(host);
            self.guests -= 1;
        }
    }

    /// If the process of a queue is new, it may be one of many.
    #[cold]
    fn enter_burst(&mut self, now: Instant, index: usize) {
        let busy = self.service.shares.busy() > 0;
        let queue = &self.queues[index];
        let settles = queue.split.is_some() && !passed(queue.split, SPLIT_SETTLES, now);
        if !queue.created || (self.burst.size == 0 && busy) || queue.in_burst || settles {
            return;
        }
        let found = self.burst.created(now, self.reference(index), busy);
        for Ref { queue, life } in found.into_iter().flatten() {
            if self.queues[queue].life == life {
                self.queues[queue].in_burst = true;
            }
        }
    }

    /// What was at `index` is somebody else's, or nobody's.
    fn clear(&mut self, now: Instant, index: usize) {
        self.burst.leave(self.reference(index), true);
        let at_home = self.is_at_home(index);
        if let Some(place) = self.queues[index].place
            && self.processes[index].alive
            && self.processes[index].queue != index
        {
            self.go_home(place);
        }
        self.service.replace(index, Entity::new(Class::BestEffort, 1));
        let life = self.queues[index].life + 1;
        let users = self.queues[index].users - u32::from(at_home);
        self.queues[index] =
            Queue { life, users, ..Queue::new(now, None, Issuer::UNKNOWN, Class::BestEffort) };
        self.processes[index] = Process::default();
    }

    /// The process at `index` lives and issues into its own queue.
    pub(super) fn is_at_home(&self, index: usize) -> bool {
        self.processes[index].alive && self.processes[index].queue == index
    }

    /// A request of the process at `place`, in `index` so far, is no more.
    pub(super) fn release(&mut self, index: usize, place: Place) {
        let process = &mut self.processes[place.index()];
        process.pending -= 1;
        if process.pending == 0 {
            self.issuers.release(place);
        }
        if index != place.index()
            && let Some(host) = self.queues[index].place
        {
            self.issuers.release(host);
        }
    }

    /// What has arrived is kept until it is released. Its process is held already; a host is, too.
    pub(super) fn keep(&mut self, Arrival { id, request, place, index, .. }: Arrival<'_>) {
        if index != place.index()
            && let Some(host) = self.queues[index].place
        {
            self.issuers.hold(host);
        }
        let expire =
            if request.sync { self.tunables.fifo_expire_sync } else { self.tunables.fifo_expire_async };
        self.requests.own(id, index, place, request.arrival + expire.0);
    }

    /// The process `who` has exited: nobody waits for it.
    pub(super) fn exit(&mut self, cx: Cx<'_>, who: Issuer) {
        let Some(place) = self.issuers.find(who) else { return };
        let own = place.index();
        if !self.processes[own].alive {
            return;
        }
        let index = self.processes[own].queue;
        if self.service.in_service == Some(index) {
            self.leave_service(cx, index, Reason::Timeout);
        }
        if index == own {
            self.queues[own].users -= 1;
        } else {
            self.go_home(place);
        }
        self.processes[own].alive = false;
        self.follow(self.reference(index), None);
        let idle = self.queues[index].is_empty() && self.service.in_service != Some(index);
        if idle && self.service.shares.is_busy(index) {
            self.not_busy(cx, index, false);
        }
        self.issuers.forget(who);
        if self.issuers.find(who).is_none() {
            self.clear(cx.now, own);
        }
    }
}
