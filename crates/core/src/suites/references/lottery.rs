//! Slow reference for `lottery`, for the oracle suite: requests in order of arrival, and a list of processes.

use super::*;
use crate::rng::Random;
use crate::schedulers::proportional_share::lottery::{Lottery, Settings};

impl Referenced for Lottery {
    fn reference(_: Setup<'_>, settings: Settings) -> Box<dyn Scheduler> {
        Box::new(Reference { seed: settings.seed.0, ..Reference::default() })
    }
}

#[derive(Default)]
struct Reference {
    seed: u64,
    line: Vec<RequestId>,
    /// In the order in which they began to wait.
    processes: Vec<Issuer>,
    dice: Random,
}

impl Scheduler for Reference {
    fn insert(&mut self, cx: Cx<'_>, id: RequestId) {
        self.line.push(id);
        if !self.processes.contains(&cx[id].issuer) {
            self.processes.push(cx[id].issuer);
        }
    }
    fn dispatch(&mut self, cx: Cx<'_>) -> Decision {
        // One entry for each ticket.
        let held = |who: &Issuer| core::iter::repeat_n(*who, cx.weight(*who).get() as usize);
        let tickets: Vec<Issuer> = self.processes.iter().flat_map(held).collect();
        if tickets.is_empty() {
            return Decision::Idle;
        }
        let winner = tickets[self.dice.below(self.seed, tickets.len() as u32) as usize];
        let id = self.line.iter().copied().find(|id| cx[*id].issuer == winner).unwrap();
        self.remove(cx, id);
        Decision::Dispatch(id)
    }
    fn remove(&mut self, cx: Cx<'_>, id: RequestId) {
        self.line.retain(|held| *held != id);
        let waits = |who: &Issuer| self.line.iter().any(|id| cx[*id].issuer == *who);
        self.processes.retain(waits);
    }
    fn absorbed(&mut self, _: Cx<'_>, survivor: RequestId, other: RequestId) {
        merge(&mut self.line, survivor, other);
    }
    fn may_merge(&self, cx: Cx<'_>, id: RequestId, new: &Request) -> bool {
        cx[id].issuer == new.issuer
    }
}
