//! The kernel's events as entries of a recording: which tracepoints are asked for, and what their bytes mean.
//!
//! Offsets come from the kernel's own description of each tracepoint. The lives of processes come as records of
//! `perf_event_open` itself, which tell of processes and threads at once.

use idlewise_sim::traces::recording::{Asked, Entry, Event, Name, What};

use crate::error::RecordError;
use crate::tracefs::{Field, Layout, Tracefs};

/// The tracepoints, what each tells, and whether no recording can do without. They are switched on in this order, so that of what is
/// begun while recording the end is seen too. Requests that enter are told by their bios: these name the process,
/// and the scheduler that will replay them merges anew.
const WANTED: [(&str, What, bool); 8] = [
    ("block_rq_complete", What::Complete, true),
    ("block_rq_requeue", What::Requeue, true),
    ("block_rq_issue", What::Issue, true),
    ("block_rq_merge", What::MergeRequest, false),
    ("block_bio_frontmerge", What::MergeBio, true),
    ("block_bio_backmerge", What::MergeBio, true),
    ("block_split", What::Split(0), true),
    ("block_bio_queue", What::Queue, true),
];

/// One entry with its time.
pub(crate) struct Timed {
    pub(crate) time: u64,
    pub(crate) entry: Entry,
    /// The process of the task, and what it is called, if the event tells.
    pub(crate) origin: Option<Origin>,
}

/// Who caused an event.
pub(crate) struct Origin {
    pub(crate) process: u32,
    pub(crate) name: Name,
}

/// A tracepoint of this kernel.
pub(crate) struct Tracepoint {
    pub(crate) name: &'static str,
    pub(crate) id: u16,
    what: What,
    device: Field,
    sector: Field,
    length: Option<Field>,
    letters: Field,
    priority: Option<Field>,
    second: Option<Field>,
    task_name: Option<Field>,
}

/// The tracepoints, as this kernel has them.
pub(crate) fn tracepoints(tracefs: &Tracefs) -> Result<Vec<Tracepoint>, RecordError> {
    let mut found = Vec::with_capacity(WANTED.len());
    for (name, what, needed) in WANTED {
        match tracefs.block(name)? {
            Some(layout) => found.push(tracepoint(name, what, &layout)?),
            None if needed => return Err(RecordError::NoTracepoints),
            None => {}
        }
    }
    Ok(found)
}

fn tracepoint(name: &'static str, what: What, layout: &Layout) -> Result<Tracepoint, RecordError> {
    let need =
        |field: &str| layout.field(field).ok_or_else(|| RecordError::Layout { event: name.to_owned() });
    let split = matches!(what, What::Split(_));
    Ok(Tracepoint {
        name,
        id: layout.id,
        what,
        device: need("dev")?,
        sector: need("sector")?,
        length: if split { None } else { Some(need("nr_sector")?) },
        letters: need("rwbs")?,
        priority: layout.field("ioprio"),
        second: if split { Some(need("new_sector")?) } else { None },
        task_name: layout.field("comm"),
    })
}

/// Kinds of records, and what the header says of a name.
const LOST: u32 = 2;
const NAMED: u32 = 3;
const EXIT: u32 = 4;
const FORK: u32 = 7;
const SAMPLE: u32 = 9;
const NAMED_BY_EXEC: u16 = 1 << 13;

/// Bytes of the header, and of task and time behind records that are no samples.
const HEADER: usize = 8;
const TRAILER: usize = 16;

/// Understands what rings hold.
pub(crate) struct Reader {
    tracepoints: Vec<Tracepoint>,
    /// Device numbers, as tracepoints have them, and the disk that each is or is a part of.
    devices: Vec<(u32, u8)>,
}

impl Reader {
    /// A reader of events of `devices`: device numbers as the kernel packs them, and the disk of each.
    pub(crate) fn new(tracepoints: Vec<Tracepoint>, devices: Vec<(u32, u8)>) -> Reader {
        Reader { tracepoints, devices }
    }

    /// The tracepoints.
    pub(crate) fn tracepoints(&self) -> &[Tracepoint] {
        &self.tracepoints
    }

    /// What the kernel is to let through.
    pub(crate) fn filter(&self) -> String {
        let devices: Vec<String> =
            self.devices.iter().map(|(number, _)| format!("dev == {number}")).collect();
        devices.join(" || ")
    }

    /// Gives each whole record in `bytes` to `take`.
    pub(crate) fn read(&self, mut bytes: &[u8], mut take: impl FnMut(Timed)) {
        while let Some((kind, misc, size)) = header(bytes) {
            let Some((record, rest)) = bytes.split_at_checked(size) else { return };
            if let Some(timed) = self.record(kind, misc, record) {
                take(timed);
            }
            bytes = rest;
        }
    }

