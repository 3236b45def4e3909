//! Runs programs on machines under several schedulers, and prints how long each program and phase took.
//!
//! `cargo run --release -p idlewise-sim --example machine_table -- maxtor-20g deadline-2.6.11,as-2.6.11,cas
//! machine:program=dd-cat,scale=25,seed=2 …`

use idlewise_core::learned::Curve;
use idlewise_core::{Device, Host, Instant, Queue, registry};
use idlewise_disk::{DiskModel, Profile, WithModel};
use idlewise_sim::engine::{Control, Engine, Limits};
use idlewise_sim::machine::{Machine, build, presets, programs};
use idlewise_sim::metrics::Recorder;
use idlewise_sim::workloads::{Ground, Named, Spec};

/// Points of the curve of positioning times that schedulers are told.
const CURVE_POINTS: usize = 192;

/// One run.
struct Run<'a> {
    scheduler: &'a str,
    spec: &'a Spec,
    seed: u64,
}

impl Run<'_> {
    fn machine(&self, ground: Ground) -> Machine {
        let option =
            |name: &str| self.spec.options.iter().find(|(key, _)| key == name).map(|(_, value)| value);
        let program = programs::named(option("program").expect("program=")).expect("a program");
        let machine =
            presets::named(option("machine").map_or(program.machine, |name| name)).expect("a machine");
        let scale = option("scale").map_or(100, |text| text.parse().expect("a number"));
        let instances = option("n").map_or(program.instances, |text| text.parse().expect("a number"));
        let wish = programs::Wish { parameters: machine.scaled(scale), instances, scale };
        build(program, wish, ground).expect("it fits")
    }
}

impl WithModel for Run<'_> {
    type Output = ();

    fn with_model<D: DiskModel>(self, disk: &mut D) {
        let ground = Ground { capacity: disk.capacity(), seed: self.seed };
        let mut machine = self.machine(ground);
        let usual = Device::usual(disk.rotational());
        // Schedulers know the disk's positioning times, as in SOSP'01 §3.6.
        let curve = disk.positioning_curve(CURVE_POINTS);
        let learned = if curve.is_empty() { usual.learned.clone() } else { Curve::through(&curve).into() };
        let traits = Device {
            learned,
            max_sectors: machine.longest_request().unwrap_or(usual.max_sectors),
            depth: disk.depth(),
            capacity: disk.capacity(),
            ..usual
        };
        let entry = registry::find(self.scheduler).expect("a scheduler");
        let queue = Queue::new(4096, traits, entry, &[]).expect("memory");
        let (mut host, mut recorder) = (Host::new(queue, ()), Recorder::new(4096));
        let engine = Engine::new(&mut machine, &mut host, disk, &mut recorder, Limits::default());
        let end = engine.run(&Control::default()).expect("a run");
        let report = recorder.report(self.scheduler, 0, |who| (machine.name(who), Default::default()));
        let seconds = |at: Instant| at.0 as f64 / 1e9;
        let times: Vec<String> = machine
            .moments()
            .iter()
            .map(|one| {
                let name = machine.name(one.issuer).unwrap_or_default();
                format!("{name} {} {:.2}", one.phase.unwrap_or("ends"), seconds(one.at))
            })
            .collect();
        println!(
            "{:<16} {:>9.2} s {:>7.2} MB/s {:>8} requests  {}{}",
            self.scheduler,
            seconds(end),
            report.throughput_bytes_per_s / 1e6,
            report.requests,
            times.join(", "),
            if machine.is_full() { " FULL" } else { "" }
        );
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [disk, schedulers, workloads @ ..] = arguments.as_slice() else {
        eprintln!("machine_table DISK SCHEDULER,… WORKLOAD…");
        return;
    };
    for workload in workloads {
        println!("{workload} on {disk}");
        let spec = Spec::parse(workload).expect("a workload");
        for scheduler in schedulers.split(',') {
            let seed = spec.options.iter().find(|(key, _)| key == "seed");
            let seed = seed.map_or(1, |(_, text)| text.parse().expect("a number"));
            let mut model = Profile::named(disk).expect("a disk").build().expect("a model");
            model.with_model(Run { scheduler, spec: &spec, seed });
        }
    }
}
