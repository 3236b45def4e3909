//! Requests by the time that it takes to reach them: what the SPTF family shares.

use crate::collections::{Fifo, Kept, OutOfMemory, Sorted};
use crate::positioning::{Curve, Surveyor};
use crate::scheduler::{Cx, Setup};
use crate::units::{Duration, RequestId, Sector};

/// Waiting requests, where the head is, and what is known of the time to get from here to there.
pub(crate) struct Positions {
    sorted: Sorted,
    /// Who came first: for ties and for ageing.
    pub(crate) fifo: Fifo,
    /// Where the last request dispatched ends.
    head: Sector,
    curve: Kept<Curve>,
    surveyor: Surveyor,
}

impl Positions {
    pub(crate) fn new(setup: Setup<'_>) -> Result<Self, OutOfMemory> {
        Ok(Positions {
            sorted: Sorted::new(setup.capacity)?,
            fifo: Fifo::new(setup.capacity)?,
            head: Sector(0),
            curve: Kept::new::<OutOfMemory>(|| Ok(setup.device.curve.clone()))?,
            surveyor: Surveyor::default(),
        })
    }

    pub(crate) fn insert(&mut self, cx: Cx<'_>, id: RequestId) {
        self.fifo.push(id);
        self.sorted.insert(cx[id].start.0, id);
    }

    pub(crate) fn remove(&mut self, id: RequestId) {
        self.fifo.remove(id);
        self.sorted.remove(id);
    }

    pub(crate) fn grown(&mut self, cx: Cx<'_>, id: RequestId) {
        self.sorted.rekey(id, cx[id].start.0);
    }

    pub(crate) fn absorbed(&mut self, cx: Cx<'_>, survivor: RequestId, other: RequestId) {
        self.fifo.absorb(survivor, other);
        self.sorted.remove(other);
        self.grown(cx, survivor);
    }

    /// How long the head is expected to take to `id`.
    pub(crate) fn expected(&self, cx: Cx<'_>, id: RequestId) -> Duration {
        self.curve.expected(self.head, cx[id].start)
    }

    /// `id` is dispatched: the head goes there.
    pub(crate) fn take(&mut self, cx: Cx<'_>, id: RequestId) {
        self.remove(id);
        let request = &cx[id];
        self.surveyor.dispatched(cx.now, self.head, request.start, request.length.0);
        self.head = request.end();
    }

    pub(crate) fn completed(&mut self, cx: Cx<'_>) {
        self.surveyor.completed(cx.now, &mut self.curve);
    }

    pub(crate) fn adopted(&mut self) {
        self.surveyor.adopted();
    }

    /// The request for which `cost` of its positioning time is least; the first that came, of equals.
    ///
    /// `floor` is a cost that no request has whose positioning time is at least so long. It ends the
    /// search on a side: requests further out cannot be better.
    pub(crate) fn least<C: Ord>(
        &self,
        cost: impl Fn(Duration, RequestId) -> C,
        floor: impl Fn(Duration) -> C,
    ) -> Option<RequestId> {
        let mut best: Option<((C, u64), RequestId)> = None;
        let mut better = |start: u64, id: RequestId| {
            let start = Sector(start);
            let hopeless = |(least, _): &(C, u64)| floor(self.curve.at_least(self.head, start)) > *least;
            if best.as_ref().is_some_and(|(least, _)| hopeless(least)) {
                return false;
            }
            let rank = (cost(self.curve.expected(self.head, start), id), self.fifo.turn(id));
            if best.as_ref().is_none_or(|(least, _)| rank < *least) {
                best = Some((rank, id));
            }
            true
        };
        let up = self.sorted.iter_from(self.head.0);
        up.take_while(|(start, id)| better(*start, *id)).for_each(drop);
        let down = self.sorted.iter_back_from(self.head.0);
        down.take_while(|(start, id)| better(*start, *id)).for_each(drop);
        best.map(|(_, id)| id)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use alloc::boxed::Box;
    use alloc::vec::Vec;

    use super::*;
    use crate::scheduler::{Decision, Scheduler};

    /// The cost of a request by its positioning time and age, both in nanoseconds.
    type Cost = Box<dyn Fn(u64, u64) -> i128>;

    /// The family by comparing all requests: the least cost, the first that came of equals. A
    /// request that is older than the limit goes before all, the first that came of several.
    pub(crate) struct Slow {
        cost: Cost,
        limit: u64,
        line: Vec<RequestId>,
        head: Sector,
        curve: Curve,
        surveyor: Surveyor,
    }

    impl Slow {
        pub(crate) fn boxed(setup: Setup<'_>, limit: u64, cost: Cost) -> Box<dyn Scheduler> {
            let (curve, surveyor) = (setup.device.curve.clone(), Surveyor::default());
            Box::new(Slow { cost, limit, line: Vec::new(), head: Sector(0), curve, surveyor })
        }
    }

    impl Scheduler for Slow {
        fn insert(&mut self, _: Cx<'_>, id: RequestId) {
            self.line.push(id);
        }
        fn dispatch(&mut self, cx: Cx<'_>) -> Decision {
            let time = |id: RequestId| self.curve.expected(self.head, cx[id].start).0;
            let late = self.line.iter().copied().find(|id| cx.age(*id).0 >= self.limit);
            let near = self.line.iter().copied().min_by_key(|id| (self.cost)(time(*id), cx.age(*id).0));
            let Some(id) = late.or(near) else { return Decision::Idle };
            self.line.retain(|held| *held != id);
            self.surveyor.dispatched(cx.now, self.head, cx[id].start, cx[id].length.0);
            self.head = cx[id].end();
            Decision::Dispatch(id)
        }
        fn complete(&mut self, cx: Cx<'_>, _: RequestId) {
            self.surveyor.completed(cx.now, &mut self.curve);
        }
        fn adopt(&mut self, _: Cx<'_>, _: RequestId) {
            self.surveyor.adopted();
        }
        fn remove(&mut self, _: Cx<'_>, id: RequestId) {
            self.line.retain(|held| *held != id);
        }
        fn absorbed(&mut self, _: Cx<'_>, survivor: RequestId, other: RequestId) {
            let either = |held: &RequestId| *held == survivor || *held == other;
            let earlier = self.line.iter().position(either).unwrap();
            self.line.retain(|held| !either(held));
            self.line.insert(earlier, survivor);
        }
    }
}
