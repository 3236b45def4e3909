//! The activity store: what was asked for in the current period, and by whom.
//!
//! Each event is counted in constant time and forgotten; memory is fixed. A look at the end of a
//! period ([`Activity::close`]) gives the [`Summary`] and purges the store, as IOAZ's does (IOAZ §3.2).
//! What must outlast a period is kept of each process: where its last request ended and when its
//! last one was done.

use alloc::vec::Vec;

use super::latencies::Latencies;
use super::summary::Summary;
use crate::collections::{OutOfMemory, table};
use crate::request::{Direction, Request};
use crate::units::{Duration, Group, Instant, Issuer, Sector, Sectors};

/// Processes told apart at once. A power of two.
const PLACES: usize = 256;
/// Places in which one process may be kept. Beyond them the one that was silent longest goes.
const REACH: usize = 8;
/// A process is new in so many periods.
const FRESH: u32 = 3;
/// Requests this near, in sectors, to where the process's last one ended are local: 1 MiB.
pub const LOCAL: u64 = 2048;

/// What is kept of a process.
#[derive(Clone, Copy)]
struct Person {
    key: u64,
    /// The last period in which it did something; 0 for an empty place.
    period: u32,
    /// The period in which it was first seen.
    since: u32,
    outstanding: u32,
    /// Synchronous reads among them.
    reads: u32,
    /// Since when it waits for the reads: since the first of them came, or one was done.
    waits: Instant,
    /// Where its last request ended.
    end: Sector,
    /// When its last request was done.
    done: Instant,
    /// Bytes done for it in its last period.
    bytes: u64,
}

const NOBODY: Person = Person {
    key: 0,
    period: 0,
    since: 0,
    outstanding: 0,
    reads: 0,
    waits: Instant::ZERO,
    end: Sector(u64::MAX),
    done: Instant::ZERO,
    bytes: 0,
};

/// Counts of the current period.
pub struct Activity {
    people: Vec<Person>,
    period: u32,
    counts: Summary,
    latencies: Latencies,
    outstanding: u32,
    /// Longer requests were made of several blocks.
    block: Sectors,
}

/// Whom a request is of, among all processes and groups: those of one group, such as a chain of children, count as one.
#[inline]
pub fn owner(issuer: Issuer, group: Group) -> u64 {
    if group == Group::UNKNOWN { u64::from(issuer.0) } else { 1 << 32 | u64::from(group.0) }
}

#[inline]
fn is_sync_read(request: &Request) -> bool {
    request.sync && request.direction() == Direction::Read
}

impl Activity {
    /// An empty store. Requests longer than `block` count as pooled from several.
    ///
    /// # Errors
    /// [`OutOfMemory`].
    pub fn new(block: Sectors) -> Result<Self, OutOfMemory> {
        Ok(Activity {
            people: table(PLACES, NOBODY)?,
            period: 1,
            counts: Summary::default(),
            latencies: Latencies::default(),
            outstanding: 0,
            block,
        })
    }

