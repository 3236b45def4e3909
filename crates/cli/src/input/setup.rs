//! From the command line to an experiment.

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::sync::Arc;

use idlewise_core::{Duration, Instant, Merging};
use idlewise_disk::Profile;

use idlewise_sim::engine::Limits;
use idlewise_sim::experiment::{Choice, Experiment, ExperimentError, Load, OpenRows};
use idlewise_sim::replay::Mode;
use idlewise_sim::selection::files::{self, FileError};
use idlewise_sim::selection::{Selection, Switching};
use idlewise_sim::traces::Record;
use idlewise_sim::workloads::fio::JobFile;
use idlewise_sim::workloads::{self, Spec, SpecError};

use super::args::{LoadOptions, Reading, SelectionOptions};
use super::names::{self, did_you_mean};
use super::recorded::{COMPARED_ROWS, FIT_ROWS, Model, Off, Shown};
use super::settings::settings;
use super::trace::TraceFile;
use super::unused;
use crate::caller;
use crate::failure::Failure;

/// The disk of workloads, unless another is named.
const USUAL_DISK: &str = "hdd-18tb-7200";

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

/// The workload of a text, if there is one of that name.
pub(crate) fn workload_spec(text: &str) -> Result<Spec, Failure> {
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
    /// What the trace does not tell.
    pub(crate) missing: Option<&'static str>,
    /// Which disk it is and why, if nobody named it.
    pub(crate) disk_reason: Option<String>,
    /// How far the disk's model is from the one that the trace is of, if it stands for that.
    pub(crate) off: Option<Off>,
}

