//! What comes, what goes next, or how long to wait.

use super::actors::Actors;
use super::draining::Draining;
use super::flight::Flight;
use super::leaving::{Leaving, Way};
use super::round::{Party, Round, Wanted};
use super::settings::{GATE, SHORTEST, SPARED, Settings};
use super::shaper::Shaper;
use super::waiting::{Class, Waiting, is_async};
use crate::collections::{OutOfMemory, Place};
use crate::request::{Operation, Request};
use crate::scheduler::{Cx, Decision, Scheduler, Setup};
use crate::schedulers::shared::head::Head;
use crate::units::{Duration, Instant, Issuer, RequestId};

/// What is next.
#[derive(Clone, Copy)]
enum Next {
    /// As the turn goes on, or because it is overdue.
    Send(RequestId),
    /// In a new turn.
    Begin(RequestId, Party),
    /// At this time something changes.
    Wait(Instant),
    /// What is in flight must be done first.
    Hold,
}

/// All parts, and what they decide together.
pub(super) struct Service {
    waiting: Waiting,
    flight: Flight,
    actors: Actors,
    round: Round,
    head: Head,
    leaving: Leaving,
    draining: Draining,
    shaper: Shaper,
    /// Who wrote last, of what nobody waits for.
    writer: Option<Place>,
    /// Requests that have gone since one that was overdue went.
    spared: u64,
    pub(super) tunables: Settings,
}

impl Service {
    #[inline(always)]
    pub(super) fn new(setup: Setup<'_>, tunables: Settings) -> Result<Self, OutOfMemory> {
        let actors = Actors::new(setup.capacity)?;
        Ok(Service {
            waiting: Waiting::new(setup)?,
            flight: Flight::new(setup.capacity)?,
            round: Round::new(actors.places())?,
            actors,
            head: Head::default(),
            leaving: Leaving::default(),
            draining: Draining::default(),
            shaper: Shaper::default(),
            writer: None,
            spared: 0,
            tunables,
        })
    }

    /// How `id`, which the actor at `place` issues, is served.
    fn class_of(&mut self, cx: Cx<'_>, id: RequestId, place: Place) -> Class {
        let request = &cx[id];
        if is_async(request) {
            self.actors.writes(place, request);
            return Class::Async;
        }
        self.actors.issues(cx.now, place, request);
        // A drive with a queue takes a write into its buffer while it does something else.
        let turns = request.operation == Operation::Read || cx.device.depth == 1;
        if turns && self.actors.get(place).habits.streams() { Class::Stream } else { Class::Pool }
    }

    fn wanted(&self) -> Wanted {
        Wanted { pool: self.waiting.any_pool(), writers: self.actors.writers() }
    }

    /// The oldest request, if it is overdue.
    fn overdue(&self, cx: Cx<'_>) -> Option<RequestId> {
        self.waiting.oldest(cx).filter(|id| cx.age(*id) >= self.tunables.expire())
    }

    /// What is next. Something waits.
    fn choose(&self, cx: Cx<'_>) -> Next {
        let next = if cx.device.rotational { self.choose_with_heads(cx) } else { self.choose_without(cx) };
        let breaks = |id| match next {
            Next::Send(_) | Next::Begin(..) => false,
            Next::Wait(_) => !is_async(&cx[id]),
            Next::Hold => true,
        };
        match self.overdue(cx) {
            Some(id) if self.spared >= SPARED || breaks(id) => {
                cx.because("{} has waited for {}, longer than {}", || {
                    [id.into(), cx.age(id).into(), self.tunables.expire().into()]
                });
                Next::Send(id)
            }
            _ => next,
        }
    }

    /// Without heads all that somebody waits for goes at once, and as many writes as reads bear.
    fn choose_without(&self, cx: Cx<'_>) -> Next {
        if let Some(id) = self.waiting.oldest_sync() {
            cx.because("somebody waits for it, and nothing turns", || []);
            return Next::Send(id);
        }
        let writes = self.flight.asynchronous();
        match self.waiting.oldest_async() {
            Some(id) if self.shaper.admits(writes) => {
                cx.because("a write beside {} in flight: reads bear {}", || {
                    [(writes as u64).into(), self.shaper.limit().into()]
                });
                Next::Send(id)
            }
            _ => {
                cx.because("as many writes are in flight as reads bear: {}", || [(writes as u64).into()]);
                Next::Hold
            }
        }
    }

    fn choose_with_heads(&self, cx: Cx<'_>) -> Next {
        let held = self.flight.oldest().map(|sent| cx.now.since(sent)).filter(|held| *held >= GATE);
        if let Some(held) = held {
            cx.because("the drive has had a request for {}: nothing new goes there", || [held.into()]);
            return Next::Hold;
        }
        let wanted = self.wanted();
        if !self.round.is_over(cx.now, wanted)
            && let Some(next) = self.go_on(cx, wanted)
        {
            return next;
        }
        self.begin_next(cx, wanted)
    }

