//! Readers: every format's fixture gives exactly its records, whole or cut, plain or compressed.

#[path = "traces/fixtures.rs"]
mod fixtures;

use fixtures::{BLKPARSE, all, blktrace_rows, plain};
use idlewise_core::{Instant, Issuer, Operation, Sectors};
use idlewise_sim::traces::{Format, Options, Record, Skip, Trace, TraceError};
use std::io::{Cursor, Read, Write};

fn open(bytes: impl Into<Vec<u8>>, options: &Options) -> Result<Trace, TraceError> {
    Trace::from_reader(Cursor::new(bytes.into()), "t", options)
}

fn drain(trace: &mut Trace) -> Result<Vec<Record>, TraceError> {
    let mut out = Vec::new();
    while let Some(record) = trace.next()? {
        out.push(record);
    }
    Ok(out)
}

fn read(bytes: impl Into<Vec<u8>>) -> (Vec<Record>, Trace) {
    let mut trace = open(bytes, &Options::default()).unwrap();
    (drain(&mut trace).unwrap(), trace)
}

fn failure(bytes: impl Into<Vec<u8>>) -> String {
    let outcome = open(bytes, &Options::default()).and_then(|mut trace| drain(&mut trace));
    outcome.expect_err("this trace is wrong").to_string()
}

#[test]
fn every_fixture_is_recognised_and_gives_its_records() {
    for fixture in all() {
        let (records, trace) = read(fixture.bytes);
        assert_eq!(trace.format(), fixture.format);
        assert_eq!(records, fixture.records, "{}", fixture.format);
        assert_eq!(trace.devices(), fixture.devices, "{}", fixture.format);
        assert_eq!(trace.report().records, records.len() as u64);
    }
}

#[test]
fn a_byte_order_mark_is_no_part_of_the_text() {
    let row = "128166372003061629,web,0,Read,7014609920,24576,41286\n";
    let marked = [b"\xef\xbb\xbf", row.as_bytes()].concat();
    assert_eq!(read(marked).0, read(row).0);
}

#[test]
fn every_format_has_a_fixture() {
    for &format in Format::ALL {
        let has = all().iter().any(|fixture| fixture.format == format);
        assert!(has || format == Format::OracleGeneral, "{format}");
    }
}

#[test]
fn a_fixture_cut_anywhere_gives_its_beginning_or_an_error() {
    for fixture in all() {
        for cut in 0..fixture.bytes.len() {
            for lenient in [false, true] {
                let options = Options { format: Some(fixture.format), lenient, ..Options::default() };
                let Ok(mut trace) = open(&fixture.bytes[..cut], &options) else {
                    assert_eq!(cut, 0, "{}", fixture.format);
                    continue;
                };
                let mut records = 0;
                while let Ok(Some(_)) = trace.next() {
                    records += 1;
                }
                // A length that is cut short looks like a dispatch of a part, which makes two of one.
                let most = fixture.records.len() + usize::from(fixture.format.about().events);
                assert!(records <= most, "{} at {cut}", fixture.format);
                assert!(trace.next().unwrap().is_none(), "a trace ends once");
            }
            let _ = open(&fixture.bytes[..cut], &Options::default()).and_then(|mut trace| drain(&mut trace));
        }
    }
}

/// A stream that gives a byte at a time, as a slow pipe does.
struct Drip(Cursor<Vec<u8>>);

impl Read for Drip {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let count = out.len().min(1);
        self.0.read(&mut out[..count])
    }
}

#[test]
fn a_slow_pipe_gives_the_same() {
    for fixture in all() {
        let source = Drip(Cursor::new(fixture.bytes));
        let mut trace = Trace::from_reader(source, "pipe", &Options::default()).unwrap();
        assert_eq!(drain(&mut trace).unwrap(), fixture.records, "{}", fixture.format);
    }
}

fn compressed(bytes: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(bytes).unwrap();
    let mut bzip = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    bzip.write_all(bytes).unwrap();
    let options = lzma_rust2::XzOptions::with_preset(1);
    let mut xz = lzma_rust2::XzWriter::new(Vec::new(), options).unwrap();
    xz.write_all(bytes).unwrap();
    let level = ruzstd::encoding::CompressionLevel::Fastest;
    let zstd = ruzstd::encoding::compress_to_vec(bytes, level);
    vec![
        ("gz", gzip.finish().unwrap()),
        ("bz2", bzip.finish().unwrap()),
        ("xz", xz.finish().unwrap()),
        ("zst", zstd),
    ]
}

