//! Holds the machine of `sim/src/machine` against real programs: makes docs/real.md of what `scripts/kernel/machine.sh` left
//! behind.
//!
//! Arguments: files, each of a disk, with the lines of `kernel/guest/machine.sh`, and one first: `setting: DISK SEED SCALE SCALE_OF_STREAMS`.
//! Exit status: 0 machine and guest agree, 1 not.

use std::collections::BTreeMap;
use std::process::ExitCode;

use idlewise_core::Instant;
use idlewise_disk::Profile;
use idlewise_sim::engine::Control;
use idlewise_sim::experiment::{Choice, Chosen, Experiment, Load, Outcome};
use idlewise_sim::metrics::Report;
use idlewise_sim::workloads::Spec;

const HEAD: &str = "\
# The machine against a real one

`idlewise papers` runs the papers' programs on a machine that is a model: page cache, read-ahead, file system, processes
(`sim/src/machine`). Here real programs stand beside it: `cp`, `find`, `cat`, `dd` of Debian's coreutils and findutils, and sqlite,
on ext4 of Debian's kernel, in a guest whose time counts instructions. Both have the same disks, which are models, and the same
schedulers. `make kernel-machine` makes this page.

In the guest ext4 puts the tree anywhere, in the machine it lies where the disk begins. The machine's figures are means of five
layouts, and of run times also the shortest and the longest. What a call costs was measured in the
guest (`presets.rs`, the machine `guest`); all else is the machine of Debian 12. *Differs* is the machine's run time over the real
one's, and the same of requests: it is to be within 20 %, and within 15 %. Orders are equal if each two schedulers of which one takes
10 % longer than the other in the guest come in the same order.

How much is written between two reads of `cat`, where the scheduler lets reads wait, hangs on three things that the machine does as Linux:
writeback has few requests in the queue, by the drive's depth and the latency of reads (`blk-wbt`: two for a drive that takes one command);
it gathers 8 MiB at a time, and sends the last piece of them too late for the batch; and who is woken by a completion runs before the worker that asks
the scheduler, so that a reader can follow up at once.

On a third drive that takes one command at a time (`deskstar-34gxp`) this holds, too. On drives with a queue of their own it does not: there `cat`
may wait longer on the machine than in the guest, on `hdd-2400gb-10k` several times as long. Why is not known.
";

/// Layouts of the machine.
const SEEDS: u64 = 5;
/// How far run times and requests may differ, and from which on two schedulers do.
const TIME: f64 = 1.20;
const REQUESTS: f64 = 1.15;
const APART: f64 = 1.10;

type Failure = Box<dyn std::error::Error>;

/// What a program did under a scheduler.
#[derive(Clone, Copy, Default)]
struct Done {
    ms: f64,
    /// The shortest and the longest of several layouts.
    range_ms: (f64, f64),
    /// Reads and writes.
    requests: f64,
    /// Flushes of the drive's cache.
    flushes: f64,
}

/// A guest's results.
struct Guest {
    disk: String,
    scale: u64,
    /// The scale of `dd` beside `cat`.
    scale_of_streams: u64,
    seed: u64,
    /// Memory that programs and cache may have, in MiB.
    memory: u64,
    /// Programs in the order in which they ran, each with its schedulers.
    programs: Vec<(String, Vec<(String, Done)>)>,
}

fn guest(text: &str) -> Result<Guest, Failure> {
    let mut own = Guest {
        disk: String::new(),
        scale: 0,
        scale_of_streams: 0,
        seed: 0,
        memory: 0,
        programs: Vec::new(),
    };
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["setting:", disk, seed, scale, streams] => {
                (own.disk, own.seed) = (disk.to_string(), seed.parse()?);
                (own.scale, own.scale_of_streams) = (scale.parse()?, streams.parse()?);
            }
            ["memory:", available, ..] => own.memory = available.parse::<u64>()? / 1024,
            ["result:", program, scheduler, ms, reads, _, writes, _, flushes, commits] => {
                let number = |text: &str| text.parse::<f64>();
                let flushes = number(flushes)?;
                // The kernel counts a flush that is no part of a commit among the writes.
                let requests = number(reads)? + number(writes)? - (flushes - number(commits)?);
                let ms = number(ms)?;
                let done = Done { ms, range_ms: (ms, ms), requests, flushes };
                let place = own.programs.iter().position(|(name, _)| name == program);
                let place = place.unwrap_or_else(|| {
                    own.programs.push((program.to_string(), Vec::new()));
                    own.programs.len() - 1
                });
                own.programs[place].1.push((scheduler.to_string(), done));
            }
            _ => {}
        }
    }
    Ok(own)
}

