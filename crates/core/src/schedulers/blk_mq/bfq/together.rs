//! Stable merging: processes that begin together, such as the workers of one program, share a queue for good.
//!
//! A queue that is created within 180 ms of another of the same class and weight is taken for one of the same
//! program, whose processes need no protection from each other. On a device without heads that takes several
//! commands they share a queue at once. On another one they do so 600 ms later, unless it is faster to wait for
//! the process alone, because it streams.

use super::Bfq;
use super::queue::Ref;
use super::raise::{BURST_GAP, passed};
use crate::collections::Place;
use crate::scheduler::Cx;
use crate::units::Duration;

/// Linux's `bfq_activation_stable_merging`: after that, another queue is the one that is compared with.
const TOGETHER: Duration = Duration::from_ms(600);
/// Linux's `bfq_late_stable_merging`: so long a queue is watched before its process shares another.
const WATCHED: Duration = Duration::from_ms(600);

impl Bfq {
    /// The device reorders by itself, and far is as good as near.
    pub(super) fn reorders(&self, cx: Cx<'_>) -> bool {
        !cx.device.rotational && self.tagging.queues()
    }

    /// The process at `place` issues its first synchronous request: its queue counts as created.
    #[cold]
    pub(super) fn meet(&mut self, cx: Cx<'_>, place: Place) {
        let own = place.index();
        self.processes[own].met = true;
        if self.processes[own].queue != own {
            return;
        }
        self.queues[own].born = cx.now;
        let rank = |index: usize| {
            let entity = &self.service.entities[index];
            (entity.wanted_class, entity.wanted)
        };
        let last = self.alive(self.last_created).filter(|last| rank(*last) == rank(own));
        let Some(last) = last.filter(|last| !passed(Some(self.queues[*last].born), TOGETHER, cx.now)) else {
            self.last_created = Some(self.reference(own));
            return;
        };
        if passed(Some(self.queues[last].born), BURST_GAP, cx.now) {
            return;
        }
        if self.reorders(cx) {
            self.join_stably(cx, place, own, last);
        } else {
            self.processes[own].stable = Some(self.reference(last));
        }
    }

    /// The queue that the process at `place`, which issues into `index`, goes on in for good, if the time to
    /// decide that has come; `index` if it does not.
    pub(super) fn stable_host(&mut self, cx: Cx<'_>, place: Place, index: usize) -> Option<usize> {
        let stable = self.processes[place.index()].stable?;
        let queue = &self.queues[index];
        let watched = passed(Some(queue.born), WATCHED, cx.now) && passed(queue.split, WATCHED, cx.now);
        if self.reorders(cx) || queue.created || !watched {
            return None;
        }
        self.processes[place.index()].stable = None;
        let host = self.alive(Some(stable)).filter(|_| !self.idling_boosts(cx, &self.queues[index]));
        Some(host.map_or(index, |host| self.join_stably(cx, place, index, host)))
    }

    /// Makes the process at `place` share `host` and not part from it. Returns the queue it goes on in.
    fn join_stably(&mut self, cx: Cx<'_>, place: Place, index: usize, host: usize) -> usize {
        let alone = !self.queues[host].shared;
        if index == host || self.queues[host].users == 0 || !self.join(cx, index, host) {
            return index;
        }
        self.processes[place.index()].stably = true;
        if alone && self.is_at_home(host) {
            self.processes[host].stably = true;
        }
        host
    }

    /// Processes go from `index` to `host`: what was to be done with the one is done with the other.
    pub(super) fn follow(&mut self, index: Ref, host: Option<Ref>) {
        if self.last_created == Some(index) {
            self.last_created = host;
        }
    }
}
