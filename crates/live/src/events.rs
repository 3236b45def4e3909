//! The kernel's events as entries of a recording: which are asked for, and what their bytes mean.
//!
//! Offsets come from the kernel's own description of each event. Requests that enter are told by their bios: these
//! name the process, and the scheduler that will replay them merges anew.

use std::cell::Cell;

use idlewise_sim::traces::recording::{Asked, Entry, Event, Name, What};

use crate::error::RecordError;
use crate::pages::{half, word};
use crate::tracefs::{Field, Layout, Tracefs};

/// Events of requests, what each tells, and whether a recording needs it.
const REQUESTS: [(&str, What, bool); 8] = [
    ("block/block_bio_queue", What::Queue, true),
    ("block/block_rq_issue", What::Issue, true),
    ("block/block_rq_complete", What::Complete, true),
    ("block/block_rq_requeue", What::Requeue, true),
    ("block/block_bio_backmerge", What::MergeBio, true),
    ("block/block_bio_frontmerge", What::MergeBio, true),
    ("block/block_rq_merge", What::MergeRequest, false),
    ("block/block_split", What::Split(0), true),
];

/// Events in the lives of processes, and what each tells.
const LIVES: [(&str, Life); 4] = [
    ("task/task_newtask", Life::Begins),
    ("task/task_rename", Life::Renamed),
    ("sched/sched_process_exec", Life::Program),
    ("sched/sched_process_exit", Life::Ends),
];

#[derive(Clone, Copy)]
enum Life {
    Begins,
    Renamed,
    Program,
    Ends,
}

/// The flag of a new task that is a thread of its parent's process.
const THREAD: u64 = 0x1_0000;

/// One entry with its time.
pub(crate) struct Timed {
    pub(crate) time: u64,
    pub(crate) entry: Entry,
    /// What the event's task is called, if the event tells and somebody wants to know.
    pub(crate) name: Option<Box<Name>>,
}

/// An event of this kernel.
struct Known {
    path: &'static str,
    id: u16,
    fields: Fields,
}

/// Where an event has what.
enum Fields {
    Request {
        what: What,
        device: Field,
        sector: Field,
        length: Option<Field>,
        letters: Field,
        priority: Option<Field>,
        second: Option<Field>,
        name: Option<Field>,
    },
    Life {
        what: Life,
        task: Field,
        name: Option<Field>,
        flags: Option<Field>,
    },
}

/// Understands the kernel's events.
pub(crate) struct Reader {
    known: Vec<Known>,
    /// Where each event has its task.
    task: Field,
    /// Device numbers, as events have them, and the disk that each is or is a part of.
    devices: Vec<(u32, u8)>,
    /// The letters of the last event, and what they say: most are as those before.
    letters: Cell<(u64, Option<(u8, u8)>)>,
}

impl Reader {
    /// A reader of events of `devices`: device numbers as the kernel packs them, and the disk of each.
    pub(crate) fn new(tracefs: &Tracefs, devices: Vec<(u32, u8)>) -> Result<Reader, RecordError> {
        let mut known = Vec::new();
        let mut task = None;
        for (path, what, needed) in REQUESTS {
            match tracefs.layout(path)? {
                Some(layout) => {
                    task = task.or(layout.field("common_pid"));
                    known.push(Known { path, id: layout.id, fields: request(path, what, &layout)? });
                }
                None if needed => return Err(RecordError::NoTracepoints),
                None => {}
            }
        }
        for (path, what) in LIVES {
            if let Some(layout) = tracefs.layout(path)? {
                known.push(Known { path, id: layout.id, fields: life(path, what, &layout)? });
            }
        }
        let task = task.ok_or_else(|| RecordError::Layout { event: REQUESTS[0].0.to_owned() })?;
        Ok(Reader { known, task, devices, letters: Cell::default() })
    }

