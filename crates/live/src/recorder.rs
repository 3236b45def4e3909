//! The recorder: takes what the rings hold, puts it in order, counts it, and writes it down.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use idlewise_sim::traces::recording::{Counted, Disk, Encoder, Entry, Head, Tail};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::{Resource, Rlimit};
use rustix::time::{ClockId, clock_gettime};

use crate::counts::Counter;
use crate::disks;
use crate::error::RecordError;
use crate::events::{self, Origin, Reader, Timed};
use crate::order::{Order, WINDOW};
use crate::output::Output;
use crate::perf::Ring;
use crate::tracefs::Tracefs;

/// Bytes of a processor's ring: at 100 000 requests a second on one processor, half a second.
const RING: usize = 16 << 20;

/// Bytes of all rings together, on machines with many processors.
const RINGS: usize = 256 << 20;

/// The least that is worth trying where memory may not be locked.
const LEAST_RING: usize = 64 << 10;

/// The longest wait between two looks at the rings.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// How often the file is written and the disks are looked for, in nanoseconds.
const TURN: u64 = 1_000_000_000;

/// How far a recording is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Since it began, in nanoseconds.
    pub elapsed_ns: u64,
    /// Events recorded.
    pub events: u64,
    /// Events that the kernel had no room for.
    pub lost: u64,
    /// Sectors read, written and discarded.
    pub sectors: u64,
    /// Bytes in the file.
    pub written: u64,
}

/// What a recording holds.
#[derive(Clone, Debug)]
pub struct Summary {
    /// What was said before the first event.
    pub head: Head,
    /// What was said behind the last one.
    pub tail: Tail,
    /// Bytes in the file.
    pub written: u64,
}

/// A recording that has begun.
pub struct Recorder {
    rings: Vec<Ring>,
    reader: Reader,
    order: Order,
    counter: Counter,
    encoder: Encoder,
    output: Output,
    head: Head,
    /// Tasks whose name and process are written.
    known: HashSet<u32>,
    events: u64,
    lost: u64,
    notes: Vec<String>,
    /// What was read of a ring; kept for its room.
    bytes: Vec<u8>,
}

impl Recorder {
    /// Begins to record `disks` to a new file at `path`; `replace`: also if there is one.
    ///
    /// # Errors
    /// The kernel does not let this user record or has no block tracepoints, or the file cannot be made.
    pub fn start(mut disks: Vec<Disk>, path: &Path, replace: bool) -> Result<Recorder, RecordError> {
        if !replace && fs::metadata(path).is_ok_and(|data| data.is_file()) {
            return Err(RecordError::Exists(path.to_owned()));
        }
        let tracefs = Tracefs::open()?;
        let reader = Reader::new(events::tracepoints(&tracefs)?, numbers(&disks));
        let rings = rings(&reader)?;
        let mut notes = Vec::new();
        if tracefs.is_own() {
            notes.push(
                "tracefs is not mounted: a private mount was used, which ends with this program".to_owned(),
            );
        }
        if disks::below(path.parent().filter(|at| !at.as_os_str().is_empty()).unwrap_or(Path::new(".")))
            .iter()
            .any(|name| disks.iter().any(|disk| disk.name == *name))
        {
            let path = path.display();
            notes.push(format!(
                "{path} lies on a disk that is recorded, so its own writes are recorded too: \
                                name a file on another disk or in /dev/shm with --output"
            ));
        }
        let mut output = Output::create(path, replace)?;
        for disk in &mut disks {
            disk.stat = disks::stat(&disk.name);
        }
        let head = head(disks, &reader);
        Encoder::begin(&head, &mut output.pending)
            .map_err(|error| RecordError::System { what: "describing the disks", error })?;
        output.flush(0)?;
        let enabling = |error| RecordError::System { what: "switching the kernel's events on", error };
        for ring in &rings {
            ring.enable_lives().map_err(enabling)?;
        }
        for at in 0..reader.tracepoints().len() {
            for ring in &rings {
                ring.enable(at).map_err(enabling)?;
            }
        }
        let counter = Counter::new(head.disks.len());
        Ok(Recorder {
            rings,
            reader,
            order: Order::default(),
            counter,
            encoder: Encoder::default(),
            output,
            head,
            known: HashSet::new(),
            events: 0,
            lost: 0,
            notes,
            bytes: Vec::new(),
        })
    }

