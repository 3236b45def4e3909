//! What the papers claim, measured in the simulator.

mod anticipation;
mod chains;
mod shares;
mod work_conserving;

use idlewise_core::{Duration, Instant, Merging, registry};
use idlewise_disk::Profile;
use idlewise_sim::engine::{Control, Limits};
use idlewise_sim::experiment::{Choice, Experiment, Load};
use idlewise_sim::metrics::Report;
use idlewise_sim::workloads::Spec;

/// Runs `workload` to its end.
fn run(disk: &str, scheduler: &str, settings: &[(&str, u64)], workload: &str, merging: Merging) -> Report {
    run_until(disk, scheduler, settings, workload, merging, Limits::default())
}

fn run_until(
    disk: &str,
    scheduler: &str,
    settings: &[(&str, u64)],
    workload: &str,
    merging: Merging,
    limits: Limits,
) -> Report {
    let load = Load::Workload(Spec::parse(workload).unwrap());
    let experiment = experiment(disk, scheduler, settings, load, merging, limits);
    experiment.run_one(0, 1, &Control::default(), None).unwrap().report
}

fn experiment(
    disk: &str,
    scheduler: &str,
    settings: &[(&str, u64)],
    load: Load,
    merging: Merging,
    limits: Limits,
) -> Experiment {
    let entry = registry::find(scheduler).unwrap();
    let settings = settings.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    Experiment {
        schedulers: vec![Choice { label: scheduler.to_owned(), entry: entry.into(), settings }],
        merging,
        calibrated: false,
        limits,
        ..Experiment::new(Profile::named(disk).unwrap(), load)
    }
}

/// The reasons for the decisions of the first second of `workload` on the Deskstar, a line each.
fn reasons(scheduler: &str, workload: &str) -> String {
    let limits = Limits { until: Instant::ZERO + Duration::from_s(1), ..Limits::default() };
    let load = Load::Workload(Spec::parse(workload).unwrap());
    let experiment = experiment("deskstar-34gxp", scheduler, &[], load, Merging::All, limits);
    let mut why = Vec::new();
    experiment.run_one(0, 1, &Control::default(), Some(&mut why)).unwrap();
    String::from_utf8(why).unwrap()
}

/// The placement that gives SOSP'01's 12 ms a request, 5 MB/s, on its disk: files of 1 GB in regions, as FFS lays them out, with
/// 1 GB between them. All runs of its §4 have it.
const PLACEMENT: &str = "file=1g,regions=16m,gap=1g,bs=64k,requests=1000000";

/// Two streams on the Deskstar, for 200 s: a dozen regions and more. `more` are options of the workload `kind`.
fn streams(kind: &str, scheduler: &str, more: &str) -> Report {
    on("deskstar-34gxp", scheduler, &format!("{kind}:{PLACEMENT}{more}"))
}

/// 200 s of a workload.
fn on(disk: &str, scheduler: &str, workload: &str) -> Report {
    set(disk, scheduler, &[], workload)
}

/// 200 s of a workload, with these settings of the scheduler.
fn set(disk: &str, scheduler: &str, settings: &[(&str, u64)], workload: &str) -> Report {
    for_long(disk, scheduler, settings, Load::Workload(Spec::parse(workload).unwrap()), true)
}

/// As SOSP'01 measured: schedulers know the curve of positioning times, if it is `calibrated` (§3.6).
fn for_long(disk: &str, scheduler: &str, settings: &[(&str, u64)], load: Load, calibrated: bool) -> Report {
    let limits = Limits { until: Instant::ZERO + Duration::from_s(200), ..Limits::default() };
    let run = experiment(disk, scheduler, settings, load, Merging::All, limits);
    Experiment { calibrated, ..run }.run_one(0, 1, &Control::default(), None).unwrap().report
}

/// Bytes a second, in millions.
fn rate(report: &Report) -> f64 {
    report.throughput_bytes_per_s / 1e6
}
