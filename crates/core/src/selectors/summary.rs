//! What one period showed: plain counts, and what follows from them.

use crate::units::Duration;

/// The figures of one period. Shares are asked for by method.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// How long the period was.
    pub length: Duration,
    /// How much of it something was outstanding.
    pub busy: Duration,
    /// Requests that came.
    pub requests: u64,
    /// Reads among them.
    pub reads: u64,
    /// Requests that somebody waits for.
    pub sync: u64,
    /// Requests pooled from several blocks: merged in the queue, longer than a block, or reads with what they follow.
    pub merged: u64,
    /// Requests that begin where their process's last one ended.
    pub sequential: u64,
    /// Requests within 1 MiB of there.
    pub local: u64,
    /// Bytes asked for.
    pub bytes: u64,
    /// Processes that asked for something, had something done or waited for it.
    pub processes: u64,
    /// Requests of processes that were first seen in this period or the two before.
    pub newcomers: u64,
    /// Requests outstanding when one came, added up.
    pub outstanding: u64,
    /// How often a process with nothing outstanding came back.
    pub thinks: u64,
    /// The times that these processes took, added up.
    pub think_ns: u64,
    /// Requests done.
    pub done: u64,
    /// Bytes done.
    pub done_bytes: u64,
    /// Bytes of the active process that got least, and of the one that got most.
    pub slowest_bytes: u64,
    /// See `slowest_bytes`.
    pub fastest_bytes: u64,
    /// Jain's index over the bytes of active processes, in thousandths.
    pub jain_permille: u64,
    /// 99 in 100 synchronous reads took no longer.
    pub sync_read_p99: Duration,
}

/// `part` of `whole` in hundredths, rounded down; 0 of nothing.
const fn percent(part: u64, whole: u64) -> u64 {
    match whole {
        0 => 0,
        whole => part * 100 / whole,
    }
}

/// `sum / count`; 0 of nothing.
const fn mean(sum: u64, count: u64) -> u64 {
    match count {
        0 => 0,
        count => sum / count,
    }
}

impl Summary {
    /// Reads in a hundred requests.
    pub const fn read_percent(&self) -> u64 {
        percent(self.reads, self.requests)
    }

    /// Pooled ones in a hundred requests.
    pub const fn merged_percent(&self) -> u64 {
        percent(self.merged, self.requests)
    }

    /// Sequential ones in a hundred requests.
    pub const fn sequential_percent(&self) -> u64 {
        percent(self.sequential, self.requests)
    }

    /// Newcomers' in a hundred requests.
    pub const fn newcomers_percent(&self) -> u64 {
        percent(self.newcomers, self.requests)
    }

    /// Mean size of a request, in bytes.
    pub const fn mean_size(&self) -> u64 {
        mean(self.bytes, self.requests)
    }

    /// Mean number of requests outstanding when one came, in hundredths.
    pub const fn mean_depth_percent(&self) -> u64 {
        percent(self.outstanding, self.requests)
    }

    /// Mean time from a process's last completion to its next request.
    pub const fn mean_think(&self) -> Duration {
        Duration(mean(self.think_ns, self.thinks))
    }

    /// Requests that came, in a second.
    pub const fn arrivals_per_s(&self) -> u64 {
        self.per_s(self.requests)
    }

    /// Bytes done in a second.
    pub const fn throughput(&self) -> u64 {
        self.per_s(self.done_bytes)
    }

    /// Bytes in a second that the slowest active process got.
    pub const fn slowest(&self) -> u64 {
        self.per_s(self.slowest_bytes)
    }

    const fn per_s(&self, amount: u64) -> u64 {
        match self.length.as_us() {
            0 => 0,
            us => amount.saturating_mul(1_000_000) / us,
        }
    }

    /// Computes what tells how evenly `shares` of bytes are spread.
    pub(super) fn spread(&mut self, shares: impl Iterator<Item = u64> + Clone) {
        self.fastest_bytes = shares.clone().max().unwrap_or(0);
        self.slowest_bytes = shares.clone().min().unwrap_or(0);
        self.jain_permille = jain_permille(shares);
    }
}

/// Jain's index of fairness in thousandths: (Σx)² / (n Σx²). 1000 is even, 1000/n is one takes all.
pub fn jain_permille(shares: impl Iterator<Item = u64> + Clone) -> u64 {
    const FULL: u64 = 10_000;
    let most = shares.clone().max().unwrap_or(0);
    if most == 0 {
        return 1000;
    }
    // As parts of the largest, so that squares stay small.
    let part = |share: u64| if most > u64::MAX / FULL { share / (most / FULL) } else { share * FULL / most };
    let (mut count, mut sum, mut squares) = (0, 0, 0);
    for share in shares.map(part) {
        (count, sum, squares) = (count + 1, sum + share, squares + share * share);
    }
    (1000 * sum * sum + count * squares / 2) / (count * squares)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fairness_is_jains() {
        assert_eq!(jain_permille([5, 5, 5].into_iter()), 1000);
        assert_eq!(jain_permille([7, 0, 0, 0].into_iter()), 250);
        assert_eq!(jain_permille([1, 3].into_iter()), 800, "(1 + 3)² / 2 (1² + 3²)");
        assert_eq!(jain_permille([u64::MAX, u64::MAX].into_iter()), 1000);
        assert_eq!(jain_permille([].into_iter()), 1000);
    }

    #[test]
    fn shares_of_nothing_are_none() {
        let nothing = Summary::default();
        assert_eq!((nothing.read_percent(), nothing.mean_size(), nothing.throughput()), (0, 0, 0));
    }
}
