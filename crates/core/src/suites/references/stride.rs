//! Slow reference for `stride`, for the oracle suite.

use super::time_shares::SlowShares;
use super::*;
use crate::schedulers::proportional_share::stride::{Settings, Stride};

impl Referenced for Stride {
    fn reference(_: Setup<'_>, settings: Settings) -> Box<dyn Scheduler> {
        Box::new(Reference(SlowShares::new(settings.lag.0)))
    }
}

/// The oldest request of those whose issuer has the least clock.
struct Reference(SlowShares);

impl Scheduler for Reference {
    fn insert(&mut self, cx: Cx<'_>, id: RequestId) {
        self.0.insert(cx, id);
    }
    fn dispatch(&mut self, cx: Cx<'_>) -> Decision {
        let clock = |id: &RequestId| self.0.clock(cx[*id].issuer);
        let Some(id) = self.0.line.iter().copied().min_by_key(clock) else { return Decision::Idle };
        self.0.take(cx, id);
        Decision::Dispatch(id)
    }
    fn complete(&mut self, cx: Cx<'_>, id: RequestId) {
        self.0.complete(cx, id);
    }
    fn remove(&mut self, cx: Cx<'_>, id: RequestId) {
        self.0.remove(cx, id);
    }
    fn absorbed(&mut self, cx: Cx<'_>, survivor: RequestId, other: RequestId) {
        self.0.absorbed(cx, survivor, other);
    }
    fn issuer_gone(&mut self, cx: Cx<'_>, who: Issuer) {
        self.0.issuer_gone(cx, who);
    }
    fn adopt(&mut self, cx: Cx<'_>, id: RequestId) {
        self.0.adopt(cx, id);
    }
    fn may_merge(&self, cx: Cx<'_>, id: RequestId, new: &Request) -> bool {
        cx[id].issuer == new.issuer
    }
}
