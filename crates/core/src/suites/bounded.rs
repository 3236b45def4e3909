//! Bounded waiting: attacks on the starvation bound that each scheduler states.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::subject::{Make, Random, TestQueue, all};
use crate::device::{Device, Merging};
use crate::request::{Class, Operation, Priority, Request};
use crate::scheduler::{Decision, Starvation};
use crate::units::{Duration, Instant, Issuer, RequestId, Sector, Sectors, Weight};

/// By now a scheduler has learned what it learns, and is to starve new victims.
const LATER: u64 = 500;
/// A request that was passed over this often, and eight times the queue's depth, starves.
const STARVED: u64 = 2_000;
/// Dispatches in one attack.
const ROUNDS: u64 = 4_000;
/// Who issues what may starve.
const VICTIM: Issuer = Issuer(99);

/// Where the next request of a flood lies.
#[derive(Clone, Copy, Debug)]
enum Flood {
    /// Where the head is.
    AtHead,
    /// Within 64 KiB of the head, on both sides.
    NearHead,
    /// Just below the head.
    Behind,
    /// One stream after the other.
    Sequential,
    /// Anywhere.
    Anywhere,
    /// In the middle of the disk, within a megabyte.
    Middle,
}

/// Who floods, in which direction.
#[derive(Clone, Copy, Debug)]
enum Mix {
    Reads,
    Writes,
    /// Both, from eight processes.
    Mixed,
    /// The same, with the greatest weight; the victims have the least.
    Unequal,
    /// Both, of a higher class than the victims.
    Above,
    /// Both, of a lower class than the victims.
    Below,
    /// Writes that somebody waits for, as nobody does for the victims' writes.
    SyncWrites,
    /// Nothing but flushes.
    Flushes,
}

const FLOODS: [Flood; 6] =
    [Flood::AtHead, Flood::NearHead, Flood::Behind, Flood::Sequential, Flood::Anywhere, Flood::Middle];
const MIXES: [Mix; 3] = [Mix::Reads, Mix::Writes, Mix::Mixed];

/// A flood that keeps `depth` requests waiting on a device that takes `service` for each.
#[derive(Clone, Copy, Debug)]
struct Attack {
    flood: Flood,
    mix: Mix,
    depth: usize,
    service: Duration,
    rounds: u64,
}

/// All attacks, the likeliest to starve first.
fn attacks() -> Vec<Attack> {
    let (flood, mix, depth, service) = (Flood::Anywhere, Mix::Unequal, 12, Duration::from_ms(4));
    let mut all = vec![Attack { flood, mix, depth, service, rounds: ROUNDS }];
    for (depth, service) in
        [(4, Duration::from_ms(4)), (33, Duration::from_us(300)), (12, Duration::from_ms(40))]
    {
        for flood in FLOODS {
            for mix in MIXES {
                all.push(Attack { flood, mix, depth, service, rounds: ROUNDS });
            }
        }
    }
    // Fast enough that requests pass by thousands before what is kept waiting has aged or is due; and
    // slow enough that all of a flood has aged.
    for (mix, depth, service) in [
        (Mix::Above, 33, Duration::from_us(300)),
        (Mix::Below, 33, Duration::from_ms(40)),
        (Mix::Flushes, 33, Duration::from_us(300)),
        (Mix::SyncWrites, 250, Duration::from_us(10)),
    ] {
        all.push(Attack { flood: Flood::Anywhere, mix, depth, service, rounds: ROUNDS });
    }
    let deep = Attack {
        flood: Flood::Anywhere,
        mix: Mix::Mixed,
        depth: 250,
        service: Duration::from_us(100),
        rounds: 40_000,
    };
    all.push(deep);
    all
}

/// A waiting request, as the attack watches it.
#[derive(Clone, Copy)]
struct Watched {
    arrival: Instant,
    /// Requests that may still go first, once the promise holds.
    left: Option<u64>,
    /// Requests that went first, in all.
    passed: u64,
}

