//! The recorder: takes what the rings hold, puts it in order, counts it, and writes it down.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use idlewise_sim::traces::recording::{Counted, Disk, Encoder, Entry, Head, Name, Tail};
use rustc_hash::FxBuildHasher;
use rustix::time::{ClockId, clock_gettime};

use crate::counts::Counter;
use crate::disks;
use crate::error::RecordError;
use crate::events::{Reader, Timed};
use crate::instance::Instance;
use crate::order::{Order, WINDOW};
use crate::output::Output;
use crate::tracefs::Tracefs;

/// The time between two checks of the trace buffer: a tenth of what fills it at 100 000 requests a second.
const LOOK: u64 = 50_000_000;

/// How often the file is written and the disks are looked for, in nanoseconds.
const TURN: u64 = 1_000_000_000;

/// Why a recording ends whose disks have all gone.
const GONE: &str = "the disk is gone";

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
    /// The recording ended because no disk is left.
    pub gone: bool,
}

/// A recording that has begun.
pub struct Recorder {
    instance: Instance,
    reader: Reader,
    order: Order,
    counter: Counter,
    encoder: Encoder,
    output: Output,
    head: Head,
    /// The process of each task that was seen, and whether it is written.
    known: HashMap<u32, (u32, bool), FxBuildHasher>,
    events: u64,
    lost: u64,
    notes: Vec<String>,
    /// Goes last: the instance lies in it.
    _tracefs: Tracefs,
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
        let reader = Reader::new(&tracefs, numbers(&disks))?;
        let instance = Instance::create(tracefs.root())?;
        // What the filter would keep out is passed over when it is read, too; the filter itself costs a fifth of an event.
        let others = disks::others(&disks);
        for (path, filter) in reader.events() {
            instance.add(path, filter.filter(|_| others).as_deref())?;
        }
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
        instance.switch(true)?;
        let counter = Counter::new(head.disks.len());
        Ok(Recorder {
            instance,
            reader,
            order: Order::default(),
            counter,
            encoder: Encoder::default(),
            output,
            head,
            known: HashMap::default(),
            events: 0,
            lost: 0,
            notes,
            _tracefs: tracefs,
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
            std::thread::sleep(Duration::from_nanos(LOOK.min(until - now)));
            self.look(WINDOW)?;
            if now >= turn {
                turn = now + TURN;
                self.output.flush(self.events)?;
                if self.head.disks.iter().all(disks::is_gone) {
                    break GONE;
                }
            }
            tell(&self.progress());
        };
        self.finish(why)
    }

    /// Takes what the buffer holds, and writes down what is older than `window`.
    fn look(&mut self, window: u64) -> Result<(), RecordError> {
        // What the buffer lacks when it is read is younger than this.
        let until = now().saturating_sub(window);
        let lost = self.instance.take(|time, raw| {
            let named = |task| self.known.get(&task).is_some_and(|(_, written)| *written);
            if let Some(timed) = self.reader.read(time, raw, named) {
                self.order.push(timed);
            }
        })?;
        if lost > 0 {
            self.order.push(Timed { time: until, entry: Entry::Lost(lost), name: None });
        }
        let mut order = std::mem::take(&mut self.order);
        let outcome = order.pop(until).try_for_each(|timed| self.write(timed));
        self.order = order;
        outcome
    }

    /// Writes an entry down.
    fn write(&mut self, Timed { time, mut entry, name }: Timed) -> Result<(), RecordError> {
        match &mut entry {
            Entry::Block(event) => {
                if !self.counter.see(event) {
                    return Ok(());
                }
                if let Some(name) = name
                    && !self.known.get(&event.task).is_some_and(|(_, written)| *written)
                {
                    let seen = self.seen(event.task, *name);
                    self.encoder.write(time, &seen, &mut self.output.pending);
                    self.events += 1;
                }
            }
            Entry::Fork { task, process, parent_task, parent } => {
                *parent = self.process(*parent_task);
                if process == parent_task {
                    *process = *parent;
                }
                self.known.insert(*task, (*process, false));
            }
            Entry::Renamed { task, process, .. } => *process = self.process(*task),
            Entry::Exit { task, process } => match self.known.remove(task) {
                Some((own, true)) => *process = own,
                // Of a task that did nothing here nobody cares how it ends.
                _ => return Ok(()),
            },
            Entry::Lost(events) => self.lost += *events,
            _ => {}
        }
        self.events += 1;
        self.encoder.write(time, &entry, &mut self.output.pending);
        if self.output.is_full() { self.output.flush(self.events) } else { Ok(()) }
    }

    /// A task that is seen for the first time, with its process and the parent of that.
    fn seen(&mut self, task: u32, name: Name) -> Entry {
        let process = self.process(task);
        self.known.insert(task, (process, true));
        Entry::Task { task, process, parent: status(process, "PPid:").unwrap_or(0), name }
    }

    /// The process of a task: of one that has ended before anybody could look, the task itself.
    fn process(&mut self, task: u32) -> u32 {
        let known = self.known.entry(task);
        known.or_insert_with(|| (status(task, "Tgid:").unwrap_or(task), false)).0
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
        self.instance.switch(false)?;
        self.look(0)?;
        // Events may be younger than the last look.
        self.look(0)?;
        let disks = self.head.disks.iter().zip(stats).zip(self.counter.disks());
        let disks =
            disks.map(|((disk, stat), &counts)| Counted { name: disk.name.clone(), stat, counts }).collect();
        let tail = Tail {
            ended_ns,
            why: why.to_owned(),
            events: self.events,
            lost: self.lost.max(self.instance.lost()),
            moved: self.order.moved,
            disks,
        };
        let end = Entry::End(Box::new(tail.clone()));
        self.encoder.write(ended_ns, &end, &mut self.output.pending);
        self.output.flush(self.events)?;
        Ok(Summary { head: self.head, tail, written: self.output.written(), gone: why == GONE })
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
        events: reader.events().map(|(path, _)| path.to_owned()).collect(),
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

/// A number of a task's `/proc/TASK/status`.
fn status(task: u32, key: &str) -> Option<u32> {
    let text = fs::read_to_string(format!("/proc/{task}/status")).ok()?;
    text.lines().find_map(|line| line.strip_prefix(key)?.trim().parse().ok())
}
