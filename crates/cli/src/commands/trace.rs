//! `idlewise trace`: what a trace holds, and converting it.

mod recorded;

use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use idlewise_core::registry;
use idlewise_core::selectors::Bounds;
use idlewise_core::tunables::Tunables as _;
use idlewise_sim::traces::{self, Compression, Compressor, Format, TraceInfo, WriteError, Writer};
use idlewise_sim::workloads::parse_duration;

use crate::caller;
use crate::failure::Failure;
use crate::input::args::Reading;
use crate::input::settings;
use crate::input::trace::{format, options, sha256, warnings};
use crate::report::output::{self, Target};
use crate::report::{json, numbers};

/// Columns of the labels of `trace info`.
const LABELS: usize = 15;

/// Look into a trace, or convert it
#[derive(Args)]
pub(crate) struct Trace {
    #[command(subcommand)]
    command: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Say what a trace holds and what it lacks
    Info {
        /// The trace: a file, `-` for standard input, or the prefix of blktrace's per-CPU files
        file: PathBuf,
        #[command(flatten)]
        reading: Reading,
        /// Periods by which the kind of load is reported
        #[arg(long, default_value = "1s", value_name = "TIME")]
        period: String,
        /// Set a bound between kinds of load, as selectors have them (`idlewise docs auto-matrix`); may be repeated
        #[arg(long = "set", value_name = "TUNABLE=VALUE")]
        set: Vec<String>,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Write a trace in another format
    Convert {
        /// The trace: a file, `-` for standard input, or the prefix of blktrace's per-CPU files
        file: PathBuf,
        /// The file to write, compressed if its name ends in .gz, .bz2, .xz or .zst; `-` for standard output
        output: PathBuf,
        #[command(flatten)]
        reading: Reading,
        /// The format to write
        #[arg(long, default_value = "idlewise", value_name = "NAME")]
        to: String,
        /// Replace a file that exists
        #[arg(long)]
        force: bool,
    },
}

impl Trace {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        match &self.command {
            Action::Info { file, reading, period, set, json } => {
                let bounds = bounds(set)?;
                let mut trace = traces::Trace::open(file, &options(reading)?).map_err(Failure::failed)?;
                let length = parse_duration(period).filter(|time| time.0 > 0).ok_or_else(|| {
                    Failure::usage(format!("--period {period}: write a time such as 1s or 500ms"))
                })?;
                let info = TraceInfo::by_periods(&mut trace, length, bounds).map_err(Failure::failed)?;
                let hash = sha256(&traces::Trace::files(file)).ok().flatten();
                if *json {
                    let mut document = serde_json::to_value(&info).map_err(Failure::failed)?;
                    document["sha256"] = hash.into();
                    document["recording"] = serde_json::to_value(trace.head()).map_err(Failure::failed)?;
                    return output::print(&json::text(&document)?);
                }
                let lost = info.report.lost_events;
                let recorded = trace.head().map_or(String::new(), |head| recorded::lines(head, lost));
                let hash = hash.map_or_else(String::new, |hash| format!("sha256         {hash}\n"));
                output::print(&match numbers::terminal() {
                    // What goes on stands below what it goes on from, right of the labels.
                    Some(columns) => {
                        numbers::folded(&format!("{info:columns$}{recorded}{hash}"), LABELS, columns)
                    }
                    None => format!("{info}{recorded}{hash}"),
                })
            }
            Action::Convert { file, output, reading, to, force } => {
                let (reading, format) = (options(reading)?, format(to)?);
                let compression = Compression::of(output).map_err(Failure::usage)?;
                keep(&traces::Trace::files(file), output, *force)?;
                let mut trace = traces::Trace::open(file, &reading).map_err(Failure::failed)?;
                let mut target = Target::open(output)?;
                let out = BufWriter::with_capacity(1 << 18, &mut target);
                if let Err(error) = write(&mut trace, (compression, out), format) {
                    return Err(match error {
                        WriteError::Io(error) => target.failure(&error),
                        error => Failure::failed(error),
                    });
                }
                if *force {
                    target.finish()?;
                } else {
                    target.finish_new()?;
                }
                Ok(caller::say(&warnings(&trace.report()))?)
            }
        }
    }
}

/// The bounds between kinds of load, with each `--set TUNABLE=VALUE`.
fn bounds(set: &[String]) -> Result<Bounds, Failure> {
    let read = |text: &String| {
        let halves = text.split_once('=').ok_or_else(|| {
            Failure::usage(format!("--set {text}: write TUNABLE=VALUE, such as four_from=3"))
        })?;
        settings::setting(text, "trace info", Bounds::TABLE, halves)
    };
    let set: Vec<_> = set.iter().map(read).collect::<Result<_, _>>()?;
    registry::settings(&set).map_err(Failure::usage)
}

/// An error if writing `output` would overwrite something: one of the files that are read, or another without `force`.
fn keep(read: &[PathBuf], output: &Path, force: bool) -> Result<(), Failure> {
    let name = output.display();
    if read.iter().any(|file| output::same_file(file, output)) {
        return Err(Failure::failed(format!("{name}: this is the trace itself: name another file")));
    }
    if !force && output.is_file() {
        return Err(Failure::failed(format!(
            "{name}: the file exists: name another, or say --force to replace it"
        )));
    }
    Ok(())
}

fn write(
    trace: &mut traces::Trace,
    (compression, out): (Option<Compression>, impl io::Write),
    format: Format,
) -> Result<(), WriteError> {
    let mut out = Compressor::new(compression, out)?;
    let mut writer = Writer::new(format, &mut out)?;
    writer.copy(trace)?;
    let written = writer.finish()?;
    out.finish()?;
    let mut err = caller::Messages;
    writeln!(err, "{} requests written as {format}", written.records)?;
    for loss in &written.losses {
        writeln!(err, "not kept: {} ({} requests)", loss.what, loss.records)?;
    }
    Ok(())
}
