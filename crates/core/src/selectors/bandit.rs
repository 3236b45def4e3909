//! Remembers what each scheduler gave for each category of load, and tries others at a bounded cost.
//!
//! # How it decides
//! For each category and candidate `auto-bandit` keeps the mean throughput. Each period it adds what the period gave,
//! unless the category changed in it. Then it takes the best candidate known for the category. A candidate that is
//! unknown there, or whose last trial is forgotten, is tried for one period. The worse a candidate was, the longer it
//! is left alone. `auto-bandit` sums up what trials lost against the best known. None begins while that sum is more
//! than `cost` of all that was done.
//!
//! # Source
//! What UNC §IV describes (Naweed, Di Natale and Andrabi, *Modification and Evaluation of Linux I/O Schedulers*), grown
//! up: a memory, and a price for curiosity.
//!
//! # Good for, bad for
//! Loads that come back. What was never seen has to be tried: with many candidates that takes many periods.

use alloc::vec::Vec;

use super::category::{BY_PLACE, CATEGORIES};
use super::contract::{Answer, Candidate, Method, Selector, Settings, Setup, Situation, Wish};
use super::summary::Summary;
use crate::collections::{OutOfMemory, table};
use crate::tunables::{Milliseconds, Percent};
use crate::units::Instant;
use crate::why::Reason;

crate::tunables! {
    /// Curiosity and memory.
    pub struct Curiosity {
        /// Trials may lose so much of all that was done.
        cost: Percent = 5, 0..=100;
        /// After this time a candidate is tried again; one that is n times worse, after n times as long.
        forget: Milliseconds = 120_000, 1000..=86_400_000;
        /// What the last period counts for in a mean.
        new: Percent = 50, 1..=100;
        /// The best must be better than the one in use by so much.
        margin: Percent = 3, 0..=100;
    }
}

/// What is known of a candidate in a category.
#[derive(Clone, Copy, Debug, Default)]
struct Arm {
    /// Mean throughput in bytes a second; 0 if it was never tried.
    mean: u64,
    tried: Instant,
}

/// The bandit.
pub struct Bandit {
    curiosity: Curiosity,
    /// By category, then candidate.
    arms: Vec<Arm>,
    candidates: usize,
    /// The category of the last period.
    before: Option<usize>,
    /// The period that runs is a trial.
    trial: bool,
    /// KiB done, and KiB lost to trials.
    work: u64,
    lost: u64,
}

impl Method for Bandit {
    const NAME: &'static str = "auto-bandit";
    const SUMMARY: &'static str = "Selector: remembers what each scheduler gave for each kind of load, and tries others at a bounded cost.";
    const SOURCE: &'static str = "own; after UNC §IV";
    const CANDIDATES: &'static [&'static str] = &["deadline", "as", "noop", "cfq", "bfq", "c-look"];
    /// A trial lasts a second, and eight requests are enough to judge it.
    const PRESETS: &'static [(&'static str, u64)] = &[("dwell", 1000), ("idle", 8), BY_PLACE];
    type Tunables = Curiosity;

    fn new(setup: Setup<'_>, settings: Settings<Self>) -> Result<Self, OutOfMemory> {
        let candidates = setup.candidates.len();
        let arms = table(CATEGORIES * candidates, Arm::default())?;
        Ok(Bandit { curiosity: settings.own, arms, candidates, before: None, trial: false, work: 0, lost: 0 })
    }
}

impl Bandit {
    fn arm(&self, category: usize, candidate: usize) -> &Arm {
        &self.arms[category * self.candidates + candidate]
    }

    /// The best candidate known in the category.
    fn best(&self, category: usize) -> Option<usize> {
        let known = (0..self.candidates).filter(|candidate| self.arm(category, *candidate).mean > 0);
        known.max_by_key(|candidate| (self.arm(category, *candidate).mean, usize::MAX - candidate))
    }

    /// Adds a period to what is known.
    fn learn(&mut self, now: Instant, category: usize, current: usize, summary: &Summary) {
        let got = summary.throughput();
        self.work += summary.done_bytes / 1024;
        let best = self.best(category).map_or(0, |best| self.arm(category, best).mean);
        if core::mem::take(&mut self.trial) && best > got {
            self.lost += (best - got) / 1024 * summary.length.as_ms() / 1000;
        }
        let new = self.curiosity.new.0;
        let arm = &mut self.arms[category * self.candidates + current];
        arm.mean = if arm.mean == 0 { got } else { arm.mean / 100 * (100 - new) + got / 100 * new }.max(1);
        arm.tried = now;
    }

    /// A candidate that is unknown in the category or forgotten.
    fn unknown(&self, now: Instant, category: usize, current: usize) -> Option<usize> {
        let best = self.best(category).map_or(1, |best| self.arm(category, best).mean);
        let wanted = |candidate: usize| {
            let arm = self.arm(category, candidate);
            // However bad it was: after two hours, with the default, it is looked at again.
            let lag = (best / arm.mean.max(1)).clamp(1, 64);
            candidate != current && (arm.mean == 0 || now.since(arm.tried) >= self.curiosity.forget.0 * lag)
        };
        let candidates = (0..self.candidates).filter(|candidate| wanted(*candidate));
        candidates.min_by_key(|candidate| self.arm(category, *candidate).tried)
    }
}

impl Selector for Bandit {
    fn first(&mut self, _: &[Candidate]) -> usize {
        0
    }

    fn period(&mut self, at: Situation<'_>, summary: &Summary) -> Answer {
        let Some(category) = at.category else {
            return Answer::stay(Reason::new("nothing was asked for", &[]));
        };
        let place = category.index();
        if self.before.replace(place) == Some(place) {
            self.learn(at.now, place, at.current, summary);
        } else {
            self.trial = false;
            let Some(best) = self.best(place) else {
                return Answer::stay(Reason::new(
                    "{} are new: a period is needed to judge",
                    &[category.pattern().into()],
                ));
            };
            let text = "the load is now {}, for which {} was best";
            let name = at.candidates[best].entry.name;
            return Answer {
                wish: Wish::Use(best),
                reason: Reason::new(text, &[category.pattern().into(), name.into()]),
            };
        }
        let affordable = self.lost * 100 <= self.work * self.curiosity.cost.0;
        if at.free
            && affordable
            && let Some(next) = self.unknown(at.now, place, at.current)
        {
            self.trial = true;
            let text = "{} is tried for {}: trials lost {} KiB of {}";
            let facts = [
                at.candidates[next].entry.name.into(),
                category.pattern().into(),
                self.lost.into(),
                self.work.into(),
            ];
            return Answer { wish: Wish::Use(next), reason: Reason::new(text, &facts) };
        }
        let best = self.best(place).unwrap_or(at.current);
        let (own, other) = (self.arm(place, at.current).mean, self.arm(place, best).mean);
        let enough = own + own / 100 * self.curiosity.margin.0;
        let wanted = if other > enough { best } else { at.current };
        let text = "best known for {} is {} with {} KiB/s; in use {} KiB/s";
        let name = at.candidates[best].entry.name;
        let facts = [category.pattern().into(), name.into(), (other / 1024).into(), (own / 1024).into()];
        Answer { wish: Wish::Use(wanted), reason: Reason::new(text, &facts) }
    }

    fn memory(&self) -> usize {
        self.arms.len() * size_of::<Arm>()
    }
}
