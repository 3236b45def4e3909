//! Slow reference for `noop`, for the oracle suite: a vector.

use super::*;
use crate::schedulers::textbook::noop::Noop;
use crate::tunables::Nothing;

impl Referenced for Noop {
    fn reference(_: Setup<'_>, _: Nothing) -> Box<dyn Scheduler> {
        Box::new(Reference::default())
    }
}

#[derive(Default)]
struct Reference(Vec<RequestId>);

impl Scheduler for Reference {
    fn insert(&mut self, _: Cx<'_>, id: RequestId) {
        self.0.push(id);
    }
    fn dispatch(&mut self, _: Cx<'_>) -> Decision {
        if self.0.is_empty() { Decision::Idle } else { Decision::Dispatch(self.0.remove(0)) }
    }
    fn remove(&mut self, _: Cx<'_>, id: RequestId) {
        self.0.retain(|held| *held != id);
    }
    fn front_merges(&self) -> bool {
        false
    }
}
