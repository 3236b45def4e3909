//! Admission in the queue: a writer that floods it cannot keep a reader out, where the scheduler limits it.

use idlewise_core::registry::{self, Assignment};
use idlewise_core::{
    Device as Traits, Host, Instant, Issuer, Merging, Queue, Request, RequestId, Sector, Sectors, Weight,
};
use idlewise_disk::{AnyModel, Completion, DiskModel, Profile};
use idlewise_sim::engine::{Control, Engine, Limits, Observer};
use idlewise_sim::metrics::{IssuerShare, Recorder, Report};
use idlewise_sim::workloads::{Pattern, Process, Processes};

const QUEUE: usize = 64;
/// What the writer keeps outstanding.
const FLOOD: u32 = 1000;
const WRITES: u64 = 5000;
const READS: u64 = 20;
/// The device's time for each command.
const SERVICE_NS: u64 = 100_000;

/// Measures, and counts the writer's requests in the queue.
struct Watch {
    recorder: Recorder,
    writes: usize,
    most: usize,
}

impl Observer for Watch {
    fn arrived(&mut self, now: Instant, id: RequestId, request: &Request) {
        self.writes += usize::from(request.issuer == WRITER);
        self.most = self.most.max(self.writes);
        self.recorder.arrived(now, id, request);
    }
    fn dispatched(&mut self, now: Instant, id: RequestId) {
        self.recorder.dispatched(now, id);
    }
    fn served(&mut self, now: Instant, id: RequestId, completion: &Completion) {
        self.recorder.served(now, id, completion);
    }
    fn completed(&mut self, now: Instant, id: RequestId, request: &Request, service_share: u64) {
        self.writes -= usize::from(request.issuer == WRITER);
        self.recorder.completed(now, id, request, service_share);
    }
    fn waits(&mut self, now: Instant, until: Instant) {
        self.recorder.waits(now, until);
    }
}

const WRITER: Issuer = Issuer(1);
const READER: Issuer = Issuer(2);

/// A writer and, from 20 ms on, a reader that waits for each request. Returns the report and how many of the
/// writer's requests were in the queue at most.
fn flooded(
    scheduler: &str,
    settings: &[Assignment<'_>],
    sync_writes: bool,
    merging: Merging,
) -> (Report, usize) {
    let common = Process { file_sectors: 1 << 20, block: Sectors(8), ..Process::default() };
    let writer = Process {
        reads_percent: 0,
        sync_writes,
        depth: FLOOD,
        requests: WRITES,
        pattern: if merging == Merging::Off { Pattern::Random } else { Pattern::Sequential },
        ..common.clone()
    };
    let start = Instant(20_000_000);
    let file_start = Sector(1 << 21);
    let reader = Process { start, file_start, pattern: Pattern::Random, requests: READS, ..common };
    let mut workload = Processes::new(vec![writer, reader], 1);
    let AnyModel::Fixed(mut device) =
        Profile::named("fixed").unwrap().with("latency=100").unwrap().build().unwrap()
    else {
        panic!("it is fixed")
    };
    let traits = Traits { rotational: false, merging, capacity: device.capacity(), ..Traits::default() };
    let mut host =
        Host::new(Queue::new(QUEUE, traits, registry::find(scheduler).unwrap(), settings).unwrap(), ());
    let mut watch = Watch { recorder: Recorder::new(QUEUE), writes: 0, most: 0 };
    Engine::new(&mut workload, &mut host, &mut device, &mut watch, Limits::default())
        .run(&Control::default())
        .unwrap();
    let report = watch.recorder.report(scheduler, host.queue().merges(), |_| (None, Weight::default()));
    (report, watch.most)
}

fn of(report: &Report, who: Issuer) -> &IssuerShare {
    report.issuers.iter().find(|share| share.id == who.0).unwrap()
}

/// The reader's longest latency, in commands.
fn reader_waits(report: &Report) -> u64 {
    of(report, READER).latency_ns_max / SERVICE_NS
}

#[test]
fn a_limited_writer_leaves_room_for_a_reader() {
    let flood = |depth: u64| flooded("mq-deadline", &[("async_depth", depth)], false, Merging::Off);
    let (unlimited, most) = flood(0);
    assert_eq!(most, QUEUE);
    let outside = u64::from(FLOOD) - QUEUE as u64;
    assert!(reader_waits(&unlimited) >= outside, "the reader waits behind all that was issued before");
    let (limited, most) = flood(48);
    assert_eq!(most, 48);
    // A batch of 16 writes that has begun is sent, and then reads go first.
    assert!(reader_waits(&limited) <= 17, "{} commands", reader_waits(&limited));
}

#[test]
fn each_scheduler_has_its_limits() {
    // By scheduler: how many of 64 are asynchronous at most, and how many synchronous writes.
    for (scheduler, asynchronous, sync_writes) in
        [("noop", 64, 64), ("mq-deadline", 64, 64), ("kyber", 48, 64), ("bfq", 32, 48)]
    {
        let most = |sync| {
            flooded(scheduler, &[("low_latency", 0)][..usize::from(scheduler == "bfq")], sync, Merging::Off).1
        };
        assert_eq!((most(false), most(true)), (asynchronous, sync_writes), "{scheduler}");
    }
}

#[test]
fn what_waits_outside_is_served_in_the_end_and_its_latency_counts_from_the_issue() {
    for (scheduler, merging) in [("kyber", Merging::Off), ("kyber", Merging::All), ("bfq", Merging::All)] {
        let (report, _) = flooded(scheduler, &[], false, merging);
        assert_eq!(
            (of(&report, WRITER).requests, of(&report, READER).requests),
            (WRITES, READS),
            "{scheduler}"
        );
        if merging == Merging::Off {
            let commands = of(&report, WRITER).latency_ns_max / SERVICE_NS;
            assert!(commands >= u64::from(FLOOD), "{commands} commands");
        } else {
            assert!(report.merges > 0, "{scheduler}");
        }
    }
}
