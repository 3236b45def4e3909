//! Idling: when the queue in service has nothing waiting, but its process will soon ask for more.
//!
//! A queue is idled for if that is faster, as its requests are sequential and the device has nothing better to
//! do in between, or if it would else lose its share: because others differ from it in class or weight.

use super::queues::Queues;
use super::rate::SHORT;
use crate::request::Class;
use crate::scheduler::Cx;
use crate::units::Duration;

/// The least time for which a raised queue is idled for.
const RAISED: Duration = Duration::from_ms(20);
/// With this many requests of others in flight, a raised queue would lose its share.
const CROWD: u32 = 4;

/// Whether idling for `queue` is no loss: the device does one thing at a time, or would else seek; and nobody is
/// raised.
pub(super) fn boosts(queues: &Queues, cx: Cx<'_>, queue: usize) -> bool {
    let (rotational, tagged) = (cx.device.rotational, queues.tagging.queues());
    let streams = queues.list[queue].habits.streams();
    let boosts = rotational && !tagged || (rotational || !tagged) && streams;
    queues.processes.owners[queue].users > 0 && boosts && queues.raised_busy == 0
}

/// Whether `queue` would lose what it is entitled to without idling.
pub(super) fn is_needed(queues: &Queues, queue: usize) -> bool {
    let busy = queues.wf2q.busy();
    let crowded =
        queues.raised_busy < busy || queues.requests.in_flight >= queues.list[queue].line.in_flight + CROWD;
    let raised = queues.list[queue].raise.is_on() && crowded;
    queues.processes.owners[queue].users > 0 && (raised || queues.wf2q.differs(queue) || busy == 1)
}

/// Whether `queue` is idled for when it is empty.
pub(super) fn is_better(queues: &Queues, cx: Cx<'_>, queue: usize) -> bool {
    if queues.processes.owners[queue].users == 0 {
        return false;
    }
    if queues.settings.strict_guarantees {
        return true;
    }
    let never = queues.settings.idle_time() == Duration::ZERO || !queues.processes.is_sync(queue);
    if never || queues.wf2q.entities[queue].class == Class::Idle {
        return false;
    }
    boosts(queues, cx, queue) || is_needed(queues, queue)
}

/// How long `queue` is idled for.
pub(super) fn time(queues: &Queues, queue: usize) -> Duration {
    let slice_idle = queues.settings.idle_time();
    if queues.list[queue].raise.is_on() {
        slice_idle.max(RAISED)
    } else if queues.list[queue].habits.is_seeky() && !queues.wf2q.differs(queue) {
        slice_idle.min(SHORT)
    } else {
        slice_idle
    }
}

#[cfg(test)]
mod tests {
    use crate::registry::AnyScheduler;
    use crate::units::{Issuer, RequestId, Sector, Sectors};
    use crate::{Decision, Device, Duration, Instant, Merging, Queue, Request, registry};

    #[test]
    fn who_has_used_most_of_its_budget_may_come_late() {
        // The queue's time is over while it is idled for, as is just forbidden. Its first budget is 10922 sectors.
        let late = |length: u64| {
            let (bfq, settings) =
                (registry::find("bfq").unwrap(), [("low_latency", 0), ("timeout_sync", 50)]);
            let device = Device { merging: Merging::Off, ..Device::default() };
            let mut queue: Queue<AnyScheduler> = Queue::new(8, device, bfq, &settings).unwrap();
            let mut now = Instant(1);
            for n in 0..6 {
                let read = Request::read(Sector(n * length), Sectors(length as u32)).by(Issuer(1));
                let id = queue.insert(now, read).unwrap().id();
                assert_eq!(queue.dispatch(now), Ok(Decision::Dispatch(id)));
                now += Duration::from_ms(8);
                queue.complete(now, id).unwrap();
            }
            queue.insert(now, Request::read(Sector(90_000_000), Sectors(8)).by(Issuer(2))).unwrap();
            assert_eq!(queue.dispatch(now), Ok(Decision::WaitUntil(now + Duration::from_ms(8))));
            queue.set("slice_idle", 0).unwrap();
            queue.dispatch(now + Duration::from_ms(3)).unwrap()
        };
        assert_eq!(
            late(1_213),
            Decision::Dispatch(RequestId(0)),
            "3644 left, over a third: the other's turn"
        );
        assert_eq!(late(1_214), Decision::WaitUntil(Instant(56_000_001)), "3638 left");
    }
}
