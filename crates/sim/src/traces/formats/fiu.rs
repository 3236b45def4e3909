//! FIU: Florida International University's servers, 2008 to 2011 (also known as the IODedup traces).
//!
//! `time pid process lba size op major minor md5`, separated by spaces. Time counts nanoseconds,
//! lba and size are in units of 512 bytes, op is `R` or `W`, md5 is a hash of the content. A
//! process name may have spaces. The device is `major:minor`.
//!
//! The format lacks: completions, flushes, whether a write was synchronous.

use super::prelude::*;
use crate::traces::formats::spc::letter;
use crate::traces::parse::{Words, number, sectors_extent, small};
use idlewise_core::{Instant, Issuer};

pub(crate) const ABOUT: About = About { issuers: true, ..About::plain("fiu", "FIU", "nanoseconds") };

pub(crate) const CODE: Code = Code::text::<Fiu>();

#[derive(Default)]
struct Fiu;

impl LineFormat for Fiu {
    fn row<'a>(&mut self, line: &'a [u8], sink: &mut Sink) -> Result<Row, Bad<'a>> {
        let mut words = Words::of(line);
        let arrival = number(words.need("expected the time")?, "expected the time in nanoseconds")?;
        let pid = small(words.need("expected the process number")?, "expected the process number")?;
        // What follows the process name has a fixed number of columns, so it is read from the end.
        let mut back = |what| words.next_back().ok_or_else(|| Bad::row(what, b""));
        let hash = back("expected the content's hash")?;
        let minor = small(back("expected the minor number")?, "expected the minor number")?;
        let major = small(back("expected the major number")?, "expected the major number")?;
        let operation = letter(back("expected R or W")?)?;
        let size = back("expected the size in sectors")?;
        let (start, length) = sectors_extent(back("expected the sector")?, size)?;
        if !hash.iter().all(u8::is_ascii_hexdigit) {
            return Err(Bad::row("expected the content's hash", hash));
        }
        let process = words.rest();
        if process.is_empty() {
            return Err(Bad::row("expected the process name", b""));
        }
        let name = |_| format!("{major}:{minor}");
        let Some(device) = sink.devices.number(u64::from(major) << 32 | u64::from(minor), name) else {
            return sink.left_out(Skip::OtherDevice);
        };
        sink.processes.note(pid, process);
        let issuer = Some(Issuer(pid));
        sink.push(Record { device, issuer, ..Record::new(Instant(arrival), operation, start, length) })?;
        Ok(Row::Data)
    }
}
