//! The records of a recording: how they are written, and read back.

use super::{Head, MAGIC, Tail};
use std::io::{self, Write};

/// What happened to a request or to a bio, of which requests are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum What {
    Queue,
    Issue,
    Complete,
    Requeue,
    MergeBio,
    MergeRequest,
    /// A bio was cut in two, the second beginning at this sector.
    Split(u64),
}

/// What is asked of the disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// One of the constants of this type.
    pub operation: u8,
    /// Of the bits `SYNC` and so on.
    pub flags: u8,
    /// The kernel's I/O priority; 0 if there is none.
    pub priority: u16,
    /// The disk, by its place in the head.
    pub disk: u8,
}

#[expect(missing_docs, reason = "the names say it")]
impl Asked {
    pub const NOTHING: u8 = 0;
    pub const READ: u8 = 1;
    pub const WRITE: u8 = 2;
    pub const DISCARD: u8 = 3;
    pub const FLUSH: u8 = 4;
    pub const ZEROES: u8 = 5;
    pub const ERASE: u8 = 6;

    pub const SYNC: u8 = 1;
    pub const METADATA: u8 = 2;
    pub const FORCED: u8 = 4;
    pub const FLUSH_BEFORE: u8 = 8;
    pub const AHEAD: u8 = 16;

    fn packed(self) -> u64 {
        u64::from(self.operation & 7)
            | u64::from(self.flags & 31) << 3
            | u64::from(self.priority) << 8
            | u64::from(self.disk) << 24
    }

    fn unpacked(value: u64) -> Asked {
        Asked {
            operation: value as u8 & 7,
            flags: (value >> 3) as u8 & 31,
            priority: (value >> 8) as u16,
            disk: (value >> 24) as u8,
        }
    }
}

/// One event in the life of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Event {
    pub what: What,
    pub asked: Asked,
    /// The task that was running: who issued it, if it is queued or merged.
    pub task: u32,
    pub sector: u64,
    /// In sectors.
    pub length: u32,
}

/// A process's name, at most 16 bytes, filled up with zeroes.
pub type Name = [u8; 16];

/// One record. A task is a thread; its process is known by the number of its first thread.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Entry {
    Block(Event),
    /// A task that was there before was seen for the first time.
    Task {
        task: u32,
        process: u32,
        parent: u32,
        name: Name,
    },
    Fork {
        task: u32,
        process: u32,
        parent_task: u32,
        parent: u32,
    },
    Exit {
        task: u32,
        process: u32,
    },
    Renamed {
        task: u32,
        process: u32,
        name: Name,
        program: bool,
    },
    Lost(u64),
    End(Box<Tail>),
}

/// What the tag byte says besides the kind.
const SAME_ASKED: u8 = 16;
const SAME_TASK: u8 = 32;
const SAME_LENGTH: u8 = 64;

/// The longest tail, in bytes.
const MAX_TAIL: usize = 65_536;

/// What records leave out because an earlier one says it.
#[derive(Default)]
struct Before {
    time: u64,
    sector: u64,
    /// The last event of each kind: what was asked, task, length.
    kinds: [(u64, u32, u32); 7],
}

/// Writes records into a buffer.
#[derive(Default)]
pub struct Encoder {
    before: Before,
}

impl Encoder {
    /// Writes the first line and the head.
    ///
    /// # Errors
    /// The head cannot be expressed, or `out` fails.
    pub fn begin(head: &Head, out: &mut impl Write) -> io::Result<()> {
        out.write_all(MAGIC)?;
        let text = toml::to_string(head).map_err(io::Error::other)?;
        out.write_all(text.as_bytes())?;
        out.write_all(&[0])
    }

    /// Writes a record. Times never decrease.
    pub fn write(&mut self, time: u64, entry: &Entry, out: &mut Vec<u8>) {
        let elapsed = time.saturating_sub(self.before.time);
        self.before.time = self.before.time.max(time);
        let mut plain = |kind: u8, numbers: &[u32]| {
            out.push(kind);
            number(elapsed, out);
            numbers.iter().for_each(|&one| number(u64::from(one), out));
        };
        match entry {
            Entry::Block(event) => self.block(elapsed, event, out),
            &Entry::Task { task, process, parent, name } => {
                plain(8, &[task, process, parent]);
                text(trimmed(&name), out);
            }
            &Entry::Fork { task, process, parent_task, parent } => {
                plain(9, &[task, process, parent_task, parent]);
            }
            &Entry::Exit { task, process } => plain(10, &[task, process]),
            &Entry::Renamed { task, process, name, program } => {
                plain(if program { 12 } else { 11 }, &[task, process]);
                text(trimmed(&name), out);
            }
            Entry::Lost(events) => {
                plain(13, &[]);
                number(*events, out);
            }
            Entry::End(tail) => {
                plain(15, &[]);
                text(toml::to_string(tail).unwrap_or_default().as_bytes(), out);
            }
        }
    }

