//! Slow reference for `bfq`, for the oracle suite: B-WF2Q+, budgets, idling and service over lists that
//! are searched.
//!
//! The reference shares with the fast form what is arithmetic on one queue or on the device:
//! [`Raise`](crate::schedulers::blk_mq::bfq::raise::Raise), [`Burst`], [`Rate`] and [`Tagging`]. Nothing is forgotten here, as no test has more processes than there are places.

mod arrivals;
mod record;
mod service;
mod sharing;

use alloc::vec::Vec;

use record::{Queue, Watch};

use crate::request::{Class, Priority, Request};
use crate::scheduler::{Cx, Decision, Scheduler, Setup};
use crate::schedulers::blk_mq::bfq::processes::{Ref, async_index};
use crate::schedulers::blk_mq::bfq::raise::Burst;
use crate::schedulers::blk_mq::bfq::rate::{Rate, Tagging};
use crate::schedulers::blk_mq::bfq::{Bfq, Settings};
use crate::units::{Duration, Instant, Issuer, RequestId, Sector, Weight};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Seat {
    Off,
    Active,
    Idle,
}

impl super::Referenced for Bfq {
    fn reference(setup: Setup<'_>, settings: Settings) -> alloc::boxed::Box<dyn Scheduler> {
        alloc::boxed::Box::new(Reference::new(setup, settings))
    }
}

/// A queue with all that is known of it.
struct Slow {
    q: Queue,
    sync: bool,
    /// In order of arrival.
    line: Vec<RequestId>,
    next: Option<RequestId>,
    busy: bool,
    class: Class,
    wanted_class: Class,
    wanted: u64,
    own: u64,
    weight: u64,
    counted: u64,
    start: u64,
    finish: u64,
    budget: u64,
    service: u64,
    seat: Seat,
    turn: u64,
    weighs: bool,
}

struct Process {
    who: Issuer,
    alive: bool,
    own: usize,
    queue: usize,
    pending: u32,
    rank: (Priority, Weight),
    last_async: Option<Priority>,
    saved: Option<crate::schedulers::blk_mq::bfq::raise::Raise>,
    met: bool,
    stable: Option<Ref>,
    stably: bool,
}

/// A request that waits or is in flight.
struct Held {
    id: RequestId,
    queue: usize,
    who: Issuer,
    due: Instant,
    /// Order of insertion among requests of the same address.
    turn: u64,
    waits: bool,
}

pub(super) struct Reference {
    set: Settings,
    queues: Vec<Slow>,
    processes: Vec<Process>,
    /// Which asynchronous queue is where.
    asyncs: Vec<(usize, usize)>,
    held: Vec<Held>,
    /// Where each request that waits begins, as far as was told.
    starts: Vec<(RequestId, Sector)>,
    times: [u64; 3],
    turn: u64,
    serving: Option<usize>,
    next: Option<usize>,
    idle_looked: Option<Instant>,
    most: u64,
    given: u64,
    rate: Rate,
    tagging: Tagging,
    wait: Option<Instant>,
    idling_since: Instant,
    budget_start: Instant,
    served_to: Sector,
    watch: Watch,
    last_completed: Option<Ref>,
    burst: Burst<Ref>,
    last_created: Option<Ref>,
}

impl Reference {
    pub(super) fn new(setup: Setup<'_>, set: Settings) -> Reference {
        Reference {
            set,
            queues: Vec::new(),
            processes: Vec::new(),
            asyncs: Vec::new(),
            held: Vec::new(),
            starts: Vec::new(),
            times: [0; 3],
            turn: 0,
            serving: None,
            next: None,
            idle_looked: None,
            most: if set.max_budget.0 > 0 { set.max_budget.0 } else { 16_384 },
            given: 0,
            rate: Rate::new(setup.device.rotational),
            tagging: Tagging::default(),
            wait: None,
            idling_since: Instant::ZERO,
            budget_start: Instant::ZERO,
            served_to: Sector(0),
            watch: Watch::default(),
            last_completed: None,
            burst: Burst::default(),
            last_created: None,
        }
    }

    fn slice(&self) -> Duration {
        let set = self.set.slice_idle.0;
        if self.set.strict_guarantees && set < Duration::from_ms(8) { Duration::from_ms(8) } else { set }
    }

    fn held(&mut self, id: RequestId) -> Option<&mut Held> {
        self.held.iter_mut().find(|held| held.id == id)
    }

    fn in_flight(&self) -> u32 {
        self.held.iter().filter(|held| !held.waits).count() as u32
    }

    fn busy(&self) -> usize {
        self.queues.iter().filter(|queue| queue.busy).count()
    }

    fn raised_busy(&self) -> usize {
        self.queues.iter().filter(|queue| queue.busy && queue.q.is_raised()).count()
    }

    fn differs(&self, index: usize) -> bool {
        let weights: Vec<u64> = self.queues.iter().map(|queue| queue.counted).filter(|w| *w > 0).collect();
        let (least, most) = (weights.iter().min(), weights.iter().max());
        let varied = least != most && least != Some(&self.queues[index].counted);
        let classes = [Class::RealTime, Class::BestEffort, Class::Idle];
        let busy = classes.iter().filter(|class| self.queues.iter().any(|q| q.busy && q.class == **class));
        varied || busy.count() > 1
    }

