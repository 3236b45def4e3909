//! `idlewise disk`: look at a model, check it against a real drive, or make one.

mod fit;

use std::fs::File;
use std::io::{BufReader, ErrorKind};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use idlewise_core::{Duration, SECTOR_BYTES};
use idlewise_disk::describe::{Description, Kind, ZoneRow};
use idlewise_disk::{DiskModel as _, draw, validate};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::input::args::Reading;
use crate::input::names;
use crate::input::trace::sha256;
use crate::report::numbers::three;
use crate::report::{json, origin, output};

/// Columns of a drawing.
const PAGE_WIDTH: usize = 100;

/// Points of a curve: as many as the kernel's file takes.
const CURVE_POINTS: usize = 192;

/// A line of a drive's measured trace.
const MEASURED: &str = "R|W Hit|Miss start blocks service-µs think-µs";

/// Look at a disk model, check it against a real drive, or make one from a recording
#[derive(Args)]
pub(crate) struct Disk {
    #[command(subcommand)]
    command: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Print a disk's figures and draw its seek curve and zones
    Show {
        /// A name from `idlewise list disks`, or a profile file
        name: String,
        /// As JSON
        #[arg(long)]
        json: bool,
        /// Only the time to reach a place by its distance, in sectors, as a disk's file `curve` in the kernel takes it
        #[arg(long, conflicts_with = "json")]
        curve: bool,
    },
    /// Replay a real drive's measured trace and print how far the model is off
    Validate {
        /// A name from `idlewise list disks`, or a profile file
        name: String,
        /// The measured trace
        #[arg(help = format!("Lines of: {MEASURED}"))]
        trace: PathBuf,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Make a disk model from a recording with service times, without touching the disk
    Fit {
        /// The recording: a trace file, `-` for standard input, or the prefix of blktrace's per-CPU files
        trace: PathBuf,
        #[command(flatten)]
        reading: Reading,
        /// Read this disk too, for what the recording does not show; nothing is written to it
        #[arg(long, value_name = "DEVICE")]
        active: Option<PathBuf>,
        #[command(flatten)]
        options: fit::FitOptions,
    },
    /// Make a disk model by reading a disk for some minutes; nothing is written to it
    Calibrate {
        /// The disk, such as /dev/sda
        device: PathBuf,
        #[command(flatten)]
        options: fit::FitOptions,
    },
}

impl Disk {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        match &self.command {
            Action::Show { name, curve: true, .. } => show_curve(name),
            Action::Show { name, json, .. } => show(name, *json),
            Action::Validate { name, trace, json } => validate_model(name, trace, *json),
            Action::Fit { trace, reading, active, options } => {
                fit::fit_trace(trace, active.as_deref(), reading, options)
            }
            Action::Calibrate { device, options } => fit::calibrate(device, options),
        }
    }
}

fn show(name: &str, as_json: bool) -> Result<(), Failure> {
    let profile = names::disk(name)?;
    let description = Description::of(&profile).map_err(Failure::failed)?;
    if as_json {
        return output::print(&json::text(&document(&description))?);
    }
    output::print(&draw::page(&description, PAGE_WIDTH))
}

/// A line for each distance: sectors, and whole microseconds.
fn show_curve(name: &str) -> Result<(), Failure> {
    let disk = names::disk(name)?.build().map_err(Failure::failed)?;
    let points = disk.positioning_curve(CURVE_POINTS);
    if points.is_empty() {
        return Err(Failure::failed(format!(
            "{name}: nothing moves in it, so no place takes longer than another"
        )));
    }
    let line = |(distance, time): &(u64, Duration)| format!("{distance} {}us\n", time.as_us());
    output::print(&points.iter().map(line).collect::<String>())
}

/// A disk's figures for programs, in base units.
fn document(disk: &Description) -> Value {
    let kind = match &disk.kind {
        Kind::Mechanical(disk) => {
            let zone = |zone: &ZoneRow| {
                json!({
                    "first_sector": zone.first.0,
                    "last_sector": zone.last.0,
                    "first_cylinder": zone.first_cylinder,
                    "last_cylinder": zone.last_cylinder,
                    "sectors_per_track": zone.sectors_per_track,
                    "bytes_per_s": zone.bytes_per_s,
                })
            };
            json!({
                "model": "mechanical",
                "revolution_ns": disk.revolution.0,
                "heads": disk.heads,
                "cylinders": disk.cylinders,
                "seek_mean_ns": disk.mean_seek.0,
                "buffer_bytes": disk.buffer_bytes,
                "sequential_bytes_per_s": disk.sequential_bytes_per_s,
                "zones": disk.zones.iter().map(zone).collect::<Vec<_>>(),
                "seek_ns_by_cylinders": disk.seek.iter().map(|(far, time)| json!([far, time.0])).collect::<Vec<_>>(),
            })
        }
        Kind::Other(model, facts) => {
            let facts = facts.iter().map(|(name, value)| ((*name).to_owned(), json!(value)));
            Value::Object(std::iter::once(("model".to_owned(), json!(model))).chain(facts).collect())
        }
    };
    json!({
        "schema": "idlewise/disk-show/1",
        "name": disk.name,
        "description": disk.description,
        "source": disk.source,
        "capacity_bytes": disk.capacity.0 * SECTOR_BYTES,
        "depth": disk.depth,
        "kind": kind,
    })
}

fn validate_model(name: &str, trace: &Path, as_json: bool) -> Result<(), Failure> {
    let profile = names::disk(name)?;
    let file = File::open(trace).map_err(|error| output::named(trace, &error))?;
    let named = |error: validate::TraceError| {
        let place = match error {
            validate::TraceError::Line { line, .. } => format!("{}:{line}", trace.display()),
            _ => trace.display().to_string(),
        };
        let what = match error {
            validate::TraceError::Line { message, .. } => message,
            validate::TraceError::Read(error) if error.kind() == ErrorKind::InvalidData => {
                "no text".to_owned()
            }
            error => return output::named(trace, &error),
        };
        Failure::failed(format!(
            "{place}: {what}; wanted are lines of: {MEASURED}. Of a recording in another format, idlewise disk fit {} makes a \
             model, and says how far the model is from the disk",
            trace.display()
        ))
    };
    let measured = validate::read_trace(BufReader::new(file)).map_err(named)?;
    let demerit = validate::validate(&profile, &measured).map_err(named)?;
    let hash = sha256(&[trace.to_owned()]).ok().flatten();
    if as_json {
        return output::print(&json::text(&json!({
            "schema": "idlewise/disk-validate/1",
            "command": origin::command(),
            "trace_sha256": hash,
            "disk": profile.name,
            "requests": demerit.requests,
            "demerit_ns": demerit.demerit_ns,
            "demerit_share": demerit.demerit_share,
            "measured_mean_ns": demerit.measured_mean_ns,
            "model_mean_ns": demerit.model_mean_ns,
        }))?);
    }
    let ms = |ns: f64| format!("{:.3} ms", ns / 1e6);
    output::print(&format!(
        "{} against {} measured requests\nmean response: measured {}, model {}\n\
         demerit figure: {} ({} % of the measured mean)\n\n{}",
        profile.name,
        demerit.requests,
        ms(demerit.measured_mean_ns as f64),
        ms(demerit.model_mean_ns as f64),
        ms(demerit.demerit_ns as f64),
        three(demerit.demerit_share * 100.0),
        origin::with_hash(hash.as_deref()),
    ))
}
