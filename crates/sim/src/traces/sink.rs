//! Where readers put records: checked, counted, put in order.

use crate::traces::counts::{Grain, Skip, Skips};
use crate::traces::error::Bad;
use crate::traces::findings::Findings;
use crate::traces::names::{Devices, Processes};
use crate::traces::order::{Disorder, Reorder, Timed};
use crate::traces::record::{Exit, Record};
use idlewise_core::{Instant, Operation, Sector, Sectors};

/// A trace that spans more is read with the wrong unit: 100 years in nanoseconds.
const MAX_SPAN: u64 = 100 * 365 * 86_400 * 1_000_000_000;

/// What a line turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Row {
    /// A row of the format, whether or not a record came of it.
    Data,
    /// A header, a comment, a summary: not counted.
    Comment,
}

/// What comes out of a sink.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    Request(Record),
    Exit(Exit),
}

impl Timed for Entry {
    #[inline]
    fn time(&self) -> u64 {
        match self {
            Entry::Request(record) => record.arrival.0,
            Entry::Exit(exit) => exit.at.0,
        }
    }

    fn set_time(&mut self, time: u64) {
        match self {
            Entry::Request(record) => record.arrival = Instant(time),
            Entry::Exit(exit) => exit.at = Instant(time),
        }
    }
}

/// Takes records and exits from a reader and gives them out in order of time.
pub(crate) struct Sink {
    order: Reorder<Entry>,
    first: Option<u64>,
    pub(crate) devices: Devices,
    pub(crate) processes: Processes,
    /// What readers count, for the report.
    pub(crate) report: Findings,
    pub(crate) skips: Skips,
    pub(crate) grain: Grain,
    /// Merged requests become one record; otherwise each keeps its own.
    pub(crate) fold_merges: bool,
}

impl Sink {
    /// Holds `window` records to put them in order; keeps the devices in `wanted`.
    pub(crate) fn new(window: usize, wanted: Option<Vec<String>>, fold_merges: bool) -> Sink {
        Sink {
            order: Reorder::new(window),
            first: None,
            devices: Devices::new(wanted),
            processes: Processes::default(),
            report: Findings::default(),
            skips: Skips::default(),
            grain: Grain::default(),
            fold_merges,
        }
    }

    /// Takes a record. Times are absolute here, in nanoseconds since the format's own origin.
    #[inline]
    pub(crate) fn push(&mut self, mut record: Record) -> Result<(), Bad<'static>> {
        if record.operation == Operation::Flush {
            // Some formats give a range to flush; a disk flushes all.
            (record.start, record.length) = (Sector(0), Sectors(0));
        } else if record.length.0 == 0 {
            self.skips.skip(Skip::ZeroLength);
            return Ok(());
        }
        let time = record.arrival.0;
        let first = *self.first.get_or_insert(time);
        if time.abs_diff(first) > MAX_SPAN {
            return Err(Bad {
                what: "this row is more than 100 years from the first one",
                text: b"",
                cure: "check the unit of the time column, or say --format NAME",
            });
        }
        self.grain = self.grain.with(time);
        if record.group.is_none() {
            record.group = record.issuer.and_then(|issuer| self.processes.group(issuer));
        }
        self.order.push(Entry::Request(record));
        Ok(())
    }

    /// Takes what a row tells, unless its device is not wanted. `aligned`: its extent was whole sectors.
    #[inline]
    pub(crate) fn take(
        &mut self,
        device: Option<u32>,
        aligned: bool,
        record: Record,
    ) -> Result<Row, Bad<'static>> {
        let Some(device) = device else { return self.left_out(Skip::OtherDevice) };
        self.report.unaligned_rows += u64::from(!aligned);
        self.push(Record { device, ..record })?;
        Ok(Row::Data)
    }

    /// Counts a row that gives no record.
    #[inline]
    pub(crate) fn left_out(&mut self, reason: Skip) -> Result<Row, Bad<'static>> {
        self.skips.skip(reason);
        Ok(Row::Data)
    }

    /// Takes an exit. Before the first request there is nobody whose exit matters.
    pub(crate) fn push_exit(&mut self, exit: Exit) {
        if self.first.is_some() {
            self.order.push(Entry::Exit(exit));
        }
    }

    /// Enough is held that [`pop`](Sink::pop) will give something.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.order.is_full()
    }

    /// Nothing is held.
    pub(crate) fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// The next record or exit in order of time. With `last`, none is to follow.
    #[inline]
    pub(crate) fn pop(&mut self, last: bool) -> Option<Entry> {
        self.order.pop(last)
    }

    /// What came out of order.
    pub(crate) fn disorder(&self) -> Disorder {
        self.order.disorder()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_rows_are_counted_and_absurd_spans_refused() {
        let mut sink = Sink::new(10, None, false);
        sink.push(Record::read(Instant(5), Sector(1), Sectors(0))).unwrap();
        assert_eq!(sink.skips.words(), "1 of no length");
        sink.push(Record::read(Instant(5), Sector(1), Sectors(1))).unwrap();
        let far = Record::read(Instant(5 + MAX_SPAN + 1), Sector(1), Sectors(1));
        assert!(sink.push(far).unwrap_err().what.contains("100 years"));
        assert_eq!(sink.pop(true).map(|entry| entry.time()), Some(5));
        assert!(sink.pop(true).is_none());
    }
}
