//! What a recording shows of a disk: commands with the time at which the disk got each, and when it was done.
//!
//! A command's service time runs from its dispatch to its completion. A row that was alone in the disk shows what the
//! command took; rows beside others show how the disk shares its time.

use idlewise_core::Operation;

use crate::traces::Record;

/// Fewer rows than this show nothing.
const FEWEST: usize = 200;

/// A command this near to one of the last [`RECENT`] may be in the buffer, in sectors.
const NEAR: u64 = 1024;
const RECENT: usize = 16;

/// Writes past the buffer take this many times what others take: on platters it is a hundred times, on flash ten.
const FUA_TIMES: u64 = 4;

/// So many commands show something at all.
pub(super) const SOME: usize = 40;

/// A read far from the one before takes that long on platters, in ns: half a revolution of the fastest disk. Flash is
/// far below.
pub(super) const PLATTERS_NS: u64 = 1_500_000;

/// One command of a recording. Times are nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// When the disk got it.
    pub issued: u64,
    /// When it was done.
    pub done: u64,
    /// What it asked for.
    pub operation: Operation,
    /// First sector.
    pub start: u64,
    /// Length in sectors; 0 for a flush.
    pub sectors: u32,
    /// Commands that the disk held when it came.
    pub beside: u32,
    /// No other command was in the disk from its dispatch to its completion.
    pub alone: bool,
    /// A write that was done when the medium had it, although others are done in the buffer.
    pub fua: bool,
    /// How long after the last completion before it; after the first row, if there was no completion.
    pub gap: u64,
}

impl Row {
    /// From dispatch to completion.
    pub fn service(&self) -> u64 {
        self.done - self.issued
    }

    /// Address after the last sector.
    pub fn end(&self) -> u64 {
        self.start + u64::from(self.sectors)
    }

    /// It moves data.
    pub fn moves_data(&self) -> bool {
        matches!(self.operation, Operation::Read | Operation::Write)
    }
}

/// Why a recording does not show a disk.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum FitError {
    /// There are no service times.
    #[error(
        "none of the {rows} rows says when its command was done, so that the disk cannot be seen; record completions too \
         (`idlewise record`, or blktrace with the actions queue, issue and complete)"
    )]
    NoTimes { rows: usize },
    /// There is too little.
    #[error(
        "{rows} reads and writes with a service time; a fit needs {FEWEST} or more, 5000 are good: record for longer"
    )]
    TooFew { rows: usize },
    /// All commands are for one place.
    #[error(
        "all {rows} commands lie within {span} sectors: that shows the buffer and not the disk; record a load that \
         goes to other places, or measure the disk with `idlewise disk calibrate`"
    )]
    OnePlace { rows: usize, span: u64 },
    /// Commands take no time, as in a trace with coarse time stamps.
    #[error(
        "the median service time is {median_ns} ns: the recording's clock is too coarse, or no disk was asked"
    )]
    NoTime { median_ns: u64 },
    /// Several disks are in it.
    #[error("the recording has {devices} devices; choose one with --device")]
    Devices { devices: usize },
    /// What came of the fit is no profile.
    #[error("the fitted model is no profile: {message}; please report the recording")]
    Profile { message: String },
}

/// The rows of a recording in the order in which the disk got them.
///
/// # Errors
/// The recording does not show a disk: [`FitError`].
pub fn rows(records: &[Record]) -> Result<Vec<Row>, FitError> {
    let told = records.iter().any(|record| record.durable.itself);
    let mut rows: Vec<Row> = Vec::with_capacity(records.len());
    for record in records {
        let (Some(done), issued) = (record.completed, record.dispatched.unwrap_or(record.arrival)) else {
            continue;
        };
        let row = Row {
            issued: issued.0,
            done: done.0.max(issued.0),
            operation: record.operation,
            start: record.start.0,
            sectors: record.length.0,
            beside: 0,
            alone: true,
            fua: if told { record.durable.itself } else { record.sync && record.metadata },
            gap: 0,
        };
        // The kernel has the disk flushed when a durable write comes, and traces tell of the write alone.
        if record.durable.before && record.arrival < issued {
            let (issued, done, operation) = (record.arrival.0, row.issued, Operation::Flush);
            rows.push(Row { issued, done, operation, start: 0, sectors: 0, fua: false, ..row });
        }
        rows.push(row);
    }
    if rows.is_empty() {
        return Err(FitError::NoTimes { rows: records.len() });
    }
    join(&mut rows);
    link(&mut rows);
    if told {
        believe(&mut rows);
    } else {
        past_buffer(&mut rows);
    }
    check(&rows)?;
    Ok(rows)
}

