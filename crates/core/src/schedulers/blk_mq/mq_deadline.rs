//! Linux's mq-deadline: the deadline scheduler for each class of I/O priority, higher classes first.
//!
//! # How it decides
//! Each class (real-time, best-effort, idle) keeps reads and writes apart, as `deadline` does, by
//! address and in order of arrival. What counts a batch is common to all classes: how many requests it
//! has sent, its direction, and how often reads were preferred to writes.
//! 1. If at least two classes have requests waiting or in flight, best-effort and then idle requests may
//!    age: the one that the class would send is dispatched now if it has waited for `prio_aging_expire`.
//! 2. Else the highest class that has requests waiting sends one. A class waits while any higher one
//!    has requests in flight.
//!
//! Within a class:
//! 1. The batch continues with the request that followed the class's last one of the batch's direction
//!    by address, as long as the batch has fewer than `fifo_batch`.
//! 2. Else a direction is chosen: reads if there are any, unless writes wait too and reads were already
//!    preferred to them `writes_starved` times. Choosing writes sets that count to 0.
//! 3. In that direction a batch begins with the oldest request if its deadline has come; else with the
//!    request that followed the class's last one of that direction by address; else with the oldest.
//!
//! What is no synchronous read has room for `async_depth` requests in the queue.
//!
//! # Source
//! Linux 6.1 `block/mq-deadline.c`. Unlike in the single-queue `deadline`, a deadline has passed at its
//! very moment, and each direction keeps its own place for the next batch. What step 1 would begin counts
//! as begun even if its request turns out to be too young and a higher class is served: reads are preferred
//! once more, or the higher class's batch has sent none so far.
//!
//! # Differs from the source
//! A call that yields nothing changes nothing; in Linux the choice of direction counts there, too, and
//! how often Linux asks depends on its own needs. While a lower class waits for a higher one's requests
//! in flight, the host is asked to come back when ageing or a deadline may change that; Linux asks again
//! every 3 ms. A request's age counts from its arrival; Linux reckons it from the deadline and the
//! expiry times as they are now, so that lowering them holds back what waits. `async_depth` of 0 stands
//! for the size of the queue, to which Linux sets it. Flushes are writes here; Linux sends them past the scheduler. No requests are inserted at the head,
//! and there are no zones. Time is in nanoseconds, not ticks.
//!
//! # Good for, bad for
//! Good for single disks and SATA flash with several users, whose classes are kept strictly: the
//! default of most Linux distributions for these. Bad for few synchronous readers of different files,
//! as `deadline` is, and for fast devices, where one lock and an elevator cost more than they save.
//!
//! # Starvation
//! Unbounded: a lower class gets nothing before its requests have aged; and if best-effort requests
//! wait so long that each has aged when it is looked at, all others wait for them. Within one class,
//! bounds are as in `deadline`.

use crate::admission::DepthLimit;
use crate::collections::{Lanes, OutOfMemory};
use crate::request::{Class, Direction, Priority, Request};
use crate::scheduler::{Algorithm, Cx, Decision, PriorityEffects, Scheduler, Setup, Starvation};
use crate::schedulers::linux_2_6::deadline::{self, begins, choose, goes_on};
use crate::tunables::{Count, Milliseconds, Unit};
use crate::units::{Instant, RequestId};

crate::tunables! {
    /// Tunables of mq-deadline besides those of the deadline schedulers: classes and depth.
    pub struct Classes {
        /// How long a request waits before it goes before requests of higher classes.
        prio_aging_expire: Milliseconds = 10_000, 0..=3_600_000;
        /// How much of the queue may be other than synchronous reads, in requests. 0: all of it.
        async_depth: Count = 0, 0..=2_147_483_647;
    }
}

crate::groups! {
    /// Tunables of mq-deadline. Names, units and defaults are Linux's.
    pub struct Settings {
        /// What all deadline schedulers can.
        deadline: deadline::Settings,
        /// What mq-deadline can besides.
        classes: Classes,
    }
}

/// All classes, the highest first.
const CLASSES: [Class; 3] = [Class::RealTime, Class::BestEffort, Class::Idle];

