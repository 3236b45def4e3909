//! Last come, first served: the youngest request goes first.
//!
//! # How it decides
//! 1. Take the request that was inserted last.
//! 2. Two requests that a merge makes one count as the one that survives.
//!
//! # Source
//! None: it is the worked example of CONTRIBUTING.md.
//!
//! # Good for, bad for
//! Good for work that is worthless when it is late, such as prefetching. Bad for everything else.
//!
//! # Starvation
//! Unbounded: whoever is at the bottom waits until nothing arrives any more.

use crate::collections::{Links, List, OutOfMemory};
use crate::scheduler::{Algorithm, Cx, Decision, Scheduler, Setup, Starvation};
use crate::tunables::Nothing;
use crate::units::RequestId;

/// Last come, first served.
pub struct Lifo {
    links: Links,
    /// The youngest is in front.
    waiting: List,
}

impl Algorithm for Lifo {
    const NAME: &'static str = "lifo";
    const SUMMARY: &'static str = "Last come, first served.";
    const SOURCE: &'static str = "CONTRIBUTING.md";
    type Tunables = Nothing;

    fn new(setup: Setup<'_>, _: Nothing) -> Result<Self, OutOfMemory> {
        Ok(Lifo { links: Links::new(setup.capacity)?, waiting: List::default() })
    }

    fn tune(&mut self, _: Nothing) {}

    fn starvation(_: &Nothing) -> Starvation {
        Starvation::Unbounded
    }
}

impl Scheduler for Lifo {
    #[inline]
    fn insert(&mut self, _: Cx<'_>, id: RequestId) {
        self.links.push_front(&mut self.waiting, id);
    }

    #[inline]
    fn dispatch(&mut self, _: Cx<'_>) -> Decision {
        self.links.pop_front(&mut self.waiting).map_or(Decision::Idle, Decision::Dispatch)
    }

    fn remove(&mut self, _: Cx<'_>, id: RequestId) {
        self.links.remove(&mut self.waiting, id);
    }
}

#[cfg(test)]
mod tests {
    use alloc::boxed::Box;
    use alloc::vec::Vec;

    use super::*;
    use crate::suites::Referenced;

    impl Referenced for Lifo {
        fn reference(_: Setup<'_>, _: Nothing) -> Box<dyn Scheduler> {
            Box::new(Reference::default())
        }
    }

    /// A stack.
    #[derive(Default)]
    struct Reference(Vec<RequestId>);

    impl Scheduler for Reference {
        fn insert(&mut self, _: Cx<'_>, id: RequestId) {
            self.0.push(id);
        }
        fn dispatch(&mut self, _: Cx<'_>) -> Decision {
            self.0.pop().map_or(Decision::Idle, Decision::Dispatch)
        }
        fn remove(&mut self, _: Cx<'_>, id: RequestId) {
            self.0.retain(|held| *held != id);
        }
    }
}
