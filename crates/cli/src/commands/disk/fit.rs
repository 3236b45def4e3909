//! `idlewise disk fit` and `idlewise disk calibrate`: a profile from what a recording shows, or from reading a disk.

use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use clap::Args;
use idlewise_core::{Duration, Instant};
use idlewise_sim::fit::{self, Confidence, Fit, Known};
use idlewise_sim::traces::recording::Disk;
use idlewise_sim::traces::{Record, Trace};
use idlewise_sim::workloads::parse_duration;
use serde_json::json;

use crate::caller;
use crate::failure::Failure;
use crate::input::args::Reading;
use crate::input::device::{self, Device};
use crate::input::trace::{options, sha256, warnings};
use crate::report::numbers::three;
use crate::report::{json, origin, output};

/// The longest that a disk is read.
const LONGEST: Duration = Duration(300_000_000_000);

/// Rows that a fit takes: what is more shows little more, and would fill the memory.
const ROWS_MAX: usize = 2_000_000;

/// From the last row of a recording to the first read of a calibration: what a disk does then is long over.
const PAUSE_NS: u64 = 60_000_000_000;

/// Where a fitted profile goes, and how long a disk is read.
#[derive(Args)]
pub(crate) struct FitOptions {
    /// The profile file to write; `--disk FILE` takes it
    #[arg(short, long, value_name = "FILE.toml")]
    output: Option<PathBuf>,
    /// Replace the file if it is there
    #[arg(long)]
    force: bool,
    /// How long the disk is read at most, up to 300s
    #[arg(long = "for", default_value = "120s", value_name = "TIME")]
    time: String,
    /// Sectors of the disk; what a device says, or else the last sector of the recording
    #[arg(long, value_name = "SECTORS")]
    capacity: Option<u64>,
    /// What came of it as JSON
    #[arg(long)]
    json: bool,
}

/// `disk fit`: `file` is a recording; `active` a disk to read for what is missing in it.
pub(super) fn fit_trace(
    file: &Path,
    active: Option<&Path>,
    reading: &Reading,
    options: &FitOptions,
) -> Result<(), Failure> {
    if device::is_device(file) {
        let name = file.display();
        return Err(Failure::usage(format!(
            "{name} is a disk and no recording: record it first (`idlewise record {name}`) and fit what was recorded, or \
             let it be read: `idlewise disk calibrate {name}`"
        )));
    }
    options.check()?;
    let (mut records, known) = read(file, reading)?;
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    let mut known = Known { name: format!("Fitted to {name}"), ..known };
    if let Some(path) = active {
        let (of, read) = measure(path, options)?;
        known = Known { name: of.name.clone(), ..of };
        let last =
            records.iter().map(|record| record.completed.unwrap_or(record.arrival).0).max().unwrap_or(0);
        records.extend(read.into_iter().map(|record| later(record, last + PAUSE_NS)));
    }
    let hash = sha256(&Trace::files(file)).ok().flatten();
    finish(&records, known, hash.as_deref(), options)
}

/// `disk calibrate`: reads a disk.
pub(super) fn calibrate(path: &Path, options: &FitOptions) -> Result<(), Failure> {
    options.check()?;
    let (known, records) = measure(path, options)?;
    finish(&records, known, None, options)
}

impl FitOptions {
    /// Finds out before the work whether its result can be kept.
    fn check(&self) -> Result<(), Failure> {
        self.time()?;
        match &self.output {
            Some(path) if !self.force && path.exists() && !output::is_stdout(path) => Err(Failure::failed(
                format!("{}: the file is there already: name another, or say --force", path.display()),
            )),
            Some(path) => output::Target::open(path).map(drop),
            None => Ok(()),
        }
    }

    fn time(&self) -> Result<Duration, Failure> {
        parse_duration(&self.time).filter(|time| time.0 > 0 && *time <= LONGEST).ok_or_else(|| {
            Failure::usage(format!("--for {}: write a time up to 300s, such as 90s", self.time))
        })
    }
}

/// All rows of a recording of one disk, and what its head says of the disk.
fn read(file: &Path, reading: &Reading) -> Result<(Vec<Record>, Known), Failure> {
    let mut trace = Trace::open(file, &options(reading)?).map_err(Failure::failed)?;
    let mut records = Vec::new();
    while let Some(record) = trace.next().map_err(Failure::failed)? {
        if records.len() == ROWS_MAX {
            writeln!(caller::Messages, "note: the first {ROWS_MAX} requests are used")?;
            break;
        }
        records.push(record);
    }
    caller::say(&warnings(&trace.report()))?;
    if trace.devices().len() > 1 {
        let devices = trace.devices();
        let some: Vec<&str> = devices.iter().take(8).map(String::as_str).collect();
        return Err(Failure::usage(format!(
            "{} has {} devices and a model is of one: choose it with --device ({}{})",
            file.display(),
            devices.len(),
            some.join(", "),
            if devices.len() > some.len() { ", …" } else { "" }
        )));
    }
    let named = |disk: &&Disk| trace.devices().contains(&disk.name);
    Ok((records, trace.disks().iter().find(named).map(Known::of).unwrap_or_default()))
}

