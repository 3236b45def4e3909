//! The cost of one insert + dispatch + complete, for every scheduler, at several queue depths, and where each of
//! 4096 waiting requests has an issuer of its own.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use idlewise_core::{
    Decision, Device, Duration, Instant, Issuer, Operation, Queue, Request, Sector, Sectors,
};

/// Scattered requests, 2/3 reads: made beforehand, so that making them is not measured.
struct Load {
    requests: Vec<Request>,
    next: usize,
}

impl Load {
    /// From this many issuers, one after the other.
    fn new(issuers: u32) -> Self {
        let mut state = 0x9E37_79B9_7F4A_7C15u64;
        let requests = (0..4096.max(2 * issuers)).map(|n| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let operation = if state % 3 < 2 { Operation::Read } else { Operation::Write };
            let start = Sector((state >> 20) % 200_000_000 * 8);
            let sync = operation == Operation::Read;
            let who = if issuers > 8 { n % (2 * issuers) } else { (state >> 8) as u32 % issuers };
            Request { operation, sync, ..Request::read(start, Sectors(8)) }.by(Issuer(who))
        });
        Load { requests: requests.collect(), next: 0 }
    }

    fn next(&mut self) -> Request {
        self.next = (self.next + 1) % self.requests.len();
        self.requests[self.next]
    }
}

fn cost(c: &mut Criterion) {
    let mut group = c.benchmark_group("insert+dispatch+complete");
    for entry in idlewise_core::registry::all() {
        for (depth, issuers) in [(1usize, 8), (32, 8), (128, 8), (1024, 8), (4096, 4096)] {
            let mut queue = Queue::new(depth + 1, Device::default(), entry, &[]).unwrap();
            let mut load = Load::new(issuers);
            let mut now = Instant(1);
            for _ in 0..depth - 1 {
                queue.insert(now, load.next()).unwrap();
            }
            let id = if issuers == 8 {
                BenchmarkId::new(entry.name, depth)
            } else {
                BenchmarkId::new(entry.name, "issuers-4096")
            };
            group.bench_function(id, |b| {
                b.iter(|| {
                    now += Duration::from_us(100);
                    queue.insert(now, black_box(load.next())).unwrap();
                    loop {
                        match queue.dispatch(now).unwrap() {
                            Decision::Dispatch(id) => break queue.complete(now, black_box(id)).unwrap(),
                            Decision::WaitUntil(until) => now = until,
                            Decision::Idle => unreachable!("a request waits"),
                        }
                    }
                });
            });
        }
    }
    group.finish();
}

criterion_group!(benches, cost);
criterion_main!(benches);
