//! What a process is promised by its weight and its I/O priority, on disks and loads that nothing was fitted to.

use idlewise_core::{Duration, Instant, registry};
use idlewise_disk::Profile;
use idlewise_sim::engine::{Control, Limits};
use idlewise_sim::experiment::{Choice, Experiment, Load};
use idlewise_sim::metrics::{IssuerShare, Report};
use idlewise_sim::workloads::Spec;
use idlewise_sim::workloads::fio::JobFile;

/// With a queue of their own and without, today's and those of the papers.
const DISKS: [&str; 5] =
    ["hdd-18tb-7200", "hdd-2400gb-10k", "maxtor-40g", "cheetah-st318451lw", "deskstar-34gxp"];

/// What each of `jobs`, an option list of fio, got in 20 seconds under `turns`.
fn run(disk: &str, jobs: &[&str]) -> Vec<IssuerShare> {
    let mut file = String::from("[global]\ndirect=1\ntime_based\nruntime=60\nsize=1g\nbs=64k\n");
    for (number, job) in jobs.iter().enumerate() {
        file += &format!("[job{number}]\n{}\n", job.replace(' ', "\n"));
    }
    let mut issuers = play(disk, Load::Fio(JobFile::parse("jobs.fio", &file).unwrap())).issuers;
    issuers.sort_by_key(|issuer| issuer.id);
    issuers
}

/// What `load` came to in 20 seconds under `turns`.
fn play(disk: &str, load: Load) -> Report {
    let entry = registry::find("turns").unwrap();
    let experiment = Experiment {
        schedulers: vec![Choice { label: "turns".to_owned(), entry: entry.into(), settings: Vec::new() }],
        queue_size: 256,
        calibrated: false,
        limits: Limits { until: Instant::ZERO + Duration::from_s(20), ..Limits::default() },
        ..Experiment::new(Profile::named(disk).unwrap(), load)
    };
    experiment.run_one(0, 1, &Control::default(), None).unwrap().report
}

/// Three weights on streams, on random readers and on both: shares of disk time within a tenth.
#[test]
fn shares_of_disk_time_follow_weights() {
    for disk in DISKS {
        for (kinds, weights) in [
            (["read", "read", "read"], [100, 200, 400]),
            (["randread", "randread", "randread"], [100, 200, 400]),
            (["read", "randread", "read"], [100, 200, 400]),
            (["randread", "read", "randread"], [50, 200, 1000]),
        ] {
            let job = |(kind, weight): (&str, u32)| format!("rw={kind} cgroup_weight={weight}");
            let jobs: Vec<String> = kinds.into_iter().zip(weights).map(job).collect();
            let jobs: Vec<&str> = jobs.iter().map(String::as_str).collect();
            for (issuer, weight) in run(disk, &jobs).iter().zip(weights) {
                let fair = f64::from(weight) / f64::from(weights.iter().sum::<u32>());
                let off = issuer.service_share / fair - 1.0;
                assert!(off.abs() <= 0.1, "{disk} {kinds:?} {weights:?}: {weight} is {off:+.2} off");
            }
        }
    }
}

/// Levels 0, 4 and 7 weigh 8 : 4 : 1.
#[test]
fn shares_of_disk_time_follow_levels() {
    for disk in DISKS {
        let issuers = run(disk, &["rw=read prio=0", "rw=randread", "rw=read prio=7"]);
        for (issuer, eighths) in issuers.iter().zip([8.0, 4.0, 1.0]) {
            let off = issuer.service_share / (eighths / 13.0) - 1.0;
            assert!(off.abs() <= 0.1, "{disk}: {off:+.2} off");
        }
    }
}

/// Equal processes that read on and think get equal parts beside others that read on at once, in whatever order they stand in line.
#[test]
fn equals_get_as_much() {
    for disk in DISKS {
        let thinker = "rw=read bs=32k thinktime=500 thinktime_blocks=2";
        let issuers = run(disk, &[thinker, "rw=read iodepth=4", thinker, thinker, "rw=read", thinker]);
        let got: Vec<u64> = [0, 2, 3, 5].map(|job| issuers[job].bytes).into();
        let (least, most) = (got.iter().min().unwrap(), got.iter().max().unwrap());
        assert!(2 * least > *most, "{disk}: {got:?}");
    }
}

/// The real-time class goes first, and all others still get something.
#[test]
fn the_real_time_class_goes_first_and_starves_nobody() {
    for disk in DISKS {
        for kind in ["read", "randread"] {
            let first = format!("rw={kind} prioclass=1");
            let issuers = run(disk, &[&first, "rw=read", "rw=randread", "rw=randwrite direct=0"]);
            assert!(issuers[0].service_share >= 0.93, "{disk} {kind}: {}", issuers[0].service_share);
            for other in &issuers[1..] {
                let longest = Duration(other.latency_ns_max);
                assert!(other.requests >= 10 && longest <= Duration::from_s(2), "{disk} {kind}: {longest}");
            }
        }
    }
}

/// The idle class gets next to nothing while others ask, and all of the disk while nobody does; it is not starved either.
#[test]
fn the_idle_class_gets_what_others_leave() {
    for disk in DISKS {
        for kind in ["read", "randread"] {
            let last = format!("rw={kind} prioclass=3");
            let issuers = run(disk, &[&last, "rw=read", "rw=randread"]);
            assert!(issuers[0].service_share <= 0.03, "{disk} {kind}: {}", issuers[0].service_share);
            assert!(Duration(issuers[0].latency_ns_max) <= Duration::from_s(2), "{disk} {kind}");
            let (alone, usual) = (run(disk, &[&last]), run(disk, &[&format!("rw={kind}")]));
            let part = alone[0].bytes as f64 / usual[0].bytes as f64;
            assert!(part >= 0.95, "{disk} {kind}: alone {part:.2} of what the usual class gets");
        }
    }
}

/// Where nothing turns reads go before writes that somebody waits for, and do not starve them.
#[test]
fn reads_do_not_starve_a_log() {
    for disk in ["sd-card", "sata-ssd"] {
        let mut jobs = vec!["rw=randread bs=4k"; 24];
        jobs.push("rw=write bs=4k sync=1");
        let issuers = run(disk, &jobs);
        let (log, read) = (issuers.last().unwrap().latency_ns_p99, issuers[0].latency_ns_p99);
        assert!(log <= 2 * read, "{disk}: {log} ns, a read {read} ns");
    }
}

/// Where no heads move, a writer that goes on upward keeps nobody else waiting.
#[test]
fn writers_do_not_keep_each_other_waiting() {
    for disk in ["sd-card", "sata-ssd"] {
        let copies = Spec::parse("iozone:n=6,pattern=seq-write,file=200m").unwrap();
        let report = play(disk, Load::Workload(copies));
        let longest = Duration(report.longest_wait_ns);
        assert!(longest <= Duration::from_ms(1500), "{disk}: somebody has waited for {longest}");
    }
}