#[test]
fn compressed_traces_give_the_same_and_cut_ones_an_error() {
    for fixture in all() {
        for (kind, bytes) in compressed(&fixture.bytes) {
            let (records, trace) = read(bytes.clone());
            assert_eq!(trace.format(), fixture.format, "{kind}");
            assert_eq!(records, fixture.records, "{} {kind}", fixture.format);
            let text = failure(&bytes[..bytes.len() / 2]);
            assert!(text.starts_with("t: ") || text.starts_with("t:"), "{kind}: {text}");
        }
    }
}

#[test]
fn concatenated_compressed_files_are_read_to_the_end() {
    let rows = "11413000 0 657728 16 1\n11565000 1 31244784 64 0\n";
    for ((kind, first), (_, second)) in
        compressed(rows.as_bytes()).into_iter().zip(compressed(rows.as_bytes()))
    {
        let (records, _) = read([first, second].concat());
        assert_eq!(records.len(), 4, "{kind}");
    }
}

#[test]
fn oracle_general_is_refused_with_a_cure() {
    let mut bytes = Vec::new();
    for time in 0..20u32 {
        bytes.extend(time.to_le_bytes());
        bytes.extend(u64::from(time).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes());
        bytes.extend(512u32.to_le_bytes());
        bytes.extend((-1i64).to_le_bytes());
    }
    let text = failure(bytes);
    assert!(text.contains("has no operation") && text.contains(".vscsi"), "{text}");
}

#[test]
fn errors_say_where_what_and_what_to_do() {
    let msr = "128166385295514663,hm,0,Write,9056014336,2048,2833\n";
    let cases = [
        (
            format!("{msr}{msr}128166385295514663,hm,0,Write,-4096,2048,2833\n"),
            "t:3: expected the offset in bytes, not \"-4096\" (read as msr)",
        ),
        (
            format!("{msr}{msr}{msr}\n128166385295514663,hm,0,Wipe,0,2048,2833\n"),
            "t:5: expected Read or Write, not \"Wipe\"",
        ),
        (
            format!("{msr}{msr}128166385295514663,hm,0,Read,0\n"),
            "t:3: expected the size (read as msr); repair the row",
        ),
        (
            format!("{msr}{msr}128166385295514663,hm,0,Read,9223372036854775809,512,1\n"),
            "t:3: expected an offset below 2^63",
        ),
        (format!("{msr}{msr}128166385295514663,hm,0,Read,0,99999999999999,1\n"), "a size below 2 TiB"),
        (format!("{msr}{msr}999999999999999999999,hm,0,Read,0,512,1\n"), "t:3: expected the time stamp"),
        (
            format!("{msr}{msr}18446744073709551615,hm,0,Read,0,512,1\n"),
            "t:3: expected a time within 584 years",
        ),
        (
            format!("{msr}{msr}5,hm,0,Read,0,512,1\n"),
            "t:3: this row is more than 100 years from the first one",
        ),
        (format!("{msr}{msr}\u{1b}[2J{}\n", "x".repeat(200)), "t:3: expected the host name (read as msr)"),
        (String::new(), "t: the trace is empty; check"),
        (" \n\n".to_owned(), "t: the trace is empty"),
        ("Dear disk,\nhow are you?\n".to_owned(), "no trace format fits \"Dear disk,\\nhow"),
        ("# only a comment\n".to_owned(), "no trace format fits"),
        (
            "8,0 1 1 1.5 7 P N [x]\n8,0 1 1 1.5 7 U N [x] 1\n".to_owned(),
            "2 rows read as blkparse and not one request (2 that are no requests)",
        ),
        ("idlewise recording 1\nkernel = \"6\"\n\0".to_owned(), "the disk was asked for nothing"),
    ];
    for (bytes, want) in cases {
        let text = failure(bytes.clone());
        assert!(text.contains(want), "{bytes:?}\n gave {text}\n want {want}");
        assert!(text.is_ascii() && text.len() < 500, "{text}");
    }
}

