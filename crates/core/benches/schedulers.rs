//! The cost of one insert + dispatch + complete, for every scheduler, at several queue depths, and with many
//! processes that each read in order.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use idlewise_core::{
    Decision, Device, Duration, Instant, Issuer, Operation, Queue, Request, Sector, Sectors,
};

/// Scattered requests, 2/3 reads, 8 issuers: made beforehand, so that making them is not measured.
struct Load {
    requests: Vec<Request>,
    next: usize,
}

impl Load {
    fn new() -> Self {
        let mut state = 0x9E37_79B9_7F4A_7C15u64;
        let requests = std::iter::repeat_with(|| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let operation = if state % 3 < 2 { Operation::Read } else { Operation::Write };
            let start = Sector((state >> 20) % 200_000_000 * 8);
            let sync = operation == Operation::Read;
            Request { operation, sync, ..Request::read(start, Sectors(8)) }
                .by(Issuer((state >> 8) as u32 % 8))
        });
        Load { requests: requests.take(4096).collect(), next: 0 }
    }

    /// Each of `issuers` processes reads in order in a place of its own.
    fn in_order(issuers: u32) -> Self {
        let start = |n: u32| Sector((u64::from(n % issuers) << 20) + u64::from(n / issuers * 8));
        let read = |n: u32| Request::read(start(n), Sectors(8)).by(Issuer(n % issuers));
        Load { requests: (0..4096).map(read).collect(), next: 0 }
    }

    fn next(&mut self) -> Request {
        self.next = (self.next + 1) % 4096;
        self.requests[self.next]
    }
}

fn cost(c: &mut Criterion) {
    let mut group = c.benchmark_group("insert+dispatch+complete");
    for entry in idlewise_core::registry::all() {
        let depths = [1usize, 32, 128, 1024].map(|depth| (depth, depth.to_string(), Load::new()));
        let issuers = [128usize, 4096].map(|n| (n, format!("issuers-{n}"), Load::in_order(n as u32)));
        for (depth, id, mut load) in depths.into_iter().chain(issuers) {
            let mut queue = Queue::new(depth + 1, Device::default(), entry, &[]).unwrap();
            let mut now = Instant(1);
            for _ in 0..depth - 1 {
                queue.insert(now, load.next()).unwrap();
            }
            group.bench_function(BenchmarkId::new(entry.name, id), |b| {
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
