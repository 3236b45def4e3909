//! Machines above a queue: which requests programs cause, when, and for which process.

mod ext4;
mod programs;
mod reading;
mod writing;

use idlewise_core::{
    Device, Duration, Host, Instant, Issuer, Merging, Operation, Queue, Request, RequestId, Sector, registry,
};
use idlewise_disk::{AnyModel, DiskModel, Profile};
use idlewise_sim::engine::exits::Exits;
use idlewise_sim::engine::{Control, Engine, Limits, Workload};
use idlewise_sim::machine::layout::FileSystem;
use idlewise_sim::machine::parameters::Parameters;
use idlewise_sim::machine::program::{Op, Program, program};
use idlewise_sim::machine::{Job, Machine, build, presets, programs as rows};
use idlewise_sim::metrics::Recorder;
use idlewise_sim::workloads::Ground;

/// The disk of these tests: each command takes 5 ms, and there is one at a time.
const LATENCY: Duration = Duration::from_ms(5);
const GROUND: Ground = Ground { capacity: Sector(1 << 25), depth: 32, seed: 1 };
/// A page in sectors.
const PAGE: u32 = 8;

/// A machine, and what was seen of it.
struct Watched {
    machine: Machine,
    requests: Vec<Request>,
    /// When requests went to the disk, and when they were done.
    sent: Vec<Instant>,
    done: Vec<Instant>,
    /// The most pages that were dirty or being written at once.
    most_dirty: u32,
    /// Those of them that were dirty, at the end.
    dirty: u32,
}

impl Workload for Watched {
    fn next(&mut self) -> Option<Instant> {
        self.machine.next()
    }

    fn ready(&mut self, now: Instant, exits: &mut Exits) -> bool {
        let ready = self.machine.ready(now, exits);
        let cache = &self.machine.kernel().cache;
        self.most_dirty = self.most_dirty.max(cache.dirty() + cache.writing());
        self.dirty = cache.dirty();
        ready
    }

    fn issue(&mut self, id: RequestId) -> Request {
        let request = self.machine.issue(id);
        self.requests.push(request);
        request
    }

    fn asked_at(&mut self, now: Instant, exits: &mut Exits) -> Instant {
        self.machine.asked_at(now, exits)
    }

    fn asks(&self) -> bool {
        self.machine.asks()
    }

    fn dispatched(&mut self, now: Instant, id: RequestId) {
        self.sent.push(now);
        self.machine.dispatched(now, id);
    }

    fn completed(&mut self, now: Instant, id: RequestId, exits: &mut Exits) {
        self.done.push(now);
        self.machine.completed(now, id, exits);
    }
}

/// Runs a machine to its end; every request takes 5 ms.
fn run(machine: Machine) -> (Watched, Instant) {
    run_merging(machine, Merging::Off)
}

/// The same with requests that may be merged in the queue.
fn run_merging(machine: Machine, merging: Merging) -> (Watched, Instant) {
    let AnyModel::Fixed(mut disk) = Profile::named("fixed").unwrap().build().unwrap() else {
        panic!("it is fixed")
    };
    let mut watched = Watched {
        machine,
        requests: Vec::new(),
        sent: Vec::new(),
        done: Vec::new(),
        most_dirty: 0,
        dirty: 0,
    };
    let traits = Device { capacity: disk.capacity(), merging, ..Device::default() };
    let queue = Queue::new(4096, traits, registry::find("noop").unwrap(), &[]).unwrap();
    let (mut host, mut recorder) = (Host::new(queue, ()), Recorder::new(4096));
    let engine = Engine::new(&mut watched, &mut host, &mut disk, &mut recorder, Limits::default());
    let end = engine.run(&Control::default()).unwrap();
    assert_eq!(watched.machine.next(), None, "nothing is outstanding in the end");
    assert_eq!(watched.machine.kernel().cache.writing(), 0);
    (watched, end)
}

/// The machine of OLS'05, without what these tests do not ask for: a journal, times of access.
fn linux() -> Parameters {
    Parameters { journal: None, access_times: false, ..presets::named("linux-2.6.9").unwrap() }
}

fn file_system(parameters: &Parameters) -> FileSystem {
    let journal = parameters.journal.map_or(0, |journal| journal.blocks);
    FileSystem::new(parameters.layout, GROUND.capacity.0 / u64::from(PAGE), journal, 1).unwrap()
}

/// A process in the foreground.
fn job(operations: impl IntoIterator<Item = Op, IntoIter: Send + 'static>) -> Job {
    Job { name: "process", program: program(operations), background: false }
}

/// A program of the table at a small scale; every process computes for this number of seconds after its end.
fn scaled(name: &str, parameters: Parameters, percent: u32, seconds: u64) -> Machine {
    let row = rows::named(name).unwrap();
    let wish = rows::Wish { parameters, instances: row.instances, scale: percent };
    let mut setting = rows::Setting::new(wish, GROUND).unwrap();
    let jobs = (row.make)(&mut setting).unwrap();
    let longer = |job: Job| {
        let later: Program = Box::new(job.program.chain([Op::Compute(Duration::from_s(seconds))]));
        Job { program: later, ..job }
    };
    Machine::new(parameters, setting.files, 32, jobs.into_iter().map(longer).collect())
}

fn reads(requests: &[Request], metadata: bool) -> Vec<&Request> {
    let wanted = |one: &&Request| one.operation == Operation::Read && one.metadata == metadata;
    requests.iter().filter(wanted).collect()
}

fn writes(requests: &[Request]) -> Vec<&Request> {
    requests.iter().filter(|one| one.operation == Operation::Write).collect()
}

fn pages(requests: &[&Request]) -> Vec<u32> {
    requests.iter().map(|one| one.length.0 / PAGE).collect()
}

fn by(requests: &[Request], issuer: u32) -> usize {
    requests.iter().filter(|one| one.issuer == Issuer(issuer)).count()
}

#[test]
fn the_same_seed_makes_the_same_requests() {
    for row in rows::ALL {
        let machine = |seed| {
            // With less, 48 servers take from each other what they have just read.
            let parameters = presets::named(row.machine).unwrap().scaled(10);
            let wish = rows::Wish { parameters, instances: row.instances, scale: 1 };
            build(row, wish, Ground { seed, ..GROUND }).unwrap()
        };
        let [first, again] = [1, 1].map(|seed| run(machine(seed)));
        assert!(!first.0.machine.is_full(), "{}", row.name);
        assert!(!first.0.requests.is_empty(), "{} asks for nothing", row.name);
        assert!(first.0.requests == again.0.requests && first.1 == again.1, "{}", row.name);
        // Sizes, places and order of what is drawn at random.
        if ["find", "gnuld", "select-one", "web"].contains(&row.name) {
            let other = run(machine(2));
            assert!(first.0.requests != other.0.requests, "{}", row.name);
        }
    }
}
