//! Replaying a trace as a workload.
//!
//! *Closed loop* (the default): a request that waited for an earlier one in the trace waits for it
//! here too, plus the time that its process then computed. On a faster disk the trace runs faster,
//! on a slower one slower, as the programs would have. [`infer`](crate::traces::infer) says what waited for what, [`process_ends`] when a process
//! ends, of which the scheduler is told.
//! *One process*: the same, and what the trace tells no issuer of is one process's: streams of neighbouring requests are not
//! taken for processes.
//! *Open loop*: every request comes at its recorded time, whatever the disk does.
//! In all, what Linux held back behind a plug comes together (`plugs`).
//!
//! Memory is constant: a window of rows is held, however long the trace is. So a process can get ahead of the order
//! in the trace by the window, and no further. A replay issues what the trace has and nothing else: a stream that a
//! faster disk would have let read more ends when its rows are done.

mod plugs;
pub mod process_ends;
mod processes;
mod rows;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use idlewise_core::{Durable, Duration, Instant, Issuer, Operation, Request, RequestId, Sector, Sectors};
use serde::Serialize;

use crate::engine::Workload;
use crate::engine::exits::Exits;
use crate::traces::Record;
use crate::traces::infer::{Cause, Inference, Inferred};
use crate::workloads::Named;
use plugs::Plugs;
use process_ends::Ends;
use processes::Processes;

pub use rows::{Rows, RowsError};

/// When requests are issued, and who is taken for the issuer of those that have none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Closed loop; streams of neighbouring requests stand in for processes.
    #[default]
    Closed,
    /// Closed loop; one process.
    OneProcess,
    /// Open loop: recorded times rule. One process.
    Open,
}

/// How to replay.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// When requests are issued.
    pub mode: Mode,
    /// Times are divided by this: 2 replays twice as fast.
    pub speed: f64,
    /// Sectors on the disk. Addresses beyond are folded back onto it.
    pub capacity: Sector,
    /// The queue has no scheduler, which is what `none` means.
    pub unscheduled: bool,
}

/// What a replay did to its trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Account {
    /// Rows read.
    pub rows: u64,
    /// Rows whose address lay beyond the disk's end and was folded back.
    pub folded: u64,
    /// Devices of the trace on this disk.
    pub devices: u64,
    /// Rows that begin at a time of their own.
    pub at_recorded_time: u64,
    /// Rows that wait for a completion.
    pub after_completion: u64,
    /// Rows that follow another row's issue.
    pub after_issue: u64,
}

impl std::ops::Add for Account {
    type Output = Account;

    /// Of two disks.
    fn add(self, other: Account) -> Account {
        Account {
            rows: self.rows + other.rows,
            folded: self.folded + other.folded,
            devices: self.devices.max(other.devices),
            at_recorded_time: self.at_recorded_time + other.at_recorded_time,
            after_completion: self.after_completion + other.after_completion,
            after_issue: self.after_issue + other.after_issue,
        }
    }
}

/// Rows held at most, 1.5 MiB; a row waits in the trace until the row this far before it is done. More are read when half
/// of them are issued.
const WINDOW: usize = 1 << 14;
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// The row waits for another row, or for its time.
    Pending,
    /// The row was issued.
    Issued,
    /// The row is done.
    Done,
}

#[derive(Clone, Copy)]
struct Row {
    request: Request,
    /// The trace tells who issued it.
    issued_by_process: bool,
    stage: Stage,
    /// Its process, by place.
    process: u32,
    /// The trace tells when it was done, so that its process may wait for that.
    ends: bool,
    /// When it was done.
    done: Instant,
    /// How many requests its process had issued before.
    issued_before: u64,
    /// Rows that wait for its completion: the head of a list through `next`.
    after_completion: u32,
    next: u32,
    /// How long after what it waits for it is issued.
    delay: Duration,
}

/// A trace as a workload.
pub struct Replay {
    rows: Plugs,
    settings: Settings,
    window: Vec<Row>,
    /// Rows read so far; row `n` lies at `n % WINDOW`.
    read: u64,
    unissued: usize,
    ended: bool,
    error: Option<RowsError>,
    ready: BinaryHeap<Reverse<(Instant, u64)>>,
    inference: Inference,
    processes: Processes,
    ends: Ends,
    /// The arrival of the latest row read, in the trace.
    read_up_to: Instant,
    /// Which row each outstanding request is, by id.
    owners: Vec<u64>,
    now: Instant,
    account: Account,
}

