//! DiskSim's default ASCII format.
//!
//! `time devno blkno size flags`, separated by spaces. Time is decimal milliseconds, blkno and
//! size count 512-byte blocks, flags are hexadecimal: bit 0 set means a read.
//!
//! The format lacks: completions, issuers, flushes. All-integer rows look like MQSim's; DiskSim's times
//! have a decimal point, and that tells them apart.

use super::prelude::*;
use crate::traces::parse::{Words, hexadecimal, number, sectors_extent, time};
use idlewise_core::{Instant, Operation};

pub(crate) const ABOUT: About =
    About { writable: true, ..About::plain("disksim", "DiskSim ASCII", "milliseconds, decimal") };

pub(crate) const CODE: Code = Code { score, ..Code::text::<Disksim>().with(|| Box::new(DisksimEncoder)) };

#[derive(Default)]
struct Disksim;

impl LineFormat for Disksim {
    fn row<'a>(&mut self, line: &'a [u8], sink: &mut Sink) -> Result<Row, Bad<'a>> {
        let mut words = Words::of(line);
        let arrival = time(words.need("expected the time")?, 6, "expected the time in milliseconds")?;
        let unit = number(words.need("expected the device")?, "expected the device, a number")?;
        let (block, size) = (words.need("expected the block")?, words.need("expected the size")?);
        let (start, length) = sectors_extent(block, size)?;
        let flags = words.need("expected the flags")?;
        words.end()?;
        let bits = hexadecimal(flags).ok_or_else(|| Bad::row("expected the flags, hexadecimal", flags))?;
        let operation = if bits & 1 == 1 { Operation::Read } else { Operation::Write };
        let device = sink.devices.number(unit, |n| n.to_string());
        sink.take(device, true, Record::new(Instant(arrival), operation, start, length))
    }
}

/// Rows of the format, of which at least one has a decimal point in its time.
fn score(head: &Head<'_>) -> u8 {
    let fraction = |line: &[u8]| Words::of(line).next().is_some_and(|time| time.contains(&b'.'));
    if head.lines().any(fraction) { score_by_rows::<Disksim>(head) } else { 0 }
}

/// DiskSim.
pub(crate) struct DisksimEncoder;

impl Encoder for DisksimEncoder {
    fn keeps(&self) -> Keeps {
        Keeps::LEAST
    }

    fn record(&mut self, record: &Record, names: Names<'_>, out: &mut dyn Write) -> io::Result<()> {
        let flags = u8::from(record.operation == Operation::Read);
        let unit = unit(names.device, record.device);
        let (millis, nanos) = (record.arrival.0 / 1_000_000, record.arrival.0 % 1_000_000);
        writeln!(out, "{millis}.{nanos:06} {unit} {} {} {flags}", record.start, record.length)
    }
}
