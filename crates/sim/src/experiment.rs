//! Many runs: schedulers × seeds, on all cores.

mod chosen;

use std::collections::BTreeMap;
use std::io::Write;

use idlewise_core::positioning::Curve;
use idlewise_core::registry::Assignment;
use idlewise_core::{
    AnyScheduler, Device as DeviceTraits, HostError, Instant, Issuer, Merging, Queue, Sector, Weight,
};
use idlewise_disk::{AnyDevice, Device, Profile};
use rayon::prelude::*;

pub use chosen::{Choice, Chosen};

use crate::engine::{Control, Engine, EngineError, Limits};
use crate::metrics::{Recorder, Report};
use crate::replay::{Account, Replay, Rows, RowsError, Settings};
use crate::selection::log::Log;
use crate::selection::{BuiltError, Selecting, Selection};
use crate::tell::Teller;
use crate::workloads::fio::{FioError, JobFile};
use crate::workloads::{self, Ground, Named, Spec, SpecError};

/// Points of the positioning curve that a calibrated run's scheduler is given: a curve keeps two for
/// each power of two.
const CURVE_POINTS: usize = 192;

/// Opens a trace from its beginning, once for each run.
pub type OpenRows = Box<dyn Fn() -> Result<Box<dyn Rows>, RowsError> + Send + Sync>;

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
        /// Open loop: recorded times rule.
        open_loop: bool,
        /// Times are divided by this.
        speed: f64,
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
    /// Schedulers know the disk's positioning times from its model, and need not learn them first.
    pub calibrated: bool,
    /// When a run ends early.
    pub limits: Limits,
    /// What selectors are given.
    pub selection: Selection,
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
    /// The selector's decisions, if they were to be kept.
    pub log: Option<Log>,
}

