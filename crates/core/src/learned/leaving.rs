//! What it costs to leave a stream and to come back: learned from completions alone.
//!
//! A drive that reads ahead for many streams at once has the next part ready when its host soon comes back, and leaving costs
//! next to nothing. Another has to move its heads. Only leaving shows which kind a drive is: so leaving counts as free
//! until it has turned out not to be. What has not been tried for long is tried again: leaving, and staying likewise.

use crate::units::Duration;

/// A sample moves the mean by this part of the difference: a few long seeks among many short ones
/// must not decide alone.
const LEARNING: u64 = 32;
/// In each turn in which leaving was not tried, it is taken to cost less by this part.
const FORGETTING: u64 = 16;
/// In each turn in which nobody stayed, staying is taken to take less by this part: hundreds of turns without it make it
/// worth a try, if what is known of it is wrong or old.
pub(super) const STALE: u64 = 256;
/// Until something has been measured: a seek and half a turn of a disk.
const UNMEASURED: Duration = Duration::from_ms(12);

/// Mean times that the drive takes to get to reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaving {
    /// Of the first in a turn, where the last turn had gone on to its end: everybody had a turn since.
    late: Duration,
    /// Of the first in a turn, where the stream had been left because it thought.
    early: Duration,
    /// Of all others.
    staying: Duration,
    /// In this turn somebody stayed.
    stayed: bool,
    /// The time that a read takes in a batch, in a drive with a queue: there a stream's read costs no more.
    batch: Duration,
}

/// How the drive got to a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Late,
    Early,
    Staying,
    /// In a batch, whoever had issued it.
    Batch,
}

impl Default for Leaving {
    fn default() -> Self {
        let zero = Duration::ZERO;
        Leaving { late: UNMEASURED, early: zero, staying: zero, stayed: false, batch: UNMEASURED }
    }
}

impl Leaving {
    /// The drive has taken `time` to get to a read of a stream whose turn it is.
    pub(crate) fn learn(&mut self, way: Way, time: Duration) {
        let mean = match way {
            Way::Late => &mut self.late,
            Way::Early => &mut self.early,
            Way::Staying => &mut self.staying,
            Way::Batch => &mut self.batch,
        };
        *mean = (*mean * (LEARNING - 1) + time) / LEARNING;
        self.stayed |= way == Way::Staying;
    }

    /// A stream's turn ends; the stream is `left` because it thinks, or not. Returns whether anybody stayed.
    pub(crate) fn ends(&mut self, left: bool) -> bool {
        if !left {
            self.early = self.early - self.early / FORGETTING;
        }
        let stayed = core::mem::take(&mut self.stayed);
        if !stayed {
            self.staying = self.staying - self.staying / STALE;
        }
        stayed
    }

    /// How much longer a stream's next read takes if the stream is left than if not. `soon`: after nothing but others' thoughts.
    pub(crate) fn cost(&self, soon: bool) -> Duration {
        (if soon { self.early } else { self.late.min(self.batch) }) - self.staying
    }

    /// How long a read takes in a batch, in a drive with a queue.
    pub(crate) fn batch(&self) -> Duration {
        self.batch
    }

    /// How long it takes to get to a stream after a round.
    pub(crate) fn way(&self) -> Duration {
        self.late
    }
}
