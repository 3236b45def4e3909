//! Hardware queues: each has its share of the device's depth, for its share of the processes.

use idlewise_core::{
    Device as Traits, Host, Instant, Merging, Queue, Request, RequestId, Sector, Sectors, registry,
};
use idlewise_disk::{AnyModel, Completion, DiskModel, Profile};
use idlewise_sim::engine::{Control, Engine, Limits, Observer};
use idlewise_sim::workloads::{Pattern, Process, Processes};

const QUEUE: usize = 64;
/// The device's time for each command.
const SERVICE_NS: u64 = 100_000;

/// Counts each hardware queue's commands in flight.
struct Watch {
    queues: u32,
    issuers: Vec<u32>,
    in_flight: Vec<u32>,
    most: Vec<u32>,
    completed: u64,
}

impl Watch {
    fn queue_of(&self, id: RequestId) -> usize {
        (self.issuers[id.index()] % self.queues) as usize
    }
}

impl Observer for Watch {
    fn arrived(&mut self, _: Instant, id: RequestId, request: &Request) {
        self.issuers[id.index()] = request.issuer.0;
    }
    fn dispatched(&mut self, _: Instant, id: RequestId) {
        let queue = self.queue_of(id);
        self.in_flight[queue] += 1;
        self.most[queue] = self.most[queue].max(self.in_flight[queue]);
    }
    fn served(&mut self, _: Instant, id: RequestId, _: &Completion) {
        let queue = self.queue_of(id);
        self.in_flight[queue] -= 1;
    }
    fn completed(&mut self, _: Instant, _: RequestId, _: &Request, _: u64) {
        self.completed += 1;
    }
    fn waits(&mut self, _: Instant, _: Instant) {}
}

/// `processes` with 240 requests each, of which each keeps `outstanding`, on a device of this depth. Returns when
/// all was done, and the most that each hardware queue had in flight.
fn run(scheduler: &str, processes: u64, outstanding: u32, depth: u32, queues: u32) -> (Instant, Vec<u32>) {
    const REQUESTS: u64 = 240;
    let process = |number| Process {
        file_start: Sector(number << 24),
        file_sectors: 1 << 20,
        block: Sectors(8),
        pattern: Pattern::Random,
        reads_percent: 70,
        depth: outstanding,
        requests: REQUESTS,
        ..Process::default()
    };
    let mut workload = Processes::new((0..processes).map(process).collect(), 1);
    let options = format!("latency={},depth={depth}", SERVICE_NS / 1000);
    let profile = Profile::named("fixed").unwrap().with(&options).unwrap();
    let AnyModel::Fixed(mut device) = profile.build().unwrap() else { panic!("it is fixed") };
    let traits = Traits {
        rotational: false,
        depth,
        hardware_queues: queues,
        merging: Merging::Off,
        capacity: device.capacity(),
        ..Traits::default()
    };
    let mut host = Host::new(Queue::new(QUEUE, traits, registry::find(scheduler).unwrap(), &[]).unwrap(), ());
    let none = vec![0; queues as usize];
    let mut watch =
        Watch { queues, issuers: vec![0; QUEUE], in_flight: none.clone(), most: none, completed: 0 };
    let end = Engine::new(&mut workload, &mut host, &mut device, &mut watch, Limits::default())
        .run(&Control::default())
        .unwrap_or_else(|error| panic!("{scheduler}: {error}"));
    assert_eq!(
        (watch.completed, watch.in_flight.iter().sum::<u32>()),
        (processes * REQUESTS, 0),
        "{scheduler}"
    );
    (end, watch.most)
}

#[test]
fn a_process_has_its_queues_share_of_the_depth() {
    let (alone, most) = run("noop", 1, 8, 8, 2);
    assert_eq!(most.iter().sum::<u32>(), 4, "the other queue is nobody's");
    assert_eq!(run("noop", 1, 8, 8, 1).0.0 * 2, alone.0);
    // Two have a queue each. The second is let in when the first one's surplus, which comes before it, is held back.
    let (both, most) = run("noop", 2, 8, 8, 2);
    assert_eq!((both.0 - alone.0, most), (SERVICE_NS, vec![4, 4]));
}

#[test]
fn an_uneven_depth_is_dealt_out_whole() {
    assert_eq!(run("noop", 3, 8, 8, 3).1, [3, 3, 2]);
}

#[test]
fn under_every_scheduler_all_is_served_and_no_queue_exceeds_its_share() {
    for entry in registry::all() {
        let (_, most) = run(entry.name, 5, 6, 7, 3);
        assert!(most.iter().zip([3, 2, 2]).all(|(most, share)| *most <= share), "{}: {most:?}", entry.name);
        assert!(most.iter().all(|most| *most > 0), "{}: {most:?}", entry.name);
    }
}
