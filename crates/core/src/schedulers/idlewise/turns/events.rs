//! Arrivals, dispatches and completions, and what all parts learn of them.

use super::actors::Actor;
use super::heads::Heads;
use super::next::Next;
use super::round::{Party, Wanted};
use super::settings::SHORTEST;
use super::shares::weigh;
use super::waiting::{Class, is_async, may_merge};
use crate::collections::Place;
use crate::learned::{Learned, Way};
use crate::request::{self, Operation, Priority, Request};
use crate::scheduler::{Cx, Decision, Scheduler};
use crate::units::{Instant, Issuer, RequestId};

/// Rounds of shares that begin at once until somebody who waits owes nothing; then debts are forgotten.
const ROUNDS: u32 = 64;

impl Heads {
    /// How `id`, which the actor at `place` issues, is served.
    fn class_of(&mut self, cx: Cx<'_>, id: RequestId, place: Place) -> Class {
        let request = &cx[id];
        if !is_async(request) {
            self.actors.issues(cx.now, place, request);
        }
        match request.priority.class {
            request::Class::RealTime => return Class::Urgent,
            request::Class::Idle => return Class::Idle,
            request::Class::BestEffort if is_async(request) => {
                self.actors.writes(place, request);
                return Class::Async;
            }
            request::Class::BestEffort => {}
        }
        self.asks(cx, id, place);
        let actor = self.actors.get(place);
        // A drive with a queue sorts what it has: a stream that is not worth waiting for is not worth an empty queue either.
        let turns = cx.device.depth == 1 || self.round.holder() == Some(place) || self.pays(cx, place, false);
        match turns && actor.habits.streams() {
            true => Class::Stream,
            false if self.shares.may(&actor.purse) => Class::Pool,
            false => Class::Held,
        }
    }

    /// The actor at `place` has `id` waiting or in flight from now on, which somebody waits for.
    fn asks(&mut self, cx: Cx<'_>, id: RequestId, place: Place) {
        let request = &cx[id];
        // A file system gives its journal a level of its own accord: nobody has asked for that.
        let journal = request.metadata && request.operation == Operation::Write;
        let priority = if journal { Priority::default() } else { request.priority };
        let weight = weigh(cx.weight(request.issuer), priority);
        let purse = &mut self.actors.get_mut(place).purse;
        self.shares.asks(cx.now, purse, weight, self.tunables.target.0);
        if !self.shares.are_on() && self.shares.held() > 0 {
            self.release(cx, true);
        }
    }

    /// A round of shares begins, after which somebody is ready for a turn.
    fn begin_round(&mut self, cx: Cx<'_>) {
        for _ in 0..ROUNDS {
            self.shares.begin(self.tunables.target.0, self.actors.writers());
            for id in self.in_flight.iter() {
                let place = self.actors.owner(id);
                self.shares.fill(&mut self.actors.get_mut(place).purse);
            }
            if let Some(place) = self.round.holder() {
                self.shares.fill(&mut self.actors.get_mut(place).purse);
            }
            self.release(cx, false);
            if self.round.next(cx.now, self.wanted()).is_some() || self.ready_holder().is_some() {
                return;
            }
        }
        self.shares.forgive_writes();
        if let Some(place) = self.round.holder() {
            self.shares.forgive(&mut self.actors.get_mut(place).purse);
        }
        self.release(cx, true);
    }

    /// Those that have disk time left, or `all`, are held no longer.
    fn release(&mut self, cx: Cx<'_>, all: bool) {
        let pooled = !self.pool.is_empty();
        for _ in 0..self.shares.held() {
            let Some(place) = self.shares.first_held() else { break };
            self.shares.release(place);
            let actor = self.actors.get_mut(place);
            self.shares.fill(&mut actor.purse);
            if !all && !self.shares.may(&actor.purse) {
                self.shares.hold(place, cx.now);
                continue;
            }
            while let Some(id) = self.links.pop_front(&mut actor.lists.held) {
                self.waiting.pools(id);
                self.pool.insert(cx, id);
            }
            if !actor.lists.stream.is_empty() {
                let thinks = !self.pays(cx, place, true);
                self.round.stream_is_ready(cx.now, place, thinks);
            }
        }
        if !pooled && !self.pool.is_empty() {
            self.round.pool_is_ready(cx.now);
        }
    }

