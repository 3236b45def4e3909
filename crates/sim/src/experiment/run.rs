//! Carrying an experiment out, run by run.

use std::collections::BTreeMap;
use std::io::Write;
use std::num::NonZero;

use idlewise_core::learned::Curve;
use idlewise_core::registry::{self, Assignment, BuildError};
use idlewise_core::{
    AnyScheduler, Device, Instant, Issuer, Merging, Queue, Scheduler, Sectors, Setup, Weight, host,
};
use idlewise_disk::array::{Array, ArraySpec};
use idlewise_disk::{AnyModel, AnySpec, DiskModel, News, Spec, WithModel};
use rayon::prelude::*;

use super::measure::{self, Effort};
use super::{Choice, Chosen, Experiment, ExperimentError, Foreign, Load, Outcome};
use crate::engine::decision_log::DecisionLog;
use crate::engine::director::Director;
use crate::engine::scheduled::Scheduled;
use crate::engine::watched::Watched;
use crate::engine::{Control, Engine, EngineError, Limits, Observer, Workload};
use crate::metrics::selector::Account;
use crate::metrics::{Recorder, Report};
use crate::replay::{Replay, Settings};
use crate::selection::Selecting;
use crate::selection::log::Log;
use crate::workloads::{self, Ground, Named};

/// Points of the positioning curve that a calibrated run's scheduler is given: a curve keeps two for
/// each power of two.
const CURVE_POINTS: usize = 192;

/// How a missing ranking is measured: before each run that needs one, so no longer than it takes random reads to tell
/// schedulers apart.
const QUICK: Effort = Effort { runs: 1, until: Instant(2_000_000_000) };

/// Commands that an array under md takes at once: as many as an array holds. No limit of md's.
const MOST_BIOS: u32 = 4096;

impl Experiment {
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
        let outcomes: Vec<_> = on_threads(pairs.len(), || {
            let pairs = pairs.into_par_iter().filter(|_| !stopped());
            pairs.map(|(index, seed)| self.run_one(index, seed, control, None)).collect()
        });
        outcomes.into_iter().collect()
    }

    /// Runs one scheduler with one seed. Every decision and its reason is written to `why`.
    ///
    /// # Errors
    /// The run broke off, or `why` could not be written.
    pub fn run_one(
        &self,
        index: usize,
        seed: u64,
        control: &Control,
        why: Option<&mut dyn Write>,
    ) -> Result<Outcome, ExperimentError> {
        let Some(out) = why else { return self.run_watched(index, seed, control, None) };
        let mut log = DecisionLog::new(out, self.told);
        let outcome = self.run_watched(index, seed, control, Some(&mut log))?;
        log.finish()?;
        Ok(outcome)
    }

    /// Runs one scheduler with one seed. `watches` is told of all that happens, each decision with its reason; of a trace of
    /// several devices, what happens on the first.
    ///
    /// # Errors
    /// The run broke off.
    pub fn run_watched(
        &self,
        index: usize,
        seed: u64,
        control: &Control,
        watches: Option<&mut dyn Observer>,
    ) -> Result<Outcome, ExperimentError> {
        let mut recorder = Recorder::new(self.queue_size);
        if self.series && self.seeds.first() == Some(&seed) {
            recorder = recorder.with_series();
        }
        let devices = match &self.load {
            Load::Trace { devices, .. } if !devices.is_empty() => devices.iter().copied().map(Some).collect(),
            _ => vec![None],
        };
        let mut watches = watches;
        let mut sum: Option<Outcome> = None;
        for (place, device) in devices.iter().enumerate() {
            recorder.next_device();
            let last = place + 1 == devices.len();
            let watches = watches.take();
            let recorder = &mut recorder;
            let run =
                Run { plan: self, scheduler: index, seed, control, watches, device: *device, recorder, last };
            let outcome = match (&self.disk.model, self.schedulers[index].entry) {
                (AnySpec::Array(array), _) if array.md => run.on_members(array)?,
                (model, Chosen::Foreign(place)) => run.hosted(&*self.foreign[place], &mut model.build()?)?,
                (model, _) => model.build()?.with_model(run)?,
            };
            sum = Some(match sum.take() {
                Some(before) => after(before, outcome),
                None => outcome,
            });
        }
        Ok(sum.expect("there is a device"))
    }
}

