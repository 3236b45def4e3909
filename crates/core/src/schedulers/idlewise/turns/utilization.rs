//! Utilization: for what part of the time the drive is busy, in a stream's turn and on average.
//!
//! While a stream thinks and is waited for, the drive has nothing to do. Where others would keep the drive busy, the stream that
//! leaves it idle has a part of its turn only.

use crate::units::{Duration, Instant};

/// The mean moves by this part of the difference in each turn.
const LEARNING: u64 = 16;
/// Utilization is low below the mean divided by this.
const LOW: u64 = 2;
/// A stream's turn is long enough to tell after this part of it.
const ENOUGH: u64 = 4;

/// The time in which the drive is busy, and all time.
#[derive(Clone, Copy, Default)]
struct Times {
    busy: Duration,
    all: Duration,
}

/// The utilization of the drive.
#[derive(Default)]
pub(super) struct Utilization {
    /// Of a turn on average. The way to a stream is nothing that anybody has asked for: there the drive counts as idle.
    mean: Times,
    /// When the turn began, and for how long the drive has been busy since.
    began: Instant,
    busy: Duration,
    /// When the first request of the turn's stream was done, and for how long the drive has been busy with others of the stream.
    stream: (Instant, Duration),
}

impl Utilization {
    /// A turn begins.
    pub(super) fn turn_begins(&mut self, now: Instant) {
        let mean = |old: Duration, new: Duration| (old * (LEARNING - 1) + new) / LEARNING;
        let all = now.since(core::mem::replace(&mut self.began, now));
        let busy = core::mem::take(&mut self.busy);
        self.mean = Times { busy: mean(self.mean.busy, busy), all: mean(self.mean.all, all) };
    }

    /// The drive is busy for `time`. `stream`: with a request of the turn's stream, or with what must be written before the next.
    pub(super) fn busy(&mut self, time: Duration, stream: bool) {
        self.busy += time;
        self.stream.1 += if stream { time } else { Duration::ZERO };
    }

    /// The first request of the turn's stream is done.
    pub(super) fn stream_begins(&mut self, now: Instant) {
        self.stream = (now, Duration::ZERO);
    }

    /// Whether the stream, whose turn takes `length`, leaves the drive idle where others do not.
    pub(super) fn is_low(&self, now: Instant, length: Duration) -> bool {
        let (all, busy) = (now.since(self.stream.0), self.stream.1);
        // In about microseconds the product of two hours has room.
        let product = |one: Duration, other: Duration| (one.0 >> 10).saturating_mul(other.0 >> 10);
        all >= length / ENOUGH && product(busy * LOW, self.mean.all) < product(all, self.mean.busy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(time: u64) -> Duration {
        Duration::from_ms(time)
    }

    /// After turns of 100 ms, in which the drive was busy for `mean` ms, a stream has had a turn for `all` ms.
    fn is_low(mean: u64, busy: u64, all: u64) -> bool {
        let mut utilization = Utilization::default();
        for turn in 1..=64 {
            utilization.busy(ms(mean), false);
            utilization.turn_begins(Instant::ZERO + ms(100 * turn));
        }
        let first = Instant::ZERO + ms(6410);
        utilization.stream_begins(first);
        utilization.busy(ms(busy), true);
        utilization.busy(ms(100), false);
        utilization.is_low(first + ms(all), ms(100))
    }

    #[test]
    fn a_stream_below_half_of_the_mean_is_low_after_a_quarter_of_its_turn() {
        assert!(is_low(80, 11, 30) && !is_low(80, 13, 30), "half of 80 % of 30 ms are 12 ms");
        assert!(!is_low(80, 0, 24), "the turn has just begun");
        assert!(!is_low(20, 4, 30), "all leave the drive idle");
    }
}
