//! Writers of fio's I/O log, versions 2 and 3.

use crate::traces::Record;
use crate::traces::write::{Encoder, Keeps, Names};
use idlewise_core::Operation;
use std::io::{self, Write};

/// fio's I/O log.
pub(crate) struct Fio {
    version: u8,
    /// The time of the last row, in microseconds.
    clock: u64,
    /// The file of each device that was opened, by its index.
    files: Vec<Option<String>>,
}

impl Fio {
    /// Version 2: waits.
    pub(crate) fn v2() -> Fio {
        Fio { version: 2, clock: 0, files: Vec::new() }
    }

    /// Version 3: times.
    pub(crate) fn v3() -> Fio {
        Fio { version: 3, ..Fio::v2() }
    }

    /// What comes before the file's name in a row.
    fn stamp(&self) -> String {
        if self.version == 3 { format!("{} ", self.clock) } else { String::new() }
    }
}

impl Encoder for Fio {
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
