//! What a trace holds, in numbers.

use super::timeline::Timeline;
use crate::traces::Findings;
use serde::Serialize;

/// What a trace holds. Numbers are in base units, with the unit in the name; shares are 0 to 1.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TraceInfo {
    /// What this is: `idlewise/trace-info/1`.
    pub schema: &'static str,
    /// The trace's name.
    pub name: String,
    /// The trace's format, as `--format` names it.
    pub format: &'static str,
    /// All requests: reads, writes, discards and flushes.
    pub requests: u64,
    /// Bytes that they moved or discarded; flushes have none.
    pub bytes: u64,
    /// From the first arrival to the last.
    pub span_ns: u64,
    /// Requests in a second, over the span; absent if there is no span.
    pub requests_per_s: Option<f64>,
    /// Bytes in a second, over the span; absent if there is no span.
    pub bytes_per_s: Option<f64>,
    /// Reads.
    pub reads: Kind,
    /// Writes.
    pub writes: Kind,
    /// Discards.
    pub discards: Kind,
    /// Flushes.
    pub flushes: Kind,
    /// Writes that flush the disk's cache before them or go past it, such as a journal's commits; counted among the writes.
    pub durable_writes: u64,
    /// Requests that somebody waited for.
    pub sync_requests: u64,
    /// Sizes of reads, writes and discards; absent if there are none.
    pub sizes: Option<Sizes>,
    /// How requests follow one another on the disk; absent if no device got two.
    pub pattern: Option<Pattern>,
    /// Who issued them; absent if the trace does not tell.
    pub issuers: Option<Issuers>,
    /// The devices with the most bytes, at most 64.
    pub devices: Vec<Share>,
    /// How many devices there are.
    pub device_count: u64,
    /// Requests over time.
    pub rate: Rate,
    /// From arrival to completion; absent if the trace does not tell.
    pub latency: Option<Latency>,
    /// The same of reads.
    pub read_latency: Option<Latency>,
    /// The same of writes.
    pub write_latency: Option<Latency>,
    /// Requests outstanding when one arrives, itself not counted; absent without completions.
    pub queue_depth: Option<Depth>,
    /// The kind of load over time.
    pub timeline: Timeline,
    /// What the trace does not tell, and what follows from that.
    pub missing: Vec<Missing>,
    /// What reading it found.
    pub report: Findings,
}

/// Requests of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Kind {
    /// How many.
    pub requests: u64,
    /// Bytes of these requests.
    pub bytes: u64,
    /// The kind's share of all requests.
    pub share: f64,
}

/// A range of a histogram whose bounds are powers of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Range {
    /// The upper bound, inclusive; the range before ends at the lower, exclusive.
    pub up_to: u64,
    /// Requests within.
    pub requests: u64,
}

/// The distribution of sizes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sizes {
    /// The mean.
    pub mean_bytes: f64,
    /// Half are no larger.
    pub p50_bytes: u64,
    /// Nine in ten are no larger.
    pub p90_bytes: u64,
    /// 99 in 100 are no larger.
    pub p99_bytes: u64,
    /// The largest.
    pub max_bytes: u64,
    /// The histogram, in bytes.
    pub histogram: Vec<Range>,
}

/// How requests follow one another on the disk.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Pattern {
    /// Requests that start where the one before on the same device ended.
    pub sequential_share: f64,
    /// Requests that start within 128 KiB of there, the sequential ones included.
    pub near_share: f64,
    /// Requests that start where the same issuer's one before ended, on the same device; absent if
    /// issuers are unknown.
    pub issuer_sequential_share: Option<f64>,
    /// Half of the distances from the end of one to the start of the next are no larger.
    pub distance_p50_sectors: u64,
    /// Nine in ten are no larger.
    pub distance_p90_sectors: u64,
    /// 99 in 100 are no larger.
    pub distance_p99_sectors: u64,
    /// The largest.
    pub distance_max_sectors: u64,
    /// The histogram of distances, in sectors.
    pub histogram: Vec<Range>,
}

/// Who issued requests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Issuers {
    /// How many are told apart, at most 4096.
    pub count: u64,
    /// The ten with the most bytes.
    pub top: Vec<Share>,
    /// Requests of all other issuers.
    pub others_requests: u64,
    /// Requests whose issuer is unknown.
    pub unknown_requests: u64,
}

/// The part that an issuer or a device has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Share {
    /// The process number, or the device's index.
    pub id: u32,
    /// What it is called, if known.
    pub name: Option<String>,
    /// Requests of the issuer or device.
    pub requests: u64,
    /// Bytes of these requests.
    pub bytes: u64,
}

/// Requests over time, in at most 40 intervals of one width.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Rate {
    /// The width of an interval.
    pub interval_ns: u64,
    /// Requests that arrived in each, from the first arrival on.
    pub requests: Vec<u64>,
}

/// The distribution of times from arrival to completion.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Latency {
    /// Requests whose completion is known.
    pub requests: u64,
    /// The mean.
    pub mean_ns: f64,
    /// The median.
    pub p50_ns: u64,
    /// Nine in ten are no larger.
    pub p90_ns: u64,
    /// 99 in 100 are no larger.
    pub p99_ns: u64,
    /// The largest.
    pub max_ns: u64,
}

/// The distribution of queue depths.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Depth {
    /// The mean.
    pub mean: f64,
    /// The median.
    pub p50: u64,
    /// 99 in 100 are no larger.
    pub p99: u64,
    /// The largest; 65 536 means that or more.
    pub max: u64,
}

/// Something that the trace does not tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Missing {
    /// What it is.
    pub what: &'static str,
    /// What follows for a simulation.
    pub consequence: &'static str,
}
