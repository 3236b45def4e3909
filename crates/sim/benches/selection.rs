//! What a selector costs: a request that it is told of, and a prediction.

use std::hint::black_box;
use std::num::NonZeroU64;

use criterion::{Criterion, criterion_group, criterion_main};
use idlewise_core::selectors::{Chooser, Row, Setup, registry as selectors};
use idlewise_core::{
    Device as Traits, Duration, Instant, Issuer, Operation, Request, RequestId, Sector, Sectors,
};
use idlewise_disk::{DiskModel, Profile};
use idlewise_sim::selection::forecast::{Forecaster, Window};

/// Telling a chooser that a request came, that the disk got it and that it is done.
fn request(c: &mut Criterion) {
    let mut group = c.benchmark_group("selector, a request");
    for entry in selectors::all() {
        let candidates = entry.field().expect("there is memory");
        let setup = Setup { candidates: &candidates, cells: None, ranks: &[] };
        let mut chooser = Chooser::new(entry, 128, setup, &[]).expect("its defaults fit");
        let mut n = 0u64;
        group.bench_function(entry.name, |b| {
            b.iter(|| {
                n += 1;
                let now = Instant(n * 100_000);
                let id = RequestId((n % 128) as u32);
                let start = Sector((n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 30) * 8);
                let issuer = Issuer((n % 8) as u32 + 1);
                let request = Request { arrival: now, ..Request::read(start, Sectors(8)) }.by(issuer);
                chooser.inserted(id, black_box(&request), false);
                chooser.dispatched(now + Duration::from_us(5), id);
                chooser.completed(now + Duration::from_us(90), id, black_box(&request));
                if n.is_multiple_of(100_000) {
                    black_box(chooser.tick(now));
                }
            });
        });
    }
}

/// Ten seconds of 2000 requests a second over all candidates.
fn prediction(c: &mut Criterion) {
    let entry = selectors::find("auto-predict").expect("it is registered");
    let rows = |operation| {
        let row = move |n: u64| Row {
            arrival: Instant(n * 500_000),
            dispatched: NonZeroU64::new(n * 500_000 + 5000),
            done: NonZeroU64::new(n * 500_000 + 3_000_000),
            start: Sector((n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 34) * 8),
            length: Sectors(8),
            issuer: Issuer((n % 8) as u32 + 1),
            operation,
            sync: operation == Operation::Read,
            ..Row::default()
        };
        (1..=20_000).map(row).collect::<Vec<_>>()
    };
    let mut group = c.benchmark_group("prediction, 10 s of 2000 IOPS");
    group.sample_size(10);
    for disk in ["nvme-ssd", "hdd-18tb-7200"] {
        let model = Profile::named(disk).map(|disk| disk.build().expect("a built-in disk is right"));
        let model = model.expect("a built-in disk is right");
        let traits = Traits {
            rotational: model.rotational(),
            depth: model.depth(),
            capacity: model.capacity(),
            ..Traits::default()
        };
        let all = entry.field().expect("there is memory");
        let forecaster = Forecaster::new(model, traits, all, 4096);
        let (past, ends) = (rows(Operation::Read), Instant(10_004_000_000));
        let mut aged = forecaster.aged();
        if let Some(aged) = &mut aged {
            aged.learn(past.iter(), ends);
        }
        let (rows, horizon) = (past.clone(), Duration::from_s(60));
        let window = Window { rows, past, aged, ends, horizon, ..Window::default() };
        group.bench_function(disk, |b| b.iter(|| black_box(forecaster.predict(&window))));
    }
}

criterion_group!(benches, request, prediction);
criterion_main!(benches);
