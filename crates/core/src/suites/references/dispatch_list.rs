//! Linux 2.6's dispatch list as one vector.

use super::*;

/// The dispatch list as one vector.
#[derive(Default)]
pub(super) struct SlowList {
    pub(super) ids: Vec<RequestId>,
    head: u64,
}

impl SlowList {
    pub(super) fn sort_in(&mut self, cx: Cx<'_>, id: RequestId) {
        self.ids.push(id);
        // The last run of one direction is in order except for the newcomer at its end.
        let other_way = |held: &RequestId| cx[*held].direction() != cx[id].direction();
        let run = self.ids.iter().rposition(other_way).map_or(0, |last| last + 1);
        let head = self.head;
        self.ids[run..].sort_by_key(|held| (cx[*held].start.0 < head, cx[*held].start.0));
    }

    pub(super) fn sort_in_upward(&mut self, cx: Cx<'_>, id: RequestId) {
        self.ids.push(id);
        self.ids.sort_by_key(|held| cx[*held].start);
    }

    pub(super) fn pop(&mut self, cx: Cx<'_>) -> Option<RequestId> {
        if self.ids.is_empty() {
            return None;
        }
        let id = self.ids.remove(0);
        self.head = cx[id].end().0;
        Some(id)
    }
}
