//! Sharing: processes that read near each other, or that begin together, issue into one queue.
//!
//! *Early queue merge*: a process whose request is within 4 MiB of where the queue in service is, or of another
//! queue's next request, issues into that queue from then on, as do the threads of a backup program. Together they
//! are sequential. If the shared queue turns out to be seeky, the guests go back to their own.
//!
//! *Stable merge*: a queue that is created within 180 ms of another of the same class and weight is taken for one
//! of the same program, whose processes need no protection from each other. On a device without heads that takes
//! several commands they share a queue for good, at once. On another one they do so 600 ms later, unless it is
//! faster to wait for the process alone, because it streams.

use super::idling;
use super::processes::Ref;
use super::queues::Queues;
use super::raise::{BURST_GAP, passed};
use crate::collections::Place;
use crate::scheduler::Cx;
use crate::units::{Duration, Sector};

/// Linux's `bfq_activation_stable_merging`: after that, another queue is the one that is compared with.
const TOGETHER: Duration = Duration::from_ms(600);
/// Linux's `bfq_late_stable_merging`: so long a queue is watched before its process shares another.
const WATCHED: Duration = Duration::from_ms(600);
/// Right after it came back to its own queue, a process does not count towards a burst.
const SPLIT_SETTLES: Duration = Duration::from_ms(10);

/// Linux's `BFQQ_CLOSE_THR`, in sectors.
const CLOSE: u64 = 8 * 1024;

/// Whether the device reorders by itself, and far is as good as near.
fn reorders(queues: &Queues, cx: Cx<'_>) -> bool {
    !cx.device.rotational && queues.tagging.queues()
}

/// The queue that continues near `start`, if the processes of `queue` may issue into that one.
fn queue_to_join(queues: &mut Queues, cx: Cx<'_>, queue: usize, start: Sector) -> Option<usize> {
    let sharable = |queue: usize| queues.is_sharable(cx.now, queue);
    if !sharable(queue) || reorders(queues, cx) || queues.wf2q.busy() == 1 {
        return None;
    }
    let class = |queue: usize| queues.wf2q.entities[queue].class;
    let suits = |serving: &usize| *serving != queue && class(*serving) == class(queue) && sharable(*serving);
    let serving = queues.wf2q.in_service.filter(|_| start.distance(queues.served_to) <= CLOSE).filter(suits);
    serving.or_else(|| queues.nearest(cx.now, queue, start, CLOSE))
}

/// Who shares whose queue, and why.
#[derive(Default)]
pub(super) struct Sharing {
    /// The queue that those created after it are compared with.
    last_created: Option<Ref>,
}

impl Sharing {
    /// The queue in which a synchronous request at `start` of the process at `place` goes: another's, if the
    /// request is close to where that one continues.
    pub(super) fn lead(&mut self, queues: &mut Queues, cx: Cx<'_>, place: Place, start: Sector) -> usize {
        let process = &mut queues.processes.list[place.index()];
        let mut queue = process.queue;
        if !core::mem::replace(&mut process.met, true) {
            self.meet(queues, cx, place);
            queue = queues.processes.queue(place);
        }
        let owner = &queues.processes.owners[queue];
        if owner.splits || owner.new {
            queue = self.split(queues, cx, place, queue);
        }
        if let Some(joined) = self.stable_queue_to_join(queues, cx, place.index(), queue) {
            return joined;
        }
        let joined =
            queue_to_join(queues, cx, queue, start).filter(|joined| self.join(queues, cx, queue, *joined));
        joined.unwrap_or(queue)
    }

    /// The queue of the process at `place`: its own again, if `queue` is another's and the sharing is to end. One that
    /// is new counts as created.
    #[cold]
    fn split(&mut self, queues: &mut Queues, cx: Cx<'_>, place: Place, queue: usize) -> usize {
        let (own, stably) = (place.index(), queues.processes.list[place.index()].stably);
        let owner = &mut queues.processes.owners[queue];
        if owner.splits && !stably {
            if owner.users == 1 {
                (owner.shared, owner.splits) = (false, false);
            } else if own != queue {
                let saved = queues.processes.list[own].saved.take();
                queues.come_back(cx, place, saved);
                queues.processes.list[own].split = Some(cx.now);
                return own;
            }
        }
        if queues.processes.owners[queue].new && queues.processes.is_settled(cx.now, queue, SPLIT_SETTLES) {
            queues.note_created(cx.now, queue);
        }
        queue
    }

