//! Holds the machine of `sim/src/machine` against real programs: makes docs/real.md of what `scripts/kernel/machine.sh` left
//! behind.
//!
//! Arguments: files, each of a disk, with the lines of `kernel/guest/machine.sh`, and one first: `setting: DISK SEED SCALE SCALE_OF_STREAMS MEMORY`.
//! Exit status: 0 machine and guest agree, 1 not.

use std::collections::BTreeMap;
use std::process::ExitCode;

use idlewise_core::Instant;
use idlewise_disk::Profile;
use idlewise_sim::engine::Control;
use idlewise_sim::experiment::{Choice, Chosen, Experiment, Load, Outcome, own_name};
use idlewise_sim::metrics::Report;
use idlewise_sim::workloads::Spec;

const HEAD: &str = "\
# The machine against a real one

`idlewise papers` runs the papers' programs on a machine that is a model: page cache, read-ahead, file system, processes
(`sim/src/machine`). Here real programs stand beside it: `cp`, `find`, `cat`, `dd` of Debian's coreutils and findutils, and sqlite,
on ext4 of Debian's kernel, in a guest whose time counts instructions. Both have the same disks, which are models, and the same
schedulers. `make kernel-machine` makes this page.

In the guest ext4 puts the tree anywhere; in the machine the tree lies where the disk begins. The machine's figures are means of {SEEDS}
layouts, and of run times also the shortest and the longest. What a call costs was measured in the
guest (`presets.rs`, the machine `guest`); all else is the machine of Debian 12. *Differs* is the machine's run time over the real
one's, and the same of requests: it is to be within 20 %, and within 15 %. Orders are equal if each two schedulers of which one takes
10 % longer than the other in the guest, and in each run longer, come in the same order. The mechanisms below were found on the other
drives; on the Deskstar none was tried out.

How much is written between two reads of `cat`, or of `cp`, depends on what the machine does as Linux 6.1 does:

- Writeback has few requests in the queue, by the drive's depth and the latency of reads (`blk-wbt`: two for a drive that takes one command).
- Background writeback begins beyond a limit. It goes on to the end of a round: 8 MiB of each file that was dirty when the round began,
  for a tenth of a second. It gathers the pages of a file before it sends any, and holds the last request back: pages of the next
  file may become part of it.
- Writers are paced. Beyond half-way between the two limits a writer sleeps for some ticks after each hundred pages or so, by a rate that is
  learned from what the disk writes. So `dd` uses the processor evenly. Beforehand, somebody has written to the disk.
- The processor is shared fairly. Who is woken runs at once if the other has had clearly more; else a tick, every 4 ms, decides. On a
  fast drive the processor is what is short.
- Who issues a request asks the scheduler at once. After a completion a worker of the highest priority asks. Whoever the same
  completion has woken runs first if it has had as little of the processor: beside others a reader adds its next part to what waits, alone
  it comes too late for that. Sending a write takes time of whoever asks.

Where `cat` comes and goes between reads from the drive's buffer and long waits, its time depends on the moment at which it begins: `dd`
beside `cat` runs several times, and `cat` begins 2.0 to 2.1 s after `dd`. The table says how often in the
guest. Both may have as much dirty as Debian allows with {MEMORY} MiB for programs and cache.
";

/// Layouts of the machine, each with another moment at which `cat` begins.
const SEEDS: u64 = 20;
/// How far run times and requests may differ, and from which on two schedulers do.
const TIME: f64 = 0.20;
const REQUESTS: f64 = 0.15;
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
    /// Of how many runs this is the mean.
    runs: usize,
}

/// A scheduler, and what each run of a program did under it.
type Runs = (String, Vec<Done>);

/// A guest's results.
#[derive(Default)]
struct Guest {
    disk: String,
    scale: u64,
    /// The scale of `dd` beside `cat`.
    scale_of_streams: u64,
    seed: u64,
    /// Memory that programs and cache may have, in MiB.
    memory: u64,
    /// Programs in the order in which they ran.
    programs: Vec<(String, Vec<Runs>)>,
}

fn guest(text: &str) -> Result<Guest, Failure> {
    let mut own = Guest::default();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["setting:", disk, seed, scale, streams, memory] => {
                (own.disk, own.seed) = (disk.to_string(), seed.parse()?);
                (own.scale, own.scale_of_streams) = (scale.parse()?, streams.parse()?);
                own.memory = memory.parse()?;
            }
            ["result:", program, scheduler, ms, reads, _, writes, _, flushes, commits] => {
                let number = |text: &str| text.parse::<f64>();
                let flushes = number(flushes)?;
                // The kernel counts a flush that is no part of a commit among the writes.
                let requests = number(reads)? + number(writes)? - (flushes - number(commits)?);
                let ms = number(ms)?;
                let done = Done { ms, range_ms: (ms, ms), requests, flushes, runs: 1 };
                let place = own.programs.iter().position(|(name, _)| name == program);
                let place = place.unwrap_or_else(|| {
                    own.programs.push((program.to_string(), Vec::new()));
                    own.programs.len() - 1
                });
                let under = &mut own.programs[place].1;
                match under.iter_mut().find(|(name, _)| name == scheduler) {
                    Some((_, runs)) => runs.push(done),
                    None => under.push((scheduler.to_string(), vec![done])),
                }
            }
            _ => {}
        }
    }
    Ok(own)
}

