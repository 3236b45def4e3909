//! `turns` once more: what waits is in one list, in order of arrival, and all else is counted from it.

mod bound;
mod people;
mod state;

use bound::Bound;
use people::People;
use state::{Held, Kind, Next, Party, Turn};

use core::cmp::Reverse;

use super::*;
use crate::positioning::{Curve, Surveyor};
use crate::request::Operation;
use crate::schedulers::idlewise::turns::{Settings, Turns};

impl Referenced for Turns {
    fn reference(setup: Setup<'_>, settings: Settings) -> Box<dyn Scheduler> {
        Box::new(Reference {
            target: settings.target.0.0,
            people: People::default(),
            came: 0,
            waiting: Vec::new(),
            flying: Vec::new(),
            turn: None,
            line: Vec::new(),
            pool_since: Instant::ZERO,
            writes_since: Instant::ZERO,
            spared: 0,
            last_writer: None,
            ways: [0, 0, 12_000_000],
            alone: false,
            held_back: Instant::ZERO,
            head: Sector(0),
            curve: setup.device.curve.clone(),
            surveyor: Surveyor::default(),
            bound: Bound::default(),
        })
    }
}

struct Reference {
    target: u64,
    people: People,
    /// How many have come.
    came: usize,
    /// In order of arrival; of two that a merge makes one, the place of the earlier.
    waiting: Vec<Held>,
    /// In order of dispatch.
    flying: Vec<Held>,
    turn: Option<Turn>,
    /// Streams that are ready for a turn, and since when.
    line: Vec<(usize, Instant)>,
    pool_since: Instant,
    writes_since: Instant,
    spared: u64,
    last_writer: Option<usize>,
    /// The mean time to get to a stream's read: while its turn goes on; as a turn begins, where it had been left because it
    /// thought; and as any other turn begins.
    ways: [u64; 3],
    /// The last request to go went to an idle drive.
    alone: bool,
    /// Until when the drive gets done with what it writes.
    held_back: Instant,
    head: Sector,
    curve: Curve,
    surveyor: Surveyor,
    bound: Bound,
}

/// Whether nobody waits for `request`.
fn is_idle_write(request: &Request) -> bool {
    request.operation != Operation::Read && !request.sync
}

impl Reference {
    fn expire(&self) -> Duration {
        Duration(self.target + self.target / 8)
    }

    fn holder(&self) -> Option<usize> {
        match self.turn?.party {
            Party::Stream(person) => Some(person),
            _ => None,
        }
    }

    fn any(&self, kind: Kind) -> bool {
        self.waiting.iter().any(|held| held.kind == kind)
    }

    fn any_of(&self, person: usize, kind: Kind, place: &[Held]) -> bool {
        place.iter().any(|held| held.person == person && held.kind == kind)
    }

    fn first_of(&self, person: usize) -> Option<RequestId> {
        let mine = |held: &&Held| held.person == person && held.kind == Kind::Stream;
        self.waiting.iter().filter(mine).min_by_key(|held| held.came).map(|held| held.id)
    }

    fn writers(&self) -> usize {
        let writes = self.waiting.iter().filter(|held| held.kind == Kind::Write);
        let mut writers: Vec<usize> = writes.map(|held| held.person).collect();
        writers.sort_unstable();
        writers.dedup();
        writers.len()
    }

    /// The oldest of all; of equals what somebody waits for.
    fn oldest(&self, cx: Cx<'_>) -> Option<RequestId> {
        let rank = |held: &&Held| (cx[held.id].arrival, held.kind == Kind::Write);
        self.waiting.iter().min_by_key(rank).map(|held| held.id)
    }

    fn overdue(&self, cx: Cx<'_>) -> Option<RequestId> {
        self.oldest(cx).filter(|id| cx.age(*id) >= self.expire())
    }

    fn choose(&self, cx: Cx<'_>) -> Next {
        let next = match cx.device.rotational {
            true => self.with_heads(cx),
            false => self.without_heads(),
        };
        let Some(id) = self.overdue(cx) else { return next };
        let goes = match next {
            _ if self.spared >= 32 => true,
            Next::Wait(None) => true,
            Next::Wait(Some(_)) => !is_idle_write(&cx[id]),
            Next::Send(_) | Next::Begin(..) => false,
        };
        if goes { Next::Send(id) } else { next }
    }

