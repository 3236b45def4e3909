//! Decides which request is dispatched next, or how long a stream is waited for before its turn ends.
//!
//! `habits` says whether waiting pays, `learned/leaving` what it costs to leave a stream, `round` when a turn is over.

use super::habits::Habits;
use super::heads::Heads;
use super::next::Next;
use super::round::{Party, Wanted};
use crate::collections::Place;
use crate::request::Operation;
use crate::scheduler::Cx;
use crate::units::{Duration, Instant, RequestId};

impl Heads {
    /// What waits for a turn.
    pub(super) fn wanted(&self) -> Wanted {
        let writers = self.actors.writers();
        let wait = writers > 0 && !self.shares.may_write();
        Wanted {
            pool: !self.pool.is_empty(),
            writers: if wait { 0 } else { writers },
            others: wait || self.shares.held() > 0 || self.waiting.oldest_idle().is_some(),
        }
    }

    /// What is next. Something waits; `oldest` is the oldest that is not of the idle class.
    pub(super) fn choose(&self, cx: Cx<'_>, oldest: Option<RequestId>) -> Next {
        let stuck = self.is_stuck(cx);
        let urgent = self.urgent(cx);
        let next = match urgent {
            Some(Next::Send(_)) | None if stuck => Next::Hold,
            Some(next) => next,
            None => self.choose_usual(cx),
        };
        self.overdue.or(cx, next, &self.waiting, oldest, urgent.is_some(), &self.tunables)
    }

    /// What the real-time class wants next, if anything.
    fn urgent(&self, cx: Cx<'_>) -> Option<Next> {
        if let Some(next) = self.waiting.next_urgent(cx, &self.head) {
            return Some(next);
        }
        if self.classes.any_urgent() {
            cx.because("the drive has something of the real-time class", || []);
            return Some(Next::Hold);
        }
        let until = self.classes.hope(cx.now)?;
        cx.because("waits {} for the real-time class", || [until.since(cx.now).into()]);
        Some(Next::Wait(until))
    }

    /// Whether the drive has had a request for too long.
    fn is_stuck(&self, cx: Cx<'_>) -> bool {
        let longest = self.tunables.longest();
        let held = self.in_flight.oldest().map(|sent| cx.now.since(sent)).filter(|held| *held >= longest);
        if let Some(held) = held {
            cx.because("the drive has had a request for {}: nothing new goes there", || [held.into()]);
        }
        held.is_some()
    }

    /// What is next of the usual class, or of the idle class.
    fn choose_usual(&self, cx: Cx<'_>) -> Next {
        let wanted = self.wanted();
        if !self.round.is_over(cx.now, wanted)
            && let Some(next) = self.go_on(cx)
        {
            return next;
        }
        self.begin_next(cx, wanted)
    }

    /// How the turn continues. `None`: it does not.
    fn go_on(&self, cx: Cx<'_>) -> Option<Next> {
        match self.round.party() {
            Party::Nobody => None,
            Party::Stream(place) => self.go_on_with(cx, place),
            Party::Pool => {
                let id = self.pool.next(cx, &self.head, &self.learned.curve)?;
                cx.because("{} is the next of its batch to be reached", || [id.into()]);
                Some(Next::Send(id))
            }
            Party::Writes => self.go_on_with_writes(cx),
        }
    }

    /// How the turn of writes continues.
    fn go_on_with_writes(&self, cx: Cx<'_>) -> Option<Next> {
        if let Some(next) = self.drive_writes(cx) {
            return Some(next);
        }
        let id = self.waiting.next_write(&self.head);
        let others = |writer: &Place| id.is_none_or(|id| *writer != self.actors.owner(id));
        let more = self.writer.filter(others).and_then(|writer| self.actors.writes_on(writer));
        let Some(until) = more.filter(|until| cx.now < *until) else {
            let id = id?;
            cx.because("the writes go on: {} is the next upward", || [id.into()]);
            return Some(Next::Send(id));
        };
        if self.round.any_stream() {
            return None;
        }
        cx.because("whoever writes in order is about to write more", || []);
        Some(Next::Wait(self.round.until().map_or(until, |end| end.min(until))))
    }

    /// What follows if the drive has been sent as much to write as it could have read in this turn, and a stream waits.
    fn drive_writes(&self, cx: Cx<'_>) -> Option<Next> {
        let enough = self.round.any_stream() && self.buffer.has_enough(self.round.length());
        enough.then(|| {
            cx.because("the drive gets time to write what it has taken", || []);
            self.round.until().map_or(Next::Hold, Next::Wait)
        })
    }

