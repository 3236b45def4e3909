//! Reader of recordings.

use super::code::{Asked, Decoder, Entry, Event, Not, What};
use super::{ABOUT, Head, MAGIC};
use crate::traces::counts::Skip;
use crate::traces::error::{Bad, Location, TraceError};
use crate::traces::event;
use crate::traces::event::{Action, Flags};
use crate::traces::format_info::Open;
use crate::traces::formats::blkparse::check;
use crate::traces::input::Input;
use crate::traces::pairing::Pairing;
use crate::traces::reader::{BATCH, Reader};
use crate::traces::record::Exit;
use crate::traces::sink::Sink;
use idlewise_core::{Class, Durable, Instant, Issuer, Operation, Priority};
use std::io;

/// The longest head, in bytes.
const MAX_HEAD: usize = 65_536;

/// Opens a recording, whose head is read with the first records.
pub(super) fn open(input: Input, _: &Open) -> Result<Box<dyn Reader>, TraceError> {
    let (decoder, pairing) = (Decoder::default(), Pairing::default());
    Ok(Box::new(Recording { input, head: None, decoder, pairing, ended: false }))
}

/// A recording that is being read.
struct Recording {
    input: Input,
    /// What stands before the records, once it is read.
    head: Option<Head>,
    decoder: Decoder,
    pairing: Pairing,
    /// The tail was read.
    ended: bool,
}

impl Reader for Recording {
    fn fill(&mut self, sink: &mut Sink) -> Result<bool, TraceError> {
        if self.head.is_none() {
            self.begin()?;
            for disk in self.head.iter().flat_map(|head| &head.disks) {
                sink.devices.alias(&disk.name, &disk.number);
            }
        }
        for _ in 0..BATCH {
            match self.decoder.read(self.input.available()) {
                Ok((time, entry, length)) => {
                    self.input.consume(length);
                    sink.report.rows += 1;
                    self.entry(time, entry, sink).map_err(|bad| self.complain(bad))?;
                }
                Err(Not::Whole) if self.more()? => {}
                Err(Not::Whole) => {
                    self.pairing.end(sink).map_err(|bad| self.complain(bad))?;
                    if !self.ended {
                        sink.report.cut = true;
                    }
                    return Ok(false);
                }
                Err(Not::Record) => {
                    let cure = "record it again: the file is damaged";
                    return Err(self.complain(Bad { what: "expected a record", text: &[], cure }));
                }
            }
        }
        Ok(true)
    }

    fn head(&self) -> Option<&Head> {
        self.head.as_ref()
    }
}

impl Recording {
    fn begin(&mut self) -> Result<(), TraceError> {
        let bytes = self.input.at_least(MAGIC.len() + MAX_HEAD)?;
        let text = bytes.strip_prefix(MAGIC);
        let length = text.and_then(|text| memchr::memchr(0, text));
        let head = text.zip(length).and_then(|(text, length)| std::str::from_utf8(&text[..length]).ok());
        let head: Option<Head> = head.and_then(|text| toml::from_str(text).ok());
        let Some((head, length)) = head.zip(length) else {
            let what = "expected the line \"idlewise recording 1\", a head in TOML, and a zero byte";
            let cure = "record it again: the file is damaged or cut";
            return Err(self.complain(Bad { what, text: &[], cure }));
        };
        self.input.consume(MAGIC.len() + length + 1);
        self.head = Some(head);
        Ok(())
    }

    /// Reads more. A compressed file that ends early is a recording that was cut short.
    fn more(&mut self) -> Result<bool, TraceError> {
        match self.input.refill() {
            Err(TraceError::Io { source, .. }) if source.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
            other => other,
        }
    }

    fn complain(&self, bad: Bad<'_>) -> TraceError {
        bad.at(self.input.name(), Location::Byte(self.input.offset()), ABOUT.name)
    }

    fn entry(&mut self, time: u64, entry: Entry, sink: &mut Sink) -> Result<(), Bad<'static>> {
        match entry {
            Entry::Block(event) => return self.block(time, event, sink),
            Entry::Task { task, name, .. } | Entry::Renamed { task, name, .. } => {
                sink.processes.rename(task, name.split(|&b| b == 0).next().unwrap_or_default());
            }
            // A thread belongs to its process, and begins no chain.
            Entry::Fork { task, process, parent, .. } if task == process => {
                sink.processes.forked(parent, task);
            }
            Entry::Fork { .. } => {}
            Entry::Exit { task, .. } => {
                self.pairing.exit(Exit { at: Instant(time), issuer: Issuer(task) }, sink);
            }
            Entry::Lost(events) => sink.report.lost_events += events,
            Entry::End(tail) => {
                sink.report.lost_events = sink.report.lost_events.max(tail.lost);
                self.ended = true;
            }
        }
        Ok(())
    }

    #[inline]
    fn block(&mut self, time: u64, event: Event, sink: &mut Sink) -> Result<(), Bad<'static>> {
        let Event { what, asked, task, sector, length } = event;
        let operation = match asked.operation {
            Asked::READ => Operation::Read,
            Asked::WRITE if length == 0 && !matches!(what, What::Split(_)) => Operation::Flush,
            Asked::WRITE => Operation::Write,
            // Zeroes are made by the disk: no data goes over.
            Asked::DISCARD | Asked::ERASE | Asked::ZEROES => Operation::Discard,
            Asked::FLUSH => Operation::Flush,
            _ => {
                sink.skips.skip(Skip::OtherOperation);
                return Ok(());
            }
        };
        let Some(disk) = self.head.as_ref().and_then(|head| head.disks.get(usize::from(asked.disk))) else {
            let cure = "record it again: the file is damaged";
            return Err(Bad { what: "expected a disk of the head", text: &[], cure });
        };
        let Some(device) = sink.devices.number(u64::from(asked.disk), |_| disk.name.clone()) else {
            sink.skips.skip(Skip::OtherDevice);
            return Ok(());
        };
        check(sector, length, &[])?;
        let action = match what {
            What::Queue => Action::Queue,
            What::Issue => Action::Dispatch,
            What::Complete => Action::Complete,
            What::Requeue => Action::Requeue,
            What::MergeBio | What::MergeRequest => Action::Merge,
            What::Split(at) => Action::Split(at),
        };
        let waited = matches!(operation, Operation::Read | Operation::Flush);
        let event = event::Event {
            action,
            time,
            device,
            sector,
            length,
            operation,
            flags: Flags {
                sync: waited || asked.flags & Asked::SYNC != 0,
                metadata: asked.flags & Asked::METADATA != 0,
                durable: Durable::of_write(
                    Some(operation),
                    asked.flags & Asked::FLUSH_BEFORE != 0,
                    asked.flags & Asked::FORCED != 0,
                ),
            },
            issuer: (task != 0).then_some(Issuer(task)),
            priority: priority(asked.priority),
        };
        self.pairing.event(&event, sink)
    }
}

/// The kernel's I/O priority: 3 bits class, 10 bits hint, 3 bits level.
fn priority(value: u16) -> Option<Priority> {
    let class = match value >> 13 {
        1 => Class::RealTime,
        2 => Class::BestEffort,
        3 => Class::Idle,
        _ => return None,
    };
    Some(Priority { class, level: (value & 7) as u8 })
}
