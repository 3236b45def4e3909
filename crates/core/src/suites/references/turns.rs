//! Slow reference for `turns`, for the oracle suite: what waits is in one list, in order of arrival, and all else
//! is counted from it.

mod buffer;
mod decide;
mod leaving;
mod line;
mod processes;
mod rounds;
mod shares;
mod state;
mod utilization;
mod write_limit;

use buffer::Buffer;
use line::Line;
use processes::Processes;
use shares::Purses;
use state::{Held, Kind, Next, Party, Turn};
use utilization::Utilization;
use write_limit::WriteLimit;

use core::cmp::Reverse;

use super::*;
use crate::learned::{Learned, PositioningMeter};
use crate::request::{Class, Operation};
use crate::schedulers::idlewise::turns::{Settings, Turns};

impl Referenced for Turns {
    fn reference(setup: Setup<'_>, settings: Settings) -> Box<dyn Scheduler> {
        Box::new(Reference {
            target: settings.target.0.0,
            processes: Processes::default(),
            came: 0,
            waiting: Vec::new(),
            flying: Vec::new(),
            turn: None,
            line: Line::default(),
            pool_since: Instant::ZERO,
            writes_since: Instant::ZERO,
            reads_gone: 0,
            went: [(0, None); 2],
            purses: Purses::new(),
            poor: Vec::new(),
            rich_until: Instant::ZERO,
            real_time_until: Instant::ZERO,
            done: Instant::ZERO,
            idle_from: Instant::ZERO,
            last_writer: None,
            ways: [0, 0, 12_000_000, 12_000_000],
            size: 0,
            stayed: false,
            buffer: Buffer::new(),
            utilization: Utilization::default(),
            head: Sector(0),
            learned: setup.device.learned.clone(),
            meter: PositioningMeter::default(),
            bound: WriteLimit::default(),
        })
    }
}

struct Reference {
    target: u64,
    processes: Processes,
    /// How many have come.
    came: usize,
    /// In order of arrival; of two that a merge makes one, the place of the earlier.
    waiting: Vec<Held>,
    /// In order of dispatch.
    flying: Vec<Held>,
    turn: Option<Turn>,
    line: Line,
    pool_since: Instant,
    writes_since: Instant,
    /// Reads since the last write that somebody waits for.
    reads_gone: u64,
    /// How many have gone since one went that was overdue, and when that was; the same of the idle class.
    went: [(u64, Option<Instant>); 2],
    purses: Purses,
    /// Who has nothing left and something that waits, in the order in which that was seen.
    poor: Vec<usize>,
    /// Until when somebody is waited for who has something left, and somebody of the real-time class.
    rich_until: Instant,
    real_time_until: Instant,
    /// When the drive was last done with anything, and from when on the idle class may ask.
    done: Instant,
    idle_from: Instant,
    last_writer: Option<usize>,
    /// The mean time to get to a stream's read: while its turn continues; as a turn begins, where it had been left because it
    /// thought; and as any other turn begins. The last one is the time of a read in a batch.
    ways: [u64; 4],
    /// The mean length of the reads in batches, in sixteenths of a sector.
    size: u64,
    /// Somebody went on in this turn.
    stayed: bool,
    buffer: Buffer,
    utilization: Utilization,
    head: Sector,
    learned: Learned,
    meter: PositioningMeter,
    bound: WriteLimit,
}

/// Whether nobody waits for `request`.
fn is_idle_write(request: &Request) -> bool {
    request.operation != Operation::Read && !request.sync
}

impl Reference {
    fn expire(&self) -> Duration {
        Duration((self.target + self.target / 8).max(200_000_000))
    }

    fn holder(&self) -> Option<usize> {
        match self.turn?.party {
            Party::Stream(process) => Some(process),
            _ => None,
        }
    }

    /// The oldest, of the idle class or not; ties go to what somebody waits for.
    fn oldest(&self, cx: Cx<'_>, idle: bool) -> Option<RequestId> {
        let write = |held: &&Held| cx[held.id].operation != Operation::Read;
        let rank = |held: &&Held| (cx[held.id].arrival, held.kind == Kind::Write, !idle && write(held));
        let such = |held: &&Held| (held.kind == Kind::Idle) == idle;
        self.waiting.iter().filter(such).min_by_key(rank).map(|held| held.id)
    }

