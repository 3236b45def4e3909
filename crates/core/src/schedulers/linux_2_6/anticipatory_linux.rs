//! Linux's anticipatory schedulers: after a read, wait a moment for the same process to read on.
//!
//! # How they decide
//! Synchronous requests (reads, and writes that somebody waits for) are kept apart from the others,
//! each by address and in order of arrival.
//! 1. Batches of one side alternate while both wait. A batch of reads lasts `read_batch_expire`, counted
//!    while writes wait. A batch of writes lasts `write_batch_expire` or a number of writes, which tunes
//!    itself so that it takes that long. Between them the device is drained.
//! 2. In a batch the best place to go on is next: the nearest ahead of where the last request ended, or
//!    behind it within 512 MiB, where the way counts twice.
//! 3. Once in `read_expire` (`write_expire`) the oldest request is looked at, and goes if it is overdue.
//! 4. In a batch of reads, before the next one goes, the process whose read went last is waited for, up
//!    to `antic_expire` from the completion of its request; even if only writes wait. Not if the next
//!    request is its own or close, nor if its statistics or its exit speak against it. While it is
//!    waited for, each arrival is judged by the same rules.
//! 5. Of each process the mean think time and seek distance are kept; of all together those of new
//!    processes, and the probability that a new process exits without a second request.
//!
//! | | `as-2.6.11` | `as` |
//! |---|---|---|
//! | close is | 64 sectors, doubled with each millisecond of waiting after the first | 8192 sectors, doubled with each, or less than the process seeks on average |
//! | a process that has exited | is not waited for | may have a successor nearby, unless such mostly have none |
//! | a batch of writes begins with | the best place to go on | the oldest |
//! | the time of a batch of writes on a device that had to drain | ran out with the reads before it | begins when it has drained |
//!
//! # Source
//! Linux 2.6.32 `block/as-iosched.c`; Linux 2.6.11 `drivers/block/as-iosched.c`; OLS'05 §2.2, which calls
//! the older one LAS and numbers its rules. The reasons that `--why` writes have these numbers; those of
//! `as` have the numbers of CAS (OLS'05 §4), which became part of Linux.
//!
//! # Differs from the source
//! - Linux counts in ticks; here times are nanoseconds, except that closeness doubles and mean think
//!   times round as with ticks of 1 ms. That rounding adds 4 ms to the first think time of a process
//!   and 2 to the second, so that who thinks for 3 ms at first is not waited for then.
//! - There is no dispatch list: a request goes to the device at once, so that no process has others on
//!   that list. Nor is the queue ever drained by force, as switching needs no draining.
//! - Whether a batch of writes was idle is noticed when it happens. Linux notices when its driver next
//!   asks; SCSI drivers ask before the device has room.
//! - The first batch of reads after construction tunes nothing, as no writes went before it. Linux takes
//!   the time since its own construction for theirs.
//! - Requests with equal addresses go in order of arrival. Synchronous and asynchronous requests do not
//!   merge with each other. Requests of one issuer's number are one process's, also those of none.
//! - An exited process is remembered while it has requests here, or is waited for.
//!
//! # Good for, bad for
//! Good for a disk with synchronous readers of different files: each reads on for a while. Bad for
//! databases, RAID and drives with queues of their own, which it lets idle. In 2.6.11 bad for programs
//! that are chains of short processes, beside one that streams: the chain starves (OLS'05 §3). There
//! also bad for writes on a device that takes several commands: a batch of them may have no time.
//!
//! # Starvation
//! No number of requests bounds it: in a batch, only one overdue request goes in `read_expire` or
//! `write_expire`, and as many others as the device can serve. With that a wait ends at last, but for
//! writes in 2.6.11 on a device that takes several commands, if their batches never have any time.

mod anticipation;
mod batches;
mod reasons;
mod requests;
mod rules;
pub(crate) mod settings;
mod statistics;
mod versions;

#[cfg(test)]
mod chains;
#[cfg(test)]
pub(crate) mod tests;

use core::marker::PhantomData;

use crate::collections::OutOfMemory;
use crate::request::Request;
use crate::scheduler::{Algorithm, Cx, Decision, Scheduler, Setup, Starvation};
use crate::units::{Instant, Issuer, RequestId};
use anticipation::Anticipation;
use batches::Batches;
use requests::{Requests, Side};
pub use rules::RuleSet;
use rules::Terms;
pub use settings::{Settings, Timed, Times};
pub use versions::{Linux2611, Linux2632, Version};

/// Linux 2.6.32's anticipatory scheduler.
pub type As = LinuxAnticipatory<Linux2632>;

/// Linux 2.6.11's anticipatory scheduler.
pub type As2611 = LinuxAnticipatory<Linux2611>;

/// Batches of reads and of writes, and in those of reads a wait for the process that read last.
pub struct LinuxAnticipatory<V: Version> {
    requests: Requests,
    batches: Batches,
    anticipation: Anticipation,
    tunables: V::Settings,
    version: PhantomData<V>,
}