/// The load of the disk: as it is, in words, and the trace if it is one.
fn load(options: &LoadOptions) -> Result<(Load, String, Option<Arc<TraceFile>>), Failure> {
    let reading = &options.reading;
    let of_traces = [
        ("--open-loop", options.open_loop),
        ("--one-process", options.one_process),
        ("--one-disk", options.one_disk),
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
    let devices = if options.one_disk { Vec::new() } else { file.split()? };
    let words = format!("trace {}", file.name());
    let load = Load::Trace { open: opener(&file), mode: mode(options), speed: options.speed, devices };
    Ok((load, words, Some(file)))
}

/// When the requests of a trace are issued.
fn mode(options: &LoadOptions) -> Mode {
    match (options.open_loop, options.one_process) {
        (true, _) => Mode::Open,
        (false, true) => Mode::OneProcess,
        (false, false) => Mode::Closed,
    }
}

fn opener(file: &Arc<TraceFile>) -> OpenRows {
    let file = Arc::clone(file);
    Box::new(move |device| file.rows(device))
}

/// The replay of one device's trace on `disk`, whose model is that far off, all else as a command line has it by default.
pub(crate) fn replay(
    path: &Path,
    reading: &Reading,
    (disk, off): (Profile, Off),
    schedulers: Vec<Choice>,
) -> Result<Prepared, Failure> {
    let file = Arc::new(TraceFile::open(path, reading)?);
    let load = Load::Trace { open: opener(&file), mode: Mode::Closed, speed: 1.0, devices: Vec::new() };
    let experiment = Experiment { schedulers, ..Experiment::new(disk, load) };
    let (load, missing) = (format!("trace {}", file.name()), file.survey().missing());
    Ok(Prepared { experiment, load, trace: Some(file), missing, disk_reason: None, off: Some(off) })
}

/// Reads a job file and prints its warnings.
pub(crate) fn job_file(path: &Path) -> Result<JobFile, Failure> {
    let jobs = silent_job_file(path)?;
    let mut err = caller::Messages;
    for warning in &jobs.warnings {
        writeln!(err, "warning: {warning}")?;
    }
    Ok(jobs)
}

fn silent_job_file(path: &Path) -> Result<JobFile, Failure> {
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
    JobFile::parse(&name, text.trim_start_matches('\u{feff}')).map_err(Failure::failed)
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
    let (load, words, trace) = load(options)?;
    let (disk, disk_reason, off) = match (&options.disk, &trace) {
        (Some(name), _) => (names::disk(name)?, None, None),
        (None, Some(trace)) => {
            let records = records(options, trace, FIT_ROWS)?;
            let Model { profile, words, off, .. } = Shown::of(trace, &records).model()?;
            (profile, Some(words), Some(off))
        }
        (None, None) => (names::disk(USUAL_DISK)?, None, None),
    };
    let seeds = seeds(options.seed, runs)?;
    let experiment = Experiment { schedulers, seeds, weights, selection, ..bare(options, disk, load)? };
    let missing = trace.as_ref().and_then(|trace| trace.survey().missing());
    Ok(Prepared { experiment, load: words, trace, missing, disk_reason, off })
}

/// The first rows of the disk that a trace is of; none of several that go to one.
fn records(options: &LoadOptions, trace: &TraceFile, limit: usize) -> Result<Vec<Record>, Failure> {
    let several = options.one_disk && trace.survey().devices().len() > 1;
    if several { Ok(Vec::new()) } else { trace.records(limit) }
}

/// Notes how far the disk that somebody named is from the one that the trace is of, if the trace shows that: near to it, the
/// model stands for it. Returns a remark.
pub(crate) fn named(options: &LoadOptions, prepared: &mut Prepared) -> Result<Option<String>, Failure> {
    let (Some(_), Some(trace)) = (&options.disk, &prepared.trace) else { return Ok(None) };
    let records = records(options, trace, COMPARED_ROWS)?;
    let Model { profile, off, .. } = Shown::of(trace, &records).named(prepared.experiment.disk.clone());
    Ok(match off {
        Off::Unknown => None,
        Off::Near(share) => {
            prepared.off = Some(off);
            let percent = 100.0 * share;
            Some(format!("note: {} is {percent:.0} % off the recorded response times", profile.name))
        }
        Off::Far(share) => Some(format!(
            "note: {} is {:.0} % off the recorded response times: what follows is what such a disk would do, not the recorded \
             one",
            profile.name,
            100.0 * share
        )),
    })
}

/// As many seeds as there are runs.
fn seeds(first: u64, runs: u32) -> Result<Vec<u64>, Failure> {
    let seeds: Option<_> = (0..u64::from(runs)).map(|run| first.checked_add(run)).collect();
    seeds.ok_or_else(|| {
        let greatest = u64::MAX;
        Failure::usage(format!("--seed: {runs} runs from {first} on go beyond the greatest seed, {greatest}"))
    })
}

/// The load on the disk, under nobody yet, with the options that no scheduler decides.
fn bare(options: &LoadOptions, disk: Profile, load: Load) -> Result<Experiment, Failure> {
    Ok(Experiment {
        queue_size: options.queue_size as usize,
        hardware_queues: options.hardware_queues,
        merging: if options.no_merges { Merging::Off } else { Merging::All },
        calibrated: !options.uncalibrated,
        limits: limits(options)?,
        ..Experiment::new(disk, load)
    })
}

/// One scheduler with the options' seed, on `trace` if the load is one. All its devices go to one disk. What the options
/// have for other schedulers is no error.
pub(crate) fn one(
    options: &LoadOptions,
    scheduler: Choice,
    disk: Profile,
    trace: Option<&Arc<TraceFile>>,
) -> Result<Experiment, Failure> {
    let load = match (trace, &options.fio) {
        (Some(file), _) => {
            Load::Trace { open: opener(file), mode: mode(options), speed: options.speed, devices: Vec::new() }
        }
        // Warned of when the runs were planned.
        (None, Some(path)) => Load::Fio(silent_job_file(path)?),
        (None, None) => load(options)?.0,
    };
    let weights = settings(&mut [], &options.set)?;
    let selection = selection(&options.selection, false)?;
    let (schedulers, seeds) = (vec![scheduler], vec![options.seed]);
    Ok(Experiment { schedulers, seeds, weights, selection, ..bare(options, disk, load)? })
}

/// An error if something of the options would do nothing, or cannot be read, with these schedulers.
pub(crate) fn check(options: &LoadOptions, mut schedulers: Vec<Choice>) -> Result<(), Failure> {
    settings(&mut schedulers, &options.set)?;
    limits(options)?;
    unused::check(&selection(&options.selection, false)?, &schedulers)
}

/// A failed experiment: wrong usage if the workload's text was wrong, or the model does not fit.
pub(crate) fn failure(error: ExperimentError) -> Failure {
    match error {
        ExperimentError::Workload(error @ SpecError::UnknownOption { .. }) => Failure::usage(error),
        ExperimentError::Workload(error @ SpecError::BadValue { .. }) => {
            Failure::usage(format!("--workload: {error}"))
        }
        error @ ExperimentError::ManySchedulers { .. } => Failure::usage(format!("--disk: {error}")),
        error @ ExperimentError::SmallModel { .. } => Failure::usage(format!("--model: {error}")),
        error => Failure::failed(error),
    }
}