    /// How the turn goes on. `None`: it does not.
    fn go_on(&self, cx: Cx<'_>, wanted: Wanted) -> Option<Next> {
        match self.round.party() {
            Party::Nobody => None,
            Party::Stream(place) => self.go_on_with(cx, place),
            Party::Pool => {
                let id = self.waiting.pool.next(cx, &self.head)?;
                cx.because("{} is the next of its batch to be reached", || [id.into()]);
                Some(Next::Send(id))
            }
            Party::Writes => {
                let id = self.waiting.next_write(&self.head)?;
                let writer = self
                    .writer
                    .filter(|writer| *writer != self.actors.owner(id) && self.actors.is_writing(*writer));
                if !writer.is_some_and(|writer| self.actors.get(writer).writing.streams()) {
                    cx.because("the writes go on: {} is the next upward", || [id.into()]);
                    return Some(Next::Send(id));
                }
                // Whoever writes in order has more as soon as some is done.
                let holds = !self.round.any_stream() && !wanted.pool;
                if holds {
                    cx.because("whoever writes in order is about to write more", || []);
                }
                holds.then(|| self.round.until().map_or(Next::Hold, Next::Wait))
            }
        }
    }

    /// How the turn of the stream at `place` goes on.
    fn go_on_with(&self, cx: Cx<'_>, place: Place) -> Option<Next> {
        let actor = self.actors.get(place);
        if let Some(id) = actor.list.front() {
            if let Some(until) = self.draining.until(cx.now) {
                cx.because("the drive gets {} to write what it has taken", || [until.since(cx.now).into()]);
                let end = self.round.until().filter(|end| cx.now < *end);
                return Some(Next::Wait(end.map_or(until, |end| end.min(until))));
            }
            cx.because("the turn of process {} goes on", || [cx[id].issuer.into()]);
            return Some(Next::Send(id));
        }
        if actor.flying > 0 {
            cx.because("it is the turn of process {}, which has all that it asked for in flight", || {
                [self.actors.who(place).into()]
            });
            return Some(self.round.until().map_or(Next::Hold, Next::Wait));
        }
        let cost = self.leaving.cost(self.is_among_thinkers());
        let until = self.waits_until(place, cost).filter(|until| cx.now < *until)?;
        cx.because("waits {} for process {}: to come back to it costs {}", || {
            [until.since(cx.now).into(), self.actors.who(place).into(), cost.into()]
        });
        Some(Next::Wait(until))
    }

    /// Whether nothing but streams wants the disk, and the next will soon be left in its turn.
    fn is_among_thinkers(&self) -> bool {
        let next = self.round.next_stream().map(|place| self.actors.get(place).habits);
        let left = next.is_some_and(|habits| !habits.pays(self.leaving.cost(true)));
        left && !self.waiting.any_pool() && self.actors.writers() == 0
    }

    /// Until when the stream at `place`, whose turn it is and which has nothing to do, is waited for, if to come back to it
    /// takes `cost`.
    fn waits_until(&self, place: Place, cost: Duration) -> Option<Instant> {
        let actor = self.actors.get(place);
        let idle = actor.idle?;
        let wait = if actor.habits.pays(cost) { actor.habits.wait() } else { Duration::ZERO };
        let end = idle + wait;
        Some(self.round.until().map_or(end, |until| end.min(until)))
    }

    /// A turn begins.
    fn begin_next(&self, cx: Cx<'_>, wanted: Wanted) -> Next {
        let Some(party) = self.round.next(wanted) else { return Next::Hold };
        let id = match party {
            Party::Nobody => None,
            Party::Stream(place) => self.actors.get(place).list.front(),
            Party::Pool => self.waiting.pool.first(cx, &self.head),
            Party::Writes => self.first_write(cx),
        };
        let Some(id) = id else { return Next::Hold };
        match party {
            Party::Stream(_) => cx.because("a turn of process {} begins", || [cx[id].issuer.into()]),
            Party::Writes => {
                cx.because("a turn of writes begins: {} have written", || [wanted.writers.into()]);
            }
            _ => cx.because("a batch of all others begins", || []),
        }
        Next::Begin(id, party)
    }

    /// A turn of writes begins where the head is, or with the oldest if that has waited for half a round.
    fn first_write(&self, cx: Cx<'_>) -> Option<RequestId> {
        let late = |id: &RequestId| cx.age(*id) >= self.tunables.longest();
        self.waiting.oldest_async().filter(late).or_else(|| self.waiting.next_write(&self.head))
    }

