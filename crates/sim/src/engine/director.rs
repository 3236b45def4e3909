//! Who may exchange the scheduler in the middle of a run.

use idlewise_core::registry::SwitchError;
use idlewise_core::{Inserted, Instant, Issuer, Queue, Request, RequestId};

/// Follows a run, and has the queue to itself at times of its own.
pub trait Director<S> {
    /// A request reached the queue.
    fn inserted(&mut self, _now: Instant, _inserted: Inserted, _request: &Request) {}

    /// A request goes to the device, with what was merged into it.
    fn dispatched(&mut self, _now: Instant, _id: RequestId) {}

    /// A request, as it was inserted, is done.
    fn completed(&mut self, _now: Instant, _id: RequestId, _request: &Request) {}

    /// A process exited.
    fn exited(&mut self, _now: Instant, _who: Issuer) {}

    /// When it wants the queue next. It gets it then, or never if the run ends before.
    fn next(&self) -> Instant {
        Instant::MAX
    }

    /// Nothing may enter the queue. It then gets the queue after every event.
    fn holds(&self) -> bool {
        false
    }

    /// It has the queue; true if the scheduler is another one afterwards.
    ///
    /// # Errors
    /// [`SwitchError`].
    fn direct(&mut self, _now: Instant, _queue: &mut Queue<S>) -> Result<bool, SwitchError> {
        Ok(false)
    }
}

/// Nobody exchanges the scheduler.
#[derive(Clone, Copy, Debug, Default)]
pub struct Undirected;

impl<S> Director<S> for Undirected {}

impl<S, C: Director<S>> Director<S> for &mut C {
    fn inserted(&mut self, now: Instant, inserted: Inserted, request: &Request) {
        (**self).inserted(now, inserted, request);
    }
    fn dispatched(&mut self, now: Instant, id: RequestId) {
        (**self).dispatched(now, id);
    }
    fn completed(&mut self, now: Instant, id: RequestId, request: &Request) {
        (**self).completed(now, id, request);
    }
    fn exited(&mut self, now: Instant, who: Issuer) {
        (**self).exited(now, who);
    }
    fn next(&self) -> Instant {
        (**self).next()
    }
    fn holds(&self) -> bool {
        (**self).holds()
    }
    fn direct(&mut self, now: Instant, queue: &mut Queue<S>) -> Result<bool, SwitchError> {
        (**self).direct(now, queue)
    }
}
