//! The figures of a run, each declared once: name, meaning, how to get it, unit, and whether tables show it, at
//! which rank, and whether verdicts look at it. A new figure is a new entry here.

use idlewise_core::{Issuer, Weight};

use super::declare::Better::{Less, More, Neither};
use super::declare::{Column, figures};
use super::issuers::IssuerShare;
use super::latencies::Latencies;
use super::phases::PhaseShare;
use super::recorder::{Anticipation, Moved, Recorder};
use super::selector::Account;

figures! {
    /// A latency distribution in nanoseconds, from issue to completion.
    Latency "latency" from all: &Latencies {
        /// Mean.
        mean: f64 = all.mean(), Millis;
        /// Median.
        p50: u64 = all.quantile(0.5), Millis;
        /// 90th percentile.
        p90: u64 = all.quantile(0.9), Millis;
        /// 95th percentile.
        p95: u64 = all.quantile(0.95), Millis;
        /// 99th percentile.
        p99: u64 = all.quantile(0.99), Millis;
        /// 99.9th percentile.
        p999: u64 = all.quantile(0.999), Millis;
        /// The longest.
        max: u64 = all.max(), Millis;
    }
}

figures! {
    /// Requests of one direction.
    Part "part" from moved: &Moved {
        /// Requests completed.
        requests: u64 = moved.latencies.count(), Count;
        /// Those of them that somebody waited for.
        synchronous: u64 = moved.synchronous, Count;
        /// Bytes moved.
        bytes: u64 = moved.bytes, Bytes;
        /// Latency.
        latency_ns: Latency = Latency::of(&moved.latencies), One(Latency);
        /// The 99th percentile of latency as an observer sees it, who looks each tenth of a second: what waits counts again
        /// at each look, so that starvation shows.
        observed_ns_p99: u64 = moved.latencies.observed(0.99), Millis;
    }
}

figures! {
    /// How the device spent its time.
    DeviceUse "device" from run: &Recorder {
        /// Time with at least one command in the device.
        busy_ns: u64 = run.device.busy_ns, Seconds;
        /// Commands that the device served; fewer than requests if some were merged.
        commands: u64 = run.device.commands, Count;
        /// Commands that touched only the device's buffer.
        cached: u64 = run.device.cached, Count;
        /// Mean time that a command's seek took.
        seek_ns_mean: f64 = run.by_command(run.device.seek_ns), Millis;
        /// Mean time that a command waited for its first sector.
        rotation_ns_mean: f64 = run.by_command(run.device.rotation_ns), Millis;
        /// Mean time in which a command's data moved.
        transfer_ns_mean: f64 = run.by_command(run.device.transfer_ns), Millis;
        /// Reads for another group of processes than the read before: how often the device went from one to another.
        group_changes: u64 = run.device.group_changes, Count;
        /// Share of the run in which the device was busy.
        utilization: f64 = run.utilization(), Share;
    }
}

/// A run to report on.
pub(super) struct Run<'a> {
    scheduler: &'a str,
    merges: u64,
    recorder: &'a Recorder,
    issuers: Vec<IssuerShare>,
    fairness: f64,
}

