//! The named rules of the deadline schedulers.

use alloc::vec::Vec;

use super::*;
use crate::device::{Device, Merging};
use crate::queue::{Inserted, Queue};
use crate::registry::AnyScheduler;
use crate::request::Request;
use crate::units::{Instant, Sectors};

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
