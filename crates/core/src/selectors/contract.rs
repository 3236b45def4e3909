//! The contract between a selector and whoever hosts it.
//!
//! A selector sees what a period showed and answers which of its candidates it wants, and why. It sees
//! nothing else: the same evidence makes the same decisions, on any host. Some selectors ask their host
//! to predict what each candidate would give; the host answers when it can.

use alloc::vec::Vec;

use super::category::Bounds;
use super::pace::Pace;
use super::summary::Summary;
use crate::collections::OutOfMemory;
use crate::registry::{Assignment, Entry};
use crate::tunables::Tunables;
use crate::units::{Duration, Instant};
use crate::why::Reason;

/// A selector chooses among at most so many.
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
    /// Its place among the candidates.
    pub candidate: u8,
}

/// What a selector is built for.
#[derive(Clone, Copy)]
pub struct Setup<'a> {
    /// Who may be chosen; at least one, at most [`CANDIDATES_MAX`].
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
    /// Its place among the candidates.
    pub candidate: u8,
    /// Bytes in a second.
    pub throughput: u64,
    /// Bytes in a second of the slowest process.
    pub slowest: u64,
    /// Jain's index over the processes' bytes, each as a share of what it got in reality, in thousandths.
    pub jain_permille: u64,
    /// 99 in 100 synchronous reads would take no longer; zero if there are none.
    pub sync_read_p99: Duration,
    /// So long it takes after a switch until it gives half of that: for a while the disk has other work.
    pub settles: Duration,
}

/// What a selector wants to know of every candidate: what it would make of the latest requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question {
    /// Since when the load is as it is.
    pub begun: Instant,
    /// Requests since this time are played again, and earlier ones of processes that issued few.
    pub since: Instant,
    /// For so long each candidate is simulated, with what it learns in the beginning not counted.
    pub horizon: Duration,
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
    /// Who may be chosen.
    pub candidates: &'a [Candidate],
}

/// What a selector wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// To leave things as they are.
    Stay,
    /// This candidate, which may be the one in use.
    Use(usize),
    /// To know what each candidate would make of the latest requests.
    Predict(Question),
}

/// A wish and its reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// What is wanted.
    pub wish: Wish,
    /// Why.
    pub reason: Reason,
}

impl Verdict {
    /// Leave things as they are.
    pub fn stay(reason: Reason) -> Verdict {
        Verdict { wish: Wish::Stay, reason }
    }
}

/// Chooses among candidates.
pub trait Selector {
    /// The candidate to begin with.
    fn first(&mut self, _candidates: &[Candidate]) -> usize {
        0
    }

    /// A period has ended.
    fn period(&mut self, at: Situation<'_>, summary: &Summary) -> Verdict;

    /// The predictions that were asked for are there. One is of the candidate in use.
    fn predicted(&mut self, _at: Situation<'_>, _predictions: &[Prediction]) -> Verdict {
        Verdict::stay(Reason::new("it asked for no prediction", &[]))
    }

    /// Bytes of memory that it holds beside itself.
    fn memory(&self) -> usize {
        0
    }
}

/// A selector that the registry can name, describe and build.
pub trait Method: Selector + Sized {
    /// Its name in commands and reports.
    const NAME: &'static str;
    /// What it is, in a sentence.
    const SUMMARY: &'static str;
    /// Where its rules come from.
    const SOURCE: &'static str;
    /// Whom it chooses among unless told otherwise.
    const CANDIDATES: &'static [&'static str];
    /// And with which other settings.
    const TUNED: &'static [Tuned] = &[];
    /// It looks up a matrix, in which its candidates stand: no others can be chosen.
    const MATRIX: bool = false;
    /// It asks for predictions: its host keeps the latest requests.
    const PREDICTS: bool = false;
    /// It looks up a ranking by request size, which is measured beforehand.
    const RANKS: bool = false;
    /// Its settings.
    type Tunables: Tunables;

    /// Builds it. Only here does it allocate.
    ///
    /// # Errors
    /// [`OutOfMemory`].
    fn new(setup: Setup<'_>, tunables: Self::Tunables) -> Result<Self, OutOfMemory>;

    /// How often it is asked, and what holds it back.
    fn pace(&self) -> Pace;

    /// The bounds between its categories.
    fn bounds(&self) -> Bounds;
}
