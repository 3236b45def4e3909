//! Changes to another scheduler at random when throughput drops.
//!
//! # How it decides
//! `auto-explore` begins with any candidate. Each period it measures throughput. When throughput falls below a
//! threshold, `auto-explore` draws another candidate, all equally likely. With n candidates it finds the best after
//! n - 1 changes on average, if throughput stays low until then.
//!
//! # Source
//! Naweed, Di Natale and Andrabi, *Modification and Evaluation of Linux I/O Schedulers* (UNC), §IV. The paper gives no
//! threshold, period or estimator. Here the threshold is a share of the best throughput seen, which fades so that a
//! lighter load does not look like a loss for ever; or a fixed number (`absolute`). A period of grace follows a change.
//!
//! # Good for, bad for
//! Loads that never change and differ much between schedulers. A lighter load looks like a worse scheduler.

use super::contract::{Answer, Candidate, Method, Selector, Settings, Setup, Situation, Wish};
use super::summary::Summary;
use crate::collections::OutOfMemory;
use crate::rng::Random;
use crate::tunables::{Count, Kibibytes, Percent, Seed};
use crate::why::Reason;

crate::tunables! {
    /// When throughput is too low.
    pub struct Threshold {
        /// Throughput below this share of the best seen is too low.
        threshold: Percent = 80, 1..=100;
        /// Throughput in a second below this is too low, whatever was seen; 0: the share counts.
        absolute: Kibibytes = 0, 0..=1_000_000_000;
        /// What the last period counts for in the throughput that is compared.
        new: Percent = 50, 1..=100;
        /// How much of the best seen is forgotten each period.
        fade: Percent = 1, 0..=100;
        /// Periods after a change in which nothing is judged.
        grace: Count = 1, 0..=1000;
        /// A period with fewer requests says nothing.
        few: Count = 8, 0..=1_000_000;
        /// The seed of the draws.
        seed: Seed = 1, 0..=u64::MAX;
    }
}

/// The exploring selector.
pub struct Explore {
    threshold: Threshold,
    random: Random,
    /// Mean throughput under the candidate in use; 0 if unknown.
    mean: u64,
    /// The best mean seen, faded.
    best: u64,
    /// Periods of grace left.
    grace: u64,
    /// The candidate that the mean is of.
    of: usize,
}

impl Method for Explore {
    const NAME: &'static str = "auto-explore";
    const SUMMARY: &'static str = "Selector: changes at random when throughput drops (UNC).";
    const SOURCE: &'static str = "UNC §IV";
    const CANDIDATES: &'static [&'static str] = &["deadline", "as", "noop", "aql"];
    type Tunables = Threshold;

    fn new(_: Setup<'_>, settings: Settings<Self>) -> Result<Self, OutOfMemory> {
        Ok(Explore { threshold: settings.own, random: Random::default(), mean: 0, best: 0, grace: 0, of: 0 })
    }
}

impl Selector for Explore {
    fn first(&mut self, candidates: &[Candidate]) -> usize {
        self.of = self.random.below(self.threshold.seed.0, candidates.len() as u32) as usize;
        self.of
    }

    fn period(&mut self, at: Situation<'_>, summary: &Summary) -> Answer {
        let settings = &self.threshold;
        if self.of != at.current {
            (self.of, self.mean, self.grace) = (at.current, 0, settings.grace.0);
        }
        if summary.requests < settings.few.0 {
            return Answer::stay(Reason::new("{} requests say nothing", &[summary.requests.into()]));
        }
        if self.grace > 0 {
            self.grace -= 1;
            return Answer::stay(Reason::new("a period of grace after the change", &[]));
        }
        let new = if self.mean == 0 { 100 } else { settings.new.0 };
        self.mean = self.mean / 100 * (100 - new) + summary.throughput() / 100 * new;
        self.best = (self.best / 100 * (100 - settings.fade.0)).max(self.mean);
        let floor = match settings.absolute.0 {
            0 => self.best / 100 * settings.threshold.0,
            absolute => absolute * 1024,
        };
        let (now, least) = (self.mean / 1024, floor / 1024);
        if self.mean >= floor {
            let text = "{} KiB/s are enough: at least {}";
            return Answer::stay(Reason::new(text, &[now.into(), least.into()]));
        }
        let others = at.candidates.len() as u32 - 1;
        if others == 0 {
            return Answer::stay(Reason::new("no other candidate is there", &[]));
        }
        let drawn = self.random.below(settings.seed.0, others) as usize;
        let next = drawn + usize::from(drawn >= at.current);
        let text = "{} KiB/s are less than {}: {} was drawn";
        let name = at.candidates[next].entry.name;
        Answer { wish: Wish::Use(next), reason: Reason::new(text, &[now.into(), least.into(), name.into()]) }
    }
}
