//! Everything that makes one mechanical disk differ from another, as integers.
//!
//! A profile file is compiled into a [`MechanicalSpec`]; a host without a file system fills one in
//! itself. Times are nanoseconds. Each controller parameter means what it means in the DiskSim
//! 4.0 manual, §"Disks", under the name given with each field.

use alloc::vec::Vec;

/// A disk with platters and an arm.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MechanicalSpec {
    /// Addressable sectors of 512 bytes.
    pub capacity: u64,
    /// Recording surfaces.
    pub heads: u32,
    /// Time of one revolution.
    pub period_ns: u32,
    /// Zones, outermost (first address) first.
    pub zones: Vec<ZoneSpec>,
    /// Seek time by distance in cylinders, ascending; lines between, the last line continues beyond.
    pub seek: Vec<(u32, u32)>,
    /// Time to activate another head of the same cylinder.
    pub head_switch_ns: u32,
    /// Added to every seek or head switch before a write. Negative where reads settle longer.
    pub write_settle_ns: i32,
    /// Time to move one sector to the host.
    pub bus_read_ns: u32,
    /// Time to move one sector from the host.
    pub bus_write_ns: u32,
    /// Commands accepted at once; above one, the drive chooses the order by positioning time.
    pub depth: u32,
    /// A queued command older than this goes first, in arrival order; 0 leaves the order to positioning.
    pub age_limit_ns: u64,
    /// The arm may leave for the next command before the last one's data has crossed the bus.
    pub preseek: bool,
    /// Controller times.
    pub overheads: Overheads,
    /// The buffer and how it is used.
    pub buffer: BufferSpec,
}

/// A run of cylinders with the same number of sectors on each track.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ZoneSpec {
    /// First cylinder.
    pub first_cylinder: u32,
    /// Last cylinder, inclusive.
    pub last_cylinder: u32,
    /// Sectors on each track.
    pub sectors_per_track: u32,
    /// Rotation between the first sectors of neighbouring tracks of a cylinder.
    pub track_skew_ns: u32,
    /// Rotation between the first sectors of the last track of a cylinder and the first of the next.
    pub cylinder_skew_ns: u32,
    /// Sectors at the end of each cylinder held back as spares and defects.
    pub spares_per_cylinder: u32,
}

/// Index into the pairs of [`Overheads`]: what the previous command was.
pub const AFTER_READ: usize = 0;
/// Index into the pairs of [`Overheads`]: what the previous command was.
pub const AFTER_WRITE: usize = 1;

/// Times the controller takes, where they depend on it by what the previous command was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overheads {
    /// Before any command ("Per-request overhead time").
    pub request_ns: u32,
    /// Read whose first sector is in the buffer ("Read hit over.").
    pub read_hit_ns: [u32; 2],
    /// Other reads, before the arm moves ("Read miss over.").
    pub read_miss_ns: [u32; 2],
    /// Write that completes from the buffer ("Write hit over.").
    pub write_hit_ns: [u32; 2],
    /// Write that waits for the medium ("Write miss over.").
    pub write_miss_ns: [u32; 2],
    /// After the last byte of a read ("Read completion overhead").
    pub read_completion_ns: u32,
    /// After a write is done ("Write completion overhead").
    pub write_completion_ns: u32,
    /// Before data crosses the bus ("Data preparation overhead").
    pub data_preparation_ns: u32,
    /// Taking the bus again the first time ("First reselect overhead").
    pub reselect_first_ns: u32,
    /// Taking it again later ("Other reselect overhead").
    pub reselect_other_ns: u32,
    /// Leaving the bus while a read seeks ("Read disconnect").
    pub disconnect_read_ns: [u32; 2],
    /// Leaving the bus while a write is on its way to the medium ("Write disconnect overhead").
    pub disconnect_write_ns: u32,
    /// Shortest seek before a write that does not continue the last one ("Minimum seek delay").
    pub minimum_write_seek_ns: u32,
    /// A second disconnection of writes that follow a write elsewhere ("Extra write disconnect").
    pub extra_disconnect: Option<ExtraDisconnect>,
}

