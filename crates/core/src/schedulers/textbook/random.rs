//! Any waiting request, each equally likely.
//!
//! # How it decides
//! 1. Draw a number below the count of waiting requests.
//! 2. Take the request in that place. The last request fills the place.
//!
//! Where a cancelled or absorbed request was, the last one moves in, too.
//!
//! # Source
//! UNC §III.C: requests are appended to one list, and one chosen at random moves to the tail of a
//! dispatch list that is not sorted.
//!
//! # Differs from the source
//! The source walks its list to the chosen element; here the list is a table, and the pick costs the
//! same at any depth. The dispatch list is left out, as it holds one request at a time. The seed is a
//! tunable, so that a run can be repeated.
//!
//! # Good for, bad for
//! Good as a yardstick: a scheduler that does not beat it does nothing. Bad for everything else.
//!
//! # Starvation
//! Unbounded: a request may never be drawn.

use alloc::vec::Vec;

use crate::collections::{OutOfMemory, table};
use crate::rng;
use crate::scheduler::{Algorithm, Cx, Decision, Scheduler, Setup, Starvation};
use crate::tunables::Seed;
use crate::units::RequestId;

crate::tunables! {
    /// Tunables of [`Random`].
    pub struct Settings {
        /// Where the random numbers come from: the same seed, the same choices.
        seed: Seed = 1, 0..=u64::MAX;
    }
}

/// Any waiting request, each equally likely.
pub struct Random {
    waiting: Vec<RequestId>,
    /// Where in `waiting` each request is.
    places: Vec<u32>,
    dice: rng::Random,
    tunables: Settings,
}

impl Algorithm for Random {
    const NAME: &'static str = "random";
    const SUMMARY: &'static str = "Serves any waiting request, each equally likely.";
    const SOURCE: &'static str = "UNC §III.C";
    type Tunables = Settings;

    fn new(setup: Setup<'_>, tunables: Settings) -> Result<Self, OutOfMemory> {
        let mut waiting = Vec::new();
        waiting.try_reserve_exact(setup.capacity).map_err(|_| OutOfMemory)?;
        Ok(Random { waiting, places: table(setup.capacity, 0)?, dice: rng::Random::default(), tunables })
    }

    fn tune(&mut self, tunables: Settings) {
        self.tunables = tunables;
    }

    fn starvation(_: &Settings) -> Starvation {
        Starvation::Unbounded
    }
}

impl Scheduler for Random {
    fn insert(&mut self, _: Cx<'_>, id: RequestId) {
        self.places[id.index()] = self.waiting.len() as u32;
        self.waiting.push(id);
    }

    fn dispatch(&mut self, cx: Cx<'_>) -> Decision {
        if self.waiting.is_empty() {
            return Decision::Idle;
        }
        cx.because("drawn from {} waiting", || [self.waiting.len().into()]);
        let place = self.dice.below(self.tunables.seed.0, self.waiting.len() as u32);
        let id = self.waiting[place as usize];
        self.remove(cx, id);
        Decision::Dispatch(id)
    }

    fn remove(&mut self, _: Cx<'_>, id: RequestId) {
        let place = self.places[id.index()];
        self.waiting.swap_remove(place as usize);
        if let Some(moved) = self.waiting.get(place as usize) {
            self.places[moved.index()] = place;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedulers::shared::head::tests::order;

    #[test]
    fn the_seed_decides() {
        let starts: Vec<u64> = (0..40).map(|n| 100 * n).collect();
        let with = |seed| order("random", &[("seed", seed)], 0, &starts);
        assert_eq!(with(1), with(1));
        assert_ne!(with(1), with(2));
        assert_ne!(with(1), starts);
    }
}
