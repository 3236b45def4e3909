//! The letters by which Linux tells what a request does: `WS`, `RA`, `FWFS`, `FN`.
//!
//! An `F` in front is a flush before the request. Then one letter for the operation: `R`, `W`, `D`
//! (discard; `DE` or `E` secure erase), `F` (flush), `Z` (zone), `N` (none of these). Then `F`
//! forced unit access, `A` readahead, `S` synchronous, `M` metadata, `U` atomic.

use idlewise_core::Operation;

/// What the letters tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rwbs {
    /// What is asked; `None` for what no scheduler orders.
    pub(crate) operation: Option<Operation>,
    /// Somebody waits.
    pub(crate) sync: bool,
    /// File-system metadata.
    pub(crate) metadata: bool,
}

impl Rwbs {
    /// Reads the letters; `None` if one is unknown. `empty` says that the request has no extent: a
    /// write is then a flush, even where the kernel has cleared the letters that say so.
    #[inline]
    pub(crate) fn parse(text: &[u8], empty: bool) -> Option<Rwbs> {
        let (flush, rest) = match text {
            [b'F', rest @ ..] => (true, rest),
            _ => (false, text),
        };
        let (operation, flags) = match rest {
            [b'R', flags @ ..] => (Some(Operation::Read), flags),
            [b'W', flags @ ..] => (Some(Operation::Write), flags),
            [b'D', b'E', flags @ ..] | [b'D' | b'E', flags @ ..] => (Some(Operation::Discard), flags),
            [b'N', flags @ ..] => (None, flags),
            [b'Z', ..] if !flush => return Some(Rwbs { operation: None, sync: false, metadata: false }),
            flags if flush => (Some(Operation::Flush), flags),
            _ => return None,
        };
        let (mut sync, mut metadata) = (false, false);
        for flag in flags {
            match flag {
                b'S' => sync = true,
                b'M' => metadata = true,
                b'F' | b'A' | b'U' | b'B' | b' ' => {}
                _ => return None,
            }
        }
        let operation = match operation {
            Some(Operation::Write) if empty => Some(Operation::Flush),
            None if flush => Some(Operation::Flush),
            other => other,
        };
        let waited = matches!(operation, Some(Operation::Read | Operation::Flush));
        Some(Rwbs { operation, sync: sync || waited, metadata })
    }
}

/// Writes the letters for a request.
pub(crate) fn letters(operation: Operation, sync: bool, metadata: bool) -> &'static str {
    match (operation, sync, metadata) {
        (Operation::Read, _, false) => "R",
        (Operation::Read, _, true) => "RM",
        (Operation::Write, false, false) => "W",
        (Operation::Write, true, false) => "WS",
        (Operation::Write, false, true) => "WM",
        (Operation::Write, true, true) => "WSM",
        (Operation::Discard, false, false) => "D",
        (Operation::Discard, true, false) => "DS",
        (Operation::Discard, false, true) => "DM",
        (Operation::Discard, true, true) => "DSM",
        (Operation::Flush, _, false) => "FN",
        (Operation::Flush, _, true) => "FNM",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_mean_what_linux_means() {
        use Operation::{Discard, Flush, Read, Write};
        let all = [
            ("R", false, Some(Read), true, false),
            ("RA", false, Some(Read), true, false),
            ("RM", false, Some(Read), true, true),
            ("W", false, Some(Write), false, false),
            ("WS", false, Some(Write), true, false),
            ("WFSM", false, Some(Write), true, true),
            ("FWFS", false, Some(Write), true, false),
            ("FWFS", true, Some(Flush), true, false),
            ("WFS", true, Some(Flush), true, false),
            ("FN", true, Some(Flush), true, false),
            ("FF", true, Some(Flush), true, false),
            ("DS", false, Some(Discard), true, false),
            ("DE", false, Some(Discard), false, false),
            ("N", false, None, false, false),
        ];
        for (text, empty, operation, sync, metadata) in all {
            let want = Some(Rwbs { operation, sync, metadata });
            assert_eq!(Rwbs::parse(text.as_bytes(), empty), want, "{text}");
        }
        for bad in [&b""[..], b"X", b"W1", b"read"] {
            assert_eq!(Rwbs::parse(bad, false), None);
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        use Operation::{Discard, Flush, Read, Write};
        for operation in [Read, Write, Discard, Flush] {
            for (sync, metadata) in [(false, false), (true, false), (false, true), (true, true)] {
                let text = letters(operation, sync, metadata).as_bytes();
                let got = Rwbs::parse(text, operation == Flush).unwrap();
                assert_eq!(got.operation, Some(operation));
                assert_eq!(got.sync, sync || matches!(operation, Read | Flush));
                assert_eq!(got.metadata, metadata);
            }
        }
    }
}