    /// How the turn of the stream at `place` continues.
    fn go_on_with(&self, cx: Cx<'_>, place: Place) -> Option<Next> {
        let actor = self.actors.get(place);
        if let Some(id) = actor.lists.stream.front() {
            if let Some(until) = self.buffer.until(cx.now) {
                cx.because("the drive gets {} to write what it has taken", || [until.since(cx.now).into()]);
                let end = self.round.until().filter(|end| cx.now < *end);
                return Some(Next::Wait(end.map_or(until, |end| end.min(until))));
            }
            if cx[id].operation == Operation::Write
                && let Some(next) = self.drive_writes(cx)
            {
                return Some(next);
            }
            cx.because("the turn of process {} goes on", || [cx[id].issuer.into()]);
            return Some(Next::Send(id));
        }
        if actor.flying > 0 {
            // Whoever was left, and will be as soon as this is done, keeps nobody from the drive meanwhile.
            let stays = cx.device.depth == 1 || !actor.left || self.pays(cx, place, true);
            if !stays && self.is_among_thinkers(cx) {
                return None;
            }
            cx.because("it is the turn of process {}, which has all that it asked for in flight", || {
                [self.actors.who(place).into()]
            });
            return Some(self.round.until().map_or(Next::Hold, Next::Wait));
        }
        let cost = self.cost(cx, place, self.is_among_thinkers(cx));
        let until = self.waits_until(place, cost).filter(|until| cx.now < *until)?;
        cx.because("waits {} for process {}: to come back to it costs {}", || {
            [until.since(cx.now).into(), self.actors.who(place).into(), cost.into()]
        });
        Some(Next::Wait(until))
    }

    /// Whether another thinker has the next turn before all others.
    pub(super) fn is_among_thinkers(&self, cx: Cx<'_>) -> bool {
        self.round.next_thinker(cx.now, self.wanted()).is_some()
    }

    /// What it costs to leave the actor at `place`, for a `short` time or not.
    fn cost(&self, cx: Cx<'_>, place: Place, short: bool) -> Duration {
        let habits = &self.actors.get(place).habits;
        let queue = cx.device.depth > 1;
        let batch = if short || !queue || self.round.any_stream() { None } else { self.batch_costs(habits) };
        let way = self.learned.leaving.cost(short);
        habits.leaving(way + batch.unwrap_or_default(), queue)
    }

    /// How much longer the drive takes for all that the pool wants than for as much of the actor with `habits`, if that is known.
    fn batch_costs(&self, habits: &Habits) -> Option<Duration> {
        let more = self.learned.leaving.batch() - habits.takes(self.pool.size())?;
        let count = self.pool.len() + self.classes.pool();
        Some(more * count as u64)
    }

    /// Whether waiting for the actor at `place` pays.
    pub(super) fn pays(&self, cx: Cx<'_>, place: Place, short: bool) -> bool {
        self.actors.get(place).habits.worth(self.cost(cx, place, short)).is_some()
    }

    /// Until when the stream at `place`, whose turn it is and which has nothing to do, is waited for, if to come back to it
    /// takes `cost`.
    fn waits_until(&self, place: Place, cost: Duration) -> Option<Instant> {
        let actor = self.actors.get(place);
        let idle = actor.idle?;
        let wait = actor.habits.worth(cost).unwrap_or(Duration::ZERO);
        let end = idle + wait;
        Some(self.round.until().map_or(end, |until| end.min(until)))
    }

    /// A turn begins.
    fn begin_next(&self, cx: Cx<'_>, wanted: Wanted) -> Next {
        let again = || self.ready_holder().map(Party::Stream);
        let Some(party) = self.round.next(cx.now, wanted).or_else(again) else {
            return self.begin_nothing(cx);
        };
        let id = match party {
            Party::Nobody => None,
            Party::Stream(place) => self.actors.get(place).lists.stream.front(),
            Party::Pool => self.pool.first(cx, &self.head, &self.learned.curve),
            Party::Writes => self.waiting.first_write(cx, &self.head, &self.tunables),
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

    /// The stream whose turn it was, if it wants another and may have one.
    pub(super) fn ready_holder(&self) -> Option<Place> {
        self.round.holder().filter(|place| {
            let actor = self.actors.get(*place);
            !actor.lists.stream.is_empty() && self.shares.may(&actor.purse)
        })
    }

    /// Nobody is ready for a turn.
    fn begin_nothing(&self, cx: Cx<'_>) -> Next {
        if self.waiting.oldest(cx).is_none() {
            let id = self.waiting.next_idle(&self.head).filter(|_| self.in_flight.is_empty());
            return self.classes.others.idle(cx, id);
        }
        if self.shares.any_solvent() {
            cx.because("the round goes on: somebody who has disk time left has all in flight", || []);
            return Next::Hold;
        }
        self.shares.hope(cx.now).map_or(Next::Round, |until| {
            let left = until.since(cx.now);
            cx.because("the round goes on: waits {} for somebody who has disk time left", || [left.into()]);
            Next::Wait(until)
        })
    }
}
