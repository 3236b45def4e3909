//! From the command line to an experiment.

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::sync::Arc;

use idlewise_core::{Duration, Instant, Merging};

use idlewise_sim::engine::Limits;
use idlewise_sim::engine::tell::Told;
use idlewise_sim::experiment::{Choice, Experiment, ExperimentError, Load};
use idlewise_sim::selection::files::{self, FileError};
use idlewise_sim::selection::{Selection, Switching};
use idlewise_sim::workloads::fio::JobFile;
use idlewise_sim::workloads::{self, Spec, SpecError};

use super::args::{LoadOptions, SelectionOptions};
use super::names::{self, did_you_mean};
use super::settings::settings;
use super::trace::TraceFile;
use super::unused;
use crate::failure::Failure;

/// Reads a matrix or ranking.
fn read<T>(path: &Path, parse: impl Fn(&str) -> Result<T, FileError>) -> Result<T, Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::failed(format!("{}: {error}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| failed(&error))?;
    parse(&text).map_err(|error| failed(&error))
}

/// What selectors are given.
fn selection(options: &SelectionOptions, logged: bool) -> Result<Selection, Failure> {
    let own = !options.candidates.is_empty();
    Ok(Selection {
        candidates: own.then(|| names::candidates(&options.candidates)).transpose()?,
        matrix: options.matrix.as_ref().map(|path| read(path, files::Matrix::parse)).transpose()?,
        ranking: options.ranking.as_ref().map(|path| read(path, files::Ranking::parse)).transpose()?,
        switching: Switching::named(&options.switching).unwrap_or_default(),
        model: options.model.as_ref().map(|name| names::disk(name)).transpose()?,
        logged,
    })
}

fn limits(options: &LoadOptions) -> Result<Limits, Failure> {
    let until = match &options.duration {
        None => Instant::MAX,
        Some(text) => {
            let time = workloads::parse_duration(text).filter(|time| time.0 > 0);
            let time: Duration = time.ok_or_else(|| {
                Failure::usage(format!("--duration {text}: write a time such as 30s or 500ms"))
            })?;
            Instant::ZERO + time
        }
    };
    Ok(Limits { until, requests: options.max_requests.unwrap_or(u64::MAX) })
}

fn workload_spec(text: &str) -> Result<Spec, Failure> {
    let spec = Spec::parse(text).map_err(Failure::usage)?;
    if workloads::find(&spec.name).is_none() {
        let hint = did_you_mean(&spec.name, workloads::all().iter().map(|kind| kind.name));
        return Err(Failure::usage(format!(
            "there is no workload '{}'{hint} (`idlewise list workloads` names them all)",
            spec.name
        )));
    }
    Ok(spec)
}

/// What was asked for, ready to run.
pub(crate) struct Prepared {
    pub(crate) experiment: Experiment,
    /// The load in words.
    pub(crate) load: String,
    /// The trace, if there is one: it may be a spooled copy that must outlive the runs.
    pub(crate) trace: Option<Arc<TraceFile>>,
}

/// The load of the disk: as it is, in words, and the trace if it is one.
fn load(options: &LoadOptions) -> Result<(Load, String, Option<Arc<TraceFile>>), Failure> {
    let reading = &options.reading;
    let of_traces = [
        ("--open-loop", options.open_loop),
        ("--speed", (options.speed - 1.0).abs() > 0.0),
        ("--format", reading.format.is_some()),
        ("--device", !reading.devices.is_empty()),
        ("--lenient", reading.lenient),
    ];
    if let (None, Some((option, _))) = (&options.trace, of_traces.iter().find(|(_, given)| *given)) {
        return Err(Failure::usage(format!("{option} is for traces: give it with --trace FILE")));
    }
    if let Some(text) = &options.workload {
        return Ok((Load::Workload(workload_spec(text)?), format!("workload {text}"), None));
    }
    if let Some(path) = &options.fio {
        return Ok((Load::Fio(job_file(path)?), format!("fio job {}", path.display()), None));
    }
    let Some(path) = &options.trace else {
        return Err(Failure::usage(
            "what shall the disk do? Give --trace FILE, --workload NAME or --fio JOB",
        ));
    };
    let file = Arc::new(TraceFile::open(path, &options.reading)?);
    let words = format!("trace {}", file.name());
    let again = Arc::clone(&file);
    let open = Box::new(move || again.rows());
    Ok((Load::Trace { open, open_loop: options.open_loop, speed: options.speed }, words, Some(file)))
}

/// Reads a job file and prints its warnings.
fn job_file(path: &Path) -> Result<JobFile, Failure> {
    let (name, bytes) = if path == Path::new("-") {
        let mut bytes = Vec::new();
        std::io::stdin().lock().read_to_end(&mut bytes)?;
        ("(standard input)".to_owned(), bytes)
    } else {
        let name = path.display().to_string();
        let bytes = std::fs::read(path).map_err(|error| Failure::failed(format!("{name}: {error}")))?;
        (name, bytes)
    };
    let text = String::from_utf8(bytes)
        .map_err(|_| Failure::failed(format!("{name}: this is not text; is it a fio job file?")))?;
    let jobs = JobFile::parse(&name, text.trim_start_matches('\u{feff}')).map_err(Failure::failed)?;
    let mut err = std::io::stderr().lock();
    for warning in &jobs.warnings {
        writeln!(err, "warning: {warning}")?;
    }
    Ok(jobs)
}

/// Builds the experiment that the options ask for.
pub(crate) fn experiment(
    options: &LoadOptions,
    mut schedulers: Vec<Choice>,
    runs: u32,
    logged: bool,
) -> Result<Prepared, Failure> {
    let weights = settings(&mut schedulers, &options.set)?;
    let selection = selection(&options.selection, logged)?;
    unused::check(&selection, &schedulers)?;
    let disk = names::disk(&options.disk)?;
    let (load, words, trace) = load(options)?;
    let experiment = Experiment {
        disk,
        load,
        schedulers,
        seeds: (0..u64::from(runs)).map(|run| options.seed.wrapping_add(run)).collect(),
        queue_size: options.queue_size as usize,
        hardware_queues: options.hardware_queues,
        merging: if options.no_merges { Merging::Off } else { Merging::All },
        weights,
        calibrated: !options.uncalibrated,
        limits: limits(options)?,
        selection,
        told: Told::default(),
    };
    Ok(Prepared { experiment, load: words, trace })
}

/// A failed experiment: wrong usage if the workload's text was wrong, or the model does not fit.
pub(crate) fn failure(error: ExperimentError) -> Failure {
    match error {
        ExperimentError::Workload(error @ (SpecError::UnknownOption { .. } | SpecError::BadValue { .. })) => {
            Failure::usage(error)
        }
        error @ ExperimentError::SmallModel { .. } => Failure::usage(format!("--model: {error}")),
        error => Failure::failed(error),
    }
}
