//! Opening traces: from the options to rows that can be read several times.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use idlewise_core::Issuer;
use idlewise_sim::replay::{Rows, RowsError};
use idlewise_sim::traces::{Exit, Format, Options, Record, Report, Skip, Trace};

use super::args::Reading;
use super::names::did_you_mean;
use crate::failure::Failure;

/// The format called `name`.
pub(crate) fn format(name: &str) -> Result<Format, Failure> {
    Format::by_name(name).ok_or_else(|| {
        let hint = did_you_mean(name, Format::ALL.iter().map(|format| format.name()));
        Failure::usage(format!("there is no trace format '{name}'{hint} (there are: {})", Format::names()))
    })
}

/// How to read the trace.
pub(crate) fn options(reading: &Reading) -> Result<Options, Failure> {
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

    /// The trace's rows, from the beginning.
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
