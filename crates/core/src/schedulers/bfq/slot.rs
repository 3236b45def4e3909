//! The service slot: when the queue in service became that, where it was last served, and until when it is
//! idled for.

use crate::units::{Duration, Instant, Sector};

/// The service slot.
#[derive(Default)]
pub(super) struct Slot {
    /// When the queue in service became that.
    start: Instant,
    /// Where its last request ends; 0 before there was one.
    served_to: Sector,
    /// Until when it is idled for, if it is.
    idle_until: Option<Instant>,
    /// When the device was last idled.
    idle_since: Instant,
}

impl Slot {
    /// A queue goes into service.
    pub(super) const fn begin(&mut self, now: Instant) {
        (self.start, self.served_to) = (now, Sector(0));
    }

    /// The queue in service is served up to here.
    pub(super) const fn serve(&mut self, end: Sector) {
        self.served_to = end;
    }

    /// How far `start` is from where the queue in service was served last.
    pub(super) const fn distance(&self, start: Sector) -> u64 {
        start.distance(self.served_to)
    }

    /// How long the queue in service was that. If it was `idled` for, that time does not count.
    pub(super) const fn length(&self, now: Instant, idled: bool) -> Duration {
        if idled { self.idle_since.since(self.start) } else { now.since(self.start) }
    }

    /// The queue in service is idled for.
    pub(super) fn idle(&mut self, now: Instant, time: Duration) {
        (self.idle_since, self.idle_until) = (now, Some(now + time));
    }

    /// Until when the queue in service is idled for, if it is.
    #[inline]
    pub(super) const fn idle_until(&self) -> Option<Instant> {
        self.idle_until
    }

    /// The queue in service is idled for no longer. True if it was.
    #[inline]
    pub(super) const fn stop_idling(&mut self) -> bool {
        self.idle_until.take().is_some()
    }
}
