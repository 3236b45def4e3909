//! Slow reference for `cfq`, for the oracle suite.
//!
//! Queues, processes and requests are in plain lists, the queues in the order in which they were made or
//! last moved among the others. Times are signed, in nanoseconds.

mod processes;
mod serve;

use super::*;
use crate::request::Class;
use crate::schedulers::linux_2_6::cfq::{Cfq, Settings};

impl Referenced for Cfq {
    fn reference(_: Setup<'_>, settings: Settings) -> Box<dyn Scheduler> {
        Box::new(Reference::new(settings))
    }
}

const MS: i64 = 1_000_000;

/// A decaying mean: weight, total, mean.
type Mean = (u64, u64, u64);

#[derive(Clone, Copy)]
struct Held {
    id: RequestId,
    start: u64,
    due: i64,
}

#[derive(Clone)]
struct Lane {
    /// Never used twice.
    name: usize,
    sync: bool,
    class: Class,
    level: i64,
    /// In order of insertion (or rekeying) for addresses, and in order of arrival.
    by_address: Vec<Held>,
    by_arrival: Vec<RequestId>,
    next: Option<RequestId>,
    flying: u64,
    key: Option<i64>,
    key_class: Class,
    /// Larger for those that moved later.
    moved: u64,
    rest: i64,
    window: bool,
    seek: Mean,
    position: u64,
    users: usize,
    joins: Option<usize>,
    coop: bool,
    seeky_since: Option<i64>,
}

struct Process {
    who: u32,
    gone: bool,
    priority: crate::request::Priority,
    lane: Option<usize>,
    done: i64,
    think: Mean,
}

#[derive(Clone, Copy)]
struct Turn {
    lane: usize,
    end: Option<i64>,
    sent: u64,
    looked: bool,
    owed: bool,
    who: Option<u64>,
    /// Until when, and whether that has passed.
    wait: Option<(i64, bool)>,
}

/// A request, its queue and process unless it was adopted, whether it is synchronous, and in flight.
type Owned = (RequestId, Option<(usize, usize)>, bool, bool);

struct Reference {
    set: Settings,
    lanes: Vec<Lane>,
    names: usize,
    moves: u64,
    /// All that ever lived, so that a turn can tell whose it was.
    processes: Vec<Process>,
    turn: Option<Turn>,
    /// What waits or is in flight.
    owned: Vec<Owned>,
    last_sync: Option<i64>,
    head: u64,
    /// Looks, the most in flight, whether there is a queue.
    device: (u32, usize, bool),
}

fn mix(total: u64, x: u64) -> u64 {
    let exact = (7 * u128::from(total)).min(u64::MAX.into()) + (256 * u128::from(x)).min(u64::MAX.into());
    (exact.min(u64::MAX.into()) as u64) / 8
}

fn rank(class: Class) -> u8 {
    match class {
        Class::RealTime => 0,
        Class::BestEffort => 1,
        Class::Idle => 2,
    }
}

impl Reference {
    fn new(set: Settings) -> Self {
        Reference {
            set,
            lanes: Vec::new(),
            names: 0,
            moves: 0,
            processes: Vec::new(),
            turn: None,
            owned: Vec::new(),
            last_sync: None,
            head: 0,
            device: (0, 0, true),
        }
    }

    fn lane(&self, name: usize) -> &Lane {
        self.lanes.iter().find(|lane| lane.name == name).unwrap()
    }

    fn lane_mut(&mut self, name: usize) -> &mut Lane {
        self.lanes.iter_mut().find(|lane| lane.name == name).unwrap()
    }

    fn is_turn_of(&self, name: usize) -> bool {
        self.turn.is_some_and(|turn| turn.lane == name)
    }

    fn busy(&self) -> i64 {
        self.lanes.iter().filter(|lane| !lane.by_arrival.is_empty()).count() as i64
    }

    fn flying(&self, sync: bool) -> usize {
        self.owned.iter().filter(|(_, _, own, flies)| *flies && *own == sync).count()
    }

    fn slice(&self, sync: bool, level: i64) -> i64 {
        let base = if sync { self.set.slice_sync.0.0 } else { self.set.slice_async.0.0 } as i64;
        base + base / 5 * (4 - level)
    }

    /// Queues that wait for the disk, the first one first.
    fn in_order(&self) -> Vec<usize> {
        let waits = |lane: &&Lane| !lane.by_arrival.is_empty() && !self.is_turn_of(lane.name);
        let mut lanes: Vec<&Lane> = self.lanes.iter().filter(waits).collect();
        lanes.sort_by_key(|lane| (rank(lane.key_class), lane.key, lane.moved));
        lanes.iter().map(|lane| lane.name).collect()
    }

