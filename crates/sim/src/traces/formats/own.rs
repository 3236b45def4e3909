//! idlewise's own format: comma-separated text with a header, complete and readable by anything.
//!
//! The first line names the columns, in any order; unknown ones are passed over:
//! `arrival_ns,dispatched_ns,completed_ns,device,issuer,operation,start,sectors,flags,prio,process,group`.
//! `arrival_ns`, `operation`, `start` and `sectors` must be there. Times count nanoseconds from one
//! origin; start and sectors are in units of 512 bytes; operation is `R`, `W`, `D` (discard) or `F`
//! (flush); issuer is a process number, group the number of its chain; flags are `s` (synchronous), `m` (metadata), `f`
//! (a write that must be on the medium: forced unit access) and `b` (the disk is flushed before it);
//! prio is `rt4`, `be4` or `idle4`. Empty means unknown. In names, bytes other than letters, digits and
//! `-._:/()` are written `%XX`. A row with operation `X` is the exit of its issuer; all else in it but the
//! arrival is empty.
//!
//! The format lacks: nothing that a record holds.

use super::prelude::*;
use crate::traces::parse::{Commas, integer, number, sectors_extent, small};
use crate::traces::record::{Exit, Record};
use idlewise_core::{Class, Durable, Group, Instant, Issuer, Operation, Priority};
use std::fmt;

pub(crate) const ABOUT: About = About {
    completions: true,
    dispatches: true,
    issuers: true,
    writable: true,
    ..About::plain("idlewise", "idlewise's own", "nanoseconds")
};

pub(crate) const CODE: Code = Code { score, ..Code::text::<Own>().with(|| Box::new(OwnEncoder)) };

/// The columns in the order in which they are written.
const HEADER: &str =
    "arrival_ns,dispatched_ns,completed_ns,device,issuer,operation,start,sectors,flags,prio,process,group";

const COLUMNS: usize = 12;

/// The most columns that a header may name.
const MAX_COLUMNS: usize = 64;

/// Which column each field of a line is; [`COLUMNS`] if it is unknown. `None` before the header.
#[derive(Default)]
struct Own {
    columns: Option<[usize; MAX_COLUMNS]>,
}

impl LineFormat for Own {
    fn row<'a>(&mut self, line: &'a [u8], sink: &mut Sink) -> Result<Row, Bad<'a>> {
        if line[0] == b'#' {
            return Ok(Row::Comment);
        }
        let Some(columns) = &self.columns else {
            self.columns = Some(header(line)?);
            return Ok(Row::Comment);
        };
        // One place more than there are columns, for what is unknown.
        let mut fields = [&b""[..]; COLUMNS + 1];
        for (at, field) in Commas::of(line).enumerate() {
            let column = columns.get(at).ok_or_else(|| Bad::row("expected no further column", field))?;
            fields[*column] = field;
        }
        let column = |at: usize| fields[at];
        let arrival = Instant(number(column(0), "expected the arrival in nanoseconds")?);
        let issuer = optional(column(4), "expected the issuer, a number")?.map(Issuer);
        let operation = match (column(5), issuer) {
            (b"X", Some(issuer)) => {
                sink.push_exit(Exit { at: arrival, issuer });
                return Ok(Row::Data);
            }
            (other, _) => operation(other)?,
        };
        let (start, length) = sectors_extent(column(6), column(7))?;
        let (mut sync, mut metadata) = (matches!(operation, Operation::Read | Operation::Flush), false);
        let (mut before, mut itself) = (false, false);
        for flag in column(8) {
            match flag {
                b's' => sync = true,
                b'm' => metadata = true,
                b'f' => itself = true,
                b'b' => before = true,
                _ => {
                    return Err(Bad::row(
                        "expected the flags s, m, f and b, some of them or nothing",
                        column(8),
                    ));
                }
            }
        }
        let dispatched = later(column(1))?;
        let completed = later(column(2))?;
        let group = optional(column(11), "expected the group, a number")?.map(Group);
        let priority = priority(column(9))?;
        let name = if column(3).is_empty() { &b"disk"[..] } else { column(3) };
        let Some(device) = sink.devices.text(name, unescaped) else {
            return sink.left_out(Skip::OtherDevice);
        };
        if let (Some(Issuer(pid)), name) = (issuer, column(10))
            && !name.is_empty()
        {
            sink.processes.note_escaped(pid, name, unescaped);
        }
        sink.push(Record {
            arrival,
            dispatched,
            completed,
            start,
            length,
            operation,
            sync,
            metadata,
            durable: Durable::of_write(Some(operation), before, itself),
            issuer,
            group,
            priority,
            device,
        })?;
        Ok(Row::Data)
    }
}