    /// The events, and what the kernel is to let through of each.
    pub(crate) fn events(&self) -> impl Iterator<Item = (&'static str, Option<String>)> {
        self.known.iter().map(|known| {
            let request = matches!(known.fields, Fields::Request { .. });
            (known.path, request.then(|| self.filter()))
        })
    }

    fn filter(&self) -> String {
        let devices: Vec<String> =
            self.devices.iter().map(|(number, _)| format!("dev == {number}")).collect();
        devices.join(" || ")
    }

    /// What an event tells, with the names of tasks that are not `named` yet. `None` if it is of another device or asks for
    /// nothing.
    #[inline]
    pub(crate) fn read(&self, time: u64, raw: &[u8], named: impl Fn(u32) -> bool) -> Option<Timed> {
        let id = u16::from_ne_bytes(*raw.first_chunk()?);
        let task = half(raw, self.task.at)?;
        let known = self.known.iter().find(|known| known.id == id)?;
        let (entry, name) = match &known.fields {
            Fields::Life { what, task: other, name, flags } => {
                let name = name.and_then(|field| text(raw, field));
                let other = half(raw, other.at)?;
                (lived(*what, task, other, name, flags.and_then(|field| word(raw, field.at))), None)
            }
            fields @ Fields::Request { name, .. } => {
                let event = self.request(fields, task, raw)?;
                let wanted = name.filter(|_| event.task != 0 && !named(event.task));
                (Entry::Block(event), wanted.and_then(|field| text(raw, field)).map(Box::new))
            }
        };
        Some(Timed { time, entry, name })
    }

    #[inline]
    fn request(&self, fields: &Fields, task: u32, raw: &[u8]) -> Option<Event> {
        let Fields::Request { what, device, sector, length, letters, priority, second, .. } = fields else {
            return None;
        };
        let number = half(raw, device.at)?;
        let disk = self.devices.iter().find(|(own, _)| *own == number)?.1;
        let (operation, flags) = self.asked(raw.get(letters.at..)?.get(..letters.size)?)?;
        let priority = priority.and_then(|field| raw.get(field.at..)?.first_chunk());
        let priority = priority.map_or(0, |bytes| u16::from_ne_bytes(*bytes));
        let what = match second {
            Some(second) => What::Split(word(raw, second.at)?),
            None => *what,
        };
        // Completions come at whatever task is running; so does what a driver gives back.
        let task = if matches!(what, What::Complete | What::Requeue) { 0 } else { task };
        // A flush has no place on the disk; the kernel says -1.
        let sector = word(raw, sector.at)?;
        let sector = if sector == u64::MAX { 0 } else { sector };
        let length = length.map_or(Some(0), |field| half(raw, field.at))?;
        Some(Event { what, asked: Asked { operation, flags, priority, disk }, task, sector, length })
    }

    /// As [`asked`].
    #[inline]
    fn asked(&self, letters: &[u8]) -> Option<(u8, u8)> {
        let Some(first) = word(letters, 0) else { return asked(letters) };
        let (before, said) = self.letters.get();
        if first == before {
            return said;
        }
        let said = asked(letters);
        // What has no end within them may go on differently.
        if first.to_ne_bytes().contains(&0) {
            self.letters.set((first, said));
        }
        said
    }
}

fn request(path: &str, what: What, layout: &Layout) -> Result<Fields, RecordError> {
    let split = matches!(what, What::Split(_));
    Ok(Fields::Request {
        what,
        device: layout.need(path, "dev")?,
        sector: layout.need(path, "sector")?,
        length: if split { None } else { Some(layout.need(path, "nr_sector")?) },
        letters: layout.need(path, "rwbs")?,
        priority: layout.field("ioprio"),
        second: if split { Some(layout.need(path, "new_sector")?) } else { None },
        name: layout.field("comm"),
    })
}

fn life(path: &str, what: Life, layout: &Layout) -> Result<Fields, RecordError> {
    let name = match what {
        Life::Begins | Life::Ends => "comm",
        Life::Renamed => "newcomm",
        Life::Program => "filename",
    };
    let flags = layout.field("clone_flags");
    Ok(Fields::Life { what, task: layout.need(path, "pid")?, name: layout.field(name), flags })
}

