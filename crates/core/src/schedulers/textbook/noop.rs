//! First come, first served.
//!
//! # How it decides
//! Requests leave in the order in which they arrived. Neighbours merge at the back; at the front
//! only with the request that last arrived or grew.
//!
//! # Source
//! Linux 2.6.32 `block/noop-iosched.c`. IOAZ calls it FCFS.
//!
//! # Good for, bad for
//! Good for devices that reorder by themselves, for flash, and for one sequential stream. Bad for
//! several streams on a disk: each request pays a seek.
//!
//! # Starvation
//! None: a request is overtaken by nobody.

use crate::collections::{Links, List, OutOfMemory};
use crate::scheduler::{Algorithm, Cx, Decision, Scheduler, Setup, Starvation};
use crate::tunables::Nothing;
use crate::units::{Duration, RequestId};

/// First come, first served.
pub struct Noop {
    links: Links,
    waiting: List,
}

impl Algorithm for Noop {
    const NAME: &'static str = "noop";
    const SUMMARY: &'static str = "First come, first served; merges neighbours.";
    const SOURCE: &'static str = "Linux 2.6.32 block/noop-iosched.c";
    type Tunables = Nothing;

    fn new(setup: Setup<'_>, _: Nothing) -> Result<Self, OutOfMemory> {
        Ok(Noop { links: Links::new(setup.capacity)?, waiting: List::default() })
    }

    fn tune(&mut self, _: Nothing) {}

    fn starvation(_: &Nothing) -> Starvation {
        Starvation::Bounded { after: Duration::ZERO, per_waiting: 1, plus: 0 }
    }
}

impl Scheduler for Noop {
    #[inline]
    fn insert(&mut self, _: Cx<'_>, id: RequestId) {
        self.links.push_back(&mut self.waiting, id);
    }

    #[inline]
    fn dispatch(&mut self, cx: Cx<'_>) -> Decision {
        cx.because("the oldest of {} waiting", || [self.waiting.len().into()]);
        self.links.pop_front(&mut self.waiting).map_or(Decision::Idle, Decision::Dispatch)
    }

    fn remove(&mut self, _: Cx<'_>, id: RequestId) {
        self.links.remove(&mut self.waiting, id);
    }

    fn front_merges(&self) -> bool {
        false
    }
}
