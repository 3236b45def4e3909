//! The slow, obvious collection that reference schedulers use: a vector in order of insertion.

use alloc::vec::Vec;

use crate::scheduler::Cx;
use crate::units::RequestId;

/// Waiting requests with the first sector under which each was last sorted in.
#[derive(Default)]
pub(crate) struct SlowList(pub(crate) Vec<(u64, RequestId)>);

impl SlowList {
    pub(crate) fn insert(&mut self, cx: Cx<'_>, id: RequestId) {
        self.0.push((cx[id].start.0, id));
    }

    pub(crate) fn remove(&mut self, id: RequestId) {
        self.0.retain(|(_, held)| *held != id);
    }

    /// A request that starts elsewhere now goes behind its new equals.
    pub(crate) fn grown(&mut self, cx: Cx<'_>, id: RequestId) {
        if !self.0.contains(&(cx[id].start.0, id)) {
            self.remove(id);
            self.insert(cx, id);
        }
    }

    /// Takes out the first of the requests for which `key` of (start, id) is least.
    pub(crate) fn take_min_by<K: Ord>(&mut self, key: impl Fn(u64, RequestId) -> K) -> Option<RequestId> {
        let best = self.0.iter().min_by_key(|(start, id)| key(*start, *id))?.1;
        self.remove(best);
        Some(best)
    }
}
