//! The runs that claims take: which they are, and carrying them out, each once however many claims look at it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::atomic::Ordering;

use idlewise_core::learned::Curve;
use idlewise_core::{Instant, Merging};
use idlewise_disk::Profile;
use rayon::prelude::*;

use super::claims::{Claim, Paper, Setup, Test};
use super::error::PapersError;
use super::formula::{Measure, Term};
use super::measured::Measured;
use super::watches::{Watch, Watcher};
use crate::engine::{Control, Limits};
use crate::experiment::{Choice, Chosen, Experiment, ExperimentError, Load, known_curve};
use crate::selection::files;
use crate::workloads::{Spec, parse_duration};

/// One run: all that decides what comes of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Run {
    disk: String,
    load: String,
    time: Option<String>,
    merges: bool,
    scheduler: String,
    /// What it is watched for.
    watch: Option<Watch>,
    seed: u64,
}

/// Everything that decides the run, as text.
impl fmt::Display for Run {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Run { disk, load, time, merges, scheduler, watch, seed } = self;
        let time = time.as_deref().unwrap_or("whole");
        let merges = if *merges { "" } else { " no-merges" };
        write!(out, "{disk} {load} {time}{merges} {scheduler}")?;
        if let Some(watch) = watch {
            write!(out, " {}", watch.name())?;
        }
        write!(out, " seed={seed}")
    }
}

/// What runs gave, by their texts.
pub type Results = BTreeMap<String, Measured>;

/// A paper's run.
pub(super) fn setup<'a>(paper: &'a Paper, run: &str) -> Result<&'a Setup, PapersError> {
    let unknown = || PapersError::Run { paper: paper.name.clone(), run: run.to_owned() };
    paper.runs.get(run).ok_or_else(unknown)
}

/// The run that a figure is of.
pub(super) fn run(paper: &Paper, term: &Term, full: bool, seed: u64) -> Result<Run, PapersError> {
    let setup = setup(paper, &term.run)?;
    let step = term.step.as_deref().unwrap_or_default();
    if !(setup.x.is_empty() && step.is_empty() || setup.x.iter().any(|x| x == step)) {
        let known = setup.x.join(", ");
        let (paper, run) = (paper.name.clone(), term.run.clone());
        return Err(PapersError::Step { paper, run, step: step.to_owned(), known });
    }
    let larger = if full { &setup.full } else { &Default::default() };
    let load = larger.load.as_ref().unwrap_or(&setup.load).replace("{x}", step);
    Ok(Run {
        disk: setup.disk.as_ref().unwrap_or(&paper.disk).clone(),
        load,
        time: larger.time.as_ref().or(setup.time.as_ref()).cloned(),
        merges: setup.merges,
        scheduler: term.scheduler.clone(),
        watch: match term.measure {
            Measure::Watched(watch) => Some(watch),
            _ => None,
        },
        seed,
    })
}

/// The figures of a table: of each step, one for each candidate.
pub(super) fn table(
    paper: &Paper,
    run: &str,
    among: &[String],
    measure: &Measure,
) -> Result<Vec<Vec<Term>>, PapersError> {
    let cell = |step: &String| {
        let term = |scheduler: &String| Term {
            run: run.to_owned(),
            step: Some(step.clone()),
            scheduler: scheduler.clone(),
            measure: measure.clone(),
        };
        among.iter().map(term).collect()
    };
    Ok(setup(paper, run)?.x.iter().map(cell).collect())
}

/// The figures that a claim looks at.
fn terms(paper: &Paper, claim: &Claim) -> Result<Vec<Term>, PapersError> {
    let mut terms = Vec::new();
    for point in &claim.points {
        match &point.test {
            Test::Ratio(ours, _) | Test::Value(ours, _) | Test::Bound(ours, ..) => {
                terms.extend(ours.terms().cloned());
            }
            Test::Spread(all, _) | Test::Order(all) => {
                terms.extend(all.iter().flat_map(super::formula::Formula::terms).cloned());
            }
            Test::Table { run, among, measure, .. } => {
                terms.extend(table(paper, run, among, measure)?.into_iter().flatten());
            }
        }
    }
    if let Some(curve) = &claim.curve {
        let among: Vec<String> = curve.lines.keys().cloned().collect();
        terms.extend(table(paper, &curve.run, &among, &Measure::default())?.into_iter().flatten());
    }
    Ok(terms)
}

/// The runs that these claims take, each once.
///
/// # Errors
/// [`PapersError`] if a formula names a run that is not declared.
pub fn wanted(claims: &[(&Paper, &Claim)], full: bool, seeds: &[u64]) -> Result<Vec<Run>, PapersError> {
    let mut runs = BTreeSet::new();
    for (paper, claim) in claims {
        for term in terms(paper, claim)? {
            for seed in seeds {
                runs.insert(run(paper, &term, full, *seed)?);
            }
        }
    }
    Ok(runs.into_iter().collect())
}

