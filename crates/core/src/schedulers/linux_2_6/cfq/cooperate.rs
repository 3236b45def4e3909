//! Processes that read near each other: they go on for one another, and share a queue in the end.
//!
//! When the queue that has the disk is empty, another whose next request is close takes over at once.
//! The processes of the one are then to use the other's queue: each moves with its next request. If
//! together they seek far for more than a second, each gets a queue of its own again with its next one.

use super::Cfq;
use super::queues::Index;
use crate::collections::Place;
use crate::scheduler::Cx;
use crate::units::{Duration, Issuer, RequestId};

/// Linux's `CFQQ_COOP_TOUT`: for longer than this, processes that share a queue may not seek far.
const PATIENCE: Duration = Duration::from_s(1);

impl Cfq {
    /// A queue that can go on where `index`, which is empty, ended; and how far from the head.
    ///
    /// Linux looks at the nearest next request, of any queue with the same level.
    pub(super) fn cooperator(&self, cx: Cx<'_>, index: Index) -> Option<(Index, u64)> {
        let queue = &self.queues[index];
        if !queue.sync || queue.seeky() {
            return None;
        }
        // Of requests at one place that with the smallest id; Linux knows only one queue for each place.
        let mut nearest: Option<(u64, bool, RequestId, Index)> = None;
        for other in self.order.iter() {
            let candidate = &self.queues[other];
            let (false, Some(next)) = (candidate.is_idle_class(), candidate.next) else { continue };
            if candidate.level == queue.level {
                let start = cx[next].start;
                let found = (start.distance(self.head), start < self.head, next, other);
                nearest = Some(nearest.map_or(found, |known| known.min(found)));
            }
        }
        let (far, .., other) = nearest.filter(|(far, ..)| *far <= queue.reach())?;
        let candidate = &self.queues[other];
        (candidate.sync && !candidate.seeky()).then_some((other, far))
    }

    /// The processes of one of the two are to use the queue of the other: of the fewer processes.
    pub(super) fn join(&mut self, index: Index, other: Index) {
        if self.queues[index].merges_into.is_some() {
            return;
        }
        let mut target = other;
        while let Some(further) = self.queues[target].merges_into {
            if further == index {
                return;
            }
            target = further;
        }
        let (own, others) = (self.queues[index].users, self.queues[target].users);
        if own == 0 || others == 0 || target == index {
            return;
        }
        if others >= own {
            self.queues[index].merges_into = Some(target);
            self.queues[target].users += own;
        } else {
            self.queues[target].merges_into = Some(index);
            self.queues[index].users += others;
        }
    }

    /// The queue for the next synchronous request of the process at `place`.
    #[inline]
    pub(super) fn queue_of(&mut self, cx: Cx<'_>, place: Place, who: Issuer) -> Index {
        let Some(mut own) = self.processes[place].queue else { return self.open(place, who) };
        if let Some(since) = self.queues[own].seeky_since
            && cx.now.since(since) > PATIENCE
            && self.queues[own].shared
        {
            if self.queues[own].users > 1 {
                self.unuse(own);
                return self.open(place, who);
            }
            let queue = &mut self.queues[own];
            (queue.seeky_since, queue.shared, queue.who) = (None, false, who);
        }
        if let Some(target) = self.queues[own].merges_into {
            self.queues[target].shared = true;
            self.processes[place].queue = Some(target);
            self.queues[own].users -= 1;
            self.tidy(own);
            own = target;
        }
        own
    }

    fn open(&mut self, place: Place, who: Issuer) -> Index {
        let own = self.queues.open(self.processes[place].priority(), who);
        self.processes[place].queue = Some(own);
        own
    }

    /// A process gives up `index`, and with it the queues that it was to use instead.
    pub(super) fn unuse(&mut self, index: Index) {
        let mut at = Some(index);
        while let Some(index) = at {
            at = self.queues[index].merges_into;
            self.queues[index].users -= 1;
            self.tidy(index);
        }
    }

    /// Closes the queue if nobody uses it and it has nothing to do.
    #[inline]
    pub(super) fn tidy(&mut self, index: Index) {
        let queue = &mut self.queues[index];
        if queue.users > 0 {
            return;
        }
        // Nobody moves from it any more. Its target may be closed before it.
        queue.merges_into = None;
        let active = self.active.as_ref().is_some_and(|active| active.queue == index);
        if queue.is_empty() && queue.in_flight == 0 && !active {
            self.queues.close(index);
        }
    }
}
