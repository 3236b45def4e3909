//! Makes docs/advice.md, a table of advised, best, predicted and measured, from what `scripts/kernel/advice.sh` left
//! behind.
//!
//! Arguments: the program `idlewise`, the folder of results, and disks. Of each disk there is `DISK/results`, a line
//! `LOAD SCHEDULER MS …` for each run, and its recording `LOAD-SCHEDULER.rec.gz`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, ExitCode};

use idlewise_core::registry::TAKEN_PREFIX;
use idlewise_core::{Operation, registry};
use idlewise_sim::experiment::own_name;
use idlewise_sim::traces::{Options, Trace};
use serde_json::Value;

const HEAD: &str = "\
# Is advice right?

Ten loads of real programs ran in a guest with Debian's kernel, each on ext4, with cold caches, on disks that are models
(`idlewise-disk`), in virtual time. Each ran under the schedulers named below, and again under those that were the fastest and
the one that is advised: of many that are alike, chance makes one the fastest of a single run, which is not counted then.
`idlewise advise` got one recording of each load, of the first run under `mq-deadline`, and nothing else: it fitted the model of
the disk to the recording, or took the known disk that is nearest. `make kernel-advice` makes this page.

A scheduler is as good as the load's run time, the mean of the runs. *Off the best* compares the advised scheduler with the best
of those that ran most often, as far as that is not chance: half of the runs say which one is the best, and the other half how far
it is ahead; then the halves change places, and the mean of both counts. Without that the luckiest of several that are
alike would be ahead of each of them. A gain is the run time under `mq-deadline` divided by that under the advised scheduler: as `advise`
predicts it (1 if it keeps `mq-deadline`, or sees no difference), and as measured. Reads: the mean latency of reads, of writes where
hardly anybody reads. The longest wait is the longest of any request.

| disk | load | advised | best | gain predicted | gain measured | off the best | reads, ms: mq-deadline, advised, best | longest wait, ms: mq-deadline, advised, best |
|---|---|---|---|---|---|---|---|---|";

type Failure = Box<dyn std::error::Error>;

/// The scheduler whose recording is what advice is given on.
const RECORDED: &str = "mq-deadline";
/// The same scheduler again, under the value that its setting has by default: the difference is not the scheduler's.
const AGAIN: &str = "mq-deadline:fifo_batch=16";
/// As in verdicts, fewer reads than this are metadata beside a load that writes.
const READS: usize = 20;
/// Advice is right within the first share of the best, and is never to be further off than the second. Of a single run of each,
/// chance decides more than the first.
const RIGHT: f64 = 1.05;
const FAR: f64 = 1.15;

/// The runs of a load under a scheduler.
struct Runs {
    elapsed_ms: Vec<f64>,
    /// Of the first.
    mean_ms: f64,
    longest_ms: f64,
}

impl Runs {
    /// Those that count: not the first of several, which chose who ran again, so that it was a lucky one.
    fn counted(&self) -> &[f64] {
        if self.elapsed_ms.len() > 1 { &self.elapsed_ms[1..] } else { &self.elapsed_ms }
    }

    /// The mean run time.
    fn mean(&self) -> f64 {
        mean(self.counted().iter())
    }

    /// The mean of every second run, from the one at `first` on; of all, if there are not two.
    fn half(&self, first: usize) -> f64 {
        let counted = self.counted();
        if counted.len() < 2 { self.mean() } else { mean(counted.iter().skip(first).step_by(2)) }
    }
}

fn mean<'a>(values: impl ExactSizeIterator<Item = &'a f64>) -> f64 {
    let count = values.len().max(1) as f64;
    values.sum::<f64>() / count
}

/// How many times longer `own` takes than the best of `all`.
fn off(own: &Runs, all: &[&Runs]) -> f64 {
    let by = |choose: usize| {
        let best = all.iter().min_by(|a, b| a.half(choose).total_cmp(&b.half(choose)));
        best.map_or(1.0, |best| own.half(1 - choose) / best.half(1 - choose))
    };
    (by(0) * by(1)).sqrt()
}

fn latencies(path: &Path) -> Result<(Vec<f64>, f64), Failure> {
    let mut trace = Trace::open(path, &Options::default())?;
    let (mut reads, mut writes) = (Vec::new(), Vec::new());
    while let Some(record) = trace.next()? {
        let Some(response) = record.response() else { continue };
        match record.operation {
            Operation::Read => reads.push(response.0 as f64 / 1e6),
            Operation::Write => writes.push(response.0 as f64 / 1e6),
            _ => {}
        }
    }
    let longest = reads.iter().chain(&writes).copied().fold(0.0, f64::max);
    let told = if reads.len() < READS && !writes.is_empty() { writes } else { reads };
    Ok((told, longest))
}

fn first_run(folder: &Path, load: &str, scheduler: &str) -> Result<Runs, Failure> {
    let file = format!("{load}-{}.rec.gz", scheduler.replace([':', '='], "_"));
    let (latencies, longest_ms) = latencies(&folder.join(file))?;
    let mean_ms = latencies.iter().sum::<f64>() / latencies.len().max(1) as f64;
    Ok(Runs { elapsed_ms: Vec::new(), mean_ms, longest_ms })
}

/// The runs of a disk, by load and scheduler.
fn runs(folder: &Path) -> Result<BTreeMap<String, BTreeMap<String, Runs>>, Failure> {
    let mut all: BTreeMap<String, BTreeMap<String, Runs>> = BTreeMap::new();
    for line in std::fs::read_to_string(folder.join("results"))?.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [load, scheduler, elapsed, ..] = words[..] else {
            return Err(format!("no result: {line}").into());
        };
        let runs = all.entry(load.to_owned()).or_default();
        if !runs.contains_key(scheduler) {
            runs.insert(scheduler.to_owned(), first_run(folder, load, scheduler)?);
        }
        if let Some(run) = runs.get_mut(scheduler) {
            run.elapsed_ms.push(elapsed.parse()?);
        }
    }
    Ok(all)
}

