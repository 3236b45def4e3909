//! Why a queue is served, and why the one before is not any more, in words and numbers.

use super::in_flight::Hold;
use super::preemption::Rule;
use super::processes::Processes;
use super::queues::{Index, Queues};
use super::service::{Choice, End, Ended, Service};
use super::slice::{NoWait, Slice};
use crate::scheduler::Cx;
use crate::units::{Duration, Instant};
use crate::why::Fact;

const fn before(rule: Rule) -> &'static str {
    match rule {
        Rule::SliceUsed => "whose slice was used up",
        Rule::NotIdleClass => "of the idle class",
        Rule::Sync => "not synchronous",
        Rule::Metadata => "without metadata requests",
        Rule::RealTime => "not of the real-time class",
        Rule::Close(_) => "which was waited for",
    }
}

/// Says why the slice before ended.
fn slice_ended(cx: Cx<'_>, Ended { end, name: [kind, who] }: Ended) {
    match end {
        End::Used(over) => cx.rather("the slice of {} {} is over since {}", || [kind, who, over.into()]),
        End::Quota(count) => {
            cx.rather("{} {} has sent its {} requests", || [kind, who, count.into()]);
        }
        End::IdleClass => cx.rather("{} {}, of the idle class, has had its request", || [kind, who]),
        End::Waited(time) => cx.rather("{} {} was waited for {} in vain", || [kind, who, time.into()]),
        End::Closer(far) => {
            cx.rather("no wait for {} {}: another is {} sectors from the head", || [kind, who, far.into()]);
        }
        End::Exited => cx.rather("{} {} has exited", || [kind, who]),
        End::Preempted(Rule::Close(far)) => {
            cx.rather("{} {} is waited for no more: a request is {} sectors from the head", || {
                [kind, who, far.into()]
            });
        }
        End::Preempted(rule) => cx.rather("it goes before {} {}, {}", || [kind, who, before(rule).into()]),
        End::Empty(why) => not_waited_for(cx, kind, who, why),
    }
}

fn not_waited_for(cx: Cx<'_>, kind: Fact, who: Fact, why: NoWait) {
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

/// Says why the next request of the queue `index` goes. If it is overdue, it is so `late`.
#[cold]
pub(super) fn goes(
    cx: Cx<'_>,
    service: &Service,
    queues: &Queues,
    index: Index,
    slice: Duration,
    choice: Choice,
    late: Option<Duration>,
) {
    if let Some(ended) = service.ended() {
        slice_ended(cx, ended);
    }
    let [kind, who] = queues[index].name();
    match (late, choice) {
        (Some(late), _) => cx
            .because("{} {} has a request {} overdue, which it looks at once in a slice", || {
                [kind, who, late.into()]
            }),
        (_, Choice::First) => cx.because("a slice of {} begins for {} {}, first of {} queues", || {
            [slice.into(), kind, who, queues.busy().into()]
        }),
        (_, Choice::Close(far)) => {
            cx.because("a slice of {} begins for {} {}, {} sectors from the head", || {
                [slice.into(), kind, who, far.into()]
            });
        }
        (_, Choice::GoesOn) => goes_on(cx, kind, who, slice, service.slice().and_then(Slice::end)),
    }
}

fn goes_on(cx: Cx<'_>, kind: Fact, who: Fact, slice: Duration, end: Option<Instant>) {
    match end {
        None => cx.because("{} {} goes on; its slice of {} begins with its first completion", || {
            [kind, who, slice.into()]
        }),
        Some(end) if cx.now < end => {
            cx.because("{} {} goes on with {} of its slice left", || [kind, who, end.since(cx.now).into()]);
        }
        Some(end) => cx.because("{} {} has issued what it was waited for, {} after its slice", || {
            [kind, who, cx.now.since(end).into()]
        }),
    }
}

/// Says why the queue of this name may not send a request now.
pub(super) fn holds(cx: Cx<'_>, [kind, who]: [Fact; 2], hold: Hold) {
    let (text, fact): (_, Fact) = match hold {
        Hold::AsyncInFlight(count) => ("{} {} waits for the {} async requests in flight", count.into()),
        Hold::SyncInFlight(count) => ("{} {} waits for the {} sync requests in flight", count.into()),
        Hold::Enough(count) => ("{} {} has {} in flight, which is enough", count.into()),
        Hold::Ramp(from) => ("{} {} may have one more in flight at {}", from.into()),
    };
    cx.because(text, || [kind, who, fact]);
}

/// Says who is waited for.
pub(super) fn waits(cx: Cx<'_>, queues: &Queues, processes: &Processes, slice: &Slice) {
    let queue = &queues[slice.queue()];
    let Some(until) = slice.waits_until() else {
        return cx.because("waits until {} of process {} in flight are done, and then for its next", || {
            [queue.in_flight.into(), queue.who().into()]
        });
    };
    let awaited = slice.process();
    let who = awaited.map_or(queue.who(), |who| processes.issuer(who));
    let thought = awaited.map_or(Duration::ZERO, |who| processes[who.place].mean_thought());
    cx.because("waits for process {} until {}: its mean think time is {}", || {
        [who.into(), until.into(), thought.into()]
    });
}
