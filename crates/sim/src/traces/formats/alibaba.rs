//! Alibaba: 1000 volumes of its block storage, January 2020.
//!
//! `device_id,opcode,offset,length,timestamp`, no header. Offset and length are bytes, opcode is
//! `R` or `W`, timestamp counts microseconds since 1970.
//!
//! The format lacks: completions, issuers, flushes.

use super::prelude::*;
use crate::traces::formats::spc::letter;
use crate::traces::parse::{Commas, bytes_extent, number, scaled};
use idlewise_core::Instant;

pub(crate) const ABOUT: About = About::plain("alibaba", "Alibaba block storage", "microseconds");

pub(crate) const CODE: Code = Code::text::<Alibaba>();

#[derive(Default)]
struct Alibaba;

impl LineFormat for Alibaba {
    fn row<'a>(&mut self, line: &'a [u8], sink: &mut Sink) -> Result<Row, Bad<'a>> {
        if line.starts_with(b"device_id,") {
            return Ok(Row::Comment);
        }
        let mut fields = Commas::of(line);
        let volume = number(fields.need("expected the device")?, "expected the device, a number")?;
        let operation = letter(fields.need("expected R or W")?)?;
        let (offset, size) = (fields.need("expected the offset")?, fields.need("expected the length")?);
        let (start, length, aligned) = bytes_extent(offset, size)?;
        let stamp = fields.need("expected the time stamp")?;
        fields.end()?;
        let arrival = scaled(number(stamp, "expected the time in microseconds")?, 1_000, stamp)?;
        let device = sink.devices.number(volume, |n| n.to_string());
        sink.take(device, aligned, Record::new(Instant(arrival), operation, start, length))
    }
}
