//! What makes one flash device differ from another, as integers.

/// A flash device. Times are nanoseconds, sizes sectors of 512 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlashSpec {
    /// Addressable sectors.
    pub capacity: u64,
    /// Channels between controller and dies.
    pub channels: u32,
    /// Dies on each channel; each does one thing at a time.
    pub dies_per_channel: u32,
    /// Sectors in a page, the unit of reading and programming.
    pub page_sectors: u32,
    /// Pages in an erase block.
    pub block_pages: u32,
    /// Sectors in a mapping unit. A write of part of one costs reading and programming the whole.
    pub mapping_sectors: u32,
    /// Time to read a page.
    pub read_ns: u64,
    /// Time to program a page.
    pub program_ns: u64,
    /// Time to erase a block.
    pub erase_ns: u64,
    /// Time of one sector on a channel.
    pub channel_sector_ns: u64,
    /// Time of one sector on the cable.
    pub interface_sector_ns: u64,
    /// Controller time of every command.
    pub overhead_ns: u64,
    /// Buffer for writes; a write completes once it is there.
    pub buffer_sectors: u32,
    /// The buffer survives a power failure, so that a flush or FUA costs nothing.
    pub power_loss_protection: bool,
    /// Flash beyond the capacity, in 1/1024 of it.
    pub over_provision: u32,
    /// Share of the capacity written before the run, in 1/1024.
    pub written: u32,
    /// Commands accepted at once.
    pub depth: u32,
}
