//! Plugging: the first request waits a moment, so that there are several to sort.
//!
//! # How it decides
//! 1. A request that finds the queue empty plugs it: nothing goes for `hold`, or until `enough` requests wait.
//! 2. Then the queue is served until it is empty. The oldest request goes if it has waited for `expire`; else the
//!    next one upward from where the last one ended; if there is none, the lowest.
//!
//! # Source
//! None: the second worked example of CONTRIBUTING.md. Linux plugs in a similar way, for each process.
//!
//! # Good for, bad for
//! Good for programs that issue several requests one after the other. Bad for one that waits for each request: each
//! takes `hold` longer.
//!
//! # Starvation
//! None: after `expire` requests go in order of arrival.

use crate::collections::{Lanes, OutOfMemory};
use crate::scheduler::{Algorithm, Cx, Decision, Scheduler, Setup, Starvation};
use crate::tunables::{Count, Microseconds, Milliseconds};
use crate::units::{Instant, RequestId, Sector};

crate::tunables! {
    /// What [`Plug`] can be told.
    pub struct Settings {
        /// How long the first request waits for others.
        hold: Microseconds = 500, 0..=1_000_000;
        /// With this many requests nothing is waited for any more.
        enough: Count = 8, 1..=1_000_000;
        /// A request that has waited for longer goes first.
        expire: Milliseconds = 500, 0..=3_600_000;
    }
}

/// Plugging.
pub struct Plug {
    /// All in one lane: by address, and by arrival with a deadline.
    waiting: Lanes<1>,
    /// Until when the queue is plugged.
    plugged: Option<Instant>,
    /// Where the last request dispatched ends.
    head: Sector,
    tunables: Settings,
}

impl Algorithm for Plug {
    const NAME: &'static str = "plug";
    const SUMMARY: &'static str = "Lets the first request wait a moment, then sweeps over what has come.";
    const SOURCE: &'static str = "CONTRIBUTING.md";
    type Tunables = Settings;

    fn new(setup: Setup<'_>, tunables: Settings) -> Result<Self, OutOfMemory> {
        Ok(Plug { waiting: Lanes::new(setup.capacity)?, plugged: None, head: Sector(0), tunables })
    }

    fn tune(&mut self, tunables: Settings) {
        self.tunables = tunables;
    }

    fn starvation(tunables: &Settings) -> Starvation {
        Starvation::Bounded { after: tunables.expire.0 + tunables.hold.0, per_waiting: 1, plus: 0 }
    }
}

impl Scheduler for Plug {
    fn insert(&mut self, cx: Cx<'_>, id: RequestId) {
        if self.waiting.is_empty(0) {
            self.plugged = Some(cx.now + self.tunables.hold.0);
        }
        let request = &cx[id];
        self.waiting.insert(0, id, request.start, request.arrival + self.tunables.expire.0);
    }

    fn dispatch(&mut self, cx: Cx<'_>) -> Decision {
        // `Idle`: nothing will change until something happens. The host need not ask before.
        let Some(oldest) = self.waiting.oldest(0) else { return Decision::Idle };
        // `WaitUntil`: time alone will change the answer. The host asks again then, or when something happens. A
        // call that gives nothing out leaves everything as it is.
        if let Some(until) = self.plugged
            && cx.now < until
            && (self.waiting.len(0) as u64) < self.tunables.enough.0
        {
            cx.because("plugged until {}: only {} wait", || [until.into(), self.waiting.len(0).into()]);
            return Decision::WaitUntil(until);
        }
        self.plugged = None;
        let overdue = cx.now > self.waiting.deadline(oldest);
        let upward = || self.waiting.at_or_after(0, self.head).or_else(|| self.waiting.lowest(0));
        let Some(id) = (if overdue { Some(oldest) } else { upward() }) else { return Decision::Idle };
        cx.because("{}", || [if overdue { "the oldest is overdue" } else { "next on the sweep" }.into()]);
        self.waiting.take(0, id);
        self.head = cx[id].end();
        Decision::Dispatch(id)
    }

    fn remove(&mut self, _: Cx<'_>, id: RequestId) {
        self.waiting.take(0, id);
    }

    fn grown(&mut self, cx: Cx<'_>, id: RequestId) {
        self.waiting.rekey(0, id, cx[id].start);
    }

    fn absorbed(&mut self, cx: Cx<'_>, survivor: RequestId, other: RequestId) {
        self.waiting.inherit(0, survivor, other);
        self.remove(cx, other);
        self.grown(cx, survivor);
    }
}

#[cfg(test)]
mod tests {
    use alloc::boxed::Box;
    use alloc::vec::Vec;

    use super::*;
    use crate::suites::{Referenced, SlowList};

    impl Referenced for Plug {
        fn reference(_: Setup<'_>, tunables: Settings) -> Box<dyn Scheduler> {
            let (waiting, by_address) = (Vec::new(), SlowList::default());
            Box::new(Reference { waiting, by_address, plugged: None, head: 0, tunables })
        }
    }

    /// A plain list in order of arrival with the deadlines, and the same requests by address.
    struct Reference {
        waiting: Vec<(Instant, RequestId)>,
        by_address: SlowList,
        plugged: Option<Instant>,
        head: u64,
        tunables: Settings,
    }

    impl Scheduler for Reference {
        fn insert(&mut self, cx: Cx<'_>, id: RequestId) {
            if self.waiting.is_empty() {
                self.plugged = Some(cx.now + self.tunables.hold.0);
            }
            self.waiting.push((cx[id].arrival + self.tunables.expire.0, id));
            self.by_address.insert(cx, id);
        }
        fn dispatch(&mut self, cx: Cx<'_>) -> Decision {
            let Some((deadline, oldest)) = self.waiting.first().copied() else { return Decision::Idle };
            if let Some(until) = self.plugged.filter(|until| cx.now < *until)
                && (self.waiting.len() as u64) < self.tunables.enough.0
            {
                return Decision::WaitUntil(until);
            }
            self.plugged = None;
            let head = self.head;
            let next = self.by_address.take_min_by(|start, id| {
                if cx.now > deadline { (id != oldest, 0) } else { (start < head, start) }
            });
            let Some(id) = next else { return Decision::Idle };
            self.waiting.retain(|(_, held)| *held != id);
            self.head = cx[id].end().0;
            Decision::Dispatch(id)
        }
        fn remove(&mut self, _: Cx<'_>, id: RequestId) {
            self.waiting.retain(|(_, held)| *held != id);
            self.by_address.remove(id);
        }
        fn grown(&mut self, cx: Cx<'_>, id: RequestId) {
            self.by_address.grown(cx, id);
        }
        fn absorbed(&mut self, cx: Cx<'_>, survivor: RequestId, other: RequestId) {
            let place = |id| self.waiting.iter().position(|(_, held)| *held == id).unwrap();
            let (own, others) = (place(survivor), place(other));
            if self.waiting[others].0 < self.waiting[own].0 {
                let deadline = self.waiting[others].0;
                self.waiting.remove(own);
                self.waiting.insert(others, (deadline, survivor));
            }
            self.remove(cx, other);
            self.grown(cx, survivor);
        }
    }
}
