//! What is known of a drive: given beforehand, or learned from completions.
//!
//! A queue keeps it when its scheduler is exchanged, so that no scheduler begins with what another has learned already.

mod curve;
mod leaving;
mod surveyor;

pub use curve::Curve;
pub use leaving::Leaving;
pub(crate) use leaving::Way;
pub use surveyor::Surveyor;

use crate::units::Duration;
use curve::LEARNING_SHIFT;

/// What is known of a drive's times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Learned {
    /// Positioning time by distance.
    pub curve: Curve,
    /// What it costs to leave a stream and to come back.
    pub(crate) leaving: Leaving,
    /// Nanoseconds to transfer one sector, times 16. Until a request has followed directly on its predecessor, all of its
    /// time counts as positioning.
    transfer: Option<u64>,
}

impl Learned {
    /// The same, and that a sector takes so long to transfer.
    pub fn with_transfer(self, sector: Duration) -> Learned {
        Learned { transfer: Some(sector.0.saturating_mul(16)), ..self }
    }

    /// A sector of a request that followed directly on its predecessor took this long, in sixteenths of a nanosecond.
    fn transfers(&mut self, sample: u64) {
        let sample = sample.min(1 << 40);
        let old = *self.transfer.get_or_insert(sample);
        self.transfer = Some(old.saturating_add_signed((sample as i64 - old as i64) >> LEARNING_SHIFT));
    }
}

impl From<Curve> for Learned {
    /// Nothing but the curve is known.
    fn from(curve: Curve) -> Self {
        Learned { curve, leaving: Leaving::default(), transfer: None }
    }
}