    /// What the user should know, in sentences.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Records until `stop` is set, `length` is over or the disks are gone. Tells `tell` about ten times a second how
    /// far it is.
    ///
    /// # Errors
    /// The file cannot be written on. What is in it can be read.
    pub fn run(
        mut self,
        length: Option<Duration>,
        stop: &AtomicBool,
        tell: &mut dyn FnMut(&Progress),
    ) -> Result<Summary, RecordError> {
        let began = self.head.began_ns;
        let until = length.map_or(u64::MAX, |length| began.saturating_add(length.as_nanos() as u64));
        let mut turn = began + TURN;
        let why = loop {
            let now = now();
            if stop.load(Ordering::Relaxed) {
                break "stopped";
            }
            if now >= until {
                break "time is over";
            }
            self.wait(until - now)?;
            self.look(WINDOW)?;
            if now >= turn {
                turn = now + TURN;
                self.output.flush(self.events)?;
                if self.head.disks.iter().all(|disk| disks::look(&disk.name).is_none()) {
                    break "the disk is gone";
                }
            }
            tell(&self.progress());
        };
        self.finish(why)
    }

    /// Waits until a ring is a quarter full, or it is time to look anyway.
    fn wait(&self, most: u64) -> Result<(), RecordError> {
        let mut polled: Vec<PollFd<'_>> =
            self.rings.iter().map(|ring| PollFd::new(ring.readable(), PollFlags::IN)).collect();
        let most = Timespec { tv_sec: 0, tv_nsec: most.min(LOOK.tv_nsec as u64) as i64 };
        match rustix::event::poll(&mut polled, Some(&most)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(RecordError::System { what: "waiting for events", error: error.into() }),
        }
    }

    /// Takes what the rings hold, and writes down what is older than `window`.
    fn look(&mut self, window: u64) -> Result<(), RecordError> {
        // What the rings lack when they are read is younger than this.
        let until = now().saturating_sub(window);
        for ring in &mut self.rings {
            self.bytes.clear();
            ring.take(&mut self.bytes);
            self.reader.read(&self.bytes, |timed| self.order.push(timed));
        }
        let mut order = std::mem::take(&mut self.order);
        let outcome = order.pop(until).try_for_each(|timed| self.write(timed));
        self.order = order;
        outcome
    }

    /// Writes an entry down.
    fn write(&mut self, Timed { time, entry, origin }: Timed) -> Result<(), RecordError> {
        match &entry {
            Entry::Block(event) => {
                if !self.counter.see(event) {
                    return Ok(());
                }
                if let Some(origin) = origin.filter(|_| event.task != 0 && self.known.insert(event.task)) {
                    let seen = seen(event.task, &origin);
                    self.encoder.write(time, &seen, &mut self.output.pending);
                }
            }
            // Of a task that did nothing here nobody cares how it ends.
            Entry::Exit { task, .. } if !self.known.remove(task) => return Ok(()),
            Entry::Lost(events) => self.lost += events,
            _ => {}
        }
        self.events += 1;
        self.encoder.write(time, &entry, &mut self.output.pending);
        if self.output.is_full() { self.output.flush(self.events) } else { Ok(()) }
    }

    fn progress(&self) -> Progress {
        let counts = self.counter.disks().iter();
        Progress {
            elapsed_ns: now().saturating_sub(self.head.began_ns),
            events: self.events,
            lost: self.lost,
            sectors: counts.map(|disk| disk.read_sectors + disk.write_sectors + disk.discard_sectors).sum(),
            written: self.output.written(),
        }
    }

    /// Writes the rest and the tail.
    fn finish(mut self, why: &str) -> Result<Summary, RecordError> {
        let stats: Vec<Vec<u64>> = self.head.disks.iter().map(|disk| disks::stat(&disk.name)).collect();
        let ended_ns = now();
        self.look(0)?;
        let lost: Option<u64> = self.rings.iter_mut().map(Ring::lost).sum();
        let disks = self.head.disks.iter().zip(stats).zip(self.counter.disks());
        let disks =
            disks.map(|((disk, stat), &counts)| Counted { name: disk.name.clone(), stat, counts }).collect();
        let tail = Tail {
            ended_ns,
            why: why.to_owned(),
            events: self.events,
            lost: self.lost.max(lost.unwrap_or(0)),
            moved: self.order.moved,
            disks,
        };
        let end = Entry::End(Box::new(tail.clone()));
        self.encoder.write(ended_ns, &end, &mut self.output.pending);
        self.output.flush(self.events)?;
        Ok(Summary { head: self.head, tail, written: self.output.written() })
    }
}

