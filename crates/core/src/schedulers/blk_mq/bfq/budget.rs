//! Budgets: what a queue may be served at a time, for how long, and what it is charged.
//!
//! A queue that uses its budget up gets more next time, one that is idle less. One that is slow, because
//! it seeks, is charged for its time instead, so that its share is one of time.

use super::rate::{Rate, SHORT};
use super::settings::Settings;
use crate::units::{Duration, Instant};

/// Linux's `bfq_default_max_budget`: the greatest budget until the device is known, in sectors.
pub(crate) const DEFAULT_MAX: u64 = 16 * 1024;
/// Linux's `bfq_stats_min_budgets`: how much the budgets given out must weigh, of 256, for it to be known.
const KNOWN: u64 = 194;
/// The least budget is this part of the greatest.
const LEAST_PART: u64 = 32;
/// Linux's `bfq_async_charge_factor`.
const ASYNC_FACTOR: u64 = 3;
/// Linux's `bfq_timeout`: the time that a full budget stands for.
pub(crate) const FULL_TIME: Duration = Duration::from_ms(125);
/// Too short a service to tell speed by, and long enough to tell it by time.
const TOO_SHORT: Duration = Duration::from_ms(1);
const LONG: Duration = Duration::from_ms(20);
/// What a very short service of a device with heads is charged: Linux's default `slice_idle`.
const SEEK_TIME: Duration = Duration::from_ms(8);

/// Why a queue goes out of service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// The queue was waited for in vain.
    TooIdle,
    /// The queue's time is over.
    Timeout,
    /// The queue's next request is larger than what is left of its budget.
    Exhausted,
    /// The queue has nothing more to do, and is not waited for.
    NoMore,
    /// Another one may not wait.
    Preempted,
}

impl Reason {
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Reason::TooIdle => "was waited for in vain",
            Reason::Timeout => "had its time",
            Reason::Exhausted => "used its budget up",
            Reason::NoMore => "had nothing more to do",
            Reason::Preempted => "was preempted",
        }
    }
}

/// What a queue's next budget and its charge depend on.
#[derive(Clone, Copy)]
pub(crate) struct Served {
    pub(crate) sync: bool,
    pub(crate) raised: bool,
    pub(crate) seeky: bool,
    /// The queue has requests in flight.
    pub(crate) in_flight: bool,
    /// In sectors, of its budget.
    pub(crate) service: u64,
}

/// The budget of one queue.
#[derive(Clone, Copy)]
pub(crate) struct Budget {
    /// The greatest one that it gets, in sectors.
    pub(crate) most: u64,
    /// When its time is over; once it has nothing more to do, when that was. `None`: long ago.
    pub(crate) timeout: Option<Instant>,
    /// The queue emptied before its budget and time were over.
    pub(crate) waited: bool,
}

impl Budget {
    /// Whether its time is over.
    pub(crate) fn is_over(&self, now: Instant) -> bool {
        self.timeout.is_none_or(|at| at <= now)
    }
}

/// The bounds of all budgets, and the device's rate, from which the greatest follows.
pub(crate) struct Budgets {
    pub(crate) rate: Rate,
    /// The greatest one, from the tunable or the rate.
    pub(crate) most: u64,
    /// `most` is from the tunable.
    fixed: bool,
    /// What the budgets given out weigh: Linux's `budgets_assigned`.
    given: u64,
}

impl Budgets {
    pub(crate) fn new(set: u64, rotational: bool) -> Budgets {
        let most = if set > 0 { set } else { DEFAULT_MAX };
        Budgets { rate: Rate::new(rotational), most, fixed: set > 0, given: 0 }
    }

    /// The rate is known better, or a tunable is another.
    pub(crate) fn retune(&mut self, settings: &Settings) {
        let set = settings.max_budget.0;
        self.fixed = set > 0;
        self.most = if set > 0 { set } else { self.rate.sectors_in(settings.timeout_sync.0) };
    }

    /// A queue goes into service.
    pub(crate) const fn give(&mut self) {
        self.given = (self.given * 7 + 256) / 8;
    }

    const fn known(&self) -> u64 {
        if self.given < KNOWN { DEFAULT_MAX } else { self.most }
    }

    /// What a new queue begins with.
    pub(crate) const fn first(&self) -> Budget {
        Budget { most: self.known() * 2 / 3, timeout: None, waited: false }
    }

    /// The least of the greatest budgets.
    pub(crate) const fn least(&self) -> u64 {
        self.known() / LEAST_PART
    }