impl Replay {
    /// A replay of `rows`.
    pub fn new(rows: Box<dyn Rows>, settings: Settings) -> Self {
        Replay {
            rows: Plugs::new(rows, settings.unscheduled),
            settings,
            window: Vec::new(),
            read: 0,
            unissued: 0,
            ended: false,
            error: None,
            ready: BinaryHeap::new(),
            inference: Inference::new(settings.mode == Mode::OneProcess),
            processes: Processes::default(),
            ends: Ends::default(),
            read_up_to: Instant::ZERO,
            owners: Vec::new(),
            now: Instant::ZERO,
            account: Account::default(),
        }
    }

    /// What was done to the trace so far.
    pub fn account(&self) -> Account {
        self.account
    }

    /// The error that ended the trace early, if one did.
    pub fn take_error(&mut self) -> Option<RowsError> {
        self.error.take()
    }

    /// Rows that were read and never issued: none once a replay has run to its end.
    pub fn unissued(&self) -> usize {
        self.unissued
    }

    fn scaled(&self, time: u64) -> u64 {
        // Exactly 1 takes no detour through floats, which would round late times.
        if self.settings.speed.to_bits() == 1f64.to_bits() {
            time
        } else {
            (time as f64 / self.settings.speed) as u64
        }
    }

    /// Whether the next row has a place in the window.
    fn has_room(&self) -> bool {
        self.window.len() < WINDOW || self.window[self.read as usize % WINDOW].stage == Stage::Done
    }

    /// Reads as many rows as there is room for.
    fn fill(&mut self) {
        while !self.ended && self.has_room() {
            let row = self.rows.next();
            for exit in self.rows.exits() {
                self.ends.exit(*exit);
                self.inference.exit(exit);
            }
            match row {
                Ok(Some(record)) => self.take(record),
                Ok(None) => self.ended = true,
                Err(error) => {
                    self.error = Some(error);
                    self.ended = true;
                }
            }
        }
    }

    fn take(&mut self, record: Record) {
        self.account.rows += 1;
        self.read_up_to = record.arrival;
        if let Some(issuer) = record.issuer {
            self.ends.read(issuer, record.completed.unwrap_or(record.arrival));
        }
        self.account.devices = self.account.devices.max(u64::from(record.device) + 1);
        let Inferred { issuer, cause } = if self.settings.mode == Mode::Open {
            let issuer = record.issuer.unwrap_or_default();
            Inferred { issuer, cause: Cause::At(record.arrival) }
        } else {
            self.inference.infer(&record, self.read)
        };
        let (request, folded) = fit(&record, self.settings.capacity);
        self.account.folded += u64::from(folded);
        let (process, known) = self.processes.read((record.device, issuer), self.read, WINDOW as u64);
        let row = Row {
            request: Request { issuer, group: record.group.unwrap_or_default(), ..request },
            issued_by_process: record.issuer.is_some(),
            stage: Stage::Pending,
            process,
            ends: record.completed.is_some(),
            done: Instant::ZERO,
            issued_before: 0,
            after_completion: NONE,
            next: NONE,
            delay: Duration::ZERO,
        };
        let place = self.read as usize % WINDOW;
        if place == self.window.len() {
            self.window.push(row);
        } else {
            self.window[place] = row;
        }
        self.unissued += 1;
        let forgotten = matches!(cause, Cause::Own { .. }) && !known;
        self.attach(place, if forgotten { Cause::At(record.arrival) } else { cause }, record.arrival);
        self.read += 1;
    }

    /// Schedules the row at `place`, which was just read, or hangs it on the row that it waits for.
    fn attach(&mut self, place: usize, cause: Cause, recorded: Instant) {
        let (at, row) = match cause {
            Cause::At(time) => {
                self.account.at_recorded_time += 1;
                (Instant(self.scaled(time.0)), self.read)
            }
            Cause::AfterCompletion { of, think } => {
                self.account.after_completion += 1;
                let think = Duration(self.scaled(think.0));
                match self.held(of) {
                    None => (Instant(self.scaled(recorded.0)), self.read),
                    Some(other) if self.window[other].stage == Stage::Done => {
                        (self.window[other].done + think, self.read)
                    }
                    Some(other) => {
                        self.window[place].delay = think;
                        self.window[place].next = self.window[other].after_completion;
                        self.window[other].after_completion = place as u32;
                        return;
                    }
                }
            }
            Cause::Own { under_way, in_order, think } => {
                let waits = under_way < u32::MAX;
                *(if waits { &mut self.account.after_completion } else { &mut self.account.after_issue }) +=
                    1;
                let think = Duration(self.scaled(think.0));
                let process = self.window[place].process;
                // Of the process's rows that wait, an earlier one may go on instead of this one.
                let Some(next) = self.processes.wait(process, self.read, (under_way, in_order), think) else {
                    return;
                };
                next
            }
        };
        self.ready.push(Reverse((at.max(self.now), row)));
    }

