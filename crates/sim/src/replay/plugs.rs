//! Requests that reached the queue together.
//!
//! Linux keeps what a process issues in a row behind a *plug*, where neighbours merge, and hands it over at once: to the
//! queue all of it comes when the last part was issued. A trace tells when each part was issued, and that parts went to
//! the disk as one command. A queue that got them one by one would send the first part alone and the others behind it.
//!
//! Parts of a command that one process issued within [`BATCH`] come at the same time, when the latest of them was issued.

use std::collections::VecDeque;

use idlewise_core::Issuer;

use super::{Rows, RowsError};
use crate::traces::infer::BATCH;
use crate::traces::{Exit, Record};

/// A row that is read ahead.
struct Ahead {
    record: Record,
    /// Exits between the row before it in the trace and this one.
    exits: Vec<Exit>,
    /// Its arrival is what it stays.
    settled: bool,
}

/// Rows whose parts come together. Holds as many rows as come within [`BATCH`].
pub(super) struct Plugs {
    rows: Box<dyn Rows>,
    ahead: VecDeque<Ahead>,
    /// What comes after the rows ahead: the end, and the exits before it, or what keeps the trace from being read on.
    end: Option<Result<Vec<Exit>, RowsError>>,
    /// Exits that belong to the row last given, or to the end.
    exits: Vec<Exit>,
}

impl Plugs {
    pub(super) fn new(rows: Box<dyn Rows>) -> Plugs {
        Plugs { rows, ahead: VecDeque::new(), end: None, exits: Vec::new() }
    }

    /// Reads on until nothing that comes can be issued with the first row.
    fn read(&mut self) {
        let far = |ahead: &VecDeque<Ahead>| {
            let (first, last) = (ahead.front(), ahead.back());
            let times = first.zip(last).map(|(first, last)| (first.record.arrival, last.record.arrival));
            times.is_some_and(|(first, last)| last.since(first) > BATCH)
        };
        while self.end.is_none() && !far(&self.ahead) {
            let row = self.rows.next();
            let exits = self.rows.exits().to_vec();
            match row {
                Ok(Some(record)) => self.ahead.push_back(Ahead { record, exits, settled: false }),
                Ok(None) => self.end = Some(Ok(exits)),
                Err(error) => self.end = Some(Err(error)),
            }
        }
    }

    /// Has the parts of the first row's command come together.
    fn settle(&mut self) {
        let Some(first) = self.ahead.front_mut() else { return };
        if std::mem::replace(&mut first.settled, true) || first.record.dispatched.is_none() {
            return;
        }
        let first = first.record;
        let together = |ahead: &Ahead| {
            let Record { device, issuer, operation, dispatched, completed, .. } = ahead.record;
            (device, issuer, operation) == (first.device, first.issuer, first.operation)
                && (dispatched, completed) == (first.dispatched, first.completed)
                && first.length.0 > 0
        };
        let Some(last) = self.ahead.iter().rev().find(|ahead| together(ahead)) else { return };
        let latest = last.record.arrival.min(first.arrival + BATCH);
        if latest == first.arrival {
            return;
        }
        for part in self.ahead.iter_mut().filter(|ahead| together(ahead)) {
            if part.record.arrival <= latest {
                (part.record.arrival, part.settled) = (latest, true);
            }
        }
        // What others issued meanwhile came before.
        self.ahead.make_contiguous().sort_by_key(|ahead| ahead.record.arrival);
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
        if let Some(next) = self.ahead.pop_front() {
            self.exits = next.exits;
            return Ok(Some(next.record));
        }
        self.exits = match self.end.replace(Ok(Vec::new())) {
            Some(end) => end?,
            None => Vec::new(),
        };
        Ok(None)
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