impl Run {
    /// The same for half of the simulated time.
    #[cfg(test)]
    pub(super) fn halved(&self) -> Run {
        let half = |text: &String| {
            let seconds: u64 =
                text.strip_suffix('s').and_then(|number| number.parse().ok()).expect("whole seconds");
            format!("{}ms", seconds * 500)
        };
        let time = self.time.as_ref().expect("the load does not end by itself");
        Run { time: Some(half(time)), ..self.clone() }
    }

    /// Carries it out.
    fn measure(&self, control: &Control) -> Result<Measured, PapersError> {
        let find = |name: &str| Chosen::find(name).map(|entry| (entry, entry.tunables()));
        let (entry, settings) = files::tuned(&self.scheduler, find)?;
        let settings = settings.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let time = |text: &String| parse_duration(text).ok_or_else(|| PapersError::Time(text.clone()));
        let time = self.time.as_ref().map(time).transpose()?;
        let until = time.map_or(Instant::MAX, |time| Instant::ZERO + time);
        let experiment = Experiment {
            schedulers: vec![Choice { label: self.scheduler.clone(), entry, settings }],
            seeds: vec![self.seed],
            merging: if self.merges { Merging::All } else { Merging::Off },
            limits: Limits { until, ..Limits::default() },
            ..Experiment::new(
                Profile::find(&self.disk, &Profile::named)?,
                Load::Workload(Spec::parse(&self.load)?),
            )
        };
        let Some(watch) = self.watch else {
            return Ok(Measured::of(&experiment.run_one(0, self.seed, control, None)?, None));
        };
        let disk = experiment.disk.build().map_err(ExperimentError::from)?;
        let curve = known_curve(&disk).unwrap_or(Curve::LEVEL);
        let mut watcher = Watcher::new(curve, experiment.queue_size);
        let outcome = experiment.run_watched(0, self.seed, control, Some(&mut watcher))?;
        Ok(Measured::of(&outcome, Some(watcher.share(watch))))
    }
}

/// Carries `runs` out on this many threads; 0: as many as there are processors. `done` is told of each that is finished.
/// A stop through `control` leaves out what is not.
///
/// # Errors
/// [`PapersError`] of the first run that failed.
pub fn carry_out(
    runs: &[Run],
    jobs: usize,
    control: &Control,
    done: &(dyn Fn(&Run, &Measured) + Sync),
) -> Result<Results, PapersError> {
    let stopped = || control.stop.load(Ordering::Relaxed);
    let one = |run: &Run| -> Option<Result<(String, Measured), PapersError>> {
        let measured = (!stopped()).then(|| run.measure(control))?;
        match measured {
            // What was cut short is no result.
            Ok(_) if stopped() => None,
            Ok(measured) => {
                done(run, &measured);
                Some(Ok((run.to_string(), measured)))
            }
            Err(error) => Some(Err(error)),
        }
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs).build();
    let pool = pool.map_err(|error| PapersError::Threads(error.to_string()))?;
    // One at a time: runs differ a thousandfold in how long they take.
    pool.install(|| runs.par_iter().with_max_len(1).filter_map(one).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::papers::claims::papers;

    fn all() -> Vec<(&'static Paper, &'static Claim)> {
        papers().iter().flat_map(|paper| paper.claims.iter().map(move |claim| (paper, claim))).collect()
    }

    #[test]
    fn all_runs_are_declared_and_can_be_built() {
        for full in [false, true] {
            let runs = wanted(&all(), full, &[1]).unwrap();
            let control = Control::default();
            for run in &runs {
                // A run that ends at once is built all the same.
                let brief = Run { time: Some("1ms".to_owned()), ..run.clone() };
                brief.measure(&control).unwrap_or_else(|error| panic!("{run}: {error}"));
            }
            assert!(runs.len() > 100, "{}", runs.len());
        }
    }

    #[test]
    fn what_was_stopped_is_no_result() {
        let runs = wanted(&all()[..1], false, &[1, 2]).unwrap();
        let control = Control::default();
        let stop = || control.stop.store(true, Ordering::Relaxed);
        let results = carry_out(&runs, 1, &control, &|_, _| stop()).unwrap();
        assert_eq!(results.len(), 1, "the next ones do not begin");
        let control = Control::default();
        let long = [Run { time: Some("1000000000s".to_owned()), ..runs[0].clone() }];
        let results = std::thread::scope(|scope| {
            scope.spawn(|| {
                while control.completed.load(Ordering::Relaxed) == 0 {
                    std::thread::yield_now();
                }
                control.stop.store(true, Ordering::Relaxed);
            });
            carry_out(&long, 1, &control, &|_, _| ()).unwrap()
        });
        assert!(results.is_empty(), "what was under way is cut short");
    }
}