    fn new_key(&self, name: usize, now: i64) -> i64 {
        let lane = self.lane(name);
        if lane.class == Class::Idle {
            let last = self.lanes.iter().filter(|lane| lane.key.is_some());
            let place = |lane: &&Lane| (rank(lane.key_class), lane.key);
            let others = last.filter(|lane| lane.name != name).max_by_key(place);
            let own = lane.key.map(|_| place(&lane));
            return 200 * MS
                + others
                    .filter(|other| own.is_none_or(|own| own < place(other)))
                    .map_or(now, |o| o.key.unwrap());
        }
        let longer = self.slice(true, 0) - self.slice(lane.sync, lane.level);
        now + (self.busy() - 1) * longer - lane.rest
    }

    fn set_key(&mut self, name: usize, key: i64) {
        self.moves += 1;
        let moved = self.moves;
        let lane = self.lane_mut(name);
        (lane.key, lane.key_class, lane.moved, lane.rest) = (Some(key), lane.class, moved, 0);
    }

    /// Of two the one to continue with; ties go to the first.
    fn better(&self, cx: Cx<'_>, one: Option<RequestId>, two: Option<RequestId>) -> Option<RequestId> {
        let (Some(a), Some(b)) = (one, two) else { return one.or(two) };
        let (head, reach) = (self.head, self.set.back_seek_max.0 * 2);
        let worth = |id: RequestId| {
            let s = cx[id].start.0;
            let way = if s >= head {
                (0, s - head, u64::MAX - s)
            } else if head - s <= reach {
                (0, (head - s).saturating_mul(self.set.back_seek_penalty.0), u64::MAX - s)
            } else {
                (1, s, 0)
            };
            (!cx[id].sync, !cx[id].metadata, way)
        };
        if worth(b) < worth(a) { two } else { one }
    }

    /// Takes a waiting request from its queue, and finds where to continue.
    fn pull(&mut self, cx: Cx<'_>, id: RequestId, name: usize) {
        let mut order = self.lane(name).by_address.clone();
        order.sort_by_key(|held| held.start);
        let at = order.iter().position(|held| held.id == id).unwrap();
        let before = at.checked_sub(1).map(|at| order[at].id);
        let behind = order.get(at + 1).or(order.first()).map(|held| held.id).filter(|other| *other != id);
        let next = self.better(cx, before, behind);
        let lane = self.lane_mut(name);
        if lane.next == Some(id) {
            lane.next = next;
        }
        lane.by_address.retain(|held| held.id != id);
        lane.by_arrival.retain(|held| *held != id);
        if lane.by_arrival.is_empty() {
            lane.key = None;
        }
    }

    /// The slice ends.
    fn end_turn(&mut self, now: i64, keep_rest: bool) {
        let Some(turn) = self.turn else { return };
        if let (true, Some(end)) = (keep_rest, turn.end) {
            self.lane_mut(turn.lane).rest = end - now;
        }
        if !self.lane(turn.lane).by_arrival.is_empty() {
            let key = self.new_key(turn.lane, now);
            self.set_key(turn.lane, key);
        }
        self.turn = None;
    }

    /// The timer.
    fn clock(&mut self, now: i64) {
        let Some(Turn { lane, end, wait: Some((until, false)), .. }) = self.turn else { return };
        if now < until {
            return;
        }
        self.turn.as_mut().unwrap().wait = Some((until, true));
        let over = end.is_some_and(|end| until >= end);
        if over || self.busy() > 0 && self.lane(lane).by_arrival.is_empty() {
            self.end_turn(now, false);
        }
    }
}

impl Scheduler for Reference {
    fn insert(&mut self, cx: Cx<'_>, id: RequestId) {
        let now = cx.now.0 as i64;
        self.clock(now);
        self.last_sync.get_or_insert(now);
        let request = cx[id];
        let who = self.process(now, &request);
        let name =
            if request.sync { self.own_lane(now, who, request) } else { self.common_lane(request.priority) };
        self.owned.push((id, Some((name, who)), request.sync, false));
        let expire = if request.sync { self.set.fifo_expire_sync } else { self.set.fifo_expire_async };
        let due = (request.arrival + expire.0).0 as i64;
        let lane = self.lane_mut(name);
        let was_empty = lane.by_arrival.is_empty();
        lane.by_arrival.push(id);
        lane.by_address.push(Held { id, start: request.start.0, due });
        if was_empty {
            let key = self.new_key(name, now);
            self.set_key(name, key);
        }
        let next = self.better(cx, self.lane(name).next, Some(id));
        self.lane_mut(name).next = next;
        self.learn(now, name, who, &request);
        if self.is_turn_of(name) {
            let turn = self.turn.as_mut().unwrap();
            turn.owed |= turn.wait.take().is_some();
        } else if self.goes_before(cx, id, name) {
            self.end_turn(now, true);
            let first = self.lane(self.in_order()[0]).key.unwrap();
            self.set_key(name, first - 1000 * MS);
        }
    }

