//! Whether to keep waiting for a process: the rules by which anticipation ends, or does not begin.
//!
//! The papers' steps are rules here, each a function: LAS is OLS'05 §2.2, CAS is OLS'05 §4.
//!
//! | rule | LAS | CAS |
//! |---|---|---|
//! | a read is overdue, or anticipation is off | 1 | 1 |
//! | the time has elapsed | 2 | 2 |
//! | the process has exited | 3 | 4 |
//! | the request is close | 4 | 3 |
//! | new processes exit | 5 | 5 |
//! | the process thinks too long | 6 | 6 |
//! | the process seeks further than the request is away | 7 | in 3 |
//!
//! The first is not among these: it is looked at before anybody is waited for.

use super::statistics::{Probability, Process, System};
use crate::request::Request;
use crate::units::{Duration, Instant, Issuer, RequestId, Sector};

/// Which rules, in which order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleSet {
    /// LAS, as Linux 2.6.9 to 2.6.12: one process at a time.
    Las,
    /// Linux 2.6.18 to 2.6.32: a process that exits may have a successor.
    Linux2618,
    /// CAS, as OLS'05 §4 has it.
    Cas,
}

/// By what a wait is judged.
#[derive(Clone, Copy)]
pub(super) struct Terms {
    pub(super) rules: RuleSet,
    /// The tunable `antic_expire`.
    pub(super) longest: Duration,
}

/// Why a process is not waited for, or not any longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// The request waited for has come.
    Own,
    /// This much time has passed since the process's last request was done.
    Elapsed(Duration),
    /// Requests of the process wait: how many.
    HasMore(u64),
    /// The request is close: how far from the head, in sectors.
    Close(u64),
    /// The process has exited; processes exit, or have no successor, with this probability.
    Exited(Probability),
    /// The process is new; new ones exit, or have no successor, with these probabilities.
    NewOnesExit { exit: Probability, no_successor: Probability },
    /// The process thinks this long on average.
    ThinksLong(Duration),
    /// The process seeks further than the request is away.
    SeeksFar { mean: u64, distance: u64 },
}

/// The end of a wait, or that there is none.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ended {
    pub(super) reason: Reason,
    pub(super) who: Issuer,
    /// The request that could go instead.
    pub(super) request: Option<RequestId>,
}

/// What the rules look at: the process that is waited for, and a request that could go instead.
pub(super) struct Case<'a> {
    pub(super) terms: Terms,
    pub(super) now: Instant,
    /// Where the last synchronous request dispatched ends.
    pub(super) head: Sector,
    /// Since the last request of the process was done, if it is.
    pub(super) elapsed: Option<Duration>,
    /// The wait is under way; else it may begin.
    pub(super) waiting: bool,
    pub(super) request: Option<&'a Request>,
    /// The request is the process's own.
    pub(super) own: bool,
    pub(super) process: &'a mut Process,
    pub(super) system: &'a mut System,
}

/// Linux's closeness counts milliseconds, and beyond these everything is close.
const PATIENCE_MS: u64 = 20;
/// How far a close request may be at first, in sectors, under LAS and later.
const NEAR_LAS: u64 = 64;
const NEAR_LATER: u64 = 8192;

/// The rule that mostly speaks first: more requests of the process wait. Nothing if one before it might
/// speak, of whichever rule set: then the [`Case`] is to be judged.
#[inline]
pub(super) fn at_once(
    process: &Process,
    own: bool,
    elapsed: Option<Duration>,
    longest: Duration,
) -> Option<Reason> {
    let late = elapsed.is_some_and(|elapsed| elapsed >= longest);
    let waiting = process.waiting();
    (waiting > 0 && !own && !late && !process.has_exited()).then_some(Reason::HasMore(waiting))
}

/// The timer has ended the wait for `process`: what that tells of all processes.
pub(super) fn waited_in_vain(rules: RuleSet, process: &Process, system: &mut System) {
    if process.is_new() {
        system.exit.rise();
    }
    match rules {
        RuleSet::Linux2618 if process.has_exited() => system.no_successor.rise(),
        RuleSet::Cas if process.has_exited() => system.cooperative_exit.fall(),
        _ => {}
    }
}

