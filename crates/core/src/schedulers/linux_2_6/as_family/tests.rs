//! Named rules of Linux's anticipatory schedulers, among them those that are easily got wrong.

use alloc::vec::Vec;

use crate::device::{Device, Merging};
use crate::queue::{Inserted, Queue};
use crate::registry::AnyScheduler;
use crate::registry::{self, Assignment};
use crate::request::Request;
use crate::scheduler::{Decision, Starvation};
use crate::units::{Duration, Instant, Issuer, RequestId, Sector, Sectors};

/// A queue and a clock.
pub(crate) struct Bench {
    pub(crate) queue: Queue<AnyScheduler>,
    pub(crate) now: Instant,
}

impl Bench {
    pub(crate) fn on(device: Device, name: &str, settings: &[Assignment<'static>]) -> Bench {
        let queue = Queue::new(64, device, registry::find(name).unwrap(), settings).unwrap();
        Bench { queue, now: Instant(1) }
    }

    pub(crate) fn new(name: &str, settings: &[Assignment<'static>]) -> Bench {
        Bench::on(Device { merging: Merging::Off, ..Device::default() }, name, settings)
    }

    pub(crate) fn us(&mut self, time: u64) -> &mut Bench {
        self.now += Duration::from_us(time);
        self
    }

    fn insert(&mut self, request: Request, who: u32) -> Inserted {
        self.queue.insert(self.now, request.by(Issuer(who))).unwrap()
    }

    pub(crate) fn read(&mut self, start: u64, who: u32) -> RequestId {
        self.insert(Request::read(Sector(start), Sectors(8)), who).id()
    }

    fn write(&mut self, start: u64, who: u32) -> RequestId {
        self.insert(Request::write(Sector(start), Sectors(8)), who).id()
    }

    pub(crate) fn ask(&mut self) -> Decision {
        self.queue.dispatch(self.now).unwrap()
    }

    /// Asks for a request, which there must be; where it begins.
    pub(crate) fn next(&mut self) -> u64 {
        let id = self.sent();
        self.queue.request(id).start.0
    }

    fn sent(&mut self) -> RequestId {
        match self.ask() {
            Decision::Dispatch(id) => id,
            other => panic!("a request should go at {}, not {other:?}", self.now.0),
        }
    }

    pub(crate) fn done(&mut self, id: RequestId) {
        self.queue.complete(self.now, id).unwrap();
    }

    /// Asks for a request that must begin there, and finishes it 1 ms later.
    pub(crate) fn serve(&mut self, start: u64) {
        let id = self.sent();
        assert_eq!(self.queue.request(id).start.0, start);
        self.us(1000).done(id);
    }

    pub(crate) fn gone(&mut self, who: u32) {
        self.queue.issuer_gone(self.now, Issuer(who)).unwrap();
    }

    /// The wait that the scheduler wants now, in microseconds.
    pub(crate) fn wait(&mut self) -> Option<u64> {
        match self.ask() {
            Decision::WaitUntil(until) => Some(until.since(self.now).as_us()),
            _ => None,
        }
    }
}

const BOTH: [&str; 2] = ["as", "as-2.6.11"];

#[test]
fn one_overdue_read_goes_in_125_ms() {
    for name in BOTH {
        let mut bench = Bench::new(name, &[("antic_expire", 0)]);
        bench.read(800_000_000, 1);
        bench.serve(800_000_000);
        // Too far back to be chosen, and each too far back from the one before.
        for far in [70_000_000, 60_000_000, 50_000_000] {
            bench.read(far, 2);
        }
        let mut order = Vec::new();
        for round in 1..600 {
            bench.read(800_000_000 + round * 8, 1);
            let id = bench.sent();
            order.push((round, bench.queue.request(id).start.0));
            bench.us(1000).done(id);
        }
        order.retain(|(_, start)| *start < 800_000_000);
        // The requests came 1 ms after the first look. At the next one they are 124 ms old.
        assert_eq!(order, [(250, 70_000_000), (375, 60_000_000), (500, 50_000_000)], "{name}");
    }
}

#[test]
fn writes_wait_for_a_process_even_if_nobody_reads() {
    for name in BOTH {
        let mut bench = Bench::new(name, &[]);
        bench.read(0, 1);
        bench.serve(0);
        bench.write(5000, 2);
        assert_eq!(bench.wait(), Some(6000), "{name}");
        bench.us(6000).serve(5000);
    }
}

#[test]
fn nobody_is_waited_for_after_a_write() {
    let mut bench = Bench::on(Device { depth: 2, ..Device::default() }, "as", &[]);
    bench.write(5000, 2);
    let write = bench.sent();
    bench.read(900_000_000, 3);
    assert_eq!(bench.ask(), Decision::Idle, "the write is drained first");
    bench.done(write);
    bench.serve(900_000_000);
}

#[test]
fn the_time_counts_from_the_completion() {
    for name in BOTH {
        let mut bench = Bench::on(Device { depth: 2, ..Device::default() }, name, &[]);
        bench.read(0, 1);
        bench.read(900_000_000, 2);
        let first = bench.sent();
        assert_eq!(bench.ask(), Decision::Idle, "{name}: no timer while the read is in flight");
        bench.us(50_000);
        assert_eq!(bench.ask(), Decision::Idle, "{name}");
        bench.done(first);
        bench.us(1000);
        assert_eq!(bench.wait(), Some(5000), "{name}");
        bench.us(5000).serve(900_000_000);
    }
}

#[test]
fn the_timer_ends_the_wait_whether_or_not_the_host_asks_then() {
    let mut bench = Bench::new("as", &[]);
    bench.read(0, 1);
    bench.serve(0);
    bench.read(900_000_000, 2);
    assert_eq!(bench.wait(), Some(6000));
    bench.us(6000).gone(1);
    // Too late: it exited after the wait for it, so that nobody was missed.
    bench.serve(900_000_000);
    let exits = match bench.queue.scheduler() {
        AnyScheduler::As(own) => own.anticipation.system(),
        _ => unreachable!(),
    };
    assert_eq!((exits.exit.percent(), exits.no_successor.percent()), (12, 0));
}

#[test]
fn once_a_wait_is_over_none_begins_before_a_request_went() {
    let mut bench = Bench::new("as", &[]);
    bench.read(0, 1);
    bench.serve(0);
    bench.read(900_000_000, 2);
    assert_eq!(bench.wait(), Some(6000));
    let own = bench.read(8, 1);
    bench.queue.cancel(bench.now, own).unwrap();
    bench.serve(900_000_000);
}

/// Whether a read at `start`, after a wait of `us`, ends the wait for process 1, which read up to
/// sector 200 000 000.
fn is_close(name: &str, us: u64, start: u64) -> bool {
    let mut bench = Bench::new(name, &[("antic_expire", 50)]);
    bench.read(200_000_000 - 8, 1);
    bench.serve(200_000_000 - 8);
    bench.read(900_000_000, 2);
    assert_eq!(bench.wait(), Some(50_000));
    bench.us(us).read(start, 3);
    bench.wait().is_none()
}

#[test]
fn close_is_64_sectors_then_and_8192_later() {
    let last = 200_000_000;
    for (name, us, ahead) in [
        ("as-2.6.11", 0, 64),
        ("as-2.6.11", 1_999, 64),
        ("as-2.6.11", 2_000, 128),
        ("as-2.6.11", 20_000, 64 << 19),
        ("as", 0, 8192),
        ("as", 999, 8192),
        ("as", 1_000, 16_384),
        ("as", 13_000, 8192 << 13),
    ] {
        assert!(is_close(name, us, last + ahead), "{name} after {us} us");
        assert!(!is_close(name, us, last + ahead + 1), "{name} after {us} us");
        let back = ahead / 2;
        assert!(is_close(name, us, last - back), "{name} after {us} us");
        assert!(!is_close(name, us, last - back - 1), "{name} after {us} us");
    }
    for name in BOTH {
        assert!(is_close(name, 21_000, 800_000_000), "{name}: everything, after 20 ms");
    }
    // At the beginning of the disk the older one finds nothing near, as 8 - 32 wraps.
    for (name, waits) in [("as-2.6.11", true), ("as", false)] {
        let mut bench = Bench::new(name, &[]);
        bench.read(0, 1);
        bench.serve(0);
        bench.read(8, 2);
        assert_eq!(bench.wait().is_some(), waits, "{name}");
    }
}

#[test]
fn an_exit_ends_the_wait_in_2_6_11_only() {
    for (name, waits) in [("as-2.6.11", None), ("as", Some(6000))] {
        let mut bench = Bench::new(name, &[]);
        bench.read(0, 1);
        bench.serve(0);
        bench.gone(1);
        bench.read(900_000_000, 2);
        assert_eq!(bench.wait(), waits, "{name}");
    }
}

#[test]
fn a_process_thinks_anew_when_another_reads_close_in_its_place() {
    let mut bench = Bench::new("as-2.6.11", &[]);
    bench.read(1000, 1);
    bench.serve(1000);
    bench.read(1008, 1);
    bench.serve(1008);
    bench.us(5000).read(1040, 2);
    bench.serve(1040);
    // For 1 that is 6 ms after it began to think anew, and 11 ms after its read was done.
    bench.us(5000).read(1048, 1);
    bench.serve(1048);
    bench.read(900_000_000, 3);
    assert_eq!(bench.wait(), Some(6000));
}

#[test]
fn a_process_that_seeks_far_is_not_waited_for_with_something_nearer() {
    for name in BOTH {
        for (start, waits) in [(2_000_015, false), (2_000_016, true)] {
            let mut bench = Bench::new(name, &[]);
            bench.read(0, 1);
            bench.serve(0);
            bench.read(1_000_008, 1);
            bench.serve(1_000_008);
            bench.read(start, 2);
            assert_eq!(bench.wait().is_some(), waits, "{name}: it seeks 1 000 000 sectors on average");
        }
    }
}

/// The order in which eight writes go once the time of a batch of reads is over.
fn batch_of_writes(name: &str) -> Vec<u64> {
    let mut bench = Bench::new(name, &[("antic_expire", 0), ("write_expire", 60_000)]);
    bench.read(0, 1);
    bench.serve(0);
    for start in [9000, 1000, 2000] {
        bench.write(start, 9);
    }
    bench.us(501_000).read(100_000_000, 1);
    (0..3).map(|_| bench.next()).collect()
}

#[test]
fn a_batch_of_writes_begins_with_the_oldest_in_2_6_32() {
    assert_eq!(batch_of_writes("as-2.6.11"), [1000, 2000, 9000]);
    assert_eq!(batch_of_writes("as"), [9000, 2000, 1000], "a way back counts twice, but is the shorter");
}

#[test]
fn a_drained_device_has_no_time_left_for_writes_in_2_6_11() {
    for (name, second) in [("as-2.6.11", 200_000_000), ("as", 3000)] {
        let device = Device { depth: 2, merging: Merging::Off, ..Device::default() };
        let mut bench = Bench::on(device, name, &[("antic_expire", 0), ("read_expire", 60_000)]);
        bench.read(0, 1);
        bench.serve(0);
        bench.read(100_000_000, 1);
        let read = bench.sent();
        bench.write(3000, 9);
        bench.read(200_000_000, 1);
        bench.us(501_000);
        assert_eq!(bench.ask(), Decision::Idle, "{name}: the read is in flight");
        bench.us(1000).done(read);
        assert_eq!(bench.next(), second, "{name}");
    }
}

#[test]
fn who_takes_over_drains_what_is_in_flight_before_the_first_batch() {
    let device = Device { depth: 2, merging: Merging::Off, ..Device::default() };
    let mut bench = Bench::on(device, "noop", &[]);
    bench.write(0, 1);
    let old = bench.sent();
    bench.queue.switch_to(bench.now, registry::find("as").unwrap(), &[]).unwrap();
    bench.read(5000, 2);
    assert_eq!(bench.ask(), Decision::Idle);
    bench.done(old);
    bench.serve(5000);
}

#[test]
fn requests_that_become_one_belong_to_who_was_due_first() {
    let mut bench = Bench::on(Device::default(), "as", &[]);
    bench.read(16, 2);
    bench.us(1000).read(0, 1);
    let gap = bench.insert(Request::read(Sector(8), Sectors(8)), 3);
    assert!(matches!(gap, Inserted::MergedBack { .. } | Inserted::MergedFront { .. }));
    bench.serve(0);
    bench.read(900_000_000, 4);
    assert_eq!(bench.wait(), Some(6000));
    bench.read(800_000_000, 1);
    assert!(bench.wait().is_some(), "another's request");
    bench.read(700_000_000, 2);
    assert!(bench.wait().is_none(), "the awaited process is 2");
}

#[test]
fn sync_and_async_do_not_merge() {
    let mut bench = Bench::on(Device::default(), "as", &[]);
    bench.write(0, 1);
    let sync = Request { sync: true, ..Request::write(Sector(8), Sectors(8)) };
    assert!(matches!(bench.insert(sync, 1), Inserted::Queued(_)));
}

#[test]
fn a_number_that_is_used_again_is_another_process() {
    let mut bench = Bench::new("as-2.6.11", &[]);
    bench.read(0, 1);
    bench.serve(0);
    bench.us(15_000).read(8, 1);
    bench.serve(8);
    bench.read(900_000_000, 2);
    assert_eq!(bench.wait(), None, "1 is known to think for 15 ms");
    bench.gone(1);
    let mut bench = Bench::new("as-2.6.11", &[]);
    bench.read(0, 1);
    bench.serve(0);
    bench.us(15_000).read(8, 1);
    bench.serve(8);
    bench.gone(1);
    bench.read(16, 1);
    bench.serve(16);
    bench.read(900_000_000, 2);
    assert_eq!(bench.wait(), Some(6000), "of the new 1 nothing is known");
}

#[test]
fn all_versions_say_that_no_number_of_requests_bounds_a_wait() {
    for name in ["as", "as-2.6.11", "cas"] {
        assert_eq!(registry::find(name).unwrap().starvation(&[]), Ok(Starvation::Unbounded));
    }
}
