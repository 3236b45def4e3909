//! Whether the drive still writes what it has taken into its buffer.
//!
//! A drive with a queue does so between the reads of a stream, and moves its heads there and back each time. A read that was
//! alone in the drive, continued where the stream was, and yet took much longer than to get there shows it. Then the
//! stream is held back, so that the drive gets done.

use crate::units::{Duration, Instant};

/// A read that takes more than this times the way to a stream was kept waiting by the drive.
const SLOW: u64 = 2;
/// The stream is held back for this times as long as the read took: most of the time is the drive's.
const PAUSE: u64 = 2;

/// What is known of the drive's writing.
#[derive(Default)]
pub(super) struct Draining {
    /// The drive had nothing else when the last request went there.
    alone: bool,
    /// Until when the stream whose turn it is is held back.
    until: Instant,
}

impl Draining {
    /// A request goes to the drive. `alone`: the drive has nothing else.
    pub(super) fn sends(&mut self, alone: bool) {
        self.alone = alone;
    }

    /// A read of the stream whose turn it is has taken `service`, not the first. `alone`: the drive has nothing else. Returns
    /// for how long the stream is held back.
    pub(super) fn reads(&mut self, now: Instant, service: Duration, alone: bool, way: Duration) -> Duration {
        if !(self.alone && alone && service > way * SLOW) {
            return Duration::ZERO;
        }
        self.until = now + service * PAUSE;
        service * PAUSE
    }

    /// Until when a stream is held back, if it is.
    pub(super) fn until(&self, now: Instant) -> Option<Instant> {
        (now < self.until).then_some(self.until)
    }
}