/// The classes that may age.
const LOWER: [Class; 2] = [Class::BestEffort, Class::Idle];

/// Which of the six lanes has a class's requests of one direction.
#[inline]
const fn lane_of(class: Class, direction: Direction) -> usize {
    2 * class as usize + direction.index()
}

/// The lane of a request.
#[inline]
fn lane(request: &Request) -> usize {
    lane_of(request.priority.class, request.direction())
}

/// How reasons call a class.
fn word(class: Class) -> &'static str {
    match class {
        Class::RealTime => "real-time",
        Class::BestEffort => "best-effort",
        Class::Idle => "idle",
    }
}

/// What is common to all classes.
#[derive(Clone, Copy)]
struct Turn {
    /// The direction of the batch.
    direction: Direction,
    /// Requests that the batch has sent.
    batching: u64,
    /// How often reads were preferred to waiting writes.
    starved: u64,
}

/// Batches by class and direction.
pub struct MqDeadline {
    lanes: Lanes<6>,
    /// By lane: what follows its last one by address.
    next: [Option<RequestId>; 6],
    /// By class: requests that wait or are in flight.
    queued: [usize; 3],
    turn: Turn,
    tunables: Settings,
}

impl Algorithm for MqDeadline {
    const NAME: &'static str = "mq-deadline";
    const SUMMARY: &'static str = "Sweeps in batches with deadlines, by class of I/O priority.";
    const SOURCE: &'static str = "Linux 6.1 block/mq-deadline.c";
    type Tunables = Settings;

    fn new(setup: Setup<'_>, tunables: Settings) -> Result<Self, OutOfMemory> {
        let turn = Turn { direction: Direction::Write, batching: 0, starved: 0 };
        let lanes = Lanes::new(setup.capacity)?;
        Ok(MqDeadline { lanes, next: [None; 6], queued: [0; 3], turn, tunables })
    }

    fn tune(&mut self, tunables: Settings) {
        self.tunables = tunables;
    }

    fn priority_effects(_: &Settings, priority: Priority) -> PriorityEffects {
        [Some(("place in line, whatever the level", priority.class as u64 + 1, Unit::Count)), None, None]
    }

    fn starvation(_: &Settings) -> Starvation {
        Starvation::Unbounded
    }
}

impl MqDeadline {
    /// Whether at least two classes have requests waiting or in flight.
    #[inline]
    fn classes_compete(&self) -> bool {
        self.queued.iter().filter(|queued| **queued > 0).count() > 1
    }

    /// What `class` would send. `class` may choose a direction and begin a batch for that.
    #[inline]
    fn candidate(&mut self, cx: Cx<'_>, class: Class) -> Option<RequestId> {
        let [reads, writes] =
            Direction::BOTH.map(|direction| !self.lanes.is_empty(lane_of(class, direction)));
        if !reads && !writes {
            return None;
        }
        let settings = self.tunables.deadline;
        let size = settings.fifo_batch.0;
        if let Some(id) = self.next[lane_of(class, self.turn.direction)].filter(|_| self.turn.batching < size)
        {
            goes_on(cx, self.turn.batching, size);
            return Some(id);
        }
        let direction = choose(&mut self.turn.starved, settings.writes_starved.0, reads, writes)?;
        let lane = lane_of(class, direction);
        let oldest = self.lanes.oldest(lane)?;
        let expired = cx.now >= self.lanes.deadline(oldest);
        let follows = self.next[lane].filter(|_| !expired);
        begins(cx, &self.lanes, (lane, direction), expired, follows.map(|_| self.turn.batching));
        (self.turn.direction, self.turn.batching) = (direction, 0);
        follows.or(Some(oldest))
    }

    #[inline]
    fn send(&mut self, cx: Cx<'_>, id: RequestId) -> Decision {
        let lane = lane(&cx[id]);
        self.turn.batching = self.turn.batching.saturating_add(1);
        self.next[lane] = self.lanes.take(lane, id);
        Decision::Dispatch(id)
    }

