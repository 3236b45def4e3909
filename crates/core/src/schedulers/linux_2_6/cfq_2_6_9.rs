//! Linux 2.6.9's CFQ, the first: each process has a queue, and rounds take one request from each.
//!
//! # How it decides
//! Requests of each process, reads and writes together, wait in a queue by address.
//! 1. If the dispatch list holds anything, its first request is dispatched.
//! 2. Else a round fills it: each process that has requests gives the one with the lowest address. If
//!    that makes fewer than `quantum`, another round follows, as long as there are any.
//! 3. The list is in upward order, wherever the head is.
//!
//! A process whose queue was empty goes to the front of the round.
//!
//! # Source
//! Linux 2.6.9 `drivers/block/cfq-iosched.c`, where the processes' queues are found through a hash table
//! of 64 chains; UNC §II takes that for 64 queues that processes share.
//!
//! # Differs from the source
//! Linux's loop that sorts the dispatch list compares the wrong way round when a request is lower than
//! the list's first; here the list is in the order that was meant. Requests with equal addresses are dispatched in
//! order of arrival; Linux dispatches an older one at once. A process is an issuer's number. `queued`
//! and the other rules of which process may allocate a request are the host's matter, not a
//! scheduler's. Requests on the dispatch list do not merge.
//!
//! # Good for, bad for
//! Good for fairness among processes that keep many requests waiting, counted in requests. Bad for
//! throughput: one seek for each process in each round, and no idling, so that a synchronous reader gets
//! one request in a round at most. Whoever issues larger requests gets more of the disk.
//!
//! # Starvation
//! No process starves: each round takes a request of each. But a request starves in its own queue, as
//! long as its process keeps issuing requests with lower addresses.

use alloc::vec::Vec;

use crate::collections::{Forest, Issuers, Links, OutOfMemory, Place, Tree};
use crate::request::Request;
use crate::scheduler::{Algorithm, Cx, Decision, Scheduler, Setup, Starvation};
use crate::schedulers::shared::dispatch_list::DispatchList;
use crate::tunables::Count;
use crate::units::RequestId;

crate::tunables! {
    /// Tunables of [`Cfq269`].
    pub struct Settings {
        /// Requests that are taken from the processes' queues at once, at least.
        quantum: Count = 4, 1..=1_000_000;
    }
}

/// Linux 2.6.9's CFQ: rounds over the processes.
pub struct Cfq269 {
    forest: Forest,
    /// The requests of each process by address. A process is held once for each.
    queues: Issuers<Tree>,
    /// The processes that have requests, the next one last.
    busy: Vec<Place>,
    /// Requests in the processes' queues.
    queued: usize,
    links: Links,
    dispatch: DispatchList,
    tunables: Settings,
}

impl Algorithm for Cfq269 {
    const NAME: &'static str = "cfq-2.6.9";
    const SUMMARY: &'static str = "Takes one request of each process in turn.";
    const SOURCE: &'static str = "Linux 2.6.9 drivers/block/cfq-iosched.c";
    type Tunables = Settings;

    fn new(setup: Setup<'_>, tunables: Settings) -> Result<Self, OutOfMemory> {
        let places = setup.capacity.saturating_add(1);
        let mut busy = Vec::new();
        busy.try_reserve_exact(places).map_err(|_| OutOfMemory)?;
        Ok(Cfq269 {
            forest: Forest::new(setup.capacity)?,
            queues: Issuers::new(places)?,
            busy,
            queued: 0,
            links: Links::new(setup.capacity)?,
            dispatch: DispatchList::new(setup.capacity)?,
            tunables,
        })
    }

    fn tune(&mut self, tunables: Settings) {
        self.tunables = tunables;
    }

    /// In one process's queue, lower addresses always go first.
    fn starvation(_: &Settings) -> Starvation {
        Starvation::Unbounded
    }
}

