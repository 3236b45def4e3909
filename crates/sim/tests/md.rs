//! Arrays as md has them: a scheduler for each disk, below the array.

use idlewise_disk::Profile;
use idlewise_sim::engine::Control;
use idlewise_sim::experiment::{Choice, Chosen, Experiment, ExperimentError, Load};
use idlewise_sim::metrics::Report;
use idlewise_sim::workloads::Spec;

fn disk(text: &str) -> Profile {
    Profile::find(text, &Profile::named).expect("an array's name")
}

fn experiment(array: &str, load: &str, scheduler: &str) -> Experiment {
    let entry = Chosen::find(scheduler).expect("it is listed");
    let choice = Choice { label: scheduler.to_owned(), entry, settings: Vec::new() };
    let load = Load::Workload(Spec::parse(load).expect("well formed"));
    Experiment { schedulers: vec![choice], ..Experiment::new(disk(array), load) }
}

fn run(array: &str, load: &str, scheduler: &str) -> Report {
    let run = experiment(array, load, scheduler).run_one(0, 1, &Control::default(), None);
    run.expect("it ends").report
}

/// Two that read in order on the same disk for as long as a chunk lasts.
const STREAMS: &str = "sync-streams:n=2,requests=400,gap=4g,think=100us";

#[test]
fn each_disk_anticipates_by_itself() {
    // The scheduler of a disk is told who asks: without that nobody could be waited for.
    let array = "md0:n=2,of=maxtor-40g,chunk=4m";
    let [noop, waits] = ["noop", "as"].map(|scheduler| run(array, STREAMS, scheduler));
    assert_eq!((noop.requests, waits.requests), (800, 800));
    let (noop, waits) = (noop.elapsed_ns as f64, waits.elapsed_ns as f64);
    assert!(waits * 1.5 < noop, "{:.0} ms, without waiting {:.0} ms", waits / 1e6, noop / 1e6);
}

#[test]
fn each_disk_sorts_what_waits_for_it() {
    let load = "random:n=32,requests=100,bs=4k";
    let [noop, sorted] = ["noop", "deadline"].map(|scheduler| run("md0:n=4,of=maxtor-40g", load, scheduler));
    assert_eq!((noop.requests, sorted.requests), (3200, 3200));
    let gain = noop.elapsed_ns as f64 / sorted.elapsed_ns as f64;
    assert!(gain > 1.15, "{gain:.2}");
}

#[test]
fn all_levels_serve_all_kinds_of_requests() {
    for array in ["md0:n=2", "md1:n=2", "md5:n=4", "md6:n=5", "md10:n=3"] {
        for scheduler in ["noop", "cfq", "bfq", "turns", "kyber"] {
            let report = run(
                &format!("{array},of=sata-ssd:capacity=600m"),
                "random:n=6,reads=50,requests=60",
                scheduler,
            );
            assert_eq!(report.requests, 360, "{array} {scheduler}");
        }
    }
}

#[test]
fn what_wants_one_scheduler_is_refused() {
    let plan = experiment("md0:n=2,of=maxtor-40g", "random:requests=10", "auto-predict");
    let error = plan.run_one(0, 1, &Control::default(), None).expect_err("a selector");
    assert!(matches!(error, ExperimentError::ManySchedulers { .. }), "{error}");
    let mut out = Vec::new();
    let plan = experiment("md0:n=2,of=maxtor-40g", "random:requests=10", "noop");
    let error = plan.run_one(0, 1, &Control::default(), Some(&mut out)).expect_err("reasons");
    assert!(error.to_string().contains("--why wants one: take raid for md"), "{error}");
}
