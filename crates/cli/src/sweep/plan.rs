//! The product of all lists: which units a sweep has.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use idlewise_sim::experiment::Chosen;
use serde::{Deserialize, Serialize};

use super::file::{Source, SweepFile};
use super::options::Options;
use super::portions::Portions;
use super::unit::{Deciding, Load, Unit};
use crate::failure::Failure;
use crate::input::{names, setup};

/// The units of a sweep.
#[derive(Serialize, Deserialize)]
pub(crate) struct Plan {
    /// Units, those of one load and disk one after the other.
    pub(crate) units: Vec<Unit>,
    /// Loads: devices of traces, workloads and jobs.
    pub(crate) loads: usize,
    pub(crate) disks: usize,
    pub(crate) schedulers: usize,
    pub(crate) seeds: usize,
}

/// What is asked for beside the loads, checked.
pub(crate) struct Asked {
    disks: Vec<String>,
    /// Schedulers with their settings, and whether each is a selector.
    schedulers: Vec<(String, bool)>,
    seeds: Vec<u64>,
    options: Options,
    /// All devices of a trace are one.
    pub(crate) whole: bool,
}

/// Each value once, in order.
fn once<T: PartialEq + Clone>(values: &[T]) -> Vec<T> {
    let mut found: Vec<T> = Vec::new();
    values.iter().for_each(|value| {
        if !found.contains(value) {
            found.push(value.clone());
        }
    });
    found
}

impl Asked {
    /// Reads and checks what can be wrong before any trace is read.
    pub(crate) fn new(file: &SweepFile) -> Result<Asked, Failure> {
        let options = Options::new(&file.options)?;
        let load = options.load()?;
        let (schedulers, _) = names::schedulers(&file.schedulers)?;
        let selects = |entry: &Chosen| matches!(entry, Chosen::Selector(_));
        let labels = schedulers.iter().map(|choice| (choice.label.clone(), selects(&choice.entry))).collect();
        setup::check(&load, schedulers)?;
        file.disks.iter().try_for_each(|disk| names::disk(disk).map(drop))?;
        file.workloads.iter().try_for_each(|text| setup::workload_spec(text).map(drop))?;
        file.fio.iter().try_for_each(|path| setup::job_file(path).map(drop))?;
        let disks = once(&file.disks);
        Ok(Asked { disks, schedulers: labels, seeds: once(&file.seeds), options, whole: load.one_disk })
    }

    /// What decides a run, for each disk and scheduler.
    fn runs(&self, is_trace: bool) -> Result<Vec<Run<'_>>, Failure> {
        let mut runs = Vec::new();
        for disk in &self.disks {
            for (scheduler, selects) in &self.schedulers {
                let options = self.options.words(is_trace, *selects);
                let deciding = Deciding::run(disk, scheduler, &options)?;
                runs.push(Run { disk, scheduler, options, deciding });
            }
        }
        Ok(runs)
    }

    /// The units of one load.
    fn units(&self, (trace, load, rows): &OneLoad, runs: &[Run<'_>]) -> Result<Vec<Unit>, Failure> {
        let deciding = Deciding::load(load)?;
        let unit = |run: &Run<'_>, seed: u64| Unit {
            id: Deciding::id(&deciding, &run.deciding, seed),
            trace: trace.clone(),
            load: load.clone(),
            rows: *rows,
            disk: run.disk.to_owned(),
            scheduler: run.scheduler.to_owned(),
            seed,
            options: run.options.clone(),
        };
        Ok(runs.iter().flat_map(|run| self.seeds.iter().map(move |seed| unit(run, *seed))).collect())
    }
}

/// A disk and a scheduler.
struct Run<'a> {
    disk: &'a str,
    scheduler: &'a str,
    options: Vec<String>,
    deciding: String,
}

impl Plan {
    /// The product of all that the file names. `portions` has what is known of each of its traces; files of devices lie below
    /// `work`.
    pub(crate) fn new(
        file: &SweepFile,
        asked: &Asked,
        portions: &[(Source, Portions)],
        work: &Path,
    ) -> Result<Plan, Failure> {
        let mut loads: Vec<OneLoad> = Vec::new();
        for (source, portions) in portions {
            for portion in portions.devices.iter().filter(|portion| portion.rows > 0) {
                let reading = source.reading();
                let load = Load::Trace {
                    source: source.file.clone(),
                    own: portion.file.as_ref().map(|file| work.join(file)),
                    sha256: portions.sha256.clone(),
                    device: portion.device.clone(),
                    format: reading.format,
                    devices: reading.devices,
                    lenient: reading.lenient,
                };
                loads.push((source.label(), load, Some(portion.rows)));
            }
        }
        let workload = |text: &String| (format!("workload {text}"), Load::Workload(text.clone()), None);
        let job = |path: &PathBuf| (format!("fio job {}", path.display()), Load::Fio(path.clone()), None);
        loads.extend(file.workloads.iter().map(workload));
        loads.extend(file.fio.iter().map(job));
        let loads = unlike(loads)?;
        let (of_traces, of_others) = (asked.runs(true)?, asked.runs(false)?);
        let mut units = Vec::new();
        for load in &loads {
            let runs = if matches!(load.1, Load::Trace { .. }) { &of_traces } else { &of_others };
            units.append(&mut asked.units(load, runs)?);
        }
        let (disks, schedulers, seeds) = (asked.disks.len(), asked.schedulers.len(), asked.seeds.len());
        Ok(Plan { units, loads: loads.len(), disks, schedulers, seeds })
    }

    /// The product in figures.
    pub(crate) fn words(&self) -> String {
        let parts = [
            (self.loads, "load"),
            (self.disks, "disk"),
            (self.schedulers, "scheduler"),
            (self.seeds, "seed"),
            (self.units.len(), "run"),
        ];
        let [loads, disks, schedulers, seeds, runs] =
            parts.map(|(count, name)| format!("{count} {name}{}", if count == 1 { "" } else { "s" }));
        format!("{loads} × {disks} × {schedulers} × {seeds} = {runs}")
    }
}

/// A load, what results call it, and the requests of a trace.
type OneLoad = (String, Load, Option<u64>);

/// Each load once. Two traces with one name would be taken for each other in the dataset.
fn unlike(loads: Vec<OneLoad>) -> Result<Vec<OneLoad>, Failure> {
    let mut known: HashMap<(String, Option<String>), Load> = HashMap::new();
    let mut found = Vec::new();
    for (name, load, rows) in loads {
        let device = if let Load::Trace { device, .. } = &load { Some(device.clone()) } else { None };
        match known.insert((name.clone(), device), load.clone()) {
            None => found.push((name, load, rows)),
            Some(same) if same == load => {}
            Some(_) => {
                return Err(Failure::usage(format!(
                    "traces: two are called {name}: give one of them another name, as in \
                     {{file = \"FILE\", name = \"NAME\"}}"
                )));
            }
        }
    }
    Ok(found)
}
