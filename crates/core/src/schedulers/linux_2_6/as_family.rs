//! What Linux's anticipatory schedulers have in common: batches of reads and of writes, and in batches of
//! reads a wait for the process that read last.
//!
//! | part | what it owns |
//! |---|---|
//! | `requests` | the requests that wait, each side by address and in order of arrival |
//! | `batches` | which side's batch it is, until when, and how many writes go |
//! | `anticipation` | who is waited for, and what is known of processes |
//! | `rules` | whether to keep waiting |

mod anticipation;
mod batches;
mod reasons;
mod requests;
mod rules;
pub(crate) mod settings;
mod statistics;

#[cfg(test)]
mod chain_tests;
#[cfg(test)]
pub(crate) mod tests;

use core::marker::PhantomData;

use crate::collections::OutOfMemory;
use crate::request::Request;
use crate::scheduler::{Algorithm, Cx, Decision, Scheduler, Setup, Starvation};
use crate::units::{Issuer, RequestId};
use anticipation::Anticipation;
use batches::Batches;
use requests::{Requests, Side};
pub(crate) use rules::RuleSet;
use rules::Terms;
pub(crate) use settings::{Settings, Timed, Times};

/// In what the schedulers differ: what changed between Linux 2.6.11 and 2.6.32, and what OLS'05 changed.
pub trait Version: 'static {
    /// See [`Algorithm::NAME`].
    const NAME: &'static str;
    /// See [`Algorithm::SUMMARY`].
    const SUMMARY: &'static str;
    /// See [`Algorithm::SOURCE`].
    const SOURCE: &'static str;
    /// A batch of writes begins with the oldest, not with the best place to continue.
    const WRITES_FROM_OLDEST: bool;
    /// A batch for which the device had to drain has its time from then on.
    const TIME_FROM_DRAINED: bool;
    /// The version's settings.
    type Settings: Timed;
    /// Which rules end a wait.
    fn rules(settings: &Self::Settings) -> RuleSet;
}

/// Batches of reads and of writes, and in batches of reads a wait for the process that read last.
pub struct LinuxAnticipatory<V: Version> {
    requests: Requests,
    batches: Batches,
    anticipation: Anticipation,
    version: PhantomData<V>,
}

impl<V: Version> Algorithm for LinuxAnticipatory<V> {
    const NAME: &'static str = V::NAME;
    const SUMMARY: &'static str = V::SUMMARY;
    const SOURCE: &'static str = V::SOURCE;
    type Tunables = V::Settings;

    fn new(setup: Setup<'_>, tunables: V::Settings) -> Result<Self, OutOfMemory> {
        let Times { expire, batch, .. } = tunables.times();
        Ok(LinuxAnticipatory {
            requests: Requests::new(setup.capacity, expire)?,
            batches: Batches::new(batch),
            anticipation: Anticipation::new(setup, Self::terms(&tunables))?,
            version: PhantomData,
        })
    }

    fn tune(&mut self, tunables: V::Settings) {
        let Times { expire, batch, .. } = tunables.times();
        self.requests.tune(expire);
        self.batches.tune(batch);
        self.anticipation.tune(Self::terms(&tunables));
    }

    /// Bounds are in requests. Ours is one of those that go once in `read_expire`; the others that go
    /// meanwhile are as many as the device serves in that time.
    fn starvation(_: &V::Settings) -> Starvation {
        Starvation::Unbounded
    }
}

/// Why a request is chosen.
#[derive(Clone, Copy)]
enum Choice {
    /// The request is the best place to continue.
    GoesOn,
    /// A batch begins.
    Begins,
    /// The request is the oldest and overdue.
    Overdue,
}

impl<V: Version> LinuxAnticipatory<V> {
    fn terms(tunables: &V::Settings) -> Terms {
        Terms { rules: V::rules(tunables), longest: tunables.times().wait }
    }

    /// Chooses, when something waits and nothing is waited for.
    #[inline]
    fn choose(&mut self, cx: Cx<'_>) -> Decision {
        let (reads, writes) = (self.requests.any(Side::Sync), self.requests.any(Side::Async));
        let side = self.batches.side();
        let over = reads && writes && self.batches.over(cx.now);
        let next = if over { None } else { self.requests.next(side) };
        // Before a wait the oldest is looked at, even if there is nothing to continue with.
        let waits = !over && side == Side::Sync && self.anticipation.terms().longest.0 > 0;
        if waits && let Some(oldest) = self.requests.overdue(cx.now, side) {
            return self.send(cx, oldest, Choice::Overdue);
        }
        if waits && self.anticipation.begins(cx, self.requests.head(side), next) {
            return self.anticipation.answer(cx);
        }
        let Some(next) = next else { return self.begin_batch(cx, reads && !(writes && side == Side::Sync)) };
        if !writes {
            self.batches.extend_reads(cx.now);
        }
        if waits {
            self.send(cx, next, Choice::GoesOn)
        } else {
            self.send_unless_overdue(cx, next, Choice::GoesOn)
        }
    }

    /// Begins a batch of reads, or of writes.
    fn begin_batch(&mut self, cx: Cx<'_>, reads: bool) -> Decision {
        let side = if reads { Side::Sync } else { Side::Async };
        self.batches.begin(side);
        let oldest_first = reads || V::WRITES_FROM_OLDEST;
        let first =
            if oldest_first { self.requests.oldest_now(cx.now, side) } else { self.requests.next(side) };
        first.map_or(Decision::Idle, |first| self.send_unless_overdue(cx, first, Choice::Begins))
    }

