//! SPC: the Storage Performance Council's trace format (Financial, WebSearch of UMass).
//!
//! `ASU,LBA,Size,Opcode,Timestamp[,more]`, no header. ASU is the device, LBA counts 512-byte
//! blocks, Size is bytes, Opcode is `R` or `W` in either case, Timestamp is decimal seconds.
//!
//! The format lacks: completions, issuers, flushes.

use super::prelude::*;
use crate::traces::parse::{Commas, extent_of, number, time};
use idlewise_core::{Instant, Operation};

pub(crate) const ABOUT: About =
    About { writable: true, ..About::plain("spc", "Storage Performance Council", "seconds, decimal") };

pub(crate) const CODE: Code = Code::text::<Spc>().with(|| Box::new(SpcEncoder));

#[derive(Default)]
struct Spc;

impl LineFormat for Spc {
    fn row<'a>(&mut self, line: &'a [u8], sink: &mut Sink) -> Result<Row, Bad<'a>> {
        let mut fields = Commas::of(line);
        let unit = number(fields.need("expected the ASU")?, "expected the ASU, a number")?;
        let block = fields.need("expected the block")?;
        let size = fields.need("expected the size in bytes")?;
        let operation = letter(fields.need("expected R or W")?)?;
        let arrival = time(fields.need("expected the time")?, 9, "expected the time in seconds")?;

        let first = number(block, "expected the block")?;
        let bytes = number(size, "expected the size in bytes")?;
        let extent = first.checked_mul(512).and_then(|from| extent_of(from, bytes));
        let (start, length, aligned) =
            extent.ok_or_else(|| Bad::row("expected a block below 2^54 and a size below 2 TiB", block))?;
        let device = sink.devices.number(unit, |n| n.to_string());
        sink.take(device, aligned, Record::new(Instant(arrival), operation, start, length))
    }
}

/// `R` or `W`, in either case.
pub(crate) fn letter(text: &[u8]) -> Result<Operation, Bad<'_>> {
    match text {
        b"R" | b"r" => Ok(Operation::Read),
        b"W" | b"w" => Ok(Operation::Write),
        _ => Err(Bad::row("expected R or W", text)),
    }
}

/// SPC.
pub(crate) struct SpcEncoder;

impl Encoder for SpcEncoder {
    fn keeps(&self) -> Keeps {
        Keeps::LEAST
    }

    fn record(&mut self, record: &Record, names: Names<'_>, out: &mut dyn Write) -> io::Result<()> {
        let letter = if record.operation == Operation::Read { 'R' } else { 'W' };
        let unit = unit(names.device, record.device);
        let (seconds, nanos) = (record.arrival.0 / 1_000_000_000, record.arrival.0 % 1_000_000_000);
        writeln!(out, "{unit},{},{},{letter},{seconds}.{nanos:09}", record.start, record.length.bytes())
    }
}