    fn dispatch(&mut self, cx: Cx<'_>) -> Decision {
        self.clock(cx.now.0 as i64);
        if self.busy() == 0 { Decision::Idle } else { self.serve(cx) }
    }

    fn complete(&mut self, cx: Cx<'_>, id: RequestId) {
        let now = cx.now.0 as i64;
        self.clock(now);
        let (flying, waiting) =
            (self.flying(true) + self.flying(false), self.owned.iter().filter(|owned| !owned.3).count());
        self.device.1 = self.device.1.max(flying);
        if flying > 5 || waiting > 5 {
            self.device.0 += 1;
            if self.device.0 > 50 {
                self.device = (0, 0, self.device.1 >= 5);
            }
        }
        let at = self.owned.iter().position(|owned| owned.0 == id).unwrap();
        let (_, owner, sync, _) = self.owned.remove(at);
        if sync {
            self.last_sync = Some(now);
        }
        let Some((name, who)) = owner else { return };
        self.lane_mut(name).flying -= 1;
        if sync {
            self.processes[who].done = now;
        }
        if self.is_turn_of(name) {
            self.goes_on(cx, sync);
        }
    }

    fn remove(&mut self, cx: Cx<'_>, id: RequestId) {
        self.clock(cx.now.0 as i64);
        let at = self.owned.iter().position(|owned| owned.0 == id).unwrap();
        if let Some((name, _)) = self.owned.remove(at).1 {
            self.pull(cx, id, name);
        }
    }

    fn grown(&mut self, cx: Cx<'_>, id: RequestId) {
        let (name, _) = self.owner(id).unwrap();
        let lane = self.lane_mut(name);
        let at = lane.by_address.iter().position(|held| held.id == id).unwrap();
        if lane.by_address[at].start != cx[id].start.0 {
            let held = lane.by_address.remove(at);
            lane.by_address.push(Held { start: cx[id].start.0, ..held });
            let next = self.better(cx, self.lane(name).next, Some(id));
            self.lane_mut(name).next = next;
        }
    }

    fn absorbed(&mut self, cx: Cx<'_>, survivor: RequestId, other: RequestId) {
        let (name, others) = (self.owner(survivor).unwrap().0, self.owner(other).unwrap().0);
        let lane = self.lane_mut(name);
        if name == others {
            let due = |id: RequestId| lane.by_address.iter().find(|held| held.id == id).unwrap().due;
            let (own, earlier) = (due(survivor), due(other));
            if earlier < own {
                lane.by_address.iter_mut().find(|held| held.id == survivor).unwrap().due = earlier;
                lane.by_arrival.retain(|held| *held != survivor);
                let at = lane.by_arrival.iter().position(|held| *held == other).unwrap();
                lane.by_arrival.insert(at, survivor);
            }
        }
        self.grown(cx, survivor);
        self.remove(cx, other);
    }

    fn issuer_gone(&mut self, cx: Cx<'_>, who: Issuer) {
        self.clock(cx.now.0 as i64);
        self.leave(cx.now.0 as i64, who.0);
    }

    fn adopt(&mut self, cx: Cx<'_>, id: RequestId) {
        self.last_sync.get_or_insert(cx.now.0 as i64);
        self.owned.push((id, None, cx[id].sync, true));
    }

    fn may_merge(&self, _: Cx<'_>, id: RequestId, new: &Request) -> bool {
        let goes_to = if new.sync {
            self.processes.iter().find(|p| p.who == new.issuer.0 && !p.gone).and_then(|process| process.lane)
        } else {
            let alike = |lane: &&Lane| Self::is_common(lane, new.priority);
            self.lanes.iter().find(alike).map(|lane| lane.name)
        };
        goes_to.is_some() && goes_to == self.owner(id).map(|(name, _)| name)
    }
}
