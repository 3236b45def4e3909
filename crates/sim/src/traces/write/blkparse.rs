//! Writer of blkparse's text.

use crate::traces::Record;
use crate::traces::formats::rwbs::letters;
use crate::traces::write::events::{Events, Happening, Kind};
use crate::traces::write::{Encoder, Keeps, Names};
use idlewise_core::Operation;
use std::collections::HashMap;
use std::io::{self, Write};

/// Process names that are remembered until their events are written.
const MAX_PROCESSES: usize = 4096;

/// blkparse's text.
#[derive(Default)]
pub(crate) struct Blkparse {
    events: Events,
    processes: HashMap<u32, String>,
    lines: u64,
}

impl Encoder for Blkparse {
    fn keeps(&self) -> Keeps {
        Keeps {
            dispatches: true,
            completions: true,
            issuers: true,
            flags: true,
            discards: true,
            flushes: true,
            ..Keeps::LEAST
        }
    }

    fn record(&mut self, record: &Record, names: Names<'_>, out: &mut dyn Write) -> io::Result<()> {
        if let (Some(issuer), Some(name)) = (record.issuer, names.process)
            && self.processes.len() < MAX_PROCESSES
            && !self.processes.contains_key(&issuer.0)
        {
            let plain = |c: char| if c.is_control() { '?' } else { c };
            self.processes.insert(issuer.0, name.chars().map(plain).collect());
        }
        while let Some(event) = self.events.pop(record.arrival.0) {
            self.line(&event, out)?;
        }
        self.events.push(record, names.device);
        Ok(())
    }

    fn end(&mut self, out: &mut dyn Write) -> io::Result<()> {
        while let Some(event) = self.events.pop(u64::MAX) {
            self.line(&event, out)?;
        }
        Ok(())
    }
}

impl Blkparse {
    fn line(&mut self, event: &Happening, out: &mut dyn Write) -> io::Result<()> {
        self.lines += 1;
        let Happening { time, kind, record, device: (major, minor), .. } = event;
        let (seconds, nanos) = (time / 1_000_000_000, time % 1_000_000_000);
        let pid = record.issuer.filter(|_| *kind == Kind::Queue).map_or(0, |issuer| issuer.0);
        let action = match kind {
            Kind::Queue => 'Q',
            Kind::Dispatch => 'D',
            Kind::Complete => 'C',
        };
        let rwbs = letters(record.operation, record.sync, record.metadata);
        let number = self.lines;
        write!(
            out,
            "{major:3},{minor:<3} {:2} {number:8} {seconds:5}.{nanos:09} {pid:5} {action:>2} {rwbs:>3} ",
            0
        )?;
        if record.operation != Operation::Flush {
            write!(out, "{} + {} ", record.start, record.length)?;
        }
        match kind {
            Kind::Complete => writeln!(out, "[0]"),
            _ => writeln!(out, "[{}]", self.processes.get(&pid).map_or("", String::as_str)),
        }
    }
}
