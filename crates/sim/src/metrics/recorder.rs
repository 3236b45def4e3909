//! Counts what a report's figures are made of, during a run.

use idlewise_core::{Group, Instant, Issuer, Operation, Request, RequestId, SECTOR_BYTES};
use idlewise_disk::Completion;

use super::declare::figures;
use super::issuers::Issuers;
use super::latencies::{Completions, Latencies};
use super::phases::{PhaseShare, Phases};
use super::series::{Collector, Series};
use crate::engine::Observer;

figures! {
    /// Time in which the scheduler let the device idle although requests waited.
    Anticipation "anticipation" {
        /// Number of waits.
        waits: u64, Count;
        /// Waits that ended with a request that came meanwhile.
        hits: u64, Count;
        /// Waits that ended without.
        timeouts: u64, Count;
        /// Time spent waiting.
        time_ns: u64, Seconds;
    }
}

/// What was moved in one direction.
#[derive(Default)]
pub(super) struct Moved {
    pub(super) latencies: Latencies,
    pub(super) bytes: u64,
    /// Requests that somebody waited for.
    pub(super) synchronous: u64,
}

/// Measures a run.
#[derive(Default)]
pub struct Recorder {
    /// When each request was issued, by id.
    issued: Vec<Instant>,
    /// Which ids are those of reads and writes.
    transfer: Vec<bool>,
    /// Reads, then writes.
    pub(super) moved: [Moved; 2],
    /// Discards move nothing, and flushes have no extent: neither counts among the writes.
    pub(super) discarded: Moved,
    pub(super) flushed: Latencies,
    pub(super) issuers: Issuers,
    first_issue: Option<Instant>,
    last_completion: Instant,
    completions: Completions,
    in_flight: u32,
    busy_since: Instant,
    pub(super) device: DeviceTotals,
    waiting_since: Option<Instant>,
    pub(super) anticipation: Anticipation,
    pub(super) longest_queued_ns: u64,
    /// Who got the last read.
    last_reader: Option<Group>,
    /// Devices that were measured, one after the other.
    devices: u32,
    phases: Phases,
    /// What happens when, if that is wanted.
    series: Option<Box<Collector>>,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DeviceTotals {
    pub(super) busy_ns: u64,
    pub(super) commands: u64,
    pub(super) cached: u64,
    pub(super) seek_ns: u64,
    pub(super) rotation_ns: u64,
    pub(super) transfer_ns: u64,
    pub(super) group_changes: u64,
}

impl Recorder {
    /// A recorder for request ids below `capacity`.
    pub fn new(capacity: usize) -> Self {
        Recorder {
            issued: vec![Instant::ZERO; capacity],
            transfer: vec![false; capacity],
            ..Recorder::default()
        }
    }

    /// Phases are measured apart: the name of each and when it begins, in order.
    #[must_use]
    pub fn phased(mut self, phases: Vec<(String, Instant)>) -> Self {
        self.phases = Phases::new(phases);
        self
    }

    /// What happens when is kept, for plots.
    #[must_use]
    pub fn with_series(mut self) -> Self {
        self.series = Some(Box::new(Collector::new(self.issued.len())));
        self
    }

