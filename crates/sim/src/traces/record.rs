//! One request of a trace, whatever its format.

use idlewise_core::{Instant, Issuer, Operation, Priority, Sector, Sectors};

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
    /// Somebody waited for it. Reads always; writes where the format says so.
    pub sync: bool,
    /// Metadata, where the format says so.
    pub metadata: bool,
    /// The process, if the format tells.
    pub issuer: Option<Issuer>,
    /// Its I/O priority, if the format tells.
    pub priority: Option<Priority>,
    /// Which device or volume, as an index into the trace's device names.
    pub device: u32,
}
