//! Average Queue Length: each process gets a share of the disk by how many requests it keeps waiting.
//!
//! # How it decides
//! Requests line up in 64 queues, by process number modulo 64.
//! 1. If the dispatch list holds anything, its first request is dispatched.
//! 2. Else a dispatch cycle fills it. Each queue's average becomes the mean of the average and the
//!    queue's length; that halves it for an empty queue. A queue that is empty in 10 cycles in a row
//!    has an average of 0.
//! 3. Each queue that holds something gives `quantum` × its average / the sum of the averages of all
//!    such queues, rounded down; at least one request, at most all; in order of arrival.
//! 4. The list is in elevator order from where the last request ended.
//!
//! # Source
//! UNC §III.A; Linux 2.6.32's `elv_dispatch_sort`, which such a module uses.
//!
//! # Differs from the source
//! The paper does not say how many requests a cycle dispatches: here that is the tunable `quantum`. The paper
//! does not say how the average runs: here the last length has half the weight, as the halving of an
//! idle queue suggests. `elv_dispatch_sort` sorts runs of one direction, not reads among writes.
//! Requests on the dispatch list do not merge.
//!
//! # Good for, bad for
//! Good for processes with deep queues, which get bandwidth in proportion to what they ask for. Bad for
//! synchronous processes, which never have more than one request waiting, beside such ones.
//!
//! # Starvation
//! None: each cycle takes the oldest request of each process.

use crate::collections::{Links, List, OutOfMemory};
use crate::request::Request;
use crate::scheduler::{Algorithm, Cx, Decision, Scheduler, Setup, Starvation};
use crate::schedulers::shared::dispatch_list::DispatchList;
use crate::tunables::Count;
use crate::units::{Duration, RequestId};

crate::tunables! {
    /// Tunables of [`Aql`].
    pub struct Settings {
        /// Requests that a dispatch cycle shares out among the queues.
        quantum: Count = 16, 1..=1_000_000;
    }
}

const QUEUES: usize = 64;
/// After this many cycles without a request, a process is taken to have gone.
const IDLE_CYCLES: u32 = 10;
/// Averages have 8 binary digits after the point.
const ONE: u64 = 256;

/// The requests of the processes with one number modulo 64.
#[derive(Clone, Copy, Default)]
struct Lane {
    /// In order of arrival.
    fifo: List,
    /// The running average of its length, times [`ONE`].
    average: u64,
    /// Cycles in a row that found it empty.
    idle: u32,
}

/// Shares of the disk by average queue length.
pub struct Aql {
    links: Links,
    lanes: [Lane; QUEUES],
    /// Lanes that have a request or an average, one bit each: a cycle changes nothing of the others.
    lively: u64,
    /// Requests that are in some lane.
    lined_up: usize,
    dispatch: DispatchList,
    tunables: Settings,
}

impl Algorithm for Aql {
    const NAME: &'static str = "aql";
    const SUMMARY: &'static str = "Serves each process in proportion to the average length of its queue.";
    const SOURCE: &'static str = "UNC §III.A";
    type Tunables = Settings;

    fn new(setup: Setup<'_>, tunables: Settings) -> Result<Self, OutOfMemory> {
        let (links, dispatch) = (Links::new(setup.capacity)?, DispatchList::new(setup.capacity)?);
        Ok(Aql { links, lanes: [Lane::default(); QUEUES], lively: 0, lined_up: 0, dispatch, tunables })
    }

    fn tune(&mut self, tunables: Settings) {
        self.tunables = tunables;
    }

    /// The k-th of its queue goes with the k-th cycle at the latest. A cycle takes at most the
    /// quantum and one request more for each queue, since each share is rounded up by less than one.
    fn starvation(tunables: &Settings) -> Starvation {
        let per_waiting = tunables.quantum.0 + QUEUES as u64;
        Starvation::Bounded { after: Duration::ZERO, per_waiting, plus: 0 }
    }
}

/// The numbers of the bits that are set, the lowest first.
fn numbers(mut bits: u64) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        let number = bits.trailing_zeros() as usize;
        bits &= bits.checked_sub(1)?;
        Some(number)
    })
}

/// The lane of a request.
fn lane_of(request: &Request) -> usize {
    request.issuer.0 as usize % QUEUES
}

