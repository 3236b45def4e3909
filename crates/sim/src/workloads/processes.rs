//! Closed loop: processes that issue their next request when an earlier one is done.
//!
//! Processes belong to groups that run one after the other. Each keeps `depth` requests outstanding;
//! two things let it drain first: a burst that is spent, and a flush that is due. When its last request
//! is done it thinks once more and exits.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use idlewise_core::{
    Device, Duration, Instant, Issuer, Operation, Priority, Request, RequestId, Sector, Sectors, Weight,
};
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::Named;
use super::places::{Pattern, Places};
use super::regions::Regions;
use crate::engine::Workload;
use crate::engine::exits::Exits;

/// How long a process computes before its next request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Think {
    /// Always the same time.
    Fixed(Duration),
    /// Any time from zero to this, uniformly.
    Uniform(Duration),
    /// Each time by a step longer than the one before, from one step on; after the longest it starts over.
    Rising {
        /// The step.
        step: Duration,
        /// No time is longer.
        longest: Duration,
    },
}

/// Request sizes in blocks, each with its share in a hundred. Empty: one block.
pub type Sizes = Vec<(u32, u32)>;

/// One process.
#[derive(Clone, Debug)]
pub struct Process {
    /// The process's name in reports.
    pub name: String,
    /// The process's weight for proportional-share schedulers.
    pub weight: Weight,
    /// The process's I/O priority.
    pub priority: Priority,
    /// Where its file begins.
    pub file_start: Sector,
    /// How long its file is, in sectors; a whole number of blocks is used.
    pub file_sectors: u64,
    /// If not 0: the file lies in regions of this many sectors, each up to 1 MiB behind the one before.
    pub regions: u64,
    /// The size of a request, and what places are multiples of.
    pub block: Sectors,
    /// A file system splits longer requests into parts of this size, issues them at once, and says of each but the
    /// last that more follow (SOSP'01 §4.2.4). The parts count as one request.
    pub split: Sectors,
    /// Sizes of reads and of writes, where they differ from one block.
    pub sizes: [Sizes; 2],
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
    /// If not 0: it thinks only after this many requests, when all of them are done, and before it flushes them.
    pub burst: u32,
    /// If not 0: after this many requests, when all of them are done, it issues a flush and waits for it.
    pub flush_every: u64,
    /// The least mean time between its requests. When it falls behind it catches up.
    pub interval: Duration,
    /// Groups run one after the other, in this order.
    pub group: u32,
    /// When it starts, counted from the start of its group.
    pub start: Instant,
    /// How long after its start it ends, whatever is left.
    pub runtime: Duration,
    /// The process ends when all that are not in the background have ended.
    pub background: bool,
    /// Requests until it ends, not counting flushes.
    pub requests: u64,
    /// Mixed into the seed of its randomness.
    pub seed: u64,
}

impl Default for Process {
    /// A process that reads one sector after the other and has no request to issue.
    fn default() -> Self {
        Process {
            name: String::new(),
            weight: Weight::default(),
            priority: Priority::default(),
            file_start: Sector(0),
            file_sectors: 0,
            regions: 0,
            block: Sectors(1),
            split: Device::default().max_sectors,
            sizes: [Vec::new(), Vec::new()],
            pattern: Pattern::Sequential,
            reads_percent: 100,
            sync_writes: true,
            depth: 1,
            think: Think::Fixed(Duration::ZERO),
            burst: 0,
            flush_every: 0,
            interval: Duration::ZERO,
            group: 0,
            start: Instant::ZERO,
            runtime: Duration(u64::MAX),
            background: false,
            requests: 0,
            seed: 0,
        }
    }
}

struct Running {
    process: Process,
    rng: Xoshiro256PlusPlus,
    places: Places,
    regions: Regions,
    blocks: u64,
    left: u64,
    /// What is left to issue of a request that is split.
    rest: Option<Request>,
    /// Requests and parts that wait for their time or are in flight.
    outstanding: u32,
    /// Requests since the last burst began, and since the last flush.
    burst_used: u32,
    /// The process's last think time, if they rise.
    thought: Duration,
    unflushed: u64,
    /// The next request is a flush.
    flush: bool,
    /// When it may issue next as far as its rate goes.
    paced: Instant,
    end: Instant,
}

/// What a process's next step yields: when, and which process.
pub type Next = (Instant, u32);

