//! Simulated requests in a second, on one core, with everything that a report needs measured.
//!
//! Targets: 10 million for `noop` on a device of fixed latency, 3 million for `c-look` on the mechanical model,
//! 700 thousand for a drive that orders 32 commands by itself. On the disks requests come at random times, as in the
//! yardstick of DiskSim; on the device of fixed latency eight processes wait for one request each.

mod core_time;

use core_time::CoreTime;
use criterion::measurement::WallTime;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use idlewise_core::registry;
use idlewise_disk::Profile;
use idlewise_sim::engine::Control;
use idlewise_sim::experiment::{Choice, Chosen, Experiment, Load};
use idlewise_sim::workloads::Spec;

/// Requests in each run.
const REQUESTS: u64 = 1_000_000;

fn poisson(rate: &str) -> String {
    format!("poisson:rate={rate},requests={REQUESTS}")
}

fn rates(criterion: &mut Criterion<CoreTime>) {
    let mut group = criterion.benchmark_group("simulate");
    group.sample_size(10);
    group.throughput(Throughput::Elements(REQUESTS));
    let cases = [
        ("noop, fixed latency", "noop", "fixed", "", format!("random:n=8,requests={}", REQUESTS / 8)),
        ("c-look, mechanical", "c-look", "cheetah9lp", "cache=off", poisson("117.3")),
        ("noop, in-drive SPTF of 32", "noop", "cheetah9lp", "depth=32,cache=off", poisson("180")),
    ];
    for (title, scheduler, disk, options, load) in cases {
        let disk =
            Profile::named(disk).and_then(|disk| disk.with(options)).expect("a built-in profile builds");
        let load = Load::Workload(Spec::parse(&load).expect("it is well formed"));
        let mut experiment = Experiment::new(disk, load);
        let entry = Chosen::Scheduler(registry::find(scheduler).expect("it is registered"));
        experiment.schedulers.push(Choice { label: scheduler.to_owned(), entry, settings: Vec::new() });
        group.bench_function(title, |bencher| {
            bencher.iter(|| {
                experiment.run_one(0, 1, &Control::default(), None).expect("it runs").report.requests
            });
        });
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().with_measurement(CoreTime(WallTime));
    targets = rates
}
criterion_main!(benches);
