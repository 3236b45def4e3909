//! Opening traces: from the options to rows that can be read several times.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use idlewise_core::Issuer;
use idlewise_sim::fit::Known;
use idlewise_sim::replay::{Rows, RowsError};
use idlewise_sim::traces::recording::Disk;
use idlewise_sim::traces::{Exit, Findings, Format, Options, Record, Skip, Survey, Trace};

use sha2::{Digest as _, Sha256};

use super::args::Reading;
use super::names::did_you_mean;
use crate::caller;
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
    report: Mutex<Option<Findings>>,
    /// What the trace shows, from reading it once.
    survey: Survey,
    /// What its head says of the disks that were asked for something, busiest first, if it is a recording.
    disks: Vec<Disk>,
    /// What the trace calls the busiest.
    busiest: String,
    /// The rows of each device, where there are several.
    split: OnceLock<Split>,
    hash: OnceLock<Option<String>>,
}

/// Rows by device, and the names of processes.
#[derive(Default)]
struct Split {
    rows: HashMap<u32, Vec<Record>>,
    names: HashMap<Issuer, String>,
    unplugs_backwards: bool,
}

/// Disks that a trace gets at most: to build the model of each takes a moment, for each scheduler.
pub(crate) const MOST_DISKS: usize = 32;

/// Bytes that no disk moves in a second: four lanes of PCI Express 6 carry 30 GB.
const FASTEST: u64 = 30_000_000_000;

/// Rows of a trace of several devices that are held in memory, to be dealt out to the devices' disks: 0.5 GB.
const MOST_SPLIT: u64 = 4_000_000;

impl TraceFile {
    /// Reads the trace once, for what it shows; spools standard input.
    pub(crate) fn open(path: &Path, reading: &Reading) -> Result<TraceFile, Failure> {
        let mut file = TraceFile::unread(path, reading)?;
        let mut trace = file.trace().map_err(Failure::failed)?;
        while let Some(row) = trace.next().map_err(Failure::failed)? {
            file.survey.add(&row);
        }
        file.report = Mutex::new(Some(trace.report()));
        let name = |device: u32| trace.devices().get(device as usize);
        let told = |name: &String| trace.disks().iter().find(|disk| disk.name == *name).cloned();
        let devices = file.survey.devices().into_iter();
        let names: Vec<&String> = devices.filter_map(|(device, _)| name(device)).collect();
        file.disks = names.iter().filter_map(|name| told(name)).collect();
        file.busiest = names.first().map_or_else(String::new, |name| (*name).clone());
        file.warn_of_rate()?;
        Ok(file)
    }

    /// Says so at once if no disk can have done what the trace has it do: columns or units are not what they were taken for.
    fn warn_of_rate(&self) -> io::Result<()> {
        let devices = self.survey.devices().len().max(1) as u64;
        let rate = self.survey.busiest_second() / devices;
        if rate <= FASTEST {
            return Ok(());
        }
        let (rate, name) = (rate / 1_000_000_000, self.name());
        let warning = format!(
            "warning: {name} moves {rate} GB in a second, and no disk does: are its columns and units as --format has them?"
        );
        caller::say(&[warning])
    }

    /// The same without reading it: nothing is known of what it shows.
    pub(crate) fn unread(path: &Path, reading: &Reading) -> Result<TraceFile, Failure> {
        let options = options(reading)?;
        let mut spooled = None;
        if path == Path::new("-") {
            let mut file = tempfile::NamedTempFile::new()?;
            std::io::copy(&mut std::io::stdin().lock(), &mut file)?;
            spooled = Some(file);
        }
        let (report, survey, split, hash) =
            (Mutex::new(None), Survey::default(), OnceLock::new(), OnceLock::new());
        let (path, disks, busiest) = (path.to_owned(), Vec::new(), String::new());
        Ok(TraceFile { path, options, spooled, report, survey, disks, busiest, split, hash })
    }

    /// The busiest of the recorded disks, as large as the largest of them: all of a trace's devices get disks of one kind.
    pub(crate) fn disk(&self) -> Option<Disk> {
        let sectors = self.disks.iter().map(|disk| disk.sectors).max()?;
        Some(Disk { sectors, ..self.disks.first()?.clone() })
    }

    /// What a fit need not find out of that disk.
    pub(crate) fn known(&self) -> Known {
        let told = self.disk().as_ref().map(Known::of).unwrap_or_default();
        Known { name: self.busiest.clone(), ..told }
    }

    /// The first `limit` rows of the busiest device, as its device 0.
    pub(crate) fn records(&self, limit: usize) -> Result<Vec<Record>, Failure> {
        let Some((busiest, _)) = self.survey.devices().first().copied() else { return Ok(Vec::new()) };
        let mut records = Vec::new();
        let mut trace = self.trace().map_err(Failure::failed)?;
        while let Some(row) = trace.next().map_err(Failure::failed)? {
            if row.device == busiest {
                records.push(Record { device: 0, ..row });
                if records.len() == limit {
                    break;
                }
            }
        }
        Ok(records)
    }

    /// What the trace shows.
    pub(crate) fn survey(&self) -> &Survey {
        &self.survey
    }