struct Siege {
    queue: TestQueue,
    attack: Attack,
    random: Random,
    now: Instant,
    head: Sector,
    streams: [Sector; 8],
    watched: Vec<Option<Watched>>,
    waiting: usize,
    /// The most that any request was passed over.
    worst: u64,
}

const SIZE: u64 = 1 << 31;

impl Siege {
    fn new(make: &dyn Make, seed: u64, attack: Attack) -> Siege {
        let size = attack.depth + 12;
        let device = Device { merging: Merging::Off, capacity: Sector(SIZE), ..Device::default() };
        let random = Random(seed ^ 0x5EED);
        Siege {
            queue: make.queue(size, &device, seed),
            attack,
            random,
            now: Instant::ZERO,
            head: Sector(SIZE / 2),
            streams: core::array::from_fn(|index| Sector(SIZE / 9 * (index as u64 + 1))),
            watched: vec![None; size],
            waiting: 0,
            worst: 0,
        }
    }

    /// The promise, for all whose time has come.
    fn arm(&mut self, promised: Starvation) {
        let (after, per_waiting, plus) = match promised {
            Starvation::Unbounded => return,
            Starvation::Bounded { after, per_waiting, plus } => (after, per_waiting, plus),
            Starvation::FullQueues(count) => (Duration::ZERO, 0, count * self.watched.len() as u64),
        };
        for watched in self.watched.iter_mut().flatten() {
            if watched.left.is_none() && self.now.since(watched.arrival) >= after {
                watched.left = Some(per_waiting * self.waiting as u64 + plus);
            }
        }
    }

    fn insert(&mut self, request: Request, promised: Starvation) {
        let id = self.queue.insert(self.now, request).unwrap().id();
        self.waiting += 1;
        self.watched[id.index()] = Some(Watched { arrival: self.now, left: None, passed: 0 });
        // What is promised from the first moment on counts what waits at that moment.
        self.arm(promised);
    }

    /// One at each end of the disk and one between, of both directions: what may starve.
    fn insert_victims(&mut self, promised: Starvation) {
        for start in [8, SIZE / 3, SIZE - 64] {
            for request in
                [Request::read(Sector(start), Sectors(8)), Request::write(Sector(start), Sectors(8))]
            {
                let class =
                    if matches!(self.attack.mix, Mix::Below) { Class::RealTime } else { Class::BestEffort };
                let priority = Priority { class, ..Priority::default() };
                self.insert(Request { priority, ..request.by(VICTIM) }, promised);
            }
        }
    }

    fn next_request(&mut self) -> Request {
        let who = self.random.below(8) as usize;
        let start = match self.attack.flood {
            Flood::AtHead => self.head.0,
            Flood::NearHead => (self.head.0 + self.random.below(33) * 8).saturating_sub(128),
            Flood::Behind => self.head.0.saturating_sub(8 + self.random.below(8) * 8),
            Flood::Sequential => self.streams[0].0,
            Flood::Anywhere => self.random.below(SIZE / 8 - 8) * 8,
            Flood::Middle => SIZE / 2 + self.random.below(256) * 8,
        };
        // The head may run off the end: begin again in the middle.
        let start = Sector(if start + 64 > SIZE { SIZE / 2 } else { start });
        self.streams[0] = start + Sectors(8);
        let write = match self.attack.mix {
            Mix::Reads => false,
            Mix::Writes | Mix::SyncWrites => true,
            _ => self.random.below(2) == 0,
        };
        let mut request =
            if write { Request::write(start, Sectors(8)) } else { Request::read(start, Sectors(8)) };
        match self.attack.mix {
            Mix::Above => request.priority.class = Class::RealTime,
            Mix::SyncWrites => request.sync = true,
            Mix::Flushes => {
                request = Request { operation: Operation::Flush, ..Request::write(Sector(0), Sectors(0)) }
            }
            _ => {}
        }
        request.by(Issuer(who as u32 + 1))
    }