#[test]
fn binary_garbage_is_refused() {
    let mut state = 1u64;
    let garbage: Vec<u8> = std::iter::repeat_with(|| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 56) as u8
    })
    .take(100_000)
    .collect();
    assert!(failure(garbage).contains("no trace format fits"));
    assert!(failure(vec![0; 100_000]).contains("no trace format fits"));
    let lines = vec![b'7'; 300_000];
    let options = Options { format: Some(Format::Msr), ..Options::default() };
    let text = drain(&mut open(lines, &options).unwrap()).unwrap_err().to_string();
    assert!(text.contains("t:1: expected a line of at most 65536 characters"), "{text}");
}

#[test]
fn a_damaged_binary_trace_says_at_which_byte() {
    let mut bytes: Vec<u8> = blktrace_rows().iter().flat_map(|raw| raw.bytes(false)).collect();
    // The first record has a pdu of 16 bytes, so the second begins at 64.
    bytes[64] ^= 0xff;
    assert!(failure(bytes.clone()).contains("t:byte 64: expected a blktrace record"));
    bytes[64] ^= 0xff;
    bytes.truncate(bytes.len() - 1);
    let text = failure(bytes);
    assert!(text.contains("the trace ends in the middle of a record"), "{text}");
}

#[test]
fn what_came_before_an_error_is_given_out_first() {
    let mut trace = open("0,8,512,R,0.5\n0,16,512,R,0.6\n0,24,512,R,oops\n", &Options::default()).unwrap();
    assert_eq!(trace.next().unwrap(), Some(plain(0, Operation::Read, 8, 1)));
    assert_eq!(trace.next().unwrap(), Some(plain(100_000_000, Operation::Read, 16, 1)));
    assert!(trace.next().unwrap_err().to_string().contains("t:3: expected the time in seconds"));
    assert_eq!(trace.next().unwrap(), None);
}

#[test]
fn lenient_reading_skips_and_counts() {
    let options = Options { lenient: true, ..Options::default() };
    let mut trace = open("0,8,512,R,0.5\nwhat\n0,24,512,R,oops\n0,16,512,R,0.6\n", &options).unwrap();
    assert_eq!(drain(&mut trace).unwrap().len(), 2);
    let report = trace.report();
    assert_eq!(report.rows, 4);
    assert_eq!((report.skipped[0].reason, report.skipped[0].rows), (Skip::Malformed, 2));
}

#[test]
fn ambiguous_content_names_the_candidates() {
    // Without its first line, half of this is fio's log version 2 and half is version 3.
    let text = failure("1 read 4096 512\n7 a read 4096 512\n");
    assert!(text.contains("fio-v2 or fio-v3; say which with --format NAME"), "{text}");
}

#[test]
fn rows_out_of_order_are_sorted_within_the_window() {
    let rows = "0,1,512,R,5.0\n0,2,512,R,4.0\n0,3,512,R,6.0\n0,4,512,R,0.5\n0,5,512,R,7.0\n";
    let (records, trace) = read(rows);
    let order: Vec<u64> = records.iter().map(|record| record.start.0).collect();
    assert_eq!(order, [4, 2, 1, 3, 5]);
    assert_eq!(records[4].arrival, Instant(6_500_000_000));
    let report = trace.report();
    assert_eq!((report.out_of_order_rows, report.late_rows, report.moved_rows), (2, 2, 0));
    assert_eq!(report.out_of_order_max_ns, 5_500_000_000);

    let mut trace = open(rows, &Options { window: 1, ..Options::default() }).unwrap();
    let records = drain(&mut trace).unwrap();
    assert!(records.is_sorted_by_key(|record| record.arrival));
    assert_eq!(trace.report().records, 5);
}

#[test]
fn devices_are_selected_by_name() {
    let rows = "0,1,512,R,1.0\n1,2,512,R,2.0\n0,3,512,R,3.0\n";
    let options = Options { devices: Some(vec!["1".into()]), ..Options::default() };
    let mut trace = open(rows, &options).unwrap();
    let records = drain(&mut trace).unwrap();
    assert_eq!(records, [plain(0, Operation::Read, 2, 1)]);
    assert_eq!(trace.devices(), ["1"]);
    assert_eq!(trace.report().skipped[0].rows, 2);
    let options = Options { devices: Some(vec!["sda".into()]), ..Options::default() };
    let text = drain(&mut open(rows, &options).unwrap()).unwrap_err().to_string();
    assert!(text.contains("no such device; there are 0, 1"), "{text}");
}

