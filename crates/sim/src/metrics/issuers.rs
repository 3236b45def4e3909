//! What each process got. Processes of one group are counted as one, under the group's number: a
//! chain of short-lived children is one line of a report.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use idlewise_core::{Group, Instant, Issuer, Operation, Request, SECTOR_BYTES, Weight};
use rustc_hash::FxHasher;

use super::declare::figures;
use super::looks::looks;
use super::small_histogram::SmallHistogram;

/// Processes that a report lists by themselves; the others are added up in one row.
const LISTED: usize = 256;

/// Processes that are told apart; beyond it, newcomers are counted with the last one.
const MOST: usize = 16_384;

/// Issuers below this are found without hashing.
const NEAR: usize = 1024;
const NONE: u32 = u32::MAX;

/// A process to report on, of all that were served for `all_ns`.
struct Process<'a> {
    id: Issuer,
    name: Option<String>,
    weight: Weight,
    tally: &'a Tally,
    all_ns: u64,
}

figures! {
    /// What one process got; processes that a parent started one after the other are one, under the parent's id.
    IssuerShare "issuer" from one: Process<'_> {
        /// The process's id.
        id: u32 = one.id.0, Id;
        /// The process's name, if known.
        name: Option<String> = one.name, Name;
        /// The process's weight for schedulers that share disk time by weights; 100 unless set.
        weight: u32 = one.weight.get(), Weight;
        /// Requests completed.
        requests: u64 = one.tally.requests, Count;
        /// Bytes moved.
        bytes: u64 = one.tally.bytes, Bytes;
        /// Device time spent on the process. What a drive writes from its cache after it has completed the write counts
        /// for nobody.
        service_ns: u64 = one.tally.service_ns, Seconds;
        /// The process's device time as a share of all processes'.
        service_share: f64 = one.tally.service_ns as f64 / one.all_ns.max(1) as f64, Share;
        /// When the last request was done.
        finished_ns: u64 = one.tally.finished.0, Seconds;
        /// Mean latency of reads and writes.
        latency_ns_mean: f64 = one.tally.latency_ns as f64 / one.tally.transfers.max(1) as f64, Millis;
        /// Median latency, within 3 %.
        latency_ns_p50: u64 = one.tally.latency.quantile(0.5), Millis;
        /// 95th percentile, within 3 %.
        latency_ns_p95: u64 = one.tally.latency.quantile(0.95), Millis;
        /// 99th percentile, within 3 %.
        latency_ns_p99: u64 = one.tally.latency.quantile(0.99), Millis;
        /// The longest.
        latency_ns_max: u64 = one.tally.latency.max(), Millis;
        /// When the request was issued that took longest.
        longest_issued_ns: u64 = one.tally.longest_issued.0, Seconds;
        /// 99th percentile of the latencies of reads, within 3 %; 0 if there were none. A read counts again for each tenth
        /// of a second of waiting, so that starvation shows.
        read_latency_ns_p99: u64 = one.tally.read_p99(), Millis;
    }
}

#[derive(Clone, Debug, Default)]
struct Tally {
    requests: u64,
    /// Reads and writes among the requests.
    transfers: u64,
    bytes: u64,
    service_ns: u64,
    /// Of that, what it was given while another process had requests outstanding.
    contended_ns: u64,
    outstanding: u32,
    latency_ns: u128,
    latency: SmallHistogram,
    /// When the request was issued that took longest.
    longest_issued: Instant,
    /// The latencies of reads, as whoever looked each tenth of a second would have seen them.
    reads: Option<SmallHistogram>,
    finished: Instant,
}

impl Tally {
    fn read_p99(&self) -> u64 {
        self.reads.as_ref().map_or(0, |reads| reads.quantile(0.99))
    }

    /// Counts what `other` got, too.
    fn add(&mut self, other: &Tally) {
        self.requests += other.requests;
        self.transfers += other.transfers;
        self.bytes += other.bytes;
        self.service_ns += other.service_ns;
        self.latency_ns += other.latency_ns;
        if other.latency.max() > self.latency.max() {
            self.longest_issued = other.longest_issued;
        }
        self.latency.add(&other.latency);
        if let Some(reads) = &other.reads {
            self.reads.get_or_insert_default().add(reads);
        }
        self.finished = self.finished.max(other.finished);
    }
}

/// The tallies of all processes.
pub(super) struct Issuers {
    places: HashMap<Issuer, usize, BuildHasherDefault<FxHasher>>,
    /// The places of small numbers, which workloads give: faster to find. `NONE` for none.
    near: Box<[u32; NEAR]>,
    tallies: Vec<Tally>,
    /// The last issuer that was looked for in `places`, and its place in `tallies`.
    recent: (Issuer, usize),
    /// Processes with requests outstanding.
    active: u32,
}

