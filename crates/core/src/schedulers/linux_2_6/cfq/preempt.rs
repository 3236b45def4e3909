//! Preemption: a new request whose queue need not wait for the slice of another to end.

use super::Cfq;
use super::queues::Index;
use super::reasons::{End, Rule};
use crate::request::Class;
use crate::scheduler::Cx;
use crate::units::RequestId;

impl Cfq {
    /// The rule by which `id`, a new request of the queue `index`, goes before the one whose slice it is.
    #[inline]
    pub(super) fn preempts(&self, cx: Cx<'_>, id: RequestId, index: Index) -> Option<Rule> {
        let active = self.active.as_ref()?;
        let (old, new) = (&self.queues[active.queue], &self.queues[index]);
        if active.used(cx.now) {
            return Some(Rule::SliceUsed);
        }
        if new.is_idle_class() {
            return None;
        }
        if old.is_idle_class() {
            return Some(Rule::NotIdleClass);
        }
        if cx[id].sync && !old.sync {
            return Some(Rule::Sync);
        }
        if cx[id].metadata && old.metadata == 0 {
            return Some(Rule::Metadata);
        }
        if new.class == Class::RealTime && old.class != Class::RealTime {
            return Some(Rule::RealTime);
        }
        // No order of address is lost by somebody who is as near as what is waited for.
        if active.wait.is_none() || active.process.is_none() {
            return None;
        }
        let far = cx[id].start.distance(self.head);
        (far <= old.reach()).then_some(Rule::Close(far))
    }

    /// The queue `index` goes before the one whose slice it is, and before all others.
    pub(super) fn preempt(&mut self, cx: Cx<'_>, index: Index, rule: Rule) {
        self.expire(cx, End::Preempted(rule), true);
        self.order.move_to_front(index, &mut self.queues[index]);
    }
}
