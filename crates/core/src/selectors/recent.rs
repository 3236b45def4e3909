//! The latest requests, as they really were: what a prediction is made from.
//!
//! A ring of fixed size, and beside it what is outstanding for longer than the ring goes back. With what was
//! outstanding of its process when each request came, the requests can be played again on another disk or under another
//! scheduler, where everything takes another time (`closed loop`).

use alloc::vec::Vec;
use core::num::NonZeroU64;

use crate::collections::{OutOfMemory, table};
use crate::request::{Operation, Priority, Request};
use crate::units::{Group, Instant, Issuer, RequestId, Sector, Sectors};

/// Rows kept: more than ten seconds of 2000 requests a second.
pub const ROWS: usize = 20_480;
/// Rows kept of those that are older than the ring.
const STARVING: usize = 256;
/// Exits remembered.
const EXITS: usize = 256;

/// One of the latest requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// When it came.
    pub arrival: Instant,
    /// When the disk got it; `None` if it has not yet, if it was merged with another one, or if nobody has told.
    pub dispatched: Option<NonZeroU64>,
    /// When it was done; `None` while it is outstanding.
    pub done: Option<NonZeroU64>,
    /// First sector.
    pub start: Sector,
    /// Length.
    pub length: Sectors,
    /// Who issued it.
    pub issuer: Issuer,
    /// What its issuer belongs to.
    pub group: Group,
    /// What it asks for.
    pub operation: Operation,
    /// The request's I/O priority.
    pub priority: Priority,
    /// Somebody waits for it.
    pub sync: bool,
}

impl Row {
    /// The request, as it was inserted.
    pub fn request(&self) -> Request {
        Request {
            arrival: self.arrival,
            start: self.start,
            length: self.length,
            issuer: self.issuer,
            group: self.group,
            operation: self.operation,
            priority: self.priority,
            sync: self.sync,
            // As hosts send them.
            past: self.operation == Operation::Flush,
            ..Request::default()
        }
    }
}

/// The ring.
pub struct Recent {
    rows: Vec<Row>,
    /// Rows written so far; row `n` lies at `n % ROWS`.
    written: u64,
    /// The number of the row of each outstanding request, by id: its lower half.
    by_id: Vec<u32>,
    /// Rows that are outstanding and were written over, oldest first.
    starving: Vec<Row>,
    /// Processes that exited lately, and when: a ring.
    gone: Vec<(Issuer, Instant)>,
    exits: usize,
}

impl Recent {
    /// An empty ring for request ids below `capacity`.
    ///
    /// # Errors
    /// [`OutOfMemory`].
    pub fn new(capacity: usize) -> Result<Self, OutOfMemory> {
        let mut starving = Vec::new();
        starving.try_reserve_exact(STARVING).map_err(|_| OutOfMemory)?;
        Ok(Recent {
            starving,
            rows: table(ROWS, Row::default())?,
            written: 0,
            by_id: table(capacity, 0)?,
            gone: table(EXITS, (Issuer::UNKNOWN, Instant::ZERO))?,
            exits: 0,
        })
    }

    /// A request came, as `id`.
    #[inline]
    pub fn inserted(&mut self, id: RequestId, request: &Request) {
        let at = (self.written % ROWS as u64) as usize;
        let Request { arrival, start, length, issuer, group, operation, priority, sync, .. } = *request;
        let old = self.rows[at];
        if old.done.is_none() && self.written >= ROWS as u64 && self.starving.len() < STARVING {
            self.starving.push(old);
        }
        let (dispatched, done) = (None, None);
        self.rows[at] =
            Row { arrival, dispatched, done, start, length, issuer, group, operation, priority, sync };
        self.by_id[id.index()] = self.written as u32;
        self.written += 1;
    }

    /// The disk gets the request that came as `id`, with what was merged into it.
    #[inline]
    pub fn dispatched(&mut self, now: Instant, id: RequestId) {
        if let Some(row) = self.row(id) {
            row.dispatched = NonZeroU64::new(now.0);
        }
    }

    /// The row of the request that came as `id`, if it was not written over since.
    #[inline]
    fn row(&mut self, id: RequestId) -> Option<&mut Row> {
        let age = u64::from((self.written as u32).wrapping_sub(self.by_id[id.index()]));
        (age <= ROWS as u64).then(|| &mut self.rows[((self.written - age) % ROWS as u64) as usize])
    }