    fn block(&mut self, elapsed: u64, event: &Event, out: &mut Vec<u8>) {
        let (kind, second) = match event.what {
            What::Queue => (0, None),
            What::Issue => (1, None),
            What::Complete => (2, None),
            What::Requeue => (3, None),
            What::MergeBio => (4, None),
            What::MergeRequest => (5, None),
            What::Split(at) => (6, Some(at)),
        };
        let now = (event.asked.packed(), event.task, event.length);
        let last = std::mem::replace(&mut self.before.kinds[kind], now);
        let mut tag = kind as u8;
        tag |= if now.0 == last.0 { SAME_ASKED } else { 0 };
        tag |= if now.1 == last.1 { SAME_TASK } else { 0 };
        tag |= if now.2 == last.2 { SAME_LENGTH } else { 0 };
        out.push(tag);
        number(elapsed, out);
        if now.0 != last.0 {
            number(now.0, out);
        }
        if now.1 != last.1 {
            number(u64::from(now.1), out);
        }
        let distance = event.sector.wrapping_sub(self.before.sector) as i64;
        number((distance << 1 ^ distance >> 63) as u64, out);
        if now.2 != last.2 {
            number(u64::from(now.2), out);
        }
        if let Some(at) = second {
            number(at, out);
        }
        self.before.sector = event.sector;
    }
}

fn number(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn text(bytes: &[u8], out: &mut Vec<u8>) {
    number(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

fn trimmed(name: &Name) -> &[u8] {
    &name[..name.iter().position(|&b| b == 0).unwrap_or(name.len())]
}

/// Why no record was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Not {
    /// The bytes end before the record does.
    Whole,
    /// These bytes are none.
    Record,
}

/// Reads records back.
#[derive(Default)]
pub(super) struct Decoder {
    before: Before,
}

/// Bytes that are being read.
struct Bytes<'a> {
    all: &'a [u8],
    at: usize,
}

impl Bytes<'_> {
    #[inline]
    fn byte(&mut self) -> Result<u8, Not> {
        let byte = *self.all.get(self.at).ok_or(Not::Whole)?;
        self.at += 1;
        Ok(byte)
    }

    #[inline]
    fn number(&mut self) -> Result<u64, Not> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(Not::Record)
    }

    fn small(&mut self) -> Result<u32, Not> {
        u32::try_from(self.number()?).map_err(|_| Not::Record)
    }

    fn text(&mut self, most: usize) -> Result<&[u8], Not> {
        let length = usize::try_from(self.number()?).ok().filter(|&length| length <= most);
        let from = self.at;
        self.at += length.ok_or(Not::Record)?;
        self.all.get(from..self.at).ok_or(Not::Whole)
    }

    fn name(&mut self) -> Result<Name, Not> {
        let mut name = Name::default();
        let text = self.text(name.len())?;
        name[..text.len()].copy_from_slice(text);
        Ok(name)
    }
}

impl Decoder {
    /// The time of the first record in `bytes`, the record, and its length in bytes.
    #[inline]
    pub(super) fn read(&mut self, bytes: &[u8]) -> Result<(u64, Entry, usize), Not> {
        let mut bytes = Bytes { all: bytes, at: 0 };
        let tag = bytes.byte()?;
        let time = self.before.time.checked_add(bytes.number()?).ok_or(Not::Record)?;
        let entry = match tag & 15 {
            kind @ 0..=6 => Entry::Block(self.block(usize::from(kind), tag, &mut bytes)?),
            8 => Entry::Task {
                task: bytes.small()?,
                process: bytes.small()?,
                parent: bytes.small()?,
                name: bytes.name()?,
            },
            9 => Entry::Fork {
                task: bytes.small()?,
                process: bytes.small()?,
                parent_task: bytes.small()?,
                parent: bytes.small()?,
            },
            10 => Entry::Exit { task: bytes.small()?, process: bytes.small()? },
            kind @ (11 | 12) => Entry::Renamed {
                task: bytes.small()?,
                process: bytes.small()?,
                name: bytes.name()?,
                program: kind == 12,
            },
            13 => Entry::Lost(bytes.number()?),
            15 => {
                let text = std::str::from_utf8(bytes.text(MAX_TAIL)?).map_err(|_| Not::Record)?;
                Entry::End(Box::new(toml::from_str(text).map_err(|_| Not::Record)?))
            }
            _ => return Err(Not::Record),
        };
        self.before.time = time;
        Ok((time, entry, bytes.at))
    }