    /// The turn ends, and another begins.
    fn begin(&mut self, cx: Cx<'_>, party: Party) {
        let now = cx.now;
        let holder = self.round.holder();
        let wants = holder.is_some_and(|place| !self.actors.get(place).lists.stream.is_empty());
        let may = holder.is_some_and(|place| self.shares.may(&self.actors.get(place).purse));
        if let Some(place) = holder {
            let early = self.round.until().is_none_or(|until| now < until);
            let left = early && self.is_among_thinkers(cx);
            self.actors.get_mut(place).left = left;
            self.learned.turn_ends(left);
        }
        let thinks = wants && holder.is_some_and(|place| !self.pays(cx, place, true));
        self.round.end(now, wants && may, thinks);
        if let Some(place) = holder.filter(|_| wants && !may) {
            self.shares.hold(place, now);
        }
        let wanted = Wanted { writers: self.actors.writers(), ..self.wanted() };
        let parties = self.round.parties(wanted, holder.is_some() && !wants);
        let share = self.tunables.target.0 / parties.max(1) as u64;
        let left = match party {
            Party::Stream(place) => self.shares.left(&self.actors.get(place).purse),
            Party::Writes => self.shares.left_to_write(),
            Party::Pool | Party::Nobody => None,
        };
        let length =
            left.unwrap_or(share - self.learned.leaving.cost(false)).clamp(SHORTEST, self.tunables.longest());
        let again = self.round.begin(now, party, length, self.tunables.longest());
        self.buffer.begins();
        self.utilization.turn_begins(now);
        match party {
            Party::Stream(place) => {
                self.actors.hold(place);
                self.actors.get_mut(place).left &= again;
            }
            Party::Pool => self.pool.begin(),
            Party::Writes | Party::Nobody => {}
        }
        if let Some(holder) = holder {
            self.actors.release(holder);
        }
    }

    /// `id` goes to the device. `oldest`: nothing that is not of the idle class has waited for longer.
    fn send(&mut self, cx: Cx<'_>, id: RequestId, oldest: bool) {
        let (place, class) = (self.actors.owner(id), self.waiting.class(id));
        self.overdue.goes(cx, id, class, oldest, &self.tunables);
        self.forget(cx, id, place, class);
        self.actors.goes(place, class);
        if class == Class::Async {
            self.writer = Some(place);
        }
        if class == Class::Async || class == Class::Stream && cx[id].operation == Operation::Write {
            self.buffer.writes(cx[id].length);
        }
        self.classes.sends(class);
        self.in_flight.push(cx.now, id);
        self.pool.sends(cx, id);
        self.head.goes_to(&cx[id]);
    }

    /// `id`, of `class` and of the actor at `place`, waits no longer.
    fn forget(&mut self, cx: Cx<'_>, id: RequestId, place: Place, class: Class) {
        let lists = &mut self.actors.get_mut(place).lists;
        self.waiting.take(cx, id, class);
        match class {
            Class::Stream => self.links.remove(&mut lists.stream, id),
            Class::Held => self.links.remove(&mut lists.held, id),
            Class::Pool => return self.pool.remove(id),
            Class::Async => return self.actors.waits_no_longer(place),
            Class::Urgent | Class::Idle => return,
        }
        if lists.stream.is_empty() {
            self.round.leave(place);
        }
        if lists.is_empty() {
            self.shares.release(place);
        }
    }

