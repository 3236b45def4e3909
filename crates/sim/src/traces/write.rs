//! Writes records in another format, and tells what that format could not hold.
//!
//! A target says what it keeps (`encode`); the losses are counted here, once, from that. Requests
//! that a target cannot express are left out and counted, never written as something else.

use crate::traces::encode::{Encoder, Keeps, Names};
use crate::traces::{Exit, Format, Record, Trace, TraceError};
use idlewise_core::Operation;
use serde::Serialize;
use std::io::{self, Write};

/// Something that the target format could not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Loss {
    /// What was lost, as in "completion times".
    pub what: &'static str,
    /// Of how many records, or how many exits.
    pub records: u64,
}

/// What was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Written {
    /// Records written.
    pub records: u64,
    /// What the format could not hold, if anything.
    pub losses: Vec<Loss>,
}

/// Why a trace cannot be written.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum WriteError {
    /// The format can only be read.
    #[error("traces cannot be written as {format}; choose one of: {formats}")]
    NotWritable { format: &'static str, formats: String },
    /// The operating system refused.
    #[error("cannot write the trace: {0}; check the space and the permissions of the target")]
    Io(#[from] io::Error),
    /// The trace that is converted cannot be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
}

const LOSSES: [&str; 11] = [
    "dispatch times",
    "completion times",
    "issuers",
    "priorities",
    "flags (synchronous, metadata)",
    "discards, left out",
    "flushes, left out",
    "exact times, rounded down",
    "requests of 4 GiB or more, left out",
    "groups",
    "exits of processes",
];

/// Writes records to `W` in one format.
pub struct Writer<W: Write> {
    encoder: Box<dyn Encoder>,
    keeps: Keeps,
    out: W,
    records: u64,
    losses: [u64; LOSSES.len()],
}

impl<W: Write> Writer<W> {
    /// A writer of `format`. `out` should be buffered.
    ///
    /// # Errors
    /// The format can only be read, or `out` fails.
    pub fn new(format: Format, mut out: W) -> Result<Writer<W>, WriteError> {
        let Some(encode) = format.code().encode else {
            let formats = Format::ALL.iter().filter(|f| f.about().writable).map(|f| f.name());
            let formats = formats.collect::<Vec<_>>().join(", ");
            return Err(WriteError::NotWritable { format: format.name(), formats });
        };
        let mut encoder = encode();
        encoder.begin(&mut out)?;
        Ok(Writer { keeps: encoder.keeps(), encoder, out, records: 0, losses: [0; LOSSES.len()] })
    }

    /// Writes a record. Records come in order of arrival, the first at time 0.
    ///
    /// # Errors
    /// `out` fails.
    pub fn write(&mut self, record: &Record, device: &str, process: Option<&str>) -> Result<(), WriteError> {
        if !self.count_losses(record) {
            return Ok(());
        }
        self.encoder.record(record, Names { device, process }, &mut self.out)?;
        self.records += 1;
        Ok(())
    }

    /// Writes the exit of a process. Exits and records come in order of time.
    ///
    /// # Errors
    /// `out` fails.
    pub fn exit(&mut self, exit: Exit) -> Result<(), WriteError> {
        if self.keeps.exits {
            self.encoder.exit(exit, &mut self.out)?;
        } else {
            self.losses[10] += 1;
        }
        Ok(())
    }

    /// Writes all that is left of `trace`.
    ///
    /// # Errors
    /// The trace cannot be read on, or `out` fails.
    pub fn copy(&mut self, trace: &mut Trace) -> Result<(), WriteError> {
        loop {
            let record = trace.next()?;
            trace.exits().iter().try_for_each(|exit| self.exit(*exit))?;
            let Some(record) = record else { return Ok(()) };
            let device = trace.devices().get(record.device as usize).map_or("", String::as_str);
            let process = record.issuer.and_then(|issuer| trace.process(issuer));
            // Formats that have numbers for devices get the one that the recorded kernel has.
            let disk = trace.disks().iter().find(|disk| self.keeps.numbers && disk.name == device);
            let device = disk.map_or(device, |disk| &disk.number);
            self.write(&record, device, process)?;
        }
    }

    /// Writes the end and flushes. Tells what was written and what was lost.
    ///
    /// # Errors
    /// `out` fails.
    pub fn finish(mut self) -> Result<Written, WriteError> {
        self.encoder.end(&mut self.out)?;
        self.out.flush()?;
        let all = LOSSES.iter().zip(self.losses);
        let losses = all.filter(|(_, n)| *n > 0).map(|(what, records)| Loss { what, records }).collect();
        Ok(Written { records: self.records, losses })
    }

    /// Counts what the target cannot hold. False if that is the request itself.
    fn count_losses(&mut self, record: &Record) -> bool {
        let keeps = &self.keeps;
        let discard = !keeps.discards && record.operation == Operation::Discard;
        let flush = !keeps.flushes && record.operation == Operation::Flush;
        let long = record.length.bytes() > keeps.longest;
        if discard || flush || long {
            self.losses[8] += u64::from(long);
            self.losses[5] += u64::from(discard);
            self.losses[6] += u64::from(flush);
            return false;
        }
        let implied = matches!(record.operation, Operation::Read | Operation::Flush);
        let times = [Some(record.arrival), record.dispatched, record.completed];
        let rounded = times.iter().flatten().any(|time| !time.0.is_multiple_of(keeps.unit_ns));
        let lost = [
            (0, !keeps.dispatches && record.dispatched.is_some()),
            (1, !keeps.completions && record.completed.is_some()),
            (2, !keeps.issuers && record.issuer.is_some()),
            (3, !keeps.priorities && record.priority.is_some()),
            (4, !keeps.flags && (record.metadata || (record.sync && !implied))),
            (7, rounded),
            (9, !keeps.groups && record.group.is_some()),
        ];
        for (at, is_lost) in lost {
            self.losses[at] += u64::from(is_lost);
        }
        true
    }
}
