//! IOzone in its throughput mode, all tests in order: in each one, workers go through a file each (UNC §VI).

use rand::Rng;

use super::setting::{Full, Setting, own_rng};
use crate::machine::program::{DirectoryId, FileId, Op, Part, Program, program};
use crate::machine::running::Job;

/// A worker's file.
const FILE: u64 = 100 << 20;
/// A record in throughput mode, and in the runs of one process.
const RECORD: u64 = 4096;
const LARGE_RECORD: u64 = 64 << 10;
/// Records from one read to the next; at the file's end the reads go on at its beginning (`stride_read_test`).
const STRIDE: u64 = 17;

/// What a worker does with the records of its file, one after the other.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Test {
    Write,
    Rewrite,
    Read,
    Stride,
    RandomRead,
    Mixed,
    RandomWrite,
}

/// The tests in IOzone's order. Times of writes have no fsync in them, if nothing is asked for.
const TESTS: [(&str, Test); 8] = [
    ("write", Test::Write),
    ("rewrite", Test::Rewrite),
    ("read", Test::Read),
    ("re-read", Test::Read),
    ("stride-read", Test::Stride),
    ("random-read", Test::RandomRead),
    ("mixed", Test::Mixed),
    ("random-write", Test::RandomWrite),
];

#[derive(Clone, Copy)]
struct Work {
    file: FileId,
    directory: DirectoryId,
    records: u64,
    record: u64,
}

/// A worker in a test.
fn worker(setting: &mut Setting, work: Work, test: Test) -> Program {
    let Work { file, directory, records, record } = work;
    let mut rng = own_rng(setting);
    let each = move |number: u64| {
        let place = match test {
            Test::Write | Test::Rewrite | Test::Read => number,
            Test::Stride => number * STRIDE % records,
            Test::RandomRead | Test::Mixed | Test::RandomWrite => rng.random_range(0..records),
        };
        let part = Part { file, from: place * record, bytes: record, call: record as u32 };
        let write = match test {
            Test::Write | Test::Rewrite | Test::RandomWrite => true,
            Test::Read | Test::Stride | Test::RandomRead => false,
            Test::Mixed => number % 2 == 1,
        };
        if write { Op::Write(part) } else { Op::Read(part) }
    };
    let first = if test == Test::Write { Op::Create(file, directory) } else { Op::Open(file) };
    program([first].into_iter().chain((0..records).map(each)).chain([Op::Close(file)]))
}

/// The tests, each with workers of its own.
fn tests(setting: &mut Setting, record: u64) -> Result<Vec<Job>, Full> {
    let directory = setting.root()?;
    let records = setting.scaled(FILE / record);
    let files: Vec<FileId> = (0..setting.wish.instances).map(|_| setting.files.plan_file()).collect();
    let mut all = Vec::new();
    for (name, test) in TESTS {
        all.push(Op::Mark(name));
        for file in &files {
            let work = Work { file: *file, directory, records, record };
            all.push(Op::Spawn("worker", worker(setting, work, test)));
        }
        all.push(Op::Wait);
    }
    Ok(vec![Job { name: "iozone", program: program(all), background: false }])
}

pub(super) fn small_records(setting: &mut Setting) -> Result<Vec<Job>, Full> {
    tests(setting, RECORD)
}

pub(super) fn large_records(setting: &mut Setting) -> Result<Vec<Job>, Full> {
    tests(setting, LARGE_RECORD)
}