    /// The turn ends, and another begins.
    fn begin(&mut self, now: Instant, party: Party) {
        let holder = self.round.holder();
        let wants = holder.is_some_and(|place| !self.actors.get(place).list.is_empty());
        if let Some(place) = holder {
            let early = self.round.until().is_some_and(|until| now < until);
            let left = early && self.is_among_thinkers();
            self.actors.get_mut(place).left = left;
            if !left {
                self.leaving.forget();
            }
        }
        self.round.end(now, wants);
        let parties = self.round.parties(self.wanted(), holder.is_some() && !wants);
        let share = self.tunables.target.0 / parties as u64;
        let length = (share - self.leaving.cost(false)).min(self.tunables.longest()).max(SHORTEST);
        self.round.begin(now, party, length);
        match party {
            Party::Stream(place) => self.actors.hold(place),
            Party::Pool => self.waiting.pool.begin(),
            Party::Writes | Party::Nobody => {}
        }
        if let Some(holder) = holder {
            self.actors.release(holder);
        }
    }

    /// `id` goes to the device.
    fn send(&mut self, cx: Cx<'_>, id: RequestId) {
        self.spared = if self.overdue(cx) == Some(id) { 0 } else { self.spared + 1 };
        let place = self.actors.owner(id);
        self.forget(cx, id);
        self.actors.goes(place, self.waiting.class(id));
        if is_async(&cx[id]) {
            self.writer = Some(place);
        }
        self.draining.sends(self.flight.is_empty());
        self.flight.push(cx.now, id, is_async(&cx[id]));
        self.waiting.pool.sends(cx, &self.head, id);
        self.head.goes_to(&cx[id]);
    }

    /// `id` waits no longer.
    fn forget(&mut self, cx: Cx<'_>, id: RequestId) {
        let place = self.actors.owner(id);
        let list = &mut self.actors.get_mut(place).list;
        self.waiting.take(cx, id, list);
        if list.is_empty() {
            self.round.leave(place);
        }
        if is_async(&cx[id]) {
            self.actors.waits_no_longer(place);
        }
    }
}

impl Scheduler for Service {
    fn insert(&mut self, cx: Cx<'_>, id: RequestId) {
        let place = self.actors.actor_of(&cx[id], self.round.holder());
        let before = (self.waiting.any_pool(), self.waiting.any_async());
        let class = self.class_of(cx, id, place);
        self.actors.enters(place, id);
        self.waiting.insert(cx, id, class, &mut self.actors.get_mut(place).list);
        match class {
            Class::Stream => self.round.stream_is_ready(cx.now, place),
            Class::Pool if !before.0 => self.round.pool_is_ready(cx.now),
            Class::Async if !before.1 => self.round.writes_are_ready(cx.now),
            Class::Pool | Class::Async => {}
        }
    }

    fn dispatch(&mut self, cx: Cx<'_>) -> Decision {
        let Some(oldest) = self.waiting.oldest(cx) else { return Decision::Idle };
        let next = self.choose(cx);
        match next {
            Next::Begin(id, party) => {
                self.begin(cx.now, party);
                self.send(cx, id);
                Decision::Dispatch(id)
            }
            Next::Send(id) => {
                self.send(cx, id);
                Decision::Dispatch(id)
            }
            // Whatever is waited for, the oldest may be what goes when it is overdue.
            Next::Wait(until) => {
                let due = cx[oldest].arrival + self.tunables.expire();
                Decision::WaitUntil(if due > cx.now { until.min(due) } else { until })
            }
            Next::Hold => Decision::WaitUntil(cx[oldest].arrival + self.tunables.expire()),
        }
    }

    fn complete(&mut self, cx: Cx<'_>, id: RequestId) {
        let (request, class) = (&cx[id], self.waiting.class(id));
        let service = cx.now.since(self.flight.take(id, is_async(request)));
        let read = request.operation == Operation::Read;
        if read {
            self.shaper.read(cx.now, service, self.flight.asynchronous());
        }
        let place = self.actors.leaves(cx.now, id, class);
        let measured = self.waiting.pool.completed(cx).filter(|_| read);
        if class != Class::Stream || self.round.holder() != Some(place) {
            return;
        }
        let first = self.round.is_done(cx.now);
        // Only a drive with a queue takes writes while it does something else.
        if !first && read && cx.device.depth > 1 {
            self.draining.reads(cx.now, service, self.flight.is_empty(), self.leaving.way());
        }
        let way = match first {
            false => Way::Staying,
            true if self.actors.get(place).left => Way::Early,
            true => Way::Late,
        };
        if let Some(time) = measured {
            self.leaving.learn(way, time);
        }
    }

    fn remove(&mut self, cx: Cx<'_>, id: RequestId) {
        self.forget(cx, id);
        self.actors.withdraws(cx.now, id);
    }

    fn grown(&mut self, cx: Cx<'_>, id: RequestId) {
        self.waiting.grown(cx, id);
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
        self.actors.adopt(&cx[id], id);
        self.flight.push(cx.now, id, is_async(&cx[id]));
        self.waiting.adopt(id);
    }

    fn may_merge(&self, cx: Cx<'_>, id: RequestId, new: &Request) -> bool {
        cx[id].sync == new.sync
    }
}