    #[inline]
    fn record(&self, kind: u32, misc: u16, record: &[u8]) -> Option<Timed> {
        if kind == SAMPLE {
            return self.sample(record);
        }
        let body = record.get(HEADER..)?;
        let time = word(record, record.len().checked_sub(8)?)?;
        let number = |place: usize| half(body, 4 * place);
        let entry = match kind {
            LOST => Entry::Lost(word(body, 8)?),
            EXIT => Entry::Exit { process: number(0)?, task: number(2)? },
            FORK => Entry::Fork {
                process: number(0)?,
                parent: number(1)?,
                task: number(2)?,
                parent_task: number(3)?,
            },
            NAMED => Entry::Renamed {
                process: number(0)?,
                task: number(1)?,
                name: name(body.get(8..body.len().checked_sub(TRAILER)?)?),
                program: misc & NAMED_BY_EXEC != 0,
            },
            _ => return None,
        };
        Some(Timed { time, entry, origin: None })
    }

    /// An event of a tracepoint. `None` if it is of another device or asks for nothing.
    #[inline]
    fn sample(&self, record: &[u8]) -> Option<Timed> {
        let (process, task) = (half(record, HEADER)?, half(record, HEADER + 4)?);
        let time = word(record, HEADER + 8)?;
        let raw = record.get(HEADER + 20..)?;
        let id = u16::from_ne_bytes(*raw.first_chunk()?);
        let point = self.tracepoints.iter().find(|point| point.id == id)?;
        let number = half(raw, point.device.at)?;
        let disk = self.devices.iter().find(|(own, _)| *own == number)?.1;
        let (operation, flags) = asked(raw.get(point.letters.at..)?.get(..point.letters.size)?)?;
        let priority = point.priority.and_then(|field| raw.get(field.at..)?.first_chunk());
        let priority = priority.map_or(0, |bytes| u16::from_ne_bytes(*bytes));
        let what = match point.second {
            Some(second) => What::Split(word(raw, second.at)?),
            None => point.what,
        };
        // Completions come at whatever task is running; so do what a driver issues and gives back.
        let named = matches!(what, What::Queue | What::Issue);
        let task_name = point.task_name.filter(|_| named);
        let origin = task_name
            .and_then(|field| raw.get(field.at..)?.get(..field.size))
            .map(|text| Origin { process, name: name(text) });
        // A flush has no place on the disk; the kernel says -1.
        let sector = word(raw, point.sector.at)?;
        let event = Event {
            what,
            asked: Asked { operation, flags, priority, disk },
            task: if named { task } else { 0 },
            sector: if sector == u64::MAX { 0 } else { sector },
            length: point.length.map_or(Some(0), |field| half(raw, field.at))?,
        };
        Some(Timed { time, entry: Entry::Block(event), origin })
    }
}

/// Kind, flags and size of the record that `bytes` begin with.
#[inline]
fn header(bytes: &[u8]) -> Option<(u32, u16, usize)> {
    let size = u16::from_ne_bytes(*bytes.get(6..)?.first_chunk()?);
    let misc = u16::from_ne_bytes(*bytes.get(4..)?.first_chunk()?);
    Some((half(bytes, 0)?, misc, usize::from(size))).filter(|_| usize::from(size) >= HEADER)
}

#[inline]
fn half(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

#[inline]
fn word(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// A name up to its end, the rest zeroes.
fn name(text: &[u8]) -> Name {
    let mut out = Name::default();
    let text = text.iter().position(|&b| b == 0).map_or(text, |end| &text[..end]);
    let length = text.len().min(out.len());
    out[..length].copy_from_slice(&text[..length]);
    out
}

/// Operation and flags, from the kernel's letters: an `F` for a flush before, the operation, then `F` forced unit access, `A`
/// read-ahead, `S` synchronous, `M` metadata. `N` is whatever has no letter: zeroes to be written, or a command that
/// passes through; its length tells them apart.
fn asked(letters: &[u8]) -> Option<(u8, u8)> {
    let letters = letters.split(|&b| b == 0).next()?;
    let (flush, rest) = match letters {
        [b'F', rest @ ..] if rest.first().is_some_and(|first| b"FRWDENZ".contains(first)) => {
            (Asked::FLUSH_BEFORE, rest)
        }
        other => (0, other),
    };
    let (operation, rest) = match rest {
        [b'R', rest @ ..] => (Asked::READ, rest),
        [b'W', rest @ ..] | [b'Z', b'A', rest @ ..] => (Asked::WRITE, rest),
        [b'D', b'E', rest @ ..] | [b'E', rest @ ..] => (Asked::ERASE, rest),
        [b'D', rest @ ..] => (Asked::DISCARD, rest),
        [b'F', rest @ ..] => (Asked::FLUSH, rest),
        [b'N', rest @ ..] => (Asked::ZEROES, rest),
        _ => return None,
    };
    let flag = |letter: &u8| match letter {
        b'F' => Asked::FORCED,
        b'A' => Asked::AHEAD,
        b'S' => Asked::SYNC,
        b'M' => Asked::METADATA,
        _ => 0,
    };
    Some((operation, rest.iter().map(flag).fold(flush, |all, one| all | one)))
}
