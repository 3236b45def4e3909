//! Slow reference for `sptf` and `aged-sptf`, for the oracle suite: the cost of every request.

use super::*;
use crate::learned::{Learned, PositioningMeter};
use crate::schedulers::textbook::aged_sptf::{AgedSptf, Form, Settings};
use crate::schedulers::textbook::sptf::Sptf;
use crate::tunables::Nothing;

impl Referenced for Sptf {
    fn reference(setup: Setup<'_>, _: Nothing) -> Box<dyn Scheduler> {
        Slow::boxed(setup, u64::MAX, |time, _| time as i128)
    }
}

impl Referenced for AgedSptf {
    fn reference(setup: Setup<'_>, settings: Settings) -> Box<dyn Scheduler> {
        let (weight, bound) = (settings.age_weight.0 as i128, settings.bound.0.0);
        let limit = settings.max_response.0.0;
        let us = |ns: u64| (ns / 1000) as i128;
        match settings.form {
            Form::Bounded => Slow::boxed(setup, bound, |time, _| time as i128),
            Form::Linear => Slow::boxed(setup, u64::MAX, move |time, age| time as i128 - us(age) * weight),
            Form::Weighted => {
                Slow::boxed(setup, limit, move |time, age| time as i128 * (us(limit) - us(age)))
            }
        }
    }
}

/// The cost of a request by its positioning time and age, both in nanoseconds.
type Cost = Box<dyn Fn(u64, u64) -> i128>;

/// The family by comparing all requests: the least cost; ties go to the one that came first. A
/// request that is older than the limit goes before all, the first that came of several.
struct Slow {
    cost: Cost,
    limit: u64,
    line: Vec<RequestId>,
    head: Sector,
    learned: Learned,
    meter: PositioningMeter,
}

impl Slow {
    fn boxed(setup: Setup<'_>, limit: u64, cost: impl Fn(u64, u64) -> i128 + 'static) -> Box<dyn Scheduler> {
        let (learned, meter) = (setup.device.learned.clone(), PositioningMeter::default());
        let cost = Box::new(cost);
        Box::new(Slow { cost, limit, line: Vec::new(), head: Sector(0), learned, meter })
    }
}

impl Scheduler for Slow {
    fn insert(&mut self, _: Cx<'_>, id: RequestId) {
        self.line.push(id);
    }
    fn dispatch(&mut self, cx: Cx<'_>) -> Decision {
        let time = |id: RequestId| self.learned.curve.expected(self.head, cx[id].start).0;
        let late = self.line.iter().copied().find(|id| cx.age(*id).0 >= self.limit);
        let near = self.line.iter().copied().min_by_key(|id| (self.cost)(time(*id), cx.age(*id).0));
        let Some(id) = late.or(near) else { return Decision::Idle };
        self.line.retain(|held| *held != id);
        self.meter.dispatched(cx.now, cx[id].start, cx[id].length);
        self.head = cx[id].end();
        Decision::Dispatch(id)
    }
    fn complete(&mut self, cx: Cx<'_>, _: RequestId) {
        self.meter.completed(cx.now, &mut self.learned);
    }
    fn adopt(&mut self, _: Cx<'_>, _: RequestId) {
        self.meter.adopted();
    }
    fn remove(&mut self, _: Cx<'_>, id: RequestId) {
        self.line.retain(|held| *held != id);
    }
    fn absorbed(&mut self, _: Cx<'_>, survivor: RequestId, other: RequestId) {
        merge(&mut self.line, survivor, other);
    }
}
