//! From the command line to an experiment.

use std::collections::HashSet;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::sync::Arc;

use idlewise_core::registry::{self, Assignment};
use idlewise_core::selectors::contract::CANDIDATES_MAX;
use idlewise_core::selectors::{self, Candidate};
use idlewise_core::tunables::Tunable;
use idlewise_core::{Duration, Instant, Issuer, Merging, Weight};
use idlewise_disk::{DiskModel, Profile, profile};
use idlewise_sim::engine::Limits;
use idlewise_sim::experiment::{Choice, Chosen, Experiment, Load};
use idlewise_sim::selection::files::{self, FileError};
use idlewise_sim::selection::{Selection, Switching};
use idlewise_sim::workloads::fio::JobFile;
use idlewise_sim::workloads::{self, Spec, SpecError};

use crate::args::{LoadOptions, SelectionOptions};
use crate::failure::Failure;
use crate::names::did_you_mean;
use crate::trace::TraceFile;
use crate::unused;

/// A disk by name or profile file, with options: `NAME|FILE[:key=value,…]`.
pub(crate) fn disk(text: &str) -> Result<Profile, Failure> {
    let (name, options) = match text.rsplit_once(':') {
        Some((name, options)) if options.contains('=') => (name, options),
        _ => (text, ""),
    };
    let disk = if profile::names().any(|known| known == name) {
        Profile::named(name).map_err(Failure::failed)?
    } else if name.ends_with(".toml") || name.contains('/') {
        Profile::load(Path::new(name)).map_err(Failure::failed)?
    } else {
        let hint = did_you_mean(name, profile::names());
        return Err(Failure::usage(format!(
            "there is no disk '{name}'{hint} (`idlewise list disks` names them all; a profile file ends in .toml)"
        )));
    };
    disk.with(options).map_err(Failure::usage)
}

/// A scheduler or selector by name.
pub(crate) fn scheduler(name: &str) -> Result<Chosen, Failure> {
    Chosen::find(name).ok_or_else(|| unknown(name, Chosen::all().map(Chosen::name)))
}

fn unknown<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Failure {
    let hint = did_you_mean(name, known);
    Failure::usage(format!("there is no scheduler '{name}'{hint} (`idlewise list` names them all)"))
}

/// A scheduler or selector with settings, as it takes part.
fn tuned(text: &str) -> Result<Choice, Failure> {
    let find = |name: &str| Chosen::find(name).map(|entry| (entry, entry.tunables()));
    let (entry, settings) = files::tuned(text, find).map_err(|error| match error {
        FileError::Unknown(name) => unknown(&name, Chosen::all().map(Chosen::name)),
        error => Failure::usage(format!("--schedulers: {error}")),
    })?;
    let label = files::text(entry.name(), entry.tunables(), &settings);
    let settings = settings.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    Ok(Choice { label, entry, settings })
}

/// Candidates of a selector by their texts, each once.
pub(crate) fn candidates(texts: &[String]) -> Result<Vec<Candidate>, Failure> {
    let parse = |text: &String| {
        files::candidate(text).map_err(|error| match error {
            FileError::Unknown(name) => unknown(&name, registry::all().iter().map(|entry| entry.name)),
            error => Failure::usage(format!("--candidates: {error}")),
        })
    };
    let candidates = texts.iter().filter(|text| !text.trim().is_empty()).map(parse);
    let mut candidates: Vec<Candidate> = candidates.collect::<Result<_, _>>()?;
    let mut named = HashSet::new();
    candidates.retain(|candidate| named.insert(files::label(candidate)));
    if candidates.is_empty() || candidates.len() > CANDIDATES_MAX {
        return Err(Failure::usage(format!("--candidates: name 1 to {CANDIDATES_MAX} schedulers")));
    }
    Ok(candidates)
}

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
        candidates: own.then(|| candidates(&options.candidates)).transpose()?,
        matrix: options.matrix.as_ref().map(|path| read(path, files::Matrix::parse)).transpose()?,
        ranking: options.ranking.as_ref().map(|path| read(path, files::Ranking::parse)).transpose()?,
        switching: Switching::named(&options.switching).unwrap_or_default(),
        model: options.model.as_ref().map(|name| disk(name)).transpose()?,
        logged,
    })
}

/// Schedulers by name, some with settings; `all` stands for every scheduler, `auto` for every selector.
pub(crate) fn schedulers(names: &[String]) -> Result<Vec<Choice>, Failure> {
    let mut chosen: Vec<Choice> = Vec::new();
    for name in names.iter().map(|name| name.trim()).filter(|name| !name.is_empty()) {
        let plain = |entry: Chosen| Choice { label: entry.name().to_owned(), entry, settings: Vec::new() };
        let choices: Vec<Choice> = match name {
            "all" => registry::all().iter().map(Chosen::Scheduler).map(plain).collect(),
            "auto" => selectors::registry::all().iter().map(Chosen::Selector).map(plain).collect(),
            name if name.contains(':') => vec![tuned(name)?],
            name => vec![plain(scheduler(name)?)],
        };
        for choice in choices {
            if !chosen.iter().any(|known| known.label == choice.label) {
                chosen.push(choice);
            }
        }
    }
    if chosen.is_empty() {
        return Err(Failure::usage(
            "no scheduler is named: try --schedulers deadline,c-look or --schedulers all",
        ));
    }
    Ok(chosen)
}

