//! MQSim: a simulator of SSDs. Its traces are also how UMass WebSearch extracts circulate.
//!
//! `time device LBA sectors type`, separated by spaces. Time counts nanoseconds, LBA and sectors
//! are in units of 512 bytes, type is **0 for a write and 1 for a read**.
//!
//! The format lacks: completions, issuers, flushes.

use super::prelude::*;
use crate::traces::parse::{Words, number, sectors_extent};
use idlewise_core::{Instant, Operation};

pub(crate) const ABOUT: About = About { writable: true, ..About::plain("mqsim", "MQSim", "nanoseconds") };

pub(crate) const CODE: Code = Code::text::<Mqsim>().with(|| Box::new(MqsimEncoder));

#[derive(Default)]
struct Mqsim;

impl LineFormat for Mqsim {
    fn row<'a>(&mut self, line: &'a [u8], sink: &mut Sink) -> Result<Row, Bad<'a>> {
        let mut words = Words::of(line);
        let arrival = number(words.need("expected the time")?, "expected the time in nanoseconds")?;
        let unit = number(words.need("expected the device")?, "expected the device, a number")?;
        let (block, size) = (words.need("expected the address")?, words.need("expected the length")?);
        let (start, length) = sectors_extent(block, size)?;
        let operation = match words.need("expected 0 (write) or 1 (read)")? {
            b"0" => Operation::Write,
            b"1" => Operation::Read,
            other => return Err(Bad::row("expected 0 (write) or 1 (read)", other)),
        };
        words.end()?;
        let device = sink.devices.number(unit, |n| n.to_string());
        sink.take(device, true, Record::new(Instant(arrival), operation, start, length))
    }
}

/// MQSim.
pub(crate) struct MqsimEncoder;

impl Encoder for MqsimEncoder {
    fn keeps(&self) -> Keeps {
        Keeps::LEAST
    }

    fn record(&mut self, record: &Record, names: Names<'_>, out: &mut dyn Write) -> io::Result<()> {
        let kind = u8::from(record.operation == Operation::Read);
        let unit = unit(names.device, record.device);
        writeln!(out, "{} {unit} {} {} {kind}", record.arrival.0, record.start, record.length)
    }
}