impl<V: Version> Algorithm for LinuxAnticipatory<V> {
    const NAME: &'static str = V::NAME;
    const SUMMARY: &'static str = V::SUMMARY;
    const SOURCE: &'static str = V::SOURCE;
    type Tunables = V::Settings;

    fn new(setup: Setup<'_>, tunables: V::Settings) -> Result<Self, OutOfMemory> {
        Ok(LinuxAnticipatory {
            requests: Requests::new(setup.capacity)?,
            batches: Batches::new(tunables.times()),
            anticipation: Anticipation::new(setup.capacity)?,
            tunables,
            version: PhantomData,
        })
    }

    fn tune(&mut self, tunables: V::Settings) {
        self.tunables = tunables;
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
    /// It is the best place to go on.
    GoesOn,
    /// A batch begins.
    Begins,
    /// It is the oldest and overdue.
    Overdue,
}

impl<V: Version> LinuxAnticipatory<V> {
    fn times(&self) -> Times {
        self.tunables.times()
    }

    #[inline]
    fn terms(&self) -> Terms {
        let head = self.requests.head(Side::Sync);
        Terms { rules: V::rules(&self.tunables), longest: self.times().wait, head }
    }

    /// Lets the timer end the wait, if its time has come. Calls do that first, so that it does not
    /// matter whether the host asked at that very time.
    #[inline]
    fn catch_up(&mut self, now: Instant) {
        if self.anticipation.timed_out(now) {
            self.anticipation.time_out(V::rules(&self.tunables));
        }
    }

    /// Chooses, when something waits and nothing is waited for.
    #[inline]
    fn choose(&mut self, cx: Cx<'_>) -> Decision {
        let times = self.times();
        let (reads, writes) = (self.requests.any(Side::Sync), self.requests.any(Side::Async));
        let side = self.batches.side();
        if !(reads && writes && self.batches.over(cx.now)) {
            let next = self.requests.next(side);
            if side == Side::Sync && times.wait.0 > 0 {
                if let Some(oldest) = self.requests.overdue(cx.now, side, times.expire[side.index()]) {
                    return self.send(cx, oldest, Choice::Overdue);
                }
                let terms = self.terms();
                if self.anticipation.begins(cx, terms, next) {
                    return self.anticipation.answer(cx);
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
        } else {
            self.batches.choose_writes();
        }
        let side = self.batches.side();
        if reads || V::WRITES_FROM_OLDEST {
            self.requests.oldest_now(now, side)
        } else {
            self.requests.next(side)
        }
    }

    /// Sends `id`, or the oldest of the batch's side if that is overdue.
    #[inline]
    fn send_unless_overdue(&mut self, cx: Cx<'_>, id: RequestId, choice: Choice) -> Decision {
        let side = self.batches.side();
        match self.requests.overdue(cx.now, side, self.times().expire[side.index()]) {
            Some(oldest) => self.send(cx, oldest, Choice::Overdue),
            None => self.send(cx, id, choice),
        }
    }

    /// Sends `id`, unless the device must drain first.
    #[inline]
    fn send(&mut self, cx: Cx<'_>, id: RequestId, choice: Choice) -> Decision {
        if !self.batches.may_begin(cx.now, self.times()) {
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
        let (side, terms) = (self.batches.side(), self.terms());
        // Writes that had to wait only for a process, and not for reads.
        let alone = side == Side::Async && !self.requests.any(Side::Sync);
        let (late, every) = (self.requests.late(cx.now, id), self.times().expire[side.index()]);
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
        self.catch_up(cx.now);
        let side = Side::of(&cx[id]);
        self.requests.insert(cx, id, side, self.times().expire[side.index()]);
        self.anticipation.insert(cx, id);
        if self.anticipation.is_on() {
            let terms = self.terms();
            self.anticipation.arrives_in_wait(cx, terms, id);
        }
    }

    #[inline]
    fn dispatch(&mut self, cx: Cx<'_>) -> Decision {
        self.catch_up(cx.now);
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
        self.catch_up(cx.now);
        let (side, times) = (Side::of(&cx[id]), self.times());
        self.batches.drained(cx.now, times, V::TIME_FROM_DRAINED);
        // One that an earlier scheduler dispatched only has to be drained.
        if self.anticipation.complete(cx.now, id, side == Side::Sync, times.wait) {
            self.batches.served(cx.now, side, times);
        }
    }

    fn remove(&mut self, cx: Cx<'_>, id: RequestId) {
        self.catch_up(cx.now);
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
        self.catch_up(cx.now);
        self.anticipation.issuer_gone(who);
    }

    fn adopt(&mut self, _: Cx<'_>, _: RequestId) {
        self.batches.adopt();
    }

    fn may_merge(&self, cx: Cx<'_>, id: RequestId, new: &Request) -> bool {
        cx[id].sync == new.sync
    }
}
