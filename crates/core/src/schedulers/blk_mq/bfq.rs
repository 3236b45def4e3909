//! Budget fair queueing: each process gets its share of service, and what a user waits for goes first.
//!
//! # How it decides
//! Each process has a queue for its synchronous requests; the asynchronous requests of one I/O priority
//! share one. One queue is in service at a time.
//! 1. The queue in service goes on, at the best place near the head, until its next request costs more
//!    than what is left of its budget, until its time (`timeout_sync`) is over, or until it is empty and
//!    not worth waiting for. Its oldest request goes first once, if that is overdue. `bfq/serve.rs`
//! 2. Then the next is chosen by B-WF2Q+: real time before best effort before idle; within a class, of
//!    those whose virtual start has come, the one with the least virtual finish. A queue's share is its
//!    weight: 80 for the highest level, 40 for the default, 10 for the lowest, times what the host has set
//!    for its process, of 100. Every 200 ms the idle class may go first. `bfq/wf2q.rs`
//! 3. A budget grows if it is used up and shrinks if the process lets it lie. A queue that seeks, or that
//!    does less than half a full budget in its time, is charged for the time it took. The greatest budget is
//!    what the device can do in `timeout_sync` at its peak rate, which is measured. `bfq/budget.rs`, `rate.rs`
//! 4. When the queue in service is empty, its process is waited for up to `slice_idle`: if it streams and
//!    the device would only lose by seeking, or if it would lose its share. `bfq/idle.rs`
//! 5. Meanwhile others' requests may go: those that it waits for, and a few that cost it little.
//!    `bfq/inject.rs`
//! 6. A queue that was away for 2 s, or is new, is raised: it weighs 30 times as much for some seconds. One
//!    that asks for a little, regularly, weighs 3000 times as much for 300 ms. Many new queues at once are
//!    not raised. `bfq/raise.rs`
//! 7. Processes that read near each other share a queue, until that turns out to be seeky. `bfq/merge.rs`
//!    Those that begin together share one for good, unless they stream on a disk. `bfq/together.rs`
//! 8. Asynchronous requests have room in half of the queue, and together with synchronous writes in three
//!    quarters; while something is raised, in 3/16 and 6/16. `bfq/schedule.rs`
//!
//! # Source
//! Linux 6.1.192 `block/bfq-iosched.c`, `bfq-wf2q.c` and `Documentation/block/bfq-iosched.rst`; Valente and
//! Avanzini 2015.
//!
//! # Differs from the source
//! - There are no control groups, and one actuator. Room in the queue is limited by kind of request; Linux
//!   with control groups also keeps each process to its share of it.
//! - Linux counts in ticks; here times are nanoseconds, except that charges for time are whole milliseconds.
//! - The host's weight of a process multiplies that of its level and is rounded up. Linux has weights only
//!   of groups. A process with a weight of its own is not raised, as in Linux one of another level.
//! - `strict_guarantees` makes `slice_idle` at least 8 ms while it is on; Linux changes the tunable. Its
//!   `slice_idle_us` is left out, and what a change of `low_latency` does to times of raising.
//! - A small request that arrives while its process is waited for goes at once. Linux would wait for more
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
//!   nothing to do so many are remembered as the queue has ids, at least; the queue of one that has
//!   issued after its exit begins anew, unless it has requests still.
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

mod arrive;
mod budget;
mod entity;
mod idle;
mod inject;
mod merge;
mod processes;
mod queue;
mod raise;
mod rate;
mod requests;
mod schedule;
mod serve;
mod shares;
mod together;
mod wf2q;

#[cfg(test)]
mod reference;
#[cfg(test)]
mod tests;

use alloc::vec::Vec;

use crate::collections::{Issuers, OutOfMemory, table};
use crate::request::{Class, Priority};
#[cfg(test)]
use crate::scheduler::Scheduler;
use crate::scheduler::{Algorithm, Setup, Standing, Starvation};
use crate::tunables::{Count, Kibibytes, Milliseconds, SectorCount, Unit};
use crate::units::{Instant, Issuer, Sector, Weight};
use budget::Bounds;
use inject::Watch;
use processes::Process;
use queue::{ASYNC_QUEUES, Queue, Ref};
use raise::Burst;
use rate::{Rate, Tagging};
use requests::Requests;
use serve::Ended;
use wf2q::Service;

