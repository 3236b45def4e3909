//! Tunables of `turns`, and what follows from them.

use crate::tunables::Milliseconds;
use crate::units::Duration;

crate::tunables! {
    /// Tunables of [`Turns`](super::Turns).
    pub struct Settings {
        /// How long a round of turns takes about, with up to 16 that want one: waits grow with it, and so does throughput.
        target: Milliseconds = 650, 20..=10_000;
    }
}

/// Requests that may go before one that is overdue: a turn of a stream on a slow disk, so that turns still count if all
/// are overdue.
pub(super) const SPARED: u64 = 32;
/// The same where it is of a lower class, unless half a round passes first.
pub(super) const SPARED_BELOW: u64 = 512;
/// Without heads, as many reads go before a write that somebody waits for: it waits no longer than under first come, first
/// served beside as many readers.
pub(super) const READS: u64 = 16;
/// A shorter turn would be spent on getting there.
pub(super) const SHORTEST: Duration = Duration::from_ms(40);
/// Nothing is overdue sooner: five of the shortest turns. Where all is overdue, nothing goes before anything else.
pub(super) const SOONEST: Duration = Duration::from_ms(200);

impl Settings {
    /// Half of a round.
    pub(super) fn half(&self) -> Duration {
        self.target.0 / 2
    }

    /// The longest turn: two that share a round have half each. Nothing new goes to a drive that has passed over something for
    /// as long.
    pub(super) fn longest(&self) -> Duration {
        self.half().max(SHORTEST)
    }

    /// From which age on a request is overdue: a round, and what its last turn may take longer. As turns have a least length,
    /// so has a round.
    pub(super) fn expire(&self) -> Duration {
        (self.target.0 + self.target.0 / 8).max(SOONEST)
    }

    /// Whether a request of this age is overdue. Hardly any is so old that more than the first must be looked at.
    #[inline]
    pub(super) fn is_overdue(&self, age: Duration) -> bool {
        age >= SOONEST && age >= self.expire()
    }
}
