//! Anticipation: which process is waited for, since when and until when, and what is known of all.

use alloc::vec::Vec;

use super::rules::{self, Case, Ended, Reason, Terms};
use super::statistics::{Process, System};
use crate::collections::{Issuers, OutOfMemory, Place, table};
use crate::scheduler::{Cx, Decision, Setup};
use crate::units::{Duration, Instant, Issuer, RequestId, Sector};

/// Processes that are remembered besides those with requests in the queue.
const REMEMBERED: usize = 64;

/// Linux's `antic_status`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    /// Nobody is waited for.
    Off,
    /// The process's last request is waited for; its time to think begins when that is done.
    ForCompletion,
    /// The process's next request is waited for, until the timer ends it.
    ForNext,
    /// The wait is over, and none begins before something was dispatched.
    Finished,
}

/// The wait, and the processes.
pub(super) struct Anticipation {
    /// The device has moving heads. Else nobody is waited for, and nothing is kept of processes.
    heads: bool,
    terms: Terms,
    status: Status,
    /// Who issued the last request dispatched, if that was synchronous. Held.
    awaited: Option<Place>,
    /// Since when that request is done; or another one of that process.
    done: Option<Instant>,
    /// When the timer, which is set once, ends the wait, if it runs.
    until: Instant,
    /// How the last wait ended, or why there was none, until something is dispatched.
    ended: Option<Ended>,
    processes: Issuers<Process>,
    system: System,
    /// By request: the process that issued it, which is held.
    owners: Vec<Option<Place>>,
}

impl Anticipation {
    pub(super) fn new(setup: Setup<'_>, terms: Terms) -> Result<Anticipation, OutOfMemory> {
        let capacity = setup.capacity;
        let mut new = Anticipation {
            heads: setup.device.rotational,
            terms,
            status: Status::Off,
            awaited: None,
            done: None,
            until: Instant::MAX,
            ended: None,
            processes: Issuers::new(capacity + REMEMBERED)?,
            system: System::default(),
            owners: table(capacity, None)?,
        };
        new.tune(terms);
        Ok(new)
    }

    pub(super) fn tune(&mut self, terms: Terms) {
        let longest = if self.heads { terms.longest } else { Duration::ZERO };
        self.terms = Terms { longest, ..terms };
    }

    pub(super) fn terms(&self) -> Terms {
        self.terms
    }

    /// Whether something is waited for.
    pub(super) fn is_on(&self) -> bool {
        matches!(self.status, Status::ForCompletion | Status::ForNext)
    }

    /// How the last wait ended, or why there was none, if nothing was dispatched since.
    pub(super) fn ended(&self) -> Option<Ended> {
        self.ended
    }

    #[cfg(test)]
    pub(super) fn system(&self) -> &System {
        &self.system
    }

    /// Lets the timer end the wait, if its time has come. Calls do that first, so that it does not
    /// matter whether the host asked at that very time.
    #[inline]
    pub(super) fn catch_up(&mut self, now: Instant) {
        if now >= self.until {
            self.time_out();
        }
    }

    fn time_out(&mut self) {
        let Some(place) = self.awaited.filter(|_| self.status == Status::ForNext) else { return };
        rules::waited_in_vain(self.terms.rules, &self.processes[place], &mut self.system);
        let elapsed = self.until.since(self.done.unwrap_or(self.until));
        self.finish(place, Reason::Elapsed(elapsed), None);
    }

    fn finish(&mut self, place: Place, reason: Reason, request: Option<RequestId>) {
        (self.status, self.until) = (Status::Finished, Instant::MAX);
        self.ended = Some(Ended { reason, who: self.processes.who(place), request });
    }

    /// The timer starts, if a request of the awaited process is done; else when that is.
    fn start(&mut self) {
        (self.status, self.until) = match self.done {
            Some(done) => (Status::ForNext, done + self.terms.longest),
            None => (Status::ForCompletion, self.until),
        };
    }

    /// The first rule against waiting for the process at `place`, if `id` could go.
    #[inline(always)]
    fn judge(&mut self, cx: Cx<'_>, head: Sector, place: Place, id: Option<RequestId>) -> Option<Reason> {
        let own = id.is_some_and(|id| self.owners[id.index()] == Some(place));
        let elapsed = self.done.map(|done| cx.now.since(done));
        rules::at_once(&self.processes[place], own, elapsed, self.terms.longest)
            .or_else(|| self.judge_case(cx, head, place, id, own))
    }

