//! MSR Cambridge: 36 volumes of 13 servers, one week of 2007.
//!
//! `Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime`, usually without a header.
//! Timestamp and ResponseTime count 100 ns, the former since 1601 (Windows filetime). Offset and
//! Size are bytes, Type is `Read` or `Write`. The device is `host_disk`.
//!
//! The format lacks: issuers, dispatches, flushes, whether a write was synchronous.

use super::prelude::*;
use crate::traces::parse::{Commas, bytes_extent, number, scaled};
use idlewise_core::{Duration, Instant, Operation};

pub(crate) const ABOUT: About =
    About { completions: true, writable: true, ..About::plain("msr", "MSR Cambridge", "100 ns") };

pub(crate) const CODE: Code = Code::text::<Msr>().with(|| Box::new(MsrEncoder));

#[derive(Default)]
struct Msr;

impl LineFormat for Msr {
    fn row<'a>(&mut self, line: &'a [u8], sink: &mut Sink) -> Result<Row, Bad<'a>> {
        if line.starts_with(b"Timestamp,") {
            return Ok(Row::Comment);
        }
        let mut fields = Commas::of(line);
        let stamp = fields.need("expected the time stamp")?;
        let host = fields.need("expected the host name")?;
        let disk = fields.need("expected the disk number")?;
        let kind = fields.need("expected Read or Write")?;
        let (offset, size) =
            (fields.need("expected the offset in bytes")?, fields.need("expected the size")?);
        let response = fields.need("expected the response time")?;
        fields.end()?;

        let operation = operation(kind)?;
        let arrival = scaled(number(stamp, "expected the time stamp in units of 100 ns")?, 100, stamp)?;
        let (start, length, aligned) = bytes_extent(offset, size)?;
        let took = number(response, "expected the response time in units of 100 ns")?;
        let took = scaled(took, 100, response)?;
        number(disk, "expected the disk number")?;

        // Hostname and disk number are neighbours in the line; together they are the key.
        let key = &line[stamp.len()..][..host.len() + disk.len() + 2];
        let key = if key.ends_with(disk) { key } else { host };
        let name = |_: &[u8]| [host, disk].map(String::from_utf8_lossy).join("_");
        let device = sink.devices.text(key, name);
        let arrival = Instant(arrival);
        let completed = Some(arrival + Duration(took));
        sink.take(device, aligned, Record { completed, ..Record::new(arrival, operation, start, length) })
    }
}

fn operation(kind: &[u8]) -> Result<Operation, Bad<'_>> {
    match kind {
        b"Read" | b"read" => Ok(Operation::Read),
        b"Write" | b"write" => Ok(Operation::Write),
        _ => Err(Bad::row("expected Read or Write", kind)),
    }
}

/// Where time 0 is put in a format whose times count from 1601: 22 February 2007.
const FILETIME_BASE: u64 = 128_166_372_000_000_000;

/// MSR Cambridge. Requests without a completion get a response time of 0.
pub(crate) struct MsrEncoder;

impl Encoder for MsrEncoder {
    fn keeps(&self) -> Keeps {
        Keeps { completions: true, unit_ns: 100, ..Keeps::LEAST }
    }

    fn record(&mut self, record: &Record, names: Names<'_>, out: &mut dyn Write) -> io::Result<()> {
        let stamp = FILETIME_BASE.saturating_add(record.arrival.0 / 100);
        let (host, disk) = host_and_disk(names.device, record.device);
        let kind = if record.operation == Operation::Read { "Read" } else { "Write" };
        let took = record.response().unwrap_or(Duration::ZERO).0 / 100;
        let offset = record.start.0.saturating_mul(512);
        writeln!(out, "{stamp},{host},{disk},{kind},{offset},{},{took}", record.length.bytes())
    }
}

/// `hm_0` as `hm` and 0. A name that is not of that form stays whole, with the device's index.
fn host_and_disk(name: &str, index: u32) -> (String, u32) {
    let parts = name.rsplit_once('_').and_then(|(host, disk)| Some((host, disk.parse().ok()?)));
    let (host, disk) = parts.unwrap_or((name, index));
    let plain = |c: char| if c == ',' || c.is_whitespace() || c.is_control() { '-' } else { c };
    let host: String = host.chars().map(plain).collect();
    (if host.is_empty() { "disk".to_owned() } else { host }, disk)
}
