//! DiskSim's validation traces: what real drives were asked, one request at a time, and how long
//! each took.
//!
//! `R|W Hit|Miss block blocks service think`, separated by spaces. Block and blocks are in units
//! of 512 bytes, service and think are decimal microseconds. The next request was issued *think*
//! after the completion of this one, so arrivals are the running sum of both. The second column
//! guesses whether the drive's buffer held the data and is not kept.
//!
//! The format lacks: issuers, flushes, queues: there is never more than one request.

use super::prelude::*;
use crate::traces::formats::spc::letter;
use crate::traces::parse::{Words, sectors_extent, time};
use idlewise_core::{Duration, Instant};

pub(crate) const ABOUT: About = About {
    completions: true,
    dispatches: true,
    devices: false,
    ..About::plain("drive", "measured drives (DiskSim validation)", "microseconds, decimal")
};

pub(crate) const CODE: Code = Code::text::<Drive>();

/// Holds the time at which the next request is issued.
#[derive(Default)]
struct Drive {
    clock: Instant,
}

impl LineFormat for Drive {
    fn row<'a>(&mut self, line: &'a [u8], sink: &mut Sink) -> Result<Row, Bad<'a>> {
        let mut words = Words::of(line);
        let operation = letter(words.need("expected R or W")?)?;
        let hit = words.need("expected Hit or Miss")?;
        if hit != b"Hit" && hit != b"Miss" {
            return Err(Bad::row("expected Hit or Miss", hit));
        }
        let (block, size) = (words.need("expected the block")?, words.need("expected the blocks")?);
        let (start, length) = sectors_extent(block, size)?;
        let service = time(words.need("expected the service time")?, 3, "expected the service time in us")?;
        let think = time(words.need("expected the think time")?, 3, "expected the think time in us")?;
        words.end()?;
        let arrival = self.clock;
        let done = arrival + Duration(service);
        self.clock = done + Duration(think);
        let device = sink.devices.number(0, |_| "drive".to_owned());
        let (dispatched, completed) = (Some(arrival), Some(done));
        let record = Record::new(arrival, operation, start, length);
        sink.take(device, true, Record { dispatched, completed, sync: true, ..record })
    }
}