    /// A request of `class` of the actor at `place` is no more. `soon`: the next may come soon.
    fn closes(&mut self, now: Instant, place: Place, class: Class, soon: bool) {
        let Actor { purse, habits, .. } = self.actors.get_mut(place);
        let expected = || habits.expected().filter(|_| soon);
        match class {
            Class::Stream | Class::Pool | Class::Held => self.shares.leaves(now, purse, expected),
            Class::Urgent => {
                if let Some(wait) = expected().filter(|_| self.actors.is_away(place)) {
                    self.classes.expect(now, wait);
                }
            }
            Class::Async | Class::Idle => {}
        }
    }
}

// The three that each request makes are not inlined: flash, which shares the call, would save registers for them.
impl Scheduler for Heads {
    #[inline(never)]
    fn insert(&mut self, cx: Cx<'_>, id: RequestId) {
        let place = self.actors.actor_of(&cx[id], self.round.holder());
        let class = self.class_of(cx, id, place);
        let before = (!self.pool.is_empty(), self.waiting.any_async());
        let actor = self.actors.enters(place, id);
        self.waiting.insert(cx, id, class);
        match class {
            Class::Stream => self.links.push_back(&mut actor.lists.stream, id),
            Class::Held => self.links.push_back(&mut actor.lists.held, id),
            Class::Pool => self.pool.insert(cx, id),
            Class::Async | Class::Urgent | Class::Idle => {}
        }
        let may = self.shares.may(&actor.purse);
        match class {
            Class::Stream if may || self.round.holder() == Some(place) => {
                let thinks = !self.pays(cx, place, true);
                self.round.stream_is_ready(cx.now, place, thinks);
            }
            Class::Stream | Class::Held => self.shares.hold(place, cx.now),
            Class::Pool if !before.0 => self.round.pool_is_ready(cx.now),
            Class::Async if !before.1 => self.round.writes_are_ready(cx.now),
            Class::Pool | Class::Async | Class::Urgent | Class::Idle => {}
        }
    }

    #[inline(never)]
    fn dispatch(&mut self, cx: Cx<'_>) -> Decision {
        let oldest = self.waiting.oldest(cx);
        if oldest.or(self.waiting.oldest_idle()).is_none() {
            return Decision::Idle;
        }
        let mut next = self.choose(cx, oldest);
        if matches!(next, Next::Round) {
            self.begin_round(cx);
            next = self.choose(cx, oldest);
        }
        let until = match next {
            Next::Begin(id, party) => {
                self.begin(cx, party);
                self.send(cx, id, oldest == Some(id));
                return Decision::Dispatch(id);
            }
            Next::Send(id) => {
                self.send(cx, id, oldest == Some(id));
                return Decision::Dispatch(id);
            }
            Next::Wait(until) => Some(until),
            Next::Hold | Next::Round => None,
        };
        // Whatever is waited for, the oldest may be what goes when it is overdue, or when the drive gets stuck.
        let stuck = self.in_flight.oldest().map(|sent| sent + self.tunables.longest());
        let due = oldest.map(|id| cx[id].arrival + self.tunables.expire());
        let due = [due, stuck].into_iter().flatten().find(|time| *time > cx.now).filter(|_| oldest.is_some());
        until.into_iter().chain(due).min().map_or(Decision::Idle, Decision::WaitUntil)
    }

