//! Whether to go on waiting for a process: the rules by which anticipation ends, or does not begin.
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

use super::lines::Side;
use super::reasons::Reason;
use super::statistics::{HALF, ONE, Process, System, fallen, risen};
use crate::request::Request;
use crate::units::{Duration, Instant, Sector};

/// Which rules, in which order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// LAS, as Linux 2.6.9 to 2.6.12: one process at a time.
    Alone,
    /// Linux 2.6.18 to 2.6.32: a process that exits may have a successor.
    Together,
    /// CAS, as OLS'05 §4 has it.
    Paper,
}

/// What the rules look at: the process that is waited for, and a request that could go instead.
pub(super) struct Case<'a> {
    pub(super) manner: Manner,
    pub(super) now: Instant,
    /// The tunable `antic_expire`.
    pub(super) wait: Duration,
    pub(super) process: &'a mut Process,
    pub(super) system: &'a mut System,
    /// Since the last request of the process was done, if it is.
    pub(super) elapsed: Option<Duration>,
    /// The wait is under way; else it may begin.
    pub(super) waiting: bool,
    pub(super) request: Option<&'a Request>,
    /// The request is the process's own.
    pub(super) own: bool,
    /// Where the last request of this batch's side ends, and the last synchronous one.
    pub(super) head: Sector,
    pub(super) sync_head: Sector,
}

/// Linux's closeness counts milliseconds, and beyond these everything is close.
const PATIENCE_MS: u64 = 20;
/// How far a close request may be at first, in sectors, in 2.6.9 to 2.6.12 and later.
const NEAR_ALONE: u64 = 64;
const NEAR_TOGETHER: u64 = 8192;

/// The rule that mostly speaks first: more requests of the process wait. Nothing if one before it might speak,
/// in whichever manner: then the [`Case`] is to be judged.
#[inline]
pub(super) fn at_once(
    process: &Process,
    own: bool,
    elapsed: Option<Duration>,
    wait: Duration,
) -> Option<Reason> {
    let late = elapsed.is_some_and(|elapsed| elapsed >= wait);
    (process.waiting > 0 && !own && !late && !process.exited).then_some(Reason::HasMore(process.waiting))
}

impl Case<'_> {
    /// The first rule that speaks against waiting. The rules also learn from what they see.
    pub(super) fn judge(mut self) -> Option<Reason> {
        let first = self.own().or_else(|| self.elapsed());
        match self.manner {
            Manner::Alone => first
                .or_else(|| self.exited())
                .or_else(|| self.has_more())
                .or_else(|| self.close())
                .or_else(|| self.new_ones_exit())
                .or_else(|| self.thinks_long())
                .or_else(|| self.seeks_far()),
            Manner::Together | Manner::Paper => first
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
        self.elapsed.filter(|elapsed| *elapsed >= self.wait).map(Reason::Elapsed)
    }

    /// Neither paper has a step for it; Linux does.
    fn has_more(&self) -> Option<Reason> {
        (self.process.waiting > 0).then_some(Reason::HasMore(self.process.waiting))
    }

    /// LAS step 3, CAS step 4.
    fn exited(&mut self) -> Option<Reason> {
        if !self.process.exited {
            return None;
        }
        // A new process that exits: what the exit probability is about. CAS step 4 has no such limit.
        if self.process.is_new() || self.manner == Manner::Paper {
            self.system.exits = risen(self.system.exits);
        }
        let gives_up = match self.manner {
            Manner::Alone => true,
            Manner::Together => self.system.alone > HALF,
            Manner::Paper => self.system.exits < HALF,
        };
        let probability = if self.manner == Manner::Together { self.system.alone } else { self.system.exits };
        gives_up.then_some(Reason::Exited(probability))
    }

    /// LAS step 4, CAS step 3.
    fn close(&mut self) -> Option<Reason> {
        let request = self.request.filter(|request| Side::of(request) == Side::Sync)?;
        let distance = request.start.distance(self.head);
        // CAS step 3 has LAS step 7 in it.
        let roams = self.manner != Manner::Alone && self.process.mean_seek(self.system) > distance;
        if !roams && !self.near(request.start) {
            return None;
        }
        match self.manner {
            Manner::Alone => self.process.thinks_anew(self.now),
            Manner::Together => {
                if self.process.exited {
                    if self.process.is_new() {
                        self.system.exits = risen(self.system.exits);
                    }
                    self.system.alone = fallen(self.system.alone);
                }
                self.process.issues(self.system, self.now, request);
            }
            Manner::Paper => {
                self.system.helped = risen(self.system.helped);
                if !self.process.exited {
                    self.process.issues(self.system, self.now, request);
                }
            }
        }
        Some(Reason::Close(distance))
    }

    /// Whether a request at `start` is near the head. What is near grows with the time of waiting.
    fn near(&self, start: Sector) -> bool {
        let elapsed = self.elapsed.filter(|_| self.waiting).unwrap_or_default();
        let ms = elapsed.as_ms();
        let patient = ms <= PATIENCE_MS && Duration::from_ms(ms) <= self.wait;
        let ((Sector(head), Sector(start)), together) = ((self.head, start), self.manner != Manner::Alone);
        let reach = match (together, ms) {
            (true, 0) => NEAR_TOGETHER,
            (true, _) if patient => NEAR_TOGETHER << ms,
            (false, 0 | 1) => NEAR_ALONE,
            (false, _) if patient => NEAR_ALONE << (ms - 1),
            _ => return true,
        };
        let ahead = start <= head.saturating_add(reach);
        if together {
            head <= start.saturating_add(reach / 2) && ahead
        } else {
            // At the beginning of the disk nothing is near: the difference wraps, as in Linux.
            head.wrapping_sub(reach / 2) <= start && ahead
        }
    }

    /// LAS step 5, CAS step 5.
    fn new_ones_exit(&self) -> Option<Reason> {
        let System { exits, alone, helped, .. } = *self.system;
        let gives_up = match self.manner {
            Manner::Alone => exits > HALF,
            Manner::Together => exits * alone > HALF * ONE,
            Manner::Paper => exits > HALF && helped < HALF,
        };
        let alone = if self.manner == Manner::Together { alone } else { ONE - helped };
        (self.process.is_new() && gives_up).then_some(Reason::NewOnesExit { exits, alone })
    }

    /// LAS step 6, CAS step 6.
    fn thinks_long(&self) -> Option<Reason> {
        let mean = self.process.mean_thought(self.system);
        (mean > self.wait).then_some(Reason::ThinksLong(mean))
    }

    /// LAS step 7.
    fn seeks_far(&self) -> Option<Reason> {
        let distance = self.request?.start.distance(self.sync_head);
        let mean = self.process.mean_seek(self.system);
        (mean > distance).then_some(Reason::SeeksFar { mean, distance })
    }
}
