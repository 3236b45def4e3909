//! The same processes on the same disk with one of our schedulers.
//!
//! The disk takes one request at a time, and the time of the recorded machine for each. The machine's own
//! computing counts too: from a completion, or an arrival at the idle disk, until a request is sent, and from a
//! process's completion to its next request.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt::Write as _;

use idlewise_core::device::{Device, Merging};
use idlewise_core::queue::Queue;
use idlewise_core::registry;
use idlewise_core::registry::AnyScheduler;
use idlewise_core::request::{Operation, Request};
use idlewise_core::scheduler::Decision;
use idlewise_core::units::{Duration, Instant, Issuer, RequestId, Sector, Sectors};

use super::recording::{Depth, Process, Recording, Step};

/// As in `to-loops.awk`: shorter gaps are computing.
const LEAST_GAP: Duration = Duration(500_000);
/// Requests there can be at once.
const CAPACITY: usize = 1024;

/// What came of it.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// Requests of each process that were done during the run.
    pub(crate) served: Vec<u64>,
    /// How long the disk idled though requests waited.
    pub(crate) idled: Duration,
    /// Whose requests were served, how many in a row, and since when in us.
    pub(crate) turns: String,
    /// The numbers of tokens that kyber has set, as its reasons tell them.
    pub(crate) depths: Vec<Depth>,
}

/// What happens next, the earlier in this list first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Next {
    Complete(RequestId),
    Issue(usize),
    Ask,
}

/// A process as it goes.
struct Player {
    at: Option<u64>,
    random: u64,
    flying: u32,
    batches: u64,
}

struct Host<'a> {
    recording: &'a Recording,
    queue: Queue<AnyScheduler>,
    players: Vec<Player>,
    events: BinaryHeap<Reverse<(Instant, Next)>>,
    /// By request: whose it is.
    owners: Vec<usize>,
    waiting: u32,
    busy: bool,
    /// Since when the disk is free, and since when something waits.
    free: Instant,
    since: Instant,
    /// Who is served, how many in a row, since when.
    row: Option<(usize, u64, Instant)>,
    outcome: Outcome,
}

fn queue(recording: &Recording) -> Queue<AnyScheduler> {
    let (rotational, capacity) = (recording.rotational, Sector(524_288));
    let device = Device { rotational, capacity, depth: 1, merging: Merging::Off, ..Device::default() };
    let name = if recording.scheduler == "none" { "noop" } else { &recording.scheduler };
    let entry = registry::find(name).expect("a scheduler of ours");
    let mut queue = Queue::new(CAPACITY, device, entry, &[]).unwrap();
    queue.explain();
    // As on the real machine: set when it is there already.
    for (name, text) in &recording.settings {
        let tunable = entry.tunables.iter().find(|tunable| tunable.name == name).expect("a tunable");
        queue.set(tunable.name, tunable.parse(text).unwrap()).unwrap();
    }
    queue
}

impl Player {
    /// As `draw` in `loops.c`.
    fn draw(&mut self) -> u64 {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005);
        self.random = self.random.wrapping_add(1_442_695_040_888_963_407);
        self.random >> 33
    }
}

/// Where the next request of a process begins: as `place` in `loops.c`.
fn place(process: &Process, player: &mut Player) -> u64 {
    let length = u64::from(process.length);
    let next = match process.step {
        Step::Random => process.first + player.draw() % (process.span / length) * length,
        Step::By(step) => {
            let next = player.at.map_or(process.first, |at| at + step);
            if next + length > process.first + process.span { process.first } else { next }
        }
    };
    player.at = Some(next);
    next
}

