//! Each scheduler against its reference under processes that issue their next request when one is done: streams, random
//! readers and writers, for long enough that what a scheduler learns of them and of its drive counts.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::driver::Driver;
use super::log::Log;
use super::oracle::{Reference, compare};
use super::scene::{Place, Scene, Spec, Step};
use super::subject::{Random, all};
use crate::device::{Device, Merging};
use crate::registry::Entry;
use crate::request::{Operation, Priority};
use crate::units::{Duration, Instant};

/// Requests that are done in a run.
const REQUESTS: usize = 1500;
/// Runs of each scheduler, each with other processes and another drive.
const RUNS: u64 = 16;

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
            next: random.below(900_000_000),
        }
    }

    /// One that reads on and on, or writes.
    fn stream(write: bool, sync: bool, random: &mut Random) -> Process {
        let (depth, think) = if write { (12, Duration::ZERO) } else { (1, Duration::from_us(100)) };
        let next = random.below(900_000_000);
        Process { write, sync, in_order: 100, length: 256, depth, think, burst: 1, issued: 0, next }
    }

    /// How long it thinks before its next request.
    fn thinks(&self) -> Duration {
        if self.issued.is_multiple_of(self.burst) { self.think } else { Duration::ZERO }
    }

    fn request(&mut self, issuer: u32, random: &mut Random) -> Step {
        if random.below(100) >= self.in_order {
            self.next = random.below(900_000_000);
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
        let near = Duration::from_us(500 + random.below(5_000));
        let far = near + Duration::from_ms(2 + random.below(10));
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

/// Both drivers make a step and must agree.
fn both(fast: &mut Driver<'_>, slow: &mut Driver<'_>, step: &Step) -> Result<(), String> {
    fast.step(step)?;
    compare(fast, &slow.step(step), slow)
}

/// A run of one scheduler.
fn run(entry: &'static Entry, seed: u64) -> Result<(), String> {
    let random = &mut Random(seed);
    let device = Device {
        depth: [1, 4, 32][seed as usize % 3],
        merging: Merging::Off,
        ..Device::usual(seed % 4 != 3)
    };
    let scene = Scene { size: 128, device, seed: 0, steps: Vec::new() };
    let (mut log, mut silent) = (Log::off(), Log::off());
    let fast = &mut Driver::new(entry, &scene, Instant::ZERO, &mut log);
    let reference = Reference(entry);
    let slow = &mut Driver::new(&reference, &scene, Instant::ZERO, &mut silent);
    let mut drive = Drive::any(random);
    let mut processes: Vec<Process> = match seed % 2 {
        0 => {
            [false, true].map(|write| Process::stream(write, !write || seed.is_multiple_of(4), random)).into()
        }
        _ => (0..2 + random.below(5)).map(|_| Process::any(random)).collect(),
    };
    for (issuer, process) in processes.iter_mut().enumerate() {
        for _ in 0..process.depth {
            both(fast, slow, &process.request(issuer as u32, random))?;
        }
    }
    for _ in 0..REQUESTS {
        let mut sent = usize::MAX;
        while sent != fast.in_flight().len() && fast.has_room() {
            sent = fast.in_flight().len();
            both(fast, slow, &Step::Dispatch)?;
        }
        let Some(first) = fast.in_flight().first().copied() else {
            both(fast, slow, &Step::KeepPromise)?;
            continue;
        };
        let request = *fast.queue.request(first);
        let write = request.operation == Operation::Write;
        let time = drive.serve(request.start.0, request.end().0, write);
        both(fast, slow, &Step::Pass(time))?;
        both(fast, slow, &Step::Complete(0))?;
        let process = &mut processes[request.issuer.0 as usize];
        both(fast, slow, &Step::Pass(process.thinks()))?;
        both(fast, slow, &process.request(request.issuer.0, random))?;
    }
    Ok(())
}

#[test]
fn every_scheduler_decides_like_its_reference_under_processes() {
    let mut failures = Vec::new();
    for entry in all() {
        let failed =
            (0..RUNS).find_map(|seed| run(entry, seed).err().map(|error| format!("run {seed}: {error}")));
        failures.extend(failed.map(|error| format!("{}: {error}", entry.name)));
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}
