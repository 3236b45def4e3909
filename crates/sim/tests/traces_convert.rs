//! Writers: what is written in a format is read back, as far as the format can hold it.

#[path = "traces/fixtures.rs"]
#[expect(dead_code, reason = "shared with the tests of the readers")]
mod fixtures;

use idlewise_core::{Class, Durable, Instant, Issuer, Operation, Priority, Sector, Sectors};
use idlewise_sim::traces::{Format, Options, Record, Trace, TraceError, WriteError, Writer, Written};
use proptest::prelude::*;
use std::io::Cursor;

fn read(bytes: Vec<u8>, format: Option<Format>) -> Result<Vec<Record>, TraceError> {
    let options = Options { format, ..Options::default() };
    let mut trace = Trace::from_reader(Cursor::new(bytes), "t", &options)?;
    let mut out = Vec::new();
    while let Some(record) = trace.next()? {
        out.push(record);
    }
    Ok(out)
}

fn write(format: Format, records: &[Record], devices: &[&str]) -> (Vec<u8>, Written) {
    let mut bytes = Vec::new();
    let mut writer = Writer::new(format, &mut bytes).unwrap();
    for record in records {
        let process = record.issuer.map(|_| "my proc, \"x\"");
        writer.write(record, devices[record.device as usize], process).unwrap();
    }
    let written = writer.finish().unwrap();
    (bytes, written)
}

/// Device names that each format can hold.
fn devices(format: Format) -> [&'static str; 2] {
    match format {
        Format::Blkparse | Format::Blktrace => ["8:0", "259:3"],
        Format::Msr => ["hm_0", "hm_1"],
        Format::Spc | Format::Disksim | Format::Mqsim => ["0", "1"],
        Format::FioV2 | Format::FioV3 => ["/dev/sda", "/dev/sdb"],
        _ => ["8:0", "a disk, \u{e9}"],
    }
}

/// `record` as far as `format` can hold it; `None` if it cannot at all.
fn held(format: Format, record: &Record) -> Option<Record> {
    let simple = !matches!(record.operation, Operation::Discard | Operation::Flush);
    let bare = Record {
        device: record.device,
        ..Record::new(record.arrival, record.operation, record.start, record.length)
    };
    let whole = |time: Instant, unit: u64| Instant(time.0 / unit * unit);
    match format {
        Format::Idlewise => Some(*record),
        Format::Blkparse | Format::Blktrace => Some(Record { priority: None, ..*record }),
        Format::FioV2 | Format::FioV3 => Some(Record { arrival: whole(record.arrival, 1_000), ..bare }),
        Format::Msr => simple.then(|| {
            let arrival = whole(record.arrival, 100);
            let took = record.completed.map_or(0, |done| (done.0 - record.arrival.0) / 100 * 100);
            Record { arrival, completed: Some(Instant(arrival.0 + took)), ..bare }
        }),
        _ => simple.then_some(bare),
    }
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        6 => Just(Operation::Read),
        6 => Just(Operation::Write),
        1 => Just(Operation::Discard),
        1 => Just(Operation::Flush),
    ]
}

prop_compose! {
    /// A record whose extent no other has: formats of events cannot tell equals apart.
    fn record()(
        gap in 0u64..5_000_000,
        kind in operation(),
        length in 1u32..2_000,
        waited in any::<bool>(),
        metadata in any::<bool>(),
        (before, itself) in any::<(bool, bool)>(),
        times in proptest::option::of((0u64..1_000_000, 0u64..1_000_000)),
        sent in any::<bool>(),
        pid in proptest::option::of(1u32..5_000_000),
        level in proptest::option::of((0u8..3, 0u8..8)),
        device in 0u32..2,
    ) -> (u64, Record) {
        let flush = kind == Operation::Flush;
        let mut record = Record::new(Instant(0), kind, Sector(0), Sectors(if flush { 0 } else { length }));
        record.sync |= waited;
        record.metadata = metadata;
        record.durable = Durable::of_write(Some(kind), before, itself);
        record.issuer = pid.map(Issuer);
        let class = |c| [Class::RealTime, Class::BestEffort, Class::Idle][usize::from(c)];
        record.priority = level.map(|(c, level)| Priority { class: class(c), level });
        record.device = device;
        // One flush completes all that wait, so flushes have no times here.
        if let Some((wait, took)) = times.filter(|_| !flush) {
            record.dispatched = sent.then_some(Instant(wait));
            record.completed = Some(Instant(wait + took));
        }
        (gap, record)
    }
}