impl Host<'_> {
    fn issue(&mut self, now: Instant, index: usize) {
        let process = self.recording.processes[index];
        self.players[index].batches += 1;
        for _ in 0..process.batch {
            let start = place(&process, &mut self.players[index]);
            let request = Request {
                operation: process.operation,
                start: Sector(start),
                length: Sectors(process.length),
                issuer: Issuer(process.who),
                sync: process.sync,
                priority: process.priority,
                ..Request::default()
            };
            let id = self.queue.insert(now, request).unwrap().id();
            self.owners[id.index()] = index;
            self.players[index].flying += 1;
            if self.waiting == 0 && !self.busy {
                self.since = now;
            }
            self.waiting += 1;
            // What goes through the page cache comes all at once.
            if process.sync {
                self.ask(now);
            }
        }
        self.ask(now);
    }

    fn complete(&mut self, now: Instant, id: RequestId) {
        let index = self.owners[id.index()];
        let process = self.recording.processes[index];
        self.queue.complete(now, id).unwrap();
        (self.busy, self.free) = (false, now);
        if now <= Instant::ZERO + self.recording.run {
            self.outcome.served[index] += 1;
        }
        let player = &mut self.players[index];
        player.flying -= 1;
        let more = process.count.is_none_or(|count| player.batches < count);
        if player.flying == 0 && more && now < Instant::ZERO + self.recording.run {
            let jitter = process.jitter.0;
            let more = Duration(if jitter > 0 { player.draw() % jitter } else { 0 });
            self.events.push(Reverse((now + process.think + more + process.reply, Next::Issue(index))));
        }
        self.ask(now);
    }

    fn ask(&mut self, now: Instant) {
        if self.busy {
            return;
        }
        match self.queue.dispatch(now).unwrap() {
            Decision::Dispatch(id) => self.send(now, id),
            Decision::WaitUntil(until) => self.events.push(Reverse((until, Next::Ask))),
            Decision::Idle => {}
        }
    }

    fn send(&mut self, now: Instant, id: RequestId) {
        let gap = now.since(self.free.max(self.since));
        if gap >= LEAST_GAP && now <= Instant::ZERO + self.recording.run {
            self.outcome.idled += gap;
        }
        self.busy = true;
        self.waiting -= 1;
        let done = now + self.recording.turn + self.recording.service;
        self.events.push(Reverse((done, Next::Complete(id))));
        self.note_depth(now, id);
        let owner = self.owners[id.index()];
        match &mut self.row {
            Some((served, count, _)) if *served == owner => *count += 1,
            _ => {
                self.end_row();
                self.row = Some((owner, 1, now));
            }
        }
    }

    /// "… with token 3 of 128".
    fn note_depth(&mut self, now: Instant, id: RequestId) {
        if self.recording.scheduler != "kyber" {
            return;
        }
        let why = self.queue.why().expect("a reason").to_string();
        let tokens = why.rsplit(' ').next().unwrap().parse().expect("a number of tokens");
        let operation = self.queue.request(id).operation;
        let before = self.outcome.depths.iter().rev().find(|depth| depth.operation == operation);
        let first = if operation == Operation::Read { 256 } else { 128 };
        if before.map_or(first, |depth| depth.tokens) != tokens {
            self.outcome.depths.push(Depth { operation, tokens, since: now.since(Instant::ZERO) });
        }
    }

    fn end_row(&mut self) {
        if let Some((owner, count, began)) = self.row.take() {
            let (who, us) = (self.recording.processes[owner].who, began.since(Instant::ZERO).as_us());
            writeln!(self.outcome.turns, "{who} {count} {us}").unwrap();
        }
    }
}

/// Plays what was recorded with our scheduler.
pub(crate) fn play(recording: &Recording) -> Outcome {
    let players = |process: &Process| Player { at: None, random: process.who.into(), flying: 0, batches: 0 };
    let begins = recording.processes.iter().enumerate();
    let mut host = Host {
        recording,
        queue: queue(recording),
        players: recording.processes.iter().map(players).collect(),
        events: begins.map(|(n, p)| Reverse((Instant::ZERO + p.begin, Next::Issue(n)))).collect(),
        owners: vec![0; CAPACITY],
        waiting: 0,
        busy: false,
        free: Instant::ZERO,
        since: Instant::ZERO,
        row: None,
        outcome: Outcome { served: vec![0; recording.processes.len()], ..Outcome::default() },
    };
    while let Some(Reverse((now, next))) = host.events.pop() {
        match next {
            Next::Complete(id) => host.complete(now, id),
            Next::Issue(index) => host.issue(now, index),
            Next::Ask => host.ask(now),
        }
    }
    host.end_row();
    host.outcome
}
