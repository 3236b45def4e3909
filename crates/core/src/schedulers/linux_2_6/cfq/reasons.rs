//! Why a queue is served, and why the one before is not any more, in words and numbers.

use super::queues::{Index, Queue};
use super::{Cfq, Slice};
use crate::request::Class;
use crate::scheduler::Cx;
use crate::units::{Duration, Issuer, RequestId};
use crate::why::Fact;

/// Why a slice ended.
#[derive(Clone, Copy, Debug)]
pub(super) enum End {
    /// It was used up, so long ago.
    Used(Duration),
    /// As many asynchronous requests went as may.
    Quota(u64),
    /// It was of the idle class, which has the disk for one request.
    IdleClass,
    /// Its process was waited for in vain.
    Waited(Duration),
    /// It has no requests, and is not waited for.
    Empty(NoWait),
    /// A queue that is close goes on, so many sectors from the head.
    Closer(u64),
    /// Its process has exited.
    Exited,
    /// Another goes first.
    Preempted(Rule),
}

/// Why a process is not waited for.
#[derive(Clone, Copy, Debug)]
pub(super) enum NoWait {
    /// Nothing of it has been done in its slice.
    NotDone,
    /// The device has no seeks and its own queue.
    NoSeeks,
    /// It thinks too long, or is never waited for.
    NotWorth(Duration),
    /// So many requests are in flight.
    InFlight(u64),
    /// It is not there any more.
    Gone,
    /// It thinks longer than what is left of its slice.
    ThinksLong { mean: Duration, left: Duration },
    /// Somebody else was close when its request was done.
    Company,
}

/// By which rule a queue goes before the one whose slice it is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Rule {
    SliceUsed,
    NotIdleClass,
    Sync,
    Metadata,
    RealTime,
    /// The request is so many sectors from the head, and the process is waited for.
    Close(u64),
}

impl Rule {
    const fn word(self) -> &'static str {
        match self {
            Rule::SliceUsed => "whose slice was used up",
            Rule::NotIdleClass => "of the idle class",
            Rule::Sync => "not synchronous",
            Rule::Metadata => "without metadata requests",
            Rule::RealTime => "not of the real-time class",
            Rule::Close(_) => "which was waited for",
        }
    }
}

/// The end of a slice.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ended {
    pub(super) end: End,
    pub(super) kind: &'static str,
    pub(super) number: Fact,
}

/// How a queue came to be served.
#[derive(Clone, Copy)]
pub(super) enum Choice {
    GoesOn,
    First,
    Close(u64),
}

/// What to call a queue: what it is, and its process or level.
pub(super) fn name(queue: &Queue) -> (&'static str, Fact) {
    if queue.sync {
        return ("process", queue.who.into());
    }
    let kind = match queue.class {
        Class::RealTime => "async real-time level",
        Class::BestEffort => "async level",
        Class::Idle => "async idle level",
    };
    (kind, u64::from(queue.level).into())
}

impl Ended {
    pub(super) fn new(end: End, queue: &Queue) -> Ended {
        let (kind, number) = name(queue);
        Ended { end, kind, number }
    }

    /// Says why that slice ended.
    fn say(self, cx: Cx<'_>) {
        let Ended { end, kind, number } = self;
        let (kind, who) = (Fact::Word(kind), number);
        match end {
            End::Used(over) => cx.rather("the slice of {} {} is over since {}", || [kind, who, over.into()]),
            End::Quota(count) => {
                cx.rather("{} {} has sent its {} requests", || [kind, who, count.into()]);
            }
            End::IdleClass => cx.rather("{} {}, of the idle class, has had its request", || [kind, who]),
            End::Waited(time) => cx.rather("{} {} was waited for {} in vain", || [kind, who, time.into()]),
            End::Closer(far) => cx
                .rather("no wait for {} {}: another is {} sectors from the head", || [kind, who, far.into()]),
            End::Exited => cx.rather("{} {} has exited", || [kind, who]),
            End::Preempted(Rule::Close(far)) => {
                cx.rather("{} {} is waited for no more: a request is {} sectors from the head", || {
                    [kind, who, far.into()]
                });
            }
            End::Preempted(rule) => cx.rather("it goes before {} {}, {}", || [kind, who, rule.word().into()]),
            End::Empty(why) => Self::say_no_wait(cx, kind, who, why),
        }
    }

