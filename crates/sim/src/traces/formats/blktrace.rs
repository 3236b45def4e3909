//! blktrace's binary records: what `blktrace` writes, one file per CPU, `NAME.blktrace.N`.
//!
//! 48 bytes, then `pdu_len` bytes that depend on the action. Offsets: 0 magic u32 `0x65617407`
//! (the low byte is the version; the byte order shows the recording machine's), 4 sequence u32,
//! 8 time u64 (ns), 16 sector u64, 24 bytes u32, 28 action u32 (low 16 bits the action, high 16
//! what it is about), 32 pid u32, 36 device u32 (12 bits major, 20 minor), 40 cpu u32, 44 error
//! u16, 46 pdu_len u16. Files of several CPUs are merged by time.
//!
//! The format lacks: I/O priorities.

mod layout;
mod read;
mod write;

use crate::traces::error::TraceError;
use crate::traces::format_info::{About, Code, Head, Open};
use crate::traces::input::Input;
use crate::traces::reader::Reader;
use std::path::{Path, PathBuf};

use layout::MAGIC;
pub(crate) use read::several;

pub(crate) const ABOUT: About =
    About { writable: true, ..About::events("blktrace", "blktrace, binary", "nanoseconds") };

pub(crate) const CODE: Code = Code { score, open, encode: Some(|| Box::new(write::Blktrace::default())) };

/// What stands between a recording's name and its CPU.
const INFIX: &str = ".blktrace.";

fn score(head: &Head<'_>) -> u8 {
    let magic = head.bytes.first_chunk().map(|bytes| u32::from_le_bytes(*bytes));
    if magic.is_some_and(|m| m == MAGIC || m.swap_bytes() == MAGIC) { 100 } else { 0 }
}

fn open(input: Input, open: &Open) -> Result<Box<dyn Reader>, TraceError> {
    let one_cpu = split(Path::new(input.name())).is_some();
    Ok(read::one(input, one_cpu, open.lenient))
}

/// `NAME` and `N` of `NAME.blktrace.N`, which may end in the suffix of a compressed file.
pub(crate) fn split(path: &Path) -> Option<(PathBuf, u32)> {
    let file = path.file_name()?.to_str()?;
    let (prefix, cpu) = file.rsplit_once(INFIX)?;
    let cpu = cpu.split_once('.').map_or(cpu, |(cpu, _)| cpu);
    Some((path.with_file_name(prefix), cpu.parse().ok()?))
}
