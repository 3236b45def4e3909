//! Placeholder.
pub(super) struct Reference(super::Bfq);
impl Reference {
    pub(super) fn new(setup: crate::scheduler::Setup<'_>, tunables: super::Settings) -> Self {
        use crate::scheduler::Algorithm as _;
        Reference(super::Bfq::new(setup, tunables).unwrap())
    }
}
impl crate::scheduler::Scheduler for Reference {
    fn insert(&mut self, cx: crate::Cx<'_>, id: crate::RequestId) { self.0.insert(cx, id) }
    fn dispatch(&mut self, cx: crate::Cx<'_>) -> crate::Decision { self.0.dispatch(cx) }
    fn complete(&mut self, cx: crate::Cx<'_>, id: crate::RequestId) { self.0.complete(cx, id) }
    fn remove(&mut self, cx: crate::Cx<'_>, id: crate::RequestId) { self.0.remove(cx, id) }
    fn grown(&mut self, cx: crate::Cx<'_>, id: crate::RequestId) { self.0.grown(cx, id) }
    fn absorbed(&mut self, cx: crate::Cx<'_>, a: crate::RequestId, b: crate::RequestId) { self.0.absorbed(cx, a, b) }
    fn issuer_gone(&mut self, cx: crate::Cx<'_>, who: crate::Issuer) { self.0.issuer_gone(cx, who) }
    fn may_merge(&self, cx: crate::Cx<'_>, id: crate::RequestId, new: &crate::Request) -> bool { self.0.may_merge(cx, id, new) }
}
