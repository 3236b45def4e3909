//! What blkparse prints: one event a line, in order of time.
//!
//! `major,minor cpu sequence seconds.nanoseconds pid action rwbs …`, where … is `sector + sectors
//! [process]`, or `[process]` for a flush, `sector / newsector` for a split, `sector + sectors <-
//! (major,minor) sector` for a remap, `sector + sectors [error]` for a completion. Lines that begin
//! with `#` and the summary at the end are passed over.
//!
//! The format lacks: I/O priorities.

use super::prelude::*;
use crate::traces::encode::events::{Events, Happening, Kind};
use crate::traces::event::{Action, Event};
use crate::traces::pairing::Pairing;
use crate::traces::parse::{Words, integer, number, small, time};
use crate::traces::rwbs::{Rwbs, letters};
use idlewise_core::{Issuer, Operation};
use std::collections::HashMap;

pub(crate) const ABOUT: About =
    About { writable: true, ..About::events("blkparse", "blkparse text", "seconds, decimal") };

pub(crate) const CODE: Code = Code::text::<Blkparse>().with(|| Box::new(BlkparseEncoder::default()));

#[derive(Default)]
struct Blkparse {
    pairing: Pairing,
    /// The summary has begun.
    summary: bool,
}

impl LineFormat for Blkparse {
    fn row<'a>(&mut self, line: &'a [u8], sink: &mut Sink) -> Result<Row, Bad<'a>> {
        if !line[0].is_ascii_digit() {
            return self.other(line);
        }
        let mut words = Words::of(line);
        let device = device_number(words.need("expected the device")?)?;
        small(words.need("expected the CPU")?, "expected the CPU, a number")?;
        number(words.need("expected the sequence number")?, "expected the sequence number")?;
        let time = time(words.need("expected the time")?, 9, "expected the time in seconds")?;
        let pid = small(words.need("expected the process number")?, "expected the process number")?;
        let word = words.need("expected the action")?;
        let Some(action) = action(word)? else {
            return sink.left_out(Skip::NotARequest);
        };
        let letters = words.need("expected letters such as WS")?;
        let (extent, rest) = extent(words.rest())?;
        let (sector, length, split) = extent;
        let action = match split {
            Some(at) => Action::Split(at),
            None => action,
        };
        let rwbs = Rwbs::parse(letters, length == 0 && split.is_none())
            .ok_or_else(|| Bad::row("expected letters such as WS", letters))?;
        let Some(operation) = rwbs.operation else {
            return sink.left_out(Skip::OtherOperation);
        };
        let Some(device) = sink.devices.number(device, device_name) else {
            return sink.left_out(Skip::OtherDevice);
        };
        if action == Action::Queue
            && let Some(name) = bracketed(rest)
        {
            sink.processes.note(pid, name);
        }
        let issuer = (pid != 0).then_some(Issuer(pid));
        let priority = None;
        let event =
            Event { action, time, device, sector, length, operation, flags: rwbs.flags, issuer, priority };
        self.pairing.event(&event, sink)?;
        Ok(Row::Data)
    }

    fn end(&mut self, sink: &mut Sink) -> Result<(), Bad<'static>> {
        self.pairing.end(sink)
    }
}

impl Blkparse {
    /// A comment or the summary; anything else is a complaint.
    fn other<'a>(&mut self, line: &'a [u8]) -> Result<Row, Bad<'a>> {
        self.summary |= line.starts_with(b"CPU") || line.starts_with(b"Total (");
        let known = line.starts_with(b"Input file") || line.starts_with(b"Throughput");
        if self.summary || known || line[0] == b'#' {
            return Ok(Row::Comment);
        }
        Err(Bad::row("expected the device, as in 8,0", line))
    }
}

/// `8,0` as one number.
#[inline]
pub(crate) fn device_number(text: &[u8]) -> Result<u64, Bad<'_>> {
    let parts = text.iter().position(|&b| b == b',').map(|at| (&text[..at], &text[at + 1..]));
    let pair = parts.and_then(|(major, minor)| Some((integer(major)?, integer(minor)?)));
    match pair {
        Some((major, minor)) if major < 1 << 20 && minor < 1 << 32 => Ok(major << 32 | minor),
        _ => Err(Bad::row("expected the device, as in 8,0", text)),
    }
}

/// A device number as Linux writes it elsewhere: `8:0`.
pub(crate) fn device_name(number: u64) -> String {
    format!("{}:{}", number >> 32, number & 0xffff_ffff)
}

/// The action; `None` for one that tells nothing of a request.
#[inline]
fn action(word: &[u8]) -> Result<Option<Action>, Bad<'_>> {
    Ok(match word {
        b"Q" => Some(Action::Queue),
        b"I" => Some(Action::Insert),
        b"D" => Some(Action::Dispatch),
        b"C" => Some(Action::Complete),
        b"R" => Some(Action::Requeue),
        b"M" | b"F" => Some(Action::Merge),
        b"A" => Some(Action::Remap),
        b"X" => Some(Action::Split(0)),
        b"G" | b"S" | b"P" | b"U" | b"T" | b"UT" | b"B" | b"m" => None,
        _ => return Err(Bad::row("expected an action such as Q, D or C", word)),
    })
}

/// First sector, sectors, and where a split cuts.
type Extent = (u64, u32, Option<u64>);

/// `sector + sectors`, `sector / newsector`, `sector` or nothing, and what follows it.
#[inline]
pub(crate) fn extent(text: &[u8]) -> Result<(Extent, &[u8]), Bad<'_>> {
    let mut words = Words::of(text);
    let Some(sector) = words.next().and_then(integer) else {
        return Ok(((0, 0, None), text));
    };
    let rest = words.rest();
    let mark = words.next().unwrap_or_default();
    match mark {
        b"+" => {
            let length = small(words.need("expected the sectors")?, "expected the sectors")?;
            check(sector, length, text)?;
            Ok(((sector, length, None), words.rest()))
        }
        b"/" => {
            let at = number(words.need("expected a sector")?, "expected the sector of the second part")?;
            check(sector, 1, text)?;
            Ok(((sector, 0, Some(at)), words.rest()))
        }
        _ => Ok(((sector, 0, None), rest)),
    }
}

/// Complains about an extent beyond 2^63 bytes. Requests without length may have any sector.
pub(crate) fn check(sector: u64, length: u32, text: &[u8]) -> Result<(), Bad<'_>> {
    if length > 0 && sector > crate::traces::parse::MAX_SECTOR {
        return Err(Bad::row("expected a sector below 2^54", text));
    }
    Ok(())
}

/// What stands between the first `[` and the last `]`.
#[inline]
pub(crate) fn bracketed(text: &[u8]) -> Option<&[u8]> {
    let from = text.iter().position(|&b| b == b'[')? + 1;
    let to = text.iter().rposition(|&b| b == b']')?;
    text.get(from..to)
}

/// Process names that are remembered until their events are written.
const MAX_PROCESSES: usize = 4096;

/// blkparse's text.
#[derive(Default)]
pub(crate) struct BlkparseEncoder {
    events: Events,
    processes: HashMap<u32, String>,
    lines: u64,
}

impl Encoder for BlkparseEncoder {
    fn keeps(&self) -> Keeps {
        Keeps::EVENTS
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

impl BlkparseEncoder {
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
        let rwbs = letters(record);
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
