//! Between shortest seek and elevator: turning costs an imagined distance.
//!
//! # How it decides
//! 1. The distance of a request is that from the end of the last one dispatched to its start. For a
//!    request against the way of the last seek, `r` percent of the disk's length are added.
//! 2. Take the request with the least distance; of two that are equal, the one on the way.
//!
//! Requests with equal addresses are dispatched in order of arrival. With `r` = 0 this is `sstf`,
//! with `r` = 100 it is `look`.
//!
//! # Source
//! VSCAN(R), Geist and Daniel 1987, who recommend R = 0.2, as DiskSim has it.
//!
//! # Good for, bad for
//! Good for deep queues of scattered requests: nearly the throughput of shortest seek first, and far
//! fewer requests forgotten at the edges. Bad for synchronous processes, as all that only shorten seeks.
//!
//! # Starvation
//! Unbounded: arrivals near the head keep it from all others.

use crate::collections::Sorted;
use crate::scheduler::Cx;
use crate::schedulers::shared::head::{Head, Rule, Seek};
use crate::tunables::Percent;
use crate::units::{RequestId, Sector};

crate::tunables! {
    /// Tunables of [`Vscan`].
    pub struct Settings {
        /// How much of the disk's length a turn costs: 0 is shortest seek first, 100 the elevator.
        r: Percent = 20, 0..=100;
    }
}

/// Shortest seek first, where a turn has a price.
pub type Vscan = Seek<Inert>;

/// The rule of [`Vscan`].
pub struct Inert;

/// The price of a turn in sectors.
fn penalty(capacity: Sector, settings: &Settings) -> u64 {
    let (hundreds, rest) = (capacity.0 / 100, capacity.0 % 100);
    hundreds * settings.r.0 + rest * settings.r.0 / 100
}

impl Rule for Inert {
    const NAME: &'static str = "vscan";
    const SUMMARY: &'static str =
        "Serves the nearest request, where turning costs a share of the disk's length.";
    const SOURCE: &'static str = "Geist and Daniel 1987, VSCAN(R); DiskSim";
    const REASON: &'static str = "nearest, where turning costs extra: {}, {} sectors away";
    type Tunables = Settings;

    #[inline]
    fn pick(head: &Head, cx: Cx<'_>, waiting: &Sorted, settings: &Settings) -> Option<RequestId> {
        head.nearest(cx, waiting, penalty(cx.device.capacity, settings))
    }
}

#[cfg(test)]
mod tests {
    use crate::schedulers::shared::head::tests::order;

    #[test]
    fn a_turn_pays_only_if_it_saves_more_than_its_price() {
        // The disk has 10 000 sectors. From 4008, 3900 lies 108 behind and 4400 lies 392 ahead.
        assert_eq!(order("vscan", &[("r", 2)], 4000, &[4400, 3900]), [3900, 4400]);
        assert_eq!(order("vscan", &[("r", 3)], 4000, &[4400, 3900]), [4400, 3900]);
    }
}
