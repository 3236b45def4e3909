//! Budgets: what a queue may be served at a time, and what it is charged.
//!
//! A queue that uses its budget up gets more next time, one that is idle less. One that is slow, because
//! it seeks, is charged for its time instead, so that its share is one of time.

use super::queue::Queue;
use super::rate::SHORT;
use crate::units::Duration;

/// Linux's `bfq_default_max_budget`: the greatest budget until the device is known, in sectors.
pub(super) const DEFAULT_MAX: u64 = 16 * 1024;
/// Linux's `bfq_stats_min_budgets`: how much the budgets given out must weigh, of 256, for it to be known.
const KNOWN: u64 = 194;
/// The least budget is this part of the greatest.
const LEAST_PART: u64 = 32;
/// Linux's `bfq_async_charge_factor`.
const ASYNC_FACTOR: u64 = 3;
/// Linux's `bfq_timeout`: the time that a full budget stands for.
pub(super) const FULL_TIME: Duration = Duration::from_ms(125);
/// Too short a service to tell speed by, and long enough to tell it by time.
const TOO_SHORT: Duration = Duration::from_ms(1);
const LONG: Duration = Duration::from_ms(20);

/// Why a queue goes out of service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// It was waited for in vain.
    TooIdle,
    /// Its time is over.
    Timeout,
    /// Its next request is larger than what is left of its budget.
    Exhausted,
    /// It has nothing more to do, and is not waited for.
    NoMore,
    /// Another one may not wait.
    Preempted,
}

impl Reason {
    pub(super) const fn words(self) -> &'static str {
        match self {
            Reason::TooIdle => "was waited for in vain",
            Reason::Timeout => "had its time",
            Reason::Exhausted => "used its budget up",
            Reason::NoMore => "had nothing more to do",
            Reason::Preempted => "was preempted",
        }
    }
}

/// The bounds of budgets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// The greatest one, from the tunable or the device's rate.
    pub(super) most: u64,
    /// It is from the tunable.
    pub(super) fixed: bool,
    /// What the budgets given out weigh: Linux's `budgets_assigned`.
    pub(super) given: u64,
}

impl Bounds {
    pub(super) const fn new(most: u64) -> Bounds {
        Bounds { most: if most > 0 { most } else { DEFAULT_MAX }, fixed: most > 0, given: 0 }
    }

    pub(super) const fn give(&mut self) {
        self.given = (self.given * 7 + 256) / 8;
    }

    const fn known(&self) -> u64 {
        if self.given < KNOWN { DEFAULT_MAX } else { self.most }
    }

    /// What a new queue begins with.
    pub(super) const fn first(&self) -> u64 {
        self.known() * 2 / 3
    }

    pub(super) const fn least(&self) -> u64 {
        self.known() / LEAST_PART
    }

    /// The next budget of a queue that goes out of service for `reason`, after it was served `service`.
    /// `None`: as before.
    pub(super) fn feedback(&self, queue: &Queue, reason: Reason, service: u64) -> Option<u64> {
        let (least, most) = (self.least(), self.most);
        let before = if queue.is_raised() { 2 * least } else { queue.max_budget };
        let next = match reason {
            _ if !queue.is_sync() => most,
            _ if queue.is_raised() => before,
            Reason::TooIdle if queue.in_flight == 0 => {
                if before > 5 * least {
                    before - 4 * least
                } else {
                    least
                }
            }
            Reason::TooIdle | Reason::Timeout => (before * 2).min(most),
            Reason::Exhausted => (before * 4).min(most),
            Reason::NoMore => service.max(least),
            Reason::Preempted => return None,
        };
        let bounded = self.given >= KNOWN && !self.fixed;
        Some(if bounded { next.min(most) } else { next })
    }

    /// What `time` is worth, in sectors.
    pub(super) fn worth(&self, time: Duration) -> u64 {
        self.most * (time.as_ms().min(FULL_TIME.as_ms())) / FULL_TIME.as_ms()
    }

