//! What reports do not have, and somebody who watches a run can count. Each gives a share.

use idlewise_core::learned::Curve;
use idlewise_core::{Instant, Issuer, Request, RequestId, Sector};
use idlewise_disk::Completion;
use serde::{Deserialize, Serialize};

use crate::engine::Observer;

/// What to watch for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Watch {
    /// How good the positioning times are that schedulers are told (SOSP'01 §3.6): 1 less the mean error as a share of the mean time.
    /// For loads of which nothing is merged, on a drive that has one command at a time.
    Accuracy,
    /// Of all changes from one process to another the share that goes back to the one before: 1 if a pair alternates, and 0 if three
    /// take turns.
    Alternation,
}

impl Watch {
    /// All of them.
    pub(super) const ALL: [Watch; 2] = [Watch::Accuracy, Watch::Alternation];

    /// The word for it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Watch::Accuracy => "accuracy",
            Watch::Alternation => "alternation",
        }
    }
}

/// A share as whole numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Share {
    part: u64,
    whole: u64,
}

impl Share {
    pub(super) fn value(self) -> f64 {
        self.part as f64 / self.whole.max(1) as f64
    }
}

/// Watches for all at once.
pub(super) struct Watcher {
    /// The positioning times that schedulers are told.
    curve: Curve,
    /// Requests by id.
    requests: Vec<Request>,
    /// Where the last command ended.
    head: Option<Sector>,
    /// By how much estimates were off, too long or too short, and the real times, in nanoseconds.
    estimates: [u64; 2],
    /// Whose the last request was, and whose the one before that was another's.
    last: [Issuer; 2],
    /// Changes back to the one before, and all.
    changes: [u64; 2],
}

impl Watcher {
    /// Of a run whose schedulers are told this curve; `capacity` bounds the requests' ids.
    pub(super) fn new(curve: Curve, capacity: usize) -> Watcher {
        Watcher {
            curve,
            requests: vec![Request::default(); capacity],
            head: None,
            estimates: [0; 2],
            last: [Issuer::default(); 2],
            changes: [0; 2],
        }
    }

    pub(super) fn share(&self, watch: Watch) -> Share {
        match watch {
            Watch::Accuracy => {
                let [off, real] = self.estimates;
                Share { part: real.saturating_sub(off), whole: real }
            }
            Watch::Alternation => Share { part: self.changes[0], whole: self.changes[1] },
        }
    }
}

impl Observer for Watcher {
    fn arrived(&mut self, _: Instant, id: RequestId, request: &Request) {
        self.requests[id.index()] = *request;
    }

    fn served(&mut self, _: Instant, id: RequestId, completion: &Completion) {
        let Request { start, length, .. } = self.requests[id.index()];
        let Some(head) = self.head.replace(start + length) else { return };
        let real = completion.timing.seek.0 + completion.timing.rotation.0;
        self.estimates[0] += self.curve.expected(head, start).0.abs_diff(real);
        self.estimates[1] += real;
    }

    fn completed(&mut self, _: Instant, _: RequestId, request: &Request, _: u64) {
        let [last, before] = self.last;
        if request.issuer != last {
            self.changes[0] += u64::from(request.issuer == before);
            self.changes[1] += 1;
            self.last = [request.issuer, last];
        }
    }
}

#[cfg(test)]
mod tests {
    use idlewise_core::{Duration, Sectors};
    use idlewise_disk::Timing;

    use super::*;

    fn alternation(order: &[u32]) -> Share {
        let mut watcher = Watcher::new(Curve::LEVEL, 1);
        for issuer in order {
            let request = Request { issuer: Issuer(*issuer), ..Request::default() };
            watcher.completed(Instant::ZERO, RequestId(0), &request, 0);
        }
        watcher.share(Watch::Alternation)
    }

    #[test]
    fn pairs_are_told_from_turns() {
        assert_eq!(alternation(&[1, 2, 3, 1, 2, 3, 1, 2, 3]), Share { part: 0, whole: 9 });
        let pair = alternation(&[1, 1, 2, 2, 1, 1, 2, 1, 2]);
        assert_eq!(pair, Share { part: 4, whole: 6 }, "the first two changes have nobody to go back to");
    }

    /// A request of two sectors from `start` on, for which the disk moves for `ms`.
    fn serve(watcher: &mut Watcher, start: u64, ms: u64) {
        let request = Request { start: Sector(start), length: Sectors(2), ..Request::default() };
        watcher.arrived(Instant::ZERO, RequestId(0), &request);
        let timing = Timing { seek: Duration::from_ms(ms), ..Timing::default() };
        let completion = Completion { tag: 0, at: Instant::ZERO, started: Instant::ZERO, timing };
        watcher.served(Instant::ZERO, RequestId(0), &completion);
    }

    #[test]
    fn estimates_that_are_off_either_way_are_less_accurate() {
        let points = [(0, Duration::ZERO), (1 << 20, Duration::from_ms(10))];
        let mut watcher = Watcher::new(Curve::through(&points), 1);
        serve(&mut watcher, 0, 99);
        serve(&mut watcher, 2 + (1 << 20), 8);
        serve(&mut watcher, 2 * (2 + (1 << 20)), 12);
        let ms = |ms| Duration::from_ms(ms).0;
        let expected = Share { part: ms(20 - 4), whole: ms(20) };
        assert_eq!(watcher.share(Watch::Accuracy), expected, "the first has no distance");
    }
}