    /// The request that came as `id` is done.
    #[inline]
    pub fn completed(&mut self, now: Instant, id: RequestId, request: &Request) {
        let same = |row: &Row| row.arrival == request.arrival && row.start == request.start;
        if let Some(row) = self.row(id) {
            row.done = NonZeroU64::new(now.0);
        } else if let Some(place) = self.starving.iter().position(same) {
            self.starving.remove(place);
        }
    }

    /// A process exited: nobody will issue such requests any more.
    pub fn gone(&mut self, now: Instant, who: Issuer) {
        self.gone[self.exits % EXITS] = (who, now);
        self.exits += 1;
    }

    /// Whether the process that issued `row` has exited since, with all that it belongs to.
    pub fn has_gone(&self, row: &Row) -> bool {
        let exited = |(who, at): &(Issuer, Instant)| *who == row.issuer && *at >= row.arrival;
        row.group == Group::UNKNOWN && self.gone[..self.exits.min(EXITS)].iter().any(exited)
    }

    /// Bytes of memory that it holds.
    pub fn memory(&self) -> usize {
        (ROWS + STARVING) * size_of::<Row>()
            + self.by_id.len() * size_of::<u32>()
            + EXITS * size_of::<(Issuer, Instant)>()
    }

    /// The rows that came at `since` or later, oldest first.
    pub fn since(&self, since: Instant) -> impl Iterator<Item = &Row> + '_ {
        let kept = self.written.min(ROWS as u64);
        let first = self.written - kept;
        let rows = (first..self.written).map(|number| &self.rows[(number % ROWS as u64) as usize]);
        self.starving.iter().chain(rows).skip_while(move |row| row.arrival < since)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_rows_are_kept_in_order() {
        let mut recent = Recent::new(4).unwrap();
        for n in 1..=ROWS as u64 + 100 {
            let request = Request { arrival: Instant(n), ..Request::read(Sector(n), Sectors(8)) };
            recent.inserted(RequestId((n % 4) as u32), &request);
            recent.dispatched(Instant(n + 2), RequestId((n % 4) as u32));
            recent.completed(Instant(n + 5), RequestId((n % 4) as u32), &request);
        }
        let kept: Vec<u64> = recent.since(Instant(0)).map(|row| row.start.0).collect();
        assert_eq!((kept.len(), kept[0], kept[ROWS - 1]), (ROWS, 101, ROWS as u64 + 100));
        let times = |row: &Row| [row.dispatched, row.done].map(|at| at.unwrap().get() - row.arrival.0);
        assert!(recent.since(Instant(0)).all(|row| times(row) == [2, 5]));
        assert_eq!(recent.since(Instant(ROWS as u64 + 91)).count(), 10);
    }

    #[test]
    fn what_waits_for_longer_than_the_ring_goes_back_is_kept() {
        let mut recent = Recent::new(4).unwrap();
        let patient = Request { arrival: Instant(1), ..Request::read(Sector(7), Sectors(8)) };
        recent.inserted(RequestId(0), &patient);
        for n in 2..=ROWS as u64 * 2 {
            let request = Request { arrival: Instant(n), ..Request::read(Sector(n), Sectors(8)) };
            recent.inserted(RequestId(1), &request);
            recent.completed(Instant(n + 5), RequestId(1), &request);
        }
        recent.dispatched(Instant(ROWS as u64 * 2 + 8), RequestId(0));
        assert!(recent.since(Instant(0)).all(|row| row.dispatched.is_none()), "it is nobody else's");
        let first = |recent: &Recent| *recent.since(Instant(0)).next().unwrap();
        assert_eq!((first(&recent).start, first(&recent).done), (Sector(7), None));
        recent.completed(Instant(ROWS as u64 * 2 + 9), RequestId(0), &patient);
        assert!(first(&recent).start > Sector(7), "it waits no more");
    }

    #[test]
    fn a_row_fits_a_mebibyte() {
        assert!(ROWS * size_of::<Row>() <= (1 << 20) - (1 << 16), "{} bytes", size_of::<Row>());
    }

    #[test]
    fn requests_of_those_who_left_are_marked() {
        let mut recent = Recent::new(4).unwrap();
        for (at, who) in [(1, 1), (2, 2), (9, 1)] {
            let request = Request { arrival: Instant(at), ..Request::read(Sector(0), Sectors(8)) };
            recent.inserted(RequestId(0), &request.by(Issuer(who)));
        }
        recent.gone(Instant(5), Issuer(1));
        let left: Vec<u64> =
            recent.since(Instant(0)).filter(|row| !recent.has_gone(row)).map(|row| row.arrival.0).collect();
        assert_eq!(left, [2, 9], "a number may be given to another process");
    }
}
