//! Sums a trace up in one pass and constant memory: what was asked, by whom, how fast, in which
//! pattern, and what the trace does not tell.

mod parts;
mod render;
mod tables;
mod timeline;

use crate::traces::{Report, Trace, TraceError};
use idlewise_core::Duration;
use idlewise_core::selectors::Bounds;
use idlewise_core::tunables::Tunables as _;
use parts::Builder;
use serde::Serialize;
pub use timeline::{Stretch, Timeline};

/// What a trace holds. Numbers are in base units, with the unit in the name; shares are 0 to 1.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TraceInfo {
    /// What this is: `idlewise/trace-info/1`.
    pub schema: &'static str,
    /// The trace's name.
    pub name: String,
    /// Its format, as `--format` names it.
    pub format: &'static str,
    /// Reads, writes and discards. Flushes move nothing and are counted apart.
    pub requests: u64,
    /// Bytes that they moved or discarded.
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
    /// Requests outstanding when one arrives, itself not counted; absent without completions.
    pub queue_depth: Option<Depth>,
    /// The kind of load over time.
    pub timeline: Timeline,
    /// What the trace does not tell, and what follows from that.
    pub missing: Vec<Missing>,
    /// What reading it found.
    pub report: Report,
}

/// Requests of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Kind {
    /// How many.
    pub requests: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Their share of all requests, flushes included.
    pub share: f64,
}

/// A range of a histogram whose bounds are powers of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Range {
    /// The upper bound, inclusive; the lower is that of the range before, exclusive.
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
    /// Requests of issuers beyond the 4096.
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
    /// Its requests.
    pub requests: u64,
    /// Their bytes.
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

impl TraceInfo {
    /// Reads all of `trace` and sums it up.
    ///
    /// # Errors
    /// The trace cannot be read to its end.
    pub fn read(trace: &mut Trace) -> Result<TraceInfo, TraceError> {
        TraceInfo::by_periods(trace, Duration::from_s(1), Bounds::defaults())
    }

    /// The same, with the kind of load told by periods of this length and with these bounds.
    ///
    /// # Errors
    /// The trace cannot be read to its end.
    pub fn by_periods(trace: &mut Trace, period: Duration, bounds: Bounds) -> Result<TraceInfo, TraceError> {
        let mut builder = Builder::default();
        let mut timeline = timeline::Builder::new(period, bounds);
        while let Some(record) = trace.next()? {
            builder.add(&record);
            timeline.add(&record);
        }
        Ok(TraceInfo { timeline: timeline.finish(), ..builder.finish(trace) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traces::Options;
    use std::io::Cursor;

    fn info(text: &'static str) -> TraceInfo {
        let mut trace = Trace::from_reader(Cursor::new(text), "t", &Options::default()).unwrap();
        TraceInfo::read(&mut trace).unwrap()
    }

    const OWN: &str = "\
arrival_ns,dispatched_ns,completed_ns,device,issuer,operation,start,sectors,flags,prio,process
1000,1000,3000,a,7,R,0,8,s,,cat
2000,3000,5000,a,7,R,8,8,s,,cat
4000,5000,9000,a,8,W,1000,16,,,dd
1001000,,1003000,a,8,F,0,0,s,,dd
";

    #[test]
    fn everything_is_counted() {
        let info = info(OWN);
        assert_eq!((info.requests, info.bytes, info.span_ns), (3, 32 * 512, 1_000_000));
        assert_eq!(info.reads, Kind { requests: 2, bytes: 8192, share: 0.5 });
        assert_eq!((info.writes.requests, info.flushes.requests, info.discards.requests), (1, 1, 0));
        assert_eq!(info.sync_requests, 3);
        let sizes = info.sizes.unwrap();
        assert_eq!((sizes.p50_bytes, sizes.max_bytes), (4096, 8192));
        let want = [Range { up_to: 4096, requests: 2 }, Range { up_to: 8192, requests: 1 }];
        assert_eq!(sizes.histogram, want);
        let pattern = info.pattern.unwrap();
        assert!((pattern.sequential_share - 0.5).abs() < 1e-9, "{pattern:?}");
        assert_eq!(pattern.distance_max_sectors, 1000 - 16);
        let issuers = info.issuers.unwrap();
        assert_eq!((issuers.count, issuers.unknown_requests), (2, 0));
        assert_eq!(issuers.top[0], Share { id: 7, name: Some("cat".into()), requests: 2, bytes: 8192 });
        let latency = info.latency.unwrap();
        assert_eq!((latency.requests, latency.p50_ns, latency.max_ns), (4, 2000, 5000));
        // Outstanding at the arrivals: none, the first, the second (which ends at 4000), none.
        assert_eq!(info.queue_depth.unwrap().max, 1);
        assert_eq!(info.rate.requests.iter().sum::<u64>(), 4);
        assert!(info.missing.is_empty(), "{:?}", info.missing);
    }

    #[test]
    fn what_is_missing_is_said_with_its_consequence() {
        let info = info("0,8,4096,R,0.5\n0,16,4096,w,0.75\n");
        let what: Vec<&str> = info.missing.iter().map(|m| m.what).collect();
        assert_eq!(what, ["completion times", "issuers"]);
        assert!(info.latency.is_none() && info.issuers.is_none());
        let text = info.to_string();
        assert!(text.contains("spc") && text.contains("50.0 %"), "{text}");
        assert!(text.contains("completion times are missing"), "{text}");
    }

    #[test]
    fn json_has_base_units_in_its_names() {
        let json = serde_json::to_value(info(OWN)).unwrap();
        assert_eq!(json["schema"], "idlewise/trace-info/1");
        assert_eq!(json["span_ns"], 1_000_000);
        assert_eq!(json["sizes"]["p50_bytes"], 4096);
        assert_eq!(json["latency"]["p50_ns"], 2000);
        assert_eq!(json["report"]["rows"], 4);
    }
}
