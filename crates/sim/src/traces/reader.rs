//! How formats are read: a batch at a time, text by the line.
//!
//! A text format says what one line means ([`LineFormat`]). The block buffer, line numbers, error places and leniency
//! are here, once.

use crate::traces::counts::Skip;
use crate::traces::error::{Bad, Location, TraceError};
use crate::traces::input::{Input, PEEK};
use crate::traces::parse::trimmed;
use crate::traces::recorded::Disk;
use crate::traces::sink::{Row, Sink};

/// LineFormat taken per call; it bounds what waits in the sink, and is enough to hide what a call costs.
pub(crate) const BATCH: usize = 1024;

/// The longest line. Whatever has longer ones is no text trace.
const MAX_LINE: usize = PEEK;

/// Reads a trace, a batch at a time.
pub(crate) trait Reader: Send {
    /// Puts a batch into `sink`. False once the trace has ended.
    fn fill(&mut self, sink: &mut Sink) -> Result<bool, TraceError>;

    /// What the recorded disks are, where the format tells.
    fn disks(&self) -> &[Disk] {
        &[]
    }
}

/// What one line of a text format means.
pub(crate) trait LineFormat: Default + Send + 'static {
    /// Understands `line`, which has no line end and is not blank.
    fn row<'a>(&mut self, line: &'a [u8], sink: &mut Sink) -> Result<Row, Bad<'a>>;

    /// The lines have ended.
    fn end(&mut self, sink: &mut Sink) -> Result<(), Bad<'static>> {
        let _ = sink;
        Ok(())
    }
}

/// Reads a text format.
pub(crate) struct TextReader<R> {
    input: Input,
    rows: R,
    line: u64,
    lenient: bool,
    format: &'static str,
}

impl<R: LineFormat> TextReader<R> {
    /// A reader of `input`, as the format table wants it.
    pub(crate) fn boxed(input: Input, format: &'static str, lenient: bool) -> Box<dyn Reader> {
        Box::new(TextReader { input, rows: R::default(), line: 0, lenient, format })
    }

    fn complain(&self, bad: Bad<'_>) -> TraceError {
        bad.at(self.input.name(), Location::Line(self.line), self.format)
    }
}

impl<R: LineFormat> Reader for TextReader<R> {
    fn fill(&mut self, sink: &mut Sink) -> Result<bool, TraceError> {
        for _ in 0..BATCH {
            let (length, next) = match memchr::memchr(b'\n', self.input.available()) {
                Some(at) => (at, at + 1),
                None if self.input.available().len() > MAX_LINE => {
                    self.line += 1;
                    let bad = Bad::row("expected a line of at most 65536 characters", &[]);
                    return Err(self.complain(bad));
                }
                None if self.input.refill()? => continue,
                None => (self.input.available().len(), self.input.available().len()),
            };
            if next == 0 {
                self.rows.end(sink).map_err(|bad| self.complain(bad))?;
                return Ok(false);
            }
            self.line += 1;
            let line = trimmed(&self.input.available()[..length]);
            if length == next && self.input.was_cut() {
                // The beginning of a row may look like a whole one.
                sink.report.rows += 1;
                sink.skips.skip(Skip::Malformed);
            } else if !line.is_empty() {
                match self.rows.row(line, sink) {
                    Ok(Row::Data) => sink.report.rows += 1,
                    Ok(Row::Comment) => {}
                    Err(_) if self.lenient => {
                        sink.report.rows += 1;
                        sink.skips.skip(Skip::Malformed);
                    }
                    Err(bad) => return Err(self.complain(bad)),
                }
            }
            self.input.consume(next);
        }
        Ok(true)
    }
}

/// What is wrong with a binary trace whose last record is incomplete.
pub(crate) const CUT: &str = "the trace ends in the middle of a record";

/// What to do about it.
pub(crate) const CUT_CURE: &str = "copy or record it again, or drop the rest with --lenient";

/// The number at `at`, least significant byte first. The caller has checked the length.
#[inline]
pub(crate) fn u16_le(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

/// As [`u16_le`], 32 bits.
#[inline]
pub(crate) fn u32_le(bytes: &[u8], at: usize) -> u32 {
    u32::from(u16_le(bytes, at)) | u32::from(u16_le(bytes, at + 2)) << 16
}

/// As [`u16_le`], 64 bits.
#[inline]
pub(crate) fn u64_le(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_le(bytes, at)) | u64::from(u32_le(bytes, at + 4)) << 32
}
