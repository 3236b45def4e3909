//! SYSTOR'17: a company's virtual desktops on Fibre Channel, 2016.
//!
//! `Timestamp,Response,IOType,LUN,Offset,Size`, with that header. Timestamp (since 1970) and
//! Response are decimal seconds, Offset and Size are bytes, IOType is `R`, `W` or blank. Response
//! may be blank. Rows are roughly in order of completion; by arrival, many are late.
//!
//! The format lacks: issuers, dispatches, what a blank IOType was (such rows are left out and counted).

use super::prelude::*;
use crate::traces::formats::spc::letter;
use crate::traces::parse::{Commas, bytes_extent, time};
use idlewise_core::{Duration, Instant};

pub(crate) const ABOUT: About =
    About { completions: true, ..About::plain("systor17", "SYSTOR'17 virtual desktops", "seconds, decimal") };

pub(crate) const CODE: Code = Code::text::<Systor>();

#[derive(Default)]
struct Systor;

impl LineFormat for Systor {
    fn row<'a>(&mut self, line: &'a [u8], sink: &mut Sink) -> Result<Row, Bad<'a>> {
        if line.starts_with(b"Timestamp,Response") {
            return Ok(Row::Comment);
        }
        let mut fields = Commas::of(line);
        let arrival = time(fields.need("expected the time")?, 9, "expected the time in seconds")?;
        let response = fields.need("expected the response time")?;
        let kind = fields.need("expected R, W or nothing")?;
        let unit = fields.need("expected the LUN")?;
        let (offset, size) = (fields.need("expected the offset")?, fields.need("expected the size")?);
        fields.end()?;
        if kind.is_empty() {
            return sink.left_out(Skip::OtherOperation);
        }
        let operation = letter(kind)?;
        let took = match response {
            b"" => None,
            text => Some(time(text, 9, "expected the response time in seconds")?),
        };
        let (start, length, aligned) = bytes_extent(offset, size)?;
        let name = |text: &[u8]| String::from_utf8_lossy(text).into_owned();
        let device = sink.devices.text(unit, name);
        let arrival = Instant(arrival);
        let completed = took.map(|took| arrival + Duration(took));
        sink.take(device, aligned, Record { completed, ..Record::new(arrival, operation, start, length) })
    }
}
