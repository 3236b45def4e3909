//! vscsiStats: what VMware ESX recorded of one virtual disk, binary.
//!
//! Little-endian records, all of one version; the version is the high byte of `ver`.
//! 1 (32 bytes): serial u32, length u32 (bytes), scatter-gather u32, command u16, ver u16, block
//! u64, time u64. 2 (40 bytes): command u16, ver u16, serial u32, length u32, scatter-gather u32,
//! block u64, time u64, response u64. Blocks are 512 bytes, times are microseconds. The command is
//! the SCSI operation code.
//!
//! The format lacks: issuers, devices; version 1 also lacks completions.

use crate::traces::counts::Skip;
use crate::traces::error::{Bad, Location, TraceError};
use crate::traces::format_info::{About, Code, Head, Open};
use crate::traces::input::Input;
use crate::traces::parse::extent_of;
use crate::traces::reader::{BATCH, CUT, CUT_CURE, Reader, u16_le, u32_le, u64_le};
use crate::traces::record::Record;
use crate::traces::sink::Sink;
use idlewise_core::{Duration, Instant, Operation};

pub(crate) const ABOUT: About = About {
    completions: true,
    devices: false,
    ..About::plain("vscsi", "VMware vscsiStats, binary", "microseconds")
};

pub(crate) const CODE: Code = Code { score, open, encode: None };

/// The two layouts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

impl Version {
    const fn size(self) -> usize {
        match self {
            Version::One => 32,
            Version::Two => 40,
        }
    }

    fn number(self, cell: &[u8]) -> u16 {
        match self {
            Version::One => u16_le(cell, 14) >> 8,
            Version::Two => u16_le(cell, 2) >> 8,
        }
    }

    fn code(self, cell: &[u8]) -> u16 {
        match self {
            Version::One => u16_le(cell, 12),
            Version::Two => u16_le(cell, 0),
        }
    }

    /// The record is of this version and its command is one of SCSI's.
    fn fits(self, cell: &[u8]) -> bool {
        self.number(cell) == self as u16 + 1 && self.code(cell) < 256
    }
}

/// The records of a trace, all of one version.
struct Vscsi {
    input: Input,
    version: Version,
    lenient: bool,
}

impl Reader for Vscsi {
    fn fill(&mut self, sink: &mut Sink) -> Result<bool, TraceError> {
        let size = self.version.size();
        self.input.at_least(size)?;
        let offset = self.input.offset();
        let complain = |input: &Input, done: usize, bad: Bad<'_>| {
            bad.at(input.name(), Location::Byte(offset + done as u64), ABOUT.name)
        };
        let available = self.input.available();
        let mut done = 0;
        for cell in available.chunks_exact(size).take(BATCH) {
            sink.report.rows += 1;
            match self.version.cell(cell, sink) {
                Ok(()) => {}
                Err(_) if self.lenient => sink.skips.skip(Skip::Malformed),
                Err(bad) => return Err(complain(&self.input, done, bad)),
            }
            done += size;
        }
        if done == 0 && !available.is_empty() {
            if !self.lenient {
                return Err(complain(&self.input, 0, Bad { what: CUT, text: &[], cure: CUT_CURE }));
            }
            sink.report.rows += 1;
            sink.skips.skip(Skip::Malformed);
            done = available.len();
        }
        self.input.consume(done);
        Ok(done > 0)
    }
}

impl Version {
    /// Understands one record.
    fn cell<'a>(self, cell: &'a [u8], sink: &mut Sink) -> Result<(), Bad<'a>> {
        if !self.fits(cell) {
            return Err(Bad::row("expected a record of the same version as the first", &cell[..16]));
        }
        let (block, micros) = (u64_le(cell, 16), u64_le(cell, 24));
        let bytes = u64::from(u32_le(cell, if self == Version::One { 4 } else { 8 }));
        let extent = block.checked_mul(512).and_then(|from| extent_of(from, bytes));
        let Some((start, length, aligned)) = extent else {
            return Err(Bad::row("expected a block below 2^54", &cell[16..24]));
        };
        let Some(nanos) = micros.checked_mul(1_000) else {
            return Err(Bad::row("expected a time within 584 years", &cell[24..32]));
        };
        let Some(operation) = command(u64::from(self.code(cell))) else {
            sink.skips.skip(Skip::OtherOperation);
            return Ok(());
        };
        let device = sink.devices.number(0, |_| "disk".to_owned());
        let arrival = Instant(nanos);
        let completed = match self {
            Version::One => None,
            Version::Two => Some(arrival + Duration::from_us(u64_le(cell, 32))),
        };
        let record = Record { completed, ..Record::new(arrival, operation, start, length) };
        sink.take(device, aligned, record).map(|_| ())
    }
}

/// What a SCSI operation code asks for; `None` for what no scheduler orders.
pub(crate) fn command(code: u64) -> Option<Operation> {
    match code {
        0x08 | 0x28 | 0xa8 | 0x88 => Some(Operation::Read),
        0x0a | 0x2a | 0xaa | 0x8a | 0x2e | 0x8e => Some(Operation::Write),
        0x35 | 0x91 => Some(Operation::Flush),
        0x42 => Some(Operation::Discard),
        _ => None,
    }
}

/// The version whose layout the first records fit.
fn version(bytes: &[u8]) -> Option<Version> {
    let fits = |version: Version| {
        let cells = bytes.chunks_exact(version.size()).take(64);
        cells.len() > 0 && cells.into_iter().all(|cell| version.fits(cell))
    };
    [Version::Two, Version::One].into_iter().find(|&version| fits(version))
}

fn score(head: &Head<'_>) -> u8 {
    let Some(version) = version(head.bytes) else { return 0 };
    // One record alone could be chance; several in a row are not.
    if head.bytes.len() >= 2 * version.size() { 100 } else { 80 }
}

fn open(mut input: Input, open: &Open) -> Result<Box<dyn Reader>, TraceError> {
    let version = version(input.at_least(64 * 40)?).unwrap_or(Version::One);
    Ok(Box::new(Vscsi { input, version, lenient: open.lenient }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_found_by_layout() {
        let mut one = [0; 32];
        one[12] = 0x28;
        one[15] = 1;
        assert_eq!(version(&one), Some(Version::One));
        let mut two = [0; 40];
        two[0] = 0x2a;
        two[3] = 2;
        assert_eq!(version(&two), Some(Version::Two));
        assert_eq!(version(&[0xff; 64]), None);
        assert_eq!(version(&[0; 8]), None);
    }
}