    /// Reads a block event. What it changes in `before` counts once the event is whole.
    #[inline]
    fn block(&mut self, kind: usize, tag: u8, bytes: &mut Bytes<'_>) -> Result<Event, Not> {
        let (mut asked, mut task, mut length) = self.before.kinds[kind];
        if tag & SAME_ASKED == 0 {
            asked = bytes.number()?;
        }
        if tag & SAME_TASK == 0 {
            task = bytes.small()?;
        }
        let zigzag = bytes.number()?;
        let sector = self.before.sector.wrapping_add(zigzag >> 1 ^ (zigzag & 1).wrapping_neg());
        if tag & SAME_LENGTH == 0 {
            length = bytes.small()?;
        }
        let what = match kind {
            0 => What::Queue,
            1 => What::Issue,
            2 => What::Complete,
            3 => What::Requeue,
            4 => What::MergeBio,
            5 => What::MergeRequest,
            _ => What::Split(bytes.number()?),
        };
        self.before.kinds[kind] = (asked, task, length);
        self.before.sector = sector;
        Ok(Event { what, asked: Asked::unpacked(asked), task, sector, length })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One of each, with numbers of all lengths.
    fn entries() -> Vec<(u64, Entry)> {
        let asked = |operation, disk| Asked { operation, flags: 9, priority: 0x4007, disk };
        let event =
            |what, asked, task, sector, length| Entry::Block(Event { what, asked, task, sector, length });
        let name = *b"a name of 16 by.";
        vec![
            (u64::MAX >> 8, Entry::Task { task: 7, process: 6, parent: 1, name }),
            (u64::MAX >> 8, event(What::Queue, asked(Asked::WRITE, 0), 7, 1 << 54, 1 << 31)),
            (u64::MAX >> 7, event(What::Queue, asked(Asked::WRITE, 0), 7, 0, 8)),
            (u64::MAX >> 7, event(What::Split(5), asked(Asked::READ, 255), u32::MAX, 1, 8)),
            (u64::MAX >> 7, event(What::Issue, asked(Asked::ERASE, 3), 0, u64::MAX, 0)),
            (u64::MAX >> 7, event(What::Complete, asked(Asked::ZEROES, 3), 0, u64::MAX, 0)),
            (u64::MAX >> 7, event(What::Requeue, Asked::default(), 0, 3, 1)),
            (u64::MAX >> 7, event(What::MergeBio, Asked::default(), 9, 3, 1)),
            (u64::MAX >> 7, event(What::MergeRequest, Asked::default(), 9, 4, 1)),
            (u64::MAX >> 6, Entry::Fork { task: 9, process: 9, parent_task: 7, parent: 6 }),
            (
                u64::MAX >> 6,
                Entry::Renamed {
                    task: 9,
                    process: 9,
                    name: *b"cat\0\0\0\0\0\0\0\0\0\0\0\0\0",
                    program: true,
                },
            ),
            (u64::MAX >> 6, Entry::Renamed { task: 9, process: 9, name: Name::default(), program: false }),
            (u64::MAX >> 6, Entry::Exit { task: 9, process: 9 }),
            (u64::MAX >> 5, Entry::Lost(1 << 40)),
            (u64::MAX >> 5, Entry::End(Box::new(Tail { lost: 3, why: "asked".into(), ..Tail::default() }))),
        ]
    }

    #[test]
    fn what_is_written_is_read_back_and_cut_records_are_told() {
        let (mut encoder, mut out) = (Encoder::default(), Vec::new());
        entries().iter().for_each(|(time, entry)| encoder.write(*time, entry, &mut out));
        let (mut decoder, mut at) = (Decoder::default(), 0);
        for (time, entry) in entries() {
            // A record that is cut anywhere is not whole, and leaves no trace in what follows.
            let (_, _, length) = Decoder { before: Before { kinds: decoder.before.kinds, ..decoder.before } }
                .read(&out[at..])
                .unwrap();
            for cut in at..at + length {
                assert_eq!(decoder.read(&out[at..cut]), Err(Not::Whole), "{entry:?}");
            }
            assert_eq!(decoder.read(&out[at..]), Ok((time, entry, length)));
            at += length;
        }
        assert_eq!(at, out.len());
    }

    #[test]
    fn nonsense_is_refused() {
        for bad in [&[7, 0][..], &[14, 0], &[0, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1]] {
            assert_eq!(Decoder::default().read(bad), Err(Not::Record));
        }
    }
}
