//! The named rules of Kyber.

use alloc::vec::Vec;

use super::*;
use crate::device::Device;
use crate::rng::Random;
use crate::suites::Referenced as _;
use crate::tunables::{Setting as _, Tunables as _};
use crate::units::{Sector, Sectors};
use crate::{Merging, Queue};

/// A queue under Kyber on a device that takes all, the time in microseconds, and shorthands.
struct Bench {
    queue: Queue<Kyber>,
    us: u64,
}

impl Bench {
    fn new() -> Bench {
        let device = Device { merging: Merging::Off, depth: 1024, ..Device::default() };
        let build = |setup: Setup<'_>| Kyber::new(setup, Settings::defaults());
        Bench { queue: Queue::with(1024, device, build).unwrap(), us: 1 }
    }

    fn insert(&mut self, operation: Operation) -> RequestId {
        let request = Request { operation, ..Request::read(Sector(0), Sectors(8)) };
        self.queue.insert(Instant(self.us * 1000), request).unwrap().id()
    }

    fn ask(&mut self) -> Decision {
        self.queue.dispatch(Instant(self.us * 1000)).unwrap()
    }

    /// What all are that may go.
    fn sent(&mut self) -> Vec<Operation> {
        let mut sent = Vec::new();
        while let Decision::Dispatch(id) = self.ask() {
            sent.push(self.queue.request(id).operation);
        }
        sent
    }

    /// `count` requests one after the other, each of which takes so long.
    fn serve(&mut self, operation: Operation, count: usize, us: u64) {
        for _ in 0..count {
            let id = self.insert(operation);
            assert_eq!(self.ask(), Decision::Dispatch(id));
            self.us += us;
            self.queue.complete(Instant(self.us * 1000), id).unwrap();
        }
    }

    /// `count` requests at once that wait for `waits` and then take `us`.
    fn serve_together(&mut self, operation: Operation, count: usize, waits: u64, us: u64) {
        let ids: Vec<RequestId> = (0..count).map(|_| self.insert(operation)).collect();
        self.us += waits;
        for id in &ids {
            assert_eq!(self.ask(), Decision::Dispatch(*id));
        }
        self.us += us;
        for id in ids {
            self.queue.complete(Instant(self.us * 1000), id).unwrap();
        }
    }

    /// The tokens of reads and writes after the next look.
    fn tokens(&mut self) -> [u32; 2] {
        self.us += 100_000;
        self.ask();
        [0, 1].map(|domain| self.queue.scheduler().feedback.tokens(domain))
    }
}

use Operation::{Discard, Flush, Read, Write};

#[test]
fn domains_take_turns_in_batches() {
    let mut bench = Bench::new();
    for _ in 0..20 {
        for operation in [Flush, Discard, Write, Read] {
            bench.insert(operation);
        }
    }
    // 16 of the 20 flushes get tokens.
    let sent = bench.sent();
    let runs: Vec<(Operation, usize)> =
        sent.chunk_by(|a, b| a == b).map(|run| (run[0], run.len())).take(9).collect();
    assert_eq!(
        runs,
        [
            (Read, 16),
            (Write, 8),
            (Discard, 1),
            (Flush, 1),
            (Read, 4),
            (Write, 8),
            (Discard, 1),
            (Flush, 1),
            (Write, 4)
        ]
    );
    assert_eq!(sent.len(), 76);
}

#[test]
fn a_domain_without_a_token_is_passed_over_until_one_is_done() {
    let mut bench = Bench::new();
    let flushes: Vec<RequestId> = (0..17).map(|_| bench.insert(Flush)).collect();
    bench.insert(Read);
    assert_eq!(bench.sent().len(), 17);
    assert_eq!(bench.ask(), Decision::Idle);
    bench.queue.complete(Instant(bench.us * 1000), flushes[3]).unwrap();
    assert_eq!(bench.ask(), Decision::Dispatch(flushes[16]));
}

#[test]
fn latencies_within_the_target_take_nothing_and_give_nothing() {
    let mut bench = Bench::new();
    bench.serve_together(Read, 200, 0, 1_400);
    bench.serve_together(Read, 200, 0, 1_400);
    bench.serve_together(Read, 200, 0, 1_400);
    assert_eq!(bench.tokens(), [256, 128]);
}

#[test]
fn a_congested_device_takes_tokens_from_whoever_is_fast() {
    // Reads are done in a quarter of their target, writes in more than twice theirs.
    let mut bench = Bench::new();
    for _ in 0..5 {
        bench.serve_together(Read, 100, 0, 400);
        bench.serve_together(Write, 100, 0, 17_600);
    }
    // The time of the first look falls into the fifth round: 400 of each are too few.
    assert_eq!(bench.tokens(), [64, 128]);
}

#[test]
fn whoever_waits_too_long_gets_tokens_back_step_by_step() {
    let mut bench = Bench::new();
    bench.queue.scheduler_mut().feedback = Feedback::with_tokens([16, 128, 64, 16]);
    for tokens in [32, 64, 128, 256, 256] {
        // The device is fast enough, but in all a read takes twice its target.
        for _ in 0..32 {
            bench.serve_together(Read, 16, 3_900, 10);
        }
        assert_eq!(bench.tokens(), [tokens, 128]);
    }
}

