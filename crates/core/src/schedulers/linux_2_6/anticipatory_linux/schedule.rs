//! What the anticipatory schedulers do when they are called.

use super::lines::Side;
use super::reasons::{self, Awaited, Ended, Reason};
use super::rules::{self, Case, Manner};
use super::settings::{Timed, Times};
use super::statistics::{fallen, risen};
use super::waiting::Status;
use super::{LinuxAnticipatory, Version};
use crate::collections::Place;
use crate::request::Request;
use crate::scheduler::{Cx, Decision, Scheduler};
use crate::units::{Duration, Instant, Issuer, RequestId};

/// Why a request is chosen.
#[derive(Clone, Copy)]
enum Choice {
    /// It is the best place to go on.
    GoesOn,
    /// A batch begins.
    Begins,
    /// It is the oldest and overdue.
    Overdue,
}

impl<V: Version> LinuxAnticipatory<V> {
    #[inline]
    fn times(&self) -> Times {
        self.tunables.times()
    }

    /// Lets the timer end the wait, if its time has come. Calls do that first, so that it does not
    /// matter whether the host asked at that very time.
    #[inline]
    fn catch_up(&mut self, now: Instant) {
        if self.wait.timed_out(now) {
            self.time_out();
        }
    }

    fn time_out(&mut self) {
        let Some(place) = self.wait.who else { return };
        let process = &self.processes[place];
        if process.is_new() {
            self.system.exits = risen(self.system.exits);
        }
        if process.exited {
            match V::manner(&self.tunables) {
                Manner::Alone => {}
                Manner::Together => self.system.alone = risen(self.system.alone),
                Manner::Paper => self.system.helped = fallen(self.system.helped),
            }
        }
        let elapsed = self.wait.until.since(self.wait.done.unwrap_or(self.wait.until));
        let who = self.processes.who(place);
        self.wait.finish(Ended { reason: Reason::Elapsed(elapsed), who, request: None });
    }

    /// The first rule against waiting for the process whose request went last, if `id` could go.
    #[inline]
    fn judge(&mut self, cx: Cx<'_>, place: Place, id: Option<RequestId>) -> Option<Reason> {
        let own = id.is_some_and(|id| self.owners[id.index()] == Some(place));
        let elapsed = self.wait.done.map(|done| cx.now.since(done));
        rules::at_once(&self.processes[place], own, elapsed, self.times().wait)
            .or_else(|| self.judge_case(cx, place, id, own, elapsed))
    }

    #[inline(never)]
    fn judge_case(
        &mut self,
        cx: Cx<'_>,
        place: Place,
        id: Option<RequestId>,
        own: bool,
        elapsed: Option<Duration>,
    ) -> Option<Reason> {
        let case = Case {
            manner: V::manner(&self.tunables),
            now: cx.now,
            wait: self.tunables.times().wait,
            process: &mut self.processes[place],
            system: &mut self.system,
            elapsed,
            waiting: self.wait.status != Status::Off,
            request: id.map(|id| &cx[id]),
            own,
            head: self.lines.head(self.batches.side),
            sync_head: self.lines.head(Side::Sync),
        };
        case.judge()
    }

    /// `id` arrives while something is waited for, which may end that.
    #[inline(never)]
    fn arrives_in_wait(&mut self, cx: Cx<'_>, id: RequestId) {
        if let Some(awaited) = self.wait.who
            && let Some(reason) = self.judge(cx, awaited, Some(id))
        {
            self.wait.finish(Ended { reason, who: self.processes.who(awaited), request: Some(id) });
        }
    }

    /// Begins to wait, unless a rule speaks against it or there is nobody to wait for.
    #[inline]
    fn begins_to_wait(&mut self, cx: Cx<'_>, id: Option<RequestId>) -> bool {
        let Some(place) = self.wait.who else { return false };
        if self.wait.status == Status::Finished {
            return false;
        }
        if let Some(reason) = self.judge(cx, place, id) {
            self.wait.ended = Some(Ended { reason, who: self.processes.who(place), request: id });
            return false;
        }
        self.wait.ended = None;
        self.wait.begin(self.times().wait);
        true
    }

    /// The answer while something is waited for.
    fn wait_on(&self, cx: Cx<'_>) -> Decision {
        let Some(place) = self.wait.who else { return Decision::Idle };
        let (who, process) = (self.processes.who(place), &self.processes[place]);
        if self.wait.status == Status::ForCompletion {
            cx.because("waits until the request of process {} is done, and then for its next", || {
                [who.into()]
            });
            return Decision::Idle;
        }
        let until = self.wait.until;
        let thought = process.mean_thought(&self.system);
        let (is_new, exited) = (process.is_new(), process.exited);
        reasons::waits(cx, &Awaited { who, until, thought, is_new, exited });
        Decision::WaitUntil(until)
    }

