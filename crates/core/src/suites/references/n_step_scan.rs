//! Slow reference for `n-step-scan` and `fscan`, for the oracle suite: the sweep in one list, later requests in another.

use super::*;
use crate::schedulers::textbook::n_step_scan::{Closed, Group};

impl<G: Group> Referenced for Closed<G> {
    fn reference(_: Setup<'_>, tunables: G::Tunables) -> Box<dyn Scheduler> {
        Box::new(Reference { most: G::most(&tunables), ..Reference::default() })
    }
}

#[derive(Default)]
struct Reference {
    most: u64,
    line: Vec<RequestId>,
    sweep: SlowList,
    head: u64,
    down: bool,
}

impl Reference {
    fn swept(&self, id: RequestId) -> bool {
        self.sweep.0.iter().any(|(_, held)| *held == id)
    }
}

impl Scheduler for Reference {
    fn insert(&mut self, _: Cx<'_>, id: RequestId) {
        self.line.push(id);
    }
    fn dispatch(&mut self, cx: Cx<'_>) -> Decision {
        let mut room = if self.sweep.0.is_empty() { self.most } else { 0 };
        while room > 0 && !self.line.is_empty() {
            self.sweep.insert(cx, self.line.remove(0));
            room -= 1;
        }
        let (head, down) = (self.head, self.down);
        let key = |start: u64, _| ((start < head) != down, start.abs_diff(head));
        let Some(id) = self.sweep.take_min_by(key) else { return Decision::Idle };
        self.down = cx[id].start.0 < head;
        self.head = cx[id].end().0;
        Decision::Dispatch(id)
    }
    fn remove(&mut self, _: Cx<'_>, id: RequestId) {
        self.line.retain(|held| *held != id);
        self.sweep.remove(id);
    }
    fn grown(&mut self, cx: Cx<'_>, id: RequestId) {
        if self.swept(id) {
            self.sweep.grown(cx, id);
        }
    }
    fn absorbed(&mut self, cx: Cx<'_>, survivor: RequestId, other: RequestId) {
        if self.swept(other) && !self.swept(survivor) {
            self.remove(cx, other);
            self.remove(cx, survivor);
            self.sweep.insert(cx, survivor);
        } else if self.swept(survivor) {
            self.remove(cx, other);
            self.grown(cx, survivor);
        } else {
            merge(&mut self.line, survivor, other);
        }
    }
}
