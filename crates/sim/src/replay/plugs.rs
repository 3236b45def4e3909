//! Requests that reached the queue together.
//!
//! Linux holds back what a process issues in a row, behind a *plug*, where neighbours merge. The queue gets all of it when the
//! last part was issued. A trace tells when each part was issued, and that parts went to the disk as one command. A queue
//! that got the parts one by one would send the first alone and the others behind it.
//!
//! So the parts of a command that one process issued within [`BATCH`] come at one time, when the last of them was issued,
//! and so does what the process issued between them and was held back as long.

use std::collections::VecDeque;

use idlewise_core::Issuer;

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
}

impl Plugs {
    pub(super) fn new(rows: Box<dyn Rows>) -> Plugs {
        Plugs { rows, ahead: VecDeque::new(), exits_ahead: VecDeque::new(), end: None, exits: Vec::new() }
    }

    /// Reads on until no row can come that was issued with the first.
    fn read(&mut self) {
        let enough = |ahead: &VecDeque<Ahead>| {
            let (Some(first), Some(last)) = (ahead.front(), ahead.back()) else { return false };
            first.settled
                || first.record.dispatched.is_none()
                || last.record.arrival.since(first.record.arrival) > BATCH
                || ahead.len() >= AHEAD
        };
        while self.end.is_none() && !enough(&self.ahead) {
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

    /// Has what was behind one plug with the first row come together.
    fn settle(&mut self) {
        let Some(first) = self.ahead.front_mut() else { return };
        first.settled = true;
        let first = first.record;
        if first.dispatched.is_none() || first.length.0 == 0 {
            return;
        }
        let command = |record: &Record| (record.device, record.issuer, record.dispatched, record.completed);
        let part = |record: &Record| {
            command(record) == command(&first)
                && record.operation == first.operation
                && record.arrival.since(first.arrival) <= BATCH
        };
        let last = self.ahead.iter().rev().find(|ahead| part(&ahead.record));
        let latest = last.map_or(first.arrival, |last| last.record.arrival);
        if latest == first.arrival {
            return;
        }
        for Ahead { record, settled } in &mut self.ahead {
            let own = (record.device, record.issuer) == (first.device, first.issuer);
            if own && record.arrival <= latest && record.dispatched.is_some_and(|at| at >= latest) {
                (record.arrival, *settled) = (latest, true);
            }
        }
        // What others issued meanwhile came before. Exits keep their place in time.
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
            self.exits = self.exits_ahead.pop_front().unwrap_or_default();
            return Ok(Some(next.record));
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
