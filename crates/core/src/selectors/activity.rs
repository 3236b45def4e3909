//! The activity store: counts the requests of the current period, and which process made them.
//!
//! Each event is counted in constant time and forgotten; memory is fixed. A check at the end of a
//! period ([`Activity::close`]) gives the [`Summary`] and purges the store, as IOAZ's does (IOAZ §3.2).
//! Of each process the store keeps what must outlast a period: where its last request ended, when its
//! last one was done, and what is outstanding.

use alloc::vec::Vec;

use super::latencies::Latencies;
use super::summary::Summary;
use crate::collections::{OutOfMemory, TryBox, table};
use crate::request::{Direction, Request};
use crate::units::{Duration, Group, Instant, Issuer, Sector, Sectors};

/// Processes told apart at once: a power of two, for which 16 KiB of memory are enough.
const PLACES: usize = 256;
/// Places in which one process may be kept, so that finding it takes constant time. If all are taken, the process
/// goes that was silent longest.
const REACH: usize = 8;
/// How many periods a process is new. Then most of what is asked is the same as before it came, or it is another load.
pub(super) const FRESH: u32 = 3;
/// Requests this near, in sectors, to where the process's last one ended are local: 1 MiB, for which a head hardly
/// moves.
pub const LOCAL: u64 = 2048;

/// What is kept of a process.
#[derive(Clone, Copy)]
struct Process {
    key: u64,
    /// The last period in which it did something or waited; 0 for an empty place.
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
    /// Length of its last request, with the reads before it that it continues if it is a read.
    run: u32,
    /// When its last request was done.
    done: Instant,
    /// Bytes done for it in its last period.
    bytes: u64,
}

const NOBODY: Process = Process {
    key: 0,
    period: 0,
    since: 0,
    outstanding: 0,
    reads: 0,
    waits: Instant::ZERO,
    end: Sector(u64::MAX),
    run: 0,
    done: Instant::ZERO,
    bytes: 0,
};

/// Counts of the current period.
pub struct Activity {
    processes: Vec<Process>,
    period: u32,
    counts: Summary,
    latencies: TryBox<Latencies>,
    outstanding: u32,
    /// Since when there are any, or since this period began.
    busy_since: Instant,
    /// What is longer is pooled from several blocks.
    block: Sectors,
}

/// Who made a request. The processes of one group, such as a chain of children, count as one.
#[inline]
pub fn owner(issuer: Issuer, group: Group) -> u64 {
    if group == Group::UNKNOWN { u64::from(issuer.0) } else { 1 << 32 | u64::from(group.0) }
}

#[inline]
fn is_sync_read(request: &Request) -> bool {
    request.sync && request.direction() == Direction::Read
}

impl Activity {
    /// An empty store. What is longer than `block` is pooled from several blocks: a request, or the reads of a process
    /// that follow one another. Where IOAZ was made, read-ahead pools such reads before IOAZ sees them. Writes that a
    /// process waits for, such as a log's, are pooled with none.
    ///
    /// # Errors
    /// [`OutOfMemory`].
    pub fn new(block: Sectors) -> Result<Self, OutOfMemory> {
        Ok(Activity {
            processes: table(PLACES, NOBODY)?,
            period: 1,
            counts: Summary::default(),
            latencies: TryBox::room()?.keep(Latencies::default())?,
            outstanding: 0,
            busy_since: Instant::ZERO,
            block,
        })
    }

