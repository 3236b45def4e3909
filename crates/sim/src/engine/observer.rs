//! Who follows a run: an observer is told of everything in it, and a control sees how far it is and may stop it.

use std::sync::atomic::{AtomicBool, AtomicU64};

use idlewise_core::{Decision, Instant, Request, RequestId, Why};
use idlewise_disk::Completion;

/// What is told of everything that happens in a run.
pub trait Observer {
    /// A request was issued (`issued`) and reached the queue as `id`.
    fn arrived(&mut self, _now: Instant, _id: RequestId, _request: &Request) {}
    /// A request, as large as merging made it, goes to the device.
    fn dispatched(&mut self, _now: Instant, _id: RequestId) {}
    /// The device finished a command.
    fn served(&mut self, _now: Instant, _id: RequestId, _completion: &Completion) {}
    /// One of the requests that the command held is done.
    fn completed(&mut self, _now: Instant, _id: RequestId, _request: &Request, _service_share: u64) {}
    /// The scheduler lets the device idle although requests wait, until this time at the latest.
    fn waits(&mut self, _now: Instant, _until: Instant) {}
    /// The scheduler has decided, and may have said why. Called only in a run that is explained.
    fn decided(&mut self, _now: Instant, _decision: Decision, _request: Option<&Request>, _why: Option<Why>) {
    }
}

/// Lets somebody else follow a run, and end it early.
#[derive(Debug, Default)]
pub struct Control {
    /// Requests completed so far, over all runs that share this.
    pub completed: AtomicU64,
    /// Millionths of a run done so far, over all runs that share this.
    pub millionths: AtomicU64,
    /// Set to stop: nothing more is issued, what was issued is finished.
    pub stop: AtomicBool,
}
