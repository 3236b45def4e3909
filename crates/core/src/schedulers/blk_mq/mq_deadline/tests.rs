//! The named rules of mq-deadline.

use alloc::vec::Vec;

use super::*;
use crate::admission::Admission;
use crate::device::{Device, Merging};
use crate::queue::Queue;
use crate::registry::AnyScheduler;
use crate::request::Priority;
use crate::units::{Duration, Sector, Sectors};

/// A queue under mq-deadline, the time in milliseconds, and shorthands.
struct Bench {
    queue: Queue<AnyScheduler>,
    ms: u64,
}

use Class::{BestEffort, Idle, RealTime};

impl Bench {
    fn new(settings: &[(&str, u64)]) -> Bench {
        let device = Device { merging: Merging::Off, depth: 8, ..Device::default() };
        let entry = crate::registry::find("mq-deadline").unwrap();
        Bench { queue: Queue::new(64, device, entry, settings).unwrap(), ms: 0 }
    }

    fn now(&self) -> Instant {
        Instant(self.ms * 1_000_000)
    }

    fn read(&mut self, class: Class, start: u64) {
        let priority = Priority { class, level: 4 };
        let request = Request { priority, ..Request::read(Sector(start), Sectors(8)) };
        self.queue.insert(self.now(), request).unwrap();
    }

    fn write(&mut self, class: Class, start: u64) {
        let priority = Priority { class, level: 4 };
        let request = Request { priority, ..Request::write(Sector(start), Sectors(8)) };
        self.queue.insert(self.now(), request).unwrap();
    }

    fn ask(&mut self) -> Decision {
        self.queue.dispatch(self.now()).unwrap()
    }

    /// The request sent now, and where it starts.
    fn sent(&mut self) -> (RequestId, u64) {
        let Decision::Dispatch(id) = self.ask() else { panic!("a request may go") };
        (id, self.queue.request(id).start.0)
    }

    /// The starts of the next `count` requests, each of which is done at once.
    fn served(&mut self, count: usize) -> Vec<u64> {
        let serve = |_| {
            let (id, start) = self.sent();
            self.queue.complete(self.now(), id).unwrap();
            start
        };
        (0..count).map(serve).collect()
    }
}

#[test]
fn lower_classes_wait_until_what_higher_ones_have_in_flight_is_done() {
    let mut bench = Bench::new(&[]);
    bench.read(Idle, 300);
    bench.read(BestEffort, 200);
    bench.read(RealTime, 100);
    let (first, start) = bench.sent();
    assert_eq!(start, 100);
    assert_eq!(bench.ask(), Decision::WaitUntil(Instant(500_000_000)), "until a deadline passes");
    bench.queue.complete(bench.now(), first).unwrap();
    let (second, start) = bench.sent();
    assert_eq!(start, 200);
    assert!(matches!(bench.ask(), Decision::WaitUntil(_)));
    bench.queue.complete(bench.now(), second).unwrap();
    assert_eq!(bench.served(1), [300]);
}

#[test]
fn requests_of_one_class_do_not_wait_for_each_other() {
    for class in [RealTime, BestEffort, Idle] {
        let mut bench = Bench::new(&[]);
        bench.read(class, 100);
        bench.read(class, 200);
        assert_eq!([bench.sent().1, bench.sent().1], [100, 200]);
    }
}

#[test]
fn a_request_ages_after_exactly_prio_aging_expire() {
    for (ms, first) in [(9_999, 100), (10_000, 200)] {
        let mut bench = Bench::new(&[]);
        bench.read(BestEffort, 200);
        bench.read(RealTime, 100);
        bench.ms = ms;
        assert_eq!(bench.served(1), [first]);
    }
}