/// Does `work` on threads that live as long as it does, at most one for each of `runs`. Threads that all calls shared would be
/// missing after a fork, and a scheduler that runs an experiment itself would wait for its own thread.
fn on_threads<T: Send>(runs: usize, work: impl FnOnce() -> T + Send) -> T {
    if rayon::current_thread_index().is_some() {
        return work();
    }
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    match rayon::ThreadPoolBuilder::new().num_threads(cores.min(runs.max(1))).build() {
        Ok(pool) => pool.install(work),
        // A browser has no threads: rayon does all on this one.
        Err(_) => work(),
    }
}

/// The positioning curve that a calibrated run's scheduler is given; none if nothing moves.
pub(crate) fn known_curve(disk: &impl DiskModel) -> Option<Curve> {
    let points = disk.positioning_curve(CURVE_POINTS);
    (!points.is_empty()).then(|| Curve::through(&points))
}

/// The longest request that a workload's machine makes, if it is not the usual one.
fn longest(named: Option<&dyn Named>) -> Option<Sectors> {
    named.and_then(Named::longest_request)
}

/// What came of several devices, the last of which has the report of all.
fn after(before: Outcome, last: Outcome) -> Outcome {
    let mut report = last.report;
    report.merges += before.report.merges;
    report.selector = before.report.selector.or(report.selector);
    let account = before.account.zip(last.account).map(|(a, b)| a + b);
    Outcome { report, account, log: before.log, ..last }
}

/// One scheduler with one seed.
struct Run<'a, 'w, 'r> {
    plan: &'a Experiment,
    /// The device of the trace, if each has a disk.
    device: Option<u32>,
    /// Measures all devices.
    recorder: &'r mut Recorder,
    /// There is no device after this one.
    last: bool,
    scheduler: usize,
    seed: u64,
    control: &'a Control,
    /// Who watches.
    watches: Option<&'w mut dyn Observer>,
}

impl WithModel for Run<'_, '_, '_> {
    type Output = Result<Outcome, ExperimentError>;

    /// Puts the load on `disk`.
    fn with_model<D: DiskModel>(self, disk: &mut D) -> Self::Output {
        let named = self.named(ground(disk, self.seed))?;
        let traits = self.traits(disk, longest(named.as_deref()));
        let selecting = self.selecting(&traits)?;
        let queue = self.queue(traits, selecting.as_ref())?;
        match selecting {
            Some(selecting) => self.load(disk, queue, selecting, named),
            None => self.load(disk, queue, (), named),
        }
    }
}

/// What follows a run beside the recorder, and has something to tell at its end.
trait Follows<S>: Director<S> {
    /// What the selector did, if there was one, and its decisions, if they were kept.
    fn told(self, end: Instant) -> (Option<Account>, Option<Log>);
}

impl<S> Follows<S> for () {
    fn told(self, _: Instant) -> (Option<Account>, Option<Log>) {
        (None, None)
    }
}

impl Follows<AnyScheduler> for Selecting {
    fn told(self, end: Instant) -> (Option<Account>, Option<Log>) {
        let (account, log) = self.finish(end);
        (Some(account), log)
    }
}

