//! Slow reference for the schedulers of `anticipatory`, for the oracle suite: every event is remembered, and all of
//! them are counted again at each decision.

use super::*;
use crate::learned::{Learned, PositioningMeter};
use crate::scheduler::Policy;
use crate::schedulers::anticipatory::framework::{All, Anticipatory, Expectation, Settings};
use crate::schedulers::anticipatory::heuristics::{Heuristic, NextRequest};
use crate::schedulers::anticipatory::statistics::{Expected, Percentile};

impl<P: Algorithm + Policy + 'static, H: Heuristic<P>> Referenced for Anticipatory<P, H> {
    fn reference(setup: Setup<'_>, all: All<P, H>) -> Box<dyn Scheduler> {
        Box::new(Reference::<P, H>::new(setup, all))
    }
}

/// What happened to somebody: a process, a group or a region.
#[derive(Clone, Copy)]
enum Memory {
    Thought(Duration, Percentile),
    Positioned(Duration),
    Went(bool),
    Expired,
    Reset,
}

/// Level and number: (0, process), (1, group), (2, region).
type Who = (usize, u32);

#[derive(Clone, Default)]
struct Process {
    memories: Vec<Memory>,
    position: Option<Sector>,
    completed: Option<Instant>,
    in_parts: bool,
}

fn decay(value: u64, sample: u64, keeps: u64) -> u64 {
    (value * keeps + sample * (65_536 - keeps)) / 65_536
}

impl Process {
    /// Think times as (buckets, median, 95 %, samples, spread in hundredths, misses in hundredths).
    fn thinking(&self) -> (u64, u64, u64, u64, u64) {
        let mut buckets = [0u64; 31];
        let (mut samples, mut mean, mut spread, mut misses) = (0u64, 0i64, 0i64, 0u64);
        let (mut median, mut latest, mut expired) = (0, 0, false);
        for memory in &self.memories {
            let Memory::Thought(think, of) = memory else {
                expired |= matches!(memory, Memory::Expired);
                if matches!(memory, Memory::Reset) {
                    (samples, buckets) = (0, [0; 31]);
                }
                continue;
            };
            if samples > 0 {
                let missed = core::mem::take(&mut expired) || think.0 > latest;
                misses = decay(misses, if missed { 65_536 } else { 0 }, 58_982);
            }
            buckets = buckets.map(|bucket| bucket * 58_982 / 65_536);
            buckets[(think.0 / 500_000).min(30) as usize] += 65_536;
            let edge = |percent: u64, below: usize| {
                let total: u64 = buckets[..below].iter().sum();
                let reached =
                    (0..30).find(|last| 100 * buckets[..=*last].iter().sum::<u64>() >= percent * total);
                500_000 * (reached.unwrap_or(29) as u64 + 1)
            };
            (median, latest) = (edge(50, 31), edge(95, if *of == Percentile::All { 31 } else { 30 }));
            let sample = think.0.min(60_000_000_000) as i64;
            if samples == 0 {
                (mean, spread) = (sample, 0);
            }
            let apart = sample - mean;
            mean += apart / 10;
            spread += (apart.abs() - spread) / 10;
            samples += 1;
        }
        (median, latest, samples, (spread * 100 / mean.max(500_000)) as u64, misses * 100 / 65_536)
    }

    /// Forgets what is too scattered.
    fn settle(&mut self, limit: u64) {
        if limit > 0 && self.thinking().3 > limit {
            self.memories.push(Memory::Reset);
        }
    }

    fn expected(&self) -> Option<Expected> {
        let (median, latest, samples, ..) = self.thinking();
        let (mut positioning, mut backward) = (None, 0);
        for memory in &self.memories {
            match *memory {
                Memory::Positioned(time) => {
                    positioning = Some(positioning.map_or(time.0, |mean| decay(mean, time.0, 48_570)));
                }
                Memory::Went(back) => backward = decay(backward, if back { 65_536 } else { 0 }, 58_982),
                Memory::Reset => positioning = None,
                Memory::Thought(..) | Memory::Expired => {}
            }
        }
        Some(Expected {
            median: Duration(median),
            latest: Duration(latest),
            positioning: Duration(positioning.filter(|_| samples > 0)?),
            backward_percent: backward * 100 / 65_536,
        })
    }
}

/// A synchronous request in the queue: its id, whose it is, the time from its predecessor, whether it
/// is a later part, whether it is in flight.
struct Held {
    id: RequestId,
    whose: Vec<Who>,
    near: Option<Duration>,
    part: bool,
    in_flight: bool,
}

struct Reference<P: Algorithm + Policy, H: Heuristic<P>> {
    policy: P,
    settings: Settings,
    tunables: H::Tunables,
    processes: Vec<(Who, Process)>,
    held: Vec<Held>,
    learned: Learned,
    meter: PositioningMeter,
    head: Sector,
    waiting: u32,
    in_flight: u64,
    last: Option<(Request, Instant)>,
    wait: Option<(Instant, Option<RequestId>)>,
    started: Option<Instant>,
}