    /// Makes the rows of each of the [`MOST_DISKS`] busiest devices ready to be read apart; the devices, the busiest first,
    /// if there are several.
    pub(crate) fn split(&self) -> Result<Vec<u32>, Failure> {
        let devices = self.survey.devices();
        let devices: Vec<u32> = devices.iter().take(MOST_DISKS).map(|(device, _)| *device).collect();
        if devices.len() < 2 {
            return Ok(Vec::new());
        }
        if self.survey.rows > MOST_SPLIT {
            return Err(Failure::usage(format!(
                "{}: {} requests of {} devices are too many to give each device a disk of its own: choose some with \
                 --device (`idlewise trace info` names them), or replay all on one with --one-disk",
                self.name(),
                self.survey.rows,
                devices.len()
            )));
        }
        let mut split = Split::default();
        let mut trace = self.trace().map_err(Failure::failed)?;
        while let Some(row) = trace.next().map_err(Failure::failed)? {
            if !devices.contains(&row.device) {
                continue;
            }
            split.rows.entry(row.device).or_default().push(Record { device: 0, ..row });
            if let Some(issuer) = row.issuer {
                split
                    .names
                    .entry(issuer)
                    .or_insert_with(|| trace.process(issuer).unwrap_or_default().to_owned());
            }
        }
        split.unplugs_backwards = trace.unplugs_backwards();
        self.split.get_or_init(|| split);
        Ok(devices)
    }

    /// What messages call it.
    pub(crate) fn name(&self) -> String {
        if self.spooled.is_some() { "(standard input)".to_owned() } else { self.path.display().to_string() }
    }

    /// SHA-256 of the trace as it lies in its files, one after the other; `None` of what cannot be read again.
    pub(crate) fn sha256(&self) -> Option<&str> {
        let path = self.spooled.as_ref().map_or(self.path.as_path(), |file| file.path());
        self.hash.get_or_init(|| sha256(&Trace::files(path)).ok().flatten()).as_deref()
    }

    fn trace(&self) -> Result<Trace, idlewise_sim::traces::TraceError> {
        match &self.spooled {
            Some(file) => Trace::open(file.path(), &self.options),
            None => Trace::open(&self.path, &self.options),
        }
    }

    /// The trace's rows, from the beginning; of one device after [`TraceFile::split`].
    pub(crate) fn rows(self: &Arc<Self>, device: Option<u32>) -> Result<Box<dyn Rows>, RowsError> {
        let file = Arc::clone(self);
        match device {
            Some(device) => Ok(Box::new(DeviceRows { file, device, next: 0 })),
            None => Ok(Box::new(TraceRows { trace: self.trace()?, file })),
        }
    }

    /// What reading it found; `None` if it was never read to its end.
    pub(crate) fn report(&self) -> Option<Findings> {
        self.report.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// SHA-256 of files, one after the other; `None` of none.
pub(crate) fn sha256(files: &[PathBuf]) -> io::Result<Option<String>> {
    let mut hash = Sha256::new();
    for path in files {
        let mut file = BufReader::with_capacity(1 << 18, File::open(path)?);
        loop {
            let bytes = file.fill_buf()?;
            if bytes.is_empty() {
                break;
            }
            hash.update(bytes);
            let count = bytes.len();
            file.consume(count);
        }
    }
    Ok((!files.is_empty()).then(|| hexadecimal(&hash.finalize())))
}

/// SHA-256 of bytes.
pub(crate) fn digest(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

fn hexadecimal(hash: &[u8]) -> String {
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
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

    fn share_read(&self) -> Option<f64> {
        self.trace.share_read()
    }

    fn exits(&self) -> &[Exit] {
        self.trace.exits()
    }

    fn unplugs_backwards(&self) -> bool {
        self.trace.unplugs_backwards()
    }

    fn process(&self, issuer: Issuer) -> Option<String> {
        self.trace.process(issuer).map(str::to_owned)
    }
}

/// One reading of one device's rows.
struct DeviceRows {
    file: Arc<TraceFile>,
    device: u32,
    next: usize,
}

impl Rows for DeviceRows {
    fn next(&mut self) -> Result<Option<Record>, RowsError> {
        let rows = self.file.split.get().and_then(|split| split.rows.get(&self.device));
        let row = rows.and_then(|rows| rows.get(self.next)).copied();
        self.next += 1;
        Ok(row)
    }

    fn unplugs_backwards(&self) -> bool {
        self.file.split.get().is_some_and(|split| split.unplugs_backwards)
    }

    fn process(&self, issuer: Issuer) -> Option<String> {
        let split = self.file.split.get()?;
        split.names.get(&issuer).filter(|name| !name.is_empty()).cloned()
    }
}

/// A report's warnings, each a line.
pub(crate) fn warnings(report: &Findings) -> Vec<String> {
    let malformed = report.skipped.iter().find(|skipped| skipped.reason == Skip::Malformed);
    let skipped = malformed.map(|skipped| {
        format!("warning: {} of {} rows could not be read and were skipped", skipped.rows, report.rows)
    });
    skipped.into_iter().chain(report.warnings.iter().map(|warning| format!("warning: {warning}"))).collect()
}