#[test]
fn one_class_alone_does_not_age() {
    // Ageing would choose a direction for a request too young, and count reads as preferred.
    let order = |with: Option<Class>| {
        let mut bench = Bench::new(&[("fifo_batch", 1), ("writes_starved", 2)]);
        with.into_iter().for_each(|class| bench.read(class, 900));
        for start in [100, 200, 300] {
            bench.read(BestEffort, start);
        }
        bench.write(BestEffort, 400);
        bench.served(if with.is_some() { 5 } else { 4 })
    };
    assert_eq!(order(None), [100, 200, 400, 300]);
    assert_eq!(order(Some(RealTime)), [900, 100, 400, 200, 300], "a choice of ageing was counted");
}

#[test]
fn a_deadline_has_passed_at_its_very_moment() {
    for (ms, second) in [(499, 2000), (500, 100)] {
        let mut bench = Bench::new(&[("fifo_batch", 1)]);
        for start in [1000, 100, 2000] {
            bench.read(BestEffort, start);
        }
        assert_eq!(bench.served(1), [1000]);
        bench.ms = ms;
        assert_eq!(bench.served(1), [second]);
    }
}

#[test]
fn each_direction_keeps_its_own_place() {
    let mut bench = Bench::new(&[("fifo_batch", 1), ("writes_starved", 1)]);
    for start in [3000, 1000, 5000, 6000] {
        bench.read(BestEffort, start);
        bench.write(BestEffort, start + 100);
    }
    // After the write, reads go on at 5000 and not with the oldest.
    assert_eq!(bench.served(4), [3000, 3100, 5000, 5100]);
}

#[test]
fn lowering_a_setting_holds_nothing_back() {
    let mut bench = Bench::new(&[]);
    bench.read(BestEffort, 100);
    bench.queue.scheduler_mut().set("read_expire", 1).unwrap();
    assert_eq!(bench.served(1), [100]);
}

#[test]
fn requests_in_flight_from_another_scheduler_hold_lower_classes() {
    let noop = crate::registry::find("noop").unwrap();
    let mut bench = Bench::new(&[]);
    let device = Device { depth: 8, ..Device::default() };
    bench.queue = Queue::new(8, device.clone(), noop, &[]).unwrap();
    bench.read(RealTime, 100);
    bench.read(BestEffort, 200);
    let (first, _) = bench.sent();
    let entry = crate::registry::find("mq-deadline").unwrap();
    let successor = entry.build(Setup { capacity: 8, device: &device }, &[]).unwrap();
    bench.queue.replace(bench.now(), successor).map(drop).unwrap();
    assert!(matches!(bench.ask(), Decision::WaitUntil(_)));
    bench.queue.complete(bench.now(), first).unwrap();
    assert_eq!(bench.sent().1, 200);
}

#[test]
fn a_class_waits_no_longer_than_it_ages() {
    let mut bench = Bench::new(&[("prio_aging_expire", 700)]);
    bench.read(RealTime, 100);
    bench.sent();
    bench.read(BestEffort, 200);
    let mut waits = Vec::new();
    while let Decision::WaitUntil(time) = bench.ask() {
        waits.push(time.0 / 1_000_000);
        bench.ms = time.0 / 1_000_000;
    }
    assert_eq!(waits, [500, 700]);
    assert_eq!(bench.now().since(Instant::ZERO), Duration::from_ms(700));
}

#[test]
fn all_but_synchronous_reads_share_the_depth_of_asynchronous_requests() {
    let mut bench = Bench::new(&[("async_depth", 3)]);
    bench.read(BestEffort, 100);
    bench.write(BestEffort, 200);
    let sync_write = Request { sync: true, ..Request::write(Sector(300), Sectors(8)) };
    bench.queue.insert(bench.now(), sync_write).unwrap();
    assert_eq!(bench.queue.admission(), Admission::ALL);
    let async_read = Request { sync: false, ..Request::read(Sector(400), Sectors(8)) };
    bench.queue.insert(bench.now(), async_read).unwrap();
    assert_eq!(bench.queue.admission(), Admission { sync_writes: false, asynchronous: false });
    bench.queue.scheduler_mut().set("async_depth", 0).unwrap();
    assert_eq!(bench.queue.admission(), Admission::ALL);
}
