//! What is known of a drive: given beforehand, or learned from completions.
//!
//! A scheduler gets this when it is built, from `Setup::device.learned`, and improves its copy. The queue keeps this when
//! its scheduler is replaced, so the new scheduler need not learn it again: `Scheduler::inherit` hands it over.

mod curve;
mod leaving;
mod positioning_meter;

pub use curve::Curve;
pub use leaving::Leaving;
pub(crate) use leaving::Way;
pub use positioning_meter::PositioningMeter;

use curve::LEARNING_SHIFT;
use leaving::STALE;

/// What the curve takes the transfer time for until it is measured: 20 MB/s, 25 us for one sector, times 16.
const USUAL_TRANSFER: u64 = 25_000 * 16;

/// What is known of a drive's times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Learned {
    /// Positioning time by distance.
    pub curve: Curve,
    /// What it costs to leave a stream and to come back.
    pub(crate) leaving: Leaving,
    /// Nanoseconds to transfer one sector, times 16, if that has been measured.
    transfer: Option<u64>,
}

impl Learned {
    /// A sector of a request that followed directly on its predecessor took this long, in sixteenths of a nanosecond.
    fn transfers(&mut self, sample: u64) {
        let sample = sample.min(1 << 40);
        let old = *self.transfer.get_or_insert(sample);
        self.transfer = Some(old.saturating_add_signed((sample as i64 - old as i64) >> LEARNING_SHIFT));
    }

    /// Whether it is known what part of a request's time is transfer.
    pub(crate) fn knows_transfer(&self) -> bool {
        self.transfer.is_some()
    }

    /// A stream's turn ends; the stream is `left` because it thinks, or not.
    pub(crate) fn turn_ends(&mut self, left: bool) {
        if !self.leaving.ends(left) {
            self.forget_transfer();
        }
    }

    /// What is known of the transfer time is wrong or old, perhaps.
    pub(crate) fn forget_transfer(&mut self) {
        self.transfer = self.transfer.map(|old| old - old / STALE);
    }
}

impl From<Curve> for Learned {
    /// Nothing but the curve is known.
    fn from(curve: Curve) -> Self {
        Learned { curve, leaving: Leaving::default(), transfer: None }
    }
}
