//! Flushes go to the device one at a time, and the next is for all who came meanwhile.

use idlewise_core::{
    Device as Traits, Duration, Host, Instant, Operation, Queue, Request, RequestId, Sector, Sectors,
    registry,
};
use idlewise_disk::{Completion, DiskModel as _, Profile};
use idlewise_sim::engine::{Control, Engine, Limits, Observer};
use idlewise_sim::workloads::{Process, Processes};

const COMMITS: u64 = 100;

/// Which requests are flushes, how many were done, with how many commands, and whether one is in the device.
#[derive(Default)]
struct Watch {
    flushes: Vec<bool>,
    done: u64,
    commands: u64,
    flushing: bool,
}

impl Observer for Watch {
    fn arrived(&mut self, _: Instant, id: RequestId, request: &Request) {
        self.flushes.resize(self.flushes.len().max(id.index() + 1), false);
        self.flushes[id.index()] = request.operation == Operation::Flush;
    }
    fn dispatched(&mut self, _: Instant, id: RequestId) {
        if self.flushes[id.index()] {
            assert!(!std::mem::replace(&mut self.flushing, true), "two flushes at a time");
        }
    }
    fn served(&mut self, _: Instant, id: RequestId, _: &Completion) {
        if self.flushes[id.index()] {
            self.flushing = false;
            self.commands += 1;
        }
    }
    fn completed(&mut self, _: Instant, _: RequestId, request: &Request, _: u64) {
        self.done += u64::from(request.operation == Operation::Flush);
    }
}

/// As many processes write and flush in turn, and begin 2 ms one after the other; a flush takes about 8 ms. Returns the flushes
/// that the disk was sent.
fn commands(committers: u64, depth: u32) -> u64 {
    let process = |number| Process {
        file_start: Sector(number << 20),
        file_sectors: 1 << 16,
        block: Sectors(8),
        reads_percent: 0,
        sync_writes: true,
        flush_every: 1,
        requests: COMMITS,
        start: Instant::ZERO + Duration::from_ms(2 * number),
        ..Process::default()
    };
    let mut workload = Processes::new((0..committers).map(process).collect(), 1);
    let profile = Profile::named("hdd-18tb-7200").unwrap().with(&format!("depth={depth}")).unwrap();
    let mut device = profile.build().unwrap();
    let traits = Traits { depth, capacity: device.capacity(), ..Traits::default() };
    let mut host = Host::new(Queue::new(64, traits, registry::find("noop").unwrap(), &[]).unwrap(), ());
    let mut watch = Watch::default();
    let engine = Engine::new(&mut workload, &mut host, &mut device, &mut watch, Limits::default());
    engine.run(&Control::default()).unwrap();
    assert_eq!(watch.done, committers * COMMITS - committers, "the last write of each is not flushed");
    watch.commands
}

#[test]
fn who_wants_a_flush_while_one_runs_shares_the_next() {
    assert_eq!(commands(1, 32), COMMITS - 1);
    // One has a flush for itself, and then the two others.
    assert_eq!(commands(3, 32), 2 * (COMMITS - 1));
}

#[test]
fn who_waits_for_a_flush_holds_no_tag() {
    // The second tag is for the writes of the two others, of which each then waits.
    assert_eq!(commands(3, 2), 2 * (COMMITS - 1));
    // With one alone nobody writes while the disk is flushed.
    assert_eq!(commands(3, 1), 3 * (COMMITS - 1));
}