#[test]
fn merged_requests_can_be_folded() {
    let options = Options { fold_merges: true, ..Options::default() };
    let mut trace = open(BLKPARSE, &options).unwrap();
    let records = drain(&mut trace).unwrap();
    assert_eq!(records.len(), 5);
    assert_eq!((records[0].start.0, records[0].length), (100, Sectors(16)));
    assert_eq!(records[0].completed, Some(Instant(6_000)));
    let report = trace.report();
    assert_eq!((report.merges, report.splits, report.requeues, report.remaps), (1, 1, 1, 1));
    assert_eq!(report.stray_completions, 0);
    assert_eq!(trace.process(Issuer(697)), Some("my proc/2"));
}

#[test]
fn a_front_merge_folds_into_the_older_request() {
    let bytes: Vec<u8> = blktrace_rows().iter().flat_map(|raw| raw.bytes(false)).collect();
    let options = Options { fold_merges: true, ..Options::default() };
    let records = drain(&mut open(bytes, &options).unwrap()).unwrap();
    let write = records.iter().find(|record| record.operation == Operation::Write).unwrap();
    assert_eq!((write.start.0, write.length, write.arrival), (15, Sectors(2), Instant(1_500)));
}

#[test]
fn completions_without_a_beginning_are_counted() {
    let rows = "8,0 1 1 1.0 7 Q R 8 + 8 [x]\n8,0 1 2 1.1 0 C R 800 + 8 [0]\n8,0 1 3 1.2 7 D W 64 + 8 [x]\n";
    let (records, trace) = read(rows);
    assert_eq!(records.len(), 2);
    let report = trace.report();
    assert_eq!((report.stray_completions, report.without_completion, report.without_queue_event), (1, 2, 1));
    assert!(report.warnings.iter().any(|text| text.contains("never seen to complete")), "{report:?}");
}

#[test]
fn lost_events_and_coarse_times_are_warned_of() {
    let (_, trace) = read(fixtures::FTRACE);
    assert_eq!(trace.report().lost_events, 17);
    let (_, trace) = read("1538323199,4247200,128,1,1058\n1538323200,13896880,8,0,1063\n");
    assert!(trace.report().warnings[0].contains("whole seconds: unfit for queueing studies"));
}

#[test]
fn a_recording_of_several_cpus_is_merged() {
    let directory = std::env::temp_dir().join(format!("idlewise-traces-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let rows = blktrace_rows();
    for cpu in 0..3 {
        let own = rows.iter().enumerate().filter(|(at, _)| at % 3 == cpu);
        let bytes: Vec<u8> = own.flat_map(|(_, raw)| raw.bytes(cpu == 1)).collect();
        std::fs::write(directory.join(format!("sda.blktrace.{cpu}")), bytes).unwrap();
    }
    std::fs::write(directory.join("sda.blktrace.10"), []).unwrap();
    let want = all().into_iter().find(|fixture| fixture.format == Format::Blktrace).unwrap().records;
    for path in [directory.clone(), directory.join("sda")] {
        let mut trace = Trace::open(&path, &Options::default()).unwrap();
        assert_eq!(drain(&mut trace).unwrap(), want, "{}", path.display());
    }
    let single = directory.join("sda.blktrace.0");
    let trace = Trace::open(&single, &Options::default()).unwrap();
    assert!(trace.report().warnings[0].contains("one CPU of several"));
    std::fs::copy(&single, directory.join("sdb.blktrace.0")).unwrap();
    let text = Trace::open(&directory, &Options::default()).unwrap_err().to_string();
    assert!(text.contains("several recordings") && text.contains("sdb"), "{text}");
    let text = Trace::open(&directory.join("nothing"), &Options::default()).unwrap_err().to_string();
    assert!(text.contains("check the path"), "{text}");
    std::fs::remove_dir_all(&directory).unwrap();
}
