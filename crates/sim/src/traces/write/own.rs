//! Writer of idlewise's own format, which holds all of a record.

use crate::traces::formats::own::HEADER;
use crate::traces::write::{Encoder, Keeps, Names};
use crate::traces::{Exit, Record};
use idlewise_core::{Class, Instant, Operation};
use std::fmt;
use std::io::{self, Write};

/// idlewise's own.
pub(crate) struct Own;

impl Encoder for Own {
    fn keeps(&self) -> Keeps {
        Keeps {
            dispatches: true,
            completions: true,
            issuers: true,
            groups: true,
            exits: true,
            priorities: true,
            flags: true,
            discards: true,
            flushes: true,
            ..Keeps::LEAST
        }
    }

    fn begin(&mut self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{HEADER}")
    }

    fn record(&mut self, record: &Record, names: Names<'_>, out: &mut dyn Write) -> io::Result<()> {
        let operation = match record.operation {
            Operation::Read => 'R',
            Operation::Write => 'W',
            Operation::Discard => 'D',
            Operation::Flush => 'F',
        };
        let time = |time: Option<Instant>| Known(time.map(|time| time.0));
        let sync = if record.sync { "s" } else { "" };
        let metadata = if record.metadata { "m" } else { "" };
        write!(
            out,
            "{},{},{},{},{},{operation},{},{},{sync}{metadata},",
            record.arrival.0,
            time(record.dispatched),
            time(record.completed),
            Escaped(names.device),
            Known(record.issuer.map(|issuer| u64::from(issuer.0))),
            record.start,
            record.length,
        )?;
        if let Some(priority) = record.priority {
            let class = match priority.class {
                Class::RealTime => "rt",
                Class::BestEffort => "be",
                Class::Idle => "idle",
            };
            write!(out, "{class}{}", priority.level)?;
        }
        let group = Known(record.group.map(|group| u64::from(group.0)));
        writeln!(out, ",{},{group}", Escaped(names.process.unwrap_or_default()))
    }

    fn exit(&mut self, exit: Exit, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{},,,,{},X,,,,,,", exit.at.0, exit.issuer)
    }
}

/// A number, or nothing.
struct Known(Option<u64>);

impl fmt::Display for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |number| number.fmt(f))
    }
}

/// A name that cannot be taken for anything else.
struct Escaped<'a>(&'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for byte in self.0.bytes() {
            if byte.is_ascii_alphanumeric() || b"-._:/()".contains(&byte) {
                write!(f, "{}", char::from(byte))?;
            } else {
                write!(f, "%{byte:02X}")?;
            }
        }
        Ok(())
    }
}