    #[inline(never)]
    fn judge_case(
        &mut self,
        cx: Cx<'_>,
        head: Sector,
        place: Place,
        id: Option<RequestId>,
        own: bool,
    ) -> Option<Reason> {
        let case = Case {
            terms: self.terms,
            now: cx.now,
            head,
            elapsed: self.done.map(|done| cx.now.since(done)),
            waiting: self.status != Status::Off,
            request: id.map(|id| &cx[id]),
            own,
            process: &mut self.processes[place],
            system: &mut self.system,
        };
        case.judge()
    }

    /// A process issues `id`.
    #[inline(always)]
    pub(super) fn insert(&mut self, cx: Cx<'_>, id: RequestId) {
        if !self.heads {
            return;
        }
        let request = &cx[id];
        let place = self.processes.enter_held(request.issuer);
        self.owners[id.index()] = Some(place);
        self.processes[place].inserts(&mut self.system, cx.now, request);
    }

    /// `id` was inserted while something is waited for, which may end that.
    #[inline(never)]
    pub(super) fn arrives_in_wait(&mut self, cx: Cx<'_>, head: Sector, id: RequestId) {
        if let Some(place) = self.awaited
            && let Some(reason) = self.judge(cx, head, place, Some(id))
        {
            self.finish(place, reason, Some(id));
        }
    }

    /// Begins to wait before `id` goes, unless a rule speaks against it or there is nobody to wait for.
    #[inline(always)]
    pub(super) fn begins(&mut self, cx: Cx<'_>, head: Sector, id: Option<RequestId>) -> bool {
        let Some(place) = self.awaited else { return false };
        if self.status == Status::Finished {
            return false;
        }
        if let Some(reason) = self.judge(cx, head, place, id) {
            self.ended = Some(Ended { reason, who: self.processes.who(place), request: id });
            return false;
        }
        self.ended = None;
        self.start();
        true
    }

    /// The answer while something is waited for.
    pub(super) fn answer(&self, cx: Cx<'_>) -> Decision {
        let Some(place) = self.awaited else { return Decision::Idle };
        let (who, process) = (self.processes.who(place), &self.processes[place]);
        if self.status == Status::ForCompletion {
            cx.because("waits until the request of process {} is done, and then for its next", || {
                [who.into()]
            });
            return Decision::Idle;
        }
        let text = match (process.has_exited(), process.is_new()) {
            (true, _) => "waits for a successor of process {} until {}: its mean think time was {}",
            (_, true) => "waits for process {} until {}: it is new, and the mean think time of those is {}",
            _ => "waits for process {} until {}: its mean think time is {}",
        };
        cx.because(text, || [who.into(), self.until.into(), process.mean_thought(&self.system).into()]);
        Decision::WaitUntil(self.until)
    }

    /// `id` goes to the device. If it is synchronous, its process is the next to be waited for.
    #[inline(always)]
    pub(super) fn dispatch(&mut self, id: RequestId, sync: bool) {
        let owner = self.owners[id.index()];
        if let Some(place) = owner {
            self.processes[place].leaves();
        }
        let (before, awaited) = (self.awaited, owner.filter(|_| sync));
        (self.awaited, self.done, self.ended) = (awaited, None, None);
        (self.status, self.until) = (Status::Off, Instant::MAX);
        if before != awaited {
            if let Some(place) = awaited {
                self.processes.hold(place);
            }
            if let Some(place) = before {
                self.release(place);
            }
        }
    }

    /// `id` is done. False if an earlier scheduler dispatched it.
    #[inline(always)]
    pub(super) fn complete(&mut self, now: Instant, id: RequestId, sync: bool) -> bool {
        let Some(place) = self.owners[id.index()].take() else { return !self.heads };
        if self.awaited == Some(place) {
            self.done = Some(now);
            if self.status == Status::ForCompletion {
                self.start();
            }
        }
        if sync {
            self.processes[place].thinks(now);
        }
        self.release(place);
        true
    }

    /// `id` is withdrawn.
    pub(super) fn remove(&mut self, id: RequestId) {
        if let Some(place) = self.owners[id.index()].take() {
            self.processes[place].leaves();
            self.release(place);
        }
    }

    /// Each of the two requests belongs to the other's process.
    pub(super) fn swap_owners(&mut self, one: RequestId, other: RequestId) {
        self.owners.swap(one.index(), other.index());
    }

    pub(super) fn issuer_gone(&mut self, who: Issuer) {
        if let Some(place) = self.processes.find(who) {
            self.processes[place].exit();
            self.processes.forget(who);
        }
    }

    /// Ends one hold. Nobody remembers a process that has exited and has nothing here any more.
    #[inline]
    fn release(&mut self, place: Place) {
        self.processes.release(place);
        if self.processes[place].has_exited() {
            self.processes.forget(self.processes.who(place));
        }
    }
}
