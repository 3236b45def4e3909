//! Running an experiment: progress, Ctrl-C, reasons, and what the user should know afterwards.

use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use idlewise_core::{Instant, SECTOR_BYTES};
use idlewise_sim::engine::Control;
use idlewise_sim::experiment::{Choice, ExperimentError, Load, Outcome};
use idlewise_sim::selection::log::Line;
use idlewise_sim::traces::{Shown, Survey};

use crate::caller;
use crate::failure::Failure;
use crate::input::setup::{self, Prepared};
use crate::input::trace::warn;
use crate::progress::{Progress, interruptible};
use crate::report::output::{Target, is_stdout};

/// What the runs gave.
pub(crate) struct Done {
    /// One for each run that was finished; at least one.
    pub(crate) outcomes: Vec<Outcome>,
    /// The runs were cut short.
    pub(crate) interrupted: bool,
}

impl Done {
    fn new(outcomes: Vec<Outcome>, control: &Control) -> Result<Done, Failure> {
        if outcomes.is_empty() {
            return Err(Failure::failed("interrupted before the first run was done"));
        }
        Ok(Done { outcomes, interrupted: control.stop.load(Ordering::Relaxed) })
    }
}

/// The status of a command that has printed what it had.
pub(crate) fn finish(done: &Done) -> Result<(), Failure> {
    if done.interrupted { Err(Failure::Interrupted) } else { Ok(()) }
}

/// Runs the experiment, with progress and Ctrl-C.
pub(crate) fn execute(prepared: &Prepared) -> Result<Done, Failure> {
    let control = interruptible()?;
    let outcomes = {
        let _progress = Progress::follow(Arc::clone(&control), runs(prepared));
        prepared.experiment.run(&control)
    };
    Done::new(outcomes.map_err(setup::failure)?, &control)
}

/// Runs the first scheduler and writes each decision with its reason.
pub(crate) fn explain(prepared: &Prepared, path: &Path) -> Result<Done, Failure> {
    let control = interruptible()?;
    let mut target = Target::open(path)?;
    let outcome = {
        // Reasons that scroll by on a terminal are progress enough.
        let _progress = (!is_stdout(path)).then(|| Progress::follow(Arc::clone(&control), 1));
        let mut out = BufWriter::new(&mut target);
        prepared.experiment.run_one(0, prepared.experiment.seeds[0], &control, Some(&mut out))
    };
    match outcome {
        Ok(outcome) => {
            let told = |line: &&Line| prepared.experiment.told.tells(Instant(line.at_ns), None);
            for line in outcome.log.iter().flat_map(|log| log.lines()).filter(told) {
                let text = serde_json::to_string(line).map_err(Failure::failed)?;
                writeln!(target, "{text}").map_err(|error| target.failure(&error))?;
            }
            target.finish()?;
            Done::new(vec![outcome], &control)
        }
        Err(ExperimentError::Why(error)) => Err(target.failure(&error)),
        Err(error) => Err(setup::failure(error)),
    }
}

/// Runs in all.
fn runs(prepared: &Prepared) -> u64 {
    (prepared.experiment.schedulers.len() * prepared.experiment.seeds.len()) as u64
}

/// Says of which schedulers each run gave the same result.
fn repeated(prepared: &Prepared, done: &Done, err: &mut impl std::io::Write) -> Result<(), Failure> {
    let experiment = &prepared.experiment;
    let same = |index: &usize| {
        let own: Vec<_> = done.outcomes.iter().filter(|run| run.scheduler == *index).collect();
        own.len() > 1 && own.iter().all(|run| run.report == own[0].report)
    };
    let same: Vec<usize> = (0..experiment.schedulers.len()).filter(same).collect();
    if same.is_empty() {
        return Ok(());
    }
    let of = if same.len() == experiment.schedulers.len() {
        String::new()
    } else {
        let labels: Vec<&str> =
            same.iter().map(|index| experiment.schedulers[*index].label.as_str()).collect();
        format!(" of {}", labels.join(", "))
    };
    writeln!(
        err,
        "note: the {} runs{of} gave the same result, because nothing in them depends on chance: --runs 1 tells as much",
        experiment.seeds.len()
    )?;
    Ok(())
}

/// What the user should know of the load and of how the runs ended.
pub(crate) fn remarks(prepared: &Prepared, done: &Done) -> Result<(), Failure> {
    let mut err = caller::Messages;
    if done.interrupted {
        writeln!(err, "interrupted: the results so far follow; the last runs were cut short")?;
    }
    let account = done.outcomes.first().and_then(|outcome| outcome.account);
    let disk = &prepared.experiment.disk;
    if let Some(reason) = &prepared.disk_reason {
        writeln!(
            err,
            "note: the disk is {} ({}): {reason}; --disk names another",
            disk.name, disk.description
        )?;
    }
    let is_drawn = |choice: &Choice| choice.entry.tunables().iter().any(|tunable| tunable.name == "seed");
    let experiment = &prepared.experiment;
    let (is_trace, runs) = (matches!(experiment.load, Load::Trace { .. }), experiment.seeds.len());
    if is_trace && runs > 1 && !experiment.schedulers.iter().all(is_drawn) {
        writeln!(
            err,
            "note: a trace is the same in each of the {runs} runs; only schedulers that draw lots (a tunable named seed) \
             differ between them"
        )?;
    }
    if let Some(account) = account.filter(|account| account.folded > 0) {
        let end = prepared.trace.as_ref().map_or(0, |trace| trace.survey().end());
        let gigabytes = (end * SECTOR_BYTES).div_ceil(1_000_000_000);
        writeln!(
            err,
            "warning: {} of {} requests lie beyond the end of {} and were folded back onto it, which changes their \
             distances; make it larger with --disk {}:capacity={gigabytes}g",
            account.folded, account.rows, disk.name, disk.name
        )?;
    }
    if let Some(account) = account.filter(|account| account.devices > 1) {
        writeln!(
            err,
            "note: the trace has {} devices, and all were replayed on one disk; leave --one-disk out, or choose one with \
             --device (`idlewise trace info` names them)",
            account.devices
        )?;
    }
    if let Load::Trace { devices, .. } = &prepared.experiment.load
        && !devices.is_empty()
    {
        let survey = prepared.trace.as_ref().map(|trace| trace.survey());
        let all = survey.map_or_else(Vec::new, Survey::devices);
        let rows = |devices: &[(u32, Shown)]| devices.iter().map(|(_, shown)| shown.rows).sum::<u64>();
        let percent = 100.0 * rows(&all[..devices.len()]) as f64 / rows(&all).max(1) as f64;
        if all.len() == devices.len() {
            writeln!(
                err,
                "note: the trace has {} devices; each was replayed on a disk of its own",
                all.len()
            )?;
        } else {
            writeln!(
                err,
                "warning: the trace has {} devices; the {} busiest, with {percent:.0} % of its requests, were replayed, each \
                 on a disk of its own; --device chooses others, --one-disk puts all on one",
                all.len(),
                devices.len()
            )?;
        }
    }
    repeated(prepared, done, &mut err)?;
    match prepared.trace.as_ref().and_then(|trace| trace.report()) {
        Some(report) => warn(&report),
        None => Ok(()),
    }
}
