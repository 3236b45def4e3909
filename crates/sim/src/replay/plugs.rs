//! Requests that reached the queue together.
//!
//! Linux holds back what a process issues in a row, behind a *plug*, where neighbours merge. The queue gets all of it when the
//! last part was issued. A trace tells when each part was issued and when it was sent to the disk. A queue that got the parts
//! one by one would send the first alone, whichever its scheduler prefers, and the others behind it.
//!
//! Requests that one process issued no more than [`BATCH`] apart were held back together if the first was sent after the last
//! was issued, and one of these holds:
//!
//! - they went to the disk as one command;
//! - the disk had nothing to do when the first was issued, so that only a plug could keep the first from it.
//!
//! They come at one time, when the last of them was issued, and so does what the process issued between them and was held
//! back as long. A disk without a scheduler gets them as its kernel has it, which may be backwards.

use std::collections::{HashMap, VecDeque};

use idlewise_core::{Instant, Issuer};

use super::rows::{Rows, RowsError};
use crate::traces::infer::BATCH;
use crate::traces::{Exit, Record};

/// Rows read ahead at most: a plug holds far fewer, but a trace may have many rows of one time.
const AHEAD: usize = 256;

/// A row that is read ahead.
struct Ahead {
    record: Record,
    /// The arrival is final.
    settled: bool,
}

/// Plugs are per process; what is held back for another disk does not matter here.
fn source(record: &Record) -> (u32, Option<Issuer>) {
    (record.device, record.issuer)
}

/// Rows of which those from one plug come together.
pub(super) struct Plugs {
    rows: Box<dyn Rows>,
    ahead: VecDeque<Ahead>,
    /// For each place in `ahead`: exits before the row that is there.
    exits_ahead: VecDeque<Vec<Exit>>,
    /// What comes after the rows ahead: exits, and the error that ended the trace early, if one did.
    end: Option<(Vec<Exit>, Option<RowsError>)>,
    /// Exits before the row last given, or before the end.
    exits: Vec<Exit>,
    /// For each device: when the last of the rows given so far was done.
    busy_until: HashMap<u32, Instant>,
    /// The queue has no scheduler.
    unscheduled: bool,
}

impl Plugs {
    pub(super) fn new(rows: Box<dyn Rows>, unscheduled: bool) -> Plugs {
        Plugs {
            rows,
            ahead: VecDeque::new(),
            exits_ahead: VecDeque::new(),
            end: None,
            exits: Vec::new(),
            busy_until: HashMap::new(),
            unscheduled,
        }
    }

    /// Whether the disk had nothing to do when `first`, the next row to be given, was issued.
    fn idle(&self, first: &Record) -> bool {
        self.busy_until.get(&first.device).is_none_or(|until| *until <= first.arrival)
    }

    /// Until when what was held back with `first` was issued; `None` if nothing can have been.
    fn horizon(&self, first: &Record) -> Option<Instant> {
        let sent = first.dispatched.filter(|_| first.length.0 > 0)?;
        Some(if self.idle(first) { sent } else { sent.min(first.arrival + BATCH) })
    }

    /// Whether no row can come that was held back with the first.
    fn enough(&self) -> bool {
        let (Some(first), Some(last)) = (self.ahead.front(), self.ahead.back()) else { return false };
        first.settled
            || self.ahead.len() >= AHEAD
            || self.horizon(&first.record).is_none_or(|horizon| last.record.arrival > horizon)
    }

    fn read(&mut self) {
        while self.end.is_none() && !self.enough() {
            let row = self.rows.next();
            let exits = self.rows.exits().to_vec();
            match row {
                Ok(Some(record)) => {
                    self.ahead.push_back(Ahead { record, settled: false });
                    self.exits_ahead.push_back(exits);
                }
                Ok(None) => self.end = Some((exits, None)),
                Err(error) => self.end = Some((exits, Some(error))),
            }
        }
    }

    /// When the last part of what was behind one plug with `first` was issued.
    fn complete(&self, first: &Record) -> Instant {
        let (mut latest, idle) = (first.arrival, self.idle(first));
        let Some(horizon) = self.horizon(first) else { return latest };
        let command = |record: &Record| (record.dispatched, record.completed, record.operation);
        for Ahead { record, .. } in &self.ahead {
            let soon = record.arrival <= horizon && record.arrival.since(latest) <= BATCH;
            let together = if idle { soon } else { soon && command(record) == command(first) };
            if together && source(record) == source(first) {
                latest = record.arrival;
            }
        }
        latest
    }

    /// Has what was behind one plug with the first row come together.
    fn settle(&mut self) {
        let Some(first) = self.ahead.front_mut() else { return };
        first.settled = true;
        let first = first.record;
        let latest = self.complete(&first);
        if latest == first.arrival {
            return;
        }
        for Ahead { record, settled } in &mut self.ahead {
            let held = record.arrival <= latest && record.dispatched.is_some_and(|at| at >= latest);
            if held && source(record) == source(&first) {
                (record.arrival, *settled) = (latest, true);
            }
        }
        // What others issued meanwhile came before. Exits keep their place in time.
        let ahead = self.ahead.make_contiguous();
        ahead.sort_by_key(|ahead| ahead.record.arrival);
        if self.unscheduled && self.rows.unplugs_backwards() {
            let together = |of: &Ahead| of.record.arrival == latest && source(&of.record) == source(&first);
            let begin = ahead.iter().position(together).unwrap_or(0);
            let length = ahead[begin..].iter().take_while(|of| together(of)).count();
            ahead[begin..begin + length].reverse();
        }
    }

    /// The first of the rows ahead, with the exits before it.
    fn give(&mut self) -> Option<Record> {
        let record = self.ahead.pop_front()?.record;
        self.exits = self.exits_ahead.pop_front().unwrap_or_default();
        if let Some(completed) = record.completed {
            let until = self.busy_until.entry(record.device).or_insert(completed);
            *until = completed.max(*until);
        }
        Some(record)
    }
}

impl Rows for Plugs {
    fn next(&mut self) -> Result<Option<Record>, RowsError> {
        loop {
            self.read();
            if self.ahead.front().is_none_or(|first| first.settled) {
                break;
            }
            self.settle();
        }
        if let Some(record) = self.give() {
            return Ok(Some(record));
        }
        let (exits, error) = self.end.replace((Vec::new(), None)).unwrap_or_default();
        self.exits = exits;
        error.map_or(Ok(None), Err)
    }

    fn exits(&self) -> &[Exit] {
        &self.exits
    }

    fn share_read(&self) -> Option<f64> {
        self.rows.share_read()
    }

    fn process(&self, issuer: Issuer) -> Option<String> {
        self.rows.process(issuer)
    }
}
