//! One event in the life of a request, as blktrace, blkparse and ftrace tell of it.

use crate::traces::order::Timed;
use idlewise_core::{Durable, Issuer, Operation, Priority};

/// What happened to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// The request reached the block layer.
    Queue,
    /// The request reached the scheduler.
    Insert,
    /// The request went to the disk.
    Dispatch,
    /// The disk was done with it.
    Complete,
    /// The disk did not take it.
    Requeue,
    /// The request was cut in two, the second beginning at this sector.
    Split(u64),
    /// The request joined another.
    Merge,
    /// The request was mapped from another device.
    Remap,
}

/// What an event tells of its request besides the operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Flags {
    /// Somebody waits.
    pub(crate) sync: bool,
    /// File-system metadata.
    pub(crate) metadata: bool,
    /// What must be on the medium.
    pub(crate) durable: Durable,
}

/// One event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event {
    pub(crate) action: Action,
    /// Nanoseconds.
    pub(crate) time: u64,
    pub(crate) device: u32,
    pub(crate) sector: u64,
    /// In sectors.
    pub(crate) length: u32,
    pub(crate) operation: Operation,
    pub(crate) flags: Flags,
    pub(crate) issuer: Option<Issuer>,
    pub(crate) priority: Option<Priority>,
}

impl Timed for Event {
    #[inline]
    fn time(&self) -> u64 {
        self.time
    }

    fn set_time(&mut self, time: u64) {
        self.time = time;
    }
}
