//! Who sees every request of a queue: nobody, a selector's [`Chooser`], or whatever a host has.

use alloc::boxed::Box;

use crate::queue::Inserted;
use crate::request::Request;
use crate::selectors::Chooser;
use crate::units::{Instant, Issuer, RequestId};

/// Sees every request of a queue.
pub trait Follower {
    /// Somebody follows. If not, a host looks nothing up to tell it.
    #[inline]
    fn follows(&self) -> bool {
        true
    }

    /// `request` reached the queue; its arrival is now.
    fn inserted(&mut self, _inserted: Inserted, _request: &Request) {}

    /// The host made `piece` a part of a waiting request, and has no id for it; its arrival is now.
    fn joined(&mut self, _piece: &Request) {}

    /// A request goes away without being done, or the host made it a part of another one.
    fn left(&mut self, _request: &Request) {}

    /// A request goes to the device, with what was merged into it.
    fn dispatched(&mut self, _now: Instant, _id: RequestId) {}

    /// A request, as it was inserted, is done.
    fn completed(&mut self, _now: Instant, _id: RequestId, _request: &Request) {}

    /// A process exited.
    fn exited(&mut self, _now: Instant, _who: Issuer) {}
}

/// Nobody follows.
impl Follower for () {
    #[inline]
    fn follows(&self) -> bool {
        false
    }
}

/// Whoever there is.
impl<F: Follower> Follower for Option<Box<F>> {
    #[inline]
    fn follows(&self) -> bool {
        self.is_some()
    }
    #[inline]
    fn inserted(&mut self, inserted: Inserted, request: &Request) {
        self.iter_mut().for_each(|follower| follower.inserted(inserted, request));
    }
    fn joined(&mut self, piece: &Request) {
        self.iter_mut().for_each(|follower| follower.joined(piece));
    }
    fn left(&mut self, request: &Request) {
        self.iter_mut().for_each(|follower| follower.left(request));
    }
    #[inline]
    fn dispatched(&mut self, now: Instant, id: RequestId) {
        self.iter_mut().for_each(|follower| follower.dispatched(now, id));
    }
    #[inline]
    fn completed(&mut self, now: Instant, id: RequestId, request: &Request) {
        self.iter_mut().for_each(|follower| follower.completed(now, id, request));
    }
    fn exited(&mut self, now: Instant, who: Issuer) {
        self.iter_mut().for_each(|follower| follower.exited(now, who));
    }
}

impl Follower for Chooser {
    #[inline]
    fn inserted(&mut self, inserted: Inserted, request: &Request) {
        Chooser::inserted(self, inserted.id(), request, !matches!(inserted, Inserted::Queued(_)));
    }
    #[inline]
    fn joined(&mut self, piece: &Request) {
        Chooser::joined(self, piece);
    }
    fn left(&mut self, request: &Request) {
        Chooser::left(self, request);
    }
    #[inline]
    fn dispatched(&mut self, now: Instant, id: RequestId) {
        Chooser::dispatched(self, now, id);
    }
    #[inline]
    fn completed(&mut self, now: Instant, id: RequestId, request: &Request) {
        Chooser::completed(self, now, id, request);
    }
    fn exited(&mut self, now: Instant, who: Issuer) {
        self.issuer_gone(now, who);
    }
}
