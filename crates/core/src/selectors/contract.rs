//! The contract between a selector and its host.
//!
//! What a selector sees: a [`Situation`] and the [`Summary`] of the last period, or the [`Prediction`]s that it
//! asked for. What a selector answers: an [`Answer`], which is a [`Wish`] and its reason.
//!
//! A selector sees nothing else. So the same evidence makes the same decisions on any host.

use alloc::vec::Vec;
use core::marker::PhantomData;

use super::category::{Bounds, Category};
use super::pace::Pace;
use super::summary::Summary;
use crate::collections::OutOfMemory;
use crate::registry::{Assignment, Entry};
use crate::tunables::{Preset, Presets, Tunables};
use crate::units::{Duration, Instant};
use crate::why::Reason;

/// The most candidates that a selector chooses among.
pub const CANDIDATES_MAX: usize = 32;

/// A scheduler that may be chosen, with its settings.
#[derive(Clone)]
pub struct Candidate {
    /// The scheduler.
    pub entry: &'static Entry,
    /// Settings that differ from its defaults.
    pub settings: Vec<Assignment<'static>>,
}

impl Candidate {
    /// A scheduler with its defaults.
    pub const fn plain(entry: &'static Entry) -> Candidate {
        Candidate { entry, settings: Vec::new() }
    }

    /// A scheduler with such settings.
    ///
    /// # Errors
    /// [`OutOfMemory`].
    pub fn with(entry: &'static Entry, settings: &[Assignment<'static>]) -> Result<Candidate, OutOfMemory> {
        let mut own = Vec::new();
        own.try_reserve_exact(settings.len()).map_err(|_| OutOfMemory)?;
        own.extend_from_slice(settings);
        Ok(Candidate { entry, settings: own })
    }
}

/// A scheduler by its name, with settings that differ from its defaults.
pub type Tuned = (&'static str, &'static [Assignment<'static>]);

/// The scheduler that was measured as best for requests up to a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rank {
    /// Mean request size, in bytes, up to which it is best.
    pub up_to: u64,
    /// The candidate's place in the list.
    pub candidate: u8,
}

/// What a selector is built for.
#[derive(Clone, Copy)]
pub struct Setup<'a> {
    /// The candidates; at least one, at most [`CANDIDATES_MAX`].
    pub candidates: &'a [Candidate],
    /// A decision matrix instead of the built-in ones: for each category, by its index, the place of its
    /// best candidate.
    pub cells: Option<[u8; 16]>,
    /// A measured ranking by request size, in increasing order of size.
    pub ranks: &'a [Rank],
}

/// What a host expects of a candidate, from playing the latest requests against a model of the disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Prediction {
    /// The candidate's place in the list.
    pub candidate: u8,
    /// Bytes in a second.
    pub throughput: u64,
    /// Bytes in a second of the slowest process.
    pub slowest: u64,
    /// Jain's index over the processes' bytes, each as a share of what it got in reality, in thousandths.
    pub jain_permille: u64,
    /// 99 in 100 synchronous reads would take no longer; zero if there are none.
    pub sync_read_p99: Duration,
    /// The longest time that a request of anybody would take, or has waited when the simulation ends.
    pub longest: Duration,
    /// How long it takes after a switch until the candidate gives half of that: for a while the disk has other work.
    pub settles: Duration,
    /// Requests that were simulated for it: what it took to tell.
    pub requests: u64,
}

/// What a selector wants to know of every candidate: what it would make of the latest requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question {
    /// Since when the load is as it is.
    pub begun: Instant,
    /// Requests since this time are played again, and earlier ones of processes that issued few.
    pub since: Instant,
    /// How long each candidate is simulated. What a candidate learns in the beginning does not count.
    pub horizon: Duration,
    /// When the host gives the answer, however soon the host has computed it.
    pub due: Instant,
}

/// Where things stand when a selector is asked.
#[derive(Clone, Copy)]
pub struct Situation<'a> {
    /// The time.
    pub now: Instant,
    /// The place of the candidate in use.
    pub current: usize,
    /// A switch would be carried out. Else the dwell time has not passed.
    pub free: bool,
    /// The candidates.
    pub candidates: &'a [Candidate],
    /// The category of the last period; `None` if nothing was asked for.
    pub category: Option<Category>,
}

/// What a selector wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// To leave things as they are.
    Stay,
    /// The candidate to use, which may be the one in use.
    Use(usize),
    /// To know what each candidate would make of the latest requests.
    Predict(Question),
}

/// A wish and its reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// What is wanted.
    pub wish: Wish,
    /// Why.
    pub reason: Reason,
}

impl Answer {
    /// Leave things as they are.
    pub fn stay(reason: Reason) -> Answer {
        Answer { wish: Wish::Stay, reason }
    }
}

/// Chooses among candidates.
pub trait Selector {
    /// The candidate to begin with.
    fn first(&mut self, _candidates: &[Candidate]) -> usize {
        0
    }

    /// A period has ended.
    fn period(&mut self, at: Situation<'_>, summary: &Summary) -> Answer;

    /// The predictions that were asked for are there. One is of the candidate in use.
    fn predicted(&mut self, _at: Situation<'_>, _predictions: &[Prediction]) -> Answer {
        Answer::stay(Reason::new("the selector asked for no prediction", &[]))
    }

    /// Bytes of memory that it holds beside itself.
    fn memory(&self) -> usize {
        0
    }
}

/// A selector that the registry can name, describe and build.
pub trait Method: Selector + Sized {
    /// The selector's name in commands and reports.
    const NAME: &'static str;
    /// What it is, in a sentence.
    const SUMMARY: &'static str;
    /// Where its rules come from.
    const SOURCE: &'static str;
    /// The selector's candidates, unless its host has others.
    const CANDIDATES: &'static [&'static str];
    /// More candidates, with other settings.
    const TUNED: &'static [Tuned] = &[];
    /// The selector looks up a matrix, in which its candidates stand: no others can be chosen.
    const MATRIX: bool = false;
    /// The selector asks for predictions: its host keeps the latest requests.
    const PREDICTS: bool = false;
    /// The selector looks up a ranking by request size, which is measured beforehand.
    const RANKS: bool = false;
    /// Defaults of [`Common`] that differ.
    const PRESETS: &'static [(&'static str, u64)] = &[];
    /// The selector's own settings.
    type Tunables: Tunables;

    /// Builds it. Only here does it allocate.
    ///
    /// # Errors
    /// [`OutOfMemory`].
    fn new(setup: Setup<'_>, settings: Settings<Self>) -> Result<Self, OutOfMemory>;
}

crate::groups! {
    /// The settings that all selectors have in common.
    pub struct Common {
        /// How often a selector is asked, and what holds it back.
        pace: Pace,
        /// The bounds between categories.
        bounds: Bounds,
    }
}

/// The defaults of `M` for [`Common`].
pub struct Own<M>(PhantomData<M>);

impl<M> Clone for Own<M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M> Copy for Own<M> {}

impl<M: Method> Presets for Own<M> {
    const PRESETS: &'static [(&'static str, u64)] = M::PRESETS;
}

crate::groups! {
    /// All settings of a selector.
    pub struct Settings[M: Method] [M] {
        /// The settings that all selectors have in common.
        common: Preset<Common, Own<M>>,
        /// The selector's own settings.
        own: M::Tunables,
    }
}