    /// The longest turn, and the longest that the drive may have anything while more goes there.
    fn longest(&self) -> Duration {
        Duration((self.target / 2).max(40_000_000))
    }

    fn begin(&mut self, cx: Cx<'_>, party: Party) {
        let now = cx.now;
        let mut thinks = 0;
        if let Some(process) = self.holder() {
            let early = self.turn.and_then(|turn| turn.until).is_none_or(|until| now < until);
            let left = early && self.first_of(process).is_none() && self.next_thinker(cx).is_some();
            self.processes.all[process].left = left;
            if !left {
                self.ways[1] -= self.ways[1] / 16;
            }
            if !core::mem::take(&mut self.stayed) {
                self.ways[0] -= self.ways[0] / 256;
                self.learned.forget_transfer();
            }
        }
        match self.turn.map(|turn| turn.party) {
            None => {}
            Some(Party::Pool) => self.pool_since = now,
            Some(Party::Writes) => self.writes_since = now,
            Some(Party::Stream(process)) if self.first_of(process).is_some() => match self.may(process) {
                true => self.line.push(process, now, self.thinks(cx, process)),
                false => self.is_poor(process),
            },
            Some(Party::Stream(_)) => thinks = 1,
        }
        let sharing = self.line.ready.len() + usize::from(self.any(Kind::Pool)) + self.writers() + thinks;
        let share = (self.target / sharing.max(1) as u64).saturating_sub(self.return_costs(false));
        let left = match party {
            Party::Stream(process) => Some(self.processes.all[process].purse.left),
            Party::Writes => Some(self.purses.writes),
            Party::Pool => None,
        };
        let share = left.filter(|_| self.purses.on).map_or(share, |left| left.max(0) as u64);
        let length = share.max(40_000_000).min(self.longest().0);
        let counts = !matches!(party, Party::Stream(_));
        let stream = if let Party::Stream(process) = party { Some(process) } else { None };
        let again = self.line.begins(now, stream, length, self.longest().0);
        if let Some(process) = stream {
            self.processes.all[process].left &= again;
        }
        self.buffer.turn_begins();
        self.utilization.turn_begins(now.0);
        self.turn = Some(Turn { party, length, until: counts.then_some(now + Duration(length)) });
        if party == Party::Pool && self.nearest(true).is_none() {
            self.waiting.iter_mut().for_each(|held| held.batch = true);
        }
    }

    fn send(&mut self, cx: Cx<'_>, id: RequestId) {
        let overdue = self.overdue(cx, false) == Some(id);
        let held = self.take(id);
        for (which, such) in [overdue, held.kind == Kind::Idle].into_iter().enumerate() {
            self.went[which].0 += 1;
            if such {
                self.went[which] = (0, Some(cx.now));
            }
        }
        let stream_writes = held.kind == Kind::Stream && cx[id].operation == Operation::Write;
        if held.kind == Kind::Write || stream_writes {
            self.buffer.writes(cx[id].length.0.into());
        }
        if held.kind == Kind::Write {
            self.last_writer = Some(held.process);
        } else if cx[id].operation == Operation::Read {
            self.reads_gone += 1;
        } else {
            self.reads_gone = 0;
        }
        self.flying.push(Held { since: cx.now, ..held });
        self.meter.dispatched(cx.now, cx[id].start, cx[id].length);
        self.head = cx[id].end();
    }

    /// `id` waits no longer. A stream of which nothing waits is not in line.
    fn take(&mut self, id: RequestId) -> Held {
        let at = self.waiting.iter().position(|held| held.id == id).unwrap();
        let held = self.waiting.remove(at);
        if self.first_of(held.process).is_none() {
            self.line.leave(held.process);
            if !self.any_of(held.process, Kind::Poor, &self.waiting) {
                self.poor.retain(|process| *process != held.process);
            }
        }
        held
    }