    /// Whether a queue was slow that was served `service` sectors in `time`, and the time to charge.
    pub(super) fn slow(
        &self,
        queue: &Queue,
        time: Duration,
        service: u64,
        rotational: bool,
    ) -> (bool, Duration) {
        if !queue.is_sync() {
            return (false, Duration::ZERO);
        }
        if time < TOO_SHORT {
            return (queue.is_seeky(), if rotational { SEEK_TIME } else { SHORT });
        }
        let slow = if time > LONG { service < self.most / 2 } else { queue.is_seeky() };
        (slow, time)
    }
}

/// What a very short service of a device with heads is charged: Linux's default `slice_idle`.
const SEEK_TIME: Duration = Duration::from_ms(8);

/// What a request of so many sectors costs its queue. One without an extent costs one sector.
/// Asynchronous ones cost more, as they may be cached and written behind the others' backs; not if that
/// would break shares.
pub(super) const fn charge(sectors: u32, sync: bool, raised: bool, differs: bool) -> u64 {
    let sectors = if sectors == 0 { 1 } else { sectors as u64 };
    if sync || raised || differs { sectors } else { sectors * ASYNC_FACTOR }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collections::Issuers;
    use crate::request::Class;
    use crate::units::{Instant, Issuer};

    fn queue(max_budget: u64) -> Queue {
        let place = Issuers::<()>::new(1).unwrap().enter(Issuer(1));
        Queue { max_budget, ..Queue::new(Instant::ZERO, Some(place), Issuer(1), Class::BestEffort) }
    }

    #[test]
    fn budgets_grow_and_shrink_by_reason() {
        let bounds = Bounds::new(0);
        let next = |queue: &Queue, reason| bounds.feedback(queue, reason, 3_000);
        assert_eq!((bounds.least(), bounds.first()), (512, 10_922));
        assert_eq!(next(&queue(3_000), Reason::Exhausted), Some(12_000), "four times");
        assert_eq!(next(&queue(6_000), Reason::Exhausted), Some(16_384), "at most the greatest");
        assert_eq!(next(&queue(3_000), Reason::Timeout), Some(6_000), "twice");
        assert_eq!(next(&queue(3_000), Reason::TooIdle), Some(952), "4 × 512 less");
        assert_eq!(next(&queue(2_560), Reason::TooIdle), Some(512), "at least the least");
        let flying = Queue { in_flight: 1, ..queue(3_000) };
        assert_eq!(next(&flying, Reason::TooIdle), Some(6_000), "it waits for the device");
        assert_eq!(next(&queue(9_000), Reason::NoMore), Some(3_000), "what it needed");
        assert_eq!(next(&queue(9_000), Reason::Preempted), None);
        let mut raised = queue(9_000);
        raised.raise.as_interactive(Duration::from_s(3));
        assert_eq!(next(&raised, Reason::Exhausted), Some(1_024), "a raised one's are small");
        assert_eq!(next(&Queue { place: None, ..queue(9_000) }, Reason::NoMore), Some(16_384));
    }

    #[test]
    fn a_queue_is_slow_if_it_seeks_or_gets_little_done_in_its_time() {
        let bounds = Bounds::new(0);
        let slow = |queue: &Queue, ms, service| bounds.slow(queue, Duration::from_us(ms), service, true);
        assert_eq!(slow(&queue(0), 30_000, 8_191), (true, Duration::from_ms(30)));
        assert!(!slow(&queue(0), 30_000, 8_192).0);
        assert!(!slow(&queue(0), 20_000, 1).0, "too short to tell");
        let seeky = Queue { seeks: 0xF_FFFF, ..queue(0) };
        assert!(slow(&seeky, 20_000, 9_000).0);
        assert_eq!(slow(&seeky, 500, 8), (true, Duration::from_ms(8)), "a seek at least");
        assert_eq!(slow(&Queue { place: None, ..seeky }, 30_000, 8), (false, Duration::ZERO));
        assert_eq!(bounds.worth(Duration::from_ms(25)), 16_384 / 5);
    }

    #[test]
    fn asynchronous_sectors_cost_three_times_as_much() {
        assert_eq!([charge(8, true, false, false), charge(8, false, false, false)], [8, 24]);
        assert_eq!([charge(8, false, true, false), charge(8, false, false, true)], [8, 8]);
        assert_eq!(charge(0, true, false, false), 1);
    }
}
