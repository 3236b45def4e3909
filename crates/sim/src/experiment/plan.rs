//! What to run: a disk, a load, schedulers, seeds. And what came of it.

use std::sync::Arc;

use idlewise_core::{Issuer, Merging, Weight};
use idlewise_disk::Profile;

use super::{Choice, Foreign};
use crate::engine::Limits;
use crate::engine::decision_log::WhyFilter;
use crate::metrics::Report;
use crate::metrics::series::Series;
use crate::replay::{Account, Mode, Rows, RowsError};
use crate::selection::Selection;
use crate::selection::log::Log;
use crate::workloads::fio::JobFile;
use crate::workloads::{Moment, Spec};

/// Opens a trace from its beginning, once for each run: all of it, or what is for one device.
pub type OpenRows = Box<dyn Fn(Option<u32>) -> Result<Box<dyn Rows>, RowsError> + Send + Sync>;

/// What the disk is asked to do.
pub enum Load {
    /// A named workload.
    Workload(Spec),
    /// A job file of fio.
    Fio(JobFile),
    /// A trace.
    Trace {
        /// Opens it.
        open: OpenRows,
        /// When its requests are issued.
        mode: Mode,
        /// Times are divided by this.
        speed: f64,
        /// Devices that have a disk each, the busiest first; without any, all of the trace goes to one disk.
        devices: Vec<u32>,
    },
}

/// What to run.
pub struct Experiment {
    /// The disk.
    pub disk: Profile,
    /// What it is asked to do.
    pub load: Load,
    /// Who orders it.
    pub schedulers: Vec<Choice>,
    /// Schedulers that the program brings along: [`Chosen::Foreign`](super::Chosen::Foreign).
    pub foreign: Vec<Arc<dyn Foreign>>,
    /// One run of each scheduler for each seed.
    pub seeds: Vec<u64>,
    /// Requests that the queue holds at once, waiting or in flight.
    pub queue_size: usize,
    /// The device's hardware queues, to which its depth is dealt out; 1 or more.
    pub hardware_queues: u32,
    /// Which merges the queue tries.
    pub merging: Merging,
    /// Weights of issuers, over those that the load gives them.
    pub weights: Vec<(Issuer, Weight)>,
    /// Schedulers know the disk's positioning times from its model, as SOSP'01 §3.6 has it, and need not learn them.
    pub calibrated: bool,
    /// When a run ends early.
    pub limits: Limits,
    /// What selectors are given.
    pub selection: Selection,
    /// Which decisions are told, where a run's reasons are written.
    pub told: WhyFilter,
    /// Runs of the first seed keep what happened when.
    pub series: bool,
}

/// One finished run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The index of the scheduler in [`Experiment::schedulers`].
    pub scheduler: usize,
    /// The seed.
    pub seed: u64,
    /// What was measured.
    pub report: Report,
    /// What replay did to the trace, if there was one.
    pub account: Option<Account>,
    /// The selector's decisions, if they were to be kept; of several devices, those for the first.
    pub log: Option<Log>,
    /// What happened when, if that was to be kept.
    pub series: Option<Series>,
    /// When programs' phases began and programs ended.
    pub moments: Vec<Moment>,
    /// The run was to stop before it had ended.
    pub cut_short: bool,
}

impl Experiment {
    /// `load` on `disk`, under nobody yet; all else as a command line has it by default.
    pub fn new(disk: Profile, load: Load) -> Experiment {
        Experiment {
            disk,
            load,
            schedulers: Vec::new(),
            foreign: Vec::new(),
            seeds: vec![1],
            queue_size: 4096,
            hardware_queues: 1,
            merging: Merging::All,
            weights: Vec::new(),
            calibrated: true,
            limits: Limits::default(),
            selection: Selection::default(),
            told: WhyFilter::default(),
            series: false,
        }
    }
}