/// A trace that begins at 0, in order, each record at its own place.
fn trace() -> impl Strategy<Value = Vec<Record>> {
    proptest::collection::vec(record(), 1..60).prop_map(|rows| {
        let mut now = 0;
        let mut out: Vec<Record> = Vec::new();
        for (at, (gap, mut record)) in rows.into_iter().enumerate() {
            now += if at == 0 { 0 } else { gap };
            record.arrival = Instant(now);
            record.dispatched = record.dispatched.map(|time| Instant(time.0 + now));
            record.completed = record.completed.map(|time| Instant(time.0 + now));
            if record.operation != Operation::Flush {
                record.start = Sector(at as u64 * 10_000);
            }
            out.push(record);
        }
        // The first request is on device 0 and is held by every format, so that time 0 stays.
        out[0] = Record { device: 0, ..Record::read(Instant(0), Sector(1 << 40), Sectors(8)) };
        if let Some(second) = out.get_mut(1) {
            second.device = 1;
        }
        out
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_read_back(records in trace()) {
        for &format in Format::ALL.iter().filter(|format| format.about().writable) {
            let (bytes, written) = write(format, &records, &devices(format));
            let want: Vec<Record> = records.iter().filter_map(|record| held(format, record)).collect();
            prop_assert_eq!(written.records, want.len() as u64);
            let mut got = read(bytes.clone(), Some(format)).unwrap();
            // Devices are numbered as they appear; a format that leaves a record out may differ.
            if let Some(first) = want.iter().position(|record| record.device == 1) {
                prop_assert_eq!(got[first].device, 1);
            }
            if matches!(format, Format::Blkparse | Format::Blktrace) {
                // A record that never completes is given out in its place all the same.
                prop_assert_eq!(got.len(), want.len());
            }
            for (got, want) in got.iter_mut().zip(&want) {
                prop_assert_eq!(&*got, want, "{}\n{}", format, String::from_utf8_lossy(&bytes));
            }
            prop_assert_eq!(got.len(), want.len());
        }
    }
}

/// The records with devices numbered as they appear.
fn renumbered(records: &[Record]) -> Vec<Record> {
    let mut seen = Vec::new();
    let number = |record: &Record| {
        let known = seen.iter().position(|&device| device == record.device);
        let device = known.unwrap_or_else(|| {
            seen.push(record.device);
            seen.len() - 1
        });
        Record { device: device as u32, ..*record }
    };
    records.iter().map(number).collect()
}

#[test]
fn every_fixture_survives_idlewises_own_format() {
    for fixture in fixtures::all() {
        let (bytes, written) = write(Format::Idlewise, &fixture.records, &fixture.devices);
        assert_eq!(written.losses, []);
        let got = read(bytes, None).unwrap();
        assert_eq!(renumbered(&got), renumbered(&fixture.records), "{}", fixture.format);
    }
}

#[test]
fn what_is_written_is_recognised() {
    let records: Vec<Record> = (0..20u64)
        .map(|at| Record { device: 0, ..Record::read(Instant(at * 1_234_567), Sector(at * 64), Sectors(8)) })
        .collect();
    for &format in Format::ALL.iter().filter(|format| format.about().writable) {
        let (bytes, _) = write(format, &records, &devices(format));
        let trace = Trace::from_reader(Cursor::new(bytes), "t", &Options::default()).unwrap();
        assert_eq!(trace.format(), format);
    }
}

#[test]
fn losses_are_told() {
    let fixture = fixtures::all().into_iter().find(|fixture| fixture.format == Format::Idlewise).unwrap();
    let (_, written) = write(Format::Spc, &fixture.records, &["0", "1"]);
    let losses: Vec<(&str, u64)> = written.losses.iter().map(|loss| (loss.what, loss.records)).collect();
    assert_eq!(written.records, 2);
    assert_eq!(
        losses,
        [
            ("dispatch times", 1),
            ("completion times", 1),
            ("issuers", 1),
            ("priorities", 1),
            ("flags (synchronous, metadata)", 2),
            ("discards, left out", 1),
            ("flushes, left out", 1),
        ]
    );
    let (_, written) = write(Format::FioV3, &[Record::read(Instant(1_001), Sector(0), Sectors(1))], &["a"]);
    assert_eq!(written.losses[0].what, "exact times, rounded down");
}

#[test]
fn a_format_that_can_only_be_read_is_refused() {
    let Err(error) = Writer::new(Format::Fiu, Vec::new()) else { panic!("fiu has no writer") };
    assert!(matches!(error, WriteError::NotWritable { .. }));
    assert!(error.to_string().contains("idlewise, blktrace, blkparse"), "{error}");
}

#[test]
fn a_trace_is_copied_with_its_names() {
    let mut trace = Trace::from_reader(Cursor::new(fixtures::BLKPARSE), "t", &Options::default()).unwrap();
    let mut bytes = Vec::new();
    let mut writer = Writer::new(Format::Idlewise, &mut bytes).unwrap();
    writer.copy(&mut trace).unwrap();
    assert_eq!(writer.finish().unwrap().records, 6);
    let mut again = Trace::from_reader(Cursor::new(bytes), "t", &Options::default()).unwrap();
    while again.next().unwrap().is_some() {}
    assert_eq!(again.process(Issuer(697)), Some("my proc/2"));
    assert_eq!(again.devices(), ["8:0"]);
}