/// The mean of several runs, with the range of their times.
fn mean(runs: &[Done]) -> Done {
    let mut mean = Done { range_ms: (f64::MAX, 0.0), runs: runs.len(), ..Done::default() };
    for run in runs {
        let share = 1.0 / runs.len() as f64;
        mean.ms += run.ms * share;
        mean.requests += run.requests * share;
        mean.flushes += run.flushes * share;
        mean.range_ms = (mean.range_ms.0.min(run.ms), mean.range_ms.1.max(run.ms));
    }
    mean
}

/// The same on the machine: the mean of some layouts.
fn machine(guest: &Guest, program: &str, scheduler: &str) -> Result<Done, Failure> {
    let Guest { disk, scale, scale_of_streams, memory, .. } = guest;
    let program = program.replace('_', "-");
    let scale = if program == "dd-cat" { scale_of_streams } else { scale };
    let spec =
        Spec::parse(&format!("machine:program={program},machine=guest,scale={scale},memory={memory}"))?;
    let name = own_name(scheduler);
    let entry = Chosen::find(name).ok_or_else(|| format!("no scheduler {name}"))?;
    let mut experiment = Experiment {
        schedulers: vec![Choice { label: name.to_owned(), entry, settings: Vec::new() }],
        seeds: (1..=SEEDS).collect(),
        ..Experiment::new(Profile::named(disk)?, Load::Workload(spec))
    };
    let mut runs = Vec::new();
    for seed in 1..=SEEDS {
        let mut run = |until| -> Result<Outcome, Failure> {
            experiment.limits.until = until;
            Ok(experiment.run_one(0, seed, &Control::default(), None)?)
        };
        let outcome = run(Instant::MAX)?;
        let (begun, ended) = program_time(&outcome);
        // What the disk did for others before the program began.
        let before = run(begun)?.report;
        let ms = (ended.0 - begun.0) as f64 / 1e6;
        // As the kernel counts them: merged ones are one.
        let requests: fn(&Report) -> u64 =
            |report| report.read.requests + report.write.requests - report.merges;
        let new = |count: fn(&Report) -> u64| (count(&outcome.report) - count(&before)) as f64;
        runs.push(Done {
            ms,
            range_ms: (ms, ms),
            requests: new(requests),
            flushes: new(|report| report.flushes),
            runs: 1,
        });
    }
    Ok(mean(&runs))
}

/// From when to when the program ran: from its phase on, if it has one, to the end of the last that somebody waited for.
fn program_time(outcome: &Outcome) -> (Instant, Instant) {
    let at = |begins: bool| {
        outcome.moments.iter().filter(move |one| one.phase.is_some() == begins).map(|one| one.at)
    };
    (at(true).min().unwrap_or(Instant::ZERO), at(false).max().unwrap_or(Instant::MAX))
}

/// Pairs of schedulers that come in another order on the machine. Where a program ran several times, two schedulers come in an
/// order if each run under one was shorter than each under the other.
fn disorder(rows: &[(String, Done, Done)]) -> Vec<String> {
    let mut pairs = Vec::new();
    for (fast, real, model) in rows {
        for (slow, other, beside) in rows {
            let apart = other.ms > APART * real.ms && other.range_ms.0 >= real.range_ms.1;
            if apart && beside.ms <= model.ms {
                pairs.push(format!("{fast} before {slow}"));
            }
        }
    }
    pairs
}

/// Run times in seconds: the mean, and the range if there are several.
fn seconds(done: &Done) -> String {
    let [mean, least, most] = [done.ms, done.range_ms.0, done.range_ms.1].map(|ms| ms / 1e3);
    if least >= most { format!("{mean:.2}") } else { format!("{mean:.2} ({least:.2} to {most:.2})") }
}

fn within(ratio: f64, most: f64) -> bool {
    (ratio - 1.0).abs() <= most
}

fn main() -> Result<ExitCode, Failure> {
    let read = |file: String| guest(&std::fs::read_to_string(file)?);
    let guests = std::env::args().skip(1).map(read).collect::<Result<Vec<_>, _>>()?;
    let memory = guests.first().map_or(0, |guest| guest.memory);
    println!("{}", HEAD.replace("{SEEDS}", &SEEDS.to_string()).replace("{MEMORY}", &memory.to_string()));
    println!(
        "| disk | program | scheduler | runs | guest, s | machine, s | differs | requests: guest | machine | differs | flushes |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    let mut wrong: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut count = 0;
    for guest in &guests {
        for (program, under) in &guest.programs {
            let mut rows = Vec::new();
            for (scheduler, runs) in under {
                let real = &mean(runs);
                let model = machine(guest, program, scheduler)?;
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
                    "| {} | {program} | {scheduler} | {} | {} | {} | {:+.0} % | {:.0} | {:.0} | {:+.0} % | {:.0}, {:.0} |",
                    guest.disk,
                    real.runs,
                    seconds(real),
                    seconds(&model),
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