    fn say_no_wait(cx: Cx<'_>, kind: Fact, who: Fact, why: NoWait) {
        match why {
            NoWait::NotDone => cx.rather("{} {} has no more requests", || [kind, who]),
            NoWait::NoSeeks => {
                cx.rather("no wait for {} {} on a device without seeks", || [kind, who]);
            }
            NoWait::NotWorth(mean) => {
                cx.rather("no wait for {} {}, which thinks {}", || [kind, who, mean.into()]);
            }
            NoWait::InFlight(count) => {
                cx.rather("no wait for {} {} with {} in flight", || [kind, who, count.into()]);
            }
            NoWait::Gone => cx.rather("no wait for {} {}, which is gone", || [kind, who]),
            NoWait::ThinksLong { mean, left } => {
                cx.rather("no wait for {} {}, which thinks {} and has {} left", || {
                    [kind, who, mean.into(), left.into()]
                });
            }
            NoWait::Company => cx.rather("no wait for {} {}: another was close", || [kind, who]),
        }
    }
}

impl Cfq {
    /// Says why `id` of the queue `index` goes.
    #[cold]
    pub(super) fn say_why(&self, cx: Cx<'_>, index: Index, id: RequestId, choice: Choice, overdue: bool) {
        if let Some(ended) = self.ended {
            ended.say(cx);
        }
        let queue = &self.queues[index];
        let (kind, who) = name(queue);
        let (kind, slice) = (Fact::Word(kind), self.settings.slice(queue.sync, queue.level));
        if overdue {
            let late = cx.now.since(self.queues.due(id));
            return cx.because("{} {} has a request {} overdue, which it looks at once in a slice", || {
                [kind, who, late.into()]
            });
        }
        match choice {
            Choice::First => cx.because("a slice of {} begins for {} {}, first of {} queues", || {
                [slice.into(), kind, who, self.busy.into()]
            }),
            Choice::Close(far) => cx
                .because("a slice of {} begins for {} {}, {} sectors from the head", || {
                    [slice.into(), kind, who, far.into()]
                }),
            Choice::GoesOn => self.say_it_goes_on(cx, kind, who, slice),
        }
    }

    fn say_it_goes_on(&self, cx: Cx<'_>, kind: Fact, who: Fact, slice: Duration) {
        match self.active.as_ref().and_then(|active| active.end) {
            None => cx.because("{} {} goes on; its slice of {} begins with its first completion", || {
                [kind, who, slice.into()]
            }),
            Some(end) if cx.now < end => {
                cx.because("{} {} goes on with {} of its slice left", || {
                    [kind, who, end.since(cx.now).into()]
                });
            }
            Some(end) => {
                cx.because("{} {} has issued what it was waited for, {} after its slice", || {
                    [kind, who, cx.now.since(end).into()]
                });
            }
        }
    }

    /// Says who is waited for.
    pub(super) fn say_wait(&self, cx: Cx<'_>, active: &Slice) {
        let queue = &self.queues[active.queue];
        match active.wait.filter(|wait| !wait.over) {
            Some(wait) => {
                let who: Issuer = active.process.map_or(queue.who, |who| self.processes.who(who.place));
                let thought =
                    active.process.map_or(Duration::ZERO, |who| self.processes[who.place].mean_thought());
                cx.because("waits for process {} until {}: its mean think time is {}", || {
                    [who.into(), wait.until.into(), thought.into()]
                });
            }
            None => cx
                .because("waits until {} of process {} in flight are done, and then for its next", || {
                    [u64::from(queue.in_flight).into(), queue.who.into()]
                }),
        }
    }
}
