//! Each device's trace by itself. A device's trace is never cut: what a disk does next hangs on all that it did before.
//!
//! What is known of a trace lies in the work folder, below a name made of the trace's hash and of how it is read:
//! `devices.json` says which devices it has, and `split/` holds a trace in idlewise's own format for each, where there are
//! several. Both appear whole or not at all, so that a sweep that was killed goes on, and a trace is split once.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::UNIX_EPOCH;

use idlewise_sim::engine::Control;
use idlewise_sim::traces::{Skip, Trace};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::file::Source;
use super::splitting::{self, look, split};
use super::temporary::{self, put};
use crate::caller;
use crate::failure::Failure;
use crate::input::trace::{digest, options, sha256};
use crate::progress::Progress;
use crate::report::output::named;

/// Letters of a hash that make a name.
const NAME: usize = 32;

/// One device's part of a trace.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Portion {
    /// The device.
    pub(crate) device: String,
    /// Its requests.
    pub(crate) rows: u64,
    /// The file below the work folder that has its rows alone; without one, the trace itself.
    pub(crate) file: Option<PathBuf>,
}

/// What is known of a trace.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Portions {
    /// The hash of the trace's files.
    pub(crate) sha256: String,
    /// What reading it found that the user should know.
    pub(crate) warnings: Vec<String>,
    /// The devices, in order of appearance; of some no row may be of use.
    pub(crate) devices: Vec<Portion>,
}

/// Where the work on traces is kept, and who follows it.
pub(crate) struct Workshop<'a> {
    pub(crate) folder: &'a Path,
    pub(crate) control: &'a Arc<Control>,
    /// Say on standard error how far it is.
    pub(crate) told: bool,
}

impl Workshop<'_> {
    /// What is known of a trace; read once, and then from the work folder. `whole`: all its devices are one. With `cut`, the
    /// trace is split if it has several devices and is not split yet.
    pub(crate) fn portions(&self, source: &Source, whole: bool, cut: bool) -> Result<Portions, Failure> {
        let hash = self.hash(source)?;
        let reading = source.reading();
        let read_as = json!([hash, reading.format, reading.devices, reading.lenient]).to_string();
        let name = &digest(read_as.as_bytes())[..NAME];
        let folder = self.folder.join(name);
        let list = folder.join("devices.json");
        let known = fs::read(&list).ok().and_then(|text| serde_json::from_slice::<Portions>(&text).ok());
        let mut portions = match known {
            Some(portions) => portions,
            None => {
                let portions = self.survey(source, hash)?;
                put(&list, &serde_json::to_vec_pretty(&portions).map_err(Failure::failed)?)?;
                portions
            }
        };
        if whole {
            let rows = portions.devices.iter().map(|portion| portion.rows).sum();
            portions.devices = vec![Portion { device: String::new(), rows, file: None }];
        } else if portions.devices.iter().filter(|portion| portion.rows > 0).count() > 1 {
            if cut && !folder.join("split").is_dir() {
                self.split(source, &folder, &portions)?;
            }
            for (index, portion) in portions.devices.iter_mut().enumerate() {
                portion.file =
                    Some(Path::new(name).join("split").join(format!("{index}{}", splitting::SUFFIX)));
            }
        }
        Ok(portions)
    }

    /// Reads a trace with progress.
    fn follow<T>(&self, read: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
        let _progress = self.told.then(|| Progress::follow(Arc::clone(self.control), 1));
        let done = read();
        self.control.completed.store(0, Ordering::Relaxed);
        self.control.millionths.store(0, Ordering::Relaxed);
        done
    }

    /// The hash of a trace's files; of files that have not changed since, from the work folder.
    fn hash(&self, source: &Source) -> Result<String, Failure> {
        let files = Trace::files(&source.file);
        let mut stamps = Vec::new();
        for file in &files {
            let found = fs::metadata(file).map_err(|error| named(file, &error))?;
            let changed = found.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
            let path = fs::canonicalize(file).map_err(|error| named(file, &error))?;
            stamps.push(json!([path, found.len(), changed.as_nanos().to_string()]));
        }
        let stamp = &digest(json!(stamps).to_string().as_bytes())[..NAME];
        let place = self.folder.join("hashes").join(stamp);
        if let Ok(hash) = fs::read_to_string(&place) {
            return Ok(hash);
        }
        let missing = || {
            let name = source.file.display();
            Failure::failed(format!(
                "{name}: no trace file is there; a sweep reads its traces again and again, so \
                                     that it cannot read pipes"
            ))
        };
        let hash = sha256(&files).map_err(|error| named(&source.file, &error))?.ok_or_else(missing)?;
        put(&place, hash.as_bytes())?;
        Ok(hash)
    }

    /// Reads a trace for its devices.
    fn survey(&self, source: &Source, sha256: String) -> Result<Portions, Failure> {
        self.tell(&format!("{}: reading it for its devices", source.label()))?;
        let mut trace = Trace::open(&source.file, &options(&source.reading())?).map_err(Failure::failed)?;
        let rows = self.follow(|| {
            let mut rows: Vec<u64> = Vec::new();
            while let Some(record) = trace.next().map_err(Failure::failed)? {
                let place = record.device as usize;
                rows.resize(rows.len().max(place + 1), 0);
                rows[place] += 1;
                look(&trace, self.control)?;
            }
            rows.resize(trace.devices().len(), 0);
            Ok(rows)
        })?;
        let report = trace.report();
        if report.crowded_devices > 0 {
            return Err(Failure::failed(format!(
                "{}: the trace has more devices than are told apart (65 535): name some of them, as in \
                 {{file = \"…\", devices = [\"…\"]}}",
                source.label()
            )));
        }
        let mut warnings = report.warnings;
        if let Some(skipped) = report.skipped.iter().find(|skipped| skipped.reason == Skip::Malformed) {
            let (bad, all) = (skipped.rows, report.rows);
            warnings.push(format!("{bad} of {all} rows could not be read and were skipped"));
        }
        let devices = trace.devices().iter().zip(rows);
        let devices = devices.map(|(device, rows)| Portion { device: device.clone(), rows, file: None });
        Ok(Portions { sha256, warnings, devices: devices.collect() })
    }

    fn split(&self, source: &Source, folder: &Path, portions: &Portions) -> Result<(), Failure> {
        self.tell(&format!("{}: splitting it by device, {} in all", source.label(), portions.devices.len()))?;
        temporary::remove_left(folder);
        let made = tempfile::Builder::new().prefix(&temporary::prefix()).tempdir_in(folder);
        let made = made.map_err(|error| named(folder, &error))?;
        let mut trace = Trace::open(&source.file, &options(&source.reading())?).map_err(Failure::failed)?;
        let rows = self.follow(|| split(&mut trace, made.path(), self.control))?;
        let expected: Vec<u64> = portions.devices.iter().map(|portion| portion.rows).collect();
        if rows != expected {
            return Err(Failure::failed(format!(
                "{}: the trace changed while it was read: run the sweep again",
                source.label()
            )));
        }
        let (made, whole) = (made.keep(), folder.join("split"));
        // Somebody else may have done the same meanwhile, with the same result.
        match fs::rename(&made, &whole) {
            Err(_) if whole.is_dir() => fs::remove_dir_all(made).map_err(|error| named(folder, &error)),
            renamed => renamed.map_err(|error| named(&whole, &error)),
        }
    }

    fn tell(&self, text: &str) -> Result<(), Failure> {
        if self.told {
            writeln!(caller::Messages, "{text}")?;
        }
        Ok(())
    }
}