#[test]
fn tokens_shrink_by_the_quarter_that_latencies_keep_and_never_to_none() {
    let mut bench = Bench::new();
    for tokens in [192, 144, 108, 81] {
        bench.queue.scheduler_mut().feedback.enter_many(bench.us, [(0, 2), (1, 7)]);
        assert_eq!(bench.tokens()[0], tokens);
    }
    for _ in 0..8 {
        bench.queue.scheduler_mut().feedback.enter_many(bench.us, [(0, 1), (1, 7)]);
        bench.tokens();
    }
    assert_eq!(bench.tokens()[0], 1);
}

#[test]
fn what_was_seen_without_congestion_counts_once_when_there_is_some() {
    let mut bench = Bench::new();
    bench.queue.scheduler_mut().feedback.enter_many(bench.us, [(0, 2)]);
    assert_eq!(bench.tokens(), [256, 128], "no congestion yet");
    for tokens in [192, 192] {
        bench.queue.scheduler_mut().feedback.enter_many(bench.us, [(1, 7)]);
        assert_eq!(bench.tokens(), [tokens, 128]);
    }
}

#[test]
fn what_is_seen_in_congestion_replaces_what_was_remembered() {
    let mut bench = Bench::new();
    for (domains, tokens) in [(&[(0, 2)][..], 256), (&[(0, 2), (1, 7)], 192), (&[(1, 7)], 192)] {
        for entry in domains {
            bench.queue.scheduler_mut().feedback.enter_many(bench.us, [*entry]);
        }
        assert_eq!(bench.tokens(), [tokens, 128]);
    }
}

#[test]
fn few_latencies_do_after_a_second_but_only_for_the_device() {
    let mut bench = Bench::new();
    // Writes a second long: each look finds few, and the device's latencies are enough after a second.
    bench.queue.scheduler_mut().feedback.enter_many(bench.us, [(0, 0)]);
    assert_eq!(bench.tokens(), [256, 128], "reads keep a quarter of their target");
    bench.serve(Write, 12, 110_000);
    assert_eq!(bench.tokens(), [64, 128], "one congested look in 1.3 s, with what reads had before");
}

/// Long enough for the feedback to work: the suites' scenes are short.
#[test]
fn a_long_run_decides_like_the_reference() {
    for seed in 1..5 {
        let mut random = Random::default();
        let mut below = |bound: u32| u64::from(random.below(seed, bound));
        let device = Device { merging: Merging::Off, depth: 1024, ..Device::default() };
        // Reads have time enough, so that they lose tokens when writes take too long.
        let settings = Settings { read_lat_nsec: Nanoseconds::from_raw(60_000_000), ..Settings::defaults() };
        let fast = |setup: Setup<'_>| Kyber::new(setup, settings);
        let mut fast = Queue::with(1024, device.clone(), fast).unwrap();
        let slow = |setup: Setup<'_>| Ok::<_, OutOfMemory>(Kyber::reference(setup, settings));
        let mut slow = Queue::with(1024, device, slow).unwrap();
        let (mut now, mut in_flight, mut tokens) = (Instant(0), Vec::new(), Vec::new());
        for step in 0..40_000 {
            // By and by the device gets slower and faster, and requests come more and less often.
            let (slow_now, busy) = (step / 2_500 % 2 == 1, step / 1_500 % 2 == 1);
            now += Duration::from_us(below(if slow_now { 150 } else { 40 }));
            if below(20) < if busy { 11 } else { 7 } {
                let operation = [Read, Read, Write, Write, Discard][below(5) as usize];
                let request = Request { operation, ..Request::read(Sector(below(9999) * 8), Sectors(8)) };
                assert_eq!(fast.insert(now, request), slow.insert(now, request));
            } else if !in_flight.is_empty() {
                let id = in_flight.remove(below(in_flight.len().min(5) as u32) as usize);
                assert_eq!((fast.complete(now, id), slow.complete(now, id)), (Ok(()), Ok(())));
            }
            loop {
                let decision = fast.dispatch(now).unwrap();
                assert_eq!(slow.dispatch(now).unwrap(), decision, "step {step} of seed {seed}");
                let Decision::Dispatch(id) = decision else { break };
                in_flight.push(id);
            }
            tokens.push([0, 1, 2].map(|domain| fast.scheduler().feedback.tokens(domain)));
        }
        tokens.dedup();
        assert!(tokens.len() > 3, "the feedback did little: {tokens:?}");
    }
}

#[test]
fn the_quarters_end_where_they_are_reached() {
    for (ns, expected) in
        [(0, 0), (1, 0), (500_000, 0), (500_001, 1), (2_000_000, 3), (2_000_001, 4), (u64::MAX, 7)]
    {
        assert_eq!(feedback::bucket(Duration(ns), Duration::from_ms(2)), expected, "{ns} ns");
    }
    assert_eq!(feedback::bucket(Duration(3), Duration(0)), 2, "a quarter is at least 1 ns");
}

#[test]
fn asynchronous_requests_have_room_in_three_quarters() {
    let mut bench = Bench::new();
    let write = Request::write(Sector(0), Sectors(8));
    let mut entered = 0;
    while bench.queue.admission().asynchronous {
        bench.queue.insert(Instant(1), write).unwrap();
        entered += 1;
    }
    assert_eq!((entered, bench.queue.admission().sync_writes), (768, true));
    // In flight it still has its place; done, no longer.
    let Decision::Dispatch(id) = bench.ask() else { panic!("a write may go") };
    assert!(!bench.queue.admission().asynchronous);
    bench.queue.complete(Instant(bench.us * 1000), id).unwrap();
    assert!(bench.queue.admission().asynchronous);
}
