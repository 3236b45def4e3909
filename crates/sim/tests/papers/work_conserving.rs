//! The work-conserving schedulers.

use idlewise_core::{Merging, registry};
use idlewise_disk::Profile;
use idlewise_sim::engine::Control;
use idlewise_sim::experiment::{Choice, Experiment, Load};
use idlewise_sim::workloads::Spec;

use super::run;

/// SOSP'01 §2: two streams of 64 KB blocks, placed so that a synchronous request takes 12 ms.
const PLACEMENT: &str = "gap=256m,bs=64k";

#[test]
fn two_synchronous_streams_get_a_quarter_of_the_disk() {
    let workload = format!("sync-streams:{PLACEMENT},requests=2000");
    let report = run("deskstar-34gxp", "sptf", &[], &workload, Merging::All);
    let rate = report.throughput_bytes_per_s / 1e6;
    assert!((4.5..=5.8).contains(&rate), "SOSP'01 has 5 MB/s, here {rate:.2}");
    let workload = "sync-streams:n=1,requests=2000";
    let alone = run("deskstar-34gxp", "sptf", &[], workload, Merging::All).throughput_bytes_per_s / 1e6;
    assert!((19.0..=23.0).contains(&alone), "SOSP'01 has 21 MB/s, here {alone:.2}");
}

/// SOSP'01 §4: a bound of 1 s costs at most 1 %, one of 100 ms at most 8 %. Both streams keep
/// requests waiting, so that seek reduction works without anticipation.
#[test]
fn bounded_age_costs_what_the_paper_says() {
    let workload = format!("sync-streams:{PLACEMENT},depth=4,think=200us,requests=4000");
    let rate = |scheduler: &str, settings: &[(&str, u64)]| {
        run("deskstar-34gxp", scheduler, settings, &workload, Merging::Off).throughput_bytes_per_s
    };
    let plain = rate("sptf", &[]);
    let loose = rate("aged-sptf", &[("bound", 1000)]) / plain;
    let tight = rate("aged-sptf", &[("bound", 100)]) / plain;
    assert!((0.99..=1.001).contains(&loose), "bound 1 s: {loose:.4} of SPTF");
    assert!((0.92..=0.99).contains(&tight), "bound 100 ms: {tight:.4} of SPTF");
}

/// UNC §VI.C: n times the queue, n times the bandwidth, which the authors could not measure.
#[test]
fn under_aql_a_queue_n_times_as_long_gets_n_times_the_bandwidth() {
    for n in [2.0, 4.0, 8.0] {
        let workload = format!("queues:depths=1:{n},requests=2000");
        let report = run("deskstar-34gxp", "aql", &[], &workload, Merging::All);
        let rate = |name: &str| {
            let issuer = report.issuers.iter().find(|issuer| issuer.name.as_deref() == Some(name)).unwrap();
            issuer.bytes as f64 / issuer.finished_ns as f64
        };
        let ratio = rate(&format!("depth{n}")) / rate("depth1");
        assert!((ratio / n - 1.0).abs() <= 0.1, "queue ×{n}: bandwidth ×{ratio:.2}");
    }
}

/// UNC §III.B: three reads to two writes while both wait.
#[test]
fn rwfifo_serves_three_reads_to_two_writes() {
    let workload = "write-and-read:reads=32,writes=32,think=0,file=750m,gap=0";
    let report = run("fixed", "rwfifo", &[], workload, Merging::Off);
    let requests = |name: &str| {
        let issuer = report.issuers.iter().find(|issuer| issuer.name.as_deref() == Some(name)).unwrap();
        issuer.requests as f64
    };
    let ratio = requests("reader") / requests("writer");
    assert!((ratio - 1.5).abs() < 0.02, "{ratio:.3}");
}

#[test]
fn a_run_is_the_same_for_the_same_seed_and_differs_for_another() {
    let report = |seed: u64| {
        let entry = registry::find("random").unwrap();
        let experiment = Experiment {
            schedulers: vec![Choice {
                label: "random".to_owned(),
                entry: entry.into(),
                settings: Vec::new(),
            }],
            seeds: vec![seed],
            queue_size: 64,
            calibrated: false,
            ..Experiment::new(
                Profile::named("barracuda").unwrap(),
                Load::Workload(Spec::parse("random:n=6,requests=300").unwrap()),
            )
        };
        experiment.run(&Control::default()).unwrap().remove(0).report
    };
    assert_eq!(report(5), report(5));
    assert_ne!(report(5).elapsed_ns, report(6).elapsed_ns);
}
