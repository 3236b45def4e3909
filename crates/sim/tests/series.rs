//! What plots show of a run is what its report says, spread over time.

use idlewise_core::Instant;
use idlewise_disk::Profile;
use idlewise_sim::engine::{Control, Limits};
use idlewise_sim::experiment::{Choice, Chosen, Experiment, Load, Outcome};
use idlewise_sim::metrics::series::{Bin, Series};
use idlewise_sim::workloads::Spec;

/// Five seconds of `load` under `scheduler`.
fn run(load: &str, scheduler: &str, series: bool) -> Outcome {
    let entry = Chosen::find(scheduler).expect("it is registered");
    let disk = Profile::named("maxtor-40g").unwrap();
    let experiment = Experiment {
        schedulers: vec![Choice { label: scheduler.to_owned(), entry, settings: Vec::new() }],
        limits: Limits { until: Instant(5_000_000_000), ..Limits::default() },
        series,
        ..Experiment::new(disk, Load::Workload(Spec::parse(load).unwrap()))
    };
    experiment.run_one(0, 1, &Control::default(), None).unwrap()
}

fn sum(series: &Series, figure: impl Fn(&Bin) -> u64) -> u64 {
    series.bins.iter().map(figure).sum()
}

#[test]
fn the_bins_add_up_to_the_report() {
    for load in ["sync-streams:n=4", "write-and-read", "sync-streams:n=20,gap=0,file=100m"] {
        let Outcome { report, series, .. } = run(load, "as", true);
        let series = series.unwrap();
        assert_eq!(sum(&series, |bin| bin.bytes[0]), report.read.bytes, "{load}");
        assert_eq!(sum(&series, |bin| bin.bytes[1]), report.write.bytes, "{load}");
        assert_eq!(sum(&series, |bin| bin.waiting_ns), report.anticipation.time_ns, "{load}");
        let served: u64 = report.issuers.iter().map(|issuer| issuer.service_ns).sum();
        assert_eq!(sum(&series, |bin| bin.service_ns.iter().sum()), served, "{load}");
        let outstanding: f64 = series.bins.iter().map(|bin| bin.outstanding).sum();
        let mean = outstanding * series.bin.0 as f64 / report.elapsed_ns as f64;
        assert!((mean / report.queue_mean - 1.0).abs() < 1e-6, "{load}: {mean} for {}", report.queue_mean);
        let most = series.bins.iter().map(|bin| bin.read_ns_p99).max().unwrap();
        assert!(most as f64 <= report.read.latency_ns.max as f64 * 1.03, "{load}");
    }
}

#[test]
fn a_disk_that_does_one_thing_at_a_time_is_never_more_than_busy() {
    for load in ["random:n=4,requests=20", "sync-streams:n=2,requests=300,think=1ms", "write-and-read"] {
        for scheduler in ["noop", "c-look", "as"] {
            let series = run(load, scheduler, true).series.unwrap();
            for (bin, [from, to]) in series.bins.iter().zip(series.spans()) {
                let (busy, all) = (bin.service_ns.iter().sum::<u64>(), to.since(from).0);
                assert!(busy <= all, "{load} under {scheduler}: busy for {busy} of {all} ns");
            }
        }
    }
}

#[test]
fn processes_beyond_the_ninth_are_one() {
    let series = run("sync-streams:n=20,gap=0,file=100m", "as", true).series.unwrap();
    assert_eq!(series.processes.len(), 9);
    assert_eq!(series.processes[8], "others");
    assert!(series.bins.iter().all(|bin| bin.service_ns.len() == 9));
    assert!(series.dots.iter().all(|dot| dot.process < 9));
    let few = run("sync-streams:n=4", "as", true).series.unwrap();
    assert_eq!(few.processes.len(), 4, "{:?}", few.processes);
}

#[test]
fn distributions_have_the_reports_percentiles() {
    let Outcome { report, series, .. } = run("write-and-read", "deadline", true);
    let [reads, writes] = series.unwrap().latencies;
    for (points, latency) in [(reads, report.read.latency_ns), (writes, report.write.latency_ns)] {
        let at = |share: f64| points.iter().find(|point| (point.share - share).abs() < 1e-12).unwrap().ns;
        assert_eq!(
            [at(0.5), at(0.9), at(0.99), at(1.0)],
            [latency.p50, latency.p90, latency.p99, latency.max]
        );
        assert!(points.windows(2).all(|pair| pair[0].share < pair[1].share && pair[0].ns <= pair[1].ns));
    }
}

#[test]
fn nothing_else_depends_on_it() {
    let (with, without) = (run("write-and-read", "as", true), run("write-and-read", "as", false));
    assert!(without.series.is_none());
    assert_eq!(serde_json::to_string(&with.report).unwrap(), serde_json::to_string(&without.report).unwrap());
}
