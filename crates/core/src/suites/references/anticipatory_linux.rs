//! Slow reference for `as`, `as-2.6.11` and `cas`, for the oracle suite.
//!
//! Sides are 0 (async) and 1 (sync); processes and requests are in plain lists.

mod processes;

use processes::Process;

use super::*;
use crate::schedulers::linux_2_6::as_family::{LinuxAnticipatory, RuleSet, Timed, Times, Version};

impl<V: Version> Referenced for LinuxAnticipatory<V> {
    fn reference(setup: Setup<'_>, settings: V::Settings) -> Box<dyn Scheduler> {
        let mut reference = Reference::new::<V>(&settings);
        if !setup.device.rotational {
            reference.times.wait = Duration::ZERO;
        }
        Box::new(reference)
    }
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Off,
    Completion,
    Next,
    Finished,
}

#[derive(Clone, Copy)]
struct Held {
    id: RequestId,
    start: u64,
    due: Instant,
    owner: u32,
}

struct Reference {
    rules: RuleSet,
    writes_from_oldest: bool,
    time_from_drained: bool,
    times: Times,
    /// By side: in order of insertion (or rekeying) for addresses, and in order of arrival.
    by_address: [Vec<Held>; 2],
    by_arrival: [Vec<RequestId>; 2],
    next: [Option<RequestId>; 2],
    last_end: [u64; 2],
    looked: [Option<Instant>; 2],
    processes: Vec<Process>,
    in_flight: Vec<(RequestId, Option<u32>, usize)>,
    state: State,
    awaited: Option<u32>,
    done: Option<Instant>,
    until: Instant,
    side: usize,
    expires: Option<Instant>,
    changed: bool,
    fresh: bool,
    quota: u64,
    left: u64,
    idled: bool,
    exits: u64,
    alone: u64,
    helped: u64,
    new_thought_total: u64,
    new_seek_total: u64,
}

impl Reference {
    fn new<V: Version>(settings: &V::Settings) -> Self {
        let times = settings.times();
        Reference {
            rules: V::rules(settings),
            writes_from_oldest: V::WRITES_FROM_OLDEST,
            time_from_drained: V::TIME_FROM_DRAINED,
            times,
            by_address: Default::default(),
            by_arrival: Default::default(),
            next: [None; 2],
            last_end: [0; 2],
            looked: [None; 2],
            processes: Vec::new(),
            in_flight: Vec::new(),
            state: State::Off,
            awaited: None,
            done: None,
            until: Instant::ZERO,
            side: 0,
            expires: None,
            changed: false,
            fresh: false,
            quota: (times.batch[0].0 / 10_000_000).max(2),
            left: 0,
            idled: false,
            exits: 0,
            alone: 0,
            helped: 256,
            new_thought_total: 0,
            new_seek_total: 0,
        }
    }

    fn held(&self, side: usize, id: RequestId) -> Held {
        *self.by_address[side].iter().find(|held| held.id == id).unwrap()
    }

    /// Of two the one to continue with; ties go to the first.
    fn better(&self, side: usize, one: Option<RequestId>, two: Option<RequestId>) -> Option<RequestId> {
        let (Some(a), Some(b)) = (one, two) else { return one.or(two) };
        let last = self.last_end[side];
        let rank = |id: RequestId| {
            let s = self.held(side, id).start;
            if s >= last {
                (0, s - last, u64::MAX - s)
            } else if last - s <= 1_048_576 {
                (0, 2 * (last - s), u64::MAX - s)
            } else {
                (1, s, 0)
            }
        };
        if rank(b) < rank(a) { two } else { one }
    }

    /// Where to continue from `id`, which is about to leave.
    fn after(&self, side: usize, id: RequestId) -> Option<RequestId> {
        let mut order = self.by_address[side].clone();
        order.sort_by_key(|held| held.start);
        let at = order.iter().position(|held| held.id == id).unwrap();
        let before = at.checked_sub(1).map(|at| order[at].id);
        let behind = order.get(at + 1).map(|held| held.id);
        let first = Some(order[0].id).filter(|first| *first != id);
        self.better(side, before, behind.or(first))
    }

