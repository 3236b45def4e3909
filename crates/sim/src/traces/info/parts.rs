//! Gathers what a [`TraceInfo`] tells, a record at a time.

use super::timeline::MAX_DEPTH;
use crate::traces::info::tables::{IssuerTable, Part, RateTable, largest};
use crate::traces::info::{Depth, Issuers, Kind, Latency, Missing, Pattern, Range, Sizes};
use crate::traces::{Record, Trace, TraceInfo};
use hdrhistogram::Histogram;
use idlewise_core::{Durable, Issuer, Operation};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A request this close to the end of the one before is near: 128 KiB.
const NEAR_SECTORS: u64 = 256;

/// Devices that are listed.
const LISTED: usize = 64;

/// A distribution of numbers: exact in its histogram of powers of two, to three digits elsewhere.
pub(super) struct Numbers {
    digits: Histogram<u64>,
    /// By the power of two that holds the number.
    powers: [u64; 65],
    sum: u128,
    max: u64,
}

impl Default for Numbers {
    fn default() -> Numbers {
        // The library takes 0 to 5 digits, so three cannot fail.
        let digits = Histogram::new(3).expect("three digits are within what the library takes");
        Numbers { digits, powers: [0; 65], sum: 0, max: 0 }
    }
}

impl Numbers {
    pub(super) fn add(&mut self, number: u64) {
        // The histogram resizes itself, so only memory could run out, and its size is bounded by 64 powers.
        let _ = self.digits.record(number);
        self.powers[(64 - number.saturating_sub(1).leading_zeros()) as usize] += 1;
        self.sum += u128::from(number);
        self.max = self.max.max(number);
    }

    fn count(&self) -> u64 {
        self.powers.iter().sum()
    }

    fn mean(&self) -> f64 {
        self.sum as f64 / self.count().max(1) as f64
    }

    fn quantile(&self, quantile: f64) -> u64 {
        self.digits.value_at_quantile(quantile).min(self.max)
    }

    /// The ranges from the first that holds something to the last, in units of `scale`.
    fn ranges(&self, scale: u64) -> Vec<Range> {
        let used = |count: &u64| *count > 0;
        let (Some(from), Some(to)) = (self.powers.iter().position(used), self.powers.iter().rposition(used))
        else {
            return Vec::new();
        };
        let bound = |power: usize| 1u64.checked_shl(power as u32).unwrap_or(u64::MAX).saturating_mul(scale);
        (from..=to).map(|power| Range { up_to: bound(power), requests: self.powers[power] }).collect()
    }
}

/// What has been seen so far.
#[derive(Default)]
pub(super) struct Builder {
    kinds: [Kind; 4],
    sync: u64,
    durable: u64,
    with_priority: u64,
    first: Option<u64>,
    last: u64,
    sizes: Numbers,
    distances: Numbers,
    sequential: u64,
    near: u64,
    issuer_sequential: u64,
    /// Requests that an issuer's own request before could be compared with.
    issuer_followers: u64,
    devices: Vec<Part>,
    issuers: IssuerTable,
    rate: RateTable,
    latencies: Numbers,
    /// Of reads, and of writes.
    each: [Numbers; 2],
    depths: Numbers,
    outstanding: BinaryHeap<Reverse<u64>>,
    dispatched: u64,
}

impl Builder {
    /// Takes a record in. Records come in order of arrival.
    pub(super) fn add(&mut self, record: &Record) {
        let bytes = record.length.bytes();
        let kind = &mut self.kinds[record.operation as usize];
        kind.requests += 1;
        kind.bytes = kind.bytes.saturating_add(bytes);
        self.sync += u64::from(record.sync);
        self.durable += u64::from(record.durable != Durable::default());
        self.with_priority += u64::from(record.priority.is_some());
        self.dispatched += u64::from(record.dispatched.is_some());
        let first = *self.first.get_or_insert(record.arrival.0);
        self.last = record.arrival.0;
        self.rate.add(record.arrival.0 - first);
        if record.length.0 > 0 {
            self.sizes.add(u64::from(record.length.0));
        }
        self.follow(record);
        self.account(record, bytes);
        self.time(record);
    }

    /// How it follows the request before it.
    fn follow(&mut self, record: &Record) {
        let index = record.device as usize;
        if self.devices.len() <= index {
            self.devices.resize(index + 1, Part::default());
        }
        let device = &mut self.devices[index];
        device.add(record.length.bytes());
        if record.operation == Operation::Flush {
            return;
        }
        if let Some((_, end)) = device.end {
            let distance = end.abs_diff(record.start.0);
            self.distances.add(distance);
            self.sequential += u64::from(distance == 0);
            self.near += u64::from(distance <= NEAR_SECTORS);
        }
        device.end = Some((record.device, record.end().0));
    }

    /// Who issued it.
    fn account(&mut self, record: &Record, bytes: u64) {
        let Some(issuer) = record.issuer else {
            self.issuers.unknown += 1;
            return;
        };
        let Some(part) = self.issuers.part(issuer.0) else { return };
        part.add(bytes);
        if record.operation == Operation::Flush {
            return;
        }
        if let Some(end) = part.end {
            self.issuer_followers += 1;
            self.issuer_sequential += u64::from(end == (record.device, record.start.0));
        }
        part.end = Some((record.device, record.end().0));
    }

    /// How long it took, and how many were waiting.
    fn time(&mut self, record: &Record) {
        while self.outstanding.peek().is_some_and(|done| done.0 <= record.arrival.0) {
            self.outstanding.pop();
        }
        self.depths.add(self.outstanding.len() as u64);
        if let (Some(took), Some(done)) = (record.response(), record.completed) {
            self.latencies.add(took.0);
            match record.operation {
                Operation::Read => self.each[0].add(took.0),
                Operation::Write => self.each[1].add(took.0),
                _ => {}
            }
            if self.outstanding.len() < MAX_DEPTH {
                self.outstanding.push(Reverse(done.0));
            }
        }
    }

