//! What every model of a disk is to its host, the program that submits commands: commands in, completions out, no
//! clock of its own.
//!
//! The host calls [`DiskModel::submit`] when it sends a command, asks [`DiskModel::next_event`] when to
//! look again, and at that time calls [`DiskModel::advance`] until it returns `None`. Models only
//! compute; they move no data.

use crate::error::BuildError;
use alloc::vec::Vec;
use core::fmt;
use idlewise_core::{Duration, Instant, Issuer, Operation, Request, Sector, Sectors, Weight};

/// One command as it goes over the cable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// The host's name for it, handed back in the completion.
    pub tag: u32,
    /// What to do.
    pub operation: Operation,
    /// First sector. Ignored for a flush.
    pub start: Sector,
    /// Length. Ignored for a flush.
    pub length: Sectors,
    /// Force unit access: a write completes only when it is on the medium.
    pub fua: bool,
}

/// Where the time of one command went. The four parts add up to `at - started`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timing {
    /// Moving and settling the arm.
    pub seek: Duration,
    /// Waiting for the first sector to come round; for flash, waiting for a busy die.
    pub rotation: Duration,
    /// Moving data: the medium, and what of the bus does not overlap it.
    pub transfer: Duration,
    /// Controller work: command decoding, completion, waiting for the arm of an earlier command.
    pub overhead: Duration,
    /// The command touched only the buffer.
    pub cached: bool,
}

/// A command is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The command's tag.
    pub tag: u32,
    /// When the host hears of it.
    pub at: Instant,
    /// When the device turned to it; earlier commands may have kept it waiting until then.
    pub started: Instant,
    /// Where the time from `started` to `at` went.
    pub timing: Timing,
}

/// A command the device does not take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum SubmitError {
    /// The command reaches beyond the last sector.
    BeyondEnd { start: Sector, length: Sectors, capacity: Sector },
    /// The device already holds as many commands as it accepts.
    Full { depth: u32 },
    /// A read, write or discard of no sectors.
    Empty { start: Sector },
}

impl fmt::Display for SubmitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            SubmitError::BeyondEnd { start, length, capacity } => write!(
                f,
                "sectors {start}+{length} reach beyond the end of the disk, which has {capacity} sectors; \
                 choose a larger disk or scale the addresses down"
            ),
            SubmitError::Full { depth } => write!(
                f,
                "the disk holds {depth} commands already and accepts no more; wait for a completion or \
                 choose a profile with a deeper queue"
            ),
            SubmitError::Empty { start } => write!(
                f,
                "a command of zero sectors at sector {start}; give it a length, or send a flush instead"
            ),
        }
    }
}

impl core::error::Error for SubmitError {}

/// What a host tells of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    /// The process has exited.
    Exited(Issuer),
    /// The process has this weight from now on.
    Weight(Issuer, Weight),
}

/// A model of a disk, as a host sees it. Times never decrease from call to call.
pub trait DiskModel {
    /// Sectors on the device.
    fn capacity(&self) -> Sector;

    /// Commands it accepts at once.
    fn depth(&self) -> u32;

    /// Whether nearby addresses are cheaper than far ones.
    fn rotational(&self) -> bool;

    /// Whether it will serve commands otherwise because of what it was sent long ago.
    fn remembers(&self) -> bool {
        false
    }

    /// A table of at most `points` ascending distances in sectors, and the time it is expected to take to get
    /// there; empty if nothing moves.
    fn positioning_curve(&self, _points: usize) -> Vec<(u64, Duration)> {
        Vec::new()
    }

    /// Takes a command at `now`.
    fn submit(&mut self, now: Instant, command: Command) -> Result<(), SubmitError>;

    /// The same, from a host that knows the request that the command is for. What schedules inside the device, such as the
    /// members of an array, looks at who issued it; a disk does not.
    #[inline]
    fn submit_for(&mut self, now: Instant, command: Command, _request: &Request) -> Result<(), SubmitError> {
        self.submit(now, command)
    }

    /// Something happened to a process, for what schedules inside the device.
    fn tell(&mut self, _now: Instant, _news: News) {}

    /// When to call [`DiskModel::advance`]; `None` while no command is outstanding.
    fn next_event(&self) -> Option<Instant>;

    /// Brings the device to `now`. Returns one command that completed by then; call until `None`.
    fn advance(&mut self, now: Instant) -> Option<Completion>;
}

/// A specification of one model, as integers.
pub trait Spec {
    /// What it specifies.
    type Disk: DiskModel;

    /// Builds the disk. Allocates all the memory it will ever use.
    fn build(&self) -> Result<Self::Disk, BuildError>;

    /// Whether writes complete before they are durable, so that a flush means something.
    fn write_cache(&self) -> bool {
        false
    }

    /// Commands accepted at once.
    fn depth(&mut self) -> &mut u32;

    /// Sets what a sector takes on the cable.
    fn set_bus(&mut self, sector_ns: u32);

    /// Makes it as large as this, in sectors; false if its parts cannot hold so much.
    fn set_capacity(&mut self, sectors: u64) -> bool;

    /// Changes a part that only disks with platters have; false without them.
    fn alter(&mut self, _: Alteration) -> bool {
        false
    }

    /// The time of every command, if all take the same.
    fn latency_ns(&mut self) -> Option<&mut u64> {
        None
    }

    /// The figures that a summary shows. A name ends in its unit: `read_ns`, `page_bytes`; a count has none.
    fn facts(&self) -> Vec<(&'static str, u64)>;
}

/// A change of a disk with platters: what another drive of its kind, or the same drive set up otherwise, may be like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alteration {
    /// No read cache, read-ahead or write cache.
    CacheOff,
    /// No write cache.
    WriteCacheOff,
    /// Each part of the buffer, and how far is read ahead, are this many hundredths of what they were.
    Buffer(u32),
    /// Seeks take this many hundredths of what they took.
    Seek(u32),
    /// Revolutions a minute. What a track holds stays.
    Rpm(u32),
}

/// Somebody who uses a disk without caring which model it is. The code is compiled for each model, so that nobody
/// asks at each event which one it is.
pub trait WithModel {
    /// What comes of it.
    type Output;

    /// Uses the disk.
    fn with_model<D: DiskModel>(self, disk: &mut D) -> Self::Output;
}

/// Later than any run (146 years); times beyond it are taken as this, so that sums cannot overflow.
const LATEST: u64 = 1 << 62;

/// A time as a number that can be added to.
#[inline]
pub(crate) fn sane(now: Instant) -> u64 {
    now.0.min(LATEST)
}

/// Checks a command's extent against a device's capacity.
pub(crate) fn check_extent(command: &Command, capacity: Sector) -> Result<(), SubmitError> {
    if command.operation == Operation::Flush {
        return Ok(());
    }
    let Command { start, length, .. } = *command;
    if length.0 == 0 {
        return Err(SubmitError::Empty { start });
    }
    match start.0.checked_add(u64::from(length.0)) {
        Some(end) if end <= capacity.0 => Ok(()),
        _ => Err(SubmitError::BeyondEnd { start, length, capacity }),
    }
}
