//! Rows read in a second, by format: parsing, checking and ordering, on one core.
//!
//! Targets: 2 million for text with a line for a request, 8 million for binary. What is measured is
//! the time that this thread had a core for, so that a busy machine does not falsify it; where
//! Linux's `/proc` is missing, it is the time that passed.

mod core_time;

use core_time::CoreTime;
use criterion::measurement::WallTime;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use idlewise_core::{Instant, Issuer, Operation, Sector, Sectors};
use idlewise_sim::traces::{Format, Options, Record, Trace, Writer};
use std::fmt::Write as _;
use std::io::Cursor;

/// Requests in each generated trace.
const REQUESTS: u64 = 200_000;

/// Requests 10 us apart, three reads to a write, scattered over a disk of 1 TB.
fn records() -> impl Iterator<Item = Record> {
    (0..REQUESTS).map(|at| {
        let arrival = Instant(at * 10_000);
        let operation = if at % 4 == 3 { Operation::Write } else { Operation::Read };
        let start = Sector(at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33 & !7);
        Record {
            dispatched: Some(Instant(arrival.0 + 2_000)),
            completed: Some(Instant(arrival.0 + 90_000)),
            issuer: Some(Issuer(1000 + (at % 16) as u32)),
            ..Record::new(arrival, operation, start, Sectors(8 + (at % 3) as u32 * 8))
        }
    })
}

/// The trace in `format`, and the rows in it.
fn trace(format: Format) -> (Vec<u8>, u64) {
    let mut bytes = Vec::new();
    match format {
        Format::Vscsi => vscsi(&mut bytes),
        Format::Alibaba | Format::Tencent | Format::Systor | Format::CloudPhysics | Format::Fiu => {
            bytes = lines(format).into_bytes();
        }
        _ => {
            let mut writer = Writer::new(format, &mut bytes).expect("the format can be written");
            for record in records() {
                writer.write(&record, "8:0", Some("fio")).expect("memory takes what is written");
            }
            writer.finish().expect("memory takes what is written");
        }
    }
    let (mut trace, mut records) = (open(bytes.clone(), format), 0);
    while trace.next().expect("the trace is well formed").is_some() {
        records += 1;
    }
    assert_eq!(records, REQUESTS, "{format}");
    let rows = trace.report().rows;
    (bytes, rows)
}

fn open(bytes: Vec<u8>, format: Format) -> Trace {
    let options = Options { format: Some(format), ..Options::default() };
    Trace::from_reader(Cursor::new(bytes), "bench", &options).expect("the trace is well formed")
}

fn vscsi(bytes: &mut Vec<u8>) {
    for (serial, record) in records().enumerate() {
        bytes.extend((serial as u32).to_le_bytes());
        bytes.extend((record.length.bytes() as u32).to_le_bytes());
        bytes.extend(1u32.to_le_bytes());
        bytes.extend(if record.operation == Operation::Read { 0x28u16 } else { 0x2a }.to_le_bytes());
        bytes.extend(0x100u16.to_le_bytes());
        bytes.extend(record.start.0.to_le_bytes());
        bytes.extend((record.arrival.0 / 1_000).to_le_bytes());
    }
}

/// The formats that have no writer.
fn lines(format: Format) -> String {
    let mut text = String::new();
    for record in records() {
        let read = record.operation == Operation::Read;
        let (micros, letter) = (record.arrival.0 / 1_000, if read { 'R' } else { 'W' });
        let (start, length) = (record.start.0, record.length.0);
        let (offset, size) = (start * 512, length * 512);
        let outcome = match format {
            Format::Alibaba => {
                writeln!(text, "419,{letter},{offset},{size},{}", 1_577_808_000_000_000 + micros)
            }
            Format::Tencent => writeln!(
                text,
                "{},{start},{length},{},1063",
                1_538_323_200 + micros / 1_000_000,
                u8::from(!read)
            ),
            Format::Systor => writeln!(
                text,
                "{}.{:06}000,0.000090000,{letter},0,{offset},{size}",
                1_455_591_804 + micros / 1_000_000,
                micros % 1_000_000
            ),
            Format::Fiu => writeln!(
                text,
                "{} 12 nfsd {start} {length} {letter} 6 0 5d41402abc4b2a76b9719d911017c592",
                record.arrival.0
            ),
            _ => writeln!(
                text,
                "1,{},{},{size},{start}",
                5_633_898 + micros / 1_000_000,
                if read { "28" } else { "2a" }
            ),
        };
        outcome.expect("memory takes what is written");
    }
    text
}

fn readers(criterion: &mut Criterion<CoreTime>) {
    let mut group = criterion.benchmark_group("read");
    group.sample_size(20);
    let formats = [
        Format::Blktrace,
        Format::Vscsi,
        Format::Idlewise,
        Format::Msr,
        Format::Spc,
        Format::Alibaba,
        Format::Tencent,
        Format::Systor,
        Format::CloudPhysics,
        Format::Fiu,
        Format::Disksim,
        Format::Mqsim,
        Format::FioV3,
        Format::Blkparse,
    ];
    for format in formats {
        let (bytes, rows) = trace(format);
        group.throughput(Throughput::Elements(rows));
        group.bench_function(BenchmarkId::from_parameter(format), |bencher| {
            bencher.iter_batched(
                || open(bytes.clone(), format),
                |mut trace| {
                    let mut sum = 0u64;
                    while let Some(record) = trace.next().expect("the trace is well formed") {
                        sum = sum.wrapping_add(record.start.0);
                    }
                    sum
                },
                criterion::BatchSize::LargeInput,
            );
        });
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().with_measurement(CoreTime(WallTime));
    targets = readers
}
criterion_main!(benches);
