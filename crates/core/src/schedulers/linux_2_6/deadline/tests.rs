//! The deadline schedulers once more, slowly, and their named rules.

use alloc::vec::Vec;

use super::*;
use crate::device::{Device, Merging};
use crate::queue::{Inserted, Queue};
use crate::registry::AnyScheduler;
use crate::request::Request;
use crate::suites::Pool;
use crate::units::{Instant, Sectors};

/// One direction: by address, and with deadlines in order of arrival.
#[derive(Default)]
struct Side {
    pool: Pool,
    fifo: Vec<(RequestId, u64)>,
}

impl Side {
    /// Whoever comes after `id` by address, and by arrival among equals.
    fn after(&self, id: RequestId) -> Option<RequestId> {
        let mut order = self.pool.0.clone();
        order.sort_by_key(|(start, _)| *start);
        let place = order.iter().position(|(_, held)| *held == id).unwrap();
        order.get(place + 1).map(|(_, held)| *held)
    }
}

pub(super) struct Reference {
    old: bool,
    settings: Settings,
    sides: [Side; 2],
    next: [Option<RequestId>; 2],
    batching: u64,
    starved: u64,
    last_end: u64,
}

impl Reference {
    pub(super) fn new(old: bool, settings: Settings) -> Self {
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
        let lowest = self.sides[side].pool.0.iter().min_by_key(|(start, _)| *start).unwrap().1;
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
        self.sides[side].pool.remove(id);
        self.sides[side].fifo.retain(|(held, _)| *held != id);
    }
}

impl Scheduler for Reference {
    fn insert(&mut self, cx: Cx<'_>, id: RequestId) {
        let reads = cx[id].direction() == Direction::Read;
        let expire = if reads { self.settings.read_expire } else { self.settings.write_expire };
        let side = &mut self.sides[usize::from(!reads)];
        side.pool.insert(cx, id);
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
        let elsewhere = !self.sides[side].pool.0.contains(&(cx[id].start.0, id));
        if self.old && elsewhere && self.next[side] == Some(id) {
            self.next[side] = self.sides[side].after(id);
        }
        self.sides[side].pool.grown(cx, id);
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

/// A queue under one of the two, and shorthands.
struct Bench(Queue<AnyScheduler>);

impl Bench {
    fn new(name: &str, settings: &[(&str, u64)]) -> Bench {
        Bench::on(Merging::All, name, settings)
    }

    fn on(merging: Merging, name: &str, settings: &[(&str, u64)]) -> Bench {
        let device = Device { merging, ..Device::default() };
        let entry = crate::registry::find(name).unwrap();
        Bench(Queue::new(64, device, entry, settings).unwrap())
    }

    fn read(&mut self, ms: u64, start: u64) -> Inserted {
        let now = Instant(ms * 1_000_000);
        self.0.insert(now, Request::read(Sector(start), Sectors(8))).unwrap()
    }

    fn write(&mut self, ms: u64, start: u64) -> Inserted {
        let now = Instant(ms * 1_000_000);
        self.0.insert(now, Request::write(Sector(start), Sectors(8))).unwrap()
    }

    /// The starts of the next `count` requests served at `ms` milliseconds and a nanosecond.
    fn served(&mut self, ms: u64, count: usize) -> Vec<u64> {
        self.served_at(Instant(ms * 1_000_000 + 1), count)
    }

    fn served_at(&mut self, now: Instant, count: usize) -> Vec<u64> {
        let mut starts = Vec::new();
        for _ in 0..count {
            let Ok(Decision::Dispatch(id)) = self.0.dispatch(now) else { panic!("requests wait") };
            starts.push(self.0.request(id).start.0);
            self.0.complete(now, id).unwrap();
        }
        starts
    }
}

#[test]
fn deadlines_are_not_looked_at_inside_a_batch() {
    let mut bench = Bench::new("deadline", &[("fifo_batch", 3)]);
    for start in [5000, 100, 6000, 7000, 8000] {
        bench.read(0, start);
    }
    assert_eq!(bench.served(600, 5), [5000, 6000, 7000, 100, 8000]);
}

#[test]
fn the_third_choice_goes_to_writes() {
    let mut bench = Bench::new("deadline", &[("fifo_batch", 1)]);
    for start in [1000, 2000, 3000, 4000, 5000, 6000] {
        bench.read(0, start);
        bench.write(0, start + 100);
    }
    assert_eq!(bench.served(0, 7), [1000, 2000, 1100, 3000, 4000, 2100, 5000]);
}

#[test]
fn a_deadline_has_passed_only_after_it() {
    for (now, first) in [(Instant(500_000_000), 200), (Instant(500_000_001), 1000)] {
        let mut bench = Bench::new("deadline-2.6.11", &[]);
        bench.read(0, 1000);
        bench.read(0, 200);
        assert_eq!(bench.served_at(now, 1), [first]);
    }
}

#[test]
fn a_request_that_takes_in_its_successor_takes_the_earlier_deadline_and_place() {
    let mut bench = Bench::new("deadline", &[("fifo_batch", 1)]);
    bench.read(0, 1016);
    bench.read(1, 5000);
    bench.read(2, 1000);
    assert!(matches!(bench.read(3, 1008), Inserted::MergedBack { .. }));
    assert_eq!(bench.served(3, 2), [1000, 5000]);
}

#[test]
fn a_new_batch_begins_with_the_oldest_or_in_2_6_11_with_the_lowest() {
    for (name, first) in [("deadline", 3000), ("deadline-2.6.11", 1000)] {
        let mut bench = Bench::new(name, &[]);
        for start in [3000, 1000, 2000] {
            bench.read(0, start);
        }
        assert_eq!(bench.served(0, 1), [first]);
    }
}

#[test]
fn in_2_6_11_a_seek_ends_the_batch() {
    // In 2.6.11 each read is a choice of its own: the write is passed over once.
    for (name, order) in [("deadline", [1000, 2000, 3000]), ("deadline-2.6.11", [1000, 100, 2000])] {
        let mut bench = Bench::new(name, &[("writes_starved", 1)]);
        for start in [1000, 2000, 3000] {
            bench.read(0, start);
        }
        bench.write(0, 100);
        assert_eq!(bench.served(0, 3), order);
    }
}

#[test]
fn in_2_6_11_sequential_requests_make_long_batches() {
    let settings = [("writes_starved", 1), ("fifo_batch", 3)];
    let mut bench = Bench::on(Merging::Off, "deadline-2.6.11", &settings);
    for start in [1000, 1008, 1016, 1024] {
        bench.read(0, start);
    }
    bench.write(0, 100);
    assert_eq!(bench.served(0, 5), [1000, 1008, 1016, 100, 1024]);
}

#[test]
fn a_front_merge_into_the_next_of_the_batch_skips_it_in_2_6_11() {
    for (name, second) in [("deadline", 1992), ("deadline-2.6.11", 3000)] {
        let mut bench = Bench::new(name, &[]);
        for start in [1000, 2000, 3000] {
            bench.read(0, start);
        }
        assert_eq!(bench.served(0, 1), [1000]);
        assert!(matches!(bench.read(1, 1992), Inserted::MergedFront { .. }));
        assert_eq!(bench.served(1, 1), [second]);
    }
}

#[test]
fn with_writes_starved_0_reads_can_starve() {
    let settings = Settings { writes_starved: Count(0), ..crate::tunables::Tunables::defaults() };
    assert_eq!(Deadline::starvation(&settings), Starvation::Unbounded);
}