/// Why a run failed.
#[derive(Debug, thiserror::Error)]
pub enum ExperimentError {
    /// The scheduler could not be built.
    #[error("{scheduler}: {error}")]
    Scheduler {
        /// Its label.
        scheduler: String,
        /// Why.
        error: idlewise_core::registry::BuildError,
    },
    /// The selector could not be built.
    #[error("{selector}: {error}")]
    Selector {
        /// Its label.
        selector: String,
        /// Why.
        error: idlewise_core::selectors::ChooserError,
    },
    /// The disk could not be built.
    #[error("{0}")]
    Disk(#[from] idlewise_disk::BuildError),
    /// The model that predictions are made on is smaller than the disk.
    #[error(
        "the model {model} has {} sectors, and {disk} has {}: predictions need a model that is at least as large as the disk",
        .model_end.0, .disk_end.0
    )]
    SmallModel {
        /// The model's name.
        model: String,
        /// Its end.
        model_end: Sector,
        /// The disk's name.
        disk: String,
        /// Its end.
        disk_end: Sector,
    },
    /// The workload's text is wrong.
    #[error("{0}")]
    Workload(#[from] SpecError),
    /// The job file asks for what this disk cannot give.
    #[error("{0}")]
    Fio(#[from] FioError),
    /// The trace could not be read.
    #[error("{0}")]
    Trace(RowsError),
    /// The reasons could not be written.
    #[error("writing the reasons: {0}")]
    Why(#[from] std::io::Error),
    /// A weight could not be set.
    #[error("the weight of process {who}: {error}")]
    Weight {
        /// Whose.
        who: Issuer,
        /// Why.
        error: HostError,
    },
    /// The run broke off.
    #[error("{scheduler}: {error}")]
    Engine {
        /// The scheduler's label.
        scheduler: String,
        /// Why.
        error: EngineError,
    },
}

impl Experiment {
    /// `load` on `disk`, under nobody yet; all else as a command line has it by default.
    pub fn new(disk: Profile, load: Load) -> Experiment {
        Experiment {
            disk,
            load,
            schedulers: Vec::new(),
            seeds: vec![1],
            queue_size: 4096,
            hardware_queues: 1,
            merging: Merging::All,
            weights: Vec::new(),
            calibrated: false,
            limits: Limits::default(),
            selection: Selection::default(),
        }
    }

    /// Runs everything, on all cores, and returns what finished in order of scheduler and seed.
    /// A stop through `control` lets runs in progress end early; runs not begun are left out.
    ///
    /// # Errors
    /// The first failure, in that order.
    pub fn run(&self, control: &Control) -> Result<Vec<Outcome>, ExperimentError> {
        let pairs: Vec<_> = (0..self.schedulers.len())
            .flat_map(|index| self.seeds.iter().map(move |seed| (index, *seed)))
            .collect();
        let stopped = || control.stop.load(std::sync::atomic::Ordering::Relaxed);
        let outcomes: Vec<_> = pairs
            .into_par_iter()
            .filter(|_| !stopped())
            .map(|(index, seed)| self.run_one(index, seed, control, None))
            .collect();
        outcomes.into_iter().collect()
    }

    /// Runs one scheduler with one seed. Every decision and its reason is written to `why`.
    ///
    /// # Errors
    /// [`ExperimentError`].
    pub fn run_one(
        &self,
        index: usize,
        seed: u64,
        control: &Control,
        why: Option<&mut dyn Write>,
    ) -> Result<Outcome, ExperimentError> {
        let run = (index, seed);
        // A copy of the engine for each model: nobody asks at each event which one it is.
        let ran = match self.disk.build()? {
            AnyDevice::Mechanical(mut disk) => {
                let known = self.calibrated.then(|| Curve::through(&disk.positioning_curve(CURVE_POINTS)));
                self.run_on(&mut disk, known, run, control, why)?
            }
            AnyDevice::Flash(mut disk) => self.run_on(&mut disk, None, run, control, why)?,
            AnyDevice::Fixed(mut disk) => self.run_on(&mut disk, None, run, control, why)?,
        };
        let Ran { report, account, log } = ran;
        Ok(Outcome { scheduler: index, seed, report, account, log })
    }

    /// Puts the load on `device`, of whose positioning times schedulers know `known`.
    fn run_on<D: Device>(
        &self,
        device: &mut D,
        known: Option<Curve>,
        run: (usize, u64),
        control: &Control,
        why: Option<&mut dyn Write>,
    ) -> Result<Ran, ExperimentError> {
        let traits = DeviceTraits {
            rotational: device.rotational(),
            depth: device.depth(),
            hardware_queues: self.hardware_queues,
            capacity: device.capacity(),
            merging: self.merging,
            curve: known.unwrap_or_default(),
            ..DeviceTraits::default()
        };
        let selecting = self.selecting(&traits, run)?;
        let queue = self.queue(traits, selecting.as_ref(), run)?;
        let players = Players { queue, selecting, control, why };
        let ground = Ground { capacity: device.capacity(), seed: run.1 };
        match &self.load {
            Load::Workload(spec) => {
                let mut workload = workloads::build(spec, ground)?;
                self.simulate(run, &mut *workload, device, players)
            }
            Load::Fio(jobs) => {
                let mut workload = jobs.build(ground)?;
                self.simulate(run, &mut workload, device, players)
            }
            Load::Trace { open, open_loop, speed } => {
                let settings = Settings { open: *open_loop, speed: *speed, capacity: ground.capacity };
                let mut replay = Replay::new(open().map_err(ExperimentError::Trace)?, settings);
                let ran = self.simulate(run, &mut replay, device, players)?;
                match replay.take_error() {
                    Some(error) => Err(ExperimentError::Trace(error)),
                    None => Ok(Ran { account: Some(replay.account()), ..ran }),
                }
            }
        }
    }

    /// A selector with what it needs, if the run has one.
    fn selecting(
        &self,
        traits: &DeviceTraits,
        (index, seed): (usize, u64),
    ) -> Result<Option<Selecting>, ExperimentError> {
        let choice = &self.schedulers[index];
        let Chosen::Selector(entry) = choice.entry else { return Ok(None) };
        let settings = seeded(choice, seed);
        let profile = self.selection.model.as_ref().unwrap_or(&self.disk);
        let model = profile.build()?;
        if model.capacity() < traits.capacity {
            return Err(ExperimentError::SmallModel {
                model: profile.name.clone(),
                model_end: model.capacity(),
                disk: self.disk.name.clone(),
                disk_end: traits.capacity,
            });
        }
        let built = self.selection.build(entry, &settings, (traits, self.queue_size), &self.disk, model);
        match built {
            Ok(selecting) => Ok(Some(selecting)),
            Err(BuiltError::Selector(error)) => {
                Err(ExperimentError::Selector { selector: choice.label.clone(), error })
            }
            Err(BuiltError::Measuring(error)) => Err(*error),
        }
    }

    /// The queue with its scheduler, or with the selector's first.
    fn queue(
        &self,
        traits: DeviceTraits,
        selecting: Option<&Selecting>,
        (index, seed): (usize, u64),
    ) -> Result<Queue<AnyScheduler>, ExperimentError> {
        let choice = &self.schedulers[index];
        let built = match (choice.entry, selecting) {
            (Chosen::Scheduler(entry), _) => {
                Queue::new(self.queue_size, traits, entry, &seeded(choice, seed))
            }
            (_, Some(selecting)) => {
                let first = selecting.current();
                Queue::new(self.queue_size, traits, first.entry, &first.settings)
            }
            (Chosen::Selector(_), None) => unreachable!("a selector was built"),
        };
        built.map_err(|error| ExperimentError::Scheduler { scheduler: choice.label.clone(), error })
    }

    fn simulate<W: Named + ?Sized, D: Device>(
        &self,
        (index, _): (usize, u64),
        workload: &mut W,
        device: &mut D,
        players: Players<'_, '_>,
    ) -> Result<Ran, ExperimentError> {
        let Players { mut queue, mut selecting, control, why } = players;
        let queue = &mut queue;
        let weights: BTreeMap<Issuer, Weight> =
            workload.weights().into_iter().chain(self.weights.iter().copied()).collect();
        for (&who, &weight) in &weights {
            let set = queue.set_weight(Instant::ZERO, who, weight);
            set.map_err(|error| ExperimentError::Weight { who, error })?;
        }
        let choice = &self.schedulers[index];
        let mut recorder = Recorder::new(self.queue_size).phased(workload.phases());
        let limits = self.limits;
        let ended = match (why, &mut selecting) {
            (None, Some(selecting)) => {
                Engine::directed(workload, queue, device, &mut recorder, limits, selecting).run(control)
            }
            (None, None) => Engine::new(workload, queue, device, &mut recorder, limits).run(control),
            (Some(out), selecting) => {
                let mut teller = Teller::new(&mut recorder, out);
                let ended = match selecting {
                    Some(selecting) => {
                        Engine::directed(workload, queue, device, &mut teller, limits, selecting)
                            .explained()
                            .run(control)
                    }
                    None => {
                        Engine::new(workload, queue, device, &mut teller, limits).explained().run(control)
                    }
                };
                teller.finish()?;
                ended
            }
        };
        let end =
            ended.map_err(|error| ExperimentError::Engine { scheduler: choice.label.clone(), error })?;
        let weight = |issuer: &Issuer| weights.get(issuer).copied().unwrap_or_default();
        let describe = |issuer: Issuer| (workload.name(issuer), weight(&issuer));
        let mut report = recorder.report(&choice.label, queue.merges(), describe);
        let mut log = None;
        if let Some(selecting) = selecting {
            let (selector, kept) = selecting.finish(end);
            (report.selector, log) = (Some(selector), kept);
        }
        Ok(Ran { report, account: None, log })
    }
}

/// What takes part in a run besides the load and the disk.
struct Players<'c, 'w> {
    queue: Queue<AnyScheduler>,
    selecting: Option<Selecting>,
    control: &'c Control,
    why: Option<&'w mut dyn Write>,
}

/// What a run gave.
struct Ran {
    report: Report,
    account: Option<Account>,
    log: Option<Log>,
}

/// The settings of a choice, with the run's seed where it has one and none is set.
fn seeded(choice: &Choice, seed: u64) -> Vec<Assignment<'_>> {
    let mut settings: Vec<Assignment<'_>> =
        choice.settings.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    let has_seed = choice.entry.tunables().iter().any(|tunable| tunable.name == "seed");
    if has_seed && !settings.iter().any(|(name, _)| *name == "seed") {
        settings.push(("seed", seed));
    }
    settings
}
