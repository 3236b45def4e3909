//! The engine's own rules: order at one instant, conservation, limits, errors.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use idlewise_core::{
    Decision, Device as Traits, Duration, Host, Instant, Issuer, Merging, Operation, Queue, Request,
    RequestId, Scheduler, Sector, Sectors, Weight, registry,
};
use idlewise_disk::{Command, Completion, DiskModel, SubmitError, Timing};
use idlewise_sim::engine::exits::Exits;
use idlewise_sim::engine::{Control, Engine, EngineError, Limits, Observer, Workload};
use idlewise_sim::metrics::{Recorder, Report};

/// A device that takes 1 ms for each command, one at a time or several.
struct Constant {
    depth: u32,
    held: VecDeque<(Instant, Instant, u32)>,
    capacity: Sector,
    log: Rc<RefCell<Vec<(u64, u64)>>>,
}

fn constant(depth: u32) -> Constant {
    Constant { depth, held: VecDeque::new(), capacity: Sector(1 << 30), log: Rc::default() }
}

impl DiskModel for Constant {
    fn capacity(&self) -> Sector {
        self.capacity
    }
    fn depth(&self) -> u32 {
        self.depth
    }
    fn rotational(&self) -> bool {
        true
    }
    fn submit(&mut self, now: Instant, command: Command) -> Result<(), SubmitError> {
        let Command { start, length, .. } = command;
        if (start + length) > self.capacity {
            return Err(SubmitError::BeyondEnd { start, length, capacity: self.capacity });
        }
        self.log.borrow_mut().push((now.0, start.0));
        self.held.push_back((now + Duration::from_ms(1), now, command.tag));
        Ok(())
    }
    fn next_event(&self) -> Option<Instant> {
        self.held.front().map(|held| held.0)
    }
    fn advance(&mut self, now: Instant) -> Option<Completion> {
        let (at, started, tag) = *self.held.front().filter(|held| held.0 <= now)?;
        self.held.pop_front();
        Some(Completion {
            tag,
            at,
            started,
            timing: Timing { transfer: Duration::from_ms(1), ..Timing::default() },
        })
    }
}

/// Requests at given times; requests of `chains` follow their predecessor's completion.
struct Script {
    timed: VecDeque<(Instant, u64)>,
    /// After the completion of the request at the first sector, one at the second is issued.
    chains: Vec<(u64, u64)>,
    starts: Vec<u64>,
}

impl Script {
    fn new(timed: &[(u64, u64)], chains: &[(u64, u64)]) -> Script {
        let timed = timed.iter().map(|(at, start)| (Instant(*at), *start)).collect();
        Script { timed, chains: chains.to_vec(), starts: vec![0; 64] }
    }
}

impl Workload for Script {
    fn next(&mut self) -> Option<Instant> {
        self.timed.front().map(|next| next.0)
    }
    fn issue(&mut self, id: RequestId) -> Request {
        let (arrival, start) = self.timed.pop_front().unwrap();
        self.starts[id.index()] = start;
        Request { arrival, ..Request::read(Sector(start), Sectors(8)).by(Issuer(1)) }
    }
    fn completed(&mut self, now: Instant, id: RequestId, _: &mut Exits) {
        let done = self.starts[id.index()];
        for (_, next) in self.chains.iter().filter(|chain| chain.0 == done) {
            self.timed.push_front((now, *next));
        }
    }
}

fn run(
    scheduler: &str,
    script: Script,
    device: Constant,
    limits: Limits,
    capacity: usize,
) -> Result<(Report, Vec<(u64, u64)>), EngineError> {
    followed(scheduler, script, device, limits, capacity, &Control::default())
}

fn followed(
    scheduler: &str,
    mut script: Script,
    mut device: Constant,
    limits: Limits,
    capacity: usize,
    control: &Control,
) -> Result<(Report, Vec<(u64, u64)>), EngineError> {
    let traits = Traits { depth: device.depth, merging: Merging::All, ..Traits::default() };
    let entry = registry::find(scheduler).unwrap();
    let mut host = Host::new(Queue::new(capacity, traits, entry, &[]).unwrap(), ());
    let mut recorder = Recorder::new(capacity);
    let log = Rc::clone(&device.log);
    Engine::new(&mut script, &mut host, &mut device, &mut recorder, limits).run(control)?;
    let report = recorder.report(scheduler, host.queue().merges(), |_| (None, Weight::default()));
    let log = log.borrow().clone();
    Ok((report, log))
}