/// The extra disconnection of some old SCSI drives ("Extradisc …").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExtraDisconnect {
    /// Command overhead instead of the usual one.
    pub command_ns: u32,
    /// The extra disconnection.
    pub disconnect_ns: u32,
    /// Time off the bus before data is fetched.
    pub pause_ns: u32,
    /// The later, usual disconnection.
    pub second_disconnect_ns: u32,
    /// Delay of the seek beyond the command overhead.
    pub seek_delta_ns: u32,
}

/// How far a drive reads on after a read ("Buffer continuous read").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "std", derive(serde::Deserialize), serde(rename_all = "lowercase"))]
pub enum ReadAhead {
    /// Not at all (0).
    #[default]
    None,
    /// To the end of the track (1).
    Track,
    /// To the end of the cylinder (2).
    Cylinder,
    /// Until the limit, across tracks (3).
    Segment,
    /// To the end of the track; a stream that came from an earlier track, one track more (4).
    Adaptive,
}

/// The drive's buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BufferSpec {
    /// Keep what was read, serve reads from it ("Enable caching in buffer").
    pub read_cache: bool,
    /// Complete writes from the buffer ("Fast write level" 1 and 2).
    pub write_cache: bool,
    /// Segments ("Number of buffer segments").
    pub segments: u32,
    /// Sectors in each ("Segment size").
    pub segment_sectors: u32,
    /// Segments that may hold unwritten data at once ("Maximum number of write segments").
    pub write_segments: u32,
    /// One segment serves writes only ("Use separate write segment").
    pub separate_write_segment: bool,
    /// Take writes into the buffer while the arm is busy ("Allow write prebuffering").
    pub prebuffer_writes: bool,
    /// Serve whole hits while the arm is busy ("Allow sneaky full read hits").
    pub hits_while_busy: bool,
    /// A read of the sector that reading on is at is a hit ("Allow almost read hits").
    pub almost_hits: bool,
    /// A write that continues the one under way joins it ("Combine seq writes").
    pub combine_writes: bool,
    /// How far to read on.
    pub read_ahead: ReadAhead,
    /// Most sectors read on ("Maximum read-ahead").
    pub read_ahead_sectors: u32,
    /// Reading on may overwrite data already sent to the host ("Read-ahead over requested").
    pub read_ahead_over_requested: bool,
    /// A hit on an idle drive starts reading on ("Read-ahead on idle hit").
    pub read_ahead_on_hit: bool,
    /// Reads may hit what was written ("Allow read hits on write data").
    pub hits_on_writes: bool,
    /// Zero-latency read: start at whichever wanted sector comes first ("Immediate buffer read").
    pub immediate_read: bool,
    /// The same for writes ("Immediate buffer write").
    pub immediate_write: bool,
    /// Keep sectors of the track that pass before the wanted ones ("Read any free blocks").
    pub read_free_sectors: bool,
    /// Reading on stops at once, not at the end of the sector ("Stop prefetch in sector").
    pub stop_in_sector: bool,
    /// Share of the request, in 1/1024, that is in the buffer before the bus is taken ("High water mark").
    pub read_watermark: u32,
}

impl BufferSpec {
    /// Whether data is given up as soon as it was sent: reading on may fill the whole segment.
    pub fn gives_up_requested(&self) -> bool {
        let across_tracks = matches!(self.read_ahead, ReadAhead::Segment | ReadAhead::Adaptive);
        self.read_ahead_over_requested && across_tracks && self.read_ahead_sectors >= self.segment_sectors
    }

    /// The same buffer with read cache, read-ahead and write cache switched off.
    pub fn off(self) -> BufferSpec {
        BufferSpec {
            read_cache: false,
            write_cache: false,
            read_ahead: ReadAhead::None,
            read_ahead_on_hit: false,
            prebuffer_writes: false,
            ..self
        }
    }
}
