//! What a run's report says, and how it is measured.
//!
//! Times are in nanoseconds and sizes in bytes; the unit ends each name. Latency counts from when a
//! request was issued to when it was done, service from when the device turned to it.

mod issuers;
mod phases;
pub mod selector;
mod spread;

pub use issuers::IssuerShare;
pub use phases::PhaseShare;

use hdrhistogram::Histogram;
use idlewise_core::{Direction, Instant, Issuer, Operation, Request, RequestId, SECTOR_BYTES, Weight};
use idlewise_disk::Completion;
use serde::Serialize;

use crate::engine::Observer;
use issuers::{Issuers, jain};
use phases::Phases;
use selector::Account;

/// A latency distribution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Latency {
    /// Mean.
    pub mean: f64,
    /// Median.
    pub p50: u64,
    /// 90th percentile.
    pub p90: u64,
    /// 95th percentile.
    pub p95: u64,
    /// 99th percentile.
    pub p99: u64,
    /// 99.9th percentile.
    pub p999: u64,
    /// The longest.
    pub max: u64,
}

/// Requests of one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Part {
    /// How many.
    pub requests: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Their latency.
    pub latency_ns: Latency,
}

/// How the device spent its time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct DeviceUse {
    /// Time with at least one command in the device.
    pub busy_ns: u64,
    /// Commands it served; fewer than requests if some were merged.
    pub commands: u64,
    /// Commands that touched only the device's buffer.
    pub cached: u64,
    /// Mean time a command's seek took.
    pub seek_ns_mean: f64,
    /// Mean time a command waited for its first sector.
    pub rotation_ns_mean: f64,
    /// Mean time a command's data moved.
    pub transfer_ns_mean: f64,
    /// Share of the run in which it was busy.
    pub utilization: f64,
}

/// Time in which the scheduler let the device idle although requests waited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Anticipation {
    /// How often.
    pub waits: u64,
    /// Waits that ended with a request that came meanwhile.
    pub hits: u64,
    /// Waits that ended without.
    pub timeouts: u64,
    /// Time spent waiting.
    pub time_ns: u64,
}

/// The report of one run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Report {
    /// The scheduler's name.
    pub scheduler: String,
    /// Requests completed, flushes included.
    pub requests: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Time from the first issue to the last completion.
    pub elapsed_ns: u64,
    /// Bytes in a second.
    pub throughput_bytes_per_s: f64,
    /// Requests in a second.
    pub iops: f64,
    /// Latency of all requests.
    pub latency_ns: Latency,
    /// Reads alone.
    pub read: Part,
    /// Writes alone.
    pub write: Part,
    /// The device.
    pub device: DeviceUse,
    /// Deliberate idleness.
    pub anticipation: Anticipation,
    /// Mean number of requests issued and not yet done.
    pub queue_mean: f64,
    /// Requests that became part of another.
    pub merges: u64,
    /// Flushes among the requests. They count in no latency and no direction.
    pub flushes: u64,
    /// The longest time from issue to dispatch.
    pub longest_wait_ns: u64,
    /// Jain's index of fairness over device time by weight: 1 is even, 1/n is one takes all.
    pub fairness_jain: f64,
    /// Each process, most device time first.
    pub issuers: Vec<IssuerShare>,
    /// Each phase of a workload that has phases.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<PhaseShare>,
    /// What the selector did, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selector: Option<Account>,
}

/// Measures a run.
pub struct Recorder {
    /// When each request was issued, by id.
    issued: Vec<Instant>,
    latency: [Histogram<u64>; 2],
    latency_sum: [u128; 2],
    bytes: [u64; 2],
    flushes: u64,
    issuers: Issuers,
    first_issue: Option<Instant>,
    last_completion: Instant,
    in_flight: u32,
    busy_since: Instant,
    device: DeviceTotals,
    waiting_since: Option<Instant>,
    anticipation: Anticipation,
    longest_wait_ns: u64,
    phases: Phases,
}

#[derive(Clone, Copy, Debug, Default)]
struct DeviceTotals {
    busy_ns: u64,
    commands: u64,
    cached: u64,
    seek_ns: u64,
    rotation_ns: u64,
    transfer_ns: u64,
}

/// Latencies are told apart to 1 part in 1000, up to three hours.
fn histogram() -> Histogram<u64> {
    const LONGEST_NS: u64 = 3 * 3600 * 1_000_000_000;
    Histogram::new_with_bounds(1_000, LONGEST_NS, 3).expect("the bounds are valid")
}

impl Recorder {
    /// A recorder for request ids below `capacity`.
    pub fn new(capacity: usize) -> Self {
        Recorder {
            issued: vec![Instant::ZERO; capacity],
            latency: [histogram(), histogram()],
            latency_sum: [0; 2],
            bytes: [0; 2],
            flushes: 0,
            issuers: Issuers::new(),
            first_issue: None,
            last_completion: Instant::ZERO,
            in_flight: 0,
            busy_since: Instant::ZERO,
            device: DeviceTotals::default(),
            waiting_since: None,
            anticipation: Anticipation::default(),
            longest_wait_ns: 0,
            phases: Phases::default(),
        }
    }

    /// Phases are measured apart: the name of each and when it begins, in order.
    #[must_use]
    pub fn phased(mut self, phases: Vec<(String, Instant)>) -> Self {
        self.phases = Phases::new(phases);
        self
    }