/// What `--set` says before the point for the weight of a process.
const WEIGHT: &str = "weight";

/// What `--set TEXT` sets of `name`, which has these tunables.
pub(crate) fn setting(
    text: &str,
    name: &str,
    tunables: &'static [Tunable],
    (tunable, value): (&str, &str),
) -> Result<Assignment<'static>, Failure> {
    let found = tunables.iter().find(|known| known.name == tunable).ok_or_else(|| {
        let hint = did_you_mean(tunable, tunables.iter().map(|known| known.name));
        let known: Vec<_> = tunables.iter().map(|known| known.name).collect();
        let has = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        Failure::usage(format!("{name} has no tunable '{tunable}'{hint} (it has: {has})"))
    })?;
    let value = found.parse(value).map_err(|error| Failure::usage(format!("--set {text}: {error}")))?;
    Ok((found.name, value))
}

/// Applies `--set SCHEDULER.TUNABLE=VALUE`, and returns the weights of `--set weight.PROCESS=N`.
fn settings(chosen: &mut [Choice], set: &[String]) -> Result<Vec<(Issuer, Weight)>, Failure> {
    let mut weights: Vec<(Issuer, Weight)> = Vec::new();
    for text in set {
        if let Some(rest) = text.strip_prefix(WEIGHT).and_then(|rest| rest.strip_prefix('.')) {
            weights.push(weight(rest).map_err(|error| Failure::usage(format!("--set {text}: {error}")))?);
            continue;
        }
        let wrong = || {
            Failure::usage(format!(
                "--set {text}: write SCHEDULER.TUNABLE=VALUE, such as deadline.read_expire=100ms"
            ))
        };
        let (left, value) = text.split_once('=').ok_or_else(wrong)?;
        let (name, tunable) = left.rsplit_once('.').ok_or_else(wrong)?;
        let (tunable, value) = setting(text, name, setting_of(name)?.tunables(), (tunable, value))?;
        let choice = chosen.iter_mut().find(|choice| choice.label == name).ok_or_else(|| {
            Failure::usage(format!("--set {text}: {name} does not take part; add it to --schedulers"))
        })?;
        choice.settings.push((tunable.to_owned(), value));
    }
    Ok(weights)
}

/// The scheduler before the point of `--set`.
fn setting_of(name: &str) -> Result<Chosen, Failure> {
    let unknown = Chosen::find(name).is_none();
    let names = || Chosen::all().map(Chosen::name);
    if unknown && did_you_mean(name, names()).is_empty() {
        let hint = did_you_mean(name, [WEIGHT]);
        if !hint.is_empty() {
            return Err(Failure::usage(format!(
                "there is no scheduler '{name}'{hint} (write weight.PROCESS=N, such as weight.3=300)"
            )));
        }
    }
    scheduler(name)
}

/// Reads `PROCESS=N`.
fn weight(text: &str) -> Result<(Issuer, Weight), String> {
    let (process, number) =
        text.split_once('=').ok_or("write weight.PROCESS=N, such as weight.3=300".to_owned())?;
    let process = process.parse().map_err(|_| {
        format!("'{process}' is not a process's number; `idlewise run` shows the numbers before the names")
    })?;
    let weight = number.parse().ok().and_then(Weight::new).ok_or_else(|| {
        let (least, greatest) = (Weight::LEAST.get(), Weight::GREATEST.get());
        format!("a weight is a whole number from {least} to {greatest} (100 is what processes have)")
    })?;
    Ok((Issuer(process), weight))
}

/// An error unless the disk has positioning times that a scheduler could be told.
fn calibratable(disk: &Profile) -> Result<(), Failure> {
    if disk.build().map_err(Failure::failed)?.positioning_curve(1).is_empty() {
        let text = format!("--calibrated: {} has no heads to position: leave --calibrated out", disk.name);
        return Err(Failure::usage(text));
    }
    Ok(())
}

fn limits(options: &LoadOptions) -> Result<Limits, Failure> {
    let until = match &options.duration {
        None => Instant::MAX,
        Some(text) => {
            let time: Duration = workloads::parse_duration(text).ok_or_else(|| {
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

/// What the disk shall do: as it is, in words, and the trace if it is one.
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
    let jobs = JobFile::parse(&name, &text).map_err(Failure::failed)?;
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
    let disk = disk(&options.disk)?;
    if options.calibrated {
        calibratable(&disk)?;
    }
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
        calibrated: options.calibrated,
        limits: limits(options)?,
        selection,
    };
    Ok(Prepared { experiment, load: words, trace })
}

/// A failed experiment: wrong usage if the workload's text was wrong, or the model does not fit.
pub(crate) fn failure(error: idlewise_sim::experiment::ExperimentError) -> Failure {
    use idlewise_sim::experiment::ExperimentError;
    match error {
        ExperimentError::Workload(error @ (SpecError::UnknownOption { .. } | SpecError::BadValue { .. })) => {
            Failure::usage(error)
        }
        error @ ExperimentError::SmallModel { .. } => Failure::usage(format!("--model: {error}")),
        error => Failure::failed(error),
    }
}
