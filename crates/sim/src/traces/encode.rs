//! What a format that can be written has to say: what it holds, and how a record and an exit look in it.

pub(crate) mod events;

use crate::traces::record::{Exit, Record};
use std::io::{self, Write};

/// What a target holds of a record besides arrival, extent, read or write, and device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keeps {
    pub(crate) dispatches: bool,
    pub(crate) completions: bool,
    pub(crate) issuers: bool,
    pub(crate) groups: bool,
    pub(crate) exits: bool,
    pub(crate) priorities: bool,
    /// Whether a write was synchronous, and metadata.
    pub(crate) flags: bool,
    pub(crate) discards: bool,
    pub(crate) flushes: bool,
    /// The longest request, in bytes.
    pub(crate) longest: u64,
    /// The unit of its times, in nanoseconds.
    pub(crate) unit_ns: u64,
    /// Devices are major and minor numbers.
    pub(crate) numbers: bool,
}

impl Keeps {
    /// Only what every target holds, at nanoseconds.
    pub(crate) const LEAST: Keeps = Keeps {
        dispatches: false,
        completions: false,
        issuers: false,
        groups: false,
        exits: false,
        priorities: false,
        flags: false,
        discards: false,
        flushes: false,
        longest: u64::MAX,
        unit_ns: 1,
        numbers: false,
    };

    /// What formats of events hold.
    pub(crate) const EVENTS: Keeps = Keeps {
        dispatches: true,
        completions: true,
        issuers: true,
        flags: true,
        discards: true,
        flushes: true,
        numbers: true,
        ..Keeps::LEAST
    };
}

/// Names that belong to a record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Names<'a> {
    pub(crate) device: &'a str,
    pub(crate) process: Option<&'a str>,
}

/// Writes one format.
pub(crate) trait Encoder: Send {
    /// What the format holds.
    fn keeps(&self) -> Keeps;

    /// Writes what comes before the first record.
    fn begin(&mut self, _out: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }

    /// Writes a record. Records come in order of arrival.
    fn record(&mut self, record: &Record, names: Names<'_>, out: &mut dyn Write) -> io::Result<()>;

    /// Writes the exit of a process, in order of time. Only formats that keep exits are asked.
    fn exit(&mut self, _exit: Exit, _out: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }

    /// Writes what comes after the last record.
    fn end(&mut self, _out: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }
}

/// A device as a number: its name if that is one, else its index.
pub(crate) fn unit(name: &str, index: u32) -> u64 {
    name.parse().unwrap_or(u64::from(index))
}