/// Puts the rows in order. Requests that were merged are one command, which the disk got and finished at one time.
fn join(rows: &mut Vec<Row>) {
    rows.sort_by_key(|row| (row.issued, row.done, row.start));
    rows.dedup_by(|part, row| {
        let one = (part.issued, part.done, part.operation, part.start)
            == (row.issued, row.done, row.operation, row.end());
        let part_of = one && part.moves_data();
        row.sectors += if part_of { part.sectors } else { 0 };
        part_of
    });
}

/// Fills in which rows are alone, how many others each one met, and how long it came after a completion.
pub(super) fn link(rows: &mut [Row]) {
    let mut ends: Vec<u64> = rows.iter().map(|row| row.done).collect();
    ends.sort_unstable();
    let (mut ended, mut latest) = (0, 0);
    let began = rows.first().map_or(0, |row| row.issued);
    for index in 0..rows.len() {
        let issued = rows[index].issued;
        // A row that took no time ends before it begins to count.
        while ended < index && ends[ended] <= issued {
            ended += 1;
        }
        rows[index].gap = issued - ended.checked_sub(1).map_or(began, |last| ends[last]);
        rows[index].beside = (index - ended) as u32;
        let next = rows.get(index + 1).map_or(u64::MAX, |next| next.issued);
        rows[index].alone = latest <= issued && rows[index].done <= next;
        latest = latest.max(rows[index].done);
    }
}

/// The usual service time of the writes that met nothing else and are `chosen`; `None` if there are none.
fn usual(rows: &[Row], chosen: impl Fn(&Row) -> bool) -> Option<u64> {
    let alone = |row: &&Row| row.operation == Operation::Write && row.beside == 0;
    let mut times: Vec<u64> = rows.iter().filter(alone).filter(|row| chosen(row)).map(Row::service).collect();
    times.sort_unstable();
    times.get(times.len() / 2).copied()
}

/// Takes the marks away if the marked writes take no longer than others: the disk cannot force a write, and Linux
/// flushes it afterwards.
fn believe(rows: &mut [Row]) {
    let forced = usual(rows, |row| row.fua);
    if let (Some(forced), Some(others)) = (forced, usual(rows, |row| !row.fua))
        && forced <= FUA_TIMES * others
    {
        rows.iter_mut().for_each(|row| row.fua = false);
    }
}

/// Marks the writes that must not end in the buffer, in a trace that does not tell: a log is made safe by such a write.
/// Who waits for metadata, or just had the disk flushed, writes a log, and they take far longer than what is buffered.
fn past_buffer(rows: &mut [Row]) {
    let Some(usual) = usual(rows, |_| true) else { return };
    let mut flushed = false;
    for row in rows {
        let alone = row.operation == Operation::Write && row.beside == 0;
        row.fua = (row.fua || flushed) && alone && row.service() > FUA_TIMES * usual;
        flushed = row.operation == Operation::Flush;
    }
}

fn check(rows: &[Row]) -> Result<(), FitError> {
    let data: Vec<&Row> = rows.iter().filter(|row| row.moves_data() && row.sectors > 0).collect();
    if data.len() < FEWEST {
        return Err(FitError::TooFew { rows: data.len() });
    }
    let mut services: Vec<u64> = data.iter().map(|row| row.service()).collect();
    services.sort_unstable();
    let median_ns = services[services.len() / 2];
    if median_ns < 1000 {
        return Err(FitError::NoTime { median_ns });
    }
    let first = data.iter().map(|row| row.start).min().unwrap_or(0);
    let last = data.iter().map(|row| row.end()).max().unwrap_or(0);
    let longest = data.iter().map(|row| u64::from(row.sectors)).max().unwrap_or(0);
    if last - first <= 4 * longest {
        return Err(FitError::OnePlace { rows: data.len(), span: last - first });
    }
    Ok(())
}

/// Commands near one of the last ones, which the buffer may have: reads after reads.
pub(super) fn near_reads(rows: &[Row]) -> usize {
    (1..rows.len())
        .filter(|&index| {
            let row = &rows[index];
            let recent = &rows[index.saturating_sub(RECENT)..index];
            row.operation == Operation::Read
                && recent
                    .iter()
                    .any(|old| old.operation == Operation::Read && old.end().abs_diff(row.start) <= NEAR)
        })
        .count()
}
