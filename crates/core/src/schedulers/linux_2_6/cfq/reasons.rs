//! Why a queue is served, and why the one before is not any more, in words and numbers.

use super::in_flight::Hold;
use super::processes::Processes;
use super::queues::{Index, Queues};
use super::service::{Choice, End, Ended, Service};
use super::slice::{NoWait, Rule, Slice};
use crate::scheduler::Cx;
use crate::units::Duration;
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
    let (text, fact): (_, Fact) = match end {
        End::Used(over) => ("the slice of {} {} is over since {}", over.into()),
        End::Quota(count) => ("{} {} has sent its {} requests", count.into()),
        End::IdleClass => ("{} {}, of the {} class, has had its request", "idle".into()),
        End::Waited(time) => ("{} {} was waited for {} in vain", time.into()),
        End::Closer(far) => ("no wait for {} {}: another is {} sectors from the head", far.into()),
        End::Exited => ("{} {} has {}", "exited".into()),
        End::Preempted(Rule::Close(far)) => {
            ("{} {} is waited for no more: a request is {} sectors from the head", far.into())
        }
        End::Preempted(rule) => ("a new request goes before {} {}, {}", before(rule).into()),
        End::Empty(NoWait::NotDone) => ("{} {} has no more {}", "requests".into()),
        End::Empty(NoWait::NoSeeks) => ("no wait for {} {} on a device without {}", "seeks".into()),
        End::Empty(NoWait::NotWorth(mean)) => ("no wait for {} {}, which thinks {}", mean.into()),
        End::Empty(NoWait::InFlight(count)) => ("no wait for {} {} with {} in flight", count.into()),
        End::Empty(NoWait::Gone) => ("no wait for {} {}, which is {}", "gone".into()),
        End::Empty(NoWait::ThinksLong { mean, left }) => {
            return cx.rather("no wait for {} {}, which thinks {} and has {} left", || {
                [kind, who, mean.into(), left.into()]
            });
        }
        End::Empty(NoWait::Company) => ("no wait for {} {}: another was {}", "close".into()),
    };
    cx.rather(text, || [kind, who, fact]);
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
        (_, Choice::GoesOn) => {
            let (text, time) = match service.slice().and_then(|slice| slice.end) {
                None => ("{} {} goes on; its slice of {} begins with its first completion", slice),
                Some(end) if cx.now < end => ("{} {} goes on with {} of its slice left", end.since(cx.now)),
                Some(end) => {
                    ("{} {} has issued what it was waited for, {} after its slice", cx.now.since(end))
                }
            };
            cx.because(text, || [kind, who, time.into()]);
        }
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
    let queue = &queues[slice.queue];
    let Some(until) = slice.waits_until() else {
        return cx.because("waits until {} of process {} in flight are done, and then for its next", || {
            [queue.in_flight.into(), queue.who.into()]
        });
    };
    let awaited = slice.process;
    let who = awaited.map_or(queue.who, |who| processes.issuer(who));
    let thought = awaited.map_or(Duration::ZERO, |who| processes[who.place].mean_thought());
    cx.because("waits for process {} until {}: its mean think time is {}", || {
        [who.into(), until.into(), thought.into()]
    });
}
