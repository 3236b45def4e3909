//! The classes of I/O priorities: when nobody of the real-time class is about to ask, and when nobody but the idle class does.

use crate::units::{Duration, Instant};

use super::settings::SHORTEST;
use super::waiting::Class;

/// What is kept of those that are not of the usual class.
#[derive(Default)]
pub(super) struct Classes {
    /// Requests of the real-time class in flight, and until when somebody of that class is expected to ask again.
    urgent: usize,
    hope: Instant,
    /// Requests in flight that are not of the idle class, and when the last was done.
    others: usize,
    done: Option<Instant>,
}

impl Classes {
    /// A request of `class` goes to the drive.
    pub(super) fn sends(&mut self, class: Class) {
        self.others += usize::from(class != Class::Idle);
        self.urgent += usize::from(class == Class::Urgent);
    }

    /// The drive is done with one.
    pub(super) fn completes(&mut self, now: Instant, class: Class) {
        self.urgent -= usize::from(class == Class::Urgent);
        if class != Class::Idle {
            self.others -= 1;
            self.done = Some(now);
        }
    }

    /// Whether the drive has something of the real-time class.
    pub(super) fn any_urgent(&self) -> bool {
        self.urgent > 0
    }

    /// Somebody of the real-time class, who has asked for nothing more, is expected to do so in `wait`.
    pub(super) fn expect(&mut self, now: Instant, wait: Duration) {
        self.hope = now + wait;
    }

    /// Until when somebody of the real-time class is expected to ask, if anybody is.
    pub(super) fn hope(&self, now: Instant) -> Option<Instant> {
        (now < self.hope).then_some(self.hope)
    }

    /// Since when the disk will have been idle for long enough to serve the idle class. `None`: it is not idle.
    pub(super) fn idle_from(&self) -> Option<Instant> {
        let from = self.done.map_or(Instant::ZERO, |done| done + SHORTEST);
        (self.others == 0).then_some(from)
    }
}