    /// The next budget of a queue that goes out of service for `reason`, after one of `before` sectors.
    /// `None`: as before.
    pub(crate) fn feedback(&self, before: u64, queue: Served, reason: Reason) -> Option<u64> {
        let (least, most) = (self.least(), self.most);
        let before = if queue.raised { 2 * least } else { before };
        let next = match reason {
            _ if !queue.sync => most,
            _ if queue.raised => before,
            Reason::TooIdle if !queue.in_flight => before.saturating_sub(4 * least).max(least),
            Reason::TooIdle | Reason::Timeout => (before * 2).min(most),
            Reason::Exhausted => (before * 4).min(most),
            Reason::NoMore => queue.service.max(least),
            Reason::Preempted => return None,
        };
        let bounded = self.given >= KNOWN && !self.fixed;
        Some(if bounded { next.min(most) } else { next })
    }

    /// What `time` is worth, in sectors.
    fn worth(&self, time: Duration) -> u64 {
        self.most * (time.as_ms().min(FULL_TIME.as_ms())) / FULL_TIME.as_ms()
    }

    /// What a queue is charged for its `time` in service, as far as it is charged for that: if it was slow, or
    /// if it `wasted` its time.
    pub(crate) fn for_time(&self, queue: Served, time: Duration, wasted: bool, disk: bool) -> Option<u64> {
        let (slow, time) = match time {
            _ if !queue.sync => (false, Duration::ZERO),
            _ if time < TOO_SHORT => (queue.seeky, if disk { SEEK_TIME } else { SHORT }),
            _ if time > LONG => (queue.service < self.most / 2, time),
            _ => (queue.seeky, time),
        };
        (!queue.raised && (slow || wasted)).then(|| self.worth(time).max(queue.service))
    }
}

/// What a request of this many sectors costs its queue. One without an extent costs one sector.
/// Asynchronous ones cost more, as they may be cached and written behind the others' backs; not if they are
/// `plain`, because that would break shares.
pub(crate) const fn charge(sectors: u32, plain: bool) -> u64 {
    let sectors = if sectors == 0 { 1 } else { sectors as u64 };
    if plain { sectors } else { sectors * ASYNC_FACTOR }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: Served =
        Served { sync: true, raised: false, seeky: false, in_flight: false, service: 3_000 };

    #[test]
    fn budgets_grow_and_shrink_by_reason() {
        let bounds = Budgets::new(0, true);
        let next = |before, reason| bounds.feedback(before, STREAM, reason);
        assert_eq!((bounds.least(), bounds.first().most), (512, 10_922));
        assert_eq!(next(3_000, Reason::Exhausted), Some(12_000), "four times");
        assert_eq!(next(6_000, Reason::Exhausted), Some(16_384), "at most the greatest");
        assert_eq!(next(3_000, Reason::Timeout), Some(6_000), "twice");
        assert_eq!(next(3_000, Reason::TooIdle), Some(952), "4 × 512 less");
        assert_eq!(next(2_560, Reason::TooIdle), Some(512), "at least the least");
        let flying = Served { in_flight: true, ..STREAM };
        assert_eq!(bounds.feedback(3_000, flying, Reason::TooIdle), Some(6_000), "it waits for the device");
        assert_eq!(next(9_000, Reason::NoMore), Some(3_000), "what it needed");
        assert_eq!(next(9_000, Reason::Preempted), None);
        let raised = Served { raised: true, ..STREAM };
        assert_eq!(
            bounds.feedback(9_000, raised, Reason::Exhausted),
            Some(1_024),
            "a raised one's are small"
        );
        let asynchronous = Served { sync: false, ..STREAM };
        assert_eq!(bounds.feedback(9_000, asynchronous, Reason::NoMore), Some(16_384));
    }

    #[test]
    fn a_queue_is_slow_if_it_seeks_or_gets_little_done_in_its_time() {
        let bounds = Budgets::new(0, true);
        let charged = |queue: Served, us, service| {
            bounds.for_time(Served { service, ..queue }, Duration::from_us(us), false, true)
        };
        assert_eq!(charged(STREAM, 30_000, 3_000), Some(16_384 * 30 / 125));
        assert_eq!(charged(STREAM, 30_000, 8_191), Some(8_191));
        assert_eq!(charged(STREAM, 30_000, 8_192), None);
        assert_eq!(charged(STREAM, 20_000, 1), None, "too short to tell");
        let seeky = Served { seeky: true, ..STREAM };
        assert_eq!(charged(seeky, 20_000, 9_000), Some(9_000));
        assert_eq!(charged(seeky, 500, 8), Some(16_384 * 8 / 125), "a seek at least");
        assert_eq!(charged(Served { sync: false, ..seeky }, 30_000, 8), None);
        assert_eq!(charged(Served { raised: true, ..seeky }, 30_000, 8), None);
        assert_eq!(bounds.worth(Duration::from_ms(25)), 16_384 / 5);
    }

    #[test]
    fn asynchronous_sectors_cost_three_times_as_much() {
        assert_eq!([charge(8, true), charge(8, false)], [8, 24]);
        assert_eq!(charge(0, true), 1);
    }
}