    /// What it takes longer to come back than to stay: soon, or after a round.
    fn return_costs(&self, soon: bool) -> u64 {
        self.ways[if soon { 1 } else { 2 }].saturating_sub(self.ways[0])
    }

    /// Only streams wait, and the first of them would not be waited for.
    fn only_thinkers(&self) -> bool {
        let first = self.line.first().map(|(person, _)| &self.people.all[*person].asks);
        first.is_some_and(|asks| !asks.worth(self.return_costs(true)))
            && !self.any(Kind::Pool)
            && !self.any(Kind::Write)
    }

    fn without_heads(&self) -> Next {
        if let Some(held) = self.waiting.iter().find(|held| held.kind != Kind::Write) {
            return Next::Send(held.id);
        }
        if self.bound.allows(self.writes_in_flight()) {
            Next::Send(self.waiting[0].id)
        } else {
            Next::Wait(None)
        }
    }

    fn with_heads(&self, cx: Cx<'_>) -> Next {
        if self.flying.first().is_some_and(|held| cx.now.since(held.since) >= Duration::from_ms(150)) {
            return Next::Wait(None);
        }
        let wanted = !self.line.is_empty() || self.any(Kind::Pool) || self.any(Kind::Write);
        if let Some(turn) = self.turn {
            let ends = wanted || self.holder().is_none();
            let over = ends && turn.until.is_some_and(|until| cx.now >= until);
            let next = if over { None } else { self.go_on(cx, turn) };
            if let Some(next) = next {
                return next;
            }
        }
        self.begin_next(cx)
    }

    fn go_on(&self, cx: Cx<'_>, turn: Turn) -> Option<Next> {
        match turn.party {
            Party::Pool => self.nearest(true).map(Next::Send),
            Party::Stream(person) => {
                if let Some(id) = self.first_of(person) {
                    let end = turn.until.filter(|end| cx.now < *end).unwrap_or(Instant::MAX);
                    let held_back = cx.now < self.held_back;
                    return Some(if held_back {
                        Next::Wait(Some(end.min(self.held_back)))
                    } else {
                        Next::Send(id)
                    });
                }
                if self.any_of(person, Kind::Stream, &self.flying) {
                    return Some(Next::Wait(turn.until));
                }
                let person = &self.people.all[person];
                let cost = self.return_costs(self.only_thinkers());
                let wait = if person.asks.worth(cost) { person.asks.wait() } else { 0 };
                let end = person.idle? + Duration(wait);
                let end = end.min(turn.until.unwrap_or(Instant::MAX));
                (cx.now < end).then_some(Next::Wait(Some(end)))
            }
            Party::Writes => {
                let id = self.upward()?;
                let owner = self.waiting.iter().find(|held| held.id == id)?.person;
                let in_order = |writer: &usize| {
                    let writes = self.any_of(*writer, Kind::Write, &self.flying);
                    writes && *writer != owner && self.people.all[*writer].writes.is_stream()
                };
                if !self.last_writer.as_ref().is_some_and(in_order) {
                    return Some(Next::Send(id));
                }
                let others = !self.line.is_empty() || self.any(Kind::Pool);
                (!others).then_some(Next::Wait(turn.until))
            }
        }
    }

    /// Whoever has been ready for longest; whose turn it was comes last.
    fn begin_next(&self, cx: Cx<'_>) -> Next {
        let mut ready: Vec<(Instant, Party)> = Vec::new();
        ready.extend(self.line.first().map(|(person, since)| (*since, Party::Stream(*person))));
        if self.any(Kind::Pool) {
            ready.push((self.pool_since, Party::Pool));
        }
        if self.any(Kind::Write) {
            ready.push((self.writes_since, Party::Writes));
        }
        let had = self.turn.map(|turn| turn.party);
        let next = ready.iter().min_by_key(|(since, party)| (Some(*party) == had, *since));
        let Some((_, party)) = next else { return Next::Wait(None) };
        let id = match party {
            Party::Stream(person) => self.first_of(*person),
            Party::Pool => self.nearest(true).or_else(|| self.nearest(false)),
            Party::Writes => {
                let oldest = self.waiting.iter().find(|held| held.kind == Kind::Write).map(|held| held.id);
                oldest.filter(|id| cx.age(*id).0 >= self.target / 2).or_else(|| self.upward())
            }
        };
        Next::Begin(*party, id.unwrap())
    }

