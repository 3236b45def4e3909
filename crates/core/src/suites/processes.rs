//! Each scheduler against its reference under processes that issue their next request when one is done: streams, random
//! readers and writers, for long enough that what a scheduler learns of them and of its drive counts.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::driver::{Driver, Promise};
use super::log::Log;
use super::oracle::{Reference, compare};
use super::scene::{Place, Scene, Spec, Step};
use super::subject::{Random, all};
use crate::device::{Device, Merging};
use crate::registry::Entry;
use crate::request::{Operation, Priority};
use crate::units::{Duration, Instant};

/// Requests that are done in a run.
const REQUESTS: usize = 1000;
/// Runs of each scheduler, each with other processes and another drive.
const RUNS: u64 = 18;
const MANY: u64 = 270;
/// Sectors. A scheduler that keeps something of each region of a disk has room for as many: no reference forgets any.
const AREA: u64 = 1 << 24;

/// What a process does.
struct Process {
    write: bool,
    /// The process waits for what it writes.
    sync: bool,
    /// In hundred requests, those that begin where the last one ended.
    in_order: u64,
    length: u32,
    /// Requests that it keeps waiting or in flight.
    depth: u64,
    think: Duration,
    /// The process thinks only after as many requests.
    burst: u64,
    issued: u64,
    next: u64,
}

impl Process {
    fn any(random: &mut Random) -> Process {
        let write = random.below(3) == 0;
        Process {
            write,
            sync: !write || random.below(2) == 0,
            in_order: [0, 90, 100, 100][random.below(4) as usize],
            length: [8, 64, 256, 512][random.below(4) as usize],
            depth: if write { 1 + random.below(12) } else { 1 },
            think: Duration::from_us([0, 100, 2_000, 12_000][random.below(4) as usize]),
            burst: 1 + random.below(4),
            issued: 0,
            next: random.below(AREA),
        }
    }

    /// One that reads on and on, or writes.
    fn stream(write: bool, sync: bool, random: &mut Random) -> Process {
        let (depth, think) = if write { (12, Duration::ZERO) } else { (1, Duration::from_us(100)) };
        let next = random.below(AREA);
        Process { write, sync, in_order: 100, length: 256, depth, think, burst: 1, issued: 0, next }
    }

    /// Some that read on and on and think in between, beside random readers, writers or one that reads on at once, or not.
    fn thinkers(random: &mut Random) -> Vec<Process> {
        let think = Duration::from_us([500, 6_000][random.below(2) as usize]);
        let mut all: Vec<Process> = (0..1 + random.below(4))
            .map(|_| Process { think, length: 64, ..Process::stream(false, true, random) })
            .collect();
        match random.below(6) {
            0..=2 => all.extend((0..1 + random.below(5)).map(|_| Process {
                in_order: 0,
                length: 8,
                think: Duration::ZERO,
                ..Process::stream(false, true, random)
            })),
            3 => all.push(Process { think: Duration::ZERO, ..Process::stream(false, true, random) }),
            4 => all.push(Process::stream(true, false, random)),
            _ => {}
        }
        all
    }

    /// How long it thinks before its next request.
    fn thinks(&self) -> Duration {
        if self.issued.is_multiple_of(self.burst) { self.think } else { Duration::ZERO }
    }

    fn request(&mut self, issuer: u32, random: &mut Random) -> Step {
        if random.below(100) >= self.in_order {
            self.next = random.below(AREA);
        }
        let start = self.next;
        self.next += u64::from(self.length);
        self.issued += 1;
        Step::Insert(Spec {
            place: Place::At(start),
            length: self.length,
            issuer,
            group: issuer,
            operation: if self.write { Operation::Write } else { Operation::Read },
            sync: self.sync,
            priority: Priority::default(),
            metadata: false,
            more: false,
            past: false,
        })
    }
}

/// A drive: how long it takes for a request that continues where the last one ended, and for another.
struct Drive {
    last: u64,
    near: Duration,
    far: Duration,
    /// Writes are done at once, and make the reads that follow slow: they take as long as this.
    buffers: bool,
    slow: Duration,
    unwritten: u64,
}

impl Drive {
    fn any(random: &mut Random) -> Drive {
        let near = Duration::from_us(200 + random.below(3_000));
        let far = near + Duration::from_ms(1 + random.below(8));
        Drive {
            last: 0,
            near,
            far,
            buffers: random.below(3) > 0,
            slow: if random.below(2) == 0 { far * 5 } else { near + (far - near) * 3 / 4 },
            unwritten: 0,
        }
    }

    fn serve(&mut self, start: u64, end: u64, write: bool) -> Duration {
        let time = if start == self.last { self.near } else { self.far };
        self.last = end;
        if self.buffers && write {
            self.unwritten += 1;
            return self.near / 2;
        }
        let slow = self.unwritten > 0;
        self.unwritten = self.unwritten.saturating_sub(3);
        if slow { self.slow } else { time }
    }
}