    /// `process` has one request less, of `kind`. `done`: the drive was done with it.
    fn settle(&mut self, now: Instant, process: usize, kind: Kind, done: bool) {
        let away = !self.waiting.iter().chain(&self.flying).any(|held| held.process == process);
        if away {
            self.processes.all[process].idle = Some(now);
        }
        let who = &self.processes.all[process];
        let Some(soon) = who.asks.soon().filter(|_| done) else { return };
        if kind == Kind::RealTime && away {
            self.real_time_until = now + Duration(soon);
        }
        if kind.costs() && who.purse.left > 0 && !self.present().contains(&process) {
            self.rich_until = self.rich_until.max(now + Duration(soon));
        }
    }
}

impl Scheduler for Reference {
    fn insert(&mut self, cx: Cx<'_>, id: RequestId) {
        let request = &cx[id];
        let process = self.processes.asking(request, self.holder());
        if !is_idle_write(request) {
            self.processes.asks(cx.now, process, request);
        }
        let kind = match request.priority.class {
            Class::RealTime => Kind::RealTime,
            Class::Idle => Kind::Idle,
            Class::BestEffort if is_idle_write(request) => {
                self.processes.writes(process, request);
                Kind::Write
            }
            Class::BestEffort => {
                self.counts(cx, id, process);
                let queue = cx.device.depth > 1;
                let in_turn =
                    !queue || self.worth(cx, process, false).is_some() || self.holder() == Some(process);
                match self.processes.all[process].asks.is_stream() {
                    true if in_turn => Kind::Stream,
                    _ if self.may(process) => Kind::Pool,
                    _ => Kind::Poor,
                }
            }
        };
        match kind {
            Kind::Stream => {
                if self.holder() != Some(process) && !self.may(process) {
                    self.is_poor(process);
                } else if self.holder() != Some(process) {
                    self.line.push(process, cx.now, self.thinks(cx, process));
                }
            }
            Kind::Poor => self.is_poor(process),
            Kind::Pool if !self.any(kind) => self.pool_since = cx.now,
            Kind::Write if !self.any(kind) => self.writes_since = cx.now,
            Kind::Pool | Kind::Write | Kind::RealTime | Kind::Idle => {}
        }
        self.waiting.push(Held {
            id,
            process,
            kind,
            start: request.start,
            came: self.came,
            batch: false,
            since: cx.now,
        });
        self.came += 1;
    }
    fn dispatch(&mut self, cx: Cx<'_>) -> Decision {
        if self.waiting.is_empty() {
            return Decision::Idle;
        }
        let mut next = self.choose(cx);
        if matches!(next, Next::Round) {
            self.begin_round(cx);
            next = self.choose(cx);
        }
        let until = match next {
            Next::Send(id) => Err(id),
            Next::Begin(party, id) => {
                self.begin(cx, party);
                Err(id)
            }
            Next::Wait(until) => Ok(until),
            Next::Round => Ok(None),
        };
        let id = match until {
            Err(id) => id,
            Ok(until) => {
                let due = self.oldest(cx, false).map(|oldest| cx[oldest].arrival + self.expire());
                // If it is overdue and does not go, what is waited for ends first.
                let stuck = self.flying.first().filter(|_| cx.device.rotational && due.is_some());
                let stuck = stuck.map(|held| held.since + self.longest()).filter(|time| *time > cx.now);
                let due = due.filter(|due| *due > cx.now).or(stuck);
                let both = until.into_iter().chain(due).min();
                return both.map_or(Decision::Idle, Decision::WaitUntil);
            }
        };
        self.send(cx, id);
        Decision::Dispatch(id)
    }
    fn complete(&mut self, cx: Cx<'_>, id: RequestId) {
        let at = self.flying.iter().position(|held| held.id == id).unwrap();
        let held = self.flying.remove(at);
        self.processes.is_done(cx.now, &held);
        let read = cx[id].operation == Operation::Read;
        self.measure_flash(cx, &held);
        let soon = cx.now.since(held.since).0 < self.ways[2] / 4;
        self.buffer.unwritten +=
            u64::from(cx[id].operation == Operation::Write && cx.device.depth > 1 && soon);
        let busy = self.pays(cx.now, &held);
        let turn =
            self.turn.filter(|turn| held.kind == Kind::Stream && turn.party == Party::Stream(held.process));
        match turn.is_some_and(|turn| turn.until.is_none()) {
            true => self.utilization.first_is_done(cx.now.0),
            false => self.utilization.busy(busy, turn.is_some()),
        }
        self.settle(cx.now, held.process, held.kind, true);
        let knows = self.learned.knows_transfer();
        let at_head = self.meter.went_on();
        let measured = self.meter.completed(cx.now, &mut self.learned);
        let measured = measured.map(|time| if knows { time.0 } else { cx.now.since(held.since).0 });
        if held.kind == Kind::Pool && read && cx.device.depth > 1 {
            self.learn_of_batch(cx[id].length.0.into(), held.process, busy, measured);
        }
        let left = self.processes.all[held.process].left;
        if held.kind == Kind::Stream && left && read && self.holder() != Some(held.process) {
            self.learn(1, measured.unwrap_or(busy));
        }
        if let Some(turn) = &mut self.turn
            && held.kind == Kind::Stream
            && turn.party == Party::Stream(held.process)
        {
            let first = turn.until.is_none();
            if first {
                let ends = cx.now + Duration(turn.length);
                turn.until = self.line.first_is_done(cx.now).map(|until| until.min(ends)).or(Some(ends));
            } else if !self.purses.on && self.utilization.is_low(cx.now.0, turn.length) {
                turn.until = turn.until.map(|until| until.min(cx.now));
            }
            if !first && read {
                let time = self.buffer.since(cx.now);
                self.processes.all[held.process].asks.reads(cx[id].length.0.into(), time);
            }
            let (sectors, continues) = (cx[id].length.0.into(), read && !first && at_head);
            let took = cx.now.since(held.since).0;
            if !continues {
                self.buffer.begins(cx.now);
            } else if self.buffer.reads(cx.now, sectors, took, self.ways[2]) {
                if cx.device.depth > 1 {
                    self.buffer.held_back = cx.now + Duration(2 * took);
                    self.utilization.busy(2 * took, true);
                    turn.until = turn.until.map(|until| until + Duration(2 * took));
                }
                return;
            }
            let which = if !first {
                0
            } else if left {
                1
            } else {
                2
            };
            let time = if which == 1 { measured.or(Some(busy)) } else { measured };
            if let (Some(time), true) = (time, read) {
                self.learn(which, time);
            }
        }
    }
    fn remove(&mut self, cx: Cx<'_>, id: RequestId) {
        let held = self.take(id);
        self.settle(cx.now, held.process, held.kind, false);
    }
    fn grown(&mut self, cx: Cx<'_>, id: RequestId) {
        let held = self.waiting.iter_mut().find(|held| held.id == id).unwrap();
        if ![Kind::Stream, Kind::Poor].contains(&held.kind) && held.start != cx[id].start {
            held.came = self.came;
            self.came += 1;
        }
        held.start = cx[id].start;
    }
    fn absorbed(&mut self, cx: Cx<'_>, survivor: RequestId, other: RequestId) {
        let [kept, taken] =
            [survivor, other].map(|id| self.waiting.iter().position(|held| held.id == id).unwrap());
        if taken < kept {
            let held = self.waiting.remove(kept);
            self.waiting.insert(taken, held);
        }
        self.grown(cx, survivor);
        self.remove(cx, other);
    }
    fn issuer_gone(&mut self, _: Cx<'_>, who: Issuer) {
        self.processes.exits(who.0);
    }
    fn adopt(&mut self, cx: Cx<'_>, id: RequestId) {
        let process = self.processes.asking(&cx[id], None);
        self.counts(cx, id, process);
        self.flying.push(Held {
            id,
            process,
            kind: Kind::Pool,
            start: cx[id].start,
            came: 0,
            batch: false,
            since: cx.now,
        });
        self.meter.adopted();
    }
    fn may_merge(&self, cx: Cx<'_>, id: RequestId, new: &Request) -> bool {
        cx[id].sync == new.sync && cx[id].priority.class == new.priority.class
    }
}
