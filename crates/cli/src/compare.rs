//! `idlewise run` and `idlewise compare`.

use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use idlewise_sim::engine::Control;
use idlewise_sim::experiment::{Choice, ExperimentError, Load, Outcome};
use serde_json::{Value, json};

use crate::args::{CompareOptions, RunOptions};
use crate::failure::Failure;
use crate::output::{self, Target};
use crate::phases;
use crate::progress::{Progress, interruptible};
use crate::setup::{self, Prepared};
use crate::summary::{Summary, summarise};
use crate::table::{csv, csv_of_processes, table};
use crate::trace::warn;
use crate::verdict::{Row, Runs, verdict};

/// Runs one scheduler and prints all that was measured.
pub(crate) fn run(options: &RunOptions) -> Result<(), Failure> {
    let entry = setup::scheduler(&options.scheduler)?;
    let choice = Choice { label: entry.name().to_owned(), entry, settings: Vec::new() };
    let prepared = setup::experiment(&options.load, vec![choice], 1, options.why.is_some())?;
    let (outcomes, control) = match &options.why {
        Some(path) => explain(&prepared, path)?,
        None => execute(&prepared)?,
    };
    let Some(outcome) = outcomes.first() else { return Err(nothing_done()) };
    remarks(&prepared, &outcomes, &control)?;
    let interrupted = control.stop.load(Ordering::Relaxed);
    if let Some(path) = &options.csv_processes {
        let summaries = summarise(&outcomes, 1)?;
        output::write(path, &csv_of_processes(&summaries))?;
    }
    match &options.json {
        Some(path) => {
            let mut document = header("idlewise/run/1", &prepared, interrupted);
            document["result"] = serde_json::to_value(&outcome.report).map_err(Failure::failed)?;
            output::write(path, &output::json(&document)?)?;
        }
        None if options.csv_processes.as_ref().is_some_and(is_stdout) => {}
        None => output::print(&crate::page::page(&outcome.report, &prepared))?,
    }
    end(interrupted)
}

/// Runs several schedulers and says which is best for what.
pub(crate) fn compare(options: &CompareOptions) -> Result<(), Failure> {
    let prepared =
        setup::experiment(&options.load, setup::schedulers(&options.schedulers)?, options.runs, false)?;
    let (outcomes, control) = execute(&prepared)?;
    let summaries = summarise(&outcomes, prepared.experiment.schedulers.len())?;
    if summaries.is_empty() {
        return Err(nothing_done());
    }
    remarks(&prepared, &outcomes, &control)?;
    let interrupted = control.stop.load(Ordering::Relaxed);
    let comparison = Comparison { prepared: &prepared, summaries: &summaries, interrupted };
    let printed = comparison.write(options)?;
    if !printed {
        output::print(&comparison.text())?;
    }
    end(interrupted)
}

/// The status of a command that has printed what it had.
fn end(interrupted: bool) -> Result<(), Failure> {
    if interrupted { Err(Failure::Interrupted) } else { Ok(()) }
}

/// A finished comparison, ready to be told.
pub(crate) struct Comparison<'a> {
    pub(crate) prepared: &'a Prepared,
    pub(crate) summaries: &'a [Summary],
    interrupted: bool,
}

impl Comparison<'_> {
    /// What was compared, in a line.
    pub(crate) fn title(&self) -> String {
        let experiment = &self.prepared.experiment;
        let runs = match experiment.seeds.len() {
            1 => String::new(),
            several => format!(", {several} runs each"),
        };
        format!("{} on {} ({}){runs}", self.prepared.load, experiment.disk.name, experiment.disk.description)
    }

    /// Which scheduler is best for what.
    pub(crate) fn verdict(&self) -> String {
        let rows: Vec<Row<'_>> =
            self.summaries.iter().map(|summary| (summary.name(), &summary.figures)).collect();
        let open_loop = matches!(self.prepared.experiment.load, Load::Trace { open_loop: true, .. });
        verdict(&rows, Runs { open_loop, interrupted: self.interrupted })
    }

    fn text(&self) -> String {
        let width = output::width();
        let verdict = output::wrap(&self.verdict(), width);
        let phases: String =
            phases::tables(self.summaries).iter().map(|table| table.text(width) + "\n").collect();
        let title = output::wrap(&self.title(), width);
        format!("{title}\n\n{}\n\n{phases}{verdict}", table(self.summaries, width))
    }

    fn json(&self) -> Result<String, Failure> {
        let mut document = header("idlewise/compare/1", self.prepared, self.interrupted);
        document["results"] = self.summaries.iter().map(|summary| summary.mean.clone()).collect();
        document["verdict"] = self.verdict().into();
        output::json(&document)
    }

    /// Writes the files that were asked for; true if one of them is standard output.
    fn write(&self, options: &CompareOptions) -> Result<bool, Failure> {
        if let Some(path) = &options.json {
            output::write(path, &self.json()?)?;
        }
        if let Some(path) = &options.csv {
            output::write(path, &csv(self.summaries))?;
        }
        if let Some(path) = &options.csv_processes {
            output::write(path, &csv_of_processes(self.summaries))?;
        }
        if let Some(path) = &options.html {
            output::write(path, &crate::html::page(self))?;
        }
        let asked = [&options.json, &options.csv, &options.csv_processes, &options.html];
        Ok(asked.into_iter().flatten().any(is_stdout))
    }
}

