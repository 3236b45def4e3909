//! What `turns` learns of a drive: that it is worth having, and does little harm where it is wrong.

use idlewise_core::learned::Learned;
use idlewise_core::{Device, Duration, Host, Instant, Queue, Weight, registry};
use idlewise_disk::{DiskModel, Profile, WithModel};
use idlewise_sim::engine::{Control, Engine, Limits};
use idlewise_sim::metrics::{Recorder, Report};
use idlewise_sim::workloads::{self, Ground, Spec};

/// Readers whose thoughts take as long as part of a turn of the disk.
const THINKERS: &str = "sync-streams:n=3,think=2ms,bs=32k,file=300m,gap=200m,requests=1000000";

/// Ten seconds of a load under a scheduler, which begins with what somebody has learned, if anybody.
struct Run<'a> {
    scheduler: &'a str,
    load: &'a str,
    learned: Option<&'a Learned>,
}

impl WithModel for Run<'_> {
    type Output = (Report, Learned);

    /// What came of it, and what the scheduler has learned.
    fn with_model<D: DiskModel>(self, disk: &mut D) -> Self::Output {
        let (capacity, depth) = (disk.capacity(), disk.depth());
        let mut workload =
            workloads::build(&Spec::parse(self.load).unwrap(), Ground { capacity, depth: 32, seed: 1 })
                .unwrap();
        let device = Device { depth, capacity, ..Device::usual(disk.rotational()) };
        let mut queue = Queue::new(256, device, registry::find(self.scheduler).unwrap(), &[]).unwrap();
        if let Some(learned) = self.learned {
            queue.set_learned(learned);
        }
        let (mut host, mut recorder) = (Host::new(queue, ()), Recorder::new(256));
        let limits = Limits { until: Instant::ZERO + Duration::from_s(10), ..Limits::default() };
        Engine::new(&mut *workload, &mut host, disk, &mut recorder, limits).run(&Control::default()).unwrap();
        let report = recorder.report(self.scheduler, 0, |_| (None, Weight::default()));
        (report, host.queue().learned().clone())
    }
}

/// `disk`: a profile, perhaps with options after a colon.
fn run(disk: &str, scheduler: &str, load: &str, learned: Option<&Learned>) -> (Report, Learned) {
    let (name, options) = disk.split_once(':').unwrap_or((disk, ""));
    let profile = Profile::named(name).unwrap();
    let profile = if options.is_empty() { profile } else { profile.with(options).unwrap() };
    profile.build().unwrap().with_model(Run { scheduler, load, learned })
}

/// Nobody stays by chance: each goes while the others think. Whether it would pay shows only if it is tried.
#[test]
fn it_is_found_out_that_staying_pays() {
    for disk in ["hdd-18tb-7200", "hdd-4tb-7200"] {
        let [turns, waits, usual] = ["turns", "as", "mq-deadline"]
            .map(|name| run(disk, name, THINKERS, None).0.throughput_bytes_per_s);
        assert!(turns > 1.05 * waits && waits > 1.2 * usual, "{disk}: {turns}, {waits}, {usual}");
    }
}

/// The drive reads ahead for all of them, if it gets each request as it comes.
#[test]
fn who_thinks_keeps_nobody_else_from_the_drive() {
    for (count, size) in [(2, "128k"), (3, "32k"), (5, "32k")] {
        let load = format!("sync-streams:n={count},think=4ms,bs={size},file=300m,gap=150m,requests=1000000");
        let [turns, waits, usual] = ["turns", "as", "mq-deadline"]
            .map(|name| run("hdd-2400gb-10k", name, &load, None).0.throughput_bytes_per_s);
        assert!(turns > 0.95 * waits.max(usual), "{load}: {turns}, {waits}, {usual}");
    }
}

/// Of another drive, and of no drive with heads at all.
#[test]
fn wrong_knowledge_costs_little() {
    let loads = [
        THINKERS,
        "phases:mix=thinkers=10",
        "phases:mix=mail=10",
        "random:n=16,requests=1000000",
        "phases:mix=video=10",
    ];
    for disk in ["hdd-18tb-7200", "maxtor-40g"] {
        for other in ["hdd-18tb-7200", "maxtor-40g", "ibm-18es", "sata-ssd"] {
            // The short files lie: they come from the drive's buffer again and again.
            for taught in ["sync-streams:n=4,file=1m,gap=1k,requests=1000000", "random:n=16,requests=1000000"]
            {
                let (_, learned) = run(other, "turns", taught, None);
                for load in loads {
                    let [none, wrong] = [None, Some(&learned)]
                        .map(|learned| run(disk, "turns", load, learned).0.throughput_bytes_per_s);
                    assert!(wrong > 0.8 * none, "{disk}, {load}, by {taught} on {other}: {none}, {wrong}");
                }
            }
        }
    }
}

/// Whatever the drive's queue: what the drive has taken into its buffer and must write costs a stream little of its turn. Under the
/// second load that is small writes all over the disk, of which somebody keeps several in flight.
#[test]
fn what_the_drive_has_to_write_costs_a_reader_little() {
    for load in ["write-and-read:file=4g,written=20g,gap=8g", "drawn:draw=857,runtime=10s"] {
        for disk in ["hdd-18tb-7200", "hdd-4tb-7200", "hdd-2400gb-10k"] {
            for depth in [1, 8, 32] {
                let disk = format!("{disk}:depth={depth}");
                let [turns, waits] = ["turns", "as"].map(|name| run(&disk, name, load, None).0.read.bytes);
                assert!(5 * turns > 2 * waits, "{load} on {disk}: {turns} bytes read, under `as` {waits}");
            }
        }
    }
}

/// Where nothing turns, somebody who keeps many writes in flight and waits for them does not shut out readers, and not much less is
/// moved altogether. Under the last load writes would lose more than reads gain: there writes are limited only to find that out.
#[test]
fn writes_that_somebody_waits_for_do_not_shut_out_readers() {
    let loads = [
        ("sata-ssd", "drawn:draw=1104,runtime=10s", 5, 90),
        ("nvme-ssd", "drawn:draw=1161,runtime=10s", 5, 90),
        ("sata-ssd", "drawn:draw=1232,runtime=10s", 5, 60),
        ("sata-ssd", "drawn:draw=1074,runtime=10s", 1, 96),
    ];
    for (disk, load, gain, percent) in loads {
        let [turns, none] = ["turns", "noop"].map(|name| run(disk, name, load, None).0);
        let late = [&turns, &none].map(|report| report.slowest_read_ns_p99);
        assert!(gain * late[0] <= late[1], "{load} on {disk}: p99 of reads {late:?}");
        let bytes = [&turns, &none].map(|report| report.write.bytes + report.read.bytes);
        assert!(100 * bytes[0] >= percent * bytes[1], "{load} on {disk}: bytes {bytes:?}");
    }
}
