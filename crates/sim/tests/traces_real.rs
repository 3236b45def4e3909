//! Real traces: each has the rows, the span and the share of reads that its description says.
//!
//! The traces are found through the environment variable `IDLEWISE_TRACES` and are not part of the
//! project. Without it these tests say that they are skipped, and `scripts/test.sh` counts them as that.

use idlewise_sim::traces::{Options, Trace, TraceError, TraceInfo};
use std::io::Write as _;
use std::path::PathBuf;

/// Where the traces are, or a message that they are not.
fn directory() -> Option<PathBuf> {
    let found = std::env::var_os("IDLEWISE_TRACES").map(PathBuf::from);
    if found.is_none() {
        // Not through a macro: those lines are shown of tests that fail and of no other.
        let _ =
            std::io::stderr().write_all(b"\nskipped: IDLEWISE_TRACES does not say where real traces are\n");
    }
    found
}

fn info(path: &std::path::Path) -> TraceInfo {
    let mut trace = Trace::open(path, &Options::default()).unwrap();
    TraceInfo::read(&mut trace).unwrap()
}

/// File, format, requests that move data, span in seconds, share of reads among them in percent.
const EXPECTED: [(&str, &str, u64, f64, f64); 13] = [
    ("cloudPhysicsIO.vscsi", "vscsi", 113_872, 7200.0, 41.0),
    ("cloudPhysicsIO.csv", "cloudphysics", 113_872, 7200.0, 41.0),
    ("msr-cambridge1-sample.csv", "msr", 1_000, 127.0, 51.0),
    ("systor17-traces-sample.csv.gz", "systor17", 999, 2.44, 83.0),
    ("systor17-additional-sample.csv.gz", "systor17", 999, 1.33, 70.0),
    ("cloud_storage-sample.bz2", "tencent", 50_000, 1.0, 49.0),
    ("wsrch-small.trace", "mqsim", 24_783, 60.0, 100.0),
    ("sample.blktrace.0", "blktrace", 963, 0.35, 100.0),
    ("nvme0n1.blktrace.txt", "blkparse", 225, 25.0, 0.0),
    ("drives/atlas10k.trace", "drive", 10_000, 500.0, 66.0),
    ("drives/cheetah4LP.trace", "drive", 10_000, 498.0, 66.0),
    ("drives/cheetah9LP.trace", "drive", 10_000, 497.0, 66.0),
    ("drives/hp_c3323a.trace", "drive", 9_074, 269.0, 67.0),
];

#[test]
fn each_trace_has_the_rows_span_and_reads_of_its_description() {
    let Some(directory) = directory() else { return };
    for (file, format, requests, seconds, reads) in EXPECTED {
        let info = info(&directory.join(file));
        assert_eq!(info.format, format, "{file}");
        let moving = info.requests - info.flushes.requests;
        assert_eq!(moving, requests, "{file}");
        let span = info.span_ns as f64 / 1e9;
        assert!((span - seconds).abs() <= seconds * 0.02, "{file} spans {span} s");
        let share = info.reads.requests as f64 * 100.0 / moving as f64;
        assert!((share - reads).abs() <= 0.6, "{file} has {share} % reads");
    }
}

#[test]
fn systor_rows_out_of_order_are_counted() {
    let Some(directory) = directory() else { return };
    for (file, rows) in [("systor17-traces-sample.csv.gz", 243), ("systor17-additional-sample.csv.gz", 299)] {
        let report = info(&directory.join(file)).report;
        assert_eq!((report.out_of_order_rows, report.moved_rows), (rows, 0), "{file}");
    }
}

#[test]
fn blktrace_events_are_paired_completely() {
    let Some(directory) = directory() else { return };
    for (file, merges, remaps) in [("sample.blktrace.0", 0, 963), ("nvme0n1.blktrace.txt", 106, 473)] {
        let info = info(&directory.join(file));
        let report = &info.report;
        assert_eq!((report.merges, report.remaps), (merges, remaps), "{file}");
        assert_eq!((report.without_completion, report.stray_completions), (0, 0), "{file}");
        assert_eq!(info.latency.unwrap().requests, info.requests, "{file}");
    }
}

#[test]
fn folding_gives_what_the_disk_saw() {
    let Some(directory) = directory() else { return };
    let options = Options { fold_merges: true, ..Options::default() };
    let mut trace = Trace::open(&directory.join("nvme0n1.blktrace.txt"), &options).unwrap();
    let info = TraceInfo::read(&mut trace).unwrap();
    // blkparse's own summary: 119 writes of 1154 KiB dispatched, and 23 flushes.
    assert_eq!((info.writes.requests, info.writes.bytes / 1024, info.flushes.requests), (119, 1154, 23));
}

#[test]
fn the_cache_trace_is_refused() {
    let Some(directory) = directory() else { return };
    let path = directory.join("cloudPhysicsIO.oracleGeneral.bin");
    let error = Trace::open(&path, &Options::default()).unwrap_err();
    assert!(matches!(error, TraceError::Refused { .. }), "{error}");
}

#[test]
fn what_is_no_trace_is_not_taken_for_one() {
    let Some(directory) = directory() else { return };
    let error = Trace::open(&directory.join("README.md"), &Options::default()).unwrap_err();
    assert!(matches!(error, TraceError::Unrecognised { .. }), "{error}");
}