    /// Where row `number` is held, if it still is.
    fn held(&self, number: u64) -> Option<usize> {
        if number + WINDOW as u64 > self.read { Some(number as usize % WINDOW) } else { None }
    }

    /// Schedules a list of rows, each its delay after `from`.
    fn release(&mut self, head: u32, from: Instant) {
        let mut place = head;
        while place != NONE {
            let row = &self.window[place as usize];
            // The row's number: the latest one read that lies at this place.
            let newest = self.read - 1;
            let behind = (newest as usize % WINDOW + WINDOW - place as usize) % WINDOW;
            self.ready.push(Reverse((from + row.delay, newest - behind as u64)));
            place = row.next;
        }
    }
}

impl Workload for Replay {
    #[inline]
    fn next(&mut self) -> Option<Instant> {
        if self.unissued < WINDOW / 2 || self.ready.is_empty() {
            self.fill();
        }
        self.ready.peek().map(|Reverse((at, _))| *at)
    }

    fn issue(&mut self, id: RequestId) -> Request {
        let Some(Reverse((at, number))) = self.ready.pop() else {
            unreachable!("next() announced a request")
        };
        if self.owners.len() <= id.index() {
            self.owners.resize(id.index() + 1, 0);
        }
        self.owners[id.index()] = number;
        self.unissued -= 1;
        let row = &mut self.window[number as usize % WINDOW];
        debug_assert!(row.stage == Stage::Pending, "row {number} is issued once");
        row.stage = Stage::Issued;
        let request = Request { arrival: at, ..row.request };
        let next;
        (row.issued_before, next) = self.processes.issue(row.process, at, row.ends);
        self.ready.extend(next.map(Reverse));
        request
    }

    fn share_done(&self, _: Instant) -> Option<f64> {
        // What is read ahead is not done.
        let issued = (self.read - self.unissued as u64) as f64 / self.read.max(1) as f64;
        Some(self.rows.share_read()? * issued)
    }

    fn completed(&mut self, now: Instant, id: RequestId, exits: &mut Exits) {
        self.now = now;
        let row = &mut self.window[self.owners[id.index()] as usize % WINDOW];
        row.stage = Stage::Done;
        row.done = now;
        let followers = std::mem::replace(&mut row.after_completion, NONE);
        let row = *row;
        if row.issued_by_process {
            let read = if self.ended { Instant::MAX } else { self.read_up_to };
            self.ends.done(now, row.request.issuer, read, self.settings.speed, exits);
        }
        let next = if row.ends { self.processes.done(row.process, row.issued_before, now) } else { None };
        self.ready.extend(next.map(Reverse));
        self.release(followers, now);
    }
}

impl Named for Replay {
    fn name(&self, issuer: Issuer) -> Option<String> {
        self.rows.process(issuer)
    }
}

/// The request of a row, on a disk of `capacity` sectors; true if its address was folded back.
fn fit(record: &Record, capacity: Sector) -> (Request, bool) {
    let operation = if record.length.0 == 0 { Operation::Flush } else { record.operation };
    let longest = capacity.0.min(u64::from(u32::MAX)) as u32;
    let length = Sectors(record.length.0.min(longest));
    let last_start = capacity.0 - u64::from(length.0);
    let folded = operation != Operation::Flush && record.start.0 > last_start;
    // Folding keeps alignment to 4 KiB and keeps neighbours neighbours.
    let start = if folded { Sector(record.start.0 % (last_start / 8 * 8).max(1)) } else { record.start };
    let request = Request {
        start,
        length,
        operation,
        sync: record.sync || operation == Operation::Read,
        metadata: record.metadata,
        priority: record.priority.unwrap_or_default(),
        past: operation == Operation::Flush || record.durable != Durable::default(),
        durable: record.durable,
        ..Request::default()
    };
    (request, folded)
}
