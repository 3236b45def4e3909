//! Measures from completions how long the head takes to get from one request to the next.

use super::{Learned, USUAL_TRANSFER};
use crate::units::{Duration, Instant, Sector, Sectors};

/// Measures positioning times from the completions that a scheduler sees.
///
/// Only valid where the device serves one command at a time; with more in flight it learns nothing.
/// The time to transfer is taken from requests that follow directly on their predecessor.
#[derive(Clone, Debug, Default)]
pub struct PositioningMeter {
    /// Where the last request that was sent ends, if one was.
    head: Option<Sector>,
    /// The request in service: from where, to where, how long, since when.
    current: Option<Trip>,
    in_flight: u32,
}

#[derive(Clone, Copy, Debug)]
struct Trip {
    from: Sector,
    to: Sector,
    sectors: u64,
    since: Instant,
}

impl PositioningMeter {
    /// A request for `[to, to + sectors)` is sent to the device.
    pub fn dispatched(&mut self, now: Instant, to: Sector, sectors: Sectors) {
        self.in_flight += 1;
        let from = self.head.replace(to + sectors);
        let alone = self.in_flight == 1 && sectors.0 > 0;
        let trip = |from| Trip { from, to, sectors: u64::from(sectors.0), since: now };
        self.current = from.filter(|_| alone).map(trip);
    }

    /// The device still has a request that another scheduler sent: nothing is measured until it is
    /// completed.
    pub fn adopted(&mut self) {
        self.in_flight += 1;
        self.current = None;
    }

    /// Whether the request in service began where the one before ended.
    pub fn went_on(&self) -> bool {
        self.current.is_some_and(|trip| trip.from == trip.to)
    }

    /// A request was completed; `learned` gains by it. Returns how long the head took to it, if
    /// that could be measured.
    pub fn completed(&mut self, now: Instant, learned: &mut Learned) -> Option<Duration> {
        self.in_flight = self.in_flight.saturating_sub(1);
        let trip = self.current.take()?;
        let service = now.since(trip.since);
        if trip.from == trip.to {
            learned.transfers(service.0.saturating_mul(16) / trip.sectors);
        }
        let transfer = trip.sectors.saturating_mul(learned.transfer.unwrap_or(USUAL_TRANSFER)) / 16;
        let positioning = service - Duration(transfer);
        learned.curve.learn(trip.from, trip.to, positioning);
        Some(positioning)
    }
}