    /// Makes all processes of `queue` issue into `joined`, unless too many are guests or there are none.
    fn join(&mut self, queues: &mut Queues, cx: Cx<'_>, queue: usize, joined: usize) -> bool {
        if !queues.processes.can_move(queue) {
            return false;
        }
        for queue in [queue, joined] {
            if !queues.processes.owners[queue].shared {
                queues.processes.list[queue].saved = Some(queues.raise_to_save(cx.now, queue));
            }
        }
        let (from, to) = (queues.processes.reference(queue), queues.processes.reference(joined));
        queues.join(cx, queue, joined);
        self.follow(from, Some(to));
        true
    }

    /// Processes go from `queue` to `joined`: what was to be done with the one is done with the other.
    pub(super) fn follow(&mut self, queue: Ref, joined: Option<Ref>) {
        if self.last_created == Some(queue) {
            self.last_created = joined;
        }
    }

    /// The process at `place` issues its first synchronous request: its queue counts as created.
    #[cold]
    fn meet(&mut self, queues: &mut Queues, cx: Cx<'_>, place: Place) {
        let own = place.index();
        if queues.processes.queue(place) != own {
            return;
        }
        queues.processes.list[own].born = cx.now;
        let last = queues.processes.alive(self.last_created).filter(|last| {
            let (last, own) = (queues.wf2q.entities[*last], queues.wf2q.entities[own]);
            (last.wanted_class, last.wanted) == (own.wanted_class, own.wanted)
        });
        let Some(last) =
            last.filter(|last| !passed(Some(queues.processes.list[*last].born), TOGETHER, cx.now))
        else {
            self.last_created = Some(queues.processes.reference(own));
            return;
        };
        if passed(Some(queues.processes.list[last].born), BURST_GAP, cx.now) {
            return;
        }
        if reorders(queues, cx) {
            let stably = self.join_stably(queues, cx, own, last);
            queues.processes.list[own].stably |= stably;
        } else {
            queues.processes.list[own].stable = Some(queues.processes.reference(last));
        }
    }

    /// The queue in which the process with the queue `own`, which issues into `queue`, continues for good, if the time to
    /// decide that has come; `queue` if it does not.
    fn stable_queue_to_join(
        &mut self,
        queues: &mut Queues,
        cx: Cx<'_>,
        own: usize,
        queue: usize,
    ) -> Option<usize> {
        let stable = queues.processes.list[own].stable?;
        let watched = passed(Some(queues.processes.list[queue].born), WATCHED, cx.now)
            && queues.processes.is_settled(cx.now, queue, WATCHED);
        if reorders(queues, cx) || queues.processes.owners[queue].new || !watched {
            return None;
        }
        queues.processes.list[own].stable = None;
        let joined = queues.processes.alive(Some(stable)).filter(|_| !idling::boosts(queues, cx, queue));
        let joined = joined.filter(|joined| self.join_stably(queues, cx, queue, *joined));
        queues.processes.list[own].stably |= joined.is_some();
        Some(joined.unwrap_or(queue))
    }

    /// Makes the processes of `queue` share `joined`, whose own process does not part from it. True if they do.
    fn join_stably(&mut self, queues: &mut Queues, cx: Cx<'_>, queue: usize, joined: usize) -> bool {
        let alone = !queues.processes.owners[joined].shared;
        if queue == joined
            || queues.processes.owners[joined].users == 0
            || !self.join(queues, cx, queue, joined)
        {
            return false;
        }
        if alone && queues.processes.is_at_home(joined) {
            queues.processes.list[joined].stably = true;
        }
        true
    }
}
