//! `idlewise sweep`: the product of traces, disks, schedulers and seeds, as a dataset.

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use clap::Args;
use idlewise_sim::engine::Control;

use crate::caller;
use crate::failure::Failure;
use crate::progress::interruptible;
use crate::report::output;
use crate::sweep::dataset;
use crate::sweep::estimate::estimate;
use crate::sweep::file::SweepFile;
use crate::sweep::local::{self, Done};
use crate::sweep::plan::{Asked, Plan};
use crate::sweep::portions::Workshop;
use crate::sweep::unit::Unit;

const NOTES: &str = "\
A file has lists; the sweep is their product:
  output = \"results\"                  # a folder: a Parquet dataset, trace=…/disk=…/ID.parquet
  traces = [\"a.csv.gz\", {file = \"b.csv\", name = \"b\", format = \"alibaba\", devices = [\"7\"]}]
  workloads = [\"random:n=4\"]          # and fio = [\"JOB\"]
  disks = [\"hdd-18tb-7200\", \"sata-ssd\"]
  schedulers = [\"linux\", \"deadline:read_expire=100ms\"]
  seeds = [1, 2]                      # without it: 1
  options = {open-loop = true, max-requests = 100000}   # those of `compare`
Paths count from the folder in which the program runs. A trace of several devices is split: each device has a disk of its own.
A sweep that was ended or killed goes on when it is run again: what is done is not done again. docs/sweep.md has more.";

/// How many failures are told in full.
const TOLD: usize = 5;

/// Run the product of traces or workloads, disks, schedulers and seeds into a Parquet dataset
#[derive(Args)]
#[command(after_help = NOTES)]
pub(crate) struct Sweep {
    /// What to run: a TOML file (JSON if its name ends in .json)
    file: PathBuf,

    /// Say what would be run and what it would cost, and run only samples
    #[arg(long)]
    dry_run: bool,

    /// Runs at a time; as many as there are cores unless given
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=4096))]
    jobs: Option<u32>,
}

impl Sweep {
    /// Runs what is not there yet.
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let file = SweepFile::read(&self.file)?;
        let control = interruptible()?;
        let plan = planned(&file, &control, !self.dry_run)?;
        let there = dataset::present(&file.output)?;
        let left: Vec<&Unit> = plan.units.iter().filter(|unit| !there.contains(&unit.id)).collect();
        let jobs = self.jobs.map_or_else(cores, |jobs| jobs as usize);
        let done = plan.units.len() - left.len();
        let head = format!("{}; {done} are there, {} to do", plan.words(), left.len());
        if self.dry_run && left.is_empty() {
            return output::print(&head);
        }
        if self.dry_run {
            let told = estimate(&left)?;
            return output::print(&format!("{head}\n{}", told.words(jobs)));
        }
        let mut err = caller::Messages;
        writeln!(err, "{head}")?;
        let others = there.len() - done;
        if others > 0 {
            writeln!(
                err,
                "note: {others} other results lie in {}: of other settings, traces or versions; the column unit tells them \
                 apart",
                file.output.display()
            )?;
        }
        let did = local::run(&left, &file.output, jobs, &control)?;
        close(&file, &did, plan.units.len(), done, control.stop.load(Ordering::Relaxed))
    }
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Reads the traces and makes the plan. With `cut`, traces of several devices are split.
fn planned(file: &SweepFile, control: &Arc<Control>, cut: bool) -> Result<Plan, Failure> {
    let asked = Asked::new(file)?;
    let work = file.work();
    let workshop = Workshop { folder: &work, control, told: true };
    let mut known = Vec::new();
    for source in file.sources()? {
        let portions = workshop.portions(&source, asked.whole, cut)?;
        for warning in &portions.warnings {
            writeln!(caller::Messages, "warning: {}: {warning}", source.label())?;
        }
        known.push((source, portions));
    }
    Plan::new(file, &asked, &known, &work)
}

/// Says what came of it.
fn close(file: &SweepFile, did: &Done, all: usize, before: usize, stopped: bool) -> Result<(), Failure> {
    let there = before as u64 + did.written;
    output::print(&format!(
        "{there} of {all} results are in {} ({} of them new)",
        file.output.display(),
        did.written
    ))?;
    if !did.failed.is_empty() {
        let told = did.failed.iter().take(TOLD).map(|(unit, error)| format!("\n  {unit}: {error}"));
        let more = did.failed.len().saturating_sub(TOLD);
        let more = if more > 0 { format!("\n  and {more} more") } else { String::new() };
        let told: String = told.collect();
        return Err(Failure::failed(format!("{} runs failed:{told}{more}", did.failed.len())));
    }
    if stopped {
        writeln!(caller::Messages, "interrupted: run the same again to go on")?;
        return Err(Failure::Interrupted);
    }
    Ok(())
}
