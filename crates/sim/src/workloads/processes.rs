//! Closed loop: processes that issue their next request when an earlier one is done.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use idlewise_core::{Duration, Instant, Issuer, Operation, Priority, Request, RequestId, Sector, Sectors};
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::Named;
use crate::engine::Workload;

/// Where in its file a process reads or writes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// One block after the other.
    Sequential,
    /// Every other block.
    Alternate,
    /// Any block, uniformly.
    Random,
}

/// How long a process computes before its next request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Think {
    /// Always the same time.
    Fixed(Duration),
    /// Any time from zero to this, uniformly.
    Uniform(Duration),
}

/// One process.
#[derive(Clone, Debug)]
pub struct Process {
    /// Its name in reports.
    pub name: String,
    /// Its weight for proportional-share schedulers.
    pub weight: u32,
    /// Its I/O priority.
    pub priority: Priority,
    /// Where its file begins.
    pub file_start: Sector,
    /// How long its file is, in sectors; a whole number of blocks is used.
    pub file_sectors: u64,
    /// The size of a request.
    pub block: Sectors,
    /// Where it goes next.
    pub pattern: Pattern,
    /// Reads in a hundred requests.
    pub reads_percent: u32,
    /// Whether its writes are synchronous.
    pub sync_writes: bool,
    /// Requests that it keeps outstanding.
    pub depth: u32,
    /// The time between a completion and the next request.
    pub think: Think,
    /// When it starts.
    pub start: Instant,
    /// Requests until it ends.
    pub requests: u64,
}

struct Running {
    process: Process,
    rng: Xoshiro256PlusPlus,
    /// The next block, for patterns that go in order.
    block: u64,
    blocks: u64,
    left: u64,
}

/// What a process's next step yields.
pub type Next = (Instant, u32);

/// Several processes at once.
pub struct Processes {
    running: Vec<Running>,
    /// When each process that is not waiting issues next.
    ready: BinaryHeap<Reverse<Next>>,
    /// Which process issued each outstanding request, by id.
    owners: Vec<u32>,
}

impl Processes {
    /// These processes, with randomness from `seed`. Issuers are numbered from 1.
    pub fn new(processes: Vec<Process>, seed: u64) -> Self {
        let mut ready = BinaryHeap::new();
        let mut running = Vec::with_capacity(processes.len());
        for (index, process) in processes.into_iter().enumerate() {
            for _ in 0..process.requests.min(u64::from(process.depth)) {
                ready.push(Reverse((process.start, index as u32)));
            }
            let blocks = (process.file_sectors / u64::from(process.block.0)).max(1);
            let rng = Xoshiro256PlusPlus::seed_from_u64(
                seed ^ (index as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15),
            );
            let outstanding = process.requests.min(u64::from(process.depth));
            let left = process.requests - outstanding;
            running.push(Running { process, rng, block: 0, blocks, left });
        }
        Processes { running, ready, owners: Vec::new() }
    }
}

impl Running {
    fn next_request(&mut self, at: Instant, issuer: Issuer) -> Request {
        let process = &self.process;
        let block = match process.pattern {
            Pattern::Random => self.rng.random_range(0..self.blocks),
            Pattern::Sequential | Pattern::Alternate => {
                let step = if process.pattern == Pattern::Alternate { 2 } else { 1 };
                let block = self.block;
                self.block = if block + step < self.blocks { block + step } else { 0 };
                block
            }
        };
        let reads = process.reads_percent;
        let read = reads >= 100 || (reads > 0 && self.rng.random_range(0..100) < reads);
        Request {
            arrival: at,
            start: Sector(process.file_start.0 + block * u64::from(process.block.0)),
            length: process.block,
            issuer,
            operation: if read { Operation::Read } else { Operation::Write },
            priority: process.priority,
            sync: read || process.sync_writes,
            ..Request::default()
        }
    }

    fn think(&mut self) -> Duration {
        match self.process.think {
            Think::Fixed(time) => time,
            Think::Uniform(most) => Duration(self.rng.random_range(0..=most.0)),
        }
    }
}

impl Workload for Processes {
    #[inline]
    fn next(&mut self) -> Option<Instant> {
        self.ready.peek().map(|Reverse((at, _))| *at)
    }

    fn issue(&mut self, id: RequestId) -> Request {
        let Some(Reverse((at, owner))) = self.ready.pop() else { unreachable!("next() announced a request") };
        if self.owners.len() <= id.index() {
            self.owners.resize(id.index() + 1, 0);
        }
        self.owners[id.index()] = owner;
        self.running[owner as usize].next_request(at, Issuer(owner + 1))
    }

    fn completed(&mut self, now: Instant, id: RequestId) {
        let owner = self.owners[id.index()];
        let running = &mut self.running[owner as usize];
        if running.left > 0 {
            running.left -= 1;
            let at = now + running.think();
            self.ready.push(Reverse((at, owner)));
        }
    }
}

impl Named for Processes {
    fn describe(&self, issuer: Issuer) -> (Option<String>, u32) {
        let process = (issuer.0 as usize).checked_sub(1).and_then(|index| self.running.get(index));
        process.map_or((None, 1), |running| (Some(running.process.name.clone()), running.process.weight))
    }
}
