//! oracleGeneral: libCacheSim's format for studies of caches, binary. Recognised, and refused.
//!
//! 24-byte little-endian records: time u32 (seconds), object u64, size u32, next access i64.
//! Without operations, and with objects that are often hashed, nothing here can be scheduled.

use crate::traces::error::TraceError;
use crate::traces::format_info::{About, Code, Head, Open};
use crate::traces::input::Input;
use crate::traces::reader::{Reader, u32_le, u64_le};

pub(crate) const ABOUT: About = About {
    devices: false,
    exact_times: false,
    ..About::plain("oracle-general", "oracleGeneral, a cache trace", "seconds, whole")
};

pub(crate) const CODE: Code = Code { score, open, encode: None };

const SIZE: usize = 24;

/// Times do not decrease and the next access is none (-1, or the maximum) or a plausible position.
fn score(head: &Head<'_>) -> u8 {
    let whole = head.bytes.len() >= SIZE && (!head.complete || head.bytes.len().is_multiple_of(SIZE));
    let mut last = 0;
    let plausible = |cell: &[u8]| {
        let (time, size, next) = (u32_le(cell, 0), u32_le(cell, 12), u64_le(cell, 16));
        let ordered = time >= last;
        last = time;
        ordered && size > 0 && (next >= i64::MAX as u64 || next < 1 << 40)
    };
    let text = head.bytes.iter().take(SIZE * 8).all(|b| b.is_ascii_graphic() || b.is_ascii_whitespace());
    if whole && !text && head.bytes.chunks_exact(SIZE).take(256).all(plausible) { 70 } else { 0 }
}

#[expect(clippy::needless_pass_by_value, reason = "the table's readers take their input")]
fn open(input: Input, _: &Open) -> Result<Box<dyn Reader>, TraceError> {
    Err(TraceError::Refused {
        name: input.name().to_owned(),
        format: ABOUT.title,
        why: "has no operation, hashed addresses and whole-second times, so it cannot be scheduled",
        cure: "use the trace that it was made from, such as the .vscsi or .csv file of the same name",
    })
}