/// Several processes at once.
pub struct Processes {
    running: Vec<Running>,
    /// When each process that is not waiting issues next.
    ready: BinaryHeap<Reverse<Next>>,
    /// Which process issued each outstanding request, by id.
    owners: Vec<u32>,
    group: u32,
    /// Processes of this group that have not ended, without those in the background.
    alive: usize,
    /// The phases that the processes make up, if they do, for reports.
    phases: Vec<(String, Instant)>,
}

impl Processes {
    /// A workload of `processes`, with randomness from `seed`. Issuers are numbered from 1.
    pub fn new(processes: Vec<Process>, seed: u64) -> Self {
        let running = processes.into_iter().enumerate().map(|(index, process)| {
            let mixed = seed ^ process.seed ^ (index as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            Running::new(process, Xoshiro256PlusPlus::seed_from_u64(mixed))
        });
        let (running, ready) = (running.collect(), BinaryHeap::new());
        let (owners, phases) = (Vec::new(), Vec::new());
        let mut processes = Processes { running, ready, owners, group: 0, alive: 0, phases };
        processes.begin(0, Instant::ZERO);
        processes
    }

    /// The same processes, which make up these phases.
    pub(super) fn phased(self, phases: Vec<(String, Instant)>) -> Self {
        Processes { phases, ..self }
    }

    /// Starts the first group from `from` on that has something to do; false if there is none.
    fn begin(&mut self, from: u32, now: Instant) -> bool {
        let groups = self.running.iter().filter(|running| running.left > 0).map(|r| r.process.group);
        let Some(group) = groups.filter(|group| *group >= from).min() else { return false };
        (self.group, self.alive) = (group, 0);
        for index in 0..self.running.len() {
            let running = &mut self.running[index];
            if running.process.group == group && running.left > 0 {
                self.alive += usize::from(!running.process.background);
                let start = now + Duration(running.process.start.0);
                running.paced = start;
                running.end = start + running.process.runtime;
                running.refill(start, index as u32, &mut self.ready);
            }
        }
        true
    }

    /// Ends all processes: they issue nothing more, and exit when what they have issued is done.
    pub fn end(&mut self, now: Instant, exits: &mut Exits) {
        for Reverse((_, owner)) in self.ready.drain() {
            let running = &mut self.running[owner as usize];
            running.outstanding -= 1;
            // Processes that wait for a completion exit there.
            if running.outstanding == 0 {
                exits.announce(now, issuer(owner));
            }
        }
        self.running.iter_mut().for_each(|running| running.left = 0);
    }

    /// The last request of a process is done.
    #[cold]
    fn ended(&mut self, now: Instant, owner: u32, exits: &mut Exits) {
        let running = &mut self.running[owner as usize];
        exits.announce(now + running.think(), issuer(owner));
        if !running.process.background {
            self.alive -= 1;
            if self.alive == 0 && !self.begin(self.group + 1, now) {
                self.end(now, exits);
            }
        }
    }
}

/// The number of the process at this place.
fn issuer(place: u32) -> Issuer {
    Issuer(place + 1)
}

impl Running {
    fn new(process: Process, mut rng: Xoshiro256PlusPlus) -> Running {
        let blocks = (process.file_sectors / u64::from(process.block.0)).max(1);
        Running {
            places: Places::new(process.pattern, blocks, &mut rng),
            regions: Regions::new(process.regions, if process.regions > 0 { rng.random() } else { 0 }),
            blocks,
            left: process.requests,
            rest: None,
            outstanding: 0,
            burst_used: 0,
            thought: Duration::ZERO,
            unflushed: 0,
            flush: false,
            paced: Instant::ZERO,
            end: Instant::MAX,
            rng,
            process,
        }
    }

    /// Schedules requests until `depth` are outstanding. At `now` the process starts or something of
    /// it completed.
    fn refill(&mut self, now: Instant, index: u32, ready: &mut BinaryHeap<Reverse<Next>>) {
        let mut at = now;
        while self.left > 0 && self.outstanding < self.process.depth {
            if self.process.burst > 0 && self.burst_used >= self.process.burst {
                if self.outstanding > 0 {
                    return;
                }
                self.burst_used = 0;
                at = now + self.think();
            }
            if self.process.flush_every > 0 && self.unflushed >= self.process.flush_every {
                if self.outstanding == 0 {
                    (self.unflushed, self.flush) = (0, true);
                    self.outstanding = 1;
                    ready.push(Reverse((at, index)));
                }
                return;
            }
            if self.process.interval > Duration::ZERO {
                at = at.max(self.paced);
                self.paced += self.process.interval;
            }
            if at >= self.end {
                self.left = 0;
                return;
            }
            self.left -= 1;
            self.outstanding += 1;
            self.burst_used = self.burst_used.saturating_add(1);
            self.unflushed += 1;
            ready.push(Reverse((at, index)));
        }
    }