impl Lane {
    /// A cycle begins.
    fn observe(&mut self) {
        self.average = (self.average + self.fifo.len() as u64 * ONE) / 2;
        self.idle = if self.fifo.is_empty() { self.idle + 1 } else { 0 };
        if self.idle >= IDLE_CYCLES {
            (self.average, self.idle) = (0, IDLE_CYCLES);
        }
    }
}

impl Aql {
    /// One dispatch cycle.
    fn fill(&mut self, cx: Cx<'_>) {
        if self.lined_up == 0 {
            return;
        }
        let (mut sum, mut holding) = (0, 0);
        for number in numbers(self.lively) {
            let lane = &mut self.lanes[number];
            lane.observe();
            if !lane.fifo.is_empty() {
                sum += lane.average;
                holding |= 1 << number;
            } else if lane.average == 0 {
                self.lively &= !(1 << number);
            }
        }
        for number in numbers(holding) {
            let lane = &mut self.lanes[number];
            let share = (self.tunables.quantum.0 * lane.average / sum.max(1)).max(1);
            for _ in 0..share {
                let Some(id) = self.links.pop_front(&mut lane.fifo) else { break };
                self.lined_up -= 1;
                self.dispatch.sort_in(cx, &mut self.links, id);
            }
        }
    }
}

impl Scheduler for Aql {
    fn insert(&mut self, cx: Cx<'_>, id: RequestId) {
        let number = lane_of(&cx[id]);
        self.links.push_back(&mut self.lanes[number].fifo, id);
        self.lively |= 1 << number;
        self.lined_up += 1;
    }

    fn dispatch(&mut self, cx: Cx<'_>) -> Decision {
        if self.dispatch.is_empty() {
            self.fill(cx);
        }
        cx.because("next on the dispatch list; {} wait in the processes' queues", || [self.lined_up.into()]);
        self.dispatch.pop(cx, &mut self.links).map_or(Decision::Idle, Decision::Dispatch)
    }

    fn remove(&mut self, cx: Cx<'_>, id: RequestId) {
        if self.dispatch.contains(id) {
            return self.dispatch.remove(&mut self.links, id);
        }
        self.links.remove(&mut self.lanes[lane_of(&cx[id])].fifo, id);
        self.lined_up -= 1;
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
    fn a_queue_three_times_as_long_gets_three_times_as_much() {
        let entry = crate::registry::find("aql").unwrap();
        let mut queue = Queue::new(200, Device::default(), entry, &[]).unwrap();
        let now = Instant(0);
        for n in 0..80 {
            let issuer = if n < 60 { Issuer(1) } else { Issuer(2) };
            queue.insert(now, Request::read(Sector(n * 100), Sectors(8)).by(issuer)).unwrap();
        }
        let served: Vec<u32> = (0..16)
            .map(|_| match queue.dispatch(now) {
                Ok(Decision::Dispatch(id)) => queue.request(id).issuer.0,
                other => panic!("requests wait: {other:?}"),
            })
            .collect();
        assert_eq!(served.iter().filter(|issuer| **issuer == 1).count(), 12);
    }

    #[test]
    fn a_lane_is_looked_at_until_its_average_is_gone() {
        assert_eq!(numbers(1 << 63 | 5).collect::<Vec<_>>(), [0, 2, 63]);
        let entry = crate::registry::find("aql").unwrap();
        let mut queue = Queue::new(64, Device::default(), entry, &[]).unwrap();
        let mut serve = |who: u32| {
            let now = Instant(0);
            let id = queue.insert(now, Request::read(Sector(8), Sectors(8)).by(Issuer(who))).unwrap().id();
            assert_eq!(queue.dispatch(now), Ok(Decision::Dispatch(id)));
            queue.complete(now, id).unwrap();
            let crate::AnyScheduler::Aql(aql) = queue.scheduler() else { unreachable!("it is an aql") };
            aql.lively
        };
        assert_eq!(serve(63), 1 << 63);
        let later: Vec<u64> = (0..10).map(|_| serve(1)).collect();
        assert_eq!(later[..7], [1 << 63 | 2; 7], "half of one request, and so on");
        assert_eq!(later[7], 2);
    }

    #[test]
    fn averages_halve_when_idle_and_vanish_after_ten_cycles() {
        let mut lane = Lane { average: 1000 * ONE, ..Lane::default() };
        lane.observe();
        assert_eq!(lane.average, 500 * ONE);
        for _ in 0..8 {
            lane.observe();
        }
        assert!(lane.average > 0);
        lane.observe();
        assert_eq!(lane.average, 0);
    }
}
