//! A run that is measured and watched at once: whoever watches changes nothing of what is measured.

use idlewise_core::{Decision, Instant, Request, RequestId, Why};
use idlewise_disk::Completion;

use crate::engine::Observer;

/// Tells `measures` and `watches` of everything, and `watches` alone of decisions.
pub struct Watched<'a, O> {
    /// Who measures.
    pub measures: &'a mut O,
    /// Who watches.
    pub watches: &'a mut dyn Observer,
}

impl<O: Observer> Observer for Watched<'_, O> {
    fn arrived(&mut self, now: Instant, id: RequestId, request: &Request) {
        self.measures.arrived(now, id, request);
        self.watches.arrived(now, id, request);
    }
    fn dispatched(&mut self, now: Instant, id: RequestId) {
        self.measures.dispatched(now, id);
        self.watches.dispatched(now, id);
    }
    fn served(&mut self, now: Instant, id: RequestId, completion: &Completion) {
        self.measures.served(now, id, completion);
        self.watches.served(now, id, completion);
    }
    fn completed(&mut self, now: Instant, id: RequestId, request: &Request, service_share: u64) {
        self.measures.completed(now, id, request, service_share);
        self.watches.completed(now, id, request, service_share);
    }
    fn waits(&mut self, now: Instant, until: Instant) {
        self.measures.waits(now, until);
        self.watches.waits(now, until);
    }
    fn decided(&mut self, now: Instant, decision: Decision, request: Option<&Request>, why: Option<Why>) {
        self.watches.decided(now, decision, request, why);
    }
}
