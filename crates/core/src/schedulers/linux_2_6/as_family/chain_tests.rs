//! Short-lived processes that read near each other: what moves the probabilities, which the scenes of
//! the oracle suite hardly do. The schedulers must decide like their reference there, too.

use super::{LinuxAnticipatory, Version};
use crate::collections::OutOfMemory;
use crate::device::{Device, Merging};
use crate::queue::Queue;
use crate::request::Request;
use crate::scheduler::{Algorithm, Decision, Setup};
use crate::schedulers::linux_2_6::{as_::Linux2632, as_2_6_11::Linux2611, cas::Cooperative};
use crate::suites::Referenced;
use crate::tunables::Tunables;
use crate::units::{Duration, Instant, Issuer, Sector, Sectors};

/// Numbers of processes in use; they are used again.
const NUMBERS: u64 = 24;

struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// A request near where the head is, or in one of four places far from each other.
fn request(random: &mut Random, head: u64) -> Request {
    let start = match random.below(8) {
        0 | 1 => head,
        2 | 3 => head + random.below(40) * 8,
        4 => head + random.below(20_000),
        5 => head.saturating_sub(random.below(20_000)),
        _ => random.below(4) * 300_000_000 + random.below(1000) * 8,
    };
    let (start, length) = (Sector(start), Sectors(8));
    if random.below(12) == 0 { Request::write(start, length) } else { Request::read(start, length) }
}

/// Runs both side by side. `life` is how many requests a process issues on average.
fn agree<V: Version>(settings: impl Fn() -> V::Settings, depth: u32, life: u64, seed: u64) {
    let device = || Device { depth, merging: Merging::Off, ..Device::default() };
    let mut fast = Queue::with(16, device(), |setup| LinuxAnticipatory::<V>::new(setup, settings())).unwrap();
    let slow = |setup: Setup<'_>| Ok::<_, OutOfMemory>(LinuxAnticipatory::<V>::reference(setup, settings()));
    let mut slow = Queue::with(16, device(), slow).unwrap();
    let (mut random, mut now, mut head, mut who) = (Random(seed), Instant(0), 0, 0);
    let mut in_flight = alloc::vec::Vec::new();
    for step in 0..6_000 {
        now += Duration::from_us([0, 0, 200, 900, 3_000][random.below(5) as usize]);
        if random.below(3) > 0 && fast.requests().free_count() > 8 {
            let new = request(&mut random, head).by(Issuer(who as u32));
            assert_eq!(fast.insert(now, new), slow.insert(now, new));
        }
        if random.below(life) == 0 {
            assert_eq!(fast.issuer_gone(now, Issuer(who as u32)), slow.issuer_gone(now, Issuer(who as u32)));
            who = (who + 1) % NUMBERS;
        }
        if in_flight.len() == depth as usize {
            let id = in_flight.swap_remove(random.below(u64::from(depth)) as usize);
            assert_eq!(fast.complete(now, id), slow.complete(now, id));
        }
        let decision = fast.dispatch(now);
        assert_eq!(decision, slow.dispatch(now), "step {step}, seed {seed}, {life} requests each");
        match decision {
            Ok(Decision::Dispatch(id)) => {
                head = fast.request(id).end().0;
                in_flight.push(id);
            }
            Ok(Decision::WaitUntil(until)) if random.below(2) == 0 => now = until,
            _ if !in_flight.is_empty() && random.below(2) == 0 => {
                let id = in_flight.remove(0);
                assert_eq!(fast.complete(now, id), slow.complete(now, id));
            }
            _ => {}
        }
    }
}

fn all<V: Version>(settings: impl Fn() -> V::Settings) {
    for seed in 0..12 {
        for life in [1, 2, 3, 9] {
            agree::<V>(&settings, 1, life, seed);
            agree::<V>(&settings, 2, life, seed);
        }
    }
}

#[test]
fn chains_of_processes_are_scheduled_like_the_reference_does() {
    all::<Linux2632>(Tunables::defaults);
    all::<Linux2611>(Tunables::defaults);
    for reading in 0..2 {
        all::<Cooperative>(|| {
            let mut settings = <Cooperative as Version>::Settings::defaults();
            let place = <Cooperative as Version>::Settings::find("reading").unwrap();
            settings.put(place, reading);
            settings
        });
    }
}