/// What an event in a life tells. Processes are the recorder's to know: they are told as the tasks here.
fn lived(what: Life, task: u32, other: u32, name: Option<Name>, flags: Option<u64>) -> Entry {
    let name = name.unwrap_or_default();
    let thread = flags.is_some_and(|flags| flags & THREAD != 0);
    match what {
        Life::Begins => Entry::Fork {
            task: other,
            process: if thread { task } else { other },
            parent_task: task,
            parent: task,
        },
        Life::Renamed => Entry::Renamed { task: other, process: other, name, program: false },
        Life::Program => Entry::Renamed { task: other, process: other, name, program: true },
        Life::Ends => Entry::Exit { task: other, process: other },
    }
}

/// The text of a field: of fixed length, or elsewhere in the event, as a word of 16 bits place and 16 bits length
/// tells. Of a path the file's name is taken, as the kernel does for a program's name.
fn text(raw: &[u8], field: Field) -> Option<Name> {
    let bytes = if field.size == 4 {
        let place = half(raw, field.at)?;
        raw.get((place & 0xffff) as usize..)?.get(..(place >> 16) as usize)?
    } else {
        raw.get(field.at..)?.get(..field.size)?
    };
    let bytes = bytes.split(|&b| b == 0).next()?;
    let bytes = if field.size == 4 { bytes.rsplit(|&b| b == b'/').next()? } else { bytes };
    let mut name = Name::default();
    // The kernel keeps 15 bytes of a name.
    let length = bytes.len().min(name.len() - 1);
    name[..length].copy_from_slice(&bytes[..length]);
    Some(name)
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
        // Newer kernels have letters for zones: reset and close count as writes.
        [b'N', rest @ ..] | [b'Z', b'R' | b'C', rest @ ..] => (Asked::ZEROES, rest),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_tell_operation_and_flags() {
        let all: [(&[u8], u8, u8); 13] = [
            (b"R\0", Asked::READ, 0),
            (b"RAM", Asked::READ, Asked::AHEAD | Asked::METADATA),
            (b"WS", Asked::WRITE, Asked::SYNC),
            (b"WFSM", Asked::WRITE, Asked::FORCED | Asked::SYNC | Asked::METADATA),
            (b"FWFS", Asked::WRITE, Asked::FLUSH_BEFORE | Asked::FORCED | Asked::SYNC),
            (b"FF", Asked::FLUSH, Asked::FLUSH_BEFORE),
            (b"F", Asked::FLUSH, 0),
            (b"FS", Asked::FLUSH, Asked::SYNC),
            (b"DS", Asked::DISCARD, Asked::SYNC),
            (b"DE", Asked::ERASE, 0),
            (b"NS", Asked::ZEROES, Asked::SYNC),
            (b"ZAS", Asked::WRITE, Asked::SYNC),
            (b"ZRS", Asked::ZEROES, Asked::SYNC),
        ];
        for (letters, operation, flags) in all {
            assert_eq!(asked(letters), Some((operation, flags)), "{}", letters.escape_ascii());
        }
        assert_eq!((asked(b"ZO"), asked(b""), asked(b"x")), (None, None, None));
    }

    #[test]
    fn names_are_read_in_place_and_elsewhere() {
        let raw = [&[0; 4][..], &(8_u32 | 9 << 16).to_ne_bytes(), b"/bin/cat\0"].concat();
        assert_eq!(text(&raw, Field { at: 4, size: 4 }), Some(*b"cat\0\0\0\0\0\0\0\0\0\0\0\0\0"));
        assert_eq!(text(&raw, Field { at: 8, size: 9 }), Some(*b"/bin/cat\0\0\0\0\0\0\0\0"));
        assert_eq!(text(&raw, Field { at: 90, size: 9 }), None);
    }
}
