//! The letters by which Linux tells what a request does: `WS`, `RA`, `FWFS`, `FN`.
//!
//! An `F` in front is a flush before the request. Then one letter for the operation: `R`, `W`, `D`
//! (discard; `DE` or `E` secure erase), `F` (flush), `Z` (zone), `N` (none of these). Then `F`
//! forced unit access, `A` readahead, `S` synchronous, `M` metadata, `U` atomic.

use super::event::Flags;
use super::record::Record;
use idlewise_core::{Durable, Operation};

/// What the letters tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rwbs {
    /// What is asked; `None` for what no scheduler orders.
    pub(crate) operation: Option<Operation>,
    /// The rest.
    pub(crate) flags: Flags,
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
            [b'Z', ..] if !flush => (None, &[][..]),
            flags if flush => (Some(Operation::Flush), flags),
            _ => return None,
        };
        let (mut sync, mut metadata, mut itself) = (false, false, false);
        for flag in flags {
            match flag {
                b'S' => sync = true,
                b'M' => metadata = true,
                b'F' => itself = true,
                b'A' | b'U' | b'B' | b' ' => {}
                _ => return None,
            }
        }
        let operation = match operation {
            Some(Operation::Write) if empty => Some(Operation::Flush),
            None if flush => Some(Operation::Flush),
            other => other,
        };
        let waited = matches!(operation, Some(Operation::Read | Operation::Flush));
        let durable = Durable::of_write(operation, flush, itself);
        let flags = Flags { sync: sync || waited, metadata, durable };
        Some(Rwbs { operation, flags })
    }
}

/// The letters for a request.
pub(crate) fn letters(record: &Record) -> String {
    let flag = |set: bool, letter: &'static str| if set { letter } else { "" };
    let read = record.operation == Operation::Read;
    let (operation, sync) = match record.operation {
        Operation::Read => ("R", false),
        Operation::Write => ("W", record.sync),
        Operation::Discard => ("D", record.sync),
        Operation::Flush => ("FN", false),
    };
    let Durable { before, itself } = record.durable;
    let (before, itself) = (flag(before && !read, "F"), flag(itself && !read, "F"));
    [before, operation, itself, flag(sync, "S"), flag(record.metadata, "M")].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use idlewise_core::{Instant, Sector, Sectors};

    #[test]
    fn letters_mean_what_linux_means() {
        use Operation::{Discard, Flush, Read, Write};
        let (no, before, itself) = ((false, false), (true, false), (false, true));
        let all = [
            ("R", false, Some(Read), true, false, no),
            ("RA", false, Some(Read), true, false, no),
            ("RM", false, Some(Read), true, true, no),
            ("W", false, Some(Write), false, false, no),
            ("WS", false, Some(Write), true, false, no),
            ("WFSM", false, Some(Write), true, true, itself),
            ("FWS", false, Some(Write), true, false, before),
            ("FWFS", false, Some(Write), true, false, (true, true)),
            ("FWFS", true, Some(Flush), true, false, no),
            ("WFS", true, Some(Flush), true, false, no),
            ("FN", true, Some(Flush), true, false, no),
            ("FF", true, Some(Flush), true, false, no),
            ("DS", false, Some(Discard), true, false, no),
            ("DE", false, Some(Discard), false, false, no),
            ("N", false, None, false, false, no),
        ];
        for (text, empty, operation, sync, metadata, (before, itself)) in all {
            let flags = Flags { sync, metadata, durable: Durable { before, itself } };
            let want = Some(Rwbs { operation, flags });
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
            for flags in 0..16_u32 {
                let flag = |bit: u32| flags >> bit & 1 == 1;
                let durable = Durable::of_write(Some(operation), flag(2), flag(3));
                let record = Record {
                    sync: flag(0) || matches!(operation, Read | Flush),
                    metadata: flag(1),
                    durable,
                    ..Record::new(Instant(0), operation, Sector(0), Sectors(8))
                };
                let got = Rwbs::parse(letters(&record).as_bytes(), operation == Flush).unwrap();
                assert_eq!(got.operation, Some(operation));
                assert_eq!(got.flags, Flags { sync: record.sync, metadata: record.metadata, durable });
            }
        }
    }
}