impl<P: Algorithm + Policy, H: Heuristic<P>> Reference<P, H> {
    fn new(setup: Setup<'_>, all: All<P, H>) -> Self {
        Reference {
            policy: P::new(setup, all.policy).unwrap(),
            settings: *all.framework,
            tunables: all.heuristic,
            processes: Vec::new(),
            held: Vec::new(),
            learned: setup.device.learned.clone(),
            meter: PositioningMeter::default(),
            head: Sector(0),
            waiting: 0,
            in_flight: 0,
            last: None,
            wait: None,
            started: None,
        }
    }

    fn whose(&self, request: &Request) -> Vec<Who> {
        let region = (request.start.0 >> 18) as u32;
        let mut whose = alloc::vec![(0, request.issuer.0), (1, request.group.0), (2, region)];
        whose.retain(|who| who.0 == 0 || self.settings.levels && *who != (1, 0));
        whose
    }

    fn process(&mut self, who: Who) -> &mut Process {
        let known = self.processes.iter().position(|(held, _)| *held == who);
        let at = known.unwrap_or_else(|| {
            self.processes.push((who, Process::default()));
            self.processes.len() - 1
        });
        &mut self.processes[at].1
    }

    fn arrives(&mut self, cx: Cx<'_>, id: RequestId) {
        if !cx.device.rotational && self.learned.curve.spread().0 < 500_000 {
            return;
        }
        let request = cx[id];
        let whose = self.whose(&request);
        let (mut near, mut part) = (None, false);
        for who in whose.clone() {
            let busy = self.held.iter().any(|held| held.whose.contains(&who));
            let (limit, of) = (self.settings.reset_spread.0, self.settings.percentile);
            let (before, later) = {
                let process = self.process(who);
                let later = core::mem::replace(&mut process.in_parts, request.more_follows);
                (process.position.replace(request.end()), later)
            };
            let process = self.process(who);
            if !later {
                if let Some(before) = before {
                    process.memories.push(Memory::Went(request.start < before));
                }
                if let Some(at) = process.completed {
                    let think = if busy { Duration::ZERO } else { cx.now.since(at) };
                    process.memories.push(Memory::Thought(think, of));
                }
            }
            process.settle(limit);
            if who.0 == 0 {
                near = before.map(|before| self.learned.curve.expected(before, request.start));
                part = later;
            }
        }
        self.held.push(Held { id, whose, near, part, in_flight: false });
    }

    fn forget(&mut self, id: RequestId) -> Option<Held> {
        let at = self.held.iter().position(|held| held.id == id)?;
        Some(self.held.remove(at))
    }

    fn waits(&self, who: Who) -> bool {
        self.held.iter().any(|held| held.whose.contains(&who) && !held.in_flight)
    }

    fn rather_waits(&mut self, cx: Cx<'_>, candidate: RequestId) -> Option<Instant> {
        let (request, at) = self.last.filter(|(request, _)| !request.more_follows)?;
        if cx[candidate].issuer == request.issuer {
            return None;
        }
        let own = (0, request.issuer.0);
        let mut best: Option<(u64, Who, Expected)> = None;
        for who in self.whose(&request) {
            let process = self.process(who).clone();
            let Some(expected) = process.expected() else { continue };
            let (_, _, samples, spread, _) = process.thinking();
            let enough = self.settings.levels && samples >= 4;
            if enough && best.as_ref().is_none_or(|(least, ..)| spread < *least) {
                best = Some((spread, who, expected));
            }
        }
        if best.is_none() {
            best = self.process(own).expected().map(|expected| (0, own, expected));
        }
        let (_, who, expected) = best?;
        let surprised = self.process(who).thinking().4;
        let limit = self.settings.miss_limit.0;
        if self.waits(own) || self.waits(who) || limit > 0 && surprised > limit {
            return None;
        }
        let positioning = self.learned.curve.expected(self.head, cx[candidate].start);
        if !cx.device.rotational && positioning.0 < expected.positioning.0 + 500_000 {
            return None;
        }
        let candidate = NextRequest {
            cx,
            id: candidate,
            positioning,
            forward: cx[candidate].start >= self.head,
            last: request.issuer,
            elapsed: cx.now.since(at),
            expected,
        };
        let time = H::wait(&self.policy, &candidate, &self.tunables).filter(|time| time.0 > 0)?;
        let (tick, started) = (self.settings.timer.0.0.max(1), self.started?.0);
        Some(Instant(started + (cx.now.0 + time.0 - started).div_ceil(tick) * tick))
    }

    fn send(&mut self, cx: Cx<'_>, id: RequestId) -> Decision {
        self.wait = None;
        self.policy.take(cx, id);
        self.meter.dispatched(cx.now, cx[id].start, cx[id].length);
        self.head = cx[id].end();
        self.waiting -= 1;
        self.in_flight += 1;
        if let Some(held) = self.held.iter_mut().find(|held| held.id == id) {
            held.in_flight = true;
        }
        Decision::Dispatch(id)
    }

