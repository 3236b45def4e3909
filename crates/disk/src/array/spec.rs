//! What an array is, as integers, and what it may be.

use super::layout::Level;
use alloc::boxed::Box;

/// Sectors in a chunk unless another number is given: 64 KiB, mdadm's default up to its version 3.0.
pub const CHUNK: u32 = 128;

/// The smallest and the largest chunk, in sectors: a page, and 4 MiB. A chunk is a power of two, as md wants it for
/// RAID-5 and RAID-6.
pub const CHUNKS: (u32, u32) = (8, 8192);

/// Commands that a LUN takes at once unless another number is given: what Linux's driver of Fusion-MPT controllers asks for
/// where there are tags.
pub const DEPTH: u32 = 64;

/// Several disks of one kind as one device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArraySpec<S> {
    /// How data is kept.
    pub level: Level,
    /// Number of members.
    pub members: u32,
    /// Sectors in a chunk: a power of two within [`CHUNKS`]. RAID-1 has none, and ignores it.
    pub chunk_sectors: u32,
    /// Commands that the array accepts at once, 1 to 4096.
    pub depth: u32,
    /// Sectors that are used, if not all.
    pub limit: Option<u64>,
    /// Each member has a scheduler of its own and none stands above the array, as in Linux's md. A host that cannot do so
    /// has one scheduler above.
    pub md: bool,
    /// What each member is.
    pub member: Box<S>,
}

impl<S> ArraySpec<S> {
    /// An array of `members` disks with the usual chunk and depth.
    pub fn new(level: Level, members: u32, member: S) -> ArraySpec<S> {
        let member = Box::new(member);
        ArraySpec { level, members, chunk_sectors: CHUNK, depth: DEPTH, limit: None, md: false, member }
    }
}