    fn end_wait(&mut self, now: Instant, id: RequestId) {
        let Some(since) = self.waiting_since.take() else { return };
        self.anticipation.time_ns += now.since(since).0;
        if self.issued[id.index()] >= since {
            self.anticipation.hits += 1;
        } else {
            self.anticipation.timeouts += 1;
        }
    }

    /// The report of the run so far. `describe` names an issuer and its weight.
    pub fn report(
        &self,
        scheduler: &str,
        merges: u64,
        describe: impl Fn(Issuer) -> (Option<String>, Weight),
    ) -> Report {
        let start = self.first_issue.unwrap_or_default();
        let elapsed_ns = self.last_completion.since(start).0;
        let seconds = elapsed_ns as f64 / 1e9;
        let rate = |amount: f64| if seconds > 0.0 { amount / seconds } else { 0.0 };
        let part = |direction: Direction| {
            let index = direction.index();
            let histogram = &self.latency[index];
            Part {
                requests: histogram.len(),
                bytes: self.bytes[index],
                latency_ns: summary(histogram, self.latency_sum[index]),
            }
        };
        let (read, write) = (part(Direction::Read), part(Direction::Write));
        let requests = read.requests + write.requests + self.flushes;
        let bytes = read.bytes + write.bytes;
        let mut all = self.latency[0].clone();
        all.add(&self.latency[1]).expect("both have the same bounds");
        let latency_sum = self.latency_sum[0] + self.latency_sum[1];
        let issuers = self.issuers.shares(describe);
        Report {
            scheduler: scheduler.to_owned(),
            requests,
            bytes,
            elapsed_ns,
            throughput_bytes_per_s: rate(bytes as f64),
            iops: rate(requests as f64),
            latency_ns: summary(&all, latency_sum),
            read,
            write,
            device: self.device_use(elapsed_ns),
            anticipation: self.anticipation,
            queue_mean: if elapsed_ns > 0 { latency_sum as f64 / elapsed_ns as f64 } else { 0.0 },
            merges,
            flushes: self.flushes,
            longest_wait_ns: self.longest_wait_ns,
            fairness_jain: jain(&issuers),
            issuers,
            phases: self.phases.shares(self.last_completion),
            selector: None,
        }
    }

    fn device_use(&self, elapsed_ns: u64) -> DeviceUse {
        let DeviceTotals { busy_ns, commands, cached, seek_ns, rotation_ns, transfer_ns } = self.device;
        let mean = |total: u64| if commands > 0 { total as f64 / commands as f64 } else { 0.0 };
        DeviceUse {
            busy_ns,
            commands,
            cached,
            seek_ns_mean: mean(seek_ns),
            rotation_ns_mean: mean(rotation_ns),
            transfer_ns_mean: mean(transfer_ns),
            utilization: if elapsed_ns > 0 { busy_ns as f64 / elapsed_ns as f64 } else { 0.0 },
        }
    }
}

fn summary(histogram: &Histogram<u64>, sum: u128) -> Latency {
    if histogram.is_empty() {
        return Latency::default();
    }
    let at = |quantile: f64| histogram.value_at_quantile(quantile).min(histogram.max());
    Latency {
        mean: sum as f64 / histogram.len() as f64,
        p50: at(0.5),
        p90: at(0.9),
        p95: at(0.95),
        p99: at(0.99),
        p999: at(0.999),
        max: histogram.max(),
    }
}

impl Observer for Recorder {
    #[inline]
    fn arrived(&mut self, _: Instant, id: RequestId, request: &Request) {
        self.issued[id.index()] = request.arrival;
        if self.first_issue.is_none() {
            self.first_issue = Some(request.arrival);
        }
    }

    #[inline]
    fn dispatched(&mut self, now: Instant, id: RequestId) {
        if self.waiting_since.is_some() {
            self.end_wait(now, id);
        }
        if self.in_flight == 0 {
            self.busy_since = now;
        }
        self.in_flight += 1;
        self.longest_wait_ns = self.longest_wait_ns.max(now.since(self.issued[id.index()]).0);
    }

    #[inline]
    fn served(&mut self, now: Instant, _: RequestId, completion: &Completion) {
        self.in_flight -= 1;
        if self.in_flight == 0 {
            self.device.busy_ns += now.since(self.busy_since).0;
        }
        self.device.commands += 1;
        self.device.cached += u64::from(completion.timing.cached);
        self.device.seek_ns += completion.timing.seek.0;
        self.device.rotation_ns += completion.timing.rotation.0;
        self.device.transfer_ns += completion.timing.transfer.0;
    }

    #[inline]
    fn completed(&mut self, now: Instant, id: RequestId, request: &Request, service_share: u64) {
        let latency = now.since(self.issued[id.index()]).0;
        let bytes = u64::from(request.length.0) * SECTOR_BYTES;
        self.last_completion = now;
        if request.operation == Operation::Flush {
            self.flushes += 1;
        } else {
            let direction = request.direction().index();
            self.latency[direction].saturating_record(latency);
            self.latency_sum[direction] += u128::from(latency);
            self.bytes[direction] += bytes;
        }
        self.issuers.count(now, request, latency, service_share);
        self.phases.count(now, request, latency);
    }

    #[inline]
    fn waits(&mut self, now: Instant, _: Instant) {
        if self.waiting_since.is_none() {
            self.waiting_since = Some(now);
            self.anticipation.waits += 1;
        }
    }
}
