//! What it costs to leave a stream and to come back: learned from completions alone.
//!
//! A drive that reads ahead for many streams at once has the next part ready when its host comes back, and leaving costs
//! next to nothing. Another has to move its heads.

use crate::units::Duration;

/// A sample moves the mean by an eighth of the difference.
const LEARNING: u64 = 8;
/// Until something has been measured: a seek and half a turn of a disk.
const UNMEASURED: Duration = Duration::from_ms(12);

/// The mean positioning time of the first read in a stream's turn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leaving(Duration);

impl Default for Leaving {
    fn default() -> Self {
        Leaving(UNMEASURED)
    }
}

impl Leaving {
    /// The drive has taken `time` to get to the first read in a stream's turn.
    pub(super) fn learn(&mut self, time: Duration) {
        self.0 = (self.0 * (LEARNING - 1) + time) / LEARNING;
    }

    /// How long it takes to come back to a stream.
    pub(super) fn cost(&self) -> Duration {
        self.0
    }
}