    fn leave(&mut self, side: usize, id: RequestId) -> u32 {
        let owner = self.held(side, id).owner;
        self.by_address[side].retain(|held| held.id != id);
        self.by_arrival[side].retain(|held| *held != id);
        self.process(owner).waiting -= 1;
        owner
    }

    fn note_idle(&mut self) {
        let [writes, reads] = [0, 1].map(|side: usize| !self.by_arrival[side].is_empty());
        if self.side == 0 && !reads && (self.left == 0 || !writes) {
            self.idled = true;
        }
    }

    fn late(&mut self, now: Instant, side: usize) -> bool {
        if self.looked[side].is_some_and(|looked| now.since(looked) < self.times.expire[side]) {
            return false;
        }
        self.looked[side] = Some(now);
        self.by_arrival[side].first().is_some_and(|id| now > self.held(side, *id).due)
    }

    fn over(&self, now: Instant) -> bool {
        let late = self.expires.is_none_or(|expires| now > expires);
        !self.changed && !self.fresh && (late || self.side == 0 && self.left == 0)
    }

    /// Chooses a request. `None` begins to wait.
    fn pick(&mut self, cx: Cx<'_>) -> Option<RequestId> {
        let now = cx.now;
        let [writes, reads] = [0, 1].map(|side: usize| !self.by_arrival[side].is_empty());
        let mut chosen = None;
        if !(reads && writes && self.over(now)) {
            let next = self.next[self.side];
            if self.side == 1 && self.times.wait > Duration::ZERO {
                if self.late(now, 1) {
                    return self.by_arrival[1].first().copied();
                }
                if let Some(who) = self.awaited.filter(|_| self.state != State::Finished) {
                    let id = next.map(|id| (id, self.held(1, id).owner));
                    if !self.give_up(cx, who, id) {
                        self.state = State::Completion;
                        self.arm();
                        return None;
                    }
                }
            }
            if next.is_some() && reads && !writes {
                self.expires = Some(now + self.times.batch[1]);
            }
            chosen = next;
        }
        if chosen.is_none() && reads && !(writes && self.side == 1) {
            self.changed |= self.side == 0;
            self.side = 1;
            self.looked[1] = Some(now);
            chosen = self.by_arrival[1].first().copied();
        } else if chosen.is_none() {
            if self.side == 1 {
                (self.changed, self.fresh) = (true, false);
            }
            (self.side, self.left, self.idled) = (0, self.quota, false);
            chosen = self.next[0];
            if self.writes_from_oldest {
                self.looked[0] = Some(now);
                chosen = self.by_arrival[0].first().copied();
            }
        }
        if self.late(now, self.side) {
            chosen = self.by_arrival[self.side].first().copied();
        }
        chosen
    }

    fn arm(&mut self) {
        if let (State::Completion, Some(done)) = (self.state, self.done) {
            self.state = State::Next;
            self.until = done + self.times.wait;
        }
    }
}

impl Scheduler for Reference {
    fn insert(&mut self, cx: Cx<'_>, id: RequestId) {
        self.clock(cx.now);
        let request = cx[id];
        let (who, side) = (request.issuer.0, usize::from(request.sync));
        let process = self.process(who);
        if process.gone {
            *process = process.reborn();
        }
        if request.sync {
            self.learn(who, cx.now, &request);
        }
        self.process(who).waiting += 1;
        let due = request.arrival + self.times.expire[side];
        self.by_address[side].push(Held { id, start: request.start.0, due, owner: who });
        self.by_arrival[side].push(id);
        self.next[side] = self.better(side, self.next[side], Some(id));
        if matches!(self.state, State::Completion | State::Next)
            && self.give_up(cx, self.awaited.unwrap(), Some((id, who)))
        {
            self.state = State::Finished;
        }
    }