    fn cost(&self, cx: Cx<'_>, index: usize, id: RequestId) -> u64 {
        let queue = &self.queues[index];
        let sectors = u64::from(cx[id].length.0).max(1);
        if queue.sync || queue.q.is_raised() || self.differs(index) { sectors } else { 3 * sectors }
    }

    fn reference(&self, index: usize) -> Ref {
        Ref { queue: index, life: self.queues[index].q.life }
    }

    fn process(&self, who: Issuer) -> Option<usize> {
        self.processes.iter().position(|process| process.who == who)
    }

    fn boosts(&self, cx: Cx<'_>, index: usize) -> bool {
        let q = &self.queues[index].q;
        let single = !self.tagging.queues();
        let streams = !q.is_seeky() && q.io_bound && q.thinks_little;
        let faster = match (cx.device.rotational, single) {
            (true, true) => true,
            (true, false) | (false, true) => streams,
            (false, false) => false,
        };
        q.users > 0 && faster && self.raised_busy() == 0
    }

    fn needed(&self, index: usize) -> bool {
        let q = &self.queues[index].q;
        let crowded = self.raised_busy() < self.busy() || self.in_flight() >= q.in_flight + 4;
        q.users > 0 && (q.is_raised() && crowded || self.differs(index) || self.busy() == 1)
    }

    fn better_to_idle(&self, cx: Cx<'_>, index: usize) -> bool {
        let queue = &self.queues[index];
        if queue.q.users == 0 || self.set.strict_guarantees {
            return queue.q.users > 0;
        }
        queue.sync
            && queue.class != Class::Idle
            && self.slice() > Duration::ZERO
            && (self.boosts(cx, index) || self.needed(index))
    }

    /// The wait ends at its time.
    fn catch_up(&mut self, cx: Cx<'_>) {
        let Some(until) = self.wait.filter(|until| *until <= cx.now) else { return };
        self.wait = None;
        let Some(index) = self.serving else { return };
        let reason = if self.queues[index].q.timeout.is_none_or(|at| at <= until) {
            crate::schedulers::blk_mq::bfq::budget::Reason::Timeout
        } else {
            crate::schedulers::blk_mq::bfq::budget::Reason::TooIdle
        };
        self.expire(cx.at(until), index, reason, true);
    }

    fn async_at(&self, priority: Priority) -> Option<usize> {
        self.asyncs.iter().find(|(which, _)| *which == async_index(priority)).map(|(_, at)| *at)
    }
}

impl Scheduler for Reference {
    fn insert(&mut self, cx: Cx<'_>, id: RequestId) {
        self.catch_up(cx);
        self.arrive(cx, id);
    }

    fn dispatch(&mut self, cx: Cx<'_>) -> Decision {
        self.catch_up(cx);
        let none = self.held.iter().all(|held| !held.waits);
        if none || self.set.strict_guarantees && self.in_flight() > 0 {
            return Decision::Idle;
        }
        match self.select(cx) {
            Ok(index) => self.send(cx, index),
            Err(decision) => decision,
        }
    }

    fn complete(&mut self, cx: Cx<'_>, id: RequestId) {
        self.catch_up(cx);
        if self.held(id).is_some() {
            self.done(cx, id);
        }
    }

    fn remove(&mut self, cx: Cx<'_>, id: RequestId) {
        self.catch_up(cx);
        if let Some(index) = self.held(id).map(|held| held.queue) {
            self.take_out(cx, index, id);
            self.release(id);
        }
    }

    fn grown(&mut self, cx: Cx<'_>, id: RequestId) {
        self.catch_up(cx);
        self.regrow(cx, id);
    }

    fn absorbed(&mut self, cx: Cx<'_>, survivor: RequestId, other: RequestId) {
        self.catch_up(cx);
        let at = |id| self.held.iter().position(|held| held.id == id).unwrap();
        let (a, b) = (at(survivor), at(other));
        let index = self.held[a].queue;
        if index == self.held[b].queue {
            let queue = &mut self.queues[index];
            if self.held[b].due < self.held[a].due {
                self.held[a].due = self.held[b].due;
                queue.line.retain(|id| *id != survivor);
                let place = queue.line.iter().position(|id| *id == other).unwrap();
                queue.line.insert(place, survivor);
            }
            if queue.next == Some(other) {
                queue.next = Some(survivor);
            }
        }
        self.remove(cx, other);
        self.grown(cx, survivor);
    }

    fn issuer_gone(&mut self, cx: Cx<'_>, who: Issuer) {
        self.catch_up(cx);
        self.exit(cx, who);
    }

    fn may_merge(&self, _: Cx<'_>, id: RequestId, new: &Request) -> bool {
        let Some(held) = self.held.iter().find(|held| held.id == id) else { return false };
        let process = self.processes.iter().find(|process| process.who == new.issuer && process.alive);
        let queue = if new.sync { process.map(|process| process.queue) } else { self.async_at(new.priority) };
        queue == Some(held.queue)
    }
}
