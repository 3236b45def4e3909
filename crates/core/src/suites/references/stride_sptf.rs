//! Slow reference for `stride-sptf`, for the oracle suite.

use super::time_shares::SlowShares;
use super::*;
use crate::learned::{Learned, PositioningMeter};
use crate::schedulers::proportional_share::stride_sptf::{Settings, StrideSptf};

impl Referenced for StrideSptf {
    fn reference(setup: Setup<'_>, settings: Settings) -> Box<dyn Scheduler> {
        let (shares, learned) = (SlowShares::new(settings.lag.0), setup.device.learned.clone());
        let (head, meter) = (Sector(0), PositioningMeter::default());
        Box::new(Reference { shares, tau: settings.tau.0.0, head, learned, meter })
    }
}

/// The least positioning time of those whose issuer is within reach, by looking at all.
struct Reference {
    shares: SlowShares,
    tau: u64,
    head: Sector,
    learned: Learned,
    meter: PositioningMeter,
}

impl Scheduler for Reference {
    fn insert(&mut self, cx: Cx<'_>, id: RequestId) {
        self.shares.insert(cx, id);
    }
    fn dispatch(&mut self, cx: Cx<'_>) -> Decision {
        let Some(least) = self.shares.least(cx) else { return Decision::Idle };
        let within = |id: &RequestId| self.shares.clock(cx[*id].issuer) <= least + self.tau;
        let near = self.shares.line.iter().copied().filter(within);
        let id = near.min_by_key(|id| self.learned.curve.expected(self.head, cx[*id].start)).unwrap();
        self.shares.take(cx, id);
        self.meter.dispatched(cx.now, cx[id].start, cx[id].length);
        self.head = cx[id].end();
        Decision::Dispatch(id)
    }
    fn complete(&mut self, cx: Cx<'_>, id: RequestId) {
        self.shares.complete(cx, id);
        self.meter.completed(cx.now, &mut self.learned);
    }
    fn remove(&mut self, cx: Cx<'_>, id: RequestId) {
        self.shares.remove(cx, id);
    }
    fn absorbed(&mut self, cx: Cx<'_>, survivor: RequestId, other: RequestId) {
        self.shares.absorbed(cx, survivor, other);
    }
    fn issuer_gone(&mut self, cx: Cx<'_>, who: Issuer) {
        self.shares.issuer_gone(cx, who);
    }
    fn adopt(&mut self, cx: Cx<'_>, id: RequestId) {
        self.shares.adopt(cx, id);
        self.meter.adopted();
    }
    fn may_merge(&self, cx: Cx<'_>, id: RequestId, new: &Request) -> bool {
        cx[id].issuer == new.issuer
    }
}
