//! The named rules of ADIOS.

use alloc::vec::Vec;

use super::*;
use crate::device::{Device, Merging};
use crate::queue::Queue;
use crate::rng::Random;
use crate::suites::Referenced as _;
use crate::tunables::{Count, Nanoseconds, Tunables as _};
use crate::units::Sectors;

/// A queue under ADIOS, the time in microseconds, and shorthands.
struct Bench {
    queue: Queue<Adios>,
    us: u64,
}

impl Bench {
    /// On flash, with these settings, when reads of 4 KiB are known to take 1 ms and writes 2 ms.
    fn learned(settings: Settings) -> Bench {
        let mut bench = Bench::new(false, settings);
        for (write, us) in [(false, 1000), (true, 2000), (false, 1000)] {
            bench.insert(write, true, 8);
            bench.serve(us);
        }
        assert!(bench.adios().stable);
        bench
    }

    fn new(rotational: bool, settings: Settings) -> Bench {
        let device = Device { merging: Merging::Off, depth: 64, rotational, ..Device::default() };
        let queue = Queue::with(256, device, |setup: Setup<'_>| Adios::new(setup, settings)).unwrap();
        Bench { queue, us: 0 }
    }

    fn adios(&self) -> &Adios {
        self.queue.scheduler()
    }

    fn now(&self) -> Instant {
        Instant(self.us * 1000)
    }

    fn put(&mut self, request: Request) -> RequestId {
        self.queue.insert(self.now(), request).unwrap().id()
    }

    fn insert(&mut self, write: bool, sync: bool, length: u32) -> RequestId {
        let (start, length) = (Sector(self.us * 8 % 9973 * 64), Sectors(length));
        let request = if write { Request::write(start, length) } else { Request::read(start, length) };
        self.put(Request { sync, ..request })
    }

    fn sent(&mut self) -> Option<RequestId> {
        match self.queue.dispatch(self.now()).unwrap() {
            Decision::Dispatch(id) => Some(id),
            Decision::Idle => None,
            Decision::WaitUntil(_) => panic!("it never waits"),
        }
    }

    /// Sends the next one, which takes so long.
    fn serve(&mut self, us: u64) -> RequestId {
        let id = self.sent().unwrap();
        self.us += us;
        self.queue.complete(self.now(), id).unwrap();
        id
    }
}

fn settings() -> Settings {
    Settings::defaults()
}

#[test]
fn all_go_in_order_of_arrival_until_reads_and_writes_are_known() {
    let mut bench = Bench::new(false, settings());
    let ids: Vec<RequestId> = (0..6).map(|n| bench.insert(n % 2 == 0, n % 3 == 0, 8)).collect();
    let served: Vec<RequestId> = (0..6).map(|_| bench.serve(1000)).collect();
    assert_eq!(served, ids);
}

#[test]
fn a_prediction_is_the_base_and_the_slope_for_each_kib_more() {
    let mut bench = Bench::learned(settings());
    // 36 KiB in 9 ms: 8 ms more than the base, over all 36 KiB.
    bench.insert(false, true, 72);
    bench.serve(9000);
    bench.us += 2_000_000;
    bench.sent();
    let models = &bench.adios().models;
    assert_eq!(models.predict(0, 4096), 1_000_000);
    assert_eq!(models.predict(0, 4096 + 1), 1_000_000 + 8_000_000 / 36);
    assert_eq!(models.predict(0, 8192), 1_000_000 + 4 * (8_000_000 / 36));
    assert_eq!(models.predict(1, 512), 2_000_000);
}

#[test]
fn a_deadline_is_the_arrival_or_the_target_later() {
    for (sync, flags, deadline) in [(true, 7, 0), (false, 7, 2_000_000_000), (false, 3, 2_002_000_000)] {
        let mut bench = Bench::learned(Settings { compliance_flags: Count(flags), ..settings() });
        let arrival = bench.now();
        let id = bench.insert(true, sync, 8);
        assert_eq!(bench.adios().waiting.deadline(id), arrival + Duration(deadline));
    }
}

#[test]
fn a_page_takes_reads_first_and_as_much_as_fits_into_the_window() {
    let mut bench = Bench::learned(settings());
    let writes: Vec<RequestId> = (0..9).map(|_| bench.insert(true, false, 8)).collect();
    let reads: Vec<RequestId> = (0..5).map(|_| bench.insert(false, true, 8)).collect();
    // 16 ms: 5 reads and 5 writes are predicted to take 15, and one more write would take 17.
    let page: Vec<RequestId> = core::iter::from_fn(|| bench.sent()).collect();
    assert_eq!(page, [&writes[..5], &reads[..]].concat(), "writes before reads in the page");
    // Less than a fifth of the window must be left before there is another: 3 ms.
    for (id, more) in page.into_iter().zip([None, None, None, None, None, None, Some(writes[5])]) {
        bench.us += 2000;
        bench.queue.complete(bench.now(), id).unwrap();
        assert_eq!(bench.sent(), more);
    }
}

#[test]
fn reads_pay_for_going_before_their_turn_and_writes_then_have_theirs() {
    // One request to a page: requests go in the order in which they are chosen.
    let one = Nanoseconds(Duration(1));
    let mut bench = Bench::learned(Settings { global_latency_window: one, ..settings() });
    for _ in 0..40 {
        bench.insert(true, true, 8);
    }
    bench.us += 3000;
    for _ in 0..40 {
        bench.insert(false, true, 8);
    }
    // A read costs 1 ms × 172 / 1024. Writes are due: once they are chosen, they pay nothing.
    let kinds: Vec<usize> = (0..20)
        .map(|_| {
            let id = bench.serve(1000);
            kind_of(bench.queue.request(id))
        })
        .collect();
    assert_eq!(kinds[..3], [0, 1, 1], "the first read brings the bias below nothing");
    assert!(kinds[1..].iter().all(|kind| *kind == WRITES), "{kinds:?}");
    assert_eq!(bench.adios().waiting.bias(), -167_968);
}

#[test]
fn writes_before_their_turn_pay_six_times_what_reads_do() {
    let one = Nanoseconds(Duration(1));
    let mut bench = Bench::learned(Settings { global_latency_window: one, ..settings() });
    for _ in 0..60 {
        bench.insert(false, true, 8);
        bench.us += 1500;
    }
    // None of the writes is due: each is before its turn, and so are reads when no write waits.
    for _ in 0..3 {
        bench.insert(true, true, 8);
    }
    bench.queue.scheduler_mut().waiting.set_bias(-1);
    let kinds: Vec<usize> = (0..4)
        .map(|_| {
            let id = bench.serve(10);
            kind_of(bench.queue.request(id))
        })
        .collect();
    assert_eq!(kinds, [1, 0, 0, 0]);
    assert_eq!(bench.adios().waiting.bias(), -1 + 2_000_000);
}

#[test]
fn setting_the_priority_of_reads_forgets_the_bias() {
    let mut bench = Bench::learned(settings());
    bench.queue.scheduler_mut().waiting.set_bias(-5);
    bench.queue.scheduler_mut().tune(settings());
    assert_eq!(bench.adios().waiting.bias(), -5);
    bench.queue.scheduler_mut().tune(Settings { read_priority: Nice(0), ..settings() });
    assert_eq!(bench.adios().waiting.bias(), 0);
}

#[test]
fn flushes_are_urgent_unless_the_flags_say_otherwise() {
    let flush = Request { operation: Operation::Flush, ..Request::write(Sector(0), Sectors(0)) };
    for (flags, flush_first) in [(7, true), (5, false)] {
        let mut bench = Bench::learned(Settings { compliance_flags: Count(flags), ..settings() });
        let read = bench.insert(false, true, 8);
        bench.us += 3000;
        let flush = bench.put(flush);
        let first = if flush_first { flush } else { read };
        assert_eq!(bench.sent(), Some(first));
    }
}

#[test]
fn on_a_disk_what_may_wait_goes_by_address_from_the_nearer_end() {
    let wide = Nanoseconds(Duration::from_s(1));
    for (head, order) in [(0, [100, 300, 500]), (900, [500, 300, 100])] {
        let by_address = Settings { batch_order: Order::Elevator, global_latency_window: wide, ..settings() };
        let mut bench = Bench::new(true, by_address);
        for write in [false, true, false] {
            let length = Sectors(8);
            let start = Sector(head);
            bench.put(if write { Request::write(start, length) } else { Request::read(start, length) });
            bench.serve(1000);
        }
        for start in [300, 500, 100] {
            bench.put(Request::write(Sector(start), Sectors(8)));
        }
        let starts = [0; 3].map(|_| {
            let id = bench.serve(1000);
            bench.queue.request(id).start.0
        });
        assert_eq!(starts, order);
    }
}

#[test]
fn reads_alone_teach_the_models_of_all_kinds() {
    let mut bench = Bench::new(false, settings());
    for _ in 0..4 {
        bench.insert(false, true, 8);
        bench.serve(1000);
    }
    bench.us += 100_000;
    bench.sent();
    assert_eq!([0, 1, 2, 3].map(|kind| bench.adios().models.knows(kind)), [true, true, false, false]);
}

/// Long enough for the models to work: the suites' scenes are short.
#[test]
fn a_long_run_decides_like_the_reference() {
    for seed in 1..7 {
        let (mut random, rotational) = (Random::default(), seed % 2 == 0);
        let mut below = |bound: u32| u64::from(random.below(seed, bound));
        let order = if seed % 3 == 0 { Order::Kind } else { Order::Elevator };
        let settings = Settings { batch_order: order, shrink_at_kreqs: Count(1), ..settings() };
        let device = Device { depth: 32, rotational, ..Device::default() };
        let fast = |setup: Setup<'_>| Adios::new(setup, settings);
        let mut fast = Queue::with(256, device.clone(), fast).unwrap();
        let slow = |setup: Setup<'_>| Ok::<_, OutOfMemory>(Adios::reference(setup, settings));
        let mut slow = Queue::with(256, device, slow).unwrap();
        let (mut now, mut in_flight, mut favours) = (Instant(0), Vec::new(), [0; 2]);
        for step in 0..15_000 {
            now += Duration::from_us(below(if step / 2_500 % 2 == 1 { 900 } else { 90 }));
            if below(20) < if step / 1_500 % 2 == 1 { 11 } else { 7 } {
                let operation = match below(40) {
                    0 => Operation::Flush,
                    1 => Operation::Discard,
                    2..20 => Operation::Write,
                    _ => Operation::Read,
                };
                let length =
                    if operation == Operation::Flush { 0 } else { [8, 8, 8, 1, 64, 512][below(6) as usize] };
                let sync = below(4) > u64::from(operation == Operation::Write) * 2;
                let start = Sector(below(9999) * 8);
                let request = Request { operation, sync, ..Request::read(start, Sectors(length)) };
                assert_eq!(fast.insert(now, request), slow.insert(now, request), "step {step}");
            } else if !in_flight.is_empty() {
                let id = in_flight.swap_remove(below(in_flight.len() as u32) as usize);
                assert_eq!((fast.complete(now, id), slow.complete(now, id)), (Ok(()), Ok(())));
            }
            while in_flight.len() < 32 {
                let decision = fast.dispatch(now).unwrap();
                assert_eq!(slow.dispatch(now).unwrap(), decision, "step {step} of seed {seed}");
                let Decision::Dispatch(id) = decision else { break };
                in_flight.push(id);
            }
            favours[usize::from(fast.scheduler().waiting.bias() < 0)] += 1;
        }
        assert!(fast.scheduler().stable && favours.iter().all(|often| *often > 500), "{favours:?}");
    }
}
