//! Which queue has the disk, and which is next.

use super::queues::{Index, Kind, Queue, Queues};
use super::service_tree::{FRONT, ServiceTree, key_at, same_class, time_of};
use super::slice::{NoWait, Rule, Slice};
use crate::collections::OutOfMemory;
use crate::request::Class;
use crate::scheduler::Cx;
use crate::units::{Duration, Instant, RequestId, Sector};
use crate::why::Fact;

/// Why a slice ended.
#[derive(Clone, Copy, Debug)]
pub(super) enum End {
    /// The slice was used up, this long ago.
    Used(Duration),
    /// As many asynchronous requests went as may.
    Quota(u64),
    /// The queue was of the idle class, which has the disk for one request.
    IdleClass,
    /// The queue's process was waited for in vain.
    Waited(Duration),
    /// The queue has no requests, and is not waited for.
    Empty(NoWait),
    /// A queue that is close continues: how far from the head, in sectors.
    Closer(u64),
    /// The queue's process has exited.
    Exited,
    /// Another goes first.
    Preempted(Rule),
}

/// The end of a slice, and what its queue is called.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ended {
    pub(super) end: End,
    pub(super) name: [Fact; 2],
}

/// How a queue comes to be served.
#[derive(Clone, Copy)]
pub(super) enum Choice {
    GoesOn,
    First,
    Close(u64),
}

/// Who is to be served.
#[derive(Clone, Copy)]
pub(super) enum Plan {
    /// Whose slice it is continues.
    Keep(Index),
    /// Another has the disk now, by this choice; and the slice of one before ends for this reason.
    Change { to: Index, choice: Choice, end: Option<End> },
    /// Whose slice it is, is waited for.
    Wait,
}

/// The queue that has the disk, and the others that have requests.
pub(super) struct Service {
    tree: ServiceTree,
    slice: Option<Slice>,
    /// Why the last slice ended, until the next request goes.
    ended: Option<Ended>,
}

impl Service {
    pub(super) fn new(queues: usize) -> Result<Service, OutOfMemory> {
        Ok(Service { tree: ServiceTree::new(queues)?, slice: None, ended: None })
    }

    /// The queue that has the disk.
    pub(super) fn active(&self) -> Option<Index> {
        self.slice.as_ref().map(|slice| slice.queue)
    }

    pub(super) fn slice(&self) -> Option<&Slice> {
        self.slice.as_ref()
    }

    pub(super) fn slice_mut(&mut self) -> Option<&mut Slice> {
        self.slice.as_mut()
    }

    /// Why the last slice ended, if no request went since.
    pub(super) fn ended(&self) -> Option<Ended> {
        self.ended
    }

    /// A request goes: what was before is history.
    pub(super) fn forget_ended(&mut self) {
        self.ended = None;
    }

    /// The key that `index` gets now.
    #[inline]
    fn key(&self, now: Instant, queues: &Queues, index: Index) -> u64 {
        let Kind { sync, class, level } = queues[index].kind;
        if class == Class::Idle {
            return self.tree.idle_key(now, index, self.active());
        }
        let offset = queues.settings.offset(queues.busy(), sync, level);
        let ahead = offset.saturating_sub(queues[index].residual);
        key_at(class, (now.0 as i64).saturating_add(ahead))
    }

    #[inline]
    fn set_key(&mut self, now: Instant, queues: &mut Queues, index: Index) {
        self.tree.set_key(index, self.key(now, queues, index));
        queues[index].residual = 0;
    }

    /// The queue `index` has its first request.
    #[inline]
    pub(super) fn fills(&mut self, now: Instant, queues: &mut Queues, index: Index) {
        self.set_key(now, queues, index);
        if self.active() != Some(index) {
            self.tree.insert(index);
        }
    }

    /// The queue `index` has sent its last request, or lost it.
    #[inline]
    pub(super) fn ran_empty(&mut self, index: Index) {
        if self.active() != Some(index) {
            self.tree.remove(index);
        }
        self.tree.set_key(index, 0);
    }

    /// The queue `index`, which waits in order or is the one that had the disk last, has it now.
    #[inline]
    pub(super) fn activate(&mut self, index: Index) {
        self.tree.remove(index);
        self.slice = Some(Slice::of(index));
    }

    /// Takes the disk from the queue that has it. If `keep_residual`, what is left of its time, or what
    /// it took too much, counts for its next key. Returns its slice.
    pub(super) fn expire(
        &mut self,
        now: Instant,
        queues: &mut Queues,
        end: End,
        keep_residual: bool,
    ) -> Option<Slice> {
        let slice = self.slice?;
        let index = slice.queue;
        self.ended = Some(Ended { end, name: queues[index].name() });
        if let Some(over) = slice.end.filter(|_| keep_residual) {
            queues[index].residual = (over.0 as i64).saturating_sub(now.0 as i64);
        }
        if !queues[index].is_empty() {
            self.set_key(now, queues, index);
            self.tree.insert(index);
        }
        self.slice = None;
        Some(slice)
    }