figures! {
    /// One scheduler's figures. With several seeds each number is a mean, and a neighbour that ends in _ci95 is half
    /// its 95 % confidence interval.
    Report "result" from run: Run<'_> {
        /// The scheduler's name.
        scheduler: String = run.scheduler.to_owned(), Text;
        /// Requests completed, discards and flushes included. All other figures are of reads and writes, unless they say
        /// otherwise.
        requests: u64 = run.recorder.requests(), Count;
        /// Bytes moved.
        bytes: u64 = run.recorder.bytes(), Bytes;
        /// Time from the first issue to the last completion.
        elapsed_ns: u64 = run.recorder.elapsed_ns(), Seconds
            [Column::new("", "run time", Less, 0).goal("run time")];
        /// Time from the first issue until 95 in 100 reads and writes were done. Unlike the run time it does not hang on
        /// what happens to come last.
        mostly_done_ns: u64 = run.recorder.mostly_done_ns(), Seconds
            [Column::new("", "95 % done", Less, 12).goal("time to 95 % done")];
        /// Bytes in a second.
        throughput_bytes_per_s: f64 = run.recorder.by_second(run.recorder.bytes()), Rate
            [Column::new("", "", More, 1).goal("throughput")];
        /// Requests in a second.
        iops: f64 = run.recorder.by_second(run.recorder.transfers()), Iops
            [Column::new("", "", More, 9)];
        /// Latency of reads and writes.
        latency_ns: Latency = Latency::of(&run.recorder.latencies()), One(Latency)
            [Column::new("mean", "mean", Less, 8), Column::new("max", "longest", Less, 5)];
        /// Reads.
        read: Part = Part::of(&run.recorder.moved[0]), One(Part)
            [
                Column::new("latency_ns.mean", "read mean", Less, 2).goal("mean read latency"),
                Column::new("observed_ns_p99", "read p99", Less, 3).goal("p99 read latency")
            ];
        /// Writes.
        write: Part = Part::of(&run.recorder.moved[1]), One(Part)
            [
                Column::new("latency_ns.mean", "write mean", Less, 7).goal("mean write latency"),
                Column::new("latency_ns.p99", "write p99", Less, 4).goal("p99 write latency")
            ];
        /// The device.
        device: DeviceUse = DeviceUse::of(run.recorder), One(DeviceUse)
            [Column::new("seek_ns_mean", "seek", Neither, 11), Column::new("utilization", "busy", Neither, 10)];
        /// Waits for a better request while others wait.
        anticipation: Anticipation = run.recorder.anticipation.clone(), One(Anticipation);
        /// Mean number of requests of any kind issued and not yet done.
        queue_mean: f64 = run.recorder.by_elapsed(run.recorder.outstanding_ns()), Count;
        /// Requests that became part of another.
        merges: u64 = run.merges, Count;
        /// Flushes among the requests.
        flushes: u64 = run.recorder.flushed.count(), Count;
        /// Latency of flushes.
        flush_latency_ns: Latency = Latency::of(&run.recorder.flushed), One(Latency)
            [Column::new("p99", "flush p99", Less, 6)];
        /// Discards: requests, what they gave free, and their latency.
        discard: Part = Part::of(&run.recorder.discarded), One(Part);
        /// The longest time from issue to completion: what tables call longest.
        longest_wait_ns: u64 = run.recorder.latencies().max(), Millis;
        /// The longest time from issue to dispatch.
        longest_queued_ns: u64 = run.recorder.longest_queued_ns, Millis;
        /// The 99th percentile of reads of the process that has the highest (`read_latency_ns_p99`).
        slowest_read_ns_p99: u64 = run.recorder.issuers.slowest_read_p99(), Millis;
        /// Jain's index of fairness over device time by weight, of processes that competed, while they did: while another had
        /// requests outstanding too. 1 is even, 1/n is one takes all.
        fairness_jain: f64 = run.fairness, Index [Column::new("", "fairness", More, 8)];
        /// Each process, most device time first.
        issuers: Vec<IssuerShare> = run.issuers, List(IssuerShare);
        /// Each phase of a workload that has phases; the last is the rest after them.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        phases: Vec<PhaseShare> = run.recorder.phases(), List(PhaseShare);
        /// What the selector did, if there was one.
        #[serde(skip_serializing_if = "Option::is_none")]
        selector: Option<Account> = None, One(Account);
    }
}

impl Recorder {
    /// The report of the run so far. `describe` names an issuer and its weight.
    pub fn report(
        &self,
        scheduler: &str,
        merges: u64,
        describe: impl Fn(Issuer) -> (Option<String>, Weight),
    ) -> Report {
        let fairness = self.issuers.fairness(|who| describe(who).1);
        let issuers = self.issuers.shares(describe);
        Report::of(Run { scheduler, merges, recorder: self, issuers, fairness })
    }
}