crate::tunables! {
    /// What [`Bfq`] can be told. Names, units and defaults are Linux's.
    pub struct Settings {
        /// When an asynchronous request is overdue.
        fifo_expire_async: Milliseconds = 250, 1..=3_600_000;
        /// When a synchronous request is overdue.
        fifo_expire_sync: Milliseconds = 125, 1..=3_600_000;
        /// How far back the head may go within a queue.
        back_seek_max: Kibibytes = 16_384, 0..=2_147_483_647;
        /// How many times longer than a way ahead a way back counts.
        back_seek_penalty: Count = 2, 1..=2_147_483_647;
        /// How long a process is waited for. 0: not at all.
        slice_idle: Milliseconds = 8, 0..=3_600_000;
        /// How long a queue is in service at most, unless it is raised.
        timeout_sync: Milliseconds = 125, 1..=3_600_000;
        /// The greatest budget of a queue. 0: what the device can do in timeout_sync.
        max_budget: SectorCount = 0, 0..=2_147_483_647;
        /// Wait for every process, and give the device one request at a time.
        strict_guarantees: bool = 0, 0..=1;
        /// Raise queues that seem interactive or to play a film.
        low_latency: bool = 1, 0..=1;
    }
}

/// Queues by B-WF2Q+, with budgets, idling and weight raising.
pub struct Bfq {
    tunables: Settings,
    requests: Requests,
    /// Which processes are known, and whether what is at their place is theirs.
    issuers: Issuers<bool>,
    /// By place.
    processes: Vec<Process>,
    /// By place; then the asynchronous ones.
    queues: Vec<Queue>,
    service: Service,
    bounds: Bounds,
    rate: Rate,
    tagging: Tagging,
    /// Requests that wait, and that the device has from here.
    waiting: u32,
    in_flight: u32,
    /// Busy queues that are raised.
    raised_busy: u32,
    /// Processes that issue into others' queues.
    guests: usize,
    /// Until when the process of the queue in service is waited for.
    idle: Option<Instant>,
    /// When the last wait began.
    idling_since: Instant,
    /// When the queue in service became that.
    budget_start: Instant,
    /// Where its last request ends; 0 before there was one.
    served_to: Sector,
    watch: Watch,
    /// Whose request was done last, if that is one process's.
    last_completed: Option<Ref>,
    burst: Burst<Ref>,
    /// The queue that those created after it are compared with.
    last_created: Option<Ref>,
    ended: Option<Ended>,
}

/// Places for processes besides two for each request: some are hosts, or wait though they have none.
const ABSENT_PLACES: usize = 128;

impl Algorithm for Bfq {
    const NAME: &'static str = "bfq";
    const SUMMARY: &'static str =
        "Gives each process its share by budgets; what a user waits for goes first.";
    const SOURCE: &'static str = "Linux 6.1.192 block/bfq-iosched.c, bfq-wf2q.c; Valente and Avanzini 2015";
    type Tunables = Settings;

    fn new(setup: Setup<'_>, tunables: Settings) -> Result<Self, OutOfMemory> {
        let places = setup.capacity.saturating_mul(2).saturating_add(ABSENT_PLACES);
        let queues = places + ASYNC_QUEUES;
        let empty = Queue::new(Instant::ZERO, None, Issuer::UNKNOWN, Class::BestEffort);
        Ok(Bfq {
            tunables,
            requests: Requests::new(setup.capacity, queues)?,
            issuers: Issuers::new(places)?,
            processes: table(places, Process::default())?,
            queues: table(queues, empty)?,
            service: Service::new(queues)?,
            bounds: Bounds::new(tunables.max_budget.0),
            rate: Rate::new(setup.device.rotational),
            tagging: Tagging::default(),
            waiting: 0,
            in_flight: 0,
            raised_busy: 0,
            guests: 0,
            idle: None,
            idling_since: Instant::ZERO,
            budget_start: Instant::ZERO,
            served_to: Sector(0),
            watch: Watch::default(),
            last_completed: None,
            burst: Burst::default(),
            last_created: None,
            ended: None,
        })
    }

    fn tune(&mut self, tunables: Settings) {
        let ends = self.tunables.low_latency && !tunables.low_latency;
        self.tunables = tunables;
        self.retune();
        for index in 0..if ends { self.queues.len() } else { 0 } {
            self.change_raise(index, |queue| queue.raise.switch_off());
        }
    }

    fn standing(_: &Settings, priority: Priority) -> Standing {
        [Some(("weight", queue::weight_of(priority, Weight::default()), Unit::Count)), None, None]
    }

    fn starvation(_: &Settings) -> Starvation {
        Starvation::Unbounded
    }

    #[cfg(test)]
    fn reference(setup: Setup<'_>, tunables: Settings) -> alloc::boxed::Box<dyn Scheduler> {
        alloc::boxed::Box::new(reference::Reference::new(setup, tunables))
    }
}