/// The time by the clock of the events.
fn now() -> u64 {
    nanoseconds(ClockId::Monotonic)
}

fn nanoseconds(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

fn head(disks: Vec<Disk>, reader: &Reader) -> Head {
    Head {
        idlewise: env!("CARGO_PKG_VERSION").to_owned(),
        kernel: rustix::system::uname().release().to_string_lossy().into_owned(),
        clock: "monotonic".to_owned(),
        began_ns: now(),
        began_unix_ns: nanoseconds(ClockId::Realtime),
        events: reader.tracepoints().iter().map(|point| point.name.to_owned()).collect(),
        disks,
    }
}

/// The numbers of the disks and of their partitions, each with the place of the disk.
fn numbers(disks: &[Disk]) -> Vec<(u32, u8)> {
    let mut all = Vec::new();
    for (at, disk) in disks.iter().enumerate() {
        let parts = disk.partitions.iter().map(|part| &part.number);
        let own = std::iter::once(&disk.number).chain(parts).filter_map(|number| disks::packed(number));
        all.extend(own.map(|number| (number, at as u8)));
    }
    all
}

/// A task that was there before, with its process's parent.
fn seen(task: u32, origin: &Origin) -> Entry {
    let stat = fs::read_to_string(format!("/proc/{}/stat", origin.process)).unwrap_or_default();
    // The name is in brackets and may hold anything; the state and the parent follow.
    let parent = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(1)?.parse().ok());
    Entry::Task { task, process: origin.process, parent: parent.unwrap_or(0), name: origin.name }
}

/// A ring for each processor, with all tracepoints.
fn rings(reader: &Reader) -> Result<Vec<Ring>, RecordError> {
    let cpus = online().map_err(|error| RecordError::System { what: "listing the processors", error })?;
    let files = (cpus.len() * (reader.tracepoints().len() + 1) + 64) as u64;
    let limit = rustix::process::getrlimit(Resource::Nofile);
    if limit.current.is_some_and(|current| current < files) {
        // If it is refused, opening says so.
        let _ = rustix::process::setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
    }
    let share = RINGS / cpus.len().max(1);
    let size = RING.min(1 << share.max(LEAST_RING).ilog2());
    let filter = reader.filter();
    let mut rings = Vec::with_capacity(cpus.len());
    for cpu in cpus {
        let mut ring = ring(cpu, size).map_err(|error| refused(&error))?;
        for point in reader.tracepoints() {
            ring.add(point.id, &filter).map_err(|error| refused(&error))?;
        }
        rings.push(ring);
    }
    Ok(rings)
}

/// The largest ring that may be locked in memory, at most `size` bytes.
fn ring(cpu: u32, mut size: usize) -> io::Result<Ring> {
    loop {
        match Ring::open(cpu, size) {
            Err(_) if size > LEAST_RING => size /= 2,
            other => return other,
        }
    }
}

fn refused(error: &io::Error) -> RecordError {
    match error.kind() {
        io::ErrorKind::PermissionDenied => {
            RecordError::Denied { cause: format!("perf_event_open: {error}"), hint: "" }
        }
        _ => RecordError::System { what: "perf_event_open", error: io::Error::from(error.kind()) },
    }
}

/// The processors that are switched on.
fn online() -> io::Result<Vec<u32>> {
    let text = fs::read_to_string("/sys/devices/system/cpu/online")?;
    Ok(ranges(&text))
}

/// The numbers of a list such as `0-3,8`.
fn ranges(text: &str) -> Vec<u32> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.parse::<u32>().ok()?..=last.parse().ok()?)
    };
    text.trim().split(',').filter_map(range).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_are_listed_as_ranges() {
        assert_eq!(ranges("0-3,8,10-11\n"), [0, 1, 2, 3, 8, 10, 11]);
        assert_eq!(ranges("0\n"), [0]);
        assert_eq!(ranges("\n"), [0; 0]);
    }
}
