//! Slow reference for `cfq-2.6.9`, for the oracle suite: a list of processes, each with a sorted list of requests.

use super::dispatch_list::SlowList;
use super::*;
use crate::schedulers::linux_2_6::cfq_2_6_9::{Cfq269, Settings};

impl Referenced for Cfq269 {
    fn reference(_: Setup<'_>, settings: Settings) -> Box<dyn Scheduler> {
        Box::new(Reference { quantum: settings.quantum.0, line: Vec::new(), list: SlowList::default() })
    }
}

struct Reference {
    quantum: u64,
    /// Processes with requests in order of service, each with its requests in order of arrival.
    line: Vec<(u32, Vec<(u64, RequestId)>)>,
    list: SlowList,
}

impl Reference {
    fn lose(&mut self, id: RequestId) {
        self.line.iter_mut().for_each(|(_, own)| own.retain(|(_, held)| *held != id));
        self.line.retain(|(_, own)| !own.is_empty());
    }
}

impl Scheduler for Reference {
    fn insert(&mut self, cx: Cx<'_>, id: RequestId) {
        let who = cx[id].issuer.0;
        if !self.line.iter().any(|(known, _)| *known == who) {
            self.line.insert(0, (who, Vec::new()));
        }
        let own = self.line.iter_mut().find(|(known, _)| *known == who).unwrap();
        own.1.push((cx[id].start.0, id));
    }
    fn dispatch(&mut self, cx: Cx<'_>) -> Decision {
        let mut taken = 0;
        while self.list.ids.is_empty() || (0 < taken && taken < self.quantum) {
            if self.line.is_empty() {
                break;
            }
            let lowest = |own: &Vec<(u64, RequestId)>| own.iter().min_by_key(|(at, _)| *at).unwrap().1;
            let round: Vec<RequestId> = self.line.iter().map(|(_, own)| lowest(own)).collect();
            for id in round {
                self.lose(id);
                self.list.sort_in_upward(cx, id);
                taken += 1;
            }
        }
        self.list.pop(cx).map_or(Decision::Idle, Decision::Dispatch)
    }
    fn remove(&mut self, _: Cx<'_>, id: RequestId) {
        self.lose(id);
        self.list.ids.retain(|held| *held != id);
    }
    fn grown(&mut self, cx: Cx<'_>, id: RequestId) {
        for (_, own) in &mut self.line {
            if let Some(at) = own.iter().position(|(start, held)| *held == id && *start != cx[id].start.0) {
                own.remove(at);
                own.push((cx[id].start.0, id));
            }
        }
    }
    fn may_merge(&self, _: Cx<'_>, id: RequestId, _: &Request) -> bool {
        !self.list.ids.contains(&id)
    }
}