impl Run<'_, '_, '_> {
    /// Puts the load on an array of which each member has a scheduler, and none stands above it.
    fn on_members(self, spec: &ArraySpec<AnySpec>) -> Result<Outcome, ExperimentError> {
        let told = self.watches.is_some().then(|| "--why".to_owned());
        let alone = !matches!(self.choice().entry, Chosen::Scheduler(_));
        let selects = alone.then(|| self.choice().label.clone());
        if let Some(what) = told.or(selects) {
            return Err(ExperimentError::ManySchedulers { disk: self.plan.disk.name.clone(), what });
        }
        let named = self.named(ground(&spec.build()?, self.seed))?;
        let longest = longest(named.as_deref());
        let mut members = Vec::new();
        for _ in 0..spec.members {
            let disk = spec.member.build()?;
            members.push(Scheduled::new(self.queue(self.traits(&disk, longest), None)?, disk));
        }
        let size = self.plan.queue_size;
        let depth = (size as u32).min(MOST_BIOS);
        let mut array = Array::new(&ArraySpec { depth, ..spec.clone() }, members)?;
        // What comes goes to the members at once, in order of arrival, and grows only there.
        let traits = Device { merging: Merging::Off, hardware_queues: 1, ..self.traits(&array, longest) };
        let label = self.choice().label.clone();
        let failed = |error| ExperimentError::Scheduler { scheduler: label, error };
        let through = Queue::new(size, traits, registry::find(registry::NONE).expect("it is listed"), &[]);
        let mut outcome = self.load(&mut array, through.map_err(failed)?, (), named)?;
        outcome.report.merges += array.members().map(Scheduled::merges).sum::<u64>();
        Ok(outcome)
    }

    /// Puts the load on `disk` under a scheduler that the program brings along. The model is not compiled anew for it.
    fn hosted(self, foreign: &dyn Foreign, disk: &mut AnyModel) -> Result<Outcome, ExperimentError> {
        let named = self.named(ground(disk, self.seed))?;
        let traits = self.traits(disk, longest(named.as_deref()));
        let (size, label) = (self.plan.queue_size, self.choice().label.clone());
        let setup = Setup { capacity: size, device: &traits };
        let (mut run, mut outcome) = (Some((self, named)), None);
        let hosted = foreign.host(setup, &mut |scheduler| {
            let Some((run, named)) = run.take() else { return };
            let queue = Queue::with(size, traits.clone(), |_| Ok::<_, BuildError>(scheduler));
            let failed = |error| ExperimentError::Scheduler { scheduler: run.choice().label.clone(), error };
            outcome = Some(queue.map_err(failed).and_then(|queue| run.load(disk, queue, (), named)));
        });
        let failed = |message| ExperimentError::Foreign { scheduler: label.clone(), message };
        hosted.map_err(failed)?;
        outcome.unwrap_or_else(|| Err(failed("was not run".to_owned())))
    }

    /// What a scheduler above `disk` is told of it; `longest` is the longest request, if not the usual one.
    fn traits(&self, disk: &impl DiskModel, longest: Option<Sectors>) -> Device {
        let usual = Device::usual(disk.rotational());
        let known = if self.plan.calibrated { known_curve(disk) } else { None };
        let learned = known.map_or_else(|| usual.learned.clone(), Into::into);
        Device {
            max_sectors: longest.unwrap_or(usual.max_sectors),
            depth: disk.depth(),
            hardware_queues: self.plan.hardware_queues,
            capacity: disk.capacity(),
            merging: self.plan.merging,
            learned,
            ..usual
        }
    }

    /// The named workload on this ground, if the load is one.
    fn named(&self, ground: Ground) -> Result<Option<Box<dyn Named>>, ExperimentError> {
        let Load::Workload(spec) = &self.plan.load else { return Ok(None) };
        Ok(Some(workloads::build(spec, ground)?))
    }

    /// Puts the load on `queue`, which is above `disk`; `named` is it, if it is a named workload.
    fn load<D: DiskModel, S: Scheduler, F: Follows<S>>(
        self,
        disk: &mut D,
        queue: Queue<S>,
        follower: F,
        named: Option<Box<dyn Named>>,
    ) -> Result<Outcome, ExperimentError> {
        let ground = ground(disk, self.seed);
        if let Some(mut workload) = named {
            return self.simulate(&mut *workload, disk, queue, follower);
        }
        match &self.plan.load {
            Load::Workload(_) => unreachable!("it was built"),
            Load::Fio(jobs) => self.simulate(&mut jobs.build(ground)?, disk, queue, follower),
            Load::Trace { open, mode, speed, .. } => {
                let unscheduled = self.choice().label == registry::NONE;
                let settings =
                    Settings { mode: *mode, speed: *speed, capacity: ground.capacity, unscheduled };
                let mut replay = Replay::new(open(self.device).map_err(ExperimentError::Trace)?, settings);
                let limits = self.plan.limits;
                let outcome = self.simulate(&mut replay, disk, queue, follower)?;
                let cut_short =
                    outcome.cut_short || limits.until < Instant::MAX || limits.requests < u64::MAX;
                match replay.take_error() {
                    Some(error) => Err(ExperimentError::Trace(error)),
                    None if replay.unissued() > 0 && !cut_short => {
                        Err(ExperimentError::Unissued { rows: replay.unissued(), of: replay.account().rows })
                    }
                    None => Ok(Outcome { account: Some(replay.account()), ..outcome }),
                }
            }
        }
    }

    fn choice(&self) -> &Choice {
        &self.plan.schedulers[self.scheduler]
    }

    /// A selector with what it needs, if the run has one.
    fn selecting(&self, traits: &Device) -> Result<Option<Selecting>, ExperimentError> {
        let (plan, choice) = (self.plan, self.choice());
        let Chosen::Selector(entry) = choice.entry else { return Ok(None) };
        let settings = seeded(choice, self.seed);
        let profile = plan.selection.model.as_ref().unwrap_or(&plan.disk);
        let mut model = profile.build()?;
        if model.capacity() < traits.capacity {
            // As large as the disk by more platters, so that seeks over a part of the disk take what they took.
            let mut larger = profile.model.clone();
            if !larger.set_capacity(traits.capacity.0) {
                let (model, disk) = (profile.name.clone(), plan.disk.name.clone());
                return Err(ExperimentError::SmallModel { model, disk });
            }
            model = larger.build()?;
        }
        let mut measuring = Ok(());
        let chooser = plan.selection.chooser(entry, &settings, plan.queue_size, |candidates| {
            let ranking = measure::ranking(&plan.disk, candidates, QUICK, &Control::default());
            ranking.map(|own| own.ranks).map_err(|error| measuring = Err(error)).unwrap_or_default()
        });
        measuring?;
        let chooser =
            chooser.map_err(|error| ExperimentError::Selector { selector: choice.label.clone(), error })?;
        Ok(Some(plan.selection.director(chooser, entry, (traits, plan.queue_size), model)))
    }

    /// The queue with its scheduler, or with the selector's first.
    fn queue(
        &self,
        traits: Device,
        selecting: Option<&Selecting>,
    ) -> Result<Queue<AnyScheduler>, ExperimentError> {
        let (choice, size) = (self.choice(), self.plan.queue_size);
        let built = match (choice.entry, selecting) {
            (Chosen::Scheduler(entry), _) => Queue::new(size, traits, entry, &seeded(choice, self.seed)),
            (_, Some(selecting)) => {
                let first = selecting.current();
                Queue::new(size, traits, first.entry, &first.settings)
            }
            (Chosen::Selector(_) | Chosen::Foreign(_), None) => unreachable!("it was built elsewhere"),
        };
        built.map_err(|error| ExperimentError::Scheduler { scheduler: choice.label.clone(), error })
    }

    fn simulate<W: Named + ?Sized, D: DiskModel, S: Scheduler, F: Follows<S>>(
        self,
        workload: &mut W,
        disk: &mut D,
        mut queue: Queue<S>,
        follower: F,
    ) -> Result<Outcome, ExperimentError> {
        let (plan, control, label) = (self.plan, self.control, self.choice().label.clone());
        let weights: BTreeMap<Issuer, Weight> =
            workload.weights().into_iter().chain(plan.weights.iter().copied()).collect();
        for (&who, &weight) in &weights {
            let set = queue.set_weight(Instant::ZERO, who, weight);
            set.map_err(|error| ExperimentError::Weight { who, error })?;
            disk.tell(Instant::ZERO, News::Weight(who, weight));
        }
        let (limits, watches, recorder) = (plan.limits, self.watches, self.recorder);
        let phases = workload.phases();
        if !phases.is_empty() {
            *recorder = std::mem::take(recorder).phased(phases);
        }
        let mut host = host::Host::new(queue, follower);
        let ended = play((workload, &mut host, disk), recorder, limits, control, watches);
        let (queue, follower) = host.into_parts();
        let merges = queue.merges();
        let end = ended.map_err(|error| ExperimentError::Engine { scheduler: label.clone(), error })?;
        let weight = |issuer: &Issuer| weights.get(issuer).copied().unwrap_or_default();
        let describe = |issuer: Issuer| (workload.name(issuer), weight(&issuer));
        let mut report = if self.last {
            recorder.report(&label, merges, describe)
        } else {
            Report { merges, ..Report::default() }
        };
        let series = if self.last { recorder.take_series(|issuer| workload.name(issuer)) } else { None };
        let (selector, log) = follower.told(end);
        report.selector = selector;
        Ok(Outcome {
            scheduler: self.scheduler,
            seed: self.seed,
            report,
            account: None,
            log,
            series,
            moments: workload.moments().to_vec(),
            cut_short: control.stop.load(std::sync::atomic::Ordering::Relaxed),
        })
    }
}

/// Puts `workload` on the queue and disk.
fn play<W: Workload + ?Sized, D: DiskModel, S: Scheduler, C: Director<S>>(
    (workload, host, disk): (&mut W, &mut host::Host<S, C>, &mut D),
    recorder: &mut Recorder,
    limits: Limits,
    control: &Control,
    watches: Option<&mut dyn Observer>,
) -> Result<Instant, EngineError> {
    let Some(watches) = watches else {
        return Engine::new(workload, host, disk, recorder, limits).run(control);
    };
    let mut both = Watched { measures: recorder, watches };
    Engine::new(workload, host, disk, &mut both, limits).explained().run(control)
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

/// What a workload for `disk` is built for.
fn ground(disk: &impl DiskModel, seed: u64) -> Ground {
    Ground { capacity: disk.capacity(), depth: disk.depth(), seed }
}