impl Default for Issuers {
    fn default() -> Self {
        let recent = (Issuer(u32::MAX), usize::MAX);
        let near = Box::new([NONE; NEAR]);
        Issuers { places: HashMap::default(), near, tallies: Vec::new(), recent, active: 0 }
    }
}

impl Issuers {
    /// A request reached the queue.
    #[inline]
    pub(super) fn arrived(&mut self, request: &Request) {
        let tally = self.tally(counted_as(request));
        tally.outstanding += 1;
        let begins = tally.outstanding == 1;
        self.active += u32::from(begins);
    }

    /// A request is done.
    #[inline]
    pub(super) fn count(&mut self, now: Instant, request: &Request, latency_ns: u64, service_ns: u64) {
        let contended = self.active > 1;
        let tally = self.tally(counted_as(request));
        tally.requests += 1;
        tally.service_ns += service_ns;
        tally.contended_ns += if contended { service_ns } else { 0 };
        if matches!(request.operation, Operation::Read | Operation::Write) {
            tally.transfers += 1;
            tally.bytes += u64::from(request.length.0) * SECTOR_BYTES;
            tally.latency_ns += u128::from(latency_ns);
            if latency_ns > tally.latency.max() {
                tally.longest_issued = Instant(now.0.saturating_sub(latency_ns));
            }
            tally.latency.record(latency_ns);
            if request.operation == Operation::Read {
                let reads = tally.reads.get_or_insert_default();
                looks(latency_ns).for_each(|seen| reads.record(seen));
            }
        }
        tally.finished = tally.finished.max(now);
        tally.outstanding -= 1;
        let ends = tally.outstanding == 0;
        self.active -= u32::from(ends);
    }

    /// The 99th percentile of reads of the process that has the highest.
    pub(super) fn slowest_read_p99(&self) -> u64 {
        self.tallies.iter().map(Tally::read_p99).max().unwrap_or(0)
    }

    /// Jain's index over device time by weight, of those who competed: (Σx)² / (n Σx²).
    pub(super) fn fairness(&self, weight: impl Fn(Issuer) -> Weight) -> f64 {
        let given = || {
            let competed = |place: &&usize| self.tallies[**place].contended_ns > 0;
            let all = self.places.iter().filter(move |(_, place)| competed(place));
            all.map(|(who, place)| self.tallies[*place].contended_ns as f64 / f64::from(weight(*who).get()))
        };
        let (sum, squares) = (given().sum::<f64>(), given().map(|x| x * x).sum::<f64>());
        if squares > 0.0 { sum * sum / (given().count() as f64 * squares) } else { 1.0 }
    }

    #[inline]
    fn tally(&mut self, who: Issuer) -> &mut Tally {
        let place = match self.near.get(who.0 as usize) {
            Some(&place) if place != NONE => place as usize,
            _ => self.far(who),
        };
        &mut self.tallies[place]
    }

    /// The place of a large number, or of a newcomer.
    fn far(&mut self, who: Issuer) -> usize {
        if self.recent.0 != who || self.recent.1 == usize::MAX {
            self.recent = (who, self.find_or_enter(who));
        }
        self.recent.1
    }

    fn find_or_enter(&mut self, who: Issuer) -> usize {
        if let Some(place) = self.places.get(&who) {
            return *place;
        }
        if self.tallies.len() == MOST {
            return MOST - 1;
        }
        let place = self.tallies.len();
        self.places.insert(who, place);
        if let Some(near) = self.near.get_mut(who.0 as usize) {
            *near = place as u32;
        }
        self.tallies.push(Tally::default());
        place
    }

    /// What each got, most device time first.
    pub(super) fn shares(&self, describe: impl Fn(Issuer) -> (Option<String>, Weight)) -> Vec<IssuerShare> {
        let mut order: Vec<(Issuer, &Tally)> =
            self.places.iter().map(|(who, place)| (*who, &self.tallies[*place])).collect();
        order.sort_by_key(|(who, tally)| (Reverse(tally.service_ns), *who));
        let all_ns = order.iter().map(|(_, tally)| tally.service_ns).sum();
        let listed = if order.len() > LISTED { LISTED - 1 } else { order.len() };
        let (single, rest) = order.split_at(listed);
        let share = |(who, tally): &(Issuer, &Tally)| {
            let (name, weight) = describe(*who);
            IssuerShare::of(Process { id: *who, name, weight, tally, all_ns })
        };
        let mut shares: Vec<IssuerShare> = single.iter().map(share).collect();
        if !rest.is_empty() {
            let mut others = Tally::default();
            rest.iter().for_each(|(_, tally)| others.add(tally));
            let name = Some(format!("{} others", rest.len()));
            let (id, weight) = (Issuer(u32::MAX), Weight::default());
            shares.push(IssuerShare::of(Process { id, name, weight, tally: &others, all_ns }));
        }
        shares
    }
}

/// The process that a request counts for: processes of one group are one, under the group's number.
pub fn counted_as(request: &Request) -> Issuer {
    if request.group == Group::UNKNOWN { request.issuer } else { Issuer(request.group.0) }
}