#[test]
fn a_follower_issued_at_a_completion_comes_after_the_decision_there() {
    let script = Script::new(&[(0, 1000), (0, 90_000)], &[(1000, 1008)]);
    let (_, log) = run("c-look", script, constant(1), Limits::default(), 16).unwrap();
    let order: Vec<u64> = log.iter().map(|entry| entry.1).collect();
    // 1008 would be nearer than 90000, but is not there yet when the disk becomes free.
    assert_eq!(order, [1000, 90_000, 1008]);
}

#[test]
fn the_device_is_kept_as_full_as_it_allows() {
    let script = Script::new(&[(0, 0), (0, 100), (0, 200), (0, 300)], &[]);
    let (report, log) = run("noop", script, constant(3), Limits::default(), 16).unwrap();
    let times: Vec<u64> = log.iter().map(|entry| entry.0).collect();
    assert_eq!(times, [0, 0, 0, 1_000_000]);
    assert_eq!((report.requests, report.elapsed_ns), (4, 2_000_000));
}

#[test]
fn merged_requests_complete_one_by_one_with_their_share_of_the_service() {
    let script = Script::new(&[(0, 5000), (1, 0), (2, 8), (3, 16)], &[]);
    let (report, log) = run("noop", script, constant(1), Limits::default(), 16).unwrap();
    assert_eq!(log.len(), 2, "three neighbours go as one");
    assert_eq!((report.requests, report.merges), (4, 2));
    assert_eq!(report.issuers[0].service_ns / 1000, 1_999, "1 ms + three shares of 1 ms, rounded down");
    assert_eq!(report.issuers[0].bytes, 4 * 4096);
}

#[test]
fn a_full_queue_holds_arrivals_back_and_latency_counts_from_the_issue() {
    let timed: Vec<_> = (0..6).map(|index| (0, index * 1000)).collect();
    let (report, _) = run("noop", Script::new(&timed, &[]), constant(1), Limits::default(), 2).unwrap();
    assert_eq!(report.requests, 6);
    assert_eq!(report.latency_ns.max / 1_000_000, 6);
}

#[test]
fn limits_end_the_issuing_and_what_was_issued_is_finished() {
    let timed: Vec<_> = (0..10).map(|index| (index * 500_000, index * 1000)).collect();
    let limits = Limits { until: Instant(2_000_000), requests: u64::MAX };
    let (report, _) = run("noop", Script::new(&timed, &[]), constant(1), limits, 16).unwrap();
    assert_eq!(report.requests, 5);
    let limits = Limits { until: Instant::MAX, requests: 3 };
    let (report, _) = run("noop", Script::new(&timed, &[]), constant(1), limits, 16).unwrap();
    assert_eq!(report.requests, 3);
}

#[test]
fn a_stop_is_seen_before_many_requests_are_done() {
    let timed: Vec<(u64, u64)> = (0..3000).map(|number| (number, number * 1000)).collect();
    let control = Control { stop: true.into(), ..Control::default() };
    let script = Script::new(&timed, &[]);
    let (report, _) = followed("noop", script, constant(1), Limits::default(), 16, &control).unwrap();
    assert!(report.requests < 1000, "{}", report.requests);
}

#[test]
fn a_request_beyond_the_disk_is_an_error_that_says_so() {
    let error =
        run("noop", Script::new(&[(0, 1 << 40)], &[]), constant(1), Limits::default(), 4).unwrap_err();
    assert!(error.to_string().contains("beyond the end of the disk"), "{error}");
}

/// Takes requests and never gives them out.
struct Sink;

