//! A trace of chains, replayed: processes must end there as they do in the workload that was recorded.

use std::io::Cursor;

use idlewise_core::host::{Follower, Host};
use idlewise_core::{Device as Traits, Instant, Issuer, Queue, Request, RequestId, registry};
use idlewise_disk::{Completion, DiskModel, Profile};
use idlewise_sim::engine::director::Director;
use idlewise_sim::engine::exits::Exits;
use idlewise_sim::engine::{Control, Engine, Limits, Observer, Workload};
use idlewise_sim::replay::{Mode, Replay, Rows, RowsError, Settings};
use idlewise_sim::traces::{Exit, Format, Options, Record, Trace, Writer};
use idlewise_sim::workloads::{self, Ground, Named, Spec};

/// A stream, and 300 files that a child each reads.
const LOAD: &str = "stream-and-chain:files=300,directories=20";

/// A workload that is written down: each request with its times.
struct Recording {
    inner: Box<dyn Named>,
    records: Vec<Record>,
    /// Which record each outstanding request is, by id.
    places: Vec<usize>,
    exits: Vec<Exit>,
}

impl Workload for Recording {
    fn next(&mut self) -> Option<Instant> {
        self.inner.next()
    }

    fn issue(&mut self, id: RequestId) -> Request {
        let request = self.inner.issue(id);
        self.places.resize(self.places.len().max(id.index() + 1), 0);
        self.places[id.index()] = self.records.len();
        let Request { arrival, operation, start, length, metadata, .. } = request;
        let (issuer, group) = (Some(request.issuer), Some(request.group));
        self.records.push(Record {
            metadata,
            issuer,
            group,
            ..Record::new(arrival, operation, start, length)
        });
        request
    }

    fn completed(&mut self, now: Instant, id: RequestId, exits: &mut Exits) {
        self.records[self.places[id.index()]].completed = Some(now);
        let mut announced = Exits::default();
        self.inner.completed(now, id, &mut announced);
        while announced.next() < Instant::MAX {
            let at = announced.next();
            let issuer = announced.take(at).unwrap();
            self.exits.push(Exit { at, issuer });
            exits.announce(at, issuer);
        }
    }
}

/// When the last request of the chain was done: of all processes but the first, which is the stream.
struct ChainDone(Instant);

impl Observer for ChainDone {
    fn arrived(&mut self, _: Instant, _: RequestId, _: &Request) {}
    fn dispatched(&mut self, _: Instant, _: RequestId) {}
    fn served(&mut self, _: Instant, _: RequestId, _: &Completion) {}
    fn completed(&mut self, now: Instant, _: RequestId, request: &Request, _: u64) {
        if request.issuer != Issuer(1) {
            self.0 = now;
        }
    }
    fn waits(&mut self, _: Instant, _: Instant) {}
}

/// How long the chain takes under `scheduler`, in seconds.
fn chain(workload: &mut impl Workload, scheduler: &str) -> f64 {
    let mut device = Profile::named("deskstar-34gxp").unwrap().build().unwrap();
    let traits = Traits { depth: device.depth(), capacity: device.capacity(), ..Traits::default() };
    let queue = Queue::new(256, traits, registry::find(scheduler).unwrap(), &[]).unwrap();
    let mut host = Host::new(queue, ());
    let mut done = ChainDone(Instant::ZERO);
    let engine = Engine::new(workload, &mut host, &mut device, &mut done, Limits::default());
    engine.run(&Control::default()).unwrap();
    done.0.0 as f64 / 1e9
}

/// The workload while `scheduler` orders it.
fn record(scheduler: &str) -> (Recording, f64) {
    let disk = Profile::named("deskstar-34gxp").unwrap().build().unwrap();
    let ground = Ground { capacity: disk.capacity(), depth: disk.depth(), seed: 1 };
    let inner = workloads::build(&Spec::parse(LOAD).unwrap(), ground).unwrap();
    let mut recording = Recording { inner, records: Vec::new(), places: Vec::new(), exits: Vec::new() };
    let took = chain(&mut recording, scheduler);
    (recording, took)
}

struct TraceRows(Trace);

impl Rows for TraceRows {
    fn next(&mut self) -> Result<Option<Record>, RowsError> {
        Ok(self.0.next()?)
    }

    fn exits(&self) -> &[Exit] {
        self.0.exits()
    }
}

/// How long the chain takes in a trace of `recording`, which has groups and exits only if they are `told`.
fn replayed(recording: &Recording, told: bool, scheduler: &str) -> f64 {
    let mut bytes = Vec::new();
    let mut writer = Writer::new(Format::Idlewise, &mut bytes).unwrap();
    let mut exits = recording.exits.iter().filter(|_| told).peekable();
    for record in &recording.records {
        while let Some(exit) = exits.next_if(|exit| exit.at < record.arrival) {
            writer.exit(*exit).unwrap();
        }
        let group = record.group.filter(|_| told);
        writer.write(&Record { group, ..*record }, "disk", None).unwrap();
    }
    exits.for_each(|exit| writer.exit(*exit).unwrap());
    assert_eq!(writer.finish().unwrap().losses, []);
    let trace = Trace::from_reader(Cursor::new(bytes), "chains", &Options::default()).unwrap();
    let capacity = Profile::named("deskstar-34gxp").unwrap().build().unwrap().capacity();
    let settings = Settings { mode: Mode::Closed, speed: 1.0, capacity, unscheduled: false };
    chain(&mut Replay::new(Box::new(TraceRows(trace)), settings), scheduler)
}

