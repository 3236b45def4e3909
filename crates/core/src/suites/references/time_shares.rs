//! Clocks of the slow references for `stride` and `stride-sptf`: disk time by issuer, searched each time.

use super::*;

/// What is known of an issuer.
struct Known {
    who: Issuer,
    clock: u64,
    left: Option<Instant>,
}

/// The clocks by looking through everything each time.
#[derive(Default)]
pub(super) struct SlowShares {
    lag: Duration,
    known: Vec<Known>,
    /// In order of arrival.
    pub(super) line: Vec<RequestId>,
    in_flight: Vec<(RequestId, Issuer, Instant)>,
    last_completion: Instant,
    latest: u64,
}

impl SlowShares {
    pub(super) fn new(lag: Duration) -> Self {
        SlowShares { lag, ..Default::default() }
    }

    fn known(&mut self, who: Issuer) -> &mut Known {
        let at = self.known.iter().position(|known| known.who == who).unwrap_or_else(|| {
            self.known.push(Known { who, clock: 0, left: None });
            self.known.len() - 1
        });
        &mut self.known[at]
    }

    pub(super) fn clock(&self, who: Issuer) -> u64 {
        self.known.iter().find(|known| known.who == who).unwrap().clock
    }

    pub(super) fn least(&self, cx: Cx<'_>) -> Option<u64> {
        self.line.iter().map(|id| self.clock(cx[*id].issuer)).min()
    }

    fn has_requests(&self, cx: Cx<'_>, who: Issuer) -> bool {
        let waits = self.line.iter().any(|id| cx[*id].issuer == who);
        waits || self.in_flight.iter().any(|(_, issuer, _)| *issuer == who)
    }

    fn left(&mut self, cx: Cx<'_>, who: Issuer) {
        if !self.has_requests(cx, who) {
            self.known(who).left = Some(cx.now);
        }
    }

    pub(super) fn insert(&mut self, cx: Cx<'_>, id: RequestId) {
        let who = cx[id].issuer;
        let returns = !self.has_requests(cx, who);
        let floor = self.least(cx).unwrap_or(self.latest);
        let lag = self.lag;
        let known = self.known(who);
        if returns && known.left.is_none_or(|left| cx.now.since(left) > lag) {
            known.clock = known.clock.max(floor);
        }
        self.line.push(id);
    }

    pub(super) fn take(&mut self, cx: Cx<'_>, id: RequestId) {
        let who = cx[id].issuer;
        self.latest = self.latest.max(self.clock(who));
        self.line.retain(|held| *held != id);
        self.in_flight.push((id, who, cx.now));
    }

    pub(super) fn adopt(&mut self, cx: Cx<'_>, id: RequestId) {
        self.known(cx[id].issuer);
        self.in_flight.push((id, cx[id].issuer, cx.now));
    }

    pub(super) fn complete(&mut self, cx: Cx<'_>, id: RequestId) {
        let at = self.in_flight.iter().position(|(held, ..)| *held == id).unwrap();
        let (_, who, sent) = self.in_flight.remove(at);
        let time = cx.now.0 - sent.max(self.last_completion).0;
        let weight = u64::from(cx.weight(who).get());
        self.known(who).clock += (time * 100).div_ceil(weight).max(1);
        self.last_completion = cx.now;
        self.left(cx, who);
    }

    pub(super) fn remove(&mut self, cx: Cx<'_>, id: RequestId) {
        self.line.retain(|held| *held != id);
        self.left(cx, cx[id].issuer);
    }

    pub(super) fn absorbed(&mut self, cx: Cx<'_>, survivor: RequestId, other: RequestId) {
        assert_eq!(cx[survivor].issuer, cx[other].issuer);
        merge(&mut self.line, survivor, other);
    }

    pub(super) fn issuer_gone(&mut self, cx: Cx<'_>, who: Issuer) {
        if !self.has_requests(cx, who) {
            self.known.retain(|known| known.who != who);
        }
    }
}