    fn disturbed(&mut self) {
        self.wait = self.wait.map(|(until, _)| (until, None));
    }
}

impl<P: Algorithm + Policy, H: Heuristic<P>> Scheduler for Reference<P, H> {
    fn insert(&mut self, cx: Cx<'_>, id: RequestId) {
        self.waiting += 1;
        self.started.get_or_insert(cx.now);
        if cx[id].sync {
            self.arrives(cx, id);
        }
        self.policy.insert(cx, id);
        self.disturbed();
    }

    fn dispatch(&mut self, cx: Cx<'_>) -> Decision {
        let most = match (self.settings.in_device.0, cx.device.rotational) {
            (0, true) => 1,
            (0, false) => u64::MAX,
            (most, _) => most,
        };
        if self.in_flight >= most {
            return Decision::Idle;
        }
        match self.wait {
            Some((until, Some(_))) if cx.now < until => return Decision::WaitUntil(until),
            Some((until, candidate)) if cx.now >= until => {
                if let Some(id) = candidate.or_else(|| self.policy.select(cx)) {
                    let last = self.last.take();
                    if let Some((request, _)) = last.filter(|(last, _)| !self.waits((0, last.issuer.0))) {
                        for who in self.whose(&request) {
                            self.process(who).memories.push(Memory::Expired);
                        }
                    }
                    return self.send(cx, id);
                }
            }
            _ => {}
        }
        let Some(candidate) = self.policy.select(cx) else {
            self.wait = None;
            return Decision::Idle;
        };
        if self.in_flight > 0 {
            return self.send(cx, candidate);
        }
        match self.rather_waits(cx, candidate) {
            None => self.send(cx, candidate),
            Some(until) => {
                let until = self.wait.map_or(until, |(armed, _)| armed);
                self.wait = Some((until, Some(candidate)));
                Decision::WaitUntil(until)
            }
        }
    }

    fn complete(&mut self, cx: Cx<'_>, id: RequestId) {
        self.in_flight = self.in_flight.saturating_sub(1);
        let measured = self.meter.completed(cx.now, &mut self.learned);
        self.policy.complete(cx, id);
        if let Some(held) = self.forget(id) {
            let time = match self.settings.expectation {
                Expectation::Measured => measured.or(held.near),
                Expectation::Distance => held.near.or(measured),
            };
            for who in held.whose {
                let process = self.process(who);
                process.completed = Some(cx.now);
                if let Some(time) = time.filter(|_| !held.part) {
                    process.memories.push(Memory::Positioned(time));
                }
            }
        }
        let worth_it = cx[id].sync && (self.waiting > 0 || self.settings.idle_waits);
        self.last = worth_it.then_some((cx[id], cx.now));
    }

    fn remove(&mut self, cx: Cx<'_>, id: RequestId) {
        self.waiting -= 1;
        self.forget(id);
        self.policy.remove(cx, id);
        self.disturbed();
    }

    fn grown(&mut self, cx: Cx<'_>, id: RequestId) {
        let whose = self.held.iter().find(|held| held.id == id).map(|held| held.whose.clone());
        match whose {
            Some(whose) => {
                let (limit, of) = (self.settings.reset_spread.0, self.settings.percentile);
                for who in whose {
                    let process = self.process(who);
                    process.position = Some(cx[id].end());
                    let later = core::mem::replace(&mut process.in_parts, cx[id].more_follows);
                    if !later && process.completed.is_some() {
                        process.memories.push(Memory::Thought(Duration::ZERO, of));
                    }
                    process.settle(limit);
                }
            }
            None if cx[id].sync => self.arrives(cx, id),
            None => {}
        }
        self.policy.grown(cx, id);
        self.disturbed();
    }

    fn absorbed(&mut self, cx: Cx<'_>, survivor: RequestId, other: RequestId) {
        self.waiting -= 1;
        let other_held = self.forget(other);
        if !self.held.iter().any(|held| held.id == survivor) {
            self.held.extend(other_held.map(|held| Held { id: survivor, ..held }));
        }
        self.policy.absorbed(cx, survivor, other);
        self.disturbed();
    }

    fn issuer_gone(&mut self, cx: Cx<'_>, who: Issuer) {
        self.policy.issuer_gone(cx, who);
        if !self.held.iter().any(|held| held.whose.contains(&(0, who.0))) {
            self.processes.retain(|(held, _)| *held != (0, who.0));
        }
        if !self.settings.levels && self.last.is_some_and(|(request, _)| request.issuer == who) {
            self.last = None;
        }
        self.disturbed();
    }

    fn adopt(&mut self, cx: Cx<'_>, id: RequestId) {
        self.in_flight += 1;
        self.meter.adopted();
        self.policy.adopt(cx, id);
    }

    fn front_merges(&self) -> bool {
        self.policy.front_merges()
    }

    fn may_merge(&self, cx: Cx<'_>, id: RequestId, new: &Request) -> bool {
        (cx[id].issuer == new.issuer || !new.sync) && self.policy.may_merge(cx, id, new)
    }
}