    /// The place of a process: its own, an empty one, or the one whose process was silent longest. A process
    /// that waits is not silent.
    #[inline]
    fn place(&mut self, key: u64) -> usize {
        let first = (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as usize;
        let home = first & (PLACES - 1);
        if self.processes[home].key == key && self.processes[home].period != 0 {
            return home;
        }
        self.search(key, home)
    }

    fn search(&mut self, key: u64, home: usize) -> usize {
        let mut best = home;
        for step in 0..REACH {
            let at = (home + step) & (PLACES - 1);
            let process = &self.processes[at];
            if process.period == 0 {
                best = at;
                break;
            }
            if process.key == key {
                return at;
            }
            let other = &self.processes[best];
            if (process.outstanding > 0, process.period) < (other.outstanding > 0, other.period) {
                best = at;
            }
        }
        let Process { period, since, bytes, .. } = self.processes[best];
        self.processes[best] = if period != 0 && self.period - period <= 1 {
            // More are active than there are places: whoever shares a place with others counts once with them.
            Process { key, period, since, bytes, ..NOBODY }
        } else {
            Process { key, ..NOBODY }
        };
        best
    }

    /// Counts the process as active in this period; true if it has been known for some periods.
    #[inline]
    fn enter(&mut self, at: usize) -> bool {
        let period = self.period;
        let process = &mut self.processes[at];
        let known = process.since != 0 && period - process.since >= FRESH;
        if process.period != period {
            if process.since == 0 {
                process.since = period;
            }
            (process.period, process.bytes) = (period, 0);
            self.counts.processes += 1;
        }
        known
    }

    /// A request reached the queue. `merged`: it became part of another one.
    #[inline]
    pub fn inserted(&mut self, now: Instant, request: &Request, merged: bool) {
        let at = self.asked(now, request, merged);
        let process = &mut self.processes[at];
        process.outstanding += 1;
        if is_sync_read(request) {
            if process.reads == 0 {
                process.waits = now;
            }
            process.reads += 1;
        }
        if self.outstanding == 0 {
            self.busy_since = now;
        }
        self.outstanding += 1;
    }

    /// `request` became part of a request that waits, and will be done with it.
    pub fn joined(&mut self, now: Instant, request: &Request) {
        self.asked(now, request, true);
    }

    /// A request goes away without being done, or became part of another one.
    pub fn left(&mut self, request: &Request) {
        let at = self.place(owner(request.issuer, request.group));
        let process = &mut self.processes[at];
        process.outstanding = process.outstanding.saturating_sub(1);
        process.reads = process.reads.saturating_sub(u32::from(is_sync_read(request)));
        self.outstanding = self.outstanding.saturating_sub(1);
    }

    /// Counts what is asked for, and returns the place of who asks.
    #[inline]
    fn asked(&mut self, now: Instant, request: &Request, merged: bool) -> usize {
        let at = self.place(owner(request.issuer, request.group));
        let known = self.enter(at);
        let process = &mut self.processes[at];
        let counts = &mut self.counts;
        let (continues, read) = (process.end == request.start, request.direction() == Direction::Read);
        counts.requests += 1;
        counts.reads += u64::from(read);
        counts.newcomers += u64::from(!known);
        counts.sync += u64::from(request.sync);
        process.run = request.length.0.saturating_add(if continues && read { process.run } else { 0 });
        counts.merged += u64::from(merged || process.run > self.block.0);
        counts.sequential += u64::from(continues);
        counts.local += u64::from(process.end.distance(request.start) <= LOCAL);
        counts.bytes += request.length.bytes();
        counts.outstanding += u64::from(self.outstanding);
        if process.outstanding == 0 && process.done > Instant::ZERO {
            counts.thinks += 1;
            counts.think_ns += now.since(process.done).0;
        }
        process.end = request.end();
        at
    }

    /// A request, as it was inserted, is done.
    #[inline]
    pub fn completed(&mut self, now: Instant, request: &Request) {
        let at = self.place(owner(request.issuer, request.group));
        self.enter(at);
        let process = &mut self.processes[at];
        let latency = now.since(request.arrival);
        let counts = &mut self.counts;
        counts.done += 1;
        counts.done_bytes += request.length.bytes();
        process.bytes += request.length.bytes();
        process.outstanding = process.outstanding.saturating_sub(1);
        process.done = now;
        self.outstanding = self.outstanding.saturating_sub(1);
        if self.outstanding == 0 {
            counts.busy += now.since(self.busy_since);
        }
        if is_sync_read(request) {
            self.latencies.record(latency);
            (process.reads, process.waits) = (process.reads.saturating_sub(1), now);
        }
    }

    /// Requests in the queue or in flight.
    pub fn outstanding(&self) -> u32 {
        self.outstanding
    }

    /// Bytes of memory that it holds beside itself.
    pub(super) fn memory(&self) -> usize {
        self.processes.len() * size_of::<Process>()
    }

    /// What the period, which lasted this long until `now`, showed. The store is empty afterwards.
    ///
    /// A process with requests outstanding is active, even if nothing came of it and nothing was done for it. A read
    /// that has waited for longer than the period counts among the latencies although it is not done. So a process that
    /// is starved is seen while it waits.
    pub fn close(&mut self, now: Instant, length: Duration) -> Summary {
        let period = self.period;
        for at in 0..PLACES {
            let Process { outstanding, reads, waits, .. } = self.processes[at];
            if outstanding > 0 {
                self.enter(at);
            }
            let waited = now.since(waits);
            if reads > 0 && waited > length {
                self.latencies.record(waited);
            }
        }
        if self.outstanding > 0 {
            self.counts.busy += now.since(core::mem::replace(&mut self.busy_since, now));
        }
        let shares =
            self.processes.iter().filter(|process| process.period == period).map(|process| process.bytes);
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
    use crate::tunables::Tunables as _;

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
        assert_eq!((next.requests, next.processes, next.done), (0, 2, 0), "both wait still");
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
                store.completed(Instant(2), &read(period * 40 + who, 0, 8));
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
    fn whoever_waits_with_a_full_queue_is_active() {
        let (mut store, second) = (store(), Duration::from_s(1));
        let write = |who| Request::write(Sector(u64::from(who) << 20), Sectors(8)).by(Issuer(who));
        (1..=12).for_each(|who| store.inserted(Instant(1), &write(who), false));
        assert_eq!(store.close(Instant(0) + second, second).processes, 12);
        for period in 2..=5 {
            let now = Instant(0) + second * period;
            for who in 1..=3 {
                store.completed(now, &write(who));
                store.inserted(now, &write(who), false);
            }
            let summary = store.close(now, second);
            assert_eq!((summary.processes, summary.slowest_bytes), (12, 0), "nine get nothing");
            assert_eq!(summary.jain_permille, 250, "three of twelve");
            assert_eq!(summary.newcomers > 0, period <= 3, "{} in period {period}", summary.newcomers);
        }
        (1..=12).for_each(|who| store.completed(Instant(0) + second * 5, &write(who)));
        assert_eq!(store.close(Instant(0) + second * 6, second).processes, 12);
        assert_eq!(store.close(Instant(0) + second * 7, second).processes, 0, "nobody waits");
    }

    #[test]
    fn whoever_waits_keeps_a_place_among_those_who_come_and_go() {
        let (mut store, second) = (store(), Duration::from_s(1));
        (0..8).for_each(|who| store.inserted(Instant(1), &read(who, 0, 8), false));
        store.close(Instant(0) + second, second);
        for who in 1000..3000 {
            store.inserted(Instant(2), &read(who, 0, 8), false);
            store.completed(Instant(3), &read(who, 0, 8));
        }
        store.close(Instant(0) + second * 2, second);
        assert_eq!(store.close(Instant(0) + second * 3, second).processes, 8);
    }

    /// The share of pooled requests among 50 reads of `length` sectors each.
    fn pooled(length: u32, place: impl Fn(u64) -> u64) -> u64 {
        let mut store = Activity::new(crate::selectors::Bounds::defaults().block()).unwrap();
        for n in 0..50 {
            let request = read(1, place(n) * u64::from(length), length);
            store.inserted(Instant(n), &request, false);
            store.completed(Instant(n), &request);
        }
        store.close(Instant(1_000_000_000), Duration::from_s(1)).merged_percent()
    }

    #[test]
    fn a_page_of_a_database_is_no_sequence() {
        for kib in [4, 8, 16] {
            assert_eq!(pooled(kib * 2, |n| n * 7919 % 5000), 0, "{kib} KiB at random");
        }
        for kib in [4, 8, 16, 32, 64, 128] {
            let share = pooled(kib * 2, |n| n);
            assert!(share >= 90, "{share} in a hundred of {kib} KiB in sequence");
        }
        let page = |n: u64| n / 4 * 7919 % 5000 * 4 + n % 4;
        assert_eq!(pooled(8, page), 0, "a page of 16 KiB in four pieces");
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
