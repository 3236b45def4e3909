//! Read-Write FIFO: two queues, served in batches of three reads and two writes.
//!
//! # How it decides
//! 1. If the dispatch list holds anything, its first request is dispatched.
//! 2. Else it is filled with a batch of 5. If reads and writes (whatever is no read) wait: 3 of the
//!    reads, then 2 of the writes; where one kind has fewer, the other fills up. If only one kind
//!    waits: 5 of those.
//! 3. Each kind comes from its queue in order of arrival. On the list, the reads stand first, then the
//!    writes, each in elevator order from where the last request ended.
//!
//! # Source
//! UNC §III.B: "5 contiguous requests at a time", 60 % reads and 40 % writes, a dispatch list ordered by
//! block number; Linux 2.6.32's `elv_dispatch_sort`, which such a module uses.
//!
//! # Differs from the source
//! "Contiguous" can only mean in a row in the queue. The paper says what happens with fewer than 3
//! reads, not with fewer than 2 writes; here reads fill up. Size and share of a batch are tunables, and
//! a batch always has room for one of each kind. Requests on the dispatch list do not merge.
//!
//! # Good for, bad for
//! Good for a mixture where writes must not wait long. Bad for many streams: it sorts five requests at
//! a time.
//!
//! # Starvation
//! None: each batch takes the oldest of each kind.

use crate::collections::{Links, List, OutOfMemory};
use crate::request::{Direction, Request};
use crate::schedulers::shared::dispatch_list::DispatchList;

use crate::scheduler::{Algorithm, Cx, Decision, Scheduler, Setup, Starvation};
use crate::tunables::{Count, Percent};
use crate::units::{Duration, RequestId};

crate::tunables! {
    /// Tunables of [`RwFifo`]. The paper has these numbers fixed.
    pub struct Settings {
        /// Requests in a batch.
        batch: Count = 5, 2..=1024;
        /// The share of reads in a batch, rounded down, where both kinds wait.
        reads: Percent = 60, 0..=100;
    }
}

impl Settings {
    /// Reads and writes in a batch where enough of both wait: at least one of each.
    fn shares(&self) -> [u64; 2] {
        let reads = (self.batch.0 * self.reads.0 / 100).clamp(1, self.batch.0 - 1);
        [reads, self.batch.0 - reads]
    }
}

/// Two queues, reads and writes, served in batches.
pub struct RwFifo {
    links: Links,
    /// Reads and writes, in order of arrival.
    fifo: [List; 2],
    dispatch: DispatchList,
    tunables: Settings,
}

impl Algorithm for RwFifo {
    const NAME: &'static str = "rwfifo";
    const SUMMARY: &'static str =
        "Serves batches of three reads and two writes, each first come, first served.";
    const SOURCE: &'static str = "UNC §III.B";
    type Tunables = Settings;

    fn new(setup: Setup<'_>, tunables: Settings) -> Result<Self, OutOfMemory> {
        let (links, dispatch) = (Links::new(setup.capacity)?, DispatchList::new(setup.capacity)?);
        Ok(RwFifo { links, fifo: [List::default(); 2], dispatch, tunables })
    }

    fn tune(&mut self, tunables: Settings) {
        self.tunables = tunables;
    }

    /// The k-th of its kind goes with batch k / share, rounded up, after what the list holds.
    fn starvation(tunables: &Settings) -> Starvation {
        let (batch, [reads, writes]) = (tunables.batch.0, tunables.shares());
        let per_waiting = batch.div_ceil(reads.min(writes));
        Starvation::Bounded { after: Duration::ZERO, per_waiting, plus: 2 * batch }
    }
}

impl RwFifo {
    /// Reads and writes of the next batch.
    fn next_batch(&self) -> [u64; 2] {
        let [reads, writes] = [0, 1].map(|kind: usize| self.fifo[kind].len() as u64);
        let [for_reads, for_writes] = self.tunables.shares();
        let taken = reads.min(for_reads);
        let rest = writes.min(self.tunables.batch.0 - taken);
        if rest < for_writes { [reads.min(self.tunables.batch.0 - rest), rest] } else { [taken, rest] }
    }

    fn fill(&mut self, cx: Cx<'_>) {
        for (kind, count) in self.next_batch().into_iter().enumerate() {
            for _ in 0..count {
                let Some(id) = self.links.pop_front(&mut self.fifo[kind]) else { break };
                self.dispatch.sort_in(cx, &mut self.links, id);
            }
        }
    }
}

impl Scheduler for RwFifo {
    fn insert(&mut self, cx: Cx<'_>, id: RequestId) {
        self.links.push_back(&mut self.fifo[cx[id].direction().index()], id);
    }

    fn dispatch(&mut self, cx: Cx<'_>) -> Decision {
        if self.dispatch.is_empty() {
            self.fill(cx);
        }
        let waiting = |direction: Direction| self.fifo[direction.index()].len().into();
        cx.because("next of its batch; {} reads and {} writes wait behind it", || {
            [waiting(Direction::Read), waiting(Direction::Write)]
        });
        self.dispatch.pop(cx, &mut self.links).map_or(Decision::Idle, Decision::Dispatch)
    }

    fn remove(&mut self, cx: Cx<'_>, id: RequestId) {
        if self.dispatch.contains(id) {
            self.dispatch.remove(&mut self.links, id);
        } else {
            self.links.remove(&mut self.fifo[cx[id].direction().index()], id);
        }
    }

    fn may_merge(&self, _: Cx<'_>, id: RequestId, _: &Request) -> bool {
        !self.dispatch.contains(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Direction;

    /// The first five that go if this many reads and writes wait, as `r` and `w`.
    fn batch(reads: u64, writes: u64) -> alloc::string::String {
        use crate::units::{Instant, Sector, Sectors};
        let entry = crate::registry::find("rwfifo").unwrap();
        let device = crate::Device::default();
        let mut queue = crate::Queue::new(64, device, entry, &[]).unwrap();
        for n in 0..writes {
            queue.insert(Instant(0), Request::write(Sector(10_000 + 100 * n), Sectors(8))).unwrap();
        }
        for n in 0..reads {
            queue.insert(Instant(0), Request::read(Sector(100 * n), Sectors(8))).unwrap();
        }
        let next = |_| match queue.dispatch(Instant(0)) {
            Ok(Decision::Dispatch(id)) if queue.request(id).direction() == Direction::Read => 'r',
            _ => 'w',
        };
        (0..5.min(reads + writes)).map(next).collect()
    }

    #[test]
    fn a_batch_is_three_reads_and_two_writes_where_there_are_enough() {
        assert_eq!(batch(9, 9), "rrrww");
        assert_eq!(batch(2, 9), "rrwww");
        assert_eq!(batch(9, 1), "rrrrw");
        assert_eq!(batch(9, 0), "rrrrr");
        assert_eq!(batch(0, 9), "wwwww");
        assert_eq!(batch(1, 1), "rw");
    }
}
