//! One run of a sweep, carried out as `compare` does it.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use idlewise_sim::engine::Control;
use idlewise_sim::experiment::Outcome;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::options;
use crate::failure::Failure;
use crate::input::args::Reading;
use crate::input::trace::{TraceFile, digest, sha256};
use crate::input::{names, setup};
use crate::report::output::named;

/// Letters of a hash that make an id.
const ID: usize = 32;

/// What the disk of a unit is asked to do.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Load {
    /// One device of a trace.
    Trace {
        /// The trace.
        source: PathBuf,
        /// A file of the device's rows alone, where the trace has several devices.
        own: Option<PathBuf>,
        /// The hash of the trace.
        sha256: String,
        /// The device; empty if all devices are one.
        device: String,
        /// How the trace is read.
        format: Option<String>,
        devices: Vec<String>,
        lenient: bool,
    },
    /// A named workload.
    Workload(String),
    /// A job file of fio.
    Fio(PathBuf),
}

/// One run: one device's trace or one workload, on one disk, under one scheduler, with one seed.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Unit {
    /// A hash of all that decides the result.
    pub(crate) id: String,
    /// What results call the trace or workload.
    pub(crate) trace: String,
    pub(crate) load: Load,
    /// The requests of the trace.
    pub(crate) rows: Option<u64>,
    /// The disk, as the sweep's file has it.
    pub(crate) disk: String,
    /// The scheduler with its settings.
    pub(crate) scheduler: String,
    pub(crate) seed: u64,
    /// Other options, as words of a command line.
    pub(crate) options: Vec<String>,
}

/// What decides a unit's result, each part in words that change if the result can.
pub(crate) struct Deciding;

impl Deciding {
    /// The load: of a device's own file the trace and the device tell all.
    pub(crate) fn load(load: &Load) -> Result<String, Failure> {
        let words = match load {
            Load::Trace { sha256, device, format, devices, lenient, .. } => json!({
                "trace": sha256, "device": device, "format": format, "devices": devices, "lenient": lenient
            }),
            Load::Workload(text) => json!({"workload": text}),
            Load::Fio(path) => {
                let hash = sha256(std::slice::from_ref(path)).map_err(|error| named(path, &error))?;
                json!({"fio": hash})
            }
        };
        Ok(words.to_string())
    }

    /// All else but the seed: idlewise's version, the disk as its profile has it, the scheduler, the options, and the content
    /// of the files that these name.
    pub(crate) fn run(disk: &str, scheduler: &str, words: &[String]) -> Result<String, Failure> {
        let selection = options::parse(words)?.selection;
        let files: Vec<PathBuf> = [selection.matrix, selection.ranking].into_iter().flatten().collect();
        let model = selection.model.as_deref().map(names::disk).transpose()?;
        Ok(json!({
            "idlewise": env!("CARGO_PKG_VERSION"),
            "disk": format!("{:?}", names::disk(disk)?),
            "scheduler": scheduler,
            "options": words,
            "files": sha256(&files)?,
            "model": model.map(|model| format!("{model:?}")),
        })
        .to_string())
    }

    /// The id of a unit with this load, run and seed.
    pub(crate) fn id(load: &str, run: &str, seed: u64) -> String {
        digest(json!([load, run, seed]).to_string().as_bytes())[..ID].to_owned()
    }
}

impl Unit {
    /// Carries the unit out; `None` if `control` ended it before its end.
    pub(crate) fn run(&self, control: &Control) -> Result<Option<Outcome>, Failure> {
        let outcome = self.run_some(control, u64::MAX)?;
        Ok(Some(outcome).filter(|_| !control.stop.load(Ordering::Relaxed)))
    }

    /// Carries the unit out, up to this number of requests or until `control` ends it.
    pub(crate) fn run_some(&self, control: &Control, requests: u64) -> Result<Outcome, Failure> {
        let mut given = options::parse(&self.options)?;
        given.seed = self.seed;
        if requests < given.max_requests.unwrap_or(u64::MAX) {
            given.max_requests = Some(requests);
        }
        let trace = match &self.load {
            Load::Trace { source, own, device, format, devices, lenient, .. } => {
                let mut reading =
                    Reading { format: format.clone(), devices: devices.clone(), lenient: *lenient };
                let split = own.as_deref().filter(|own| own.exists());
                if split.is_some() {
                    reading = Reading { format: None, devices: Vec::new(), lenient: false };
                } else if own.is_some() {
                    reading.devices = vec![device.clone()];
                }
                Some(Arc::new(TraceFile::unread(split.unwrap_or(source), &reading)?))
            }
            Load::Workload(text) => {
                given.workload = Some(text.clone());
                None
            }
            Load::Fio(path) => {
                given.fio = Some(path.clone());
                None
            }
        };
        let (scheduler, disk) = (names::tuned(&self.scheduler)?, names::disk(&self.disk)?);
        let experiment = setup::one(&given, scheduler, disk, trace.as_ref())?;
        experiment.run_one(0, self.seed, control, None).map_err(setup::failure)
    }

    /// The device of the trace, if each is by itself.
    pub(crate) fn device(&self) -> Option<&str> {
        match &self.load {
            Load::Trace { device, .. } if !device.is_empty() => Some(device),
            _ => None,
        }
    }

    /// The hash of the trace, if the load is one.
    pub(crate) fn sha256(&self) -> Option<&str> {
        match &self.load {
            Load::Trace { sha256, .. } => Some(sha256),
            _ => None,
        }
    }

    /// The unit in words, for messages.
    pub(crate) fn words(&self) -> String {
        let device = self.device().map_or_else(String::new, |device| format!(" (device {device})"));
        format!("{}{device} on {} under {}, seed {}", self.trace, self.disk, self.scheduler, self.seed)
    }
}