/// The same on the machine: the mean of some layouts.
fn machine(guest: &Guest, program: &str, scheduler: &str) -> Result<Done, Failure> {
    let Guest { disk, scale, scale_of_streams, memory, .. } = guest;
    let program = program.replace('_', "-");
    let scale = if program == "dd-cat" { scale_of_streams } else { scale };
    let spec =
        Spec::parse(&format!("machine:program={program},machine=guest,scale={scale},memory={memory}"))?;
    let name = scheduler.strip_prefix("iw-").unwrap_or(scheduler);
    let entry = Chosen::find(name).ok_or_else(|| format!("no scheduler {name}"))?;
    let mut experiment = Experiment {
        schedulers: vec![Choice { label: name.to_owned(), entry, settings: Vec::new() }],
        seeds: (1..=SEEDS).collect(),
        ..Experiment::new(Profile::named(disk)?, Load::Workload(spec))
    };
    let mut mean = Done { range_ms: (f64::MAX, 0.0), ..Done::default() };
    for seed in 1..=SEEDS {
        let mut run = |until| -> Result<Outcome, Failure> {
            experiment.limits.until = until;
            Ok(experiment.run_one(0, seed, &Control::default(), None)?)
        };
        let outcome = run(Instant::MAX)?;
        let (begun, ended) = program_time(&outcome);
        // What the disk did for others before the program began.
        let before = run(begun)?.report;
        let share = |all: u64, before: u64| (all - before) as f64 / SEEDS as f64;
        let ms = (ended.0 - begun.0) as f64 / 1e6;
        mean.ms += ms / SEEDS as f64;
        mean.range_ms = (mean.range_ms.0.min(ms), mean.range_ms.1.max(ms));
        // As the kernel counts them: merged ones are one.
        let requests = |report: &Report| report.read.requests + report.write.requests - report.merges;
        mean.requests += share(requests(&outcome.report), requests(&before));
        mean.flushes += share(outcome.report.flushes, before.flushes);
    }
    Ok(mean)
}

/// From when to when the program ran: from its phase on, if it has one, to the end of the last that somebody waited for.
fn program_time(outcome: &Outcome) -> (Instant, Instant) {
    let at = |begins: bool| {
        outcome.moments.iter().filter(move |one| one.phase.is_some() == begins).map(|one| one.at)
    };
    (at(true).min().unwrap_or(Instant::ZERO), at(false).max().unwrap_or(Instant::MAX))
}

/// Pairs of schedulers that come in another order on the machine.
fn disorder(rows: &[(String, Done, Done)]) -> Vec<String> {
    let mut pairs = Vec::new();
    for (fast, real, model) in rows {
        for (slow, other, beside) in rows {
            if other.ms > APART * real.ms && beside.ms <= model.ms {
                pairs.push(format!("{fast} before {slow}"));
            }
        }
    }
    pairs
}

fn within(ratio: f64, most: f64) -> bool {
    (1.0 / most..=most).contains(&ratio)
}

fn main() -> Result<ExitCode, Failure> {
    println!("{HEAD}");
    println!(
        "| disk | program | scheduler | guest, s | machine, s | differs | requests: guest | machine | differs | flushes |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    let mut wrong: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut count = 0;
    for file in std::env::args().skip(1) {
        let guest = guest(&std::fs::read_to_string(&file)?)?;
        for (program, under) in &guest.programs {
            let mut rows = Vec::new();
            for (scheduler, real) in under {
                let model = machine(&guest, program, scheduler)?;
                let (time, requests) = (model.ms / real.ms, model.requests / real.requests);
                count += 1;
                let label = format!("{program} under {scheduler} on {} (seed {})", guest.disk, guest.seed);
                if !within(time, TIME) {
                    wrong.entry("run times").or_default().push(label.clone());
                }
                if !within(requests, REQUESTS) {
                    wrong.entry("requests").or_default().push(label);
                }
                println!(
                    "| {} | {program} | {scheduler} | {:.2} | {:.2} ({:.2} to {:.2}) | {:+.0} % | {:.0} | {:.0} | {:+.0} % | {:.0}, {:.0} |",
                    guest.disk,
                    real.ms / 1e3,
                    model.ms / 1e3,
                    model.range_ms.0 / 1e3,
                    model.range_ms.1 / 1e3,
                    100.0 * (time - 1.0),
                    real.requests,
                    model.requests,
                    100.0 * (requests - 1.0),
                    real.flushes,
                    model.flushes,
                );
                rows.push((scheduler.clone(), *real, model));
            }
            let pairs =
                disorder(&rows).into_iter().map(|pair| format!("{program}: {pair} on {}", guest.disk));
            wrong.entry("orders").or_default().extend(pairs);
        }
    }
    wrong.retain(|_, list| !list.is_empty());
    println!();
    for (what, list) in &wrong {
        println!(
            "Of {count} rows, {} differ by more than that in {what}: {}.\n",
            list.len(),
            list.join("; ")
        );
    }
    if wrong.is_empty() {
        println!("All {count} rows agree in run times, requests and orders.");
    }
    Ok(if wrong.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
