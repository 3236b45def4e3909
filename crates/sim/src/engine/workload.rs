//! What the engine asks of a load: when its next request comes, and which.

use idlewise_core::{Instant, Request, RequestId};

use super::exits::Exits;

/// Where requests come from.
pub trait Workload {
    /// When the next request will be issued, as far as is known now, or something else happens in the workload that may
    /// lead to one. `None`: after some completion, or never.
    fn next(&mut self) -> Option<Instant>;

    /// It is the time that [`Workload::next`] announced. What happens in the workload by `now` happens; false if no request
    /// came of it. Processes that end are announced to `exits`.
    #[inline]
    fn ready(&mut self, _now: Instant, _exits: &mut Exits) -> bool {
        true
    }

    /// The request that [`Workload::next`] announced; it will be known as `id`, which no other has until it is
    /// done, and which need not be its id in the queue. Its `arrival` is the time at which it was issued.
    fn issue(&mut self, id: RequestId) -> Request;

    /// Something has happened for which the scheduler is to be asked: when that is, now or later.
    #[inline]
    fn asked_at(&mut self, now: Instant, _exits: &mut Exits) -> Instant {
        now
    }

    /// Somebody who is to ask the scheduler has come to it.
    #[inline]
    fn asks(&self) -> bool {
        false
    }

    /// The request that was issued as `id` goes to the disk, with all that was merged into it.
    #[inline]
    fn dispatched(&mut self, _now: Instant, _id: RequestId) {}

    /// The request that was issued as `id` is done. Processes for which it was the last one are
    /// announced to `exits`.
    fn completed(&mut self, _now: Instant, _id: RequestId, _exits: &mut Exits) {}

    /// About how much of the work is done at `now`, from 0 to 1, if that is known.
    fn share_done(&self, _now: Instant) -> Option<f64> {
        None
    }
}
