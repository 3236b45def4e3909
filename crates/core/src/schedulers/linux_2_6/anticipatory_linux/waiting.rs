//! The wait for a process: whom for, since when, until when.

use super::reasons::Ended;
use crate::collections::Place;
use crate::units::{Duration, Instant};

/// Linux's `antic_status`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    /// Nobody is waited for.
    Off,
    /// The process's last request is waited for; its time to think begins when that is done.
    ForCompletion,
    /// The process's next request is waited for, until the timer ends it.
    ForNext,
    /// The wait is over, and none begins before something was dispatched.
    Finished,
}

/// The wait.
pub(super) struct Wait {
    pub(super) status: Status,
    /// Who issued the last request dispatched, if that was synchronous.
    pub(super) who: Option<Place>,
    /// That request is done, since this time; or another one of that process is.
    pub(super) done: Option<Instant>,
    /// When the timer ends the wait. It is set once.
    pub(super) until: Instant,
    /// How the last wait ended, until something is dispatched.
    pub(super) ended: Option<Ended>,
}

impl Wait {
    pub(super) fn new() -> Wait {
        Wait { status: Status::Off, who: None, done: None, until: Instant::ZERO, ended: None }
    }

    /// Whether something is waited for.
    #[inline]
    pub(super) fn is_on(&self) -> bool {
        matches!(self.status, Status::ForCompletion | Status::ForNext)
    }

    /// Whether the timer has ended the wait.
    #[inline]
    pub(super) fn timed_out(&self, now: Instant) -> bool {
        self.status == Status::ForNext && now >= self.until
    }

    /// Begins. The timer counts from when the process's request was done.
    pub(super) fn begin(&mut self, longest: Duration) {
        match self.done {
            Some(done) => {
                self.until = done + longest;
                self.status = Status::ForNext;
            }
            None => self.status = Status::ForCompletion,
        }
    }

    /// A request of the process is done.
    #[inline]
    pub(super) fn completed(&mut self, now: Instant, longest: Duration) {
        self.done = Some(now);
        if self.status == Status::ForCompletion {
            self.begin(longest);
        }
    }

    /// Ends.
    pub(super) fn finish(&mut self, ended: Ended) {
        self.status = Status::Finished;
        self.ended = Some(ended);
    }

    /// A request of `who` goes to the device, or one that nobody waits for.
    #[inline]
    pub(super) fn dispatched(&mut self, who: Option<Place>) {
        (self.status, self.who, self.done, self.ended) = (Status::Off, who, None, None);
    }
}
