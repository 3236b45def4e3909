//! Speed of the models: one command from submission to completion.

#![allow(missing_docs, reason = "the macro of the benchmark library makes an undocumented function")]

use criterion::{Criterion, criterion_group, criterion_main};
use idlewise_core::{Instant, Operation, Sector, Sectors};
use idlewise_disk::{AnyModel, Command, DiskModel, Profile};
use std::hint::black_box;

/// Keeps `queued` random commands at a device; each step completes one and submits one.
struct Load {
    device: AnyModel,
    now: Instant,
    random: u64,
    capacity: u64,
    writes: bool,
}

impl Load {
    fn new(profile: &Profile, queued: u32, writes: bool) -> Load {
        let device = profile.build().expect("a built-in profile builds");
        let capacity = device.capacity().0;
        let mut load = Load { device, now: Instant::ZERO, random: 0x9e37_79b9_7f4a_7c15, capacity, writes };
        for _ in 0..queued {
            load.submit();
        }
        load
    }

    fn submit(&mut self) {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        let start = Sector(((u128::from(self.random) * u128::from(self.capacity - 8)) >> 64) as u64);
        let write = self.writes && self.random & 1 == 1;
        let operation = if write { Operation::Write } else { Operation::Read };
        let command = Command { tag: 0, operation, start, length: Sectors(8), fua: false };
        self.device.submit(self.now, command).expect("there is room for one command");
    }

    fn step(&mut self) {
        loop {
            let at = self.device.next_event().expect("commands are outstanding");
            if let Some(completion) = self.device.advance(at) {
                self.now = completion.at;
                black_box(completion);
                break;
            }
        }
        self.submit();
    }
}

fn commands(criterion: &mut Criterion) {
    let named = |name: &str| Profile::named(name).expect("a built-in profile");
    let mut case = |title: &str, profile: &Profile, queued: u32, writes: bool| {
        let mut load = Load::new(profile, queued, writes);
        criterion.bench_function(title, |bencher| bencher.iter(|| load.step()));
    };
    case("mechanical, random reads, depth 1", &named("cheetah9lp"), 1, false);
    case("mechanical, random reads and writes, depth 1", &named("cheetah9lp"), 1, true);
    case(
        "mechanical, 18 TB, random reads, depth 1",
        &named("hdd-18tb-7200").with("depth=1").expect("fits"),
        1,
        false,
    );
    case(
        "mechanical, nearest of 32",
        &named("cheetah9lp").with("depth=32,cache=off").expect("fits"),
        32,
        false,
    );
    case("mechanical, 18 TB, nearest of 32", &named("hdd-18tb-7200"), 32, false);
    case("flash, random reads, depth 1", &named("nvme-ssd"), 1, false);
    case("flash, random reads and writes, depth 32", &named("nvme-ssd"), 32, true);
    case("fixed, depth 1", &named("fixed"), 1, false);
}

criterion_group!(benches, commands);
criterion_main!(benches);
