//! What a trace tells, whatever its format: requests, and exits of processes.

use idlewise_core::{Durable, Duration, Group, Instant, Issuer, Priority, Sector, Sectors};

pub use idlewise_core::Operation;

/// One request of a trace. Times count from the trace's first row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// When it reached the block layer.
    pub arrival: Instant,
    /// When it was sent to the disk, if the format tells.
    pub dispatched: Option<Instant>,
    /// When it was done, if the format tells.
    pub completed: Option<Instant>,
    /// First sector.
    pub start: Sector,
    /// Length; zero only for a flush.
    pub length: Sectors,
    /// What it asks for.
    pub operation: Operation,
    /// Somebody waited for it. Reads and flushes always; writes where the format says so.
    pub sync: bool,
    /// Metadata, where the format says so.
    pub metadata: bool,
    /// What must be on the medium when it is done, where the format says so.
    pub durable: Durable,
    /// The process, if the format tells.
    pub issuer: Option<Issuer>,
    /// The chain that the process belongs to, if the format tells: its parent's number, or its own if it has
    /// children.
    pub group: Option<Group>,
    /// The request's I/O priority, if the format tells.
    pub priority: Option<Priority>,
    /// Which device or volume, as an index into the trace's device names.
    pub device: u32,
}

/// The exit of a process, in a trace that tells of exits. Times count from the trace's first row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exit {
    /// When.
    pub at: Instant,
    /// Whose.
    pub issuer: Issuer,
}

impl Record {
    /// A request on the first device, of which nothing else is known. Reads and flushes are
    /// synchronous.
    #[inline]
    pub fn new(arrival: Instant, operation: Operation, start: Sector, length: Sectors) -> Record {
        Record {
            arrival,
            dispatched: None,
            completed: None,
            start,
            length,
            operation,
            sync: matches!(operation, Operation::Read | Operation::Flush),
            metadata: false,
            durable: Durable::default(),
            issuer: None,
            group: None,
            priority: None,
            device: 0,
        }
    }

    /// The same for a read.
    pub fn read(arrival: Instant, start: Sector, length: Sectors) -> Record {
        Record::new(arrival, Operation::Read, start, length)
    }

    /// The sector after the last one.
    #[inline]
    pub fn end(&self) -> Sector {
        self.start + self.length
    }

    /// From arrival to completion, if the format tells.
    #[inline]
    pub fn response(&self) -> Option<Duration> {
        self.completed.map(|done| done.since(self.arrival))
    }
}