    /// The place of a process: its own, an empty one, or that of whoever was silent longest.
    #[inline]
    fn place(&mut self, key: u64) -> usize {
        let first = (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as usize;
        let home = first & (PLACES - 1);
        if self.people[home].key == key && self.people[home].period != 0 {
            return home;
        }
        self.search(key, home)
    }

    fn search(&mut self, key: u64, home: usize) -> usize {
        let mut best = home;
        for step in 0..REACH {
            let at = (home + step) & (PLACES - 1);
            let person = &self.people[at];
            if person.period == 0 {
                best = at;
                break;
            }
            if person.key == key {
                return at;
            }
            if person.period < self.people[best].period {
                best = at;
            }
        }
        let Person { period, since, bytes, .. } = self.people[best];
        self.people[best] = if period != 0 && self.period - period <= 1 {
            // More are active than there are places: whoever shares a place with others counts once with them.
            Person { key, period, since, bytes, ..NOBODY }
        } else {
            Person { key, ..NOBODY }
        };
        best
    }

    /// Counts the process as active in this period; true if it has been known for some periods.
    #[inline]
    fn enter(&mut self, at: usize) -> bool {
        let period = self.period;
        let person = &mut self.people[at];
        let known = person.since != 0 && period - person.since >= FRESH;
        if person.period != period {
            if person.since == 0 {
                person.since = period;
            }
            (person.period, person.bytes) = (period, 0);
            self.counts.processes += 1;
        }
        known
    }

    /// A request reached the queue. `merged`: it became part of another one.
    #[inline]
    pub fn inserted(&mut self, now: Instant, request: &Request, merged: bool) {
        let at = self.asked(now, request, merged);
        let person = &mut self.people[at];
        person.outstanding += 1;
        if is_sync_read(request) {
            if person.reads == 0 {
                person.waits = now;
            }
            person.reads += 1;
        }
        self.outstanding += 1;
    }

    /// This became part of a request that waits, and will be done with it.
    pub fn joined(&mut self, now: Instant, request: &Request) {
        self.asked(now, request, true);
    }

    /// A request goes away without being done, or became part of another one.
    pub fn left(&mut self, request: &Request) {
        let at = self.place(owner(request.issuer, request.group));
        let person = &mut self.people[at];
        person.outstanding = person.outstanding.saturating_sub(1);
        person.reads = person.reads.saturating_sub(u32::from(is_sync_read(request)));
        self.outstanding = self.outstanding.saturating_sub(1);
    }

    /// Counts what is asked for, and returns the place of who asks.
    #[inline]
    fn asked(&mut self, now: Instant, request: &Request, merged: bool) -> usize {
        let at = self.place(owner(request.issuer, request.group));
        let known = self.enter(at);
        let person = &mut self.people[at];
        let counts = &mut self.counts;
        counts.requests += 1;
        counts.newcomers += u64::from(!known);
        counts.reads += u64::from(request.direction() == Direction::Read);
        counts.sync += u64::from(request.sync);
        counts.merged += u64::from(merged || request.length > self.block);
        counts.sequential += u64::from(person.end == request.start);
        counts.local += u64::from(person.end.distance(request.start) <= LOCAL);
        counts.bytes += request.length.bytes();
        counts.outstanding += u64::from(self.outstanding);
        if person.outstanding == 0 && person.done > Instant::ZERO {
            counts.thinks += 1;
            counts.think_ns += now.since(person.done).0;
        }
        person.end = request.end();
        at
    }

    /// A request, as it was inserted, is done.
    #[inline]
    pub fn completed(&mut self, now: Instant, request: &Request) {
        let at = self.place(owner(request.issuer, request.group));
        self.enter(at);
        let person = &mut self.people[at];
        let latency = now.since(request.arrival);
        let counts = &mut self.counts;
        counts.done += 1;
        counts.done_bytes += request.length.bytes();
        person.bytes += request.length.bytes();
        person.outstanding = person.outstanding.saturating_sub(1);
        person.done = now;
        self.outstanding = self.outstanding.saturating_sub(1);
        if is_sync_read(request) {
            self.latencies.record(latency);
            (person.reads, person.waits) = (person.reads.saturating_sub(1), now);
        }
    }

    /// Requests in the queue or in flight.
    pub fn outstanding(&self) -> u32 {
        self.outstanding
    }

    /// Bytes of memory that it holds beside itself.
    pub(super) fn memory(&self) -> usize {
        self.people.len() * size_of::<Person>()
    }

    /// What the period, which lasted this long until `now`, showed. The store is empty afterwards.
    ///
    /// A read that has waited for longer than the period counts among the latencies although it is not done: who is
    /// starved by a scheduler would else not be seen before that is over.
    pub fn close(&mut self, now: Instant, length: Duration) -> Summary {
        let period = self.period;
        for person in self.people.iter().filter(|person| person.reads > 0) {
            let waited = now.since(person.waits);
            if waited > length {
                self.latencies.record(waited);
            }
        }
        let shares = self.people.iter().filter(|person| person.period == period).map(|person| person.bytes);
        let mut summary = core::mem::take(&mut self.counts);
        summary.length = length;
        summary.spread(shares);
        summary.sync_read_p99 = self.latencies.take_p99();
        self.period += 1;
        summary
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store() -> Activity {
        Activity::new(Sectors(8)).unwrap()
    }

    fn read(who: u32, start: u64, length: u32) -> Request {
        Request::read(Sector(start), Sectors(length)).by(Issuer(who))
    }

    #[test]
    fn a_period_is_counted_and_purged() {
        let mut store = store();
        let (a, b) = (read(1, 0, 8), read(1, 8, 16));
        store.inserted(Instant(10), &a, false);
        store.inserted(Instant(20), &b, false);
        store.completed(Instant(1_000_000), &a);
        let w = Request { issuer: Issuer(2), ..Request::write(Sector(9_000_000), Sectors(8)) };
        store.inserted(Instant(1_000_500), &w, true);
        let summary = store.close(Instant(1_000_000_000), Duration::from_s(1));
        assert_eq!((summary.requests, summary.reads, summary.sync, summary.processes), (3, 2, 2, 2));
        assert_eq!((summary.merged, summary.sequential), (2, 1), "one is long, one was merged");
        assert_eq!((summary.done, summary.done_bytes, summary.bytes), (1, 4096, 32 * 512));
        assert_eq!(summary.outstanding, 2, "none, the first, and the second when the third came");
        let next = store.close(Instant(1_000_000_000), Duration::from_s(1));
        assert_eq!((next.requests, next.processes, next.done), (0, 0, 0));
    }

    #[test]
    fn think_time_counts_from_when_a_process_has_nothing_outstanding() {
        let mut store = store();
        let one = read(1, 0, 8);
        store.inserted(Instant(10), &one, false);
        store.completed(Instant(100), &one);
        store.inserted(Instant(350), &read(1, 8, 8), false);
        store.inserted(Instant(360), &read(1, 16, 8), false);
        let summary = store.close(Instant(1_000_000_000), Duration::from_s(1));
        assert_eq!((summary.thinks, summary.think_ns), (1, 250));
    }

    #[test]
    fn processes_are_counted_however_many_there_were_before() {
        let mut store = store();
        for period in 0..50u32 {
            for who in 0..40 {
                store.inserted(Instant(1), &read(period * 40 + who, 0, 8), false);
            }
            let summary = store.close(Instant(1_000_000_000), Duration::from_s(1));
            assert!(summary.processes.abs_diff(40) <= 1, "{} in period {period}", summary.processes);
        }
    }

    #[test]
    fn what_joins_a_request_is_done_with_it() {
        let mut store = store();
        let (first, second) = (read(1, 0, 8), read(1, 8, 8));
        store.inserted(Instant(1), &first, false);
        store.joined(Instant(2), &second);
        assert_eq!(store.outstanding(), 1);
        store.inserted(Instant(3), &read(1, 100, 8), false);
        store.left(&read(1, 100, 8));
        store.completed(Instant(4), &Request { length: Sectors(16), ..first });
        assert_eq!(store.outstanding(), 0);
        let summary = store.close(Instant(9_000_000_000), Duration::from_s(9));
        assert_eq!((summary.requests, summary.merged, summary.sequential), (3, 1, 1));
        assert_eq!((summary.done, summary.done_bytes), (1, 8192));
        let later = store.close(Instant(18_000_000_000), Duration::from_s(9));
        assert_eq!(later.sync_read_p99, Duration::ZERO, "nobody waits");
    }

    #[test]
    fn a_crowd_that_stays_is_no_newcomer() {
        let (mut store, second) = (store(), Duration::from_s(1));
        for period in 1..=10 {
            for turn in 0..1200 {
                let request = read(turn % 400, 0, 8);
                store.inserted(Instant(1), &request, false);
                store.completed(Instant(2), &request);
            }
            let summary = store.close(Instant(0) + second * period, second);
            assert!((200..=256).contains(&summary.processes), "{}", summary.processes);
            assert!(period < 4 || summary.newcomers == 0, "{} in period {period}", summary.newcomers);
            assert!(summary.jain_permille > 850, "{}", summary.jain_permille);
        }
    }

    #[test]
    fn a_read_that_starves_is_seen_while_it_waits() {
        let (mut store, second) = (store(), Duration::from_s(1));
        store.inserted(Instant(0), &read(1, 0, 8), false);
        let mut p99 = |s: u64| store.close(Instant(0) + second * s, second).sync_read_p99;
        assert_eq!(p99(1), Duration::ZERO, "no longer than the period");
        assert!(p99(3) >= second * 3);
        store.completed(Instant(0) + second * 3, &read(1, 0, 8));
        store.close(Instant(0) + second * 4, second);
        assert_eq!(store.close(Instant(0) + second * 9, second).sync_read_p99, Duration::ZERO, "it is done");
    }

    #[test]
    fn children_of_one_group_are_one_process() {
        let mut store = store();
        for who in 1..=5 {
            store.inserted(Instant(1), &Request { group: Group(9), ..read(who, 0, 8) }, false);
        }
        assert_eq!(store.close(Instant(1_000_000_000), Duration::from_s(1)).processes, 1);
    }

    #[test]
    fn fairness_and_the_slowest_process_come_from_what_was_done() {
        let mut store = store();
        for (who, times) in [(1, 3), (2, 1)] {
            for _ in 0..times {
                store.inserted(Instant(1), &read(who, 0, 8), false);
                store.completed(Instant(2), &read(who, 0, 8));
            }
        }
        let summary = store.close(Instant(1_000_000_000), Duration::from_s(1));
        assert_eq!((summary.slowest_bytes, summary.fastest_bytes), (4096, 3 * 4096));
        assert_eq!(summary.jain_permille, 800, "(1 + 3)² / 2 (1² + 3²)");
    }
}