    /// Chooses, when something waits and nothing is waited for.
    #[inline]
    fn choose(&mut self, cx: Cx<'_>) -> Decision {
        let times = self.times();
        let (reads, writes) = (self.lines.any(Side::Sync), self.lines.any(Side::Async));
        let side = self.batches.side;
        if !(reads && writes && self.batches.over(cx.now)) {
            let next = self.lines.next(side);
            if side == Side::Sync && times.wait.0 > 0 {
                if let Some(oldest) = self.lines.overdue(cx.now, side, times.expire[side.index()]) {
                    return self.send(cx, oldest, Choice::Overdue);
                }
                if self.begins_to_wait(cx, next) {
                    return self.wait_on(cx);
                }
            }
            if let Some(next) = next {
                if !writes {
                    self.batches.extend_reads(cx.now, times);
                }
                return self.send_unless_overdue(cx, next, Choice::GoesOn);
            }
        }
        match self.begin_batch(cx.now, reads && !(writes && side == Side::Sync)) {
            Some(first) => self.send_unless_overdue(cx, first, Choice::Begins),
            None => Decision::Idle,
        }
    }

    /// Begins a batch of reads, or of writes: its first request.
    fn begin_batch(&mut self, now: Instant, reads: bool) -> Option<RequestId> {
        if reads {
            self.batches.choose_reads();
            self.lines.oldest_now(now, Side::Sync)
        } else {
            self.batches.choose_writes();
            if V::WRITES_FROM_OLDEST {
                self.lines.oldest_now(now, Side::Async)
            } else {
                self.lines.next(Side::Async)
            }
        }
    }

    /// Sends `id`, or the oldest of the batch's side if that is overdue.
    #[inline]
    fn send_unless_overdue(&mut self, cx: Cx<'_>, id: RequestId, choice: Choice) -> Decision {
        let side = self.batches.side;
        match self.lines.overdue(cx.now, side, self.times().expire[side.index()]) {
            Some(oldest) => self.send(cx, oldest, Choice::Overdue),
            None => self.send(cx, id, choice),
        }
    }

    /// Sends `id`, unless the device must drain first.
    #[inline]
    fn send(&mut self, cx: Cx<'_>, id: RequestId, choice: Choice) -> Decision {
        let times = self.times();
        if !self.batches.may_begin(cx.now, times) {
            return self.drain(cx);
        }
        self.explain(cx, id, choice);
        let side = self.batches.side;
        let owner = self.owners[id.index()];
        if let Some(place) = owner {
            self.processes[place].waiting -= 1;
        }
        self.wait_for(owner.filter(|_| side == Side::Sync));
        self.lines.dispatch(cx, id, side);
        self.batches.sent(side);
        self.notice_idleness();
        Decision::Dispatch(id)
    }

    fn drain(&self, cx: Cx<'_>) -> Decision {
        cx.because("a batch of {} begins once {} in flight are done", || {
            [self.batches.side.word().into(), self.batches.in_flight.into()]
        });
        Decision::Idle
    }

    /// Says why `id` goes.
    #[inline]
    fn explain(&self, cx: Cx<'_>, id: RequestId, choice: Choice) {
        if cx.notes().is_some() {
            self.say_why(cx, id, choice);
        }
    }

    #[cold]
    fn say_why(&self, cx: Cx<'_>, id: RequestId, choice: Choice) {
        let (side, times, manner) = (self.batches.side, self.times(), V::manner(&self.tunables));
        // Writes that had to wait only for a process, and not for reads.
        let alone = side == Side::Async && !self.lines.any(Side::Sync);
        match (choice, self.wait.ended) {
            (Choice::Overdue, _) if side == Side::Sync => {
                let late = self.lines.late(cx.now, id);
                reasons::overdue(cx, manner, id, late, times.expire[side.index()]);
            }
            (Choice::Overdue, _) => cx.because("{} is {} overdue, which is looked at once in {}", || {
                [id.into(), self.lines.late(cx.now, id).into(), times.expire[side.index()].into()]
            }),
            (Choice::GoesOn, Some(ended)) => reasons::ended(cx, manner, times.wait, id, ended),
            (Choice::Begins, Some(ended)) if alone => reasons::ended(cx, manner, times.wait, id, ended),
            (Choice::GoesOn, None) => cx.because("the batch of {} goes on: {} is {} sectors away", || {
                [side.word().into(), id.into(), cx[id].start.distance(self.lines.head(side)).into()]
            }),
            (Choice::Begins, _) if side == Side::Async => {
                cx.because("a batch of writes begins: {} wait, and at most {} go", || {
                    [self.lines.len(side).into(), self.batches.quota.into()]
                });
            }
            (Choice::Begins, _) => {
                cx.because("a batch of reads begins with the oldest of {}", || [self.lines.len(side).into()]);
            }
        }
    }