    /// Of the pool, in the batch or not, the two next to the head: the one that is reached sooner.
    fn nearest(&self, batch: bool) -> Option<RequestId> {
        let pool = || self.waiting.iter().filter(|held| held.kind == Kind::Pool && held.batch == batch);
        let above = pool().filter(|held| held.start >= self.head).min_by_key(|held| (held.start, held.came));
        let below =
            pool().filter(|held| held.start < self.head).max_by_key(|held| (held.start, Reverse(held.came)));
        let both = above.into_iter().chain(below);
        both.min_by_key(|held| self.curve.expected(self.head, held.start)).map(|held| held.id)
    }

    /// The next write upward, or the lowest.
    fn upward(&self) -> Option<RequestId> {
        let writes = self.waiting.iter().filter(|held| held.kind == Kind::Write);
        writes.min_by_key(|held| (held.start < self.head, held.start, held.came)).map(|held| held.id)
    }

    fn begin(&mut self, now: Instant, party: Party) {
        let mut thinks = 0;
        if let Some(person) = self.holder() {
            let early = self.turn.and_then(|turn| turn.until).is_some_and(|until| now < until);
            let left = early && self.first_of(person).is_none() && self.only_thinkers();
            self.people.all[person].left = left;
            if !left {
                self.ways[1] -= self.ways[1] / 16;
            }
        }
        match self.turn.map(|turn| turn.party) {
            None => {}
            Some(Party::Pool) => self.pool_since = now,
            Some(Party::Writes) => self.writes_since = now,
            Some(Party::Stream(person)) if self.first_of(person).is_some() => self.line.push((person, now)),
            Some(Party::Stream(_)) => thinks = 1,
        }
        let sharing = self.line.len() + usize::from(self.any(Kind::Pool)) + self.writers() + thinks;
        let share = (self.target / sharing as u64).saturating_sub(self.return_costs(false));
        let length = share.min(self.target / 2).max(40_000_000);
        let counts = !matches!(party, Party::Stream(_));
        self.line.retain(|(person, _)| Party::Stream(*person) != party);
        self.turn = Some(Turn { party, length, until: counts.then_some(now + Duration(length)) });
        if party == Party::Pool && self.nearest(true).is_none() {
            self.waiting.iter_mut().for_each(|held| held.batch = true);
        }
    }

    fn send(&mut self, cx: Cx<'_>, id: RequestId) {
        self.spared = if self.overdue(cx) == Some(id) { 0 } else { self.spared + 1 };
        let held = self.take(id);
        if held.kind == Kind::Write {
            self.last_writer = Some(held.person);
        }
        self.alone = self.flying.is_empty();
        self.flying.push(Held { since: cx.now, ..held });
        self.surveyor.dispatched(cx.now, self.head, cx[id].start, cx[id].length.0);
        self.head = cx[id].end();
    }

    /// `id` waits no longer. A stream of which nothing waits is not in line.
    fn take(&mut self, id: RequestId) -> Held {
        let at = self.waiting.iter().position(|held| held.id == id).unwrap();
        let held = self.waiting.remove(at);
        if self.first_of(held.person).is_none() {
            self.line.retain(|(person, _)| *person != held.person);
        }
        held
    }

    /// `person` has one request less.
    fn settle(&mut self, now: Instant, person: usize) {
        if !self.waiting.iter().chain(&self.flying).any(|held| held.person == person) {
            self.people.all[person].idle = Some(now);
        }
    }

