//! What every fuzz target does with its bytes, in plain stable Rust: read them as a trace, and hold
//! the reader to what it promises. A broken promise is a panic.
//!
//! The targets in `fuzz_targets/` run this under libFuzzer; `crates/sim/tests/fuzz_readers.rs` runs
//! it for a while on every `cargo test`.

use idlewise_sim::traces::{Format, Options, Record, Trace, TraceError, TraceInfo, Writer};
use std::io::Cursor;

/// The longest message that an error may have, in bytes.
const MAX_MESSAGE: usize = 2_000;

/// The most records that are read; compressed input may hold far more than its size.
const MAX_RECORDS: u64 = 300_000;

/// Reads `data` as a trace, strictly and leniently, and checks what comes out.
///
/// # Panics
/// The reader broke a promise.
pub fn read_trace(format: Option<Format>, data: &[u8]) {
    for (lenient, window) in [(false, Options::WINDOW), (true, 3)] {
        let options = Options { format, lenient, window, fold_merges: lenient, ..Options::default() };
        match Trace::from_reader(Cursor::new(data.to_vec()), "fuzz", &options) {
            Ok(mut trace) => check(&mut trace, format),
            Err(error) => check_message(&error),
        }
    }
    let options = Options { format, ..Options::default() };
    if let Ok(mut trace) = Trace::from_reader(Cursor::new(data.to_vec()), "fuzz", &options)
        && data.len() < 100_000
        && !is_compressed(data)
        && let Ok(info) = TraceInfo::read(&mut trace)
    {
        assert!(info.requests + info.flushes.requests > 0, "a sum of nothing");
        assert!(info.to_string().len() < 100_000, "a very long report");
    }
}

/// Reads `data`, writes what was read in every format, and reads that again.
///
/// # Panics
/// What was written cannot be read, or holds fewer records.
pub fn convert_trace(format: Option<Format>, data: &[u8]) {
    let options = Options { format, lenient: true, ..Options::default() };
    let Ok(mut trace) = Trace::from_reader(Cursor::new(data.to_vec()), "fuzz", &options) else { return };
    let mut records = Vec::new();
    while let Ok(Some(record)) = trace.next() {
        records.push(record);
        if records.len() == 2_000 {
            break;
        }
    }
    for &target in Format::ALL.iter().filter(|format| format.about().writable) {
        let mut bytes = Vec::new();
        let mut writer = Writer::new(target, &mut bytes).expect("the format can be written");
        for record in &records {
            let device = trace.devices()[record.device as usize].as_str();
            let process = record.issuer.and_then(|issuer| trace.process(issuer));
            writer.write(record, device, process).expect("memory takes what is written");
        }
        let written = writer.finish().expect("memory takes what is written").records;
        let count = count(target, bytes);
        // Where extents overlap, a dispatch may cut a request of another extent in two.
        let same = if target.about().events { count >= written } else { count == written };
        assert!(same, "{written} records written and {count} read as {target}");
    }
}

/// The records of a trace that must be readable.
fn count(format: Format, bytes: Vec<u8>) -> u64 {
    let options = Options { format: Some(format), ..Options::default() };
    let mut trace = match Trace::from_reader(Cursor::new(bytes), "written", &options) {
        Ok(trace) => trace,
        Err(TraceError::Empty { .. }) => return 0,
        Err(error) => panic!("what was written as {format} cannot be opened: {error}"),
    };
    let mut count = 0;
    loop {
        match trace.next() {
            Ok(Some(_)) => count += 1,
            Ok(None) => return count,
            Err(TraceError::NoRequests { .. }) => return 0,
            Err(error) => panic!("what was written as {format} cannot be read: {error}"),
        }
    }
}

/// Reads to the end and checks each record.
fn check(trace: &mut Trace, format: Option<Format>) {
    assert!(format.is_none_or(|format| format == trace.format()), "read as another format");
    let mut last: Option<Record> = None;
    let mut records = 0;
    loop {
        match trace.next() {
            Ok(Some(record)) => {
                check_record(&record, trace.devices().len());
                match last {
                    None => assert_eq!(record.arrival.0, 0, "the first arrives at 0"),
                    Some(last) => assert!(record.arrival >= last.arrival, "time goes back"),
                }
                last = Some(record);
                records += 1;
                if records == MAX_RECORDS {
                    return;
                }
            }
            Ok(None) => break,
            Err(error) => {
                check_message(&error);
                assert!(matches!(trace.next(), Ok(None)), "an error ends the trace");
                break;
            }
        }
    }
    let report = trace.report();
    assert_eq!(report.records, records, "the report counts what was given out");
}

fn check_record(record: &Record, devices: usize) {
    use idlewise_sim::traces::record::Operation;
    assert!((record.device as usize) < devices, "a device without a name");
    let empty = record.length.0 == 0;
    assert_eq!(empty, record.operation == Operation::Flush, "only flushes are empty");
    assert!(record.start.0 <= 1 << 54, "a sector beyond 2^54");
    assert!(record.dispatched.is_none_or(|time| time >= record.arrival), "sent before it came");
    assert!(record.completed.is_none_or(|time| time >= record.arrival), "done before it came");
    assert!(record.priority.is_none_or(|priority| priority.level < 8), "a level beyond 7");
}

fn check_message(error: &TraceError) {
    let text = error.to_string();
    assert!(text.len() < MAX_MESSAGE, "a very long message");
    assert!(!text.chars().any(char::is_control), "a message with control characters: {text:?}");
}

/// The bytes begin as a compressed file does.
pub fn is_compressed(data: &[u8]) -> bool {
    let magics: [&[u8]; 4] = [&[0x1f, 0x8b], b"BZh", b"\xfd7zXZ\0", &[0x28, 0xb5, 0x2f, 0xfd]];
    magics.iter().any(|magic| data.starts_with(magic))
}

/// The format that `byte` chooses from `formats`.
pub fn choose(formats: &[Format], byte: u8) -> Format {
    formats[usize::from(byte) % formats.len()]
}

/// The formats that have a line for a request.
pub const TEXT: &[Format] = &[
    Format::Idlewise,
    Format::FioV2,
    Format::FioV3,
    Format::Msr,
    Format::Spc,
    Format::Alibaba,
    Format::Tencent,
    Format::Systor,
    Format::CloudPhysics,
    Format::Fiu,
    Format::Disksim,
    Format::Drive,
    Format::Mqsim,
];

/// The formats that are made of events, as text.
pub const EVENTS: &[Format] = &[Format::Blkparse, Format::Ftrace];

/// The binary formats.
pub const BINARY: &[Format] = &[Format::Blktrace, Format::Vscsi];
