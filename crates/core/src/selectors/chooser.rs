//! The chooser: what a host holds. An activity store, the latest requests if they are wanted, a
//! selector, and what holds it back.
//!
//! The host tells it of every request, asks it at [`Chooser::next_tick`], carries out its decisions with
//! [`Queue::switch_to`](crate::Queue::switch_to) and logs them. The same evidence, given to
//! [`Chooser::judge`] and [`Chooser::predicted`] of a chooser built alike, makes the same decisions.

use alloc::vec::Vec;

use super::activity::Activity;
use super::category::Category;
use super::contract::{Answer, Candidate, Common, Prediction, Question, Selector, Setup, Situation, Wish};
use super::error::ChooserError;
use super::pace::{Pace, Restraint};
use super::recent::Recent;
use super::registry::{AnySelector, Entry};
use super::summary::Summary;
use crate::collections::{OutOfMemory, TryBox};
use crate::registry::Assignment;
use crate::request::Request;
use crate::units::{Duration, Instant, Issuer, RequestId};
use crate::why::{Reason, Why};

/// What was decided at one moment, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// When.
    pub at: Instant,
    /// The category of the period; `None` if nothing was asked for.
    pub category: Option<Category>,
    /// The place of the candidate in use before.
    pub from: usize,
    /// What is done.
    pub action: Action,
    /// What the selector wants, and what held it back.
    pub why: Why,
}

/// What the host does about a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Nothing.
    Stay,
    /// Switch to this candidate.
    Switch(usize),
    /// Predict what each candidate would make of the latest requests, and tell the chooser.
    Predict(Question),
}

/// A selector at work.
pub struct Chooser {
    activity: Activity,
    recent: Option<Recent>,
    selector: TryBox<AnySelector>,
    candidates: Vec<Candidate>,
    common: Common,
    restraint: Restraint,
    current: usize,
    opened: Instant,
    next_tick: Instant,
    category: Option<Category>,
    switches: u64,
}

