//! Sums a trace up in one pass and constant memory: what was asked, by which processes, how fast, in which
//! pattern, and what the trace does not tell.

mod parts;
mod render;
mod summary;
mod tables;
mod timeline;

use crate::traces::{Trace, TraceError};
use idlewise_core::Duration;
use idlewise_core::selectors::Bounds;
use idlewise_core::tunables::Tunables as _;
use parts::Builder;
pub use summary::{Depth, Issuers, Kind, Latency, Missing, Pattern, Range, Rate, Share, Sizes, TraceInfo};
pub use timeline::{Stretch, Timeline};

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
        assert_eq!((info.requests, info.bytes, info.span_ns), (4, 32 * 512, 1_000_000));
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
        assert_eq!((issuers.count, issuers.others_requests, issuers.unknown_requests), (2, 0, 0));
        assert_eq!(issuers.top[0], Share { id: 7, name: Some("cat".into()), requests: 2, bytes: 8192 });
        let latency = info.latency.unwrap();
        assert_eq!((latency.requests, latency.p50_ns, latency.max_ns), (4, 2000, 5000));
        let each = [info.read_latency, info.write_latency].map(|latency| latency.unwrap());
        assert_eq!(each.map(|latency| (latency.requests, latency.max_ns)), [(2, 3000), (1, 5000)]);
        // Outstanding at the arrivals: none, the first, the second (which ends at 4000), none.
        assert_eq!(info.queue_depth.unwrap().max, 1);
        assert_eq!(info.rate.requests.iter().sum::<u64>(), 4);
        assert!(info.missing.is_empty(), "{:?}", info.missing);
    }

    #[test]
    fn flushes_are_requests_like_others() {
        let info = info(
            "\
arrival_ns,dispatched_ns,completed_ns,device,issuer,operation,start,sectors,flags,prio,process
1000,,3000,a,7,F,0,0,s,,a
2000,,5000,a,8,W,0,8,s,,b
3000000000,,3000003000,a,7,F,0,0,s,,a
",
        );
        let stretches: Vec<_> =
            info.timeline.stretches.iter().map(|s| (s.category.as_deref(), s.requests)).collect();
        assert_eq!(stretches, [(Some("1 random writes"), 2), (None, 0), (Some("flushes"), 1)]);
        assert_eq!((info.requests, info.devices[0].requests), (3, 3));
        assert!((info.writes.share - 1.0 / 3.0).abs() < 1e-9);
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
