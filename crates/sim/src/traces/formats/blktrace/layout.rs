//! Numbers of blktrace's records.

/// Bytes in a record without its pdu.
pub(crate) const SIZE: usize = 48;
/// The first four bytes.
pub(crate) const MAGIC: u32 = 0x6561_7407;

/// What a record is about: bits of the high half of `action`.
pub(crate) mod about {
    pub(crate) const WRITE: u32 = 1 << 1;
    pub(crate) const READ: u32 = 1;
    pub(crate) const FLUSH: u32 = 1 << 2;
    pub(crate) const SYNC: u32 = 1 << 3;
    pub(crate) const QUEUE: u32 = 1 << 4;
    pub(crate) const ISSUE: u32 = 1 << 6;
    pub(crate) const COMPLETE: u32 = 1 << 7;
    pub(crate) const PASSTHROUGH: u32 = 1 << 9;
    pub(crate) const NOTIFY: u32 = 1 << 10;
    pub(crate) const META: u32 = 1 << 12;
    pub(crate) const DISCARD: u32 = 1 << 13;
    pub(crate) const FUA: u32 = 1 << 15;
}
