//! What the page asks for, and the experiment that it is: names, options and defaults as on the command line.

use idlewise_core::Instant;
use idlewise_disk::Profile;
use idlewise_sim::engine::Limits;
use idlewise_sim::experiment::{Choice, Chosen, Experiment, Load};
use idlewise_sim::selection::files;
use idlewise_sim::workloads::fio::JobFile;
use idlewise_sim::workloads::{Spec, parse_duration};
use serde::Deserialize;

use crate::bytes;

/// What the page saves a job file of fio as.
const JOB_FILE: &str = "job.fio";

/// A run that is wanted.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wanted {
    /// A scheduler or selector, as `--schedulers` takes it: `NAME:tunable=value;tunable=value`.
    pub scheduler: String,
    /// A disk, as `--disk` takes it, but for files: there are none here.
    pub disk: String,
    /// What the disk is asked to do.
    pub load: LoadWanted,
    /// As `--seed`.
    pub seed: u64,
    /// As `--duration`.
    #[serde(default)]
    pub duration: Option<String>,
    /// After this number of requests the page is told of nothing more but the report.
    pub shown: u64,
}

/// A load.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LoadWanted {
    /// As `--workload`.
    Workload(String),
    /// The text of a job file of fio.
    Fio(String),
    /// The name of a trace file, whose bytes are given beside it.
    Trace(String),
}

impl Wanted {
    /// The experiment, and what its user should know of the load.
    ///
    /// # Errors
    /// What is wrong, in words for whoever typed it.
    pub(crate) fn experiment(&self, trace: Vec<u8>) -> Result<(Experiment, Vec<String>), String> {
        let disk = Profile::find(&self.disk, &Profile::named).map_err(words)?;
        let (load, notes) = match &self.load {
            LoadWanted::Workload(text) => (Load::Workload(Spec::parse(text).map_err(words)?), Vec::new()),
            LoadWanted::Fio(text) => {
                let jobs = JobFile::parse(JOB_FILE, text).map_err(words)?;
                let notes = jobs.warnings.clone();
                (Load::Fio(jobs), notes.iter().map(ToString::to_string).collect())
            }
            LoadWanted::Trace(name) => bytes::load(name, trace).map_err(words)?,
        };
        let experiment = Experiment {
            schedulers: vec![self.choice()?],
            seeds: vec![self.seed],
            limits: self.limits()?,
            ..Experiment::new(disk, load)
        };
        Ok((experiment, notes))
    }

    fn choice(&self) -> Result<Choice, String> {
        let find = |name: &str| Chosen::find(name).map(|entry| (entry, entry.tunables()));
        let (entry, settings) = files::tuned(&self.scheduler, find).map_err(words)?;
        let label = files::text(entry.name(), entry.tunables(), &settings);
        let settings = settings.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        Ok(Choice { label, entry, settings })
    }

    fn limits(&self) -> Result<Limits, String> {
        let until = match &self.duration {
            None => Instant::MAX,
            Some(text) => {
                let time = parse_duration(text).filter(|time| time.0 > 0);
                Instant::ZERO + time.ok_or_else(|| format!("{text}: write a time such as 30s or 500ms"))?
            }
        };
        Ok(Limits { until, ..Limits::default() })
    }
}

fn words(error: impl std::fmt::Display) -> String {
    error.to_string()
}