impl Case<'_> {
    /// The first rule that speaks against waiting. The rules also learn from what they see.
    pub(super) fn judge(mut self) -> Option<Reason> {
        let first = self.own().or_else(|| self.elapsed());
        match self.terms.rules {
            RuleSet::Las => first
                .or_else(|| self.exited())
                .or_else(|| self.has_more())
                .or_else(|| self.close())
                .or_else(|| self.new_ones_exit())
                .or_else(|| self.thinks_long())
                .or_else(|| self.seeks_far()),
            RuleSet::Linux2618 | RuleSet::Cas => first
                .or_else(|| self.has_more())
                .or_else(|| self.close())
                .or_else(|| self.exited())
                .or_else(|| self.new_ones_exit())
                .or_else(|| self.thinks_long()),
        }
    }

    /// The request is what is waited for.
    fn own(&self) -> Option<Reason> {
        self.own.then_some(Reason::Own)
    }

    /// LAS step 2, CAS step 2.
    fn elapsed(&self) -> Option<Reason> {
        self.elapsed.filter(|elapsed| *elapsed >= self.terms.longest).map(Reason::Elapsed)
    }

    /// Neither paper has a step for it; Linux does.
    fn has_more(&self) -> Option<Reason> {
        let waiting = self.process.waiting();
        (waiting > 0).then_some(Reason::HasMore(waiting))
    }

    /// LAS step 3, CAS step 4.
    fn exited(&mut self) -> Option<Reason> {
        if !self.process.has_exited() {
            return None;
        }
        // A new process that exits: what the exit probability is about. CAS step 4 has no such limit.
        if self.process.is_new() || self.terms.rules == RuleSet::Cas {
            self.system.exit.rise();
        }
        let System { exit, no_successor, .. } = *self.system;
        match self.terms.rules {
            RuleSet::Las => Some(Reason::Exited(exit)),
            RuleSet::Linux2618 => no_successor.is_likely().then_some(Reason::Exited(no_successor)),
            RuleSet::Cas => exit.is_unlikely().then_some(Reason::Exited(exit)),
        }
    }

    /// LAS step 4, CAS step 3.
    fn close(&mut self) -> Option<Reason> {
        let request = self.request.filter(|request| request.sync)?;
        let distance = request.start.distance(self.head);
        // CAS step 3 has LAS step 7 in it.
        let roams = self.terms.rules != RuleSet::Las && self.process.mean_seek(self.system) > distance;
        if !roams && !self.near(request.start) {
            return None;
        }
        let exited = self.process.has_exited();
        match self.terms.rules {
            RuleSet::Las => self.process.thinks_anew(self.now),
            RuleSet::Linux2618 => {
                if exited && self.process.is_new() {
                    self.system.exit.rise();
                }
                if exited {
                    self.system.no_successor.fall();
                }
            }
            RuleSet::Cas => self.system.cooperative_exit.rise(),
        }
        if self.terms.rules == RuleSet::Linux2618 || self.terms.rules == RuleSet::Cas && !exited {
            self.process.issues(self.system, self.now, request);
        }
        Some(Reason::Close(distance))
    }

    /// Whether a request at `start` is near the head. What is near grows with the time of waiting.
    fn near(&self, start: Sector) -> bool {
        let elapsed = self.elapsed.filter(|_| self.waiting).unwrap_or_default();
        let ms = elapsed.as_ms();
        let patient = ms <= PATIENCE_MS && Duration::from_ms(ms) <= self.terms.longest;
        let (Sector(head), Sector(start), las) = (self.head, start, self.terms.rules == RuleSet::Las);
        let reach = match (las, ms) {
            (false, 0) => NEAR_LATER,
            (false, _) if patient => NEAR_LATER << ms,
            (true, 0 | 1) => NEAR_LAS,
            (true, _) if patient => NEAR_LAS << (ms - 1),
            _ => return true,
        };
        let ahead = start <= head.saturating_add(reach);
        if las {
            // At the beginning of the disk nothing is near: the difference wraps, as in Linux.
            head.wrapping_sub(reach / 2) <= start && ahead
        } else {
            head <= start.saturating_add(reach / 2) && ahead
        }
    }

    /// LAS step 5, CAS step 5.
    fn new_ones_exit(&self) -> Option<Reason> {
        let System { exit, no_successor, cooperative_exit, .. } = *self.system;
        let (gives_up, no_successor) = match self.terms.rules {
            RuleSet::Las => (exit.is_likely(), no_successor),
            RuleSet::Linux2618 => (exit.both_likely(no_successor), no_successor),
            RuleSet::Cas => (exit.is_likely() && cooperative_exit.is_unlikely(), cooperative_exit.not()),
        };
        (self.process.is_new() && gives_up).then_some(Reason::NewOnesExit { exit, no_successor })
    }

    /// LAS step 6, CAS step 6.
    fn thinks_long(&self) -> Option<Reason> {
        let mean = self.process.mean_thought(self.system);
        (mean > self.terms.longest).then_some(Reason::ThinksLong(mean))
    }

    /// LAS step 7.
    fn seeks_far(&self) -> Option<Reason> {
        let distance = self.request?.start.distance(self.head);
        let mean = self.process.mean_seek(self.system);
        (mean > distance).then_some(Reason::SeeksFar { mean, distance })
    }
}
