//! Slow reference for `random`, for the oracle suite: a vector, searched from the front.

use super::*;
use crate::rng;
use crate::schedulers::textbook::random::{Random, Settings};

impl Referenced for Random {
    fn reference(_: Setup<'_>, tunables: Settings) -> Box<dyn Scheduler> {
        Box::new(Reference { seed: tunables.seed.0, ..Reference::default() })
    }
}

#[derive(Default)]
struct Reference {
    seed: u64,
    waiting: Vec<RequestId>,
    dice: rng::Random,
}

impl Reference {
    fn fill_from_the_back(&mut self, place: usize) -> RequestId {
        let last = *self.waiting.last().unwrap();
        let taken = core::mem::replace(&mut self.waiting[place], last);
        self.waiting.pop();
        taken
    }
}

impl Scheduler for Reference {
    fn insert(&mut self, _: Cx<'_>, id: RequestId) {
        self.waiting.push(id);
    }
    fn dispatch(&mut self, _: Cx<'_>) -> Decision {
        match self.waiting.len() {
            0 => Decision::Idle,
            count => {
                let place = self.dice.below(self.seed, count as u32);
                Decision::Dispatch(self.fill_from_the_back(place as usize))
            }
        }
    }
    fn remove(&mut self, _: Cx<'_>, id: RequestId) {
        let place = self.waiting.iter().position(|held| *held == id).unwrap();
        self.fill_from_the_back(place);
    }
}
