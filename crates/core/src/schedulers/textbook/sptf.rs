//! Shortest positioning time first: the request that the disk can begin soonest.
//!
//! # How it decides
//! 1. Look up the expected positioning time of each request in a curve: by distance from the end of the
//!    last one dispatched to its start, forward and backward apart.
//! 2. Take the request with the least; ties go to the one that arrived first.
//!
//! The curve starts as the device's and learns from each completion, while the device has one request
//! at a time (see [`learned`](crate::learned)).
//!
//! # Source
//! SOSP'01 §3.3 and §3.6. Seltzer, Chen and Ousterhout 1990; Jacobson and Wilkes 1991.
//!
//! # Differs from the source
//! An operating system sees neither cylinders nor the angle of the platter. As in SOSP'01 the curve
//! folds rotation into an average, so this is closer to shortest seek first than to the SPTF inside a
//! disk.
//!
//! # Good for, bad for
//! Good for throughput. Bad for requests far away, and for synchronous processes unless it anticipates.
//!
//! # Starvation
//! Unbounded: arrivals near the head keep it from all others.

use crate::collections::OutOfMemory;
use crate::learned::Learned;
use crate::scheduler::{Algorithm, Cx, Decision, Policy, Scheduler, Setup, Starvation};
use crate::schedulers::shared::by_positioning_time::ByPositioningTime;
use crate::tunables::Nothing;
use crate::units::RequestId;

/// Shortest positioning time first.
pub struct Sptf {
    positions: ByPositioningTime,
}

impl Algorithm for Sptf {
    const NAME: &'static str = "sptf";
    const SUMMARY: &'static str = "Serves the request that the head reaches soonest, by a learned curve.";
    const SOURCE: &'static str = "SOSP'01 §3.3, §3.6";
    type Tunables = Nothing;

    fn new(setup: Setup<'_>, _: Nothing) -> Result<Self, OutOfMemory> {
        Ok(Sptf { positions: ByPositioningTime::new(setup)? })
    }

    fn tune(&mut self, _: Nothing) {}

    fn starvation(_: &Nothing) -> Starvation {
        Starvation::Unbounded
    }
}

impl Scheduler for Sptf {
    fn insert(&mut self, cx: Cx<'_>, id: RequestId) {
        self.positions.insert(cx, id);
    }

    fn dispatch(&mut self, cx: Cx<'_>) -> Decision {
        self.serve(cx)
    }

    fn complete(&mut self, cx: Cx<'_>, _: RequestId) {
        self.positions.completed(cx);
    }

    fn remove(&mut self, _: Cx<'_>, id: RequestId) {
        self.positions.remove(id);
    }

    fn grown(&mut self, cx: Cx<'_>, id: RequestId) {
        self.positions.grown(cx, id);
    }

    fn absorbed(&mut self, cx: Cx<'_>, survivor: RequestId, other: RequestId) {
        self.positions.absorbed(cx, survivor, other);
    }

    fn adopt(&mut self, _: Cx<'_>, _: RequestId) {
        self.positions.adopted();
    }

    fn learned(&self) -> Option<&Learned> {
        Some(&self.positions.learned)
    }

    fn inherit(&mut self, learned: &Learned) {
        self.positions.learned.clone_from(learned);
    }
}

impl Policy for Sptf {
    fn select(&self, cx: Cx<'_>) -> Option<RequestId> {
        self.positions.least(cx, |time, _| time, |time| time)
    }

    fn take(&mut self, cx: Cx<'_>, id: RequestId) {
        cx.because("the head is there soonest, in about {}", || [self.positions.expected(cx, id).into()]);
        self.positions.take(cx, id);
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::device::Device;
    use crate::learned::Curve;
    use crate::queue::Queue;
    use crate::request::Request;
    use crate::units::{Duration, Instant, Sector, Sectors};

    #[test]
    fn the_soonest_reached_goes_first_even_if_it_is_not_the_nearest() {
        // On this disk a seek over 20 000 sectors takes less than one over 1000.
        let points = [(0, 0), (1000, 9), (10_000, 9), (20_000, 4), (40_000, 12)];
        let points = points.map(|(distance, ms)| (distance, Duration::from_ms(ms)));
        let device = Device { learned: Curve::through(&points).into(), ..Device::default() };
        let entry = crate::registry::find("sptf").unwrap();
        let mut queue = Queue::new(8, device, entry, &[]).unwrap();
        let now = Instant(0);
        for start in [2000, 24_576, 60_000] {
            queue.insert(now, Request::read(Sector(start), Sectors(8))).unwrap();
        }
        let mut order = Vec::new();
        while let Decision::Dispatch(id) = queue.dispatch(now).unwrap() {
            order.push(queue.request(id).start.0);
        }
        assert_eq!(order[0], 24_576);
    }
}