/// Which column each field is.
fn header(line: &[u8]) -> Result<[usize; MAX_COLUMNS], Bad<'_>> {
    let mut columns = [COLUMNS; MAX_COLUMNS];
    for (column, name) in columns.iter_mut().zip(Commas::of(line)) {
        let known = HEADER.as_bytes().split(|&b| b == b',').position(|known| known == name);
        *column = known.unwrap_or(COLUMNS);
    }
    let needed = [0, 5, 6, 7].iter().all(|column| columns.contains(column));
    let what = "expected a header with arrival_ns, operation, start and sectors";
    if needed { Ok(columns) } else { Err(Bad::row(what, line)) }
}

/// What a request asks for.
fn operation(text: &[u8]) -> Result<Operation, Bad<'_>> {
    match text {
        b"R" => Ok(Operation::Read),
        b"W" => Ok(Operation::Write),
        b"D" => Ok(Operation::Discard),
        b"F" => Ok(Operation::Flush),
        other => Err(Bad::row("expected the operation: R, W, D, F, or X with an issuer", other)),
    }
}

/// A number, or nothing.
#[inline]
fn optional<'a>(text: &'a [u8], what: &'static str) -> Result<Option<u32>, Bad<'a>> {
    if text.is_empty() { Ok(None) } else { small(text, what).map(Some) }
}

/// A time, or nothing.
#[inline]
fn later(text: &[u8]) -> Result<Option<Instant>, Bad<'_>> {
    if text.is_empty() {
        return Ok(None);
    }
    Ok(Some(Instant(number(text, "expected a time in nanoseconds, or nothing")?)))
}

#[inline]
fn priority(text: &[u8]) -> Result<Option<Priority>, Bad<'_>> {
    let bad = || Bad::row("expected the priority, as in be4", text);
    let (class, level) = match text {
        b"" => return Ok(None),
        [b'r', b't', level @ ..] => (Class::RealTime, level),
        [b'b', b'e', level @ ..] => (Class::BestEffort, level),
        [b'i', b'd', b'l', b'e', level @ ..] => (Class::Idle, level),
        _ => return Err(bad()),
    };
    let level = integer(level).and_then(|level| u8::try_from(level).ok()).filter(|&level| level < 8);
    Ok(Some(Priority { class, level: level.ok_or_else(bad)? }))
}

/// A name without its `%XX`. A `%` that is not one stays.
fn unescaped(text: &[u8]) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let digits = text.get(at + 1..at + 3).and_then(crate::traces::parse::hexadecimal);
        match (text[at], digits) {
            (b'%', Some(byte)) => {
                out.push(byte as u8);
                at += 3;
            }
            (byte, _) => {
                out.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// A header makes it certain.
fn score(head: &Head<'_>) -> u8 {
    let first = head.lines().find(|line| line[0] != b'#');
    match first.map(header) {
        Some(Ok(_)) => score_by_rows::<Own>(head).max(90),
        _ => 0,
    }
}

/// idlewise's own.
pub(crate) struct OwnEncoder;

impl Encoder for OwnEncoder {
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
        let itself = if record.durable.itself { "f" } else { "" };
        let before = if record.durable.before { "b" } else { "" };
        write!(
            out,
            "{},{},{},{},{},{operation},{},{},{sync}{metadata}{itself}{before},",
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