    #[inline(never)]
    fn complete(&mut self, cx: Cx<'_>, id: RequestId) {
        let (request, class) = (&cx[id], self.waiting.class(id));
        let sent = self.in_flight.take(id);
        let service = cx.now.since(sent);
        let read = request.operation == Operation::Read;
        if request.operation == Operation::Write && cx.device.depth > 1 {
            self.buffer.takes(service, self.learned.leaving.way());
        }
        let place = self.actors.leaves(cx.now, id, class);
        let busy = self.shares.busy(cx.now, sent);
        match class {
            Class::Stream | Class::Pool | Class::Held => {
                self.shares.charge(&mut self.actors.get_mut(place).purse, busy);
            }
            Class::Async => self.shares.charge_writes(busy),
            Class::Urgent | Class::Idle => {}
        }
        let in_turn = class == Class::Stream && self.round.holder() == Some(place);
        match in_turn && self.round.until().is_none() {
            true => self.utilization.stream_begins(cx.now),
            false => self.utilization.busy(busy, in_turn),
        }
        self.classes.completes(cx.now, class);
        self.closes(cx.now, place, class, true);
        let knows = self.learned.knows_transfer();
        let at_head = self.pool.went_on();
        let measured = self.pool.completed(cx, &mut self.learned).filter(|_| read);
        let measured = measured.map(|time| if knows { time } else { service });
        if class == Class::Pool && read && cx.device.depth > 1 {
            self.learned.leaving.learn(Way::Batch, busy);
            self.pool.reads(request.length);
            if self.actors.get(place).habits.streams() {
                self.learned.leaving.learn(Way::Late, measured.unwrap_or(busy));
            }
        }
        if class != Class::Stream {
            return;
        }
        let left = self.actors.get(place).left;
        if self.round.holder() != Some(place) {
            // The turn ended while the drive had this request, because the stream thinks.
            if left && read {
                self.learned.leaving.learn(Way::Early, measured.unwrap_or(busy));
            }
            return;
        }
        let first = self.round.is_done(cx.now);
        if !first && !self.shares.are_on() && self.utilization.is_low(cx.now, self.round.length()) {
            self.round.cut(cx.now);
        }
        if !first && read {
            let time = self.buffer.since_last(cx.now);
            self.actors.get_mut(place).habits.reads(request.length, time);
        }
        let usual = self.learned.leaving.way();
        let continues = !first && read && at_head;
        if self.buffer.reads(cx.now, request.length, service, continues, usual) {
            // Such a time tells nothing of staying.
            if cx.device.depth > 1 {
                let pause = self.buffer.pause(cx.now, service);
                self.round.prolong(pause);
                self.utilization.busy(pause, true);
            }
            return;
        }
        // Beside other requests in the drive, the way cannot be told from the transfer.
        let (way, time) = match first {
            false => (Way::Staying, measured),
            true if left => (Way::Early, measured.or(read.then_some(busy))),
            true => (Way::Late, measured),
        };
        if let Some(time) = time {
            self.learned.leaving.learn(way, time);
        }
    }

    fn remove(&mut self, cx: Cx<'_>, id: RequestId) {
        let (place, class) = (self.actors.owner(id), self.waiting.class(id));
        self.forget(cx, id, place, class);
        self.actors.withdraws(cx.now, place);
        self.closes(cx.now, place, class, false);
    }

    fn grown(&mut self, cx: Cx<'_>, id: RequestId) {
        self.waiting.grown(cx, id);
        if self.waiting.class(id) == Class::Pool {
            self.pool.grown(cx, id);
        }
    }

    fn absorbed(&mut self, cx: Cx<'_>, survivor: RequestId, other: RequestId) {
        self.waiting.inherit(cx, survivor, other);
        self.grown(cx, survivor);
        self.remove(cx, other);
    }

    fn issuer_gone(&mut self, _: Cx<'_>, who: Issuer) {
        self.actors.exits(who);
    }

    fn adopt(&mut self, cx: Cx<'_>, id: RequestId) {
        let place = self.actors.adopt(&cx[id], id);
        self.asks(cx, id, place);
        self.in_flight.push(cx.now, id);
        self.classes.sends(Class::Pool);
        self.waiting.pools(id);
        self.pool.adopted();
    }

    fn may_merge(&self, cx: Cx<'_>, id: RequestId, new: &Request) -> bool {
        may_merge(&cx[id], new)
    }

    fn learned(&self) -> Option<&Learned> {
        Some(&self.learned)
    }

    fn inherit(&mut self, learned: &Learned) {
        self.learned.clone_from(learned);
    }
}