    /// A request of a lower class that has waited long enough; or when there may be one.
    #[inline(never)]
    fn aged(&mut self, cx: Cx<'_>) -> Result<RequestId, Instant> {
        let enough = self.tunables.classes.prio_aging_expire.0;
        let mut again = Instant::MAX;
        for class in LOWER {
            let Some(id) = self.candidate(cx, class) else { continue };
            if cx.age(id) >= enough {
                cx.rather(
                    "a request of class {} has waited for {}, enough to go before higher classes",
                    || [word(class).into(), cx.age(id).into()],
                );
                return Ok(id);
            }
            // Another request of the class may be next once one is overdue.
            let heads = Direction::BOTH.map(|direction| self.lanes.oldest(lane_of(class, direction)));
            let deadlines = heads.into_iter().flatten().map(|oldest| self.lanes.deadline(oldest));
            let soonest = deadlines.filter(|deadline| *deadline > cx.now).min().unwrap_or(Instant::MAX);
            again = again.min(cx[id].arrival + enough).min(soonest);
        }
        Err(again)
    }

    /// No class may send; `again` is when one might.
    #[cold]
    fn hold(&mut self, cx: Cx<'_>, before: Turn, again: Instant) -> Decision {
        self.turn = before;
        if again == Instant::MAX {
            return Decision::Idle;
        }
        let busy = CLASSES.into_iter().find(|class| self.queued[*class as usize] > 0);
        let busy = busy.unwrap_or_default();
        cx.because("lower classes wait until class {} has none in flight; it has {}", || {
            [word(busy).into(), self.queued[busy as usize].into()]
        });
        Decision::WaitUntil(again)
    }

    /// `id`, which waits, is withdrawn or part of another: what follows it is next in its place.
    fn forget(&mut self, cx: Cx<'_>, id: RequestId) {
        let lane = lane(&cx[id]);
        let after = self.lanes.take(lane, id);
        if self.next[lane] == Some(id) {
            self.next[lane] = after;
        }
        self.queued[lane / 2] -= 1;
    }
}

impl Scheduler for MqDeadline {
    #[inline]
    fn insert(&mut self, cx: Cx<'_>, id: RequestId) {
        let request = &cx[id];
        let expire = self.tunables.deadline.expire(request.direction());
        self.queued[request.priority.class as usize] += 1;
        self.lanes.insert(lane(request), id, request.start, request.arrival + expire);
    }

    #[inline]
    fn dispatch(&mut self, cx: Cx<'_>) -> Decision {
        let before = self.turn;
        let mut again = Instant::MAX;
        let compete = self.classes_compete();
        if compete {
            match self.aged(cx) {
                Ok(id) => return self.send(cx, id),
                Err(time) => again = time,
            }
        }
        for class in CLASSES {
            if let Some(id) = self.candidate(cx, class) {
                if compete {
                    cx.rather("class {} goes first", || [word(class).into()]);
                }
                return self.send(cx, id);
            }
            if self.queued[class as usize] > 0 {
                break;
            }
        }
        self.hold(cx, before, again)
    }

    #[inline]
    fn complete(&mut self, cx: Cx<'_>, id: RequestId) {
        self.queued[cx[id].priority.class as usize] -= 1;
    }

    fn remove(&mut self, cx: Cx<'_>, id: RequestId) {
        self.forget(cx, id);
    }

    fn grown(&mut self, cx: Cx<'_>, id: RequestId) {
        self.lanes.rekey(lane(&cx[id]), id, cx[id].start);
    }

    fn absorbed(&mut self, cx: Cx<'_>, survivor: RequestId, other: RequestId) {
        self.lanes.inherit(lane(&cx[survivor]), survivor, other);
        self.forget(cx, other);
        self.grown(cx, survivor);
    }

    fn adopt(&mut self, cx: Cx<'_>, id: RequestId) {
        self.queued[cx[id].priority.class as usize] += 1;
    }

    fn front_merges(&self) -> bool {
        self.tunables.deadline.front_merges
    }

    #[inline]
    fn depth_limit(&self, _: usize) -> DepthLimit {
        match self.tunables.classes.async_depth.0 {
            0 => DepthLimit::NONE,
            most => DepthLimit { others: usize::try_from(most).unwrap_or(usize::MAX), ..DepthLimit::NONE },
        }
    }
}

#[cfg(test)]
mod tests;