    /// Enters that `id` goes first. Fails if that breaks a promise to another.
    fn dispatched(&mut self, id: RequestId) -> Result<(), String> {
        self.waiting -= 1;
        self.watched[id.index()] = None;
        for (index, watched) in self.watched.iter_mut().enumerate() {
            let Some(watched) = watched else { continue };
            watched.passed += 1;
            self.worst = self.worst.max(watched.passed);
            if let Some(left) = &mut watched.left {
                *left = left.checked_sub(1).ok_or_else(|| {
                    let waited = self.now.since(watched.arrival);
                    format!(
                        "#{index} has waited {waited}, was passed over {} times, and still waits",
                        watched.passed
                    )
                })?;
            }
        }
        Ok(())
    }

    /// Asks until a request comes, keeping promises.
    fn serve(&mut self, promised: Starvation) -> Result<(), String> {
        for _ in 0..1000 {
            self.arm(promised);
            match self.queue.dispatch(self.now).unwrap() {
                Decision::Dispatch(id) => {
                    self.dispatched(id)?;
                    self.head = self.queue.request(id).end();
                    self.now += self.attack.service;
                    self.queue.complete(self.now, id).unwrap();
                    return Ok(());
                }
                Decision::WaitUntil(time) => self.now = time,
                Decision::Idle => return Err("idle with requests waiting".into()),
            }
        }
        Err("waits again and again".into())
    }

    /// Floods. Returns the most that any request was passed over; ends once one starves for good.
    fn run(mut self, promised: Starvation) -> Result<u64, String> {
        let enough = STARVED.max(8 * self.attack.depth as u64);
        if matches!(self.attack.mix, Mix::Unequal) {
            for who in 1..=8 {
                self.queue.set_weight(self.now, Issuer(who), Weight::GREATEST).unwrap();
            }
            self.queue.set_weight(self.now, VICTIM, Weight::LEAST).unwrap();
        }
        self.insert_victims(promised);
        for round in 0..self.attack.rounds {
            if round == LATER {
                self.insert_victims(promised);
            }
            while self.waiting < self.attack.depth + 6 {
                let request = self.next_request();
                self.insert(request, promised);
            }
            // Now and then a burst and a pause move the phase of whatever counts rounds.
            if round % 97 == 0 {
                self.now += Duration::from_us(self.random.below(20_000)).min(self.attack.service * 100);
            }
            self.serve(promised)?;
            if promised == Starvation::Unbounded && self.worst >= enough {
                break;
            }
        }
        Ok(self.worst)
    }
}

/// Attacks what `make` builds under some settings: a stated bound must hold, and where there is
/// none, some attack must starve a request.
pub(super) fn waits_as_stated(make: &dyn Make, seed: u64) -> Result<(), String> {
    let promised = make.starvation(seed);
    let mut worst = 0;
    // One deep queue, for what starves by chance alone, is of no use against a bound.
    let deep = usize::from(promised != Starvation::Unbounded);
    let mut attacks = attacks();
    attacks.truncate(attacks.len() - deep);
    for mut attack in attacks {
        if seed > 0 && promised != Starvation::Unbounded {
            attack.rounds /= 3;
        }
        let context = |error: String| {
            format!(
                "{}{}: {error}, under {attack:?}, promised {promised:?}",
                make.name(),
                make.settings(seed)
            )
        };
        let passed = Siege::new(make, seed, attack).run(promised).map_err(context)?;
        worst = worst.max(passed);
        if promised == Starvation::Unbounded && passed >= STARVED.max(8 * attack.depth as u64) {
            return Ok(());
        }
    }
    match promised {
        Starvation::Bounded { .. } | Starvation::FullQueues(_) => Ok(()),
        Starvation::Unbounded => Err(format!(
            "{}{}: says that a request may starve, but none was passed over more than {worst} times",
            make.name(),
            make.settings(seed)
        )),
    }
}

#[test]
fn no_request_waits_beyond_the_stated_bound_and_none_is_stated_in_vain() {
    let mut failures = Vec::new();
    for entry in all() {
        let seeds = if entry.tunables.is_empty() { 0..1 } else { 0..5 };
        match seeds.into_iter().try_for_each(|seed| waits_as_stated(entry, seed)) {
            Ok(()) => std::println!("conformance: bounded waiting: {} holds", entry.name),
            Err(failure) => failures.push(failure),
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}
