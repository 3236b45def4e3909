//! Requests that are dispatched in batches, each by the time that the head is expected to take there.

use crate::collections::{OutOfMemory, Sorted, TryBox};
use crate::learned::{Curve, Learned, PositioningMeter};
use crate::scheduler::{Cx, Setup};
use crate::schedulers::shared::head::Head;
use crate::units::{Duration, RequestId, Sectors};

/// A batch, and what waits for the next one.
pub(super) struct Pool {
    sets: [Sorted; 2],
    /// Which of them is the batch.
    batch: usize,
    /// Sixteenths of a sector that a read has, on average.
    size: u64,
    meter: PositioningMeter,
}

impl Pool {
    /// In memory of its own and not inlined, so that it takes little of the stack, of which a kernel has little.
    #[inline(never)]
    pub(super) fn new(setup: Setup<'_>) -> Result<TryBox<Self>, OutOfMemory> {
        let room = TryBox::room()?;
        room.keep(Pool {
            sets: [Sorted::new(setup.capacity)?, Sorted::new(setup.capacity)?],
            batch: 0,
            size: 0,
            meter: PositioningMeter::default(),
        })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.sets.iter().all(Sorted::is_empty)
    }

    pub(super) fn len(&self) -> usize {
        self.sets.iter().map(Sorted::len).sum()
    }

    /// Sixteenths of a sector that a read has, on average.
    pub(super) fn size(&self) -> u64 {
        self.size
    }

    /// A read of `length` is done.
    pub(super) fn reads(&mut self, length: Sectors) {
        self.size = (self.size * 31 + u64::from(length.0) * 16) / 32;
    }

    /// `id` waits for the next batch.
    pub(super) fn insert(&mut self, cx: Cx<'_>, id: RequestId) {
        self.sets[1 - self.batch].insert(cx[id].start.0, id);
    }

    fn set_of(&mut self, id: RequestId) -> &mut Sorted {
        let which = usize::from(self.sets[1].contains(id));
        &mut self.sets[which]
    }

    pub(super) fn remove(&mut self, id: RequestId) {
        self.set_of(id).remove(id);
    }

    pub(super) fn grown(&mut self, cx: Cx<'_>, id: RequestId) {
        self.set_of(id).rekey(id, cx[id].start.0);
    }

    /// The next of the batch.
    pub(super) fn next(&self, cx: Cx<'_>, head: &Head, curve: &Curve) -> Option<RequestId> {
        self.nearest(cx, head, curve, self.batch)
    }

    /// The first of the next turn: what is left of the batch goes before another.
    pub(super) fn first(&self, cx: Cx<'_>, head: &Head, curve: &Curve) -> Option<RequestId> {
        self.next(cx, head, curve).or_else(|| self.nearest(cx, head, curve, 1 - self.batch))
    }

    /// A turn begins.
    pub(super) fn begin(&mut self) {
        if self.sets[self.batch].is_empty() {
            self.batch = 1 - self.batch;
        }
    }

    /// Of the neighbours of the head in a set, the one that it is expected to reach sooner; ties go to the upper one.
    fn nearest(&self, cx: Cx<'_>, head: &Head, curve: &Curve, which: usize) -> Option<RequestId> {
        let time = |id: RequestId| curve.expected(head.position, cx[id].start);
        match head.around(&self.sets[which]) {
            (Some(below), Some(above)) => Some(if time(below) < time(above) { below } else { above }),
            (below, above) => above.or(below),
        }
    }

    /// `id`, of the pool or not, goes to the device.
    pub(super) fn sends(&mut self, cx: Cx<'_>, id: RequestId) {
        let request = &cx[id];
        self.meter.dispatched(cx.now, request.start, request.length);
    }

    /// The device has a request that an earlier scheduler sent.
    pub(super) fn adopted(&mut self) {
        self.meter.adopted();
    }

    /// Whether the request that is in the drive alone went on where the one before ended.
    pub(super) fn went_on(&self) -> bool {
        self.meter.went_on()
    }

    /// A request is done; `learned` gains by it. Returns how long the head took to it, if that could be measured.
    pub(super) fn completed(&mut self, cx: Cx<'_>, learned: &mut Learned) -> Option<Duration> {
        self.meter.completed(cx.now, learned)
    }
}
