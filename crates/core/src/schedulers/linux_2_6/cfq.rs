//! Linux 2.6.32's CFQ: each process has the disk for a slice of time, whose length is its I/O priority.
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
//! 3. In a slice the best place to go on is next: metadata first, then the nearest ahead of where the
//!    last request ended, or behind it within `back_seek_max`, where the way counts `back_seek_penalty`
//!    times. Only the first request of a slice may be the oldest instead, if that is overdue.
//! 4. When the last request of a synchronous queue is done, its process is waited for, `slice_idle` from
//!    then, or 2 ms if it seeks more than 8192 sectors on average. Not if it has exited, thinks longer
//!    than that on average or than its slice lasts, or if the device has no seeks but its own queue.
//! 5. Instead of waiting, a queue of the same level whose next request is close takes over: as close as
//!    the processes of the empty one seek on average. From then on both are to share a queue; if that
//!    seeks for more than a second, they part again.
//! 6. A new request's queue preempts the one whose slice is used up; one of the idle class; an
//!    asynchronous one, if it is synchronous itself; one without metadata, if it is metadata; one that
//!    is not real time, if it is; one that is waited for, if it is close. It goes before all others then.
//! 7. Of a queue at most `quantum` requests are in flight (four times as many if no other queue has
//!    any; one in the idle class). Asynchronous requests wait until synchronous ones in flight are done,
//!    and the other way round if the queue is one that is waited for. Under `low_latency` asynchronous
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
//! - There is no dispatch list: a request goes to the device at once. A small request that was waited
//!   for goes when the host asks, as if it had been unplugged; Linux may wait for it to grow until then.
//! - A wait ends with the slice. Linux finds out only when somebody asks.
//! - Of the neighbours of the head the nearest is looked at for going on, and the one ahead of two as near;
//!   in Linux it is one of the two next to it by the shape of a tree.
//! - Requests with equal addresses go in order of arrival; Linux sends an older one to the device at once.
//! - No request is known after which its process is not to be waited for (`REQ_NOIDLE`), nor that a
//!   process holds a lock of a file system, which lends it a higher priority in Linux. Which process may
//!   allocate a request, and when (`may_queue`), is the host's matter.
//! - Who parts from a shared queue gives up the one that it was to join as well.
//! - A process is an issuer's number, and its priority that of its latest request. 64 processes are
//!   remembered besides those with requests here.
//!
//! # Good for, bad for
//! Good for disks with heads and many programs at once: each reads on for a while, and shares follow
//! priorities, though the lowest get less than their slices say, as their keys also come later: of readers at
//! levels 0, 4 and 7 the last gets 9 % of the time, not 12.5, as it misses every other round. Bad for
//! many processes that seek, for devices with deep queues, and for latency among many readers.
//!
//! # Starvation
//! Requests of the idle class wait as long as there are others. In its own queue a request is passed over
//! as long as its process reads on elsewhere, but for one overdue request in each slice. Real-time
//! requests starve all others.

mod cooperate;
mod order;
mod preempt;
mod processes;
mod queues;
mod reasons;
mod schedule;
mod select;
mod settings;
mod slices;

#[cfg(test)]
mod reference;
#[cfg(test)]
mod tests;

use crate::collections::{Issuers, OutOfMemory};
use crate::request::Priority;
#[cfg(test)]
use crate::scheduler::Scheduler;
use crate::scheduler::{Algorithm, Setup, Standing, Starvation};
use crate::tunables::Unit;
use crate::units::{Instant, Issuer, Sector};
use order::Order;
use processes::Process;
use queues::{Queue, Queues, SHARED};
use reasons::Ended;
pub use settings::Settings;
use slices::{Depth, Slice};

/// Linux 2.6.32's completely fair queueing.
pub struct Cfq {
    queues: Queues,
    /// The queues that have requests, but not the disk.
    order: Order,
    /// The queue that has the disk.
    active: Option<Slice>,
    /// Why the last slice ended, until the next request goes.
    ended: Option<Ended>,
    processes: Issuers<Process>,
    /// Queues that have requests.
    busy: usize,
    /// Requests in them.
    waiting: u64,
    /// Asynchronous and synchronous requests in flight.
    in_flight: [u64; 2],
    /// Those of synchronous queues.
    sync_in_flight: u64,
    /// When a synchronous request was last done; before that, when the first request came.
    last_sync: Option<Instant>,
    /// Where the last request that went ends.
    head: Sector,
    depth: Depth,
    settings: Settings,
}

/// Processes that are remembered besides those with requests in the queue.
const REMEMBERED: usize = 64;

impl Algorithm for Cfq {
    const NAME: &'static str = "cfq";
    const SUMMARY: &'static str = "Gives each process the disk for a slice of time, by its I/O priority.";
    const SOURCE: &'static str = "Linux 2.6.32 block/cfq-iosched.c";
    type Tunables = Settings;

    fn new(setup: Setup<'_>, settings: Settings) -> Result<Self, OutOfMemory> {
        let places = setup.capacity.saturating_add(REMEMBERED);
        // One for each process, and those with requests whose process has left them, or with the disk.
        let own = places.saturating_add(setup.capacity).saturating_add(2);
        Ok(Cfq {
            queues: Queues::new(setup.capacity, own)?,
            order: Order::new(SHARED + own)?,
            active: None,
            ended: None,
            processes: Issuers::new(places)?,
            busy: 0,
            waiting: 0,
            in_flight: [0; 2],
            sync_in_flight: 0,
            last_sync: None,
            head: Sector(0),
            depth: Depth::new(),
            settings,
        })
    }

    fn tune(&mut self, settings: Settings) {
        self.settings = settings;
    }

    /// A process that goes on reading near the head passes over its own requests elsewhere, all but
    /// one in a slice; and no number of requests bounds a slice.
    fn standing(tunables: &Settings, priority: Priority) -> Standing {
        let level = Queue::new(true, priority, Issuer::UNKNOWN).level;
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

    #[cfg(test)]
    fn reference(_: Setup<'_>, settings: Settings) -> alloc::boxed::Box<dyn Scheduler> {
        alloc::boxed::Box::new(reference::Reference::new(settings))
    }
}