/// A scheduler and its reference, on a drive of their own that processes ask for requests.
struct Machine<'a> {
    fast: Driver<'a>,
    slow: Driver<'a>,
    drive: Drive,
    processes: Vec<Process>,
    /// When who issues the next request, in no order.
    asks: Vec<(Instant, usize)>,
    /// When the drive is done with what it serves: the request that was sent first.
    done: Option<Instant>,
}

impl Machine<'_> {
    /// Both drivers make a step and must agree.
    fn both(&mut self, step: &Step) -> Result<(), String> {
        self.fast.step(step)?;
        compare(&self.fast, &self.slow.step(step), &self.slow)
    }

    /// All that can go to the drive goes there.
    fn dispatch(&mut self) -> Result<(), String> {
        let mut sent = usize::MAX;
        while sent != self.fast.in_flight().len() && self.fast.has_room() {
            sent = self.fast.in_flight().len();
            self.both(&Step::Dispatch)?;
        }
        if self.done.is_none()
            && let Some(first) = self.fast.in_flight().first()
        {
            let request = *self.fast.queue.request(*first);
            let write = request.operation == Operation::Write;
            self.done = Some(self.fast.now + self.drive.serve(request.start.0, request.end().0, write));
        }
        Ok(())
    }

    /// The next that happens: the drive is done, a process issues a request, or the scheduler has waited for long enough. Returns
    /// whether a request is done.
    fn next(&mut self, random: &mut Random) -> Result<bool, String> {
        let first = (0..self.asks.len()).min_by_key(|at| self.asks[*at].0);
        let ask = first.map(|at| self.asks[at].0);
        let next = self.done.into_iter().chain(ask).min();
        if let Promise::Until(time) = self.fast.promise
            && next.is_none_or(|next| time < next)
            && self.fast.has_room()
        {
            self.both(&Step::KeepPromise)?;
            return Ok(false);
        }
        let next = next.ok_or("requests wait, and nothing is sent")?;
        self.both(&Step::Pass(next.since(self.fast.now)))?;
        if self.done == Some(next) {
            self.done = None;
            let request = *self.fast.queue.request(self.fast.in_flight()[0]);
            self.both(&Step::Complete(0))?;
            let issuer = request.issuer.0 as usize;
            self.asks.push((next + self.processes[issuer].thinks(), issuer));
            return Ok(true);
        }
        let (_, issuer) = self.asks.swap_remove(first.ok_or("nobody asks")?);
        let step = self.processes[issuer].request(issuer as u32, random);
        self.both(&step)?;
        Ok(false)
    }
}

/// A run of one scheduler.
fn run(entry: &'static Entry, seed: u64) -> Result<(), String> {
    let random = &mut Random(seed);
    let device = Device {
        depth: [1, 4, 32][seed as usize / 3 % 3],
        merging: Merging::Off,
        ..Device::usual(seed % 4 != 3)
    };
    let scene = Scene { size: 128, device, seed: 0, steps: Vec::new() };
    let (mut log, mut silent) = (Log::off(), Log::off());
    let reference = Reference(entry);
    let drive = Drive::any(random);
    let processes: Vec<Process> = match seed % 3 {
        0 => {
            [false, true].map(|write| Process::stream(write, !write || seed.is_multiple_of(4), random)).into()
        }
        1 => (0..2 + random.below(5)).map(|_| Process::any(random)).collect(),
        _ => Process::thinkers(random),
    };
    let asks = processes.iter().enumerate();
    let asks = asks.flat_map(|(issuer, process)| (0..process.depth).map(move |_| (Instant::ZERO, issuer)));
    let mut machine = Machine {
        fast: Driver::new(entry, &scene, Instant::ZERO, &mut log),
        slow: Driver::new(&reference, &scene, Instant::ZERO, &mut silent),
        asks: asks.collect(),
        drive,
        processes,
        done: None,
    };
    let mut done = 0;
    while done < REQUESTS {
        machine.dispatch()?;
        done += usize::from(machine.next(random)?);
    }
    Ok(())
}

/// What differs first in as many runs of one scheduler.
fn runs(entry: &'static Entry, count: u64) -> Option<String> {
    (0..count)
        .find_map(|seed| run(entry, seed).err().map(|error| format!("{}: run {seed}: {error}", entry.name)))
}

#[test]
fn every_scheduler_decides_like_its_reference_under_processes() {
    let failures: Vec<String> = all().filter_map(|entry| runs(entry, RUNS)).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

/// Each of its rules takes other processes to matter.
#[test]
fn the_scheduler_that_learns_most_decides_like_its_reference_in_many_more_runs() {
    let turns = all().find(|entry| entry.name == "turns").unwrap();
    assert_eq!(runs(turns, MANY), None);
}
