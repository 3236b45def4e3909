//! Looks the mean request size up in a ranking that was measured beforehand.
//!
//! # How it decides
//! Beforehand, the throughput of each scheduler is measured on the disk with random reads of each size from 4 KiB to
//! 1 MiB. The ranking has the best scheduler for each size. Then, each period, the mean size of requests says which
//! scheduler should be in use. The mean is smoothed: the last period counts for `new`, those before for the rest.
//!
//! # Source
//! Seelam et al., *Enhancements to Linux I/O Scheduling* (OLS'05), §6. The paper gives no period and no smoothing, and
//! shows its ranking as a picture only.
//!
//! # Good for, bad for
//! Loads of random reads, with which the ranking was measured. Sizes do not say which requests somebody waits for.

use alloc::vec::Vec;

use super::contract::{Answer, Method, Rank, Selector, Settings, Setup, Situation, Wish};
use super::summary::Summary;
use crate::collections::OutOfMemory;
use crate::tunables::Percent;
use crate::why::Reason;

crate::tunables! {
    /// How the mean is smoothed.
    pub struct Smoothing {
        /// What the last period counts for in the mean.
        new: Percent = 50, 1..=100;
    }
}

/// The ranking selector.
pub struct Ranking {
    smoothing: Smoothing,
    ranks: Vec<Rank>,
    /// The mean request size in bytes; 0 before the first request.
    mean: u64,
}

impl Method for Ranking {
    const NAME: &'static str = "auto-ranking";
    const SUMMARY: &'static str =
        "Selector: takes the scheduler that was measured as best for the mean request size (OLS'05 §6).";
    const SOURCE: &'static str = "OLS'05 §6";
    const CANDIDATES: &'static [&'static str] = &["deadline-2.6.11", "as-2.6.11", "cfq-2.6.9", "noop"];
    const RANKS: bool = true;
    type Tunables = Smoothing;

    fn new(setup: Setup<'_>, settings: Settings<Self>) -> Result<Self, OutOfMemory> {
        let mut ranks = Vec::new();
        ranks.try_reserve_exact(setup.ranks.len()).map_err(|_| OutOfMemory)?;
        ranks.extend_from_slice(setup.ranks);
        Ok(Ranking { smoothing: settings.own, ranks, mean: 0 })
    }
}

impl Selector for Ranking {
    fn period(&mut self, at: Situation<'_>, summary: &Summary) -> Answer {
        if summary.requests == 0 {
            return Answer::stay(Reason::new("nothing was asked for", &[]));
        }
        let new = if self.mean == 0 { 100 } else { self.smoothing.new.0 };
        self.mean = (self.mean * (100 - new) + summary.mean_size() * new) / 100;
        let rank = self.ranks.iter().find(|rank| self.mean <= rank.up_to).or(self.ranks.last());
        let Some(rank) = rank.filter(|rank| usize::from(rank.candidate) < at.candidates.len()) else {
            return Answer::stay(Reason::new("no ranking was measured for this disk", &[]));
        };
        let best = usize::from(rank.candidate);
        let reason = Reason::new(
            "requests have {} bytes on average: {} is best up to {}",
            &[self.mean.into(), at.candidates[best].entry.name.into(), rank.up_to.into()],
        );
        Answer { wish: Wish::Use(best), reason }
    }

    fn memory(&self) -> usize {
        self.ranks.len() * size_of::<Rank>()
    }
}
