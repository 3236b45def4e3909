//! fio's I/O log, version 2: the order of requests and the waits between them.
//!
//! First line `fio version 2 iolog`. Then `file add|open|close`, `file read|write|trim|sync|
//! datasync [offset length]` in bytes, `file wait microseconds [0]` or `wait microseconds`. Each
//! file is a device here. The time of a request is the sum of the waits before it.
//!
//! The format lacks: times (requests without a wait between them all arrive at once), completions, issuers.

use super::prelude::*;
use crate::traces::parse::{Words, bytes_extent, number, scaled};
use idlewise_core::{Duration, Instant, Operation, Sector, Sectors};

pub(crate) const ABOUT: About = About {
    exact_times: false,
    writable: true,
    ..About::plain("fio-v2", "fio iolog, version 2", "microseconds of waiting")
};

pub(crate) const CODE: Code = Code { score, ..Code::text::<FioV2>().with(|| Box::new(FioEncoder::v2())) };

/// Holds the sum of the waits.
#[derive(Default)]
struct FioV2 {
    clock: Instant,
}

impl LineFormat for FioV2 {
    fn row<'a>(&mut self, line: &'a [u8], sink: &mut Sink) -> Result<Row, Bad<'a>> {
        if let Some(version) = header(line) {
            let bad = Bad { cure: "say --format fio-v3 if it is that", ..Bad::row(NOT_2, line) };
            return if version == b"2" { Ok(Row::Comment) } else { Err(bad) };
        }
        let mut words = Words::of(line);
        let file = words.need("expected a file")?;
        let action = words.need("expected an action")?;
        if file == b"wait" || action == b"wait" {
            let text = if file == b"wait" { action } else { words.need("expected microseconds")? };
            self.clock += Duration(scaled(number(text, "expected microseconds")?, 1_000, text)?);
            return sink.left_out(Skip::NotARequest);
        }
        action_row(self.clock, file, action, words, sink)
    }
}

const NOT_2: &str = "expected \"fio version 2 iolog\"";

/// The version that a first line tells, if it is one.
pub(crate) fn header(line: &[u8]) -> Option<&[u8]> {
    line.strip_prefix(b"fio version ")?.strip_suffix(b" iolog")
}

/// Understands `file action [offset length]` at time `arrival`, from the third word on.
pub(crate) fn action_row<'a>(
    arrival: Instant,
    file: &'a [u8],
    action: &'a [u8],
    mut words: Words<'a>,
    sink: &mut Sink,
) -> Result<Row, Bad<'a>> {
    let operation = match action {
        b"read" => Operation::Read,
        b"write" => Operation::Write,
        b"trim" => Operation::Discard,
        b"sync" | b"datasync" | b"sync_file_range" => Operation::Flush,
        b"add" | b"open" | b"close" => {
            return sink.left_out(Skip::NotARequest);
        }
        _ => return Err(Bad::row("expected read, write, trim, sync, wait, add, open or close", action)),
    };
    let (start, length, aligned) = if operation == Operation::Flush {
        (Sector(0), Sectors(0), true)
    } else {
        let offset = words.need("expected the offset in bytes")?;
        let extent = bytes_extent(offset, words.need("expected the length in bytes")?)?;
        words.end()?;
        extent
    };
    let device = sink.devices.text(file, |text| String::from_utf8_lossy(text).into_owned());
    sink.take(device, aligned, Record::new(arrival, operation, start, length))
}

fn score(head: &Head<'_>) -> u8 {
    match head.lines().next().and_then(header) {
        Some(b"2") => 100,
        Some(_) => 0,
        None => score_by_rows::<FioV2>(head),
    }
}

/// fio's I/O log.
pub(crate) struct FioEncoder {
    version: u8,
    /// The time of the last row, in microseconds.
    clock: u64,
    /// The file of each device that was opened, by its index.
    files: Vec<Option<String>>,
}

impl FioEncoder {
    /// Version 2: waits.
    pub(crate) fn v2() -> FioEncoder {
        FioEncoder { version: 2, clock: 0, files: Vec::new() }
    }

    /// Version 3: times.
    pub(crate) fn v3() -> FioEncoder {
        FioEncoder { version: 3, ..FioEncoder::v2() }
    }

    /// What comes before the file's name in a row.
    fn stamp(&self) -> String {
        if self.version == 3 { format!("{} ", self.clock) } else { String::new() }
    }
}

impl Encoder for FioEncoder {
    fn keeps(&self) -> Keeps {
        Keeps { discards: true, flushes: true, unit_ns: 1_000, ..Keeps::LEAST }
    }

    fn begin(&mut self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "fio version {} iolog", self.version)
    }

    fn record(&mut self, record: &Record, names: Names<'_>, out: &mut dyn Write) -> io::Result<()> {
        let now = record.arrival.0 / 1_000;
        let wait = now.saturating_sub(self.clock);
        self.clock += wait;
        let (stamp, index) = (self.stamp(), record.device as usize);
        if self.files.len() <= index {
            self.files.resize(index + 1, None);
        }
        if self.files[index].is_none() {
            let file = file_name(names.device);
            writeln!(out, "{stamp}{file} add\n{stamp}{file} open")?;
            self.files[index] = Some(file);
        }
        let file = self.files[index].as_deref().unwrap_or("disk");
        if self.version == 2 && wait > 0 {
            writeln!(out, "{file} wait {wait} 0")?;
        }
        let action = match record.operation {
            Operation::Read => "read",
            Operation::Write => "write",
            Operation::Discard => "trim",
            Operation::Flush => "sync",
        };
        let offset = record.start.0.saturating_mul(512);
        writeln!(out, "{stamp}{file} {action} {offset} {}", record.length.bytes())
    }

    fn end(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let stamp = self.stamp();
        for file in self.files.iter().flatten() {
            writeln!(out, "{stamp}{file} close")?;
        }
        Ok(())
    }
}

/// A device's name as one word, which is not an action that has no file.
fn file_name(device: &str) -> String {
    let plain = |c: char| if c.is_whitespace() || c.is_control() { '_' } else { c };
    let name: String = device.chars().map(plain).collect();
    if name.is_empty() || name == "wait" || name == "fio" { format!("disk-{name}") } else { name }
}