impl Scheduler for Sink {
    fn insert(&mut self, _: idlewise_core::Cx<'_>, _: RequestId) {}
    fn dispatch(&mut self, _: idlewise_core::Cx<'_>) -> Decision {
        Decision::Idle
    }
    fn remove(&mut self, _: idlewise_core::Cx<'_>, _: RequestId) {}
}

#[test]
fn a_scheduler_that_keeps_requests_is_found_out() {
    let mut script = Script::new(&[(0, 0), (5, 100)], &[]);
    let mut device = constant(1);
    let build = |_: idlewise_core::Setup<'_>| Ok::<_, idlewise_core::collections::OutOfMemory>(Sink);
    let mut host = Host::new(Queue::with(4, Traits::default(), build).unwrap(), ());
    let mut recorder = Recorder::new(4);
    let engine = Engine::new(&mut script, &mut host, &mut device, &mut recorder, Limits::default());
    let error = engine.run(&Control::default()).unwrap_err();
    assert!(matches!(error, EngineError::Stuck { waiting: 2, .. }), "{error}");
}

/// Waits 3 ms before each request, unless another one comes.
struct Waiter {
    held: Vec<(Instant, RequestId)>,
}

impl Scheduler for Waiter {
    fn insert(&mut self, cx: idlewise_core::Cx<'_>, id: RequestId) {
        self.held.push((cx.now + Duration::from_ms(3), id));
    }
    fn dispatch(&mut self, cx: idlewise_core::Cx<'_>) -> Decision {
        match self.held.first() {
            None => Decision::Idle,
            Some((until, _)) if *until > cx.now && self.held.len() < 2 => Decision::WaitUntil(*until),
            Some(_) => Decision::Dispatch(self.held.pop().unwrap().1),
        }
    }
    fn remove(&mut self, _: idlewise_core::Cx<'_>, _: RequestId) {}
}

#[test]
fn waits_are_honoured_and_counted_as_hit_or_in_vain() {
    let mut script = Script::new(&[(0, 0), (2_000_000, 100)], &[]);
    let mut device = constant(1);
    let build = |_: idlewise_core::Setup<'_>| {
        Ok::<_, idlewise_core::collections::OutOfMemory>(Waiter { held: Vec::new() })
    };
    let mut host = Host::new(Queue::with(4, Traits::default(), build).unwrap(), ());
    let mut recorder = Recorder::new(4);
    Engine::new(&mut script, &mut host, &mut device, &mut recorder, Limits::default())
        .run(&Control::default())
        .unwrap();
    let report = recorder.report("waiter", 0, |_| (None, Weight::default()));
    let log = device.log.borrow().clone();
    // The second request ends the first wait; then the first one's time has passed.
    assert_eq!(log, [(2_000_000, 100), (3_000_000, 0)]);
    let waits = report.anticipation;
    assert_eq!((waits.waits, waits.hits, waits.timeouts, waits.time_ns), (1, 1, 0, 2_000_000));
}

/// What a recorder says of requests one after the other: what each asks for, and when it comes, is dispatched and is done,
/// in milliseconds.
fn recorded(rows: &[(Operation, [u64; 3])]) -> serde_json::Value {
    let mut recorder = Recorder::new(rows.len()).phased(vec![("all".to_owned(), Instant::ZERO)]);
    for (index, (operation, times)) in rows.iter().enumerate() {
        let (id, [comes, starts, ends]) = (RequestId(index as u32), times.map(|ms| Instant(ms * 1_000_000)));
        let request = Request::read(Sector(0), Sectors(8)).by(Issuer(1));
        let request = Request { arrival: comes, operation: *operation, ..request };
        recorder.arrived(comes, id, &request);
        recorder.dispatched(starts, id);
        recorder.completed(ends, id, &request, 0);
    }
    serde_json::to_value(recorder.report("noop", 0, |_| (None, Weight::default()))).unwrap()
}

#[test]
fn no_figure_of_reads_and_writes_counts_a_discard_or_a_flush() {
    use Operation::{Discard, Flush, Read, Write};
    let transfers = [(Read, [0, 1, 5]), (Write, [2000, 2003, 2010]), (Read, [4980, 4981, 5000])];
    let others = [(Discard, [6, 900, 1000]), (Flush, [1001, 1500, 1900])];
    let mut alone = recorded(&transfers);
    let mut among = recorded(&[&transfers[..1], &others, &transfers[1..]].concat());
    assert_eq!((&among["requests"], &among["flushes"]), (&5.into(), &1.into()));
    assert_eq!(among["discard"]["requests"], 1);
    for report in [&mut alone, &mut among] {
        // These are of all requests, or of flushes or discards alone, and say so.
        for own in ["requests", "flushes", "flush_latency_ns", "discard", "queue_mean"] {
            assert!(report.as_object_mut().unwrap().remove(own).is_some(), "{own}");
        }
        assert!(report["issuers"][0].as_object_mut().unwrap().remove("requests").is_some());
    }
    assert_eq!(among, alone);
}