    fn dispatch(&mut self, cx: Cx<'_>) -> Decision {
        self.clock(cx.now);
        if self.by_arrival.iter().all(Vec::is_empty) || self.state == State::Completion {
            return Decision::Idle;
        }
        if self.state == State::Next {
            return Decision::WaitUntil(self.until);
        }
        if self.changed {
            return Decision::Idle;
        }
        let Some(id) = self.pick(cx) else {
            return match self.state {
                State::Next => Decision::WaitUntil(self.until),
                _ => Decision::Idle,
            };
        };
        let side = self.side;
        if self.changed {
            if !self.in_flight.is_empty() {
                return Decision::Idle;
            }
            if side == 0 {
                self.expires = Some(cx.now + self.times.batch[0]);
            }
            self.fresh |= side == 1;
            self.changed = false;
        }
        self.last_end[side] = cx[id].end().0;
        self.next[side] = self.after(side, id);
        let owner = self.leave(side, id);
        (self.state, self.done, self.awaited) = (State::Off, None, (side == 1).then_some(owner));
        if side == 0 {
            self.left = self.left.max(1) - 1;
        }
        self.in_flight.push((id, Some(owner), side));
        self.note_idle();
        Decision::Dispatch(id)
    }

    fn complete(&mut self, cx: Cx<'_>, id: RequestId) {
        self.clock(cx.now);
        let now = cx.now;
        if self.changed && self.in_flight.len() == 1 {
            self.changed = false;
            self.fresh |= self.side == 1;
            if self.time_from_drained {
                self.expires = Some(now + self.times.batch[self.side]);
            }
        }
        let at = self.in_flight.iter().position(|(held, ..)| *held == id).unwrap();
        let (_, Some(owner), side) = self.in_flight.remove(at) else { return };
        if self.fresh && side == self.side {
            if let Some(expires) = self.expires {
                let wanted = self.times.batch[0];
                let taken = (now + wanted).since(expires);
                if taken > wanted && !self.idled {
                    self.quota = if taken.0 > 3 * wanted.0 { self.quota / 2 } else { self.quota - 1 };
                } else if taken < wanted && self.left == 0 {
                    self.quota = if wanted.0 > 3 * taken.0 { self.quota * 2 } else { self.quota + 1 };
                }
                self.quota = self.quota.max(1);
            }
            self.expires = Some(now + self.times.batch[1]);
            self.fresh = false;
        }
        if self.awaited == Some(owner) {
            self.done = Some(now);
            self.arm();
        }
        if side == 1 {
            self.process(owner).done = Some(now);
        }
    }

    fn remove(&mut self, cx: Cx<'_>, id: RequestId) {
        self.clock(cx.now);
        let side = usize::from(cx[id].sync);
        if self.next[side] == Some(id) {
            self.next[side] = self.after(side, id);
        }
        self.leave(side, id);
        self.note_idle();
    }

    fn grown(&mut self, cx: Cx<'_>, id: RequestId) {
        let side = usize::from(cx[id].sync);
        let mut held = self.held(side, id);
        if held.start != cx[id].start.0 {
            held.start = cx[id].start.0;
            self.by_address[side].retain(|other| other.id != id);
            self.by_address[side].push(held);
        }
    }

    fn absorbed(&mut self, cx: Cx<'_>, survivor: RequestId, other: RequestId) {
        let side = usize::from(cx[survivor].sync);
        let (kept, taken) = (self.held(side, survivor), self.held(side, other));
        if taken.due < kept.due {
            for held in &mut self.by_address[side] {
                if held.id == survivor {
                    (held.due, held.owner) = (taken.due, taken.owner);
                } else if held.id == other {
                    held.owner = kept.owner;
                }
            }
            self.by_arrival[side].retain(|id| *id != survivor);
            let at = self.by_arrival[side].iter().position(|id| *id == other).unwrap();
            self.by_arrival[side].insert(at, survivor);
        }
        self.grown(cx, survivor);
        self.remove(cx, other);
    }

    fn issuer_gone(&mut self, cx: Cx<'_>, who: Issuer) {
        self.clock(cx.now);
        if self.processes.iter().any(|process| process.who == who.0) {
            self.process(who.0).gone = true;
        }
    }

    fn adopt(&mut self, _: Cx<'_>, id: RequestId) {
        self.in_flight.push((id, None, 0));
    }

    fn may_merge(&self, cx: Cx<'_>, id: RequestId, new: &Request) -> bool {
        cx[id].sync == new.sync
    }
}
