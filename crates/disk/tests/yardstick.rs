//! Scheduling on the mechanical model against published figures.
//!
//! Cheetah 9LP, Poisson arrivals, two thirds reads, 4 to 64 KiB, uniform addresses, no drive cache,
//! 80 MB/s bus. DiskSim 4.0 gives the mean seek, rotation and response of three policies.

use idlewise_core::{Instant, Operation, Sector, Sectors};
use idlewise_disk::{AnyModel, Command, DiskModel, Profile};
use std::collections::{BTreeMap, VecDeque};

/// A small generator: the sequence must not depend on a library's version.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    fn below(&mut self, bound: u64) -> u64 {
        (self.next() >> 11) % bound
    }

    fn exponential_ns(&mut self, per_second: f64) -> u64 {
        let uniform = ((self.next() >> 11) as f64 + 1.0) / (1u64 << 53) as f64;
        (-uniform.ln() / per_second * 1e9) as u64
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Policy {
    Fcfs,
    CLook,
    InDrive,
}

/// Requests that the host holds back.
#[derive(Default)]
struct Host {
    fifo: VecDeque<Command>,
    sorted: BTreeMap<(u64, u32), Command>,
    position: u64,
}

impl Host {
    fn push(&mut self, policy: Policy, command: Command) {
        if policy == Policy::CLook {
            self.sorted.insert((command.start.0, command.tag), command);
        } else {
            self.fifo.push_back(command);
        }
    }

    fn pop(&mut self, policy: Policy) -> Option<Command> {
        if policy != Policy::CLook {
            return self.fifo.pop_front();
        }
        let ahead = self.sorted.range((self.position, 0)..).next().or_else(|| self.sorted.iter().next());
        let key = *ahead?.0;
        let command = self.sorted.remove(&key)?;
        self.position = command.start.0;
        Some(command)
    }
}

struct Means {
    response_ms: f64,
    seek_ms: f64,
    rotation_ms: f64,
}

fn disk(depth: u32) -> AnyModel {
    let profile = Profile::named("cheetah9lp").expect("a built-in profile");
    profile
        .with(&format!("cache=off,bus=80,depth={depth}"))
        .expect("the options fit")
        .build()
        .expect("builds")
}

fn run(policy: Policy, per_second: f64, requests: u32, seed: u64) -> Means {
    let depth = if policy == Policy::InDrive { 4096 } else { 1 };
    let mut disk = disk(depth);
    let mut random = Random(seed);
    let mut host = Host::default();
    let mut arrivals = vec![0u64; requests as usize];
    let (mut issued, mut done, mut held) = (0u32, 0u32, 0u32);
    let mut next_arrival = random.exponential_ns(per_second);
    let (mut response, mut seek, mut rotation) = (0u64, 0u64, 0u64);
    while done < requests {
        let event = disk.next_event().map_or(u64::MAX, |at| at.0);
        let arrives = issued < requests && next_arrival <= event;
        let now = if arrives { next_arrival } else { event };
        if arrives {
            let length = 8 * (1 + random.below(16)) as u32;
            let start = 8 * random.below((disk.capacity().0 - u64::from(length)) / 8);
            let operation = if random.below(100) < 67 { Operation::Read } else { Operation::Write };
            arrivals[issued as usize] = now;
            host.push(
                policy,
                Command { tag: issued, operation, start: Sector(start), length: Sectors(length), fua: false },
            );
            issued += 1;
            next_arrival = now + random.exponential_ns(per_second);
        } else {
            while let Some(completion) = disk.advance(Instant(now)) {
                held -= 1;
                done += 1;
                response += completion.at.0 - arrivals[completion.tag as usize];
                seek += completion.timing.seek.0;
                rotation += completion.timing.rotation.0;
            }
        }
        while held < depth {
            let Some(command) = host.pop(policy) else { break };
            disk.submit(Instant(now), command).expect("there is room");
            held += 1;
        }
    }
    let mean = |sum: u64| sum as f64 / f64::from(requests) / 1e6;
    Means { response_ms: mean(response), seek_ms: mean(seek), rotation_ms: mean(rotation) }
}

#[test]
fn scheduling_yardstick() {
    let rows = [
        (Policy::Fcfs, 84.0, 425.0, 5.56, 2.99),
        (Policy::CLook, 117.3, 278.0, 2.37, 2.98),
        (Policy::InDrive, 148.5, 233.0, 3.00, 0.97),
    ];
    for (policy, rate, response, seek, rotation) in rows {
        let means = run(policy, rate, 1_000_000, 0x1d1e_0b5e_55ed_0001);
        println!(
            "{policy:?}: response {:.1} ms ({response}), seek {:.3} ms ({seek}), rotation {:.3} ms ({rotation})",
            means.response_ms, means.seek_ms, means.rotation_ms
        );
        let near = |value: f64, wanted: f64, share: f64| (value / wanted - 1.0).abs() <= share;
        assert!(near(means.seek_ms, seek, 0.05), "{policy:?} seek {}", means.seek_ms);
        assert!(near(means.rotation_ms, rotation, 0.05), "{policy:?} rotation {}", means.rotation_ms);
        if policy != Policy::Fcfs {
            assert!(near(means.response_ms, response, 0.10), "{policy:?} response {}", means.response_ms);
        }
    }
}
