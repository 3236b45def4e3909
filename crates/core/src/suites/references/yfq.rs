//! Slow reference for `yfq`, for the oracle suite: tags looked up in lists.

use super::dispatch_list::SlowList;
use super::*;
use crate::schedulers::proportional_share::yfq::{Settings, Yfq};

impl Referenced for Yfq {
    fn reference(_: Setup<'_>, settings: Settings) -> Box<dyn Scheduler> {
        Box::new(Reference { batch: settings.batch.0, lag: settings.lag.0, ..Reference::default() })
    }
}

/// Requests in order of arrival; tags looked up in lists.
#[derive(Default)]
struct Reference {
    batch: u64,
    line: Vec<RequestId>,
    clocks: Vec<(Issuer, u64)>,
    /// Of the oldest request of each issuer.
    finishes: Vec<(RequestId, u64)>,
    /// Picked and not completed: with start tags.
    started: Vec<(RequestId, Issuer, u64)>,
    adopted: Vec<(RequestId, Issuer)>,
    lag: Duration,
    /// Who was last seen with a request, and when.
    seen: Vec<(Issuer, Instant)>,
    list: SlowList,
    latest: u64,
}

impl Reference {
    fn clock(&mut self, who: Issuer) -> &mut u64 {
        let at = self.clocks.iter().position(|(known, _)| *known == who).unwrap_or_else(|| {
            self.clocks.push((who, 0));
            self.clocks.len() - 1
        });
        &mut self.clocks[at].1
    }

    fn heads(&self, cx: Cx<'_>) -> Vec<RequestId> {
        let first =
            |id: &RequestId| self.line.iter().find(|other| cx[**other].issuer == cx[*id].issuer) == Some(id);
        self.line.iter().copied().filter(first).collect()
    }

    fn has_requests(&self, cx: Cx<'_>, who: Issuer) -> bool {
        let waits = self.line.iter().any(|id| cx[*id].issuer == who);
        let started = self.started.iter().any(|(_, issuer, _)| *issuer == who);
        waits || started || self.adopted.iter().any(|(_, issuer)| *issuer == who)
    }

    /// Tags for heads that have none; `renewed` loses its old one.
    fn tag(&mut self, cx: Cx<'_>, renewed: Option<RequestId>) {
        let heads = self.heads(cx);
        self.finishes.retain(|(id, _)| heads.contains(id) && Some(*id) != renewed);
        for id in heads {
            if !self.finishes.iter().any(|(held, _)| *held == id) {
                let (bytes, weight) = (u64::from(cx[id].length.0.max(1)) * 512, cx.weight(cx[id].issuer));
                let finish = *self.clock(cx[id].issuer) + (bytes * 100).div_ceil(u64::from(weight.get()));
                self.finishes.push((id, finish));
            }
        }
    }

    fn pick(&mut self, cx: Cx<'_>) {
        let order = |id: &RequestId| self.finishes.iter().find(|(held, _)| held == id).unwrap().1;
        let Some(id) = self.heads(cx).into_iter().min_by_key(order) else { return };
        let finish = order(&id);
        let start = core::mem::replace(self.clock(cx[id].issuer), finish);
        self.latest = self.latest.max(finish);
        self.started.push((id, cx[id].issuer, start));
        self.line.retain(|held| *held != id);
        self.list.sort_in(cx, id);
        self.tag(cx, None);
    }
}

impl Scheduler for Reference {
    fn insert(&mut self, cx: Cx<'_>, id: RequestId) {
        let who = cx[id].issuer;
        let seen = self.seen.iter().rev().find(|(known, _)| *known == who);
        let away = seen.map_or(Duration::MAX, |(_, at)| cx.now.since(*at));
        if !self.has_requests(cx, who) && away > self.lag {
            let heads = self.heads(cx).into_iter().map(|id| *self.clock(cx[id].issuer)).min();
            let started = self.started.iter().map(|(.., start)| *start).min();
            let work = heads.into_iter().chain(started).min().unwrap_or(self.latest);
            let clock = self.clock(who);
            *clock = work.max(*clock);
        }
        self.line.push(id);
        self.tag(cx, None);
    }
    fn dispatch(&mut self, cx: Cx<'_>) -> Decision {
        if self.list.ids.is_empty() {
            self.pick(cx);
            let Some(first) = self.list.pop(cx) else { return Decision::Idle };
            for _ in 1..self.batch.min(1000) {
                self.pick(cx);
            }
            return Decision::Dispatch(first);
        }
        self.list.pop(cx).map_or(Decision::Idle, Decision::Dispatch)
    }
    fn complete(&mut self, cx: Cx<'_>, id: RequestId) {
        self.seen.push((cx[id].issuer, cx.now));
        self.started.retain(|(held, ..)| *held != id);
        self.adopted.retain(|(held, _)| *held != id);
    }
    fn remove(&mut self, cx: Cx<'_>, id: RequestId) {
        self.line.retain(|held| *held != id);
        self.list.ids.retain(|held| *held != id);
        self.complete(cx, id);
        self.tag(cx, None);
    }
    fn grown(&mut self, cx: Cx<'_>, id: RequestId) {
        self.tag(cx, Some(id));
    }
    fn absorbed(&mut self, cx: Cx<'_>, survivor: RequestId, other: RequestId) {
        merge(&mut self.line, survivor, other);
        self.tag(cx, Some(survivor));
    }
    fn issuer_gone(&mut self, cx: Cx<'_>, who: Issuer) {
        if !self.has_requests(cx, who) {
            self.clocks.retain(|(known, _)| *known != who);
            self.seen.retain(|(known, _)| *known != who);
        }
    }
    fn adopt(&mut self, cx: Cx<'_>, id: RequestId) {
        self.clock(cx[id].issuer);
        self.adopted.push((id, cx[id].issuer));
    }
    fn may_merge(&self, cx: Cx<'_>, id: RequestId, new: &Request) -> bool {
        cx[id].issuer == new.issuer && !self.list.ids.contains(&id)
    }
}
