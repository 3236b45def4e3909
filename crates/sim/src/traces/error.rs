//! What can be wrong with a trace, as types whose messages say where, what, and what to do.

use std::fmt;
use std::io;

/// Where in a trace something is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Location {
    /// A line of a text format; the first is 1.
    Line(u64),
    /// An offset into the decompressed bytes of a binary format; the first is 0.
    Byte(u64),
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Location::Line(line) => write!(f, "{line}"),
            Location::Byte(byte) => write!(f, "byte {byte}"),
        }
    }
}

/// A row that cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowError {
    /// The trace's name: a path, or `(standard input)`.
    pub name: String,
    /// Where the row is.
    pub place: Location,
    /// The format it was read as, as `--format` names it.
    pub format: &'static str,
    /// What is wrong.
    pub what: &'static str,
    /// The offending text, escaped, at most 60 characters. Empty where there is none to show.
    pub text: String,
    /// What to do about it.
    pub cure: &'static str,
}

impl fmt::Display for RowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.name, self.place, self.what)?;
        if !self.text.is_empty() {
            write!(f, ", not \"{}\"", self.text)?;
        }
        write!(f, " (read as {}); {}", self.format, self.cure)
    }
}

/// Why a trace cannot be opened or read on.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum TraceError {
    /// The operating system or the decompressor refused.
    #[error("{name}: {source}; {cure}")]
    Io { name: String, source: io::Error, cure: &'static str },
    /// The trace has no bytes.
    #[error("{name}: the trace is empty; check that the recording or the download is complete")]
    Empty { name: String },
    /// A row cannot be understood.
    #[error("{0}")]
    Row(Box<RowError>),
    /// No format fits the content.
    #[error(
        "{name}: no trace format fits \"{beginning}\"; if you know it, say --format NAME, one of: {formats}"
    )]
    Unrecognised { name: String, beginning: String, formats: String },
    /// Several formats fit the content equally well.
    #[error("{name}: could be {}; say which with --format NAME", candidates.join(" or "))]
    Ambiguous { name: String, candidates: Vec<&'static str> },
    /// The format is known, and of no use here.
    #[error("{name}: this is {format}, which {why}; {cure}")]
    Refused { name: String, format: &'static str, why: &'static str, cure: &'static str },
    /// Every row was read and none was a request.
    #[error("{name}: {rows} rows read as {format} and not one request ({skipped}); {cure}")]
    NoRequests { name: String, format: &'static str, rows: u64, skipped: String, cure: &'static str },
    /// The path names nothing that can be read as one trace.
    #[error("{name}: {what}; {cure}")]
    Path { name: String, what: String, cure: &'static str },
}

/// What a row parser found wrong, borrowed, so that a rejected row costs no allocation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bad<'a> {
    /// What is wrong, as the beginning of a sentence: "expected the offset in bytes".
    pub(crate) what: &'static str,
    /// The offending text; may be empty.
    pub(crate) text: &'a [u8],
    /// What to do about it.
    pub(crate) cure: &'static str,
}

/// The cure for a row that does not look like its format.
pub(crate) const CHECK_FORMAT: &str = "repair the row, skip such rows with --lenient, or say --format NAME";

impl<'a> Bad<'a> {
    /// A row that does not look like its format.
    #[cold]
    pub(crate) fn row(what: &'static str, text: &'a [u8]) -> Bad<'a> {
        Bad { what, text, cure: CHECK_FORMAT }
    }

    /// The same complaint as an error, with its place.
    #[cold]
    pub(crate) fn at(self, name: &str, place: Location, format: &'static str) -> TraceError {
        TraceError::Row(Box::new(RowError {
            name: name.to_owned(),
            place,
            format,
            what: self.what,
            text: shown(self.text, 60),
            cure: self.cure,
        }))
    }
}

/// `text`, escaped so that a terminal can show it, cut to at most `limit` characters.
pub(crate) fn shown(text: &[u8], limit: usize) -> String {
    let mut out = String::new();
    for &byte in text {
        out.extend(std::ascii::escape_default(byte).map(char::from));
        if out.len() > limit {
            out.truncate(limit.saturating_sub(3));
            out.push_str("...");
            break;
        }
    }
    out
}

/// What to do about an error of the operating system.
pub(crate) fn cure_io(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::NotFound => "check the path; blktrace files may be named by their prefix NAME",
        io::ErrorKind::PermissionDenied => "ask for read permission, or run as a user who has it",
        io::ErrorKind::UnexpectedEof => "copy or download it again, or read what is there with --lenient",
        io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput | io::ErrorKind::Other => {
            "the compressed data is damaged: copy or download it again"
        }
        _ => "try again, or copy the trace to a local disk",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shown_escapes_and_shortens() {
        assert_eq!(shown(b"plain", 60), "plain");
        assert_eq!(shown(b"\x1b[2J\0", 60), "\\x1b[2J\\x00");
        let long = shown(&[b'a'; 500], 60);
        assert_eq!(long.len(), 60);
        assert!(long.ends_with("..."));
        assert!(shown(&[0; 500], 60).len() <= 60);
        assert_eq!(shown(&[b'a'; 60], 60).len(), 60);
        assert!(!shown(&[b'a'; 60], 60).ends_with("..."));
    }

    #[test]
    fn a_row_error_names_line_text_and_cure() {
        let bad = Bad::row("expected the size in bytes", b"12x");
        let error = bad.at("a.csv", Location::Line(7), "msr");
        let want = "a.csv:7: expected the size in bytes, not \"12x\" (read as msr); repair the row, \
                    skip such rows with --lenient, or say --format NAME";
        assert_eq!(error.to_string(), want);
    }
}
