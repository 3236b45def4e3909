//! Slow reference for `rwfifo`, for the oracle suite: requests in order of arrival, searched for each question.

use super::dispatch_list::SlowList;
use super::*;
use crate::request::Direction;
use crate::schedulers::unc::rwfifo::{RwFifo, Settings};

impl Referenced for RwFifo {
    fn reference(_: Setup<'_>, settings: Settings) -> Box<dyn Scheduler> {
        Box::new(Reference { settings, line: Vec::new(), list: SlowList::default() })
    }
}

struct Reference {
    settings: Settings,
    line: Vec<RequestId>,
    list: SlowList,
}

impl Scheduler for Reference {
    fn insert(&mut self, _: Cx<'_>, id: RequestId) {
        self.line.push(id);
    }
    fn dispatch(&mut self, cx: Cx<'_>) -> Decision {
        if self.list.ids.is_empty() {
            let is_read = |id: &RequestId| cx[*id].direction() == Direction::Read;
            let (reads, writes): (Vec<_>, Vec<_>) = self.line.iter().copied().partition(is_read);
            let batch = self.settings.batch.0 as usize;
            let share = (batch * self.settings.reads.0 as usize / 100).max(1).min(batch - 1);
            // Give each kind its share, then let either use what the other leaves.
            let mut counts = (reads.len().min(share), writes.len().min(batch - share));
            while counts.0 + counts.1 < batch && writes.len() > counts.1 {
                counts.1 += 1;
            }
            while counts.0 + counts.1 < batch && reads.len() > counts.0 {
                counts.0 += 1;
            }
            for id in reads[..counts.0].iter().chain(&writes[..counts.1]) {
                self.line.retain(|held| held != id);
                self.list.sort_in(cx, *id);
            }
        }
        self.list.pop(cx).map_or(Decision::Idle, Decision::Dispatch)
    }
    fn remove(&mut self, _: Cx<'_>, id: RequestId) {
        self.line.retain(|held| *held != id);
        self.list.ids.retain(|held| *held != id);
    }
    fn may_merge(&self, _: Cx<'_>, id: RequestId, _: &Request) -> bool {
        !self.list.ids.contains(&id)
    }
}