    /// The sum of all.
    pub(super) fn finish(self, trace: &Trace) -> TraceInfo {
        let requests = self.kinds.iter().map(|kind| kind.requests).sum::<u64>();
        let bytes = self.kinds.iter().fold(0u64, |sum, kind| sum.saturating_add(kind.bytes));
        let span_ns = self.last - self.first.unwrap_or(0);
        let per_second = |count: u64| (span_ns > 0).then(|| count as f64 * 1e9 / span_ns as f64);
        let [reads, writes, discards, flushes] = self.kinds.map(|kind| {
            let share = kind.requests as f64 / requests.max(1) as f64;
            Kind { share, ..kind }
        });
        let device = |id: u32| trace.devices().get(id as usize).cloned();
        let parts = self.devices.iter().enumerate().map(|(id, part)| (id as u32, *part));
        let known = self.latencies.count() > 0;
        TraceInfo {
            schema: "idlewise/trace-info/1",
            name: trace.name().to_owned(),
            format: trace.format().name(),
            requests,
            bytes,
            span_ns,
            requests_per_s: per_second(requests),
            bytes_per_s: per_second(bytes),
            reads,
            writes,
            discards,
            flushes,
            durable_writes: self.durable,
            sync_requests: self.sync,
            sizes: self.sizes(),
            pattern: self.pattern(),
            issuers: self.issuers(trace),
            devices: largest(parts, LISTED, device),
            device_count: self.devices.iter().filter(|part| part.requests > 0).count() as u64,
            rate: self.rate.rate(),
            latency: latency(&self.latencies),
            read_latency: latency(&self.each[0]),
            write_latency: latency(&self.each[1]),
            queue_depth: known.then(|| self.depth()),
            timeline: super::Timeline::default(),
            missing: self.missing(trace, requests),
            report: trace.report(),
        }
    }

    fn sizes(&self) -> Option<Sizes> {
        let sizes = &self.sizes;
        (sizes.count() > 0).then(|| Sizes {
            mean_bytes: sizes.mean() * 512.0,
            p50_bytes: sizes.quantile(0.5) * 512,
            p90_bytes: sizes.quantile(0.9) * 512,
            p99_bytes: sizes.quantile(0.99) * 512,
            max_bytes: sizes.max * 512,
            histogram: sizes.ranges(512),
        })
    }

    fn pattern(&self) -> Option<Pattern> {
        let (distances, count) = (&self.distances, self.distances.count());
        let share = |part: u64, of: u64| part as f64 / of as f64;
        let own = (self.issuer_followers > 0).then(|| share(self.issuer_sequential, self.issuer_followers));
        (count > 0).then(|| Pattern {
            sequential_share: share(self.sequential, count),
            near_share: share(self.near, count),
            issuer_sequential_share: own,
            distance_p50_sectors: distances.quantile(0.5),
            distance_p90_sectors: distances.quantile(0.9),
            distance_p99_sectors: distances.quantile(0.99),
            distance_max_sectors: distances.max,
            histogram: distances.ranges(1),
        })
    }

    fn issuers(&self, trace: &Trace) -> Option<Issuers> {
        let name = |id: u32| trace.process(Issuer(id)).map(str::to_owned);
        let top = self.issuers.top(10, name);
        (self.issuers.len() > 0).then(|| Issuers {
            count: self.issuers.len() as u64,
            others_requests: self.issuers.others(&top),
            top,
            unknown_requests: self.issuers.unknown,
        })
    }

    fn depth(&self) -> Depth {
        let depths = &self.depths;
        Depth { mean: depths.mean(), p50: depths.quantile(0.5), p99: depths.quantile(0.99), max: depths.max }
    }

    fn missing(&self, trace: &Trace, requests: u64) -> Vec<Missing> {
        let mut all = Vec::new();
        // The report's own warning about coarse times says the same.
        let warned = trace.report().warnings.iter().any(|text| text.starts_with("arrival times"));
        let mut say = |missing: bool, what, consequence| {
            if missing {
                all.push(Missing { what, consequence });
            }
        };
        let completed = self.latencies.count();
        say(
            completed == 0,
            "completion times",
            "which request waited for which, and for how long, is guessed from the gaps between requests",
        );
        say(
            completed > 0 && completed < requests - requests / 100,
            "some completion times",
            "dependencies are inferred from the others alone",
        );
        say(
            self.issuers.len() == 0,
            "issuers",
            "schedulers that treat processes apart see streams of neighbouring requests instead",
        );
        // A kernel that tells them tells them of all that it sends to the disk, flushes apart.
        let [reads, writes, discards, _] = &self.kinds;
        let told = reads.requests + writes.requests + discards.requests > 0 && self.dispatched > 0;
        say(
            trace.head().is_some() && told && self.with_priority == 0,
            "I/O priorities",
            "the recorded kernel does not tell them, and schedulers that go by them see all requests alike",
        );
        say(
            !trace.format().about().exact_times && !warned,
            "exact arrival times",
            "queue lengths and latencies of a replay mean nothing; mixes, sizes and addresses do",
        );
        all
    }
}

fn latency(of: &Numbers) -> Option<Latency> {
    (of.count() > 0).then(|| Latency {
        requests: of.count(),
        mean_ns: of.mean(),
        p50_ns: of.quantile(0.5),
        p90_ns: of.quantile(0.9),
        p99_ns: of.quantile(0.99),
        max_ns: of.max,
    })
}