/// Recorded while the chain starved, so that the trace has enough of the stream for every scheduler.
#[test]
fn a_chain_in_a_trace_starves_as_it_does_in_the_workload() {
    let (recording, linux) = record("as-2.6.11");
    let (_, cooperative) = record("cas");
    assert!(linux > 10.0 * cooperative, "as-2.6.11 {linux} s, cas {cooperative} s");
    for told in [true, false] {
        let same = |scheduler: &str, took: f64| {
            let again = replayed(&recording, told, scheduler);
            assert!(
                (again / took - 1.0).abs() < 0.01,
                "{scheduler}: {took} s, replayed {again} s, told: {told}"
            );
        };
        same("as-2.6.11", linux);
        same("cas", cooperative);
    }
}

/// Who exited, and when.
#[derive(Default)]
struct Gone(Vec<(u64, u32)>);

impl Follower for Gone {
    fn exited(&mut self, now: Instant, who: Issuer) {
        self.0.push((now.0 / 1000, who.0));
    }
}

impl<S> Director<S> for Gone {}

/// Who exits when `text`, in idlewise's own format, is replayed on a disk that takes 1 ms for each request.
fn exits(text: &str) -> Vec<(u64, u32)> {
    let header = "arrival_ns,completed_ns,issuer,operation,start,sectors\n";
    let text = Cursor::new(format!("{header}{text}"));
    let trace =
        Trace::from_reader(text, "exits", &Options { format: Some(Format::Idlewise), ..Options::default() })
            .unwrap();
    let mut device = Profile::named("fixed").unwrap().with("latency=1000").unwrap().build().unwrap();
    let settings =
        Settings { mode: Mode::Closed, speed: 1.0, capacity: device.capacity(), unscheduled: false };
    let mut replay = Replay::new(Box::new(TraceRows(trace)), settings);
    let queue = Queue::new(64, Traits::default(), registry::find("noop").unwrap(), &[]).unwrap();
    let mut host = Host::new(queue, Gone::default());
    let mut done = ChainDone(Instant::ZERO);
    let limits = Limits::default();
    let engine = Engine::new(&mut replay, &mut host, &mut device, &mut done, limits);
    engine.run(&Control::default()).unwrap();
    host.into_parts().1.0
}

#[test]
fn an_exit_comes_as_long_after_the_last_completion_as_in_the_trace() {
    let text = "0,5000000,7,R,0,8\n6000000,9000000,7,R,80,8\n9300000,,7,X,,\n20000000,21000000,8,R,0,8\n";
    // The first request takes 1 ms, 1 ms of computing follows, the second is done at 3 ms. Process 8 has no exit.
    assert_eq!(exits(text), [(3300, 7)]);
}

#[test]
fn without_exits_a_process_ends_when_the_trace_shows_no_more_of_it() {
    let row = |at: u64, who: u32| format!("{},{},{who},R,0,8\n", at * 1_000_000, (at + 1) * 1_000_000);
    // Process 9 reads all the time, process 8 three times, too far apart for the rows read ahead.
    let text: String = (0..60_000).map(|n| row(n, if n % 20_000 == 1 { 8 } else { 9 })).collect();
    // Process 8 comes back after its first end, and is then believed to stay.
    assert_eq!(exits(&text), [(2_100, 8), (60_000_100, 9)]);
    assert!(exits("0,1000000,,R,0,8\n5000000000,5001000000,,R,800000,8\n").is_empty(), "streams stay");
}

#[test]
fn sched_events_tell_of_exits_and_parents() {
    let text = "\
find-7 [000] 1.000000: block_bio_queue: 8,0 R 8 + 8 [find]
find-7 [000] 1.001000: sched_process_fork: comm=find pid=7 child_comm=find child_pid=9
<idle>-0 [000] 1.002000: block_rq_complete: 8,0 R () 8 + 8 [0]
cat-9 [000] 1.003000: block_bio_queue: 8,0 R 64 + 8 [cat]
<idle>-0 [000] 1.004000: block_rq_complete: 8,0 R () 64 + 8 [0]
cat-9 [000] 1.005000: sched:sched_process_exit: comm=cat pid=9 prio=120 group_dead=true
find-7 [000] 1.006000: block_bio_queue: 8,0 R 128 + 8 [find]
";
    let mut trace = Trace::from_reader(Cursor::new(text), "sched", &Options::default()).unwrap();
    let mut rows = Vec::new();
    while let Some(record) = trace.next().unwrap() {
        rows.push((record.issuer.unwrap().0, record.group.map(|group| group.0), trace.exits().to_vec()));
    }
    let exit = Exit { at: Instant(5_000_000), issuer: Issuer(9) };
    assert_eq!(rows, [(7, Some(7), vec![]), (9, Some(7), vec![]), (7, Some(7), vec![exit])]);
}