    fn writes_in_flight(&self) -> u64 {
        self.flying.iter().filter(|held| held.kind == Kind::Write).count() as u64
    }
}

impl Scheduler for Reference {
    fn insert(&mut self, cx: Cx<'_>, id: RequestId) {
        let request = &cx[id];
        let person = self.people.asking(request, self.holder());
        let kind = if is_idle_write(request) {
            self.people.writes(person, request);
            Kind::Write
        } else {
            self.people.asks(cx.now, person, request);
            let in_turn = request.operation == Operation::Read || cx.device.depth == 1;
            if in_turn && self.people.all[person].asks.is_stream() { Kind::Stream } else { Kind::Pool }
        };
        match kind {
            Kind::Stream => {
                let known = self.line.iter().any(|(held, _)| *held == person);
                if !known && self.holder() != Some(person) {
                    self.line.push((person, cx.now));
                }
            }
            Kind::Pool if !self.any(kind) => self.pool_since = cx.now,
            Kind::Write if !self.any(kind) => self.writes_since = cx.now,
            Kind::Pool | Kind::Write => {}
        }
        self.waiting.push(Held {
            id,
            person,
            kind,
            start: request.start,
            came: self.came,
            batch: false,
            since: cx.now,
        });
        self.came += 1;
    }
    fn dispatch(&mut self, cx: Cx<'_>) -> Decision {
        let Some(oldest) = self.oldest(cx) else { return Decision::Idle };
        let id = match self.choose(cx) {
            Next::Wait(until) => {
                let due = cx[oldest].arrival + self.expire();
                // If it is overdue and does not go, what is waited for ends first.
                let due = if due > cx.now { due } else { Instant::MAX };
                return Decision::WaitUntil(until.map_or(due, |until| until.min(due)));
            }
            Next::Send(id) => id,
            Next::Begin(party, id) => {
                self.begin(cx.now, party);
                id
            }
        };
        self.send(cx, id);
        Decision::Dispatch(id)
    }
    fn complete(&mut self, cx: Cx<'_>, id: RequestId) {
        let at = self.flying.iter().position(|held| held.id == id).unwrap();
        let held = self.flying.remove(at);
        let read = cx[id].operation == Operation::Read;
        if read {
            self.bound.measure(cx.now.0, cx.now.since(held.since).0, self.writes_in_flight());
        }
        self.settle(cx.now, held.person);
        let measured = self.surveyor.completed(cx.now, &mut self.curve);
        if let Some(turn) = &mut self.turn
            && held.kind == Kind::Stream
            && turn.party == Party::Stream(held.person)
        {
            let mut which = 0;
            if turn.until.is_none() {
                turn.until = Some(cx.now + Duration(turn.length));
                which = if self.people.all[held.person].left { 1 } else { 2 };
            } else if read && cx.device.depth > 1 && self.alone && self.flying.is_empty() {
                let took = cx.now.since(held.since);
                if took.0 > 2 * self.ways[2] {
                    self.held_back = cx.now + Duration(2 * took.0);
                }
            }
            if let (Some(time), true) = (measured, read) {
                self.ways[which] = (31 * self.ways[which] + time.0) / 32;
            }
        }
    }
    fn remove(&mut self, cx: Cx<'_>, id: RequestId) {
        let held = self.take(id);
        self.settle(cx.now, held.person);
    }
    fn grown(&mut self, cx: Cx<'_>, id: RequestId) {
        let held = self.waiting.iter_mut().find(|held| held.id == id).unwrap();
        if held.kind != Kind::Stream && held.start != cx[id].start {
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
        self.people.exits(who.0);
    }
    fn adopt(&mut self, cx: Cx<'_>, id: RequestId) {
        let person = self.people.asking(&cx[id], None);
        self.flying.push(Held {
            id,
            person,
            kind: Kind::Pool,
            start: cx[id].start,
            came: 0,
            batch: false,
            since: cx.now,
        });
        self.surveyor.adopted();
    }
    fn may_merge(&self, cx: Cx<'_>, id: RequestId, new: &Request) -> bool {
        cx[id].sync == new.sync
    }
}
