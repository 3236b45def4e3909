//! The named workloads under schedulers: how they end, who is told of exits, how weights get there.

use std::cell::RefCell;
use std::rc::Rc;

use idlewise_core::collections::OutOfMemory;
use idlewise_core::{
    Cx, Decision, Device as Traits, Duration, Host, Instant, Issuer, Merging, Queue, Request, RequestId,
    Scheduler, Sector, Setup, Weight, registry,
};
use idlewise_disk::{AnyModel, DiskModel, Profile};
use idlewise_sim::engine::exits::Exits;
use idlewise_sim::engine::{Control, Engine, Limits, WHOLE_RUN, Workload};
use idlewise_sim::experiment::{Choice, Experiment, ExperimentError, Load};
use idlewise_sim::metrics::{IssuerShare, Recorder, Report};
use idlewise_sim::workloads::fio::JobFile;
use idlewise_sim::workloads::{Ground, Named, Spec, build};

fn experiment(scheduler: &str, disk: &str, workload: &str) -> Experiment {
    let entry = registry::find(scheduler).unwrap();
    let load = Load::Workload(Spec::parse(workload).unwrap());
    Experiment {
        schedulers: vec![Choice { label: scheduler.to_owned(), entry: entry.into(), settings: Vec::new() }],
        queue_size: 512,
        merging: Merging::Off,
        calibrated: false,
        ..Experiment::new(Profile::named(disk).unwrap(), load)
    }
}

fn report(experiment: &Experiment) -> Report {
    experiment.run_one(0, 1, &Control::default(), None).unwrap().report
}

fn share<'a>(report: &'a Report, name: &str) -> &'a IssuerShare {
    report.issuers.iter().find(|issuer| issuer.name.as_deref() == Some(name)).unwrap()
}

/// What a scheduler is told of exits, with the weight of the process at that moment.
type Gone = Rc<RefCell<Vec<(Instant, Issuer, u32)>>>;

/// First come, first served; one that was told of an exit refuses that process's requests.
struct Listener {
    held: Vec<RequestId>,
    gone: Gone,
    /// Decisions asked for at the time of the last exit.
    asked: Rc<RefCell<Option<Instant>>>,
}

