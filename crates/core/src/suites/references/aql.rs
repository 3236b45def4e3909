//! Slow reference for `aql`, for the oracle suite: requests in order of arrival, searched for each queue.

use super::dispatch_list::SlowList;
use super::*;
use crate::schedulers::unc::aql::{Aql, Settings};

impl Referenced for Aql {
    fn reference(_: Setup<'_>, settings: Settings) -> Box<dyn Scheduler> {
        let (line, history) = (Vec::new(), alloc::vec![(0, 0); 64]);
        Box::new(Reference { quantum: settings.quantum.0, line, history, list: SlowList::default() })
    }
}

struct Reference {
    quantum: u64,
    line: Vec<(u32, RequestId)>,
    /// By queue: 256 × average, cycles without a request.
    history: Vec<(u64, u32)>,
    list: SlowList,
}

impl Reference {
    fn of(&self, queue: usize) -> Vec<RequestId> {
        let ours = |(issuer, _): &&(u32, RequestId)| issuer % 64 == queue as u32;
        self.line.iter().filter(ours).map(|(_, id)| *id).collect()
    }
}

impl Scheduler for Reference {
    fn insert(&mut self, cx: Cx<'_>, id: RequestId) {
        self.line.push((cx[id].issuer.0, id));
    }
    fn dispatch(&mut self, cx: Cx<'_>) -> Decision {
        if self.list.ids.is_empty() && !self.line.is_empty() {
            for queue in 0..64 {
                let length = self.of(queue).len() as u64;
                let (average, idle) = self.history[queue];
                let idle = if length == 0 { idle + 1 } else { 0 };
                let average = if idle >= 10 { 0 } else { (average + 256 * length) / 2 };
                self.history[queue] = (average, idle);
            }
            let busy: Vec<usize> = (0..64).filter(|queue| !self.of(*queue).is_empty()).collect();
            let sum: u64 = busy.iter().map(|queue| self.history[*queue].0).sum();
            for queue in busy {
                let share = self.quantum * self.history[queue].0 / sum;
                for id in self.of(queue).into_iter().take(share.max(1) as usize) {
                    self.line.retain(|(_, held)| *held != id);
                    self.list.sort_in(cx, id);
                }
            }
        }
        self.list.pop(cx).map_or(Decision::Idle, Decision::Dispatch)
    }
    fn remove(&mut self, _: Cx<'_>, id: RequestId) {
        self.line.retain(|(_, held)| *held != id);
        self.list.ids.retain(|held| *held != id);
    }
    fn may_merge(&self, _: Cx<'_>, id: RequestId, _: &Request) -> bool {
        !self.list.ids.contains(&id)
    }
}