    /// From now on this is who is waited for.
    #[inline]
    fn wait_for(&mut self, who: Option<Place>) {
        let before = self.wait.who;
        self.wait.dispatched(who);
        if before != who {
            if let Some(place) = who {
                self.processes.hold(place);
            }
            if let Some(place) = before {
                self.release(place);
            }
        }
    }

    /// Ends one hold. Nobody remembers a process that has exited and has nothing here any more.
    #[inline]
    fn release(&mut self, place: Place) {
        self.processes.release(place);
        if self.processes[place].exited {
            self.processes.forget(self.processes.who(place));
        }
    }

    fn notice_idleness(&mut self) {
        self.batches.notice_idleness(self.lines.any(Side::Sync), self.lines.any(Side::Async));
    }
}

impl<V: Version> Scheduler for LinuxAnticipatory<V> {
    #[inline]
    fn insert(&mut self, cx: Cx<'_>, id: RequestId) {
        self.catch_up(cx.now);
        let request = &cx[id];
        let side = Side::of(request);
        let place = self.processes.enter(request.issuer);
        let process = &mut self.processes[place];
        if process.exited {
            process.begins_anew();
        }
        if side == Side::Sync {
            process.issues(&mut self.system, cx.now, request);
        }
        process.waiting += 1;
        self.processes.hold(place);
        self.owners[id.index()] = Some(place);
        self.lines.insert(cx, id, side, self.times().expire[side.index()]);
        if self.wait.is_on() {
            self.arrives_in_wait(cx, id);
        }
    }

    #[inline]
    fn dispatch(&mut self, cx: Cx<'_>) -> Decision {
        self.catch_up(cx.now);
        if !self.lines.any(Side::Sync) && !self.lines.any(Side::Async) {
            return Decision::Idle;
        }
        if self.wait.is_on() {
            return self.wait_on(cx);
        }
        if self.batches.changing {
            return self.drain(cx);
        }
        self.choose(cx)
    }

    #[inline]
    fn complete(&mut self, cx: Cx<'_>, id: RequestId) {
        self.catch_up(cx.now);
        let times = self.times();
        self.batches.drained(cx.now, times, V::TIME_FROM_DRAINED);
        // One that an earlier scheduler dispatched only has to be drained.
        let Some(place) = self.owners[id.index()].take() else { return };
        let side = Side::of(&cx[id]);
        self.batches.served(cx.now, side, times);
        if self.wait.who == Some(place) {
            self.wait.completed(cx.now, times.wait);
        }
        if side == Side::Sync {
            self.processes[place].done(cx.now);
        }
        self.release(place);
    }

    fn remove(&mut self, cx: Cx<'_>, id: RequestId) {
        self.catch_up(cx.now);
        self.lines.remove(cx, id, Side::of(&cx[id]));
        if let Some(place) = self.owners[id.index()].take() {
            self.processes[place].waiting -= 1;
            self.release(place);
        }
        self.notice_idleness();
    }

    fn grown(&mut self, cx: Cx<'_>, id: RequestId) {
        self.lines.grown(cx, id, Side::of(&cx[id]));
    }

    /// The survivor goes by the earlier time, and belongs to the process that had it.
    fn absorbed(&mut self, cx: Cx<'_>, survivor: RequestId, other: RequestId) {
        if self.lines.inherit(survivor, other, Side::of(&cx[survivor])) {
            self.owners.swap(survivor.index(), other.index());
        }
        self.grown(cx, survivor);
        self.remove(cx, other);
    }

    fn issuer_gone(&mut self, cx: Cx<'_>, who: Issuer) {
        self.catch_up(cx.now);
        if let Some(place) = self.processes.find(who) {
            self.processes[place].exited = true;
            self.processes.forget(who);
        }
    }

    fn adopt(&mut self, _: Cx<'_>, _: RequestId) {
        self.batches.in_flight += 1;
    }

    fn may_merge(&self, cx: Cx<'_>, id: RequestId, new: &Request) -> bool {
        cx[id].sync == new.sync
    }
}
