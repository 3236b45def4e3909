//! The tunables of CFQ, and what follows from them: how long slices are and how many requests are dispatched.

use crate::schedulers::shared::nearer::Back;
use crate::tunables::{Count, Kibibytes, Milliseconds};
use crate::units::Duration;

crate::tunables! {
    /// Tunables of Linux 2.6.32's CFQ. Names, units and defaults are Linux's.
    pub struct Settings {
        /// Requests of one queue that may be in flight; four times as many if no other queue has any, without a limit if
        /// the device has no seeks either.
        quantum: Count = 4, 1..=1_000_000;
        /// How long a synchronous request may wait before it goes first in its queue's next slice.
        fifo_expire_sync: Milliseconds = 125, 0..=3_600_000;
        /// The same for asynchronous requests.
        fifo_expire_async: Milliseconds = 250, 0..=3_600_000;
        /// How far back the head may go for the next request.
        back_seek_max: Kibibytes = 16_384, 0..=4_294_967_295;
        /// How many times longer than a seek forward a seek backward counts.
        back_seek_penalty: Count = 2, 1..=1_000_000;
        /// How long the slice of a synchronous queue of level 4 is. Each level is a fifth of it more or less.
        slice_sync: Milliseconds = 100, 1..=60_000;
        /// The same for asynchronous queues.
        slice_async: Milliseconds = 40, 1..=60_000;
        /// Requests in the slice of an asynchronous queue while others wait: twice this, at level 7.
        /// Each level up adds as many.
        slice_async_rq: Count = 2, 1..=1_000_000;
        /// The longest wait for the process whose slice it is. 0: never wait.
        slice_idle: Milliseconds = 8, 0..=3_600_000;
        /// Asynchronous requests wait for synchronous ones that may come, and seeking processes are
        /// waited for even if the device has a queue of its own.
        low_latency: bool = 1, 0..=1;
    }
}

/// Linux's `CFQ_SLICE_SCALE`: a level is this part of a slice.
const SCALE: u64 = 5;
/// The level whose slices are as long as the tunables say.
const MIDDLE: u64 = 4;
const LOWEST: u64 = 7;

impl Settings {
    /// What all other of `busy` queues may be given before one of this kind: for each, by how much the
    /// longest slice is longer than its own.
    #[inline]
    pub(super) fn offset(&self, busy: usize, sync: bool, level: u8) -> i64 {
        let longer = self.slice(true, 0).0 as i64 - self.slice(sync, level).0 as i64;
        (busy as i64 - 1).saturating_mul(longer)
    }

    /// How long a slice of a queue of this kind is.
    #[inline]
    pub(super) fn slice(&self, sync: bool, level: u8) -> Duration {
        let Duration(base) = if sync { self.slice_sync.0 } else { self.slice_async.0 };
        let level = u64::from(level);
        // At the lowest level two fifths are left.
        Duration(base + base / SCALE * MIDDLE - base / SCALE * level)
    }

    /// How many requests of an asynchronous queue go before another queue has its turn.
    pub(super) fn async_quota(&self, level: u8) -> u64 {
        2 * self.slice_async_rq.0 * (1 + LOWEST - u64::from(level))
    }

    pub(super) fn expire(&self, sync: bool) -> Duration {
        if sync { self.fifo_expire_sync.0 } else { self.fifo_expire_async.0 }
    }

    pub(super) fn back(&self) -> Back {
        Back { furthest: self.back_seek_max.0 * 2, penalty: self.back_seek_penalty.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tunables::Tunables as _;

    #[test]
    fn slices_shrink_by_a_fifth_of_the_middle_one_with_each_level() {
        let settings = Settings::defaults();
        let all = |sync: bool| [0, 1, 2, 3, 4, 5, 6, 7].map(|level| settings.slice(sync, level).as_ms());
        assert_eq!(all(true), [180, 160, 140, 120, 100, 80, 60, 40]);
        assert_eq!(all(false), [72, 64, 56, 48, 40, 32, 24, 16]);
        assert_eq!([0, 4, 7].map(|level| settings.async_quota(level)), [32, 16, 4]);
    }
}
