//! Batches: for a while reads only, then for a while writes only, with the device drained between.

use super::requests::Side;
use crate::scheduler::{Cx, Decision};
use crate::units::{Duration, Instant};

/// The batch that is under way.
pub(super) struct Batches {
    /// How long a batch of asynchronous and of synchronous requests lasts.
    times: [Duration; 2],
    side: Side,
    /// When the batch ends. `None` if no batch has had a time yet.
    expires: Option<Instant>,
    /// The other side's requests in flight are waited for: Linux's `changed_batch`.
    changing: bool,
    /// The time of a batch of reads begins with its first completion: Linux's `new_batch`.
    fresh: bool,
    /// Writes in a batch: Linux's `write_batch_count`, which tunes itself.
    quota: u64,
    /// Writes left in this batch.
    left: u64,
    /// The batch of writes had nothing to do for a while, so its time tells nothing.
    idled: bool,
    /// Requests in flight.
    in_flight: u64,
}

impl Batches {
    pub(super) fn new(times: [Duration; 2]) -> Batches {
        Batches {
            times,
            side: Side::Async,
            expires: None,
            changing: false,
            fresh: false,
            quota: (times[Side::Async.index()].as_ms() / 10).max(2),
            left: 0,
            idled: false,
            in_flight: 0,
        }
    }

    pub(super) fn tune(&mut self, times: [Duration; 2]) {
        self.times = times;
    }

    pub(super) fn side(&self) -> Side {
        self.side
    }

    /// Writes in a batch.
    pub(super) fn quota(&self) -> u64 {
        self.quota
    }

    /// A request that an earlier scheduler dispatched is in flight.
    pub(super) fn adopt(&mut self) {
        self.in_flight += 1;
    }

    /// The other side's requests in flight are waited for.
    pub(super) fn is_changing(&self) -> bool {
        self.changing
    }

    /// The answer while that is so.
    #[cold]
    pub(super) fn drain(&self, cx: Cx<'_>) -> Decision {
        cx.because("a batch of {} begins once {} in flight are done", || {
            [self.side.word().into(), self.in_flight.into()]
        });
        Decision::Idle
    }

    /// Whether the batch has had its time, or its writes.
    #[inline]
    pub(super) fn over(&self, now: Instant) -> bool {
        if self.changing || self.fresh {
            return false;
        }
        let late = self.expires.is_none_or(|expires| now > expires);
        late || self.side == Side::Async && self.left == 0
    }

    /// Nobody competes with reads: their time begins now.
    pub(super) fn extend_reads(&mut self, now: Instant) {
        self.expires = Some(now + self.times[Side::Sync.index()]);
    }

    /// A batch of this side begins, once the other side's requests in flight are done.
    pub(super) fn begin(&mut self, side: Side) {
        self.changing |= self.side != side;
        self.side = side;
        if side == Side::Async {
            (self.fresh, self.left, self.idled) = (false, self.quota, false);
        }
    }

    /// Whether a request of the batch may go now; not while the other side's are in flight.
    #[inline]
    pub(super) fn may_begin(&mut self, now: Instant) -> bool {
        if self.changing {
            if self.in_flight > 0 {
                return false;
            }
            match self.side {
                Side::Async => self.expires = Some(now + self.times[Side::Async.index()]),
                Side::Sync => self.fresh = true,
            }
            self.changing = false;
        }
        true
    }

    /// A request of the batch goes to the device.
    #[inline]
    pub(super) fn sent(&mut self) {
        self.in_flight += 1;
        if self.side == Side::Async {
            self.left = self.left.saturating_sub(1);
        }
    }

    /// With these waiting, a batch of writes that has nothing to do, or has done all, is idle.
    pub(super) fn notice_idleness(&mut self, reads: bool, writes: bool) {
        self.idled |= self.side == Side::Async && !reads && (self.left == 0 || !writes);
    }

    /// A request is done. With `timed`, the time of the new batch begins when the old one is drained.
    #[inline]
    pub(super) fn drained(&mut self, now: Instant, timed: bool) {
        if self.changing && self.in_flight == 1 {
            self.changing = false;
            self.fresh |= self.side == Side::Sync;
            if timed {
                self.expires = Some(now + self.times[self.side.index()]);
            }
        }
        self.in_flight = self.in_flight.saturating_sub(1);
    }

    /// A request of this side that was dispatched here is done. The first of a batch of reads shows how
    /// long the writes before it took.
    #[inline]
    pub(super) fn served(&mut self, now: Instant, side: Side) {
        if self.fresh && self.side == side {
            self.fit_quota(now);
            self.extend_reads(now);
            self.fresh = false;
        }
    }

    /// Fits the number of writes in a batch to the time wanted for one.
    fn fit_quota(&mut self, now: Instant) {
        let (Some(expired), wanted) = (self.expires, self.times[Side::Async.index()]) else { return };
        // The batch was to end at `expired`, so it began that much earlier.
        let taken = (now + wanted).since(expired);
        if taken > wanted && !self.idled {
            self.quota = if taken > wanted * 3 { self.quota / 2 } else { self.quota - 1 };
        } else if taken < wanted && self.left == 0 {
            self.quota =
                if wanted > taken * 3 { self.quota.saturating_mul(2) } else { self.quota.saturating_add(1) };
        }
        self.quota = self.quota.max(1);
    }
}

#[cfg(test)]
mod tests {
    use super::super::settings::{Settings, Timed};
    use super::*;
    use crate::tunables::Tunables;

    /// The quota after a batch of writes that used all its quota, or left some, and took this long.
    fn tuned(taken: u64, left: u64, idled: bool) -> u64 {
        let times = Settings::defaults().times().batch;
        let mut batches = Batches::new(times);
        assert_eq!(batches.quota, 12);
        let begun = Instant(0) + Duration::from_s(7);
        batches.expires = Some(begun + times[0]);
        (batches.side, batches.fresh, batches.left, batches.idled) = (Side::Sync, true, left, idled);
        batches.served(begun + Duration::from_ms(taken), Side::Sync);
        batches.quota
    }

    #[test]
    fn the_quota_follows_the_time_that_a_batch_took() {
        assert_eq!(tuned(125, 0, false), 12);
        assert_eq!(tuned(126, 0, false), 11, "too long");
        assert_eq!(tuned(376, 0, false), 6, "more than three times too long");
        assert_eq!(tuned(126, 0, true), 12, "it was idle meanwhile");
        assert_eq!(tuned(124, 0, false), 13, "short");
        assert_eq!(tuned(41, 0, false), 24, "less than a third");
        assert_eq!(tuned(41, 3, false), 12, "it was cut short");
    }

    #[test]
    fn the_first_batch_follows_no_writes_and_tunes_nothing() {
        let times = Settings::defaults().times().batch;
        let mut batches = Batches::new(times);
        batches.begin(Side::Sync);
        assert!(batches.may_begin(Instant(5)));
        batches.sent();
        batches.drained(Instant(9), true);
        batches.served(Instant(9), Side::Sync);
        assert_eq!((batches.quota, batches.expires), (12, Some(Instant(9) + times[1])));
    }
}
