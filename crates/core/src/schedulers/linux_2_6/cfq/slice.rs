//! The slice of the queue that has the disk: until when, what was dispatched in it, the wait for more, and whether a
//! new request's queue need not wait for its end.

use super::processes::Who;
use super::queues::{Index, Queue};
use crate::request::{Class, Request};
use crate::units::{Duration, Instant, Sector};

/// Why a process is not waited for.
#[derive(Clone, Copy, Debug)]
pub(super) enum NoWait {
    /// Nothing of it has been done in its slice.
    NotDone,
    /// The device has no seeks and its own queue.
    NoSeeks,
    /// The process thinks too long, or is never waited for.
    NotWorth(Duration),
    /// Requests are in flight.
    InFlight(u64),
    /// The process is not there any more.
    Gone,
    /// The process thinks longer than what is left of its slice.
    ThinksLong { mean: Duration, left: Duration },
    /// Somebody else was close when its request was done.
    Company,
}

/// By which rule a queue goes before the one whose slice it is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Rule {
    SliceUsed,
    NotIdleClass,
    Sync,
    Metadata,
    RealTime,
    /// The process is waited for, and the request is close: how far from the head, in sectors.
    Close(u64),
}

/// The slice of a queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slice {
    pub(super) queue: Index,
    /// When the slice is over. The time begins with the first completion.
    pub(super) end: Option<Instant>,
    /// Requests that went in it.
    sent: u64,
    /// The look whether the oldest is overdue has been taken.
    looked: bool,
    /// A request that was waited for has come; it goes even if the time is over by then.
    owed: bool,
    /// Who issued the first request that went. Held.
    pub(super) process: Option<Who>,
    wait: Option<Wait>,
    /// Why its process was not waited for when a request was done, if it was not.
    pub(super) no_wait: NoWait,
}

/// A wait for the next request of a slice.
#[derive(Clone, Copy, Debug)]
struct Wait {
    until: Instant,
    /// The time has passed, but nobody else wanted the disk.
    over: bool,
    length: Duration,
}

impl Slice {
    pub(super) fn of(queue: Index) -> Slice {
        let (end, process, wait, no_wait) = (None, None, None, NoWait::NotDone);
        Slice { queue, end, sent: 0, looked: false, owed: false, process, wait, no_wait }
    }

    /// The slice is over.
    pub(super) fn used(&self, now: Instant) -> bool {
        self.end.is_some_and(|end| now >= end)
    }

    /// How long its time is over, if that counts: no request is owed.
    pub(super) fn over_since(&self, now: Instant) -> Option<Duration> {
        self.end.filter(|end| now >= *end && !self.owed).map(|end| now.since(end))
    }

    /// A request is done: its time of this length begins, unless it has. Returns when it is over.
    pub(super) fn begin(&mut self, now: Instant, length: Duration) -> Instant {
        *self.end.get_or_insert(now + length)
    }

    /// A request of its queue has come.
    pub(super) fn arrived(&mut self) {
        self.owed |= self.wait.take().is_some();
    }

    /// Whether it may be looked at who is overdue, which is done once.
    pub(super) fn look(&mut self) -> bool {
        !core::mem::replace(&mut self.looked, true)
    }

    /// A request of `process` goes. Returns how many have gone, and whether this is the first one.
    #[inline]
    pub(super) fn sends(&mut self, process: Who) -> (u64, bool) {
        let first = self.process.is_none();
        self.process.get_or_insert(process);
        self.sent += 1;
        self.owed = false;
        (self.sent, first)
    }

    /// The slice's process is waited for, or is not.
    pub(super) fn wait(&mut self, now: Instant, length: Result<Duration, NoWait>) {
        match length {
            Ok(length) => self.wait = Some(Wait { until: now + length, over: false, length }),
            Err(why) => self.no_wait = why,
        }
    }

    /// The rule by which `request`, a new one of `new`, goes before `old`, whose slice it is.
    #[inline]
    pub(super) fn preempted_by(
        &self,
        now: Instant,
        head: Sector,
        request: &Request,
        new: &Queue,
        old: &Queue,
    ) -> Option<Rule> {
        let far = request.start.distance(head);
        // No order of address is lost by somebody who is as near as what is waited for.
        let close = || self.wait.is_some() && self.process.is_some() && far <= old.reach();
        Some(match (new.kind, old.kind) {
            _ if self.used(now) => Rule::SliceUsed,
            (new, _) if new.is_idle_class() => return None,
            (_, old) if old.is_idle_class() => Rule::NotIdleClass,
            (_, old) if request.sync && !old.sync => Rule::Sync,
            _ if request.metadata && !old.has_metadata() => Rule::Metadata,
            (new, old) if new.class == Class::RealTime && old.class != Class::RealTime => Rule::RealTime,
            _ if close() => Rule::Close(far),
            _ => return None,
        })
    }

    /// Until when its process is waited for.
    pub(super) fn waits_until(&self) -> Option<Instant> {
        self.wait.filter(|wait| !wait.over).map(|wait| wait.until)
    }

    /// Lets the timer end the wait, if its time has come. Returns how long that was, and whether the
    /// slice is used up then.
    #[inline]
    pub(super) fn time_out(&mut self, now: Instant) -> Option<(Duration, bool)> {
        let wait = self.wait.as_mut().filter(|wait| !wait.over && now >= wait.until)?;
        wait.over = true;
        let (length, until) = (wait.length, wait.until);
        Some((length, self.used(until)))
    }
}