    /// The queue `index` goes before all others of its class, of which this is one.
    pub(super) fn move_to_front(&mut self, index: Index, class: Class) {
        let Some((first, _)) = self.tree.first() else { return };
        self.tree.set_key(index, key_at(class, time_of(first) - FRONT));
        self.tree.remove(index);
        self.tree.insert(index);
    }

    /// Who is to be served. To ask changes nothing.
    pub(super) fn plan(&self, cx: Cx<'_>, queues: &Queues, head: Sector, no_seeks: bool) -> Option<Plan> {
        let Some(slice) = &self.slice else {
            let (_, to) = self.tree.first()?;
            return Some(Plan::Change { to, choice: Choice::First, end: None });
        };
        if let Some(over) = slice.over_since(cx.now) {
            return self.change(cx.now, queues, End::Used(over));
        }
        let (index, queue) = (slice.queue, &queues[slice.queue]);
        if !queue.is_empty() {
            return Some(Plan::Keep(index));
        }
        if let Some((to, far)) = self.cooperator(cx, queues, head, queue) {
            return Some(Plan::Change { to, choice: Choice::Close(far), end: Some(End::Closer(far)) });
        }
        let comes_again = queue.in_flight > 0 && queue.idle_window && !no_seeks;
        if slice.waits_until().is_some() || comes_again {
            return Some(Plan::Wait);
        }
        self.change(cx.now, queues, End::Empty(slice.no_wait))
    }

    /// The queue that is first once the one whose slice it is has its new key.
    fn change(&self, now: Instant, queues: &Queues, end: End) -> Option<Plan> {
        let again = self.key_again(now, queues);
        let (_, to) = self.tree.first().into_iter().chain(again).min_by_key(|(key, _)| *key)?;
        Some(Plan::Change { to, choice: Choice::First, end: Some(end) })
    }

    /// The key that the queue whose slice it is would get now, if it has requests.
    fn key_again(&self, now: Instant, queues: &Queues) -> Option<(u64, Index)> {
        let index = self.active().filter(|index| !queues[*index].is_empty())?;
        Some((self.key(now, queues, index), index))
    }

    /// A queue that can continue where `queue`, which is empty, ended; and how far from the head.
    ///
    /// Linux looks at the nearest next request, of any queue with the same level.
    pub(super) fn cooperator(
        &self,
        cx: Cx<'_>,
        queues: &Queues,
        head: Sector,
        queue: &Queue,
    ) -> Option<(Index, u64)> {
        if !queue.kind.sync || queue.seeky() {
            return None;
        }
        // Of requests at one place that with the smallest id; Linux knows only one queue for each place.
        let mut nearest: Option<(u64, bool, RequestId, Index)> = None;
        for other in self.tree.iter() {
            let kind = queues[other].kind;
            let (false, Some(next)) = (kind.is_idle_class(), queues[other].next) else { continue };
            if kind.level == queue.kind.level {
                let start = cx[next].start;
                let found = (start.distance(head), start < head, next, other);
                nearest = Some(nearest.map_or(found, |known| known.min(found)));
            }
        }
        let (far, .., other) = nearest.filter(|(far, ..)| *far <= queue.reach())?;
        (queues[other].kind.sync && !queues[other].seeky()).then_some((other, far))
    }

    /// When the answer can be another though nothing happens, after `plan` was held back, or is to wait.
    pub(super) fn changes_at(&self, now: Instant, queues: &Queues, plan: Plan) -> Option<Instant> {
        let slice = self.slice.as_ref();
        let over = slice.and_then(|slice| slice.end).filter(|_| self.tree.first().is_some());
        let wait = slice.and_then(Slice::waits_until);
        let times = [over, wait, self.overtaken_at(now, queues, plan)];
        times.into_iter().flatten().filter(|time| *time > now).min()
    }

    /// When another queue comes before the one whose slice it was and would be again: its key would
    /// grow with time.
    fn overtaken_at(&self, now: Instant, queues: &Queues, plan: Plan) -> Option<Instant> {
        let Plan::Change { to, .. } = plan else { return None };
        let (own, _) = self.key_again(now, queues).filter(|(_, index)| *index == to)?;
        let (first, _) = self.tree.first().filter(|(first, _)| same_class(*first, own))?;
        Some(now + Duration(time_of(first).saturating_sub(time_of(own)).max(0) as u64))
    }
}