    /// Sends `id`, or the oldest of the batch's side if that is overdue.
    #[inline]
    fn send_unless_overdue(&mut self, cx: Cx<'_>, id: RequestId, choice: Choice) -> Decision {
        match self.requests.overdue(cx.now, self.batches.side()) {
            Some(oldest) => self.send(cx, oldest, Choice::Overdue),
            None => self.send(cx, id, choice),
        }
    }

    /// Sends `id`, unless the device must drain first.
    #[inline]
    fn send(&mut self, cx: Cx<'_>, id: RequestId, choice: Choice) -> Decision {
        if !self.batches.may_begin(cx.now) {
            return self.batches.drain(cx);
        }
        if cx.notes().is_some() {
            self.say_why(cx, id, choice);
        }
        let side = self.batches.side();
        self.anticipation.dispatch(id, side == Side::Sync);
        self.requests.dispatch(cx, id, side);
        self.batches.sent();
        self.notice_idleness();
        Decision::Dispatch(id)
    }

    fn notice_idleness(&mut self) {
        self.batches.notice_idleness(self.requests.any(Side::Sync), self.requests.any(Side::Async));
    }

    /// Says why `id` goes.
    #[cold]
    fn say_why(&self, cx: Cx<'_>, id: RequestId, choice: Choice) {
        let (side, terms) = (self.batches.side(), self.anticipation.terms());
        // Writes that had to wait only for a process, and not for reads.
        let alone = side == Side::Async && !self.requests.any(Side::Sync);
        let (late, every) = (self.requests.late(cx.now, id), self.requests.expire(side));
        match (choice, self.anticipation.ended()) {
            (Choice::Overdue, _) if side == Side::Sync => reasons::overdue(cx, terms.rules, id, late, every),
            (Choice::Overdue, _) => cx.because("{} is {} overdue, which is looked at once in {}", || {
                [id.into(), late.into(), every.into()]
            }),
            (Choice::GoesOn, Some(ended)) => reasons::ended(cx, terms, id, ended),
            (Choice::Begins, Some(ended)) if alone => reasons::ended(cx, terms, id, ended),
            (Choice::GoesOn, None) => cx.because("the batch of {} goes on: {} is {} sectors away", || {
                let distance = cx[id].start.distance(self.requests.head(side));
                [side.word().into(), id.into(), distance.into()]
            }),
            (Choice::Begins, _) if side == Side::Async => {
                cx.because("a batch of writes begins: {} wait, and at most {} go", || {
                    [self.requests.len(side).into(), self.batches.quota().into()]
                });
            }
            (Choice::Begins, _) => {
                cx.because("a batch of reads begins with the oldest of {}", || {
                    [self.requests.len(side).into()]
                });
            }
        }
    }
}

impl<V: Version> Scheduler for LinuxAnticipatory<V> {
    #[inline]
    fn insert(&mut self, cx: Cx<'_>, id: RequestId) {
        self.anticipation.catch_up(cx.now);
        let side = Side::of(&cx[id]);
        self.requests.insert(cx, id, side);
        self.anticipation.insert(cx, id);
        if self.anticipation.is_on() {
            self.anticipation.arrives_in_wait(cx, self.requests.head(Side::Sync), id);
        }
    }

    #[inline]
    fn dispatch(&mut self, cx: Cx<'_>) -> Decision {
        self.anticipation.catch_up(cx.now);
        if !self.requests.any(Side::Sync) && !self.requests.any(Side::Async) {
            return Decision::Idle;
        }
        if self.anticipation.is_on() {
            return self.anticipation.answer(cx);
        }
        if self.batches.is_changing() { self.batches.drain(cx) } else { self.choose(cx) }
    }

    #[inline]
    fn complete(&mut self, cx: Cx<'_>, id: RequestId) {
        self.anticipation.catch_up(cx.now);
        let side = Side::of(&cx[id]);
        self.batches.drained(cx.now, V::TIME_FROM_DRAINED);
        // One that an earlier scheduler dispatched only has to be drained.
        if self.anticipation.complete(cx.now, id, side == Side::Sync) {
            self.batches.served(cx.now, side);
        }
    }

    fn remove(&mut self, cx: Cx<'_>, id: RequestId) {
        self.anticipation.catch_up(cx.now);
        self.requests.remove(cx, id, Side::of(&cx[id]));
        self.anticipation.remove(id);
        self.notice_idleness();
    }

    fn grown(&mut self, cx: Cx<'_>, id: RequestId) {
        self.requests.grown(cx, id, Side::of(&cx[id]));
    }

    /// The survivor goes by the earlier time, and belongs to the process that had it.
    fn absorbed(&mut self, cx: Cx<'_>, survivor: RequestId, other: RequestId) {
        if self.requests.inherit(survivor, other, Side::of(&cx[survivor])) {
            self.anticipation.swap_owners(survivor, other);
        }
        self.grown(cx, survivor);
        self.remove(cx, other);
    }

    fn issuer_gone(&mut self, cx: Cx<'_>, who: Issuer) {
        self.anticipation.catch_up(cx.now);
        self.anticipation.issuer_gone(who);
    }

    fn adopt(&mut self, _: Cx<'_>, _: RequestId) {
        self.batches.adopt();
    }

    fn may_merge(&self, cx: Cx<'_>, id: RequestId, new: &Request) -> bool {
        cx[id].sync == new.sync
    }
}
