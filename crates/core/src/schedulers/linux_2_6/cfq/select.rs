//! Which queue has the disk next, and whether it may send a request now.
//!
//! Nothing here changes anything: a call that yields nothing leaves all as it was.

use super::Cfq;
use super::order::{same_class, time_of};
use super::queues::{Index, Queue};
use super::reasons::{Choice, End};
use super::slices::Slice;
use crate::scheduler::Cx;
use crate::units::{Duration, Instant};

/// What a queue that is alone may have in flight, in quanta.
const ALONE: u64 = 4;

/// Who is to be served.
#[derive(Clone, Copy)]
pub(super) enum Plan {
    /// Whose slice it is goes on.
    Keep(Index),
    /// Another has the disk now, by this choice; and the slice of one before ends for this reason.
    Change { to: Index, choice: Choice, end: Option<End> },
    /// Whose slice it is, is waited for.
    Wait,
}

/// Why a queue may not send a request now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hold {
    /// So many asynchronous requests are in flight, before which this one would have to wait.
    AsyncInFlight(u64),
    /// So many synchronous ones are, and this one is not.
    SyncInFlight(u64),
    /// So many of the queue are.
    Enough(u64),
    /// It is not so long enough ago that synchronous requests were done: until then.
    Ramp(Instant),
}

impl Cfq {
    pub(super) fn plan(&self, cx: Cx<'_>) -> Option<Plan> {
        let Some(active) = &self.active else {
            let (_, to) = self.order.first()?;
            return Some(Plan::Change { to, choice: Choice::First, end: None });
        };
        let index = active.queue;
        if active.used(cx.now) && !active.owed {
            let over = active.end.map_or(Duration::ZERO, |end| cx.now.since(end));
            return self.change(cx, End::Used(over));
        }
        let queue = &self.queues[index];
        if !queue.is_empty() {
            return Some(Plan::Keep(index));
        }
        if let Some((to, far)) = self.cooperator(cx, index) {
            return Some(Plan::Change { to, choice: Choice::Close(far), end: Some(End::Closer(far)) });
        }
        if active.wait.is_some_and(|wait| !wait.over) || queue.in_flight > 0 && queue.worth_waiting {
            return Some(Plan::Wait);
        }
        self.change(cx, End::Empty(active.no_wait))
    }

    /// The queue that is first once the one whose slice it is has its new key.
    fn change(&self, cx: Cx<'_>, end: End) -> Option<Plan> {
        let first = self.order.first();
        let again = self.key_again(cx.now);
        let to = match (first, again) {
            (Some((key, first)), Some((own, index))) => {
                if key <= own {
                    first
                } else {
                    index
                }
            }
            (first, again) => first.or(again)?.1,
        };
        Some(Plan::Change { to, choice: Choice::First, end: Some(end) })
    }

    /// The key that the queue whose slice it is would get now, if it has requests.
    fn key_again(&self, now: Instant) -> Option<(u64, Index)> {
        let active = self.active.as_ref()?;
        let waits = !self.queues[active.queue].is_empty();
        waits.then(|| (self.key_now(active.queue, now), active.queue))
    }

    /// Whether the queue `index`, which has requests, may send one now.
    #[inline]
    pub(super) fn may_send(&self, now: Instant, index: Index) -> Result<(), Hold> {
        let queue = &self.queues[index];
        let [others, _] = self.in_flight;
        if queue.worth_waiting && others > 0 {
            return Err(Hold::AsyncInFlight(others));
        }
        if !queue.sync && self.sync_in_flight > 0 {
            return Err(Hold::SyncInFlight(self.sync_in_flight));
        }
        let own = u64::from(queue.in_flight);
        let most = self.most_in_flight(queue);
        if own >= most {
            return Err(Hold::Enough(own));
        }
        if !queue.sync && self.settings.low_latency {
            return self.ramp(now, own);
        }
        Ok(())
    }

    /// How many requests of `queue` may be in flight.
    fn most_in_flight(&self, queue: &Queue) -> u64 {
        let quantum = self.settings.quantum.0;
        match (queue.is_idle_class(), u64::from(queue.in_flight) >= quantum) {
            (true, _) => 1,
            (false, true) if self.busy == 1 => ALONE * quantum,
            _ => quantum,
        }
    }

    /// A queue of asynchronous requests, of which `own` are in flight, may have one more for each
    /// `slice_sync` since a synchronous one was done; always one.
    fn ramp(&self, now: Instant, own: u64) -> Result<(), Hold> {
        let Some(last) = self.last_sync.filter(|_| own > 0) else { return Ok(()) };
        let from = last + self.settings.slice_sync.0 * (own + 1);
        if now >= from { Ok(()) } else { Err(Hold::Ramp(from)) }
    }

    /// When the answer can be another though nothing happens, after `plan` was held back, or is to wait.
    pub(super) fn changes_at(&self, now: Instant, plan: Plan, hold: Option<Hold>) -> Option<Instant> {
        let active = self.active.as_ref();
        let over = |active: &Slice| active.end.filter(|end| *end > now && self.order.first().is_some());
        let wait = |active: &Slice| active.wait.filter(|wait| !wait.over).map(|wait| wait.until);
        let ramp = match hold {
            Some(Hold::Ramp(from)) => Some(from),
            _ => None,
        };
        let times = [active.and_then(over), active.and_then(wait), ramp, self.overtaken_at(now, plan)];
        times.into_iter().flatten().filter(|time| *time > now).min()
    }

    /// When another queue comes before the one whose slice it was and would be again: its key would
    /// grow with time.
    fn overtaken_at(&self, now: Instant, plan: Plan) -> Option<Instant> {
        let Plan::Change { to, .. } = plan else { return None };
        let (own, _) = self.key_again(now).filter(|(_, index)| *index == to)?;
        let (first, _) = self.order.first().filter(|(first, _)| same_class(*first, own))?;
        Some(now + Duration(time_of(first).saturating_sub(time_of(own)).max(0) as u64))
    }
}
