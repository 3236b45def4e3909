//! Flash: how many writes may be in flight while others read, by what becomes of the reads.
//!
//! A device without heads serves reads and writes at the same time, until the writes keep its channels from the reads. So
//! writes in flight are limited, and the limit follows the latency of reads as a sender follows what its network loses.

use crate::units::{Duration, Instant};

/// The limit is looked at once in this time.
const WINDOW: Duration = Duration::from_ms(5);
/// Reads that take more than this times the shortest are kept waiting by writes.
const TOLERANCE: u64 = 3;
/// Reads must be kept waiting in that many windows in a row: a burst of writes is soon done if nobody holds it back.
const ENOUGH: u64 = 8;
/// Limits have 4 binary digits after the point.
const ONE: u64 = 16;
/// No device takes more at once.
const MOST: u64 = 1024 * ONE;

/// The limit of writes in flight.
pub(super) struct WriteLimit {
    limit: u64,
    /// The shortest time that a read has taken, which grows by 1/64 in each window: a device may become slower.
    best: Duration,
    /// The longest in this window.
    worst: Duration,
    ends: Instant,
    /// In how many windows in a row reads were kept waiting.
    late: u64,
}

impl Default for WriteLimit {
    fn default() -> Self {
        WriteLimit { limit: MOST, best: Duration::MAX, worst: Duration::ZERO, ends: Instant::ZERO, late: 0 }
    }
}

impl WriteLimit {
    /// A read was in the device for `service`, of which `writes` have been in flight.
    #[inline]
    pub(super) fn read(&mut self, now: Instant, service: Duration, writes: usize) {
        self.best = self.best.min(service);
        self.worst = self.worst.max(service);
        if now >= self.ends {
            self.look(now, writes);
        }
    }

    /// The limit after a window, which ends now.
    #[inline(never)]
    fn look(&mut self, now: Instant, writes: usize) {
        self.late = if self.worst > self.best * TOLERANCE { self.late + 1 } else { 0 };
        self.limit = match self.late >= ENOUGH {
            // What is in flight is what the reads have suffered from.
            true => (self.limit.min(writes as u64 * ONE) / 2).max(ONE),
            false => (self.limit + (self.limit / 64).max(1)).min(MOST),
        };
        (self.worst, self.ends) = (Duration::ZERO, now + WINDOW);
        self.best += self.best / 64;
    }

    /// Whether another write may go beside `writes` that are in flight.
    pub(super) fn admits(&self, writes: usize) -> bool {
        (writes as u64) * ONE < self.limit
    }

    /// How many writes may be in flight.
    pub(super) fn limit(&self) -> u64 {
        self.limit.div_ceil(ONE)
    }
}
