//! Idling: when the queue in service has nothing waiting, but its process will soon ask for more.
//!
//! It is idled for if that is faster, as its requests are sequential and the device has nothing better to
//! do in between, or if it would else lose its share: because others differ from it in class or weight.

use super::Bfq;
use super::budget::Reason;
use super::queue::Queue;
use super::raise::passed;
use crate::scheduler::{Cx, Decision};
use crate::units::{Duration, Instant};

/// Linux's default `slice_idle`: the least with `strict_guarantees`.
const LEAST_STRICT: Duration = Duration::from_ms(8);

impl Bfq {
    /// How long a process is waited for, by the tunables.
    pub(super) fn slice_idle(&self) -> Duration {
        let set = self.tunables.slice_idle.0;
        if self.tunables.strict_guarantees { set.max(LEAST_STRICT) } else { set }
    }

    /// Idling is no loss: the device does one thing at a time, or would else seek; and nobody is raised.
    pub(super) fn idling_boosts(&self, cx: Cx<'_>, queue: &Queue) -> bool {
        let (rotational, queues) = (cx.device.rotational, self.tagging.queues());
        let streams = !queue.is_seeky() && queue.io_bound && queue.thinks_little;
        let boosts = rotational && !queues || (rotational || !queues) && streams;
        queue.users > 0 && boosts && self.raised_busy == 0
    }

    /// Without idling it would lose what it is entitled to.
    pub(super) fn idling_needed(&self, index: usize) -> bool {
        let queue = &self.queues[index];
        let busy = self.service.shares.busy();
        let behind_others = self.raised_busy < busy || self.in_flight >= queue.in_flight + 4;
        let raised = queue.is_raised() && behind_others;
        queue.users > 0 && (raised || self.service.shares.differ(index) || busy == 1)
    }

    pub(super) fn better_to_idle(&self, cx: Cx<'_>, index: usize) -> bool {
        let (queue, entity) = (&self.queues[index], &self.service.entities[index]);
        if queue.users == 0 {
            return false;
        }
        if self.tunables.strict_guarantees {
            return true;
        }
        let never = self.slice_idle() == Duration::ZERO || !queue.is_sync();
        if never || entity.class == crate::request::Class::Idle {
            return false;
        }
        self.idling_boosts(cx, queue) || self.idling_needed(index)
    }

    /// It has nothing waiting, and is idled for.
    pub(super) fn must_idle(&self, cx: Cx<'_>, index: usize) -> bool {
        self.queues[index].is_empty() && self.better_to_idle(cx, index)
    }

    /// The device is done with all requests of the queue in service: its process thinks from now on.
    pub(super) fn arm(&mut self, cx: Cx<'_>, index: usize) {
        let differs = self.service.shares.differ(index);
        let time = self.queues[index].idles_for(self.slice_idle(), differs);
        self.idling_since = cx.now;
        self.idle = Some(cx.now + time);
    }

    /// Lets the wait end, if its time has come. Calls do that first, as of that time, so that it does not
    /// matter whether the host asked then.
    #[inline]
    pub(super) fn catch_up(&mut self, cx: Cx<'_>) {
        if let Some(until) = self.idle.filter(|until| *until <= cx.now) {
            self.give_up(cx.at(until));
        }
    }

    fn give_up(&mut self, cx: Cx<'_>) {
        self.idle = None;
        let Some(index) = self.service.in_service else { return };
        if self.timed_out(cx.now, index) {
            self.expire(cx, index, Reason::Timeout, true);
        } else if self.queues[index].is_empty() {
            self.expire(cx, index, Reason::TooIdle, true);
        }
    }

    /// Its time is over.
    pub(super) fn timed_out(&self, now: Instant, index: usize) -> bool {
        self.queues[index].timeout.is_none_or(|at| at <= now)
    }

    /// While it is idled for, a queue that has used most of its budget may finish what it began.
    fn has_third_left(&self, index: usize) -> bool {
        let entity = &self.service.entities[index];
        entity.left() >= entity.budget / 3
    }

    /// Its time is over, and that ends its service.
    pub(super) fn times_out(&self, now: Instant, index: usize) -> bool {
        self.timed_out(now, index) && (self.idle.is_none() || self.has_third_left(index))
    }

    /// The answer while the queue in service is idled for: until when, if nothing happens.
    pub(super) fn wait_on(&self, cx: Cx<'_>, index: usize) -> Decision {
        let queue = &self.queues[index];
        let Some(mut until) = self.idle else {
            cx.because("waits until what process {} has in flight is done, and then for its next", || {
                [queue.who.into()]
            });
            return Decision::Idle;
        };
        if let Some(timeout) = queue.timeout
            && timeout > cx.now
            && self.has_third_left(index)
            && !self.better_to_idle(cx, index)
        {
            until = until.min(timeout);
        }
        self.explain_wait(cx, index, until);
        Decision::WaitUntil(until)
    }

    fn explain_wait(&self, cx: Cx<'_>, index: usize, until: Instant) {
        let queue = &self.queues[index];
        let left = self.service.entities[index].left();
        let facts = || [queue.who.into(), until.into(), Duration(queue.thought.mean).into(), left.into()];
        if queue.is_raised() {
            cx.because(
                "waits for process {}, which is raised, until {}: it thinks {}; budget left: {}",
                facts,
            );
        } else if self.idling_boosts(cx, queue) {
            cx.because(
                "waits for process {} until {}, as that costs nothing: it thinks {}; budget left: {}",
                facts,
            );
        } else {
            cx.because(
                "waits for process {} until {} to keep its share: it thinks {}; budget left: {}",
                facts,
            );
        }
    }

    /// It had nothing to do for long.
    pub(super) fn away_for(&self, now: Instant, index: usize, span: Duration) -> bool {
        let queue = &self.queues[index];
        queue.in_flight == 0 && passed(queue.timeout, span, now)
    }
}

#[cfg(test)]
mod tests {
    use crate::registry::AnyScheduler;
    use crate::units::{Issuer, RequestId, Sector, Sectors};
    use crate::{Decision, Device, Duration, Instant, Merging, Queue, Request, registry};

    #[test]
    fn who_has_used_most_of_its_budget_may_come_late() {
        // Its time is over while it is idled for, which has just been forbidden. Its first budget is 10922 sectors.
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
