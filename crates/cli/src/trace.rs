//! `idlewise trace`: what a trace holds, and converting it. Also how other commands read traces.

use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use idlewise_core::selectors::Bounds;
use idlewise_core::tunables::Tunables as _;
use idlewise_core::{Issuer, registry};
use idlewise_sim::replay::{Rows, RowsError};
use idlewise_sim::traces::{Exit, Format, Options, Record, Report, Skip, Trace, TraceInfo, Writer};
use idlewise_sim::workloads::parse_duration;

use crate::args::{Reading, TraceCommand};
use crate::failure::Failure;
use crate::names::did_you_mean;
use crate::output::{self, Target};
use crate::setup;

/// The format called `name`.
fn format(name: &str) -> Result<Format, Failure> {
    Format::by_name(name).ok_or_else(|| {
        let hint = did_you_mean(name, Format::ALL.iter().map(|format| format.name()));
        Failure::usage(format!("there is no trace format '{name}'{hint} (there are: {})", Format::names()))
    })
}

fn options(reading: &Reading) -> Result<Options, Failure> {
    Ok(Options {
        format: reading.format.as_deref().map(format).transpose()?,
        devices: if reading.devices.is_empty() { None } else { Some(reading.devices.clone()) },
        lenient: reading.lenient,
        ..Options::default()
    })
}

/// A trace that can be read several times, even if it came from standard input.
pub(crate) struct TraceFile {
    path: PathBuf,
    options: Options,
    /// Standard input, spooled; deleted with this value.
    spooled: Option<tempfile::NamedTempFile>,
    /// What the first complete reading found.
    report: Mutex<Option<Report>>,
}

impl TraceFile {
    /// Checks that the trace can be opened; spools standard input.
    pub(crate) fn open(path: &Path, reading: &Reading) -> Result<TraceFile, Failure> {
        let options = options(reading)?;
        let mut spooled = None;
        if path == Path::new("-") {
            let mut file = tempfile::NamedTempFile::new()?;
            std::io::copy(&mut std::io::stdin().lock(), &mut file)?;
            spooled = Some(file);
        }
        let file = TraceFile { path: path.to_owned(), options, spooled, report: Mutex::new(None) };
        file.trace().map_err(Failure::failed)?;
        Ok(file)
    }

    /// What messages call it.
    pub(crate) fn name(&self) -> String {
        if self.spooled.is_some() { "(standard input)".to_owned() } else { self.path.display().to_string() }
    }

    fn trace(&self) -> Result<Trace, idlewise_sim::traces::TraceError> {
        match &self.spooled {
            Some(file) => Trace::open(file.path(), &self.options),
            None => Trace::open(&self.path, &self.options),
        }
    }

    /// Its rows, from the beginning.
    pub(crate) fn rows(self: &Arc<Self>) -> Result<Box<dyn Rows>, RowsError> {
        Ok(Box::new(TraceRows { trace: self.trace()?, file: Arc::clone(self) }))
    }

    /// What reading it found; `None` if it was never read to its end.
    pub(crate) fn report(&self) -> Option<Report> {
        self.report.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// One reading of a trace.
struct TraceRows {
    trace: Trace,
    file: Arc<TraceFile>,
}

impl Rows for TraceRows {
    fn next(&mut self) -> Result<Option<Record>, RowsError> {
        let row = self.trace.next()?;
        if row.is_none() {
            let mut report = self.file.report.lock().unwrap_or_else(PoisonError::into_inner);
            report.get_or_insert_with(|| self.trace.report());
        }
        Ok(row)
    }

    fn exits(&self) -> &[Exit] {
        self.trace.exits()
    }

    fn process(&self, issuer: Issuer) -> Option<String> {
        self.trace.process(issuer).map(str::to_owned)
    }
}

/// Runs `idlewise trace …`.
pub(crate) fn trace(command: &TraceCommand) -> Result<(), Failure> {
    match command {
        TraceCommand::Info { file, reading, period, set, json } => {
            let bounds = bounds(set)?;
            let mut trace = Trace::open(file, &options(reading)?).map_err(Failure::failed)?;
            let length = parse_duration(period).filter(|time| time.0 > 0).ok_or_else(|| {
                Failure::usage(format!("--period {period}: write a time such as 1s or 500ms"))
            })?;
            let info = TraceInfo::by_periods(&mut trace, length, bounds).map_err(Failure::failed)?;
            if *json { output::print(&output::json(&info)?) } else { output::print(&info.to_string()) }
        }
        TraceCommand::Convert { file, output, reading, to } => {
            let mut trace = Trace::open(file, &options(reading)?).map_err(Failure::failed)?;
            convert(&mut trace, output, format(to)?)
        }
    }
}

/// The bounds between kinds of load, with each `--set TUNABLE=VALUE`.
fn bounds(set: &[String]) -> Result<Bounds, Failure> {
    let read = |text: &String| {
        let halves = text.split_once('=').ok_or_else(|| {
            Failure::usage(format!("--set {text}: write TUNABLE=VALUE, such as four_from=3"))
        })?;
        setup::setting(text, "trace info", Bounds::TABLE, halves)
    };
    let set: Vec<_> = set.iter().map(read).collect::<Result<_, _>>()?;
    registry::settings(&set).map_err(Failure::usage)
}

fn convert(trace: &mut Trace, target: &Path, format: Format) -> Result<(), Failure> {
    let mut target = Target::open(target)?;
    write(trace, BufWriter::with_capacity(1 << 18, &mut target), format)?;
    target.finish()
}

fn write(trace: &mut Trace, out: impl std::io::Write, format: Format) -> Result<(), Failure> {
    let mut writer = Writer::new(format, out).map_err(Failure::failed)?;
    writer.copy(trace).map_err(Failure::failed)?;
    let written = writer.finish().map_err(Failure::failed)?;
    let mut err = std::io::stderr().lock();
    writeln!(err, "{} requests written as {format}", written.records)?;
    for loss in &written.losses {
        writeln!(err, "not kept: {} ({} requests)", loss.what, loss.records)?;
    }
    warn(&trace.report())
}

/// Prints a report's warnings.
pub(crate) fn warn(report: &Report) -> Result<(), Failure> {
    let mut err = std::io::stderr().lock();
    if let Some(skipped) = report.skipped.iter().find(|skipped| skipped.reason == Skip::Malformed) {
        writeln!(
            err,
            "warning: {} of {} rows could not be read and were skipped",
            skipped.rows, report.rows
        )?;
    }
    for warning in &report.warnings {
        writeln!(err, "warning: {warning}")?;
    }
    Ok(())
}
