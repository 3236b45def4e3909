//! CloudPhysics as text, as libCacheSim distributes it.
//!
//! `version,time,op,size,lbn` with that header. Time counts whole seconds, op is a SCSI command in
//! hexadecimal, size is bytes, lbn counts 512-byte blocks. The binary form (`vscsi`) of the same
//! trace has exact times.
//!
//! The format lacks: times that a queue can be studied by, completions, issuers, devices.

use super::prelude::*;
use crate::traces::formats::vscsi::command;
use crate::traces::parse::{Commas, extent_of, hexadecimal, number, scaled};
use idlewise_core::Instant;

pub(crate) const ABOUT: About = About {
    devices: false,
    exact_times: false,
    ..About::plain("cloudphysics", "CloudPhysics text", "seconds, whole")
};

pub(crate) const CODE: Code = Code::text::<CloudPhysics>();

#[derive(Default)]
struct CloudPhysics;

impl LineFormat for CloudPhysics {
    fn row<'a>(&mut self, line: &'a [u8], sink: &mut Sink) -> Result<Row, Bad<'a>> {
        if line.starts_with(b"version,") {
            return Ok(Row::Comment);
        }
        let mut fields = Commas::of(line);
        let version = fields.need("expected the version")?;
        if !matches!(version, b"1" | b"2") {
            return Err(Bad::row("expected the version, 1 or 2", version));
        }
        let stamp = fields.need("expected the time")?;
        let code = fields.need("expected the SCSI command")?;
        let (size, block) = (fields.need("expected the size")?, fields.need("expected the block")?);
        fields.end()?;
        let arrival = scaled(number(stamp, "expected the time in seconds")?, 1_000_000_000, stamp)?;
        let code =
            hexadecimal(code).ok_or_else(|| Bad::row("expected the SCSI command, hexadecimal", code))?;
        let bytes = number(size, "expected the size in bytes")?;
        let from = number(block, "expected the block")?.checked_mul(512);
        let extent = from.and_then(|from| extent_of(from, bytes));
        let (start, length, aligned) =
            extent.ok_or_else(|| Bad::row("expected a block below 2^54 and a size below 2 TiB", block))?;
        let Some(operation) = command(code) else {
            return sink.left_out(Skip::OtherOperation);
        };
        let device = sink.devices.number(0, |_| "disk".to_owned());
        sink.take(device, aligned, Record::new(Instant(arrival), operation, start, length))
    }
}
