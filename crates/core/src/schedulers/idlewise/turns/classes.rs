//! The classes of I/O priorities: when no real-time request is expected soon, and when only the idle class has requests.

use crate::scheduler::Cx;
use crate::units::{Duration, Instant, RequestId};

use super::next::Next;
use super::settings::SHORTEST;
use super::waiting::Class;

/// What is kept of those that are not of the usual class.
#[derive(Default)]
pub(super) struct Classes {
    /// Requests of the real-time class in flight, and until when somebody of that class is expected to ask again.
    urgent: usize,
    hope: Instant,
    /// Requests of the pool in flight.
    pool: usize,
    pub(super) others: Others,
}

impl Classes {
    /// A request of `class` goes to the drive.
    pub(super) fn sends(&mut self, class: Class) {
        self.others.sends(class);
        self.pool += usize::from(class == Class::Pool);
        self.urgent += usize::from(class == Class::Urgent);
    }

    /// The drive is done with one.
    pub(super) fn completes(&mut self, now: Instant, class: Class) {
        self.pool -= usize::from(class == Class::Pool);
        self.urgent -= usize::from(class == Class::Urgent);
        self.others.completes(now, class);
    }

    /// How many requests of the pool the drive has.
    pub(super) fn pool(&self) -> usize {
        self.pool
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
}

/// All but the idle class: while these want the drive, the idle class has nothing.
#[derive(Default)]
pub(super) struct Others {
    in_flight: usize,
    /// From when on they are taken to want nothing, if nothing is in flight.
    quiet: Instant,
}

impl Others {
    /// A request of `class` goes to the drive.
    #[inline]
    pub(super) fn sends(&mut self, class: Class) {
        self.in_flight += usize::from(class != Class::Idle);
    }

    /// The drive is done with one.
    #[inline]
    pub(super) fn completes(&mut self, now: Instant, class: Class) {
        if class != Class::Idle {
            self.in_flight -= 1;
            self.quiet = now + SHORTEST;
        }
    }

    /// What the idle class, of which `id` is next if any waits, wants.
    pub(super) fn idle(&self, cx: Cx<'_>, id: Option<RequestId>) -> Next {
        let Some(id) = id.filter(|_| self.in_flight == 0) else { return Next::Hold };
        if cx.now < self.quiet {
            cx.because("somebody may want more: the idle class waits {}", || {
                [self.quiet.since(cx.now).into()]
            });
            return Next::Wait(self.quiet);
        }
        cx.because("process {} is of the idle class, and nobody else wants the disk", || {
            [cx[id].issuer.into()]
        });
        Next::Send(id)
    }
}
