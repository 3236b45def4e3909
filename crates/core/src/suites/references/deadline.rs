//! Slow reference for `deadline` and `deadline-2.6.11`, for the oracle suite.

use super::*;
use crate::request::Direction;
use crate::schedulers::linux_2_6::deadline::{Batches, Settings, Version};

impl<V: Version> Referenced for Batches<V> {
    fn reference(_: Setup<'_>, tunables: Settings) -> Box<dyn Scheduler> {
        Box::new(Reference::new(V::OLD, tunables))
    }
}

/// One direction: by address, and with deadlines in order of arrival.
#[derive(Default)]
struct Side {
    list: SlowList,
    fifo: Vec<(RequestId, u64)>,
}

impl Side {
    /// Whoever comes after `id` by address, and by arrival among equals.
    fn after(&self, id: RequestId) -> Option<RequestId> {
        let mut order = self.list.0.clone();
        order.sort_by_key(|(start, _)| *start);
        let place = order.iter().position(|(_, held)| *held == id).unwrap();
        order.get(place + 1).map(|(_, held)| *held)
    }
}

struct Reference {
    old: bool,
    settings: Settings,
    sides: [Side; 2],
    next: [Option<RequestId>; 2],
    batching: u64,
    starved: u64,
    last_end: u64,
}

impl Reference {
    fn new(old: bool, settings: Settings) -> Self {
        let (sides, next) = (Default::default(), [None; 2]);
        Reference { old, settings, sides, next, batching: 0, starved: 0, last_end: 0 }
    }

    fn pick(&mut self, cx: Cx<'_>) -> Option<(usize, RequestId)> {
        let fifo_batch = self.settings.fifo_batch.0;
        for side in 0..2 {
            let Some(id) = self.next[side] else { continue };
            if self.old && cx[id].start.0 != self.last_end {
                self.batching += fifo_batch;
            }
            if self.batching < fifo_batch {
                return Some((side, id));
            }
        }
        let [reads, writes] = [0, 1].map(|side: usize| !self.sides[side].fifo.is_empty());
        let mut side = if reads { 0 } else { 1 };
        if reads && writes {
            if self.starved >= self.settings.writes_starved.0 {
                side = 1;
            }
            self.starved += 1;
        }
        let (oldest, deadline) = self.sides[side].fifo.first().copied()?;
        if side == 1 {
            self.starved = 0;
        }
        let expired = cx.now.0 > deadline;
        let lowest = self.sides[side].list.0.iter().min_by_key(|(start, _)| *start).unwrap().1;
        let id = match (expired, self.next[side]) {
            (true, _) => oldest,
            (false, Some(next)) if self.old => return Some((side, next)),
            (false, Some(next)) => next,
            (false, None) => {
                if self.old {
                    lowest
                } else {
                    oldest
                }
            }
        };
        self.batching = 0;
        Some((side, id))
    }

    fn forget(&mut self, side: usize, id: RequestId) {
        if self.next[side] == Some(id) {
            self.next[side] = self.sides[side].after(id);
        }
        self.sides[side].list.remove(id);
        self.sides[side].fifo.retain(|(held, _)| *held != id);
    }
}

impl Scheduler for Reference {
    fn insert(&mut self, cx: Cx<'_>, id: RequestId) {
        let reads = cx[id].direction() == Direction::Read;
        let expire = if reads { self.settings.read_expire } else { self.settings.write_expire };
        let side = &mut self.sides[usize::from(!reads)];
        side.list.insert(cx, id);
        side.fifo.push((id, cx[id].arrival.0 + expire.0.0));
    }
    fn dispatch(&mut self, cx: Cx<'_>) -> Decision {
        let Some((side, id)) = self.pick(cx) else { return Decision::Idle };
        self.batching += 1;
        self.last_end = cx[id].end().0;
        self.next = [None; 2];
        self.next[side] = self.sides[side].after(id);
        self.forget(side, id);
        Decision::Dispatch(id)
    }
    fn remove(&mut self, cx: Cx<'_>, id: RequestId) {
        self.forget(cx[id].direction().index(), id);
    }
    fn grown(&mut self, cx: Cx<'_>, id: RequestId) {
        let side = cx[id].direction().index();
        let elsewhere = !self.sides[side].list.0.contains(&(cx[id].start.0, id));
        if self.old && elsewhere && self.next[side] == Some(id) {
            self.next[side] = self.sides[side].after(id);
        }
        self.sides[side].list.grown(cx, id);
    }
    fn absorbed(&mut self, cx: Cx<'_>, survivor: RequestId, other: RequestId) {
        let side = cx[survivor].direction().index();
        let fifo = &mut self.sides[side].fifo;
        let place = |id| fifo.iter().position(|(held, _)| *held == id).unwrap();
        let (ours, theirs) = (fifo[place(survivor)], place(other));
        if fifo[theirs].1 < ours.1 {
            fifo[theirs].0 = survivor;
            let ours = fifo.iter().position(|entry| *entry == ours).unwrap();
            fifo.remove(ours);
        }
        self.forget(side, other);
        self.grown(cx, survivor);
    }
    fn front_merges(&self) -> bool {
        self.settings.front_merges
    }
}
