//! What every model of a disk is to its host: commands in, completions out, no clock of its own.
//!
//! The host calls [`Device::submit`] when it sends a command, asks [`Device::next_event`] when to
//! look again, and at that time calls [`Device::advance`] until it returns `None`. Models only
//! compute; they move no data.

use core::fmt;
use idlewise_core::{Duration, Instant, Operation, Sector, Sectors};

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
pub enum SubmitError {
    /// The command reaches beyond the last sector.
    BeyondEnd {
        /// First sector of the command.
        start: Sector,
        /// Its length.
        length: Sectors,
        /// Sectors the device has.
        capacity: Sector,
    },
    /// The device already holds as many commands as it accepts.
    Full {
        /// Commands it accepts at once.
        depth: u32,
    },
    /// A read, write or discard of no sectors.
    Empty {
        /// First sector of the command.
        start: Sector,
    },
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

/// A disk, as a host sees it. Times never decrease from call to call.
pub trait Device {
    /// Sectors on the device.
    fn capacity(&self) -> Sector;

    /// Commands it accepts at once.
    fn depth(&self) -> u32;

    /// Whether nearby addresses are cheaper than far ones.
    fn rotational(&self) -> bool;

    /// Takes a command at `now`.
    fn submit(&mut self, now: Instant, command: Command) -> Result<(), SubmitError>;

    /// When to call [`Device::advance`]; `None` while no command is outstanding.
    fn next_event(&self) -> Option<Instant>;

    /// Brings the device to `now`. Returns one command that completed by then; call until `None`.
    fn advance(&mut self, now: Instant) -> Option<Completion>;
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