#[cfg(test)]
mod tests {
    use idlewise_core::{Sector, Sectors};

    use super::*;

    fn served(times: &[(u32, u32, u64)]) -> Issuers {
        let mut issuers = Issuers::default();
        for (index, (issuer, group, service_ns)) in times.iter().enumerate() {
            let request = Request::read(Sector(0), Sectors(8)).by(Issuer(*issuer));
            let request = Request { group: Group(*group), ..request };
            issuers.arrived(&request);
            issuers.count(Instant(index as u64), &request, 2 * service_ns, *service_ns);
        }
        issuers
    }

    /// The same, with all requests waiting from the beginning.
    fn contended(times: &[(u32, u64)]) -> Issuers {
        let mut issuers = Issuers::default();
        let request = |issuer: u32| Request::read(Sector(0), Sectors(8)).by(Issuer(issuer));
        times.iter().for_each(|(issuer, _)| issuers.arrived(&request(*issuer)));
        // A last one, of nobody who counts, keeps the others company to their end.
        issuers.arrived(&request(99));
        for (issuer, service_ns) in times {
            issuers.count(Instant(0), &request(*issuer), *service_ns, *service_ns);
        }
        issuers
    }

    #[test]
    fn a_group_is_one_line_under_its_own_number() {
        let issuers = served(&[(1, 0, 10), (2, 2, 20), (3, 2, 30), (4, 2, 40), (1, 0, 50)]);
        let shares = issuers.shares(|who| (Some(format!("p{who}")), Weight::default()));
        let seen: Vec<_> = shares.iter().map(|share| (share.id, share.requests, share.service_ns)).collect();
        assert_eq!(seen, [(2, 3, 90), (1, 2, 60)]);
        assert_eq!((shares[0].name.as_deref(), shares[0].finished_ns), (Some("p2"), 3));
        assert!((shares[0].service_share - 0.6).abs() < 1e-12);
    }

    #[test]
    fn fairness_is_full_when_time_goes_by_weight() {
        let issuers = contended(&[(1, 1000), (2, 3000)]);
        let weigh = |heavy| move |who| Weight::new(if who == Issuer(2) { heavy } else { 100 }).unwrap();
        assert!((issuers.fairness(weigh(300)) - 1.0).abs() < 1e-12);
        // By number: (1 + 3)² / 2 (1² + 3²).
        assert!((issuers.fairness(weigh(100)) - 0.8).abs() < 1e-12);
    }

    #[test]
    fn who_was_alone_did_not_compete() {
        let alone = served(&[(1, 0, 1000), (2, 0, 3000)]);
        assert!((alone.fairness(|_| Weight::default()) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn an_overloaded_disk_adds_up_to_more_than_centuries() {
        let mut issuers = Issuers::default();
        let long_ns = u64::MAX / 2;
        for _ in 0..3 {
            let request = Request::read(Sector(0), Sectors(8));
            issuers.arrived(&request);
            issuers.count(Instant::ZERO, &request, long_ns, 1);
        }
        let shares = issuers.shares(|_| (None, Weight::default()));
        assert!((shares[0].latency_ns_mean / long_ns as f64 - 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_read_that_waits_counts_for_each_tenth_of_a_second() {
        let mut issuers = Issuers::default();
        let mut read = |issuer: u32, ms: u64| {
            let request = Request::read(Sector(0), Sectors(8)).by(Issuer(issuer));
            issuers.arrived(&request);
            issuers.count(Instant::ZERO, &request, ms * 1_000_000, 1);
        };
        // By request, the second process has one slow read in three hundred; by what it saw, one look in four.
        (0..300).for_each(|_| read(1, 20));
        (0..299).for_each(|_| read(2, 1));
        read(2, 10_000);
        let p99: Vec<u64> =
            issuers.shares(|_| (None, Weight::default())).iter().map(|one| one.read_latency_ns_p99).collect();
        assert!(p99[0].max(p99[1]) > 9_000_000_000, "{p99:?}");
        assert!(p99[0].min(p99[1]).abs_diff(20_000_000) < 1_000_000, "{p99:?}");
        assert_eq!(issuers.slowest_read_p99(), p99[0].max(p99[1]));
    }

    #[test]
    fn those_beyond_the_list_are_added_up() {
        let times: Vec<_> = (1..=LISTED as u32 + 4).map(|id| (id, 0, 1000 - u64::from(id))).collect();
        let shares = served(&times).shares(|_| (None, Weight::default()));
        assert_eq!(shares.len(), LISTED);
        assert_eq!(shares[LISTED - 1].name.as_deref(), Some("5 others"));
        assert_eq!(shares[LISTED - 1].requests, 5);
        assert!((shares.iter().map(|share| share.service_share).sum::<f64>() - 1.0).abs() < 1e-9);
    }
}
