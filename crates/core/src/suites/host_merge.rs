//! A host that merges by itself gets the same decisions as one that leaves it to the queue.
//!
//! Two queues under the same scheduler are told the same. One merges; the other is told what the first did,
//! as a kernel's block layer would tell it.

use alloc::vec::Vec;

use super::subject::{Random, all};
use crate::device::{Device, Merging};
use crate::queue::{Inserted, Queue};
use crate::registry::AnyScheduler;
use crate::registry::Entry;
use crate::request::{Operation, Request};
use crate::request_table::State;
use crate::scheduler::Decision;
use crate::units::{Duration, Instant, Issuer, RequestId, Sector, Sectors};

const SIZE: usize = 48;

struct Pair {
    merging: Queue<AnyScheduler>,
    told: Queue<AnyScheduler>,
    now: Instant,
    in_flight: Vec<RequestId>,
    random: Random,
    /// How many requests became part of another, and of these, how many already waited.
    merged: (u32, u32),
}

impl Pair {
    fn new(entry: &Entry, seed: u64) -> Pair {
        let queue = |merging| Queue::new(SIZE, Device { merging, ..Device::default() }, entry, &[]).unwrap();
        Pair {
            merging: queue(Merging::All),
            told: queue(Merging::Off),
            now: Instant(1),
            in_flight: Vec::new(),
            random: Random(seed),
            merged: (0, 0),
        }
    }

    fn waiting(&self) -> Vec<RequestId> {
        let ids = (0..SIZE as u32).map(RequestId);
        ids.filter(|id| self.merging.requests().state(*id) == State::Waiting).collect()
    }

    fn insert(&mut self) {
        let (start, operation) = (Sector(self.random.below(40) * 8), self.random.below(3));
        let operation = if operation == 0 { Operation::Write } else { Operation::Read };
        let sync = operation == Operation::Read;
        let issuer = Issuer(1 + self.random.below(3) as u32);
        let request = Request { operation, sync, ..Request::read(start, Sectors(8)) }.by(issuer);
        let free = |id: &RequestId| self.merging.requests().state(*id) == State::Free;
        let Some(id) = (0..SIZE as u32).map(RequestId).find(free) else { return };
        let before = self.waiting();
        let (into, back) = match self.merging.insert_as(self.now, id, request).unwrap() {
            Inserted::Queued(id) => {
                assert_eq!(self.told.insert_as(self.now, id, request), Ok(Inserted::Queued(id)));
                return;
            }
            Inserted::MergedBack { into, .. } => (into, true),
            Inserted::MergedFront { into, .. } => (into, false),
        };
        // One that waited may have been taken in as well: the one that then lies between the two.
        let taken = before.iter().copied().find(|id| self.merging.requests().state(*id) == State::Merged);
        let grown = if back { into } else { taken.unwrap_or(into) };
        assert!(self.told.may_merge(grown, &request), "the queue merged, a host may not");
        let old = *self.told.request(grown);
        let length = Sectors(old.length.0 + request.length.0);
        self.told.grown(self.now, grown, old.start.min(request.start), length).unwrap();
        if let Some(taken) = taken {
            self.told.absorbed(self.now, into, taken).unwrap();
            assert_eq!(self.told.requests().state(taken), State::Free);
            self.merged.1 += 1;
        }
        self.merged.0 += 1;
        assert_eq!(self.told.request(into), self.merging.request(into));
    }

    fn dispatch(&mut self) {
        let decision = self.merging.dispatch(self.now).unwrap();
        assert_eq!(self.told.dispatch(self.now), Ok(decision), "the host that merges is told otherwise");
        match decision {
            Decision::Dispatch(id) => self.in_flight.push(id),
            Decision::WaitUntil(until) if self.random.below(2) == 0 => self.now = until,
            Decision::WaitUntil(_) | Decision::Idle => {}
        }
    }

    fn step(&mut self) {
        match self.random.below(8) {
            0..4 => self.insert(),
            4 | 5 if self.in_flight.len() < 3 => self.dispatch(),
            6 if !self.in_flight.is_empty() => {
                let which = self.random.below(self.in_flight.len() as u64) as usize;
                let id = self.in_flight.swap_remove(which);
                self.merging.complete(self.now, id).unwrap();
                self.told.complete(self.now, id).unwrap();
            }
            _ => self.now += Duration::from_us(self.random.below(4000)),
        }
    }
}

#[test]
fn a_host_that_merges_gets_the_same_decisions() {
    for entry in all() {
        let mut merged = (0, 0);
        for seed in 1..=60 {
            let mut pair = Pair::new(entry, seed);
            for step in 0..200 {
                let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| pair.step()));
                assert!(result.is_ok(), "{}, seed {seed}, step {step}", entry.name);
            }
            merged = (merged.0 + pair.merged.0, merged.1 + pair.merged.1);
        }
        assert!(merged.0 > 100 && merged.1 > 10, "{} merged only {merged:?}", entry.name);
    }
}

#[test]
fn what_does_not_wait_cannot_grow() {
    let entry = crate::registry::find("noop").unwrap();
    let mut queue = Queue::new(4, Device { merging: Merging::Off, ..Device::default() }, entry, &[]).unwrap();
    let (now, first, second) = (Instant(1), RequestId(0), RequestId(1));
    let request = Request::read(Sector(0), Sectors(8));
    for id in [first, second] {
        queue.insert_as(now, id, request).unwrap();
    }
    queue.dispatch(now).unwrap();
    assert!(!queue.may_merge(first, &request));
    assert!(queue.grown(now, first, Sector(0), Sectors(16)).is_err());
    assert!(queue.absorbed(now, first, second).is_err() && queue.absorbed(now, second, first).is_err());
    assert!(
        queue.absorbed(now, second, second).is_err()
            && queue.grown(now, RequestId(4), Sector(0), Sectors(1)).is_err()
    );
    assert_eq!(queue.request(second), &Request { arrival: now, ..request });
}
