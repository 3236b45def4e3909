//! Requests by the time that it takes to reach them: what the SPTF family shares.

use crate::collections::{Fifo, OutOfMemory, Sorted, TryBox};
use crate::learned::{Learned, PositioningMeter};
use crate::scheduler::{Cx, Setup};
use crate::units::{Duration, RequestId, Sector};

/// Waiting requests, where the head is, and what is known of the time to get from here to there.
pub(crate) struct ByPositioningTime {
    sorted: Sorted,
    /// Who came first: for ties and for ageing.
    pub(crate) fifo: Fifo,
    /// Where the last request dispatched ends.
    head: Sector,
    pub(crate) learned: TryBox<Learned>,
    meter: PositioningMeter,
}

impl ByPositioningTime {
    pub(crate) fn new(setup: Setup<'_>) -> Result<Self, OutOfMemory> {
        Ok(ByPositioningTime {
            sorted: Sorted::new(setup.capacity)?,
            fifo: Fifo::new(setup.capacity)?,
            head: Sector(0),
            learned: TryBox::room()?.keep(setup.device.learned.clone())?,
            meter: PositioningMeter::default(),
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
        self.learned.curve.expected(self.head, cx[id].start)
    }

    /// `id` is dispatched: the head goes there.
    pub(crate) fn take(&mut self, cx: Cx<'_>, id: RequestId) {
        self.remove(id);
        let request = &cx[id];
        self.meter.dispatched(cx.now, request.start, request.length);
        self.head = request.end();
    }

    pub(crate) fn completed(&mut self, cx: Cx<'_>) {
        self.meter.completed(cx.now, &mut self.learned);
    }

    pub(crate) fn adopted(&mut self) {
        self.meter.adopted();
    }

    /// The request for which `cost` of its positioning time is least; ties go to the one that came first.
    ///
    /// `floor` is a cost that no request has whose positioning time is at least so long. The floor ends the
    /// search on a side: requests further out cannot be better.
    pub(crate) fn least<C: Ord>(
        &self,
        cx: Cx<'_>,
        cost: impl Fn(Duration, RequestId) -> C,
        floor: impl Fn(Duration) -> C,
    ) -> Option<RequestId> {
        // Nothing is nearer than the nearest. So the search ends at once where all places are equally near.
        if !cx.device.rotational {
            let first = self.fifo.front()?;
            let time = self.expected(cx, first);
            if time == self.learned.curve.nearest() && cost(time, first) <= floor(time) {
                return Some(first);
            }
        }
        let mut best: Option<((C, u64), RequestId)> = None;
        let mut better = |start: u64, id: RequestId| {
            let start = Sector(start);
            let hopeless =
                |(least, _): &(C, u64)| floor(self.learned.curve.at_least(self.head, start)) > *least;
            if best.as_ref().is_some_and(|(least, _)| hopeless(least)) {
                return false;
            }
            let rank = (cost(self.learned.curve.expected(self.head, start), id), self.fifo.turn(id));
            if best.as_ref().is_none_or(|(least, _)| rank < *least) {
                best = Some((rank, id));
            }
            true
        };
        let (down, up) = self.sorted.iter_around(self.head.0);
        up.take_while(|(start, id)| better(*start, *id)).for_each(drop);
        down.take_while(|(start, id)| better(*start, *id)).for_each(drop);
        best.map(|(_, id)| id)
    }
}
