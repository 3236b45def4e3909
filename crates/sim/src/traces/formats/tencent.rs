//! Tencent: thousands of volumes of its block storage, October 2018.
//!
//! `Timestamp,Offset,Size,IOType,VolumeID`, no header. Timestamp counts whole seconds since 1970,
//! Offset and Size count 512-byte sectors, IOType is 0 for a read and 1 for a write.
//!
//! The format lacks: times that a queue can be studied by, completions, issuers, flushes.

use super::prelude::*;
use crate::traces::parse::{Commas, number, scaled, sectors_extent};
use idlewise_core::{Instant, Operation};

pub(crate) const ABOUT: About =
    About { exact_times: false, ..About::plain("tencent", "Tencent block storage", "seconds, whole") };

pub(crate) const CODE: Code = Code::text::<Tencent>();

#[derive(Default)]
struct Tencent;

impl LineFormat for Tencent {
    fn row<'a>(&mut self, line: &'a [u8], sink: &mut Sink) -> Result<Row, Bad<'a>> {
        if line.starts_with(b"Timestamp,Offset") {
            return Ok(Row::Comment);
        }
        let mut fields = Commas::of(line);
        let stamp = fields.need("expected the time")?;
        let (offset, size) = (fields.need("expected the offset")?, fields.need("expected the size")?);
        let kind = fields.need("expected 0 or 1")?;
        let volume = number(fields.need("expected the volume")?, "expected the volume, a number")?;
        fields.end()?;
        let arrival = scaled(number(stamp, "expected the time in seconds")?, 1_000_000_000, stamp)?;
        let (start, length) = sectors_extent(offset, size)?;
        let operation = match kind {
            b"0" => Operation::Read,
            b"1" => Operation::Write,
            _ => return Err(Bad::row("expected 0 (read) or 1 (write)", kind)),
        };
        let device = sink.devices.number(volume, |n| n.to_string());
        sink.take(device, true, Record::new(Instant(arrival), operation, start, length))
    }
}
