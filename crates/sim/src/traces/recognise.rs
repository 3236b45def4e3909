//! Which format a trace has, by its content.
//!
//! Every format says how well the first 64 KiB fit it, from 0 to 100. The best wins if it is good
//! and no other comes close.

use crate::traces::error::{TraceError, shown};
use crate::traces::format_info::Head;
use crate::traces::input::PEEK;
use crate::traces::{Format, input::Input};

/// A worse fit is none: most lines are not of that format.
const GOOD: u8 = 50;

/// Formats within this of the best are as good: a header and a few bad rows make as much of a difference.
const CLOSE: u8 = 10;

/// Recordings that another program turns into text: how they begin, what they are, why they are of no use, and the cure.
const OTHERS: [(&[u8], &str, &str, &str); 3] = [
    (
        b"PERFILE2",
        "perf's own recording",
        "only perf can read",
        "run `perf script -i FILE > FILE.txt`, and give that file",
    ),
    (
        b"2ELIFREP",
        "perf's own recording",
        "only perf can read",
        "run `perf script -i FILE > FILE.txt`, and give that file",
    ),
    (
        b"\x17\x08\x44tracing",
        "trace-cmd's own recording",
        "only trace-cmd can read",
        "run `trace-cmd report FILE > FILE.txt`, and give that file",
    ),
];

/// An error if `input` is a recording that another program must read first.
pub(crate) fn refuse(input: &Input) -> Result<(), TraceError> {
    match OTHERS.iter().find(|(head, ..)| input.available().starts_with(head)) {
        None => Ok(()),
        Some(&(_, format, why, cure)) => {
            Err(TraceError::Refused { name: input.name().to_owned(), format, why, cure })
        }
    }
}

/// The format of `input`, which is not consumed.
pub(crate) fn recognise(input: &mut Input) -> Result<Format, TraceError> {
    input.at_least(PEEK)?;
    let seen = input.available();
    let head = Head { bytes: &seen[..seen.len().min(PEEK)], complete: seen.len() < PEEK };
    let name = input.name();
    if head.bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(TraceError::Empty { name: name.to_owned() });
    }
    let fits: Vec<(u8, Format)> = Format::ALL.iter().map(|&f| ((f.code().score)(&head), f)).collect();
    let best = fits.iter().map(|&(score, _)| score).max().unwrap_or(0);
    if best < GOOD {
        let beginning = shown(&head.bytes[..head.bytes.len().min(80)], 60);
        return Err(TraceError::Unrecognised { name: name.to_owned(), beginning, formats: Format::names() });
    }
    let close: Vec<Format> = fits.iter().filter(|fit| fit.0 + CLOSE > best).map(|fit| fit.1).collect();
    match close.as_slice() {
        [format] => Ok(*format),
        several => {
            let candidates = several.iter().map(|format| format.name()).collect();
            Err(TraceError::Ambiguous { name: name.to_owned(), candidates })
        }
    }
}