impl Chooser {
    /// A chooser for a queue of `capacity` request ids, which begins at time zero.
    ///
    /// # Errors
    /// [`ChooserError`] if a setting does not fit or memory is exhausted.
    ///
    /// # Panics
    /// If there is no candidate.
    pub fn new(
        entry: &Entry,
        capacity: usize,
        setup: Setup<'_>,
        settings: &[Assignment<'_>],
    ) -> Result<Self, ChooserError> {
        let room = TryBox::room()?;
        let (selector, common) = entry.build(setup, settings)?;
        let mut selector = room.keep(selector)?;
        let mut candidates = Vec::new();
        candidates.try_reserve_exact(setup.candidates.len()).map_err(|_| OutOfMemory)?;
        for Candidate { entry, settings } in setup.candidates {
            candidates.push(Candidate::with(entry, settings)?);
        }
        let chosen = by_hand(common.pace.manual.0, candidates.len())?;
        let first = chosen.unwrap_or_else(|| selector.first(&candidates));
        let recent = if entry.predicts { Some(Recent::new(capacity)?) } else { None };
        Ok(Chooser {
            activity: Activity::new(common.bounds.block())?,
            recent,
            selector,
            current: first,
            candidates,
            common,
            restraint: Restraint::default(),
            opened: Instant::ZERO,
            next_tick: Instant::ZERO + common.pace.period.0,
            category: None,
            switches: 0,
        })
    }

    /// The first period begins at `now`, not at time zero.
    pub fn begin(&mut self, now: Instant) {
        (self.opened, self.next_tick) = (now, now + self.period());
    }

    /// The candidate in use; at first, the one to begin with.
    pub fn candidate(&self) -> &Candidate {
        &self.candidates[self.current]
    }

    /// The place of the candidate in use; at first, of the one to begin with.
    pub fn current(&self) -> usize {
        self.current
    }

    /// The candidates.
    pub fn candidates(&self) -> &[Candidate] {
        &self.candidates
    }

    /// Switches so far.
    pub fn switches(&self) -> u64 {
        self.switches
    }

    /// How often it is asked, and what holds it back.
    pub fn pace(&self) -> &Pace {
        &self.common.pace
    }

    /// The latest requests, if the selector wants predictions.
    pub fn recent(&self) -> Option<&Recent> {
        self.recent.as_ref()
    }

    /// A request reached the queue as `id`. `merged`: it became part of another one. Its arrival is now.
    #[inline]
    pub fn inserted(&mut self, id: RequestId, request: &Request, merged: bool) {
        self.activity.inserted(request.arrival, request, merged);
        if let Some(recent) = &mut self.recent {
            recent.inserted(id, request);
        }
    }

    /// A request became part of one that waits, and will be done with it: for hosts that have no id for it. No
    /// prediction knows of it.
    #[inline]
    pub fn joined(&mut self, request: &Request) {
        self.activity.joined(request.arrival, request);
    }

    /// A request that was inserted goes away without being done, or became part of another one.
    pub fn left(&mut self, request: &Request) {
        self.activity.left(request);
    }

    /// The disk gets the request that came as `id`, with what was merged into it. A host that does not know when that
    /// is need not tell; predictions then know less of what is in the disk's buffer.
    #[inline]
    pub fn dispatched(&mut self, now: Instant, id: RequestId) {
        if let Some(recent) = &mut self.recent {
            recent.dispatched(now, id);
        }
    }

    /// The request that came as `id`, as it was inserted, is done.
    #[inline]
    pub fn completed(&mut self, now: Instant, id: RequestId, request: &Request) {
        self.activity.completed(now, request);
        if let Some(recent) = &mut self.recent {
            recent.completed(now, id, request);
        }
    }

    /// A process exited.
    pub fn issuer_gone(&mut self, now: Instant, who: Issuer) {
        if let Some(recent) = &mut self.recent {
            recent.gone(now, who);
        }
    }

    /// When the current period ends: the time of the next [`Chooser::tick`].
    #[inline]
    pub fn next_tick(&self) -> Instant {
        self.next_tick
    }

    /// Ends the period if it is over by now, as [`Chooser::tick`] does.
    pub fn due(&mut self, now: Instant) -> Option<(Summary, Decision)> {
        (self.next_tick <= now).then(|| self.tick(now))
    }

    /// The period ends now. The host has told everything that happened in it.
    pub fn tick(&mut self, now: Instant) -> (Summary, Decision) {
        let summary = self.activity.close(now, now.since(self.opened));
        let decision = self.judge(now, &summary);
        (summary, decision)
    }

    /// Decides after a period that showed `summary`.
    pub fn judge(&mut self, now: Instant, summary: &Summary) -> Decision {
        self.opened = now;
        self.next_tick = now + self.period();
        self.category = Category::of(summary, &self.common.bounds);
        if let Some(reason) = self.restraint.idle(summary, &self.common.pace) {
            return self.stays(now, None, reason);
        }
        self.ask(now, |selector, at| selector.period(at, summary))
    }

    /// Decides with the predictions that [`Action::Predict`] asked for.
    pub fn predicted(&mut self, now: Instant, predictions: &[Prediction]) -> Decision {
        self.ask(now, |selector, at| selector.predicted(at, predictions))
    }

    /// Carries out the selector's answer, unless something holds it back.
    fn ask(
        &mut self,
        now: Instant,
        answer: impl FnOnce(&mut AnySelector, Situation<'_>) -> Answer,
    ) -> Decision {
        let Chooser { current, category, ref candidates, ref common, .. } = *self;
        let free = self.restraint.free(now, &common.pace);
        let at = Situation { now, current, free, candidates, category };
        let Answer { wish, reason } = answer(&mut self.selector, at);
        if common.pace.manual.0 != 0 {
            return self.stays(now, Some(Reason::new("chosen by hand", &[])), reason);
        }
        match wish {
            Wish::Stay => self.stays(now, None, reason),
            Wish::Predict(question) => {
                Decision { action: Action::Predict(question), ..self.stays(now, None, reason) }
            }
            Wish::Use(wanted) => match self.restraint.allow(now, wanted, current, &common.pace) {
                Ok(None) => self.stays(now, None, reason),
                Ok(Some(wanted)) => self.turns(now, wanted, reason),
                Err(held) => self.stays(now, Some(held), reason),
            },
        }
    }

    fn stays(&self, at: Instant, held: Option<Reason>, reason: Reason) -> Decision {
        let (category, from) = (self.category, self.current);
        Decision { at, category, from, action: Action::Stay, why: Why::of(held, reason) }
    }

    fn turns(&mut self, now: Instant, wanted: usize, reason: Reason) -> Decision {
        let decision = Decision { action: Action::Switch(wanted), ..self.stays(now, None, reason) };
        self.current = wanted;
        self.switches += 1;
        self.restraint.switched(now);
        decision
    }

    /// Bytes of memory that it holds.
    pub fn memory(&self) -> usize {
        let recent = self.recent.as_ref().map_or(0, Recent::memory);
        size_of::<Self>() + self.activity.memory() + recent + self.selector.memory()
    }

    /// How long a period lasts.
    pub fn period(&self) -> Duration {
        self.common.pace.period.0
    }
}

/// The place of the candidate that the setting [`Pace::manual`] chooses.
///
/// # Errors
/// [`ChooserError::Manual`] if there is none at that place.
pub fn by_hand(manual: u64, candidates: usize) -> Result<Option<usize>, ChooserError> {
    match (manual as usize).checked_sub(1) {
        Some(place) if place >= candidates => Err(ChooserError::Manual { place: manual, candidates }),
        chosen => Ok(chosen),
    }
}
