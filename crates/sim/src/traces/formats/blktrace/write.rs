//! Writer of blktrace's binary records, as one CPU's file. blkparse, btt and fio read it.

use super::layout::{MAGIC, SIZE, about};
use crate::traces::Record;
use crate::traces::encode::events::{Events, Happening, Kind};
use crate::traces::encode::{Encoder, Keeps, Names};
use idlewise_core::Operation;
use std::collections::HashSet;
use std::io::{self, Write};

/// Processes whose name is written once, before their first request.
const MAX_PROCESSES: usize = 4096;

/// Bytes of a process name in a notice.
const NAME: usize = 16;

/// blktrace's binary records.
#[derive(Default)]
pub(crate) struct Blktrace {
    events: Events,
    named: HashSet<u32>,
    sequence: u32,
}

impl Encoder for Blktrace {
    fn keeps(&self) -> Keeps {
        Keeps { longest: u64::from(u32::MAX), ..Keeps::EVENTS }
    }

    fn record(&mut self, record: &Record, names: Names<'_>, out: &mut dyn Write) -> io::Result<()> {
        while let Some(event) = self.events.pop(record.arrival.0) {
            self.event(&event, out)?;
        }
        if let (Some(issuer), Some(name)) = (record.issuer, names.process)
            && self.named.len() < MAX_PROCESSES
            && self.named.insert(issuer.0)
        {
            let mut text = [0; NAME];
            let count = name.len().min(NAME - 1);
            text[..count].copy_from_slice(&name.as_bytes()[..count]);
            let header = Header {
                time: record.arrival.0,
                action: about::NOTIFY << 16,
                pid: issuer.0,
                ..Header::default()
            };
            out.write_all(&header.bytes(NAME as u16))?;
            out.write_all(&text)?;
        }
        self.events.push(record, names.device);
        Ok(())
    }

    fn end(&mut self, out: &mut dyn Write) -> io::Result<()> {
        while let Some(event) = self.events.pop(u64::MAX) {
            self.event(&event, out)?;
        }
        Ok(())
    }
}

impl Blktrace {
    fn event(&mut self, event: &Happening, out: &mut dyn Write) -> io::Result<()> {
        self.sequence = self.sequence.wrapping_add(1);
        let record = &event.record;
        let (number, stage) = match event.kind {
            Kind::Queue => (1, about::QUEUE),
            Kind::Dispatch => (7, about::ISSUE),
            Kind::Complete => (8, about::COMPLETE),
        };
        let direction = match record.operation {
            Operation::Read => about::READ,
            Operation::Write => about::WRITE,
            Operation::Discard => about::WRITE | about::DISCARD,
            Operation::Flush => about::WRITE | about::FLUSH,
        };
        let implied = record.operation == Operation::Read;
        let sync = if record.sync && !implied { about::SYNC } else { 0 };
        let metadata = if record.metadata { about::META } else { 0 };
        let before = if record.durable.before { about::FLUSH } else { 0 };
        let itself = if record.durable.itself { about::FUA } else { 0 };
        let (major, minor) = event.device;
        let header = Header {
            sequence: self.sequence,
            time: event.time,
            sector: record.start.0,
            bytes: record.length.bytes() as u32,
            action: (stage | direction | sync | metadata | before | itself) << 16 | number,
            pid: record.issuer.filter(|_| event.kind == Kind::Queue).map_or(0, |issuer| issuer.0),
            device: major << 20 | minor,
        };
        out.write_all(&header.bytes(0))
    }
}

/// A record's fields.
#[derive(Default)]
struct Header {
    sequence: u32,
    time: u64,
    sector: u64,
    bytes: u32,
    action: u32,
    pid: u32,
    device: u32,
}

impl Header {
    /// The record, least significant byte first, followed by `pdu` bytes.
    fn bytes(&self, pdu: u16) -> [u8; SIZE] {
        let mut out = [0; SIZE];
        out[0..4].copy_from_slice(&MAGIC.to_le_bytes());
        out[4..8].copy_from_slice(&self.sequence.to_le_bytes());
        out[8..16].copy_from_slice(&self.time.to_le_bytes());
        out[16..24].copy_from_slice(&self.sector.to_le_bytes());
        out[24..28].copy_from_slice(&self.bytes.to_le_bytes());
        out[28..32].copy_from_slice(&self.action.to_le_bytes());
        out[32..36].copy_from_slice(&self.pid.to_le_bytes());
        out[36..40].copy_from_slice(&self.device.to_le_bytes());
        out[46..48].copy_from_slice(&pdu.to_le_bytes());
        out
    }
}