impl Scheduler for Listener {
    fn insert(&mut self, cx: Cx<'_>, id: RequestId) {
        let gone = self.gone.borrow();
        assert!(gone.iter().all(|(_, who, _)| *who != cx[id].issuer), "{} comes back", cx[id].issuer);
        self.held.push(id);
    }
    fn dispatch(&mut self, cx: Cx<'_>) -> Decision {
        *self.asked.borrow_mut() = Some(cx.now);
        if self.held.is_empty() { Decision::Idle } else { Decision::Dispatch(self.held.remove(0)) }
    }
    fn remove(&mut self, _: Cx<'_>, _: RequestId) {}
    fn issuer_gone(&mut self, cx: Cx<'_>, who: Issuer) {
        self.gone.borrow_mut().push((cx.now, who, cx.weight(who).get()));
    }
}

/// Runs a workload on 1 ms a request; returns the exits and the time of the last decision.
fn exits(workload: &str) -> (Vec<(Instant, Issuer, u32)>, Option<Instant>, Report) {
    let spec = Spec::parse(workload).unwrap();
    let mut workload = build(&spec, Ground { capacity: Sector(1 << 26), depth: 32, seed: 1 }).unwrap();
    let disk = Profile::named("fixed").unwrap().with("latency=1000").unwrap();
    let AnyModel::Fixed(mut device) = disk.build().unwrap() else { panic!("it is fixed") };
    let (gone, asked) = (Gone::default(), Rc::default());
    let listener = Listener { held: Vec::new(), gone: Rc::clone(&gone), asked: Rc::clone(&asked) };
    let traits = Traits { merging: Merging::Off, capacity: device.capacity(), ..Traits::default() };
    let mut host =
        Host::new(Queue::with(64, traits, |_: Setup<'_>| Ok::<_, OutOfMemory>(listener)).unwrap(), ());
    for (who, weight) in workload.weights() {
        host.parts().0.set_weight(Instant::ZERO, who, weight).unwrap();
    }
    let mut recorder = Recorder::new(64);
    let engine = Engine::new(&mut *workload, &mut host, &mut device, &mut recorder, Limits::default());
    engine.run(&Control::default()).unwrap();
    let report = recorder.report("listener", 0, |who| (workload.name(who), Weight::default()));
    let gone = gone.borrow().clone();
    (gone, *asked.borrow(), report)
}

#[test]
fn a_scheduler_hears_of_each_exit_once_and_is_asked_again() {
    let (gone, asked, report) = exits("sync-streams:n=2,file=1m,gap=1m,requests=3,think=5ms,weights=200:300");
    // 3 requests of 1 ms and 3 thoughts; the second process waits for the first one's first request.
    let ms = |ms| Instant::ZERO + Duration::from_ms(ms);
    assert_eq!(gone, [(ms(18), Issuer(1), 200), (ms(19), Issuer(2), 300)]);
    assert_eq!(asked, Some(ms(19)));
    assert_eq!(report.elapsed_ns, 14_000_000, "an exit is no work");
}

#[test]
fn chains_exit_child_by_child_and_report_as_one() {
    let (gone, _, report) = exits("stream-and-chain:files=50,directories=5,stream=1m,gap=1m");
    assert_eq!(gone.len(), 52);
    let children = gone.iter().filter(|(_, who, _)| who.0 > 2).map(|(_, who, _)| who.0);
    assert_eq!(children.collect::<Vec<_>>(), (3..=52).collect::<Vec<_>>());
    assert_eq!(report.issuers.len(), 2);
    assert_eq!(share(&report, "chain").id, 2);
    // 50 files, 5 directories, 4 blocks of inodes, and more for large files.
    assert!(share(&report, "chain").requests >= 59);
}

#[test]
fn stream_and_chain_finishes_under_schedulers_that_do_not_wait() {
    for scheduler in ["noop", "deadline-2.6.11"] {
        let load = "stream-and-chain:files=300,directories=20";
        let report = report(&experiment(scheduler, "deskstar-34gxp", load));
        let (stream, chain) = (share(&report, "stream"), share(&report, "chain"));
        assert_eq!(report.issuers.len(), 2);
        assert!(chain.bytes > 300 * 4096 && stream.bytes > chain.bytes, "{scheduler}");
        assert!(
            stream.finished_ns.abs_diff(chain.finished_ns) < 100_000_000,
            "{scheduler}: both end together"
        );
        // OLS'05 §5.5: a request of the stream for each of the chain, two seeks for each file.
        let ratio = stream.requests as f64 / chain.requests as f64;
        assert!((0.9..1.1).contains(&ratio), "{scheduler}: {ratio}");
        assert!(report.device.seek_ns_mean > 3e6, "{scheduler}");
    }
}

/// OLS'05 §5.6: one chain reads about as fast as 14.5 MB/s; two seek for each other.
#[test]
fn a_second_chain_costs_more_than_its_share() {
    let rate = |chains: u32| {
        let load = format!("two-chains:chains={chains},files=1000,directories=60");
        report(&experiment("deadline-2.6.11", "maxtor-40g", &load)).throughput_bytes_per_s / 1e6
    };
    let (one, two) = (rate(1), rate(2));
    assert!((13.0..19.0).contains(&one), "{one}");
    assert!(two < one / 3.5, "{one} falls to {two}");
}

/// OLS'05 Table 1, deadline: 200 MB in 129 s beside a writer, 25 MB/s together.
#[test]
fn a_reader_beside_a_writer_gets_one_request_for_each_batch_of_writes() {
    let report = report(&experiment("deadline-2.6.11", "maxtor-40g", "write-and-read:file=20m"));
    let (reader, writer) = (share(&report, "reader"), share(&report, "writer"));
    assert_eq!(reader.bytes, 20 << 20);
    assert!((14.0..18.0).contains(&(writer.requests as f64 / reader.requests as f64)));
    let seconds = reader.finished_ns as f64 / 1e9;
    assert!((9.0..16.0).contains(&seconds), "a tenth of 129 s, here {seconds}");
    assert!((22.0..36.0).contains(&(report.throughput_bytes_per_s / 1e6)));
    assert!(writer.finished_ns < reader.finished_ns + 1_000_000_000, "the end is the reader's");
}

#[test]
fn the_adversary_pauses_after_its_rapid_requests() {
    for n in [0, 3] {
        let (_, _, report) = exits(&format!("adversary:n={n},pause=10ms,requests=12,file=1m,gap=1m"));
        let pauses = 12 / (n + 1) - 1;
        let rapid = 12 - pauses;
        let elapsed = report.elapsed_ns / 1_000_000;
        // Two take turns: up to 2 ms for a rapid request, and 10 ms and 1 or 2 for the others.
        assert!(elapsed >= 11 * pauses + rapid && elapsed <= 12 * pauses + 2 * rapid, "{n}: {elapsed}");
    }
}

#[test]
fn without_a_pause_of_its_own_the_adversary_outbids_what_was_expected() {
    // 25 pauses from 600 us to 15 ms take 195 ms, and the 26th starts over.
    let elapsed = |requests: u32| {
        exits(&format!("adversary:n=0,requests={requests},file=1m,gap=1m")).2.elapsed_ns as i64 / 100_000
    };
    let service = elapsed(1);
    assert!((elapsed(26) - 1950 - 26 * service).abs() <= 26 * service);
    assert!(elapsed(27) - elapsed(26) <= 6 + 2 * service);
    assert!(elapsed(26) - elapsed(25) >= 150);
}

#[test]
fn a_time_limit_ends_streams_while_all_run() {
    let run = |more: &str| report(&experiment("noop", "deskstar-34gxp", &format!("sync-streams:{more}")));
    let timed = run("runtime=2s,n=3");
    assert!((2.0..2.2).contains(&(timed.elapsed_ns as f64 / 1e9)));
    assert!(timed.issuers.iter().all(|issuer| issuer.finished_ns > 1_900_000_000));
    assert_eq!(run("runtime=2s,requests=5").requests, 10);
}

#[test]
fn weights_come_from_the_load_and_are_overruled() {
    let weights = |experiment: &Experiment| {
        let report = report(experiment);
        let mut found: Vec<_> = report.issuers.iter().map(|issuer| (issuer.id, issuer.weight)).collect();
        found.sort_unstable();
        (found, report.fairness_jain)
    };
    let mut streams = experiment("noop", "deskstar-34gxp", "sync-streams:n=3,weights=1:2,requests=50");
    let (found, by_ratio) = weights(&streams);
    assert_eq!(found, [(1, 1), (2, 2), (3, 2)]);
    streams.weights = vec![(Issuer(1), Weight::new(2).unwrap())];
    let (found, by_equals) = weights(&streams);
    assert_eq!(found, [(1, 2), (2, 2), (3, 2)]);
    assert!(by_equals > 0.99 && by_ratio < 0.95, "equal shares: {by_equals} and {by_ratio}");
    let job = "[a]\nsize=1m\ncgroup_weight=250\n[b]\nsize=1m\n";
    let fio = Load::Fio(JobFile::parse("j.fio", job).unwrap());
    assert_eq!(weights(&Experiment { load: fio, ..streams }).0, [(1, 2), (2, 100)]);
    let error = JobFile::parse("j.fio", "[a]\nsize=1m\ncgroup_weight=0\n").unwrap_err();
    assert!(error.to_string().contains("j.fio:3: cgroup_weight=0: "), "{error}");
}

#[test]
fn more_weights_than_a_queue_keeps_are_an_error() {
    let experiment = experiment("noop", "fixed", "sync-streams:n=300,weights=7,file=1m,gap=0,requests=1");
    let error = experiment.run_one(0, 1, &Control::default(), None).unwrap_err();
    assert!(matches!(error, ExperimentError::Weight { .. }));
    assert!(error.to_string().contains("256 issuers have weights of their own"), "{error}");
}

/// With the model's curve `sptf` need not learn: its first decisions already go by positioning time.
#[test]
fn a_calibrated_run_differs_from_one_that_learns() {
    let mut run = experiment("sptf", "deskstar-34gxp", "random:n=16,requests=40,think=0ms");
    let learning = report(&run);
    run.calibrated = true;
    let calibrated = report(&run);
    assert_ne!(learning.elapsed_ns, calibrated.elapsed_ns);
    assert!(calibrated.device.seek_ns_mean < learning.device.seek_ns_mean * 1.1);
}

#[test]
fn a_long_read_is_split_into_flagged_parts_and_thought_about_once() {
    let spec = Spec::parse("sync-streams:n=1,bs=320k,split=128k,think=5ms,requests=2,file=1m").unwrap();
    let mut workload = build(&spec, Ground { capacity: Sector(1 << 26), depth: 32, seed: 1 }).unwrap();
    let (mut seen, mut exits) = (Vec::new(), Exits::default());
    let mut now = Instant::ZERO;
    while let Some(at) = workload.next() {
        let parts: Vec<_> = (0..3).map(|id| workload.issue(RequestId(id))).collect();
        assert!(parts.iter().all(|part| part.arrival == at) && at >= now);
        seen.extend(parts.iter().map(|part| (part.start.0, part.length.0, part.more_follows)));
        for id in 0..3 {
            assert_eq!(workload.next(), None, "it waits for all parts");
            workload.completed(at, RequestId(id), &mut exits);
        }
        now = at + Duration::from_ms(5);
    }
    let part = |start, length, more| (start, length, more);
    let first = [part(0, 256, true), part(256, 256, true), part(512, 128, false)];
    let second = first.map(|(start, length, more)| part(start + 640, length, more));
    assert_eq!(seen, [first, second].concat());
    assert_eq!((exits.next(), exits.take(now)), (now, Some(Issuer(1))));
}

/// A workload, and how much of it was done after each completion.
struct Watched(Box<dyn Named>, Vec<f64>);

impl Workload for Watched {
    fn next(&mut self) -> Option<Instant> {
        self.0.next()
    }

    fn issue(&mut self, id: RequestId) -> Request {
        self.0.issue(id)
    }

    fn completed(&mut self, now: Instant, id: RequestId, exits: &mut Exits) {
        self.0.completed(now, id, exits);
        self.1.extend(self.0.share_done(now));
    }
}

#[test]
fn how_much_is_done_grows_with_the_work() {
    // The second would go on without end beside what it serves, the last by time.
    for text in [
        "sync-streams:n=3,requests=200,file=16m",
        "write-and-read:file=8m,written=16m",
        "poisson:requests=500",
        "two-chains:files=40,directories=4",
        "phases:mix=seq-readers=2:writers=1",
    ] {
        let disk = Profile::named("fixed").unwrap().build().unwrap();
        let AnyModel::Fixed(mut disk) = disk else { panic!("it is fixed") };
        let ground = Ground { capacity: disk.capacity(), depth: disk.depth(), seed: 1 };
        let mut watched = Watched(build(&Spec::parse(text).unwrap(), ground).unwrap(), Vec::new());
        let queue = Queue::new(512, Traits::default(), registry::find("noop").unwrap(), &[]).unwrap();
        let (mut host, mut recorder) = (Host::new(queue, ()), Recorder::new(512));
        let control = Control::default();
        let engine = Engine::new(&mut watched, &mut host, &mut disk, &mut recorder, Limits::default());
        let end = engine.run(&control).unwrap();
        let seen = &watched.1;
        assert!(seen.is_sorted() && seen[0] < 0.1, "{text}: {:?}", &seen[..4]);
        assert!(seen[seen.len() - 1] > 0.95, "{text}: ends at {}", seen[seen.len() - 1]);
        let middle = seen[seen.len() / 2];
        assert!((0.1..0.9).contains(&middle), "{text}: {middle} in the middle of {end:?}");
        let told = control.millionths.load(std::sync::atomic::Ordering::Relaxed);
        assert_eq!(told, WHOLE_RUN, "{text}");
    }
}