fn later(record: Record, by: u64) -> Record {
    let moved = |time: Instant| Instant(time.0 + by);
    Record {
        arrival: moved(record.arrival),
        dispatched: record.dispatched.map(moved),
        completed: record.completed.map(moved),
        ..record
    }
}

/// Reads a disk; gives what the kernel says of it, and what a recording would have.
fn measure(path: &Path, options: &FitOptions) -> Result<(Known, Vec<Record>), Failure> {
    let about = device::about(path)?;
    if let Some(note) = &about.note {
        writeln!(caller::Messages, "note: {note}")?;
    }
    let mut disk = Device::open(&about)?;
    let budget = options.time()?;
    let terminal = std::io::stderr().is_terminal();
    let mut said = String::new();
    let mut progress = |what: &str, share: f64| {
        let mut err = std::io::stderr().lock();
        // Progress that cannot be shown is no reason to stop.
        let _ = if terminal {
            write!(
                err,
                "\r\x1b[K{what}: at most {:.0} s left",
                (1.0 - share).max(0.0) * budget.0 as f64 / 1e9
            )
        } else if said != what {
            writeln!(err, "reading: {what}")
        } else {
            Ok(())
        };
        what.clone_into(&mut said);
    };
    let records = fit::calibrate(&mut disk, budget.0, &mut progress);
    if terminal {
        write!(std::io::stderr(), "\r\x1b[K")?;
    }
    let records = records.map_err(|error| output::named(&about.path, &error))?;
    Ok((about.known, records))
}

/// Fits and tells. `hash`: the recording's.
fn finish(records: &[Record], known: Known, hash: Option<&str>, options: &FitOptions) -> Result<(), Failure> {
    let known = Known { capacity: options.capacity.or(known.capacity), ..known };
    let fitted = fit::fit(records, &known).map_err(Failure::failed)?;
    if let Some(path) = &options.output {
        output::write(path, &fitted.text)?;
    }
    if options.output.as_ref().is_some_and(output::is_stdout) {
        return Ok(());
    }
    if options.json {
        let report = serde_json::to_value(&fitted.report).map_err(Failure::failed)?;
        let whole = json!({
            "schema": "idlewise/disk-fit/1",
            "command": origin::command(),
            "trace_sha256": hash,
            "disk": known.name,
            "profile": fitted.text,
            "report": report,
        });
        return output::print(&json::text(&whole)?);
    }
    let page = page(&fitted, &known, options.output.as_deref());
    output::print(&format!("{page}\n{}", origin::with_hash(hash)))
}

/// What came of a fit, for people.
fn page(fitted: &Fit, known: &Known, path: Option<&Path>) -> String {
    let report = &fitted.report;
    let mut text = format!("{}: {}, since {}\n\n", known.name, report.kind, report.kind_why);
    let width = report.parts.iter().map(|part| part.name.len()).max().unwrap_or(0);
    for part in &report.parts {
        text += &format!(
            "{:width$}  {:7}  {}\n{:width$}           {}\n",
            part.name, part.confidence, part.value, "", part.why
        );
    }
    let unknown: Vec<&str> = report
        .parts
        .iter()
        .filter(|part| part.confidence == Confidence::Unknown)
        .map(|part| part.name)
        .collect();
    if !unknown.is_empty() {
        text += &format!("\nNot shown, and taken from {}: {}\n", report.class, unknown.join(", "));
    }
    let error = |what: &str, of: &fit::Against| {
        format!(
            "{what}: demerit {} % of the mean of {:.3} ms ({} requests)\n",
            three(of.demerit_share * 100.0),
            of.measured_mean_ns as f64 / 1e6,
            of.rows
        )
    };
    text += "\n";
    text += &error("on the rows it was fitted to", &report.fitted);
    text += &error("fitted to every second tenth, on the others", &report.held_out);
    if let Some(alone) = report.held_out_alone.filter(|alone| alone.rows < report.held_out.rows) {
        text += &error("the same, of requests that came to an idle disk", &alone);
    }
    if report.is_far() {
        text += "\nThe model is far from this disk: rest nothing on it. The device may be made of several, or share its time with \
                 others; record a load with fewer requests at once, or let it be read (`idlewise disk calibrate`).\n";
    }
    text += &match path {
        Some(path) => format!("\nWritten to {0}; try: idlewise disk show {0}", path.display()),
        None => "\nNothing was written: name a file with -o my.toml".to_owned(),
    };
    text
}