fn is_stdout(path: &PathBuf) -> bool {
    path == Path::new("-")
}

/// The message for a stop that leaves nothing to print.
fn nothing_done() -> Failure {
    Failure::failed("interrupted before the first run was done")
}

/// Runs the experiment, with progress and Ctrl-C.
fn execute(prepared: &Prepared) -> Result<(Vec<Outcome>, Arc<Control>), Failure> {
    let control = interruptible()?;
    let outcomes = {
        let _progress = Progress::follow(Arc::clone(&control), expected(prepared));
        prepared.experiment.run(&control)
    };
    Ok((outcomes.map_err(setup::failure)?, control))
}

/// Runs the first scheduler and writes each decision with its reason.
fn explain(prepared: &Prepared, path: &Path) -> Result<(Vec<Outcome>, Arc<Control>), Failure> {
    let control = interruptible()?;
    let mut target = Target::open(path)?;
    let outcome = {
        let mut out = BufWriter::new(&mut target);
        prepared.experiment.run_one(0, prepared.experiment.seeds[0], &control, Some(&mut out))
    };
    match outcome {
        Ok(outcome) => {
            for line in outcome.log.iter().flat_map(|log| log.lines()) {
                let text = serde_json::to_string(line).map_err(Failure::failed)?;
                writeln!(target, "{text}").map_err(|error| target.failure(&error))?;
            }
            target.finish()?;
            Ok((vec![outcome], control))
        }
        Err(ExperimentError::Why(error)) => Err(target.failure(&error)),
        Err(error) => Err(setup::failure(error)),
    }
}

/// Requests of all runs, if the limits tell.
fn expected(prepared: &Prepared) -> Option<u64> {
    let experiment = &prepared.experiment;
    let one = experiment.limits.requests;
    let runs = (experiment.schedulers.len() * experiment.seeds.len()) as u64;
    if one == u64::MAX { None } else { one.checked_mul(runs) }
}

/// What the user should know of the load and of how the runs ended.
fn remarks(prepared: &Prepared, outcomes: &[Outcome], control: &Control) -> Result<(), Failure> {
    let mut err = std::io::stderr().lock();
    if control.stop.load(Ordering::Relaxed) {
        writeln!(err, "interrupted: these are the results so far, the last runs cut short")?;
    }
    let account = outcomes.first().and_then(|outcome| outcome.account);
    if let Some(account) = account.filter(|account| account.folded > 0) {
        writeln!(
            err,
            "note: {} of {} requests lie beyond the end of {} and were folded back onto it; \
             a larger --disk keeps their distances",
            account.folded, account.rows, prepared.experiment.disk.name
        )?;
    }
    if let Some(account) = account.filter(|account| account.devices > 1) {
        writeln!(
            err,
            "note: the trace has {} devices, and all were replayed on one disk; choose one with --device \
             (`idlewise trace info` names them)",
            account.devices
        )?;
    }
    drop(err);
    match prepared.trace.as_ref().and_then(|trace| trace.report()) {
        Some(report) => warn(&report),
        None => Ok(()),
    }
}

/// What every JSON document begins with.
fn header(schema: &str, prepared: &Prepared, interrupted: bool) -> Value {
    let experiment = &prepared.experiment;
    let weights =
        experiment.weights.iter().map(|(who, weight)| (format!("weight.{who}"), json!(weight.get())));
    let settings = |choice: &Choice| {
        choice
            .settings
            .iter()
            .map(move |(name, value)| (format!("{}.{name}", choice.label), json!(value)))
            .collect::<Vec<_>>()
    };
    json!({
        "schema": schema,
        "version": env!("CARGO_PKG_VERSION"),
        "disk": experiment.disk.name,
        "load": prepared.load,
        "open_loop": matches!(experiment.load, Load::Trace { open_loop: true, .. }),
        "seeds": experiment.seeds,
        "interrupted": interrupted,
        "calibrated": experiment.calibrated,
        "settings": experiment.schedulers.iter().flat_map(settings).chain(weights).collect::<serde_json::Map<_, _>>(),
    })
}
