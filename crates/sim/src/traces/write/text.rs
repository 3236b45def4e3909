//! Writers of formats with one short line a request: MSR Cambridge, SPC, DiskSim, MQSim.

use crate::traces::Record;
use crate::traces::write::{Encoder, Keeps, Names};
use idlewise_core::{Duration, Operation};
use std::io::{self, Write};

/// Where time 0 is put in a format whose times count from 1601: 22 February 2007.
const FILETIME_BASE: u64 = 128_166_372_000_000_000;

/// MSR Cambridge. Requests without a completion get a response time of 0.
pub(crate) struct Msr;

impl Encoder for Msr {
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

/// A device as a number: its name if that is one, else its index.
fn number(name: &str, index: u32) -> u64 {
    name.parse().unwrap_or(u64::from(index))
}

/// SPC.
pub(crate) struct Spc;

impl Encoder for Spc {
    fn keeps(&self) -> Keeps {
        Keeps::LEAST
    }

    fn record(&mut self, record: &Record, names: Names<'_>, out: &mut dyn Write) -> io::Result<()> {
        let letter = if record.operation == Operation::Read { 'R' } else { 'W' };
        let unit = number(names.device, record.device);
        let (seconds, nanos) = (record.arrival.0 / 1_000_000_000, record.arrival.0 % 1_000_000_000);
        writeln!(out, "{unit},{},{},{letter},{seconds}.{nanos:09}", record.start, record.length.bytes())
    }
}

/// DiskSim.
pub(crate) struct Disksim;

impl Encoder for Disksim {
    fn keeps(&self) -> Keeps {
        Keeps::LEAST
    }

    fn record(&mut self, record: &Record, names: Names<'_>, out: &mut dyn Write) -> io::Result<()> {
        let flags = u8::from(record.operation == Operation::Read);
        let unit = number(names.device, record.device);
        let (millis, nanos) = (record.arrival.0 / 1_000_000, record.arrival.0 % 1_000_000);
        writeln!(out, "{millis}.{nanos:06} {unit} {} {} {flags}", record.start, record.length)
    }
}

/// MQSim.
pub(crate) struct Mqsim;

impl Encoder for Mqsim {
    fn keeps(&self) -> Keeps {
        Keeps::LEAST
    }

    fn record(&mut self, record: &Record, names: Names<'_>, out: &mut dyn Write) -> io::Result<()> {
        let kind = u8::from(record.operation == Operation::Read);
        let unit = number(names.device, record.device);
        writeln!(out, "{} {unit} {} {} {kind}", record.arrival.0, record.start, record.length)
    }
}