impl Cfq269 {
    /// Takes one request of each process, the lowest; how many that were.
    fn round(&mut self, cx: Cx<'_>) -> u64 {
        let mut moved = 0;
        for turn in (0..self.busy.len()).rev() {
            let place = self.busy[turn];
            let Some(id) = self.forest.first(&self.queues[place]) else { continue };
            self.forest.remove(&mut self.queues[place], id);
            self.queues.release(place);
            self.dispatch.sort_in_upward(cx, &mut self.links, id);
            moved += 1;
        }
        let queues = &self.queues;
        self.busy.retain(|place| !queues[*place].is_empty());
        self.queued -= moved;
        moved as u64
    }

    fn fill(&mut self, cx: Cx<'_>) {
        let mut moved = 0;
        while self.queued > 0 && moved < self.tunables.quantum.0 {
            moved += self.round(cx);
        }
    }

    /// Where the queue that holds `id` is kept.
    fn place_of(&self, cx: Cx<'_>, id: RequestId) -> Place {
        let Some(place) = self.queues.find(cx[id].issuer) else { panic!("the issuer of {id} is not held") };
        place
    }
}

impl Scheduler for Cfq269 {
    fn insert(&mut self, cx: Cx<'_>, id: RequestId) {
        let place = self.queues.enter_held(cx[id].issuer);
        if self.queues[place].is_empty() {
            self.busy.push(place);
        }
        self.forest.insert(&mut self.queues[place], cx[id].start.0, id);
        self.queued += 1;
    }

    fn dispatch(&mut self, cx: Cx<'_>) -> Decision {
        if self.dispatch.is_empty() {
            if self.queued == 0 {
                return Decision::Idle;
            }
            let processes = self.busy.len();
            self.fill(cx);
            cx.because("the lowest of {} taken from {} processes; {} wait in their queues", || {
                [self.dispatch.len().into(), processes.into(), self.queued.into()]
            });
        } else {
            cx.because("next on the dispatch list; {} wait in the processes' queues", || {
                [self.queued.into()]
            });
        }
        self.dispatch.pop(cx, &mut self.links).map_or(Decision::Idle, Decision::Dispatch)
    }

    fn remove(&mut self, cx: Cx<'_>, id: RequestId) {
        if self.dispatch.contains(id) {
            return self.dispatch.remove(&mut self.links, id);
        }
        let place = self.place_of(cx, id);
        self.forest.remove(&mut self.queues[place], id);
        self.queues.release(place);
        self.queued -= 1;
        if self.queues[place].is_empty() {
            self.busy.retain(|busy| *busy != place);
        }
    }

    fn grown(&mut self, cx: Cx<'_>, id: RequestId) {
        let (place, start) = (self.place_of(cx, id), cx[id].start.0);
        if self.forest.key(id) != start {
            self.forest.remove(&mut self.queues[place], id);
            self.forest.insert(&mut self.queues[place], start, id);
        }
    }

    fn may_merge(&self, _: Cx<'_>, id: RequestId, _: &Request) -> bool {
        !self.dispatch.contains(id)
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::{Device, Instant, Issuer, Queue, Sector, Sectors};

    #[test]
    fn a_round_takes_one_request_of_each_process_however_many_it_has() {
        let entry = crate::registry::find("cfq-2.6.9").unwrap();
        let mut queue = Queue::new(200, Device::default(), entry, &[]).unwrap();
        let now = Instant(0);
        for n in 0..100u64 {
            let issuer = if n < 80 { 1 } else { n as u32 };
            queue.insert(now, Request::read(Sector(n * 100), Sectors(8)).by(Issuer(issuer))).unwrap();
        }
        let served: Vec<u32> = (0..22)
            .map(|_| match queue.dispatch(now) {
                Ok(Decision::Dispatch(id)) => queue.request(id).issuer.0,
                other => panic!("requests wait: {other:?}"),
            })
            .collect();
        assert_eq!(served.iter().filter(|issuer| **issuer == 1).count(), 2, "{served:?}");
        assert_eq!(served[0], 1, "the lowest of the round");
        assert_eq!(served[1..21], (80..100).collect::<Vec<u32>>());
    }
}