    /// What happened when, if that was kept. `name` is what an issuer is called, if that is known.
    pub fn take_series(&mut self, name: impl Fn(Issuer) -> Option<String>) -> Option<Series> {
        let series = self.series.take()?.finish(name);
        let latencies = [0, 1].map(|direction: usize| self.moved[direction].latencies.distribution());
        Some(Series { latencies, ..series })
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

    /// Reads and writes.
    pub(super) fn transfers(&self) -> u64 {
        self.moved.iter().map(|moved| moved.latencies.count()).sum()
    }

    pub(super) fn requests(&self) -> u64 {
        self.transfers() + self.discarded.latencies.count() + self.flushed.count()
    }

    /// The time that all requests took, whatever they asked for.
    pub(super) fn outstanding_ns(&self) -> f64 {
        self.latencies().sum() + self.discarded.latencies.sum() + self.flushed.sum()
    }

    pub(super) fn bytes(&self) -> u64 {
        self.moved.iter().map(|moved| moved.bytes).sum()
    }

    /// Latencies of both directions.
    pub(super) fn latencies(&self) -> Latencies {
        let [read, write] = &self.moved;
        read.latencies.with(&write.latencies)
    }

    pub(super) fn phases(&self) -> Vec<PhaseShare> {
        self.phases.shares(self.last_completion)
    }

    pub(super) fn elapsed_ns(&self) -> u64 {
        self.last_completion.since(self.first_issue.unwrap_or_default()).0
    }

    /// How long after the first issue 95 in 100 reads and writes were done.
    pub(super) fn mostly_done_ns(&self) -> u64 {
        self.completions.quantile(0.95)
    }

    /// What `amount` is in a second of the run.
    pub(super) fn by_second(&self, amount: u64) -> f64 {
        let seconds = self.elapsed_ns() as f64 / 1e9;
        if seconds > 0.0 { amount as f64 / seconds } else { 0.0 }
    }

    /// `time_ns` for each nanosecond of the run.
    pub(super) fn by_elapsed(&self, time_ns: f64) -> f64 {
        if self.elapsed_ns() > 0 { time_ns / self.elapsed_ns() as f64 } else { 0.0 }
    }

    /// The share of the run in which a device was busy, of as many as there were.
    pub(super) fn utilization(&self) -> f64 {
        self.by_elapsed(self.device.busy_ns as f64) / f64::from(self.devices.max(1))
    }

    /// The next requests are for another device, whose clock starts over.
    pub fn next_device(&mut self) {
        self.devices += 1;
        if let Some(series) = &mut self.series {
            series.next_device();
        }
    }

    /// `total` for each command.
    pub(super) fn by_command(&self, total: u64) -> f64 {
        total as f64 / self.device.commands.max(1) as f64
    }
}

fn is_transfer(request: &Request) -> bool {
    matches!(request.operation, Operation::Read | Operation::Write)
}

impl Observer for Recorder {
    #[inline]
    fn arrived(&mut self, now: Instant, id: RequestId, request: &Request) {
        self.issued[id.index()] = request.arrival;
        self.transfer[id.index()] = is_transfer(request);
        self.issuers.arrived(request);
        if self.first_issue.is_none_or(|first| request.arrival < first) {
            self.first_issue = Some(request.arrival);
        }
        if let Some(series) = &mut self.series {
            series.arrived(now, id, request, is_transfer(request));
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
        if self.transfer[id.index()] {
            self.longest_queued_ns = self.longest_queued_ns.max(now.since(self.issued[id.index()]).0);
        }
        if let Some(series) = &mut self.series {
            series.dispatched(now, id);
        }
    }

    #[inline]
    fn served(&mut self, now: Instant, id: RequestId, completion: &Completion) {
        self.in_flight -= 1;
        if self.in_flight == 0 {
            self.device.busy_ns += now.since(self.busy_since).0;
        }
        self.device.commands += 1;
        self.device.cached += u64::from(completion.timing.cached);
        self.device.seek_ns += completion.timing.seek.0;
        self.device.rotation_ns += completion.timing.rotation.0;
        self.device.transfer_ns += completion.timing.transfer.0;
        if let Some(series) = &mut self.series {
            series.served(now, id);
        }
    }

    #[inline]
    fn completed(&mut self, now: Instant, id: RequestId, request: &Request, service_share: u64) {
        let latency = now.since(self.issued[id.index()]).0;
        let bytes = u64::from(request.length.0) * SECTOR_BYTES;
        self.last_completion = self.last_completion.max(now);
        if request.operation == Operation::Read {
            let last = self.last_reader.replace(request.group);
            self.device.group_changes += u64::from(last.is_some_and(|last| last != request.group));
        }
        let moved = match request.operation {
            Operation::Read | Operation::Write => Some(&mut self.moved[request.direction().index()]),
            Operation::Discard => Some(&mut self.discarded),
            Operation::Flush => None,
        };
        match moved {
            Some(moved) => {
                moved.latencies.record(latency);
                moved.bytes += bytes;
                moved.synchronous += u64::from(request.sync);
            }
            None => self.flushed.record(latency),
        }
        self.issuers.count(now, request, latency, service_share);
        if let Some(series) = &mut self.series {
            series.completed(now, id, request, [latency, service_share]);
        }
        if is_transfer(request) {
            self.phases.count(now, request, latency);
            let since = now.since(self.first_issue.unwrap_or_default());
            self.completions.record(since.0);
        }
    }

    #[inline]
    fn waits(&mut self, now: Instant, _: Instant) {
        if self.waiting_since.is_none() {
            self.waiting_since = Some(now);
            self.anticipation.waits += 1;
        }
        if let Some(series) = &mut self.series {
            series.waits(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use idlewise_core::{Sector, Sectors};

    use super::*;

    #[test]
    fn changes_of_group_are_counted_in_the_order_of_service() {
        let mut recorder = Recorder::new(1);
        for group in [1, 1, 2, 2, 1] {
            let read = Request { group: Group(group), ..Request::read(Sector(0), Sectors(8)) };
            let write = Request { group: Group(7), ..Request::write(Sector(0), Sectors(8)) };
            for request in [read, write] {
                recorder.arrived(Instant(1), RequestId(0), &request);
                recorder.completed(Instant(1), RequestId(0), &request, 0);
            }
        }
        assert_eq!(recorder.device.group_changes, 2);
    }

    #[test]
    fn nothing_ends_after_the_last_nanosecond() {
        let mut recorder = Recorder::new(1);
        for (request, done) in [
            (Request::write(Sector(0), Sectors(8)), 40_000_001),
            (Request::read(Sector(0), Sectors(8)), 55_000_000),
        ] {
            recorder.arrived(Instant(0), RequestId(0), &request);
            recorder.completed(Instant(done), RequestId(0), &request, 0);
        }
        let report = recorder.report("noop", 0, |_| (None, idlewise_core::Weight::default()));
        let (all, read, write) = (&report.latency_ns, &report.read, &report.write);
        assert_eq!([report.elapsed_ns, report.mostly_done_ns, report.longest_wait_ns], [55_000_000; 3]);
        assert_eq!([all.max, all.p999, all.p99, all.p90], [55_000_000; 4]);
        assert_eq!([read.latency_ns.max, read.latency_ns.p50, read.observed_ns_p99], [55_000_000; 3]);
        assert_eq!([write.latency_ns.max, write.latency_ns.p50, write.observed_ns_p99], [40_000_001; 3]);
    }
}