    fn next_request(&mut self, at: Instant, issuer: Issuer) -> Request {
        let process = &self.process;
        let common = Request { arrival: at, issuer, priority: process.priority, ..Request::default() };
        if std::mem::take(&mut self.flush) {
            return Request { operation: Operation::Flush, sync: true, past: true, ..common };
        }
        let reads = process.reads_percent;
        let read = reads >= 100 || (reads > 0 && self.rng.random_range(0..100) < reads);
        let blocks = pick(&process.sizes[usize::from(!read)], &mut self.rng);
        let place = self.places.next(self.blocks, u64::from(blocks), !read, &mut self.rng);
        let place = self.regions.locate(place * u64::from(process.block.0));
        Request {
            start: Sector(process.file_start.0 + place),
            length: Sectors(process.block.0 * blocks),
            operation: if read { Operation::Read } else { Operation::Write },
            sync: read || process.sync_writes,
            ..common
        }
    }

    fn think(&mut self) -> Duration {
        match self.process.think {
            Think::Fixed(time) => time,
            Think::Uniform(most) => Duration(self.rng.random_range(0..=most.0)),
            Think::Rising { step, longest } => {
                let next = self.thought + step;
                self.thought = if next > longest { step } else { next };
                self.thought
            }
        }
    }
}

/// One of `sizes` by its share.
#[inline]
fn pick(sizes: &Sizes, rng: &mut Xoshiro256PlusPlus) -> u32 {
    match sizes.as_slice() {
        [] => 1,
        [(only, _)] => *only,
        several => {
            let mut draw = rng.random_range(0..several.iter().map(|(_, share)| share).sum());
            let chosen = several.iter().find(|(_, share)| {
                let here = draw < *share;
                draw = draw.saturating_sub(*share);
                here
            });
            chosen.map_or(1, |(blocks, _)| *blocks)
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
        let running = &mut self.running[owner as usize];
        let whole = running.rest.take().unwrap_or_else(|| running.next_request(at, issuer(owner)));
        let longest = running.process.split;
        if whole.length <= longest {
            return whole;
        }
        let rest = Sectors(whole.length.0 - longest.0);
        running.rest = Some(Request { start: whole.start + longest, length: rest, ..whole });
        running.outstanding += 1;
        self.ready.push(Reverse((at, owner)));
        Request { length: longest, more_follows: true, ..whole }
    }

    fn completed(&mut self, now: Instant, id: RequestId, exits: &mut Exits) {
        let owner = self.owners[id.index()];
        let running = &mut self.running[owner as usize];
        running.outstanding -= 1;
        let flush_due = running.process.flush_every > 0 && running.unflushed >= running.process.flush_every;
        let goes_on = running.left > 0 && running.outstanding < running.process.depth;
        let thinks = running.process.burst == 0 && goes_on && !flush_due;
        let at = if thinks { now + running.think() } else { now };
        running.refill(at, owner, &mut self.ready);
        if running.outstanding == 0 {
            self.ended(now, owner, exits);
        }
    }

    /// The groups' shares, of which each is its slowest process's: by requests, or by time where it has that limit.
    fn share_done(&self, now: Instant) -> Option<f64> {
        let mut groups: BTreeMap<u32, f64> = BTreeMap::new();
        for running in self.running.iter().filter(|running| !running.process.background) {
            let Process { group, requests, .. } = running.process;
            let of_requests = 1.0 - running.left as f64 / requests.max(1) as f64;
            let of_time = now.0 as f64 / running.end.0 as f64;
            let slowest = groups.entry(group).or_insert(1.0);
            *slowest = slowest.min(if group <= self.group { of_requests.max(of_time) } else { 0.0 });
        }
        Some(groups.values().sum::<f64>() / groups.len().max(1) as f64)
    }
}

impl Named for Processes {
    fn name(&self, issuer: Issuer) -> Option<String> {
        let place = (issuer.0 as usize).checked_sub(1)?;
        self.running.get(place).map(|running| running.process.name.clone())
    }

    fn phases(&self) -> Vec<(String, Instant)> {
        self.phases.clone()
    }

    fn weights(&self) -> Vec<(Issuer, Weight)> {
        let processes =
            (0..).zip(&self.running).map(|(place, running)| (issuer(place), running.process.weight));
        processes.filter(|(_, weight)| *weight != Weight::default()).collect()
    }
}
