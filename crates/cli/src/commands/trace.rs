//! `idlewise trace`: what a trace holds, and converting it.

use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use flate2::Compression;
use flate2::write::GzEncoder;
use idlewise_core::registry;
use idlewise_core::selectors::Bounds;
use idlewise_core::tunables::Tunables as _;
use idlewise_sim::traces::{self, Format, TraceInfo, Writer};
use idlewise_sim::workloads::parse_duration;

use crate::failure::Failure;
use crate::input::args::Reading;
use crate::input::settings;
use crate::input::trace::{format, options, warn};
use crate::report::json;
use crate::report::output::{self, Target};

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
        /// Periods by which the kind of load is told
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
        /// The file to write, compressed if its name ends in .gz, or `-` for standard output
        output: PathBuf,
        /// Write over a file that exists
        #[arg(long)]
        force: bool,
        #[command(flatten)]
        reading: Reading,
        /// The format to write
        #[arg(long, default_value = "idlewise", value_name = "NAME")]
        to: String,
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
                if *json { output::print(&json::text(&info)?) } else { output::print(&info.to_string()) }
            }
            Action::Convert { file, output, force, reading, to } => {
                may_write(output, *force)?;
                let mut trace = traces::Trace::open(file, &options(reading)?).map_err(Failure::failed)?;
                convert(&mut trace, output, format(to)?)
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

/// An error if `output` exists and may not be lost, or if its name promises what cannot be written.
fn may_write(output: &Path, force: bool) -> Result<(), Failure> {
    let shown = output.display();
    if output.is_file() && !force {
        return Err(Failure::failed(format!(
            "{shown}: this file exists: name another, or write over it with --force"
        )));
    }
    match output.extension().and_then(|extension| extension.to_str()) {
        Some(other @ ("zst" | "xz" | "bz2")) => Err(Failure::usage(format!(
            "{shown}: only .gz is compressed here: name the file .gz, or write to `-` and pipe it through a program for \
             .{other}"
        ))),
        _ => Ok(()),
    }
}

fn convert(trace: &mut traces::Trace, path: &Path, format: Format) -> Result<(), Failure> {
    let mut target = Target::open(path)?;
    if path.extension().is_some_and(|extension| extension == "gz") {
        let mut packed = GzEncoder::new(&mut target, Compression::default());
        write(trace, BufWriter::with_capacity(1 << 18, &mut packed), format)?;
        packed.finish().map_err(Failure::failed)?;
    } else {
        write(trace, BufWriter::with_capacity(1 << 18, &mut target), format)?;
    }
    target.finish()
}

fn write(trace: &mut traces::Trace, out: impl std::io::Write, format: Format) -> Result<(), Failure> {
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
