//! Open arrivals: requests come at random times, whether or not earlier ones are done.

use idlewise_core::{Instant, Operation, Request, RequestId, Sector, Sectors};
use rand::{RngCore, SeedableRng};
use rand_distr::{Distribution, Exp};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{Ground, Named};
use crate::engine::Workload;

/// Requests at exponentially distributed intervals, uniform over sizes and addresses.
pub struct Poisson {
    rng: Xoshiro256PlusPlus,
    interval: Exp<f64>,
    reads_percent: u32,
    /// Smallest and largest request, in steps.
    size: (u32, u32),
    /// Sizes and addresses are multiples of this many sectors.
    step: u32,
    /// Places at which a request of the largest size can start, in steps.
    places: u64,
    next: Instant,
    left: u64,
    requests: u64,
}

impl Poisson {
    /// `left` requests for `ground`, `rate` in a second on average.
    pub fn new(
        rate: f64,
        reads_percent: u32,
        (size, step): ((u32, u32), u32),
        left: u64,
        ground: Ground,
    ) -> Self {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(ground.seed);
        let interval = Exp::new(rate / 1e9).expect("the rate is above zero");
        let places = (ground.capacity.0 / u64::from(step)).saturating_sub(u64::from(size.1)).max(1);
        let next = Instant(interval.sample(&mut rng) as u64);
        Poisson { rng, interval, reads_percent, size, step, places, next, left, requests: left }
    }
}

impl Workload for Poisson {
    #[inline]
    fn next(&mut self) -> Option<Instant> {
        if self.left == 0 { None } else { Some(self.next) }
    }

    #[inline]
    fn issue(&mut self, _: RequestId) -> Request {
        let (reads_percent, size, step) = (self.reads_percent, self.size, self.step);
        let rng = &mut self.rng;
        let arrival = self.next;
        // Two draws: one for direction and size, one for the place. A product's upper half is uniform.
        let draw = rng.next_u64();
        let read = ((draw & 0xFFFF_FFFF) * 100) >> 32 < u64::from(reads_percent);
        let sizes = u64::from(size.1 - size.0) + 1;
        let length = Sectors((size.0 + (((draw >> 32) * sizes) >> 32) as u32) * step);
        let place = (u128::from(rng.next_u64()) * u128::from(self.places)) >> 64;
        let start = Sector(place as u64 * u64::from(step));
        self.next = Instant(arrival.0.saturating_add(self.interval.sample(rng) as u64));
        self.left -= 1;
        let operation = if read { Operation::Read } else { Operation::Write };
        Request { arrival, operation, sync: read, ..Request::read(start, length) }
    }

    fn share_done(&self, _: Instant) -> Option<f64> {
        Some(1.0 - self.left as f64 / self.requests.max(1) as f64)
    }
}

impl Named for Poisson {}