/// What `advise` says of a recording: the scheduler to have, and how many times longer the recorded one takes.
fn advice(program: &str, recording: &Path, ran: &str) -> Result<(String, f64), Failure> {
    let output =
        Command::new(program).args(["advise", "--json", "--schedulers", ran]).arg(recording).output()?;
    if !output.status.success() {
        return Err(format!("{}: {}", recording.display(), String::from_utf8_lossy(&output.stderr)).into());
    }
    let told: Value = serde_json::from_slice(&output.stdout)?;
    let disk = &told["disks"][0];
    let name = disk["scheduler"].as_str().ok_or("no scheduler is advised")?;
    let figures = disk["figures"].as_array().ok_or("no figures")?;
    let time =
        figures.iter().find(|figure| figure["figure"].as_str().is_some_and(|name| name.contains("time")));
    Ok((name.to_owned(), time.and_then(|figure| figure["times_better"].as_f64()).unwrap_or(1.0)))
}

/// What the guest ran as idlewise names it: `NAME:tunable=value;tunable=value`. The modules put `iw-` before a name that
/// the kernel has too.
fn in_idlewise(name: &str) -> String {
    let (scheduler, settings) = name.split_once(':').unwrap_or((name, ""));
    let scheduler = own_name(scheduler);
    // The kernel's names are short.
    let known = || registry::all().iter().map(|entry| entry.name);
    let whole =
        known().find(|name| *name == scheduler).or_else(|| known().find(|name| name.starts_with(scheduler)));
    let scheduler = whole.unwrap_or(scheduler);
    if settings.is_empty() {
        scheduler.to_owned()
    } else {
        format!("{scheduler}:{}", settings.replace(':', ";"))
    }
}

/// The same for a reader: `iw-` stays, as it tells ours from the kernel's.
fn shown(name: &str) -> String {
    let own = if name.starts_with(TAKEN_PREFIX) { TAKEN_PREFIX } else { "" };
    format!("{own}{}", in_idlewise(name))
}

/// The name under which the guest ran what is advised. Its settings are numbers.
fn in_the_guest(advised: &str, runs: &BTreeMap<String, Runs>) -> Option<String> {
    let plain = advised.replace("=off", "=0").replace("=on", "=1");
    // The kernel's own comes before ours of that name.
    let mut names: Vec<&String> = runs.keys().filter(|name| in_idlewise(name) == plain).collect();
    names.sort_by_key(|name| name.starts_with(TAKEN_PREFIX));
    names.first().map(|name| (*name).clone())
}

/// How many times larger the larger one is.
fn apart(a: f64, b: f64) -> f64 {
    (a / b).max(b / a)
}

fn main() -> Result<ExitCode, Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [program, place, disks @ ..] = &arguments[..] else { return Err("PROGRAM FOLDER DISK…".into()) };
    let (mut right, mut all, mut farthest) = (0, 0, 1.0f64);
    let (mut differ, mut several) = (1.0f64, true);
    let mut under = BTreeSet::new();
    println!("{HEAD}");
    for disk in disks {
        let folder = Path::new(place).join(disk);
        for (load, mut runs) in runs(&folder)? {
            let again = runs.remove(AGAIN).ok_or_else(|| format!("{load}: no run under {AGAIN}"))?;
            let ran: BTreeSet<String> = runs.keys().map(|name| in_idlewise(name)).collect();
            let ran: Vec<String> = ran.into_iter().collect();
            under.extend(runs.keys().map(|name| shown(name)));
            let recording = folder.join(format!("{load}-{RECORDED}.rec.gz"));
            let (advised, predicted) = advice(program, &recording, &ran.join(","))?;
            let most = runs.values().map(|run| run.elapsed_ms.len()).max();
            let finalists = || runs.iter().filter(|(_, run)| Some(run.elapsed_ms.len()) == most);
            let (best, least) =
                finalists().min_by(|a, b| a.1.mean().total_cmp(&b.1.mean())).ok_or("no runs")?;
            let name =
                in_the_guest(&advised, &runs).ok_or_else(|| format!("{advised} did not run in the guest"))?;
            let (own, before) = (&runs[&name], &runs[RECORDED]);
            differ = differ.max(apart(again.mean(), before.mean()));
            let off = off(own, &finalists().map(|(_, run)| run).collect::<Vec<_>>());
            println!(
                "| {disk} | {load} | {} | {} | {predicted:.2} | {:.2} | {:+.1} % | {:.1}, {:.1}, {:.1} | {:.0}, {:.0}, {:.0} |",
                shown(&name),
                shown(best),
                before.mean() / own.mean(),
                100.0 * (off - 1.0),
                before.mean_ms,
                own.mean_ms,
                least.mean_ms,
                before.longest_ms,
                own.longest_ms,
                least.longest_ms
            );
            all += 1;
            several &= most > Some(1);
            right += usize::from(off <= RIGHT);
            farthest = farthest.max(off);
        }
    }
    println!("\nSchedulers: {}.", under.into_iter().collect::<Vec<_>>().join(", "));
    println!(
        "\n{RECORDED} and {AGAIN} are the same; their run times differ by up to {:.1} %.",
        100.0 * (differ - 1.0)
    );
    println!("\nWithin 5 % of the best: {right} of {all}; at most {:.1} % off.", 100.0 * (farthest - 1.0));
    let near = !several || right * 10 >= all * 9;
    Ok(if near && farthest <= FAR { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
