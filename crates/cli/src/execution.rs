//! Running an experiment: progress, Ctrl-C, reasons.

use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use idlewise_core::Instant;
use idlewise_sim::engine::{Control, Observer};
use idlewise_sim::experiment::{ExperimentError, Outcome};
use idlewise_sim::metrics::series::Series;
use idlewise_sim::selection::log::Line;

use crate::failure::Failure;
use crate::input::setup::{self, Prepared};
use crate::progress::{Progress, interruptible};
use crate::report::output::{Target, is_stdout};

/// What the runs gave.
pub(crate) struct Done {
    /// One for each run that was finished, or if none was, for each that was begun; at least one.
    pub(crate) outcomes: Vec<Outcome>,
    /// The runs were cut short.
    pub(crate) interrupted: bool,
}

impl Done {
    fn new(outcomes: Vec<Outcome>, control: &Control) -> Result<Done, Failure> {
        if outcomes.is_empty() {
            return Err(Failure::failed("interrupted before the first run was done"));
        }
        let interrupted = control.stop.load(Ordering::Relaxed);
        Ok(Done { outcomes: if interrupted { finished(outcomes) } else { outcomes }, interrupted })
    }

    /// What happened when, by scheduler, of those runs that kept it.
    pub(crate) fn series<'a>(&'a self, prepared: &'a Prepared) -> Vec<(&'a str, &'a Series)> {
        let label = |outcome: &Outcome| prepared.experiment.schedulers[outcome.scheduler].label.as_str();
        let named = |outcome: &'a Outcome| outcome.series.as_ref().map(|series| (label(outcome), series));
        self.outcomes.iter().filter_map(named).collect()
    }
}

/// The runs that were not cut short, if there are any: the others' figures are of another part of the load each.
fn finished(outcomes: Vec<Outcome>) -> Vec<Outcome> {
    let (cut, whole): (Vec<_>, Vec<_>) = outcomes.into_iter().partition(|outcome| outcome.cut_short);
    if whole.is_empty() { cut } else { whole }
}

/// The status of a command that has printed what it had.
pub(crate) fn finish(done: &Done) -> Result<(), Failure> {
    if done.interrupted { Err(Failure::Interrupted) } else { Ok(()) }
}

/// Runs the experiment, with progress and Ctrl-C.
pub(crate) fn execute(prepared: &Prepared) -> Result<Done, Failure> {
    let control = interruptible()?;
    let outcomes = {
        let _progress = Progress::follow(Arc::clone(&control), runs(prepared));
        prepared.experiment.run(&control)
    };
    Done::new(outcomes.map_err(setup::failure)?, &control)
}

/// Runs the first scheduler and writes each decision with its reason.
pub(crate) fn explain(prepared: &Prepared, path: &Path) -> Result<Done, Failure> {
    let control = interruptible()?;
    let mut target = Target::open(path)?;
    let outcome = {
        // Reasons that scroll by on a terminal are progress enough.
        let _progress = (!is_stdout(path)).then(|| Progress::follow(Arc::clone(&control), 1));
        let mut out = BufWriter::new(&mut target);
        prepared.experiment.run_one(0, prepared.experiment.seeds[0], &control, Some(&mut out))
    };
    match outcome {
        Ok(outcome) => {
            let told = |line: &&Line| prepared.experiment.told.tells(Instant(line.at_ns), None);
            for line in outcome.log.iter().flat_map(|log| log.lines()).filter(told) {
                let text = serde_json::to_string(line).map_err(Failure::failed)?;
                writeln!(target, "{text}").map_err(|error| target.failure(&error))?;
            }
            target.finish()?;
            Done::new(vec![outcome], &control)
        }
        Err(ExperimentError::Why(error)) => Err(target.failure(&error)),
        Err(error) => Err(setup::failure(error)),
    }
}

/// Runs the first scheduler again, as it ran before, while `watches` is told of all that happens.
pub(crate) fn watch(prepared: &Prepared, watches: &mut dyn Observer) -> Result<(), Failure> {
    let control = interruptible()?;
    let _progress = Progress::follow(Arc::clone(&control), 1);
    let seed = prepared.experiment.seeds[0];
    prepared.experiment.run_watched(0, seed, &control, Some(watches)).map(|_| ()).map_err(setup::failure)
}

/// Runs in all.
fn runs(prepared: &Prepared) -> u64 {
    (prepared.experiment.schedulers.len() * prepared.experiment.seeds.len()) as u64
}

#[cfg(test)]
mod tests {
    use idlewise_disk::Profile;
    use idlewise_sim::experiment::{Experiment, Load};

    use super::*;
    use crate::input::{names, setup};

    #[test]
    fn what_was_cut_short_is_left_out_if_something_is_whole() {
        let load = Load::Workload(setup::workload_spec("random:requests=10").unwrap());
        let schedulers = names::schedulers(&["noop".to_owned(), "c-look".to_owned()]).unwrap().0;
        let experiment = Experiment { schedulers, ..Experiment::new(Profile::named("fixed").unwrap(), load) };
        let run = |cut: [bool; 2]| {
            let mut outcomes = experiment.run(&Control::default()).unwrap();
            outcomes.iter_mut().zip(cut).for_each(|(outcome, cut)| outcome.cut_short = cut);
            finished(outcomes).iter().map(|outcome| outcome.scheduler).collect::<Vec<_>>()
        };
        assert_eq!(run([false, false]), [0, 1]);
        assert_eq!(run([true, false]), [1]);
        assert_eq!(run([true, true]), [0, 1]);
    }
}
