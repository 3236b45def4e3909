//! ext4 of today: blocks at the time of writeback, commits that flush the drive's cache. What sqlite and the journal send is what
//! `idlewise record` shows of them in a guest.

use idlewise_core::{Durable, Duration, Instant, Issuer, Operation, Request};
use idlewise_sim::machine::parameters::{Allocation, Layout, Parameters};
use idlewise_sim::machine::program::{Op, Part};
use idlewise_sim::machine::{Machine, presets};
use idlewise_sim::workloads::Named;

use super::{PAGE, Watched, file_system, job, pages, run, scaled, writes};

fn debian() -> Parameters {
    presets::named("debian12").unwrap()
}

/// A process that makes a file of ten pages, and does `then`.
fn make(parameters: Parameters, then: impl Fn(idlewise_sim::machine::program::FileId) -> Vec<Op>) -> Watched {
    let mut files = file_system(&parameters);
    let directory = files.make_directory(None).unwrap();
    let file = files.plan_file();
    let part = Part { file, from: 0, bytes: 40_960, call: 65_536 };
    let all: Vec<Op> = [Op::Create(file, directory), Op::Write(part)].into_iter().chain(then(file)).collect();
    run(Machine::new(parameters, files, 32, vec![job(all)])).0
}

fn sleep(seconds: u64) -> Op {
    Op::Sleep(Duration::from_s(seconds))
}

/// A commit after five seconds has nothing of the data in it, for that has no blocks yet; with blocks at once it writes the data first.
#[test]
fn a_commit_does_not_write_what_has_no_blocks() {
    let journal = |one: &&Request| one.issuer == Issuer(2);
    let seen = make(debian(), |_| vec![sleep(8)]);
    let own: Vec<&Request> = seen.requests.iter().filter(journal).collect();
    assert_eq!(own.len(), 2, "the log, and its record");
    assert!(writes(&seen.requests).iter().all(journal));
    let layout = Layout { allocation: Allocation::AtOnce { reserve: 0 }, ..debian().layout };
    let seen = make(Parameters { layout, ..debian() }, |_| vec![sleep(8)]);
    assert_eq!(pages(&writes(&seen.requests))[0], 10, "ordered: data first");
}

#[test]
fn the_flusher_gives_a_file_its_blocks_in_one_row() {
    let seen = make(debian(), |_| vec![sleep(40)]);
    let data: Vec<&Request> =
        seen.requests.iter().filter(|one| one.issuer == Issuer(1) && !one.metadata).collect();
    assert_eq!(pages(&data), [10]);
    assert!(data[0].arrival >= Instant::ZERO + Duration::from_s(30));
}

#[test]
fn what_is_removed_in_time_is_never_written() {
    let seen = make(debian(), |file| vec![sleep(1), Op::Unlink(file), sleep(40)]);
    assert!(seen.requests.iter().all(|one| one.operation != Operation::Write || one.metadata));
}

/// The record of a commit follows all that it speaks of, and is on the medium itself; fdatasync of what a commit has dealt
/// with flushes the cache, and one of overwritten pages does so without a commit.
#[test]
fn commits_and_syncs_flush_the_drive() {
    let whole = |file| Part { file, from: 0, bytes: 4096, call: 4096 };
    let seen = make(debian(), |file| {
        vec![
            Op::SyncData(file),
            Op::Mark("again"),
            Op::Write(whole(file)),
            Op::SyncData(file),
            Op::Sync(file),
        ]
    });
    let durable: Vec<usize> =
        (0..seen.requests.len()).filter(|at| seen.requests[*at].durable != Durable::default()).collect();
    let flushes = seen.requests.iter().filter(|one| one.operation == Operation::Flush).count();
    // fsync commits the time of the second write.
    assert_eq!((durable.len(), flushes), (2, 1));
    let [first, _] = durable[..] else { panic!() };
    assert_eq!(seen.requests[first].durable, Durable { before: true, itself: true });
    assert_eq!(seen.requests[first].length.0, PAGE);
    let again = seen.machine.moments()[0].at;
    assert!(seen.requests[first].arrival < again);
    assert!(!presets::named("linux-2.6.9").unwrap().journal.unwrap().barriers, "ext3 had none by default");
}

/// An insert of sqlite: its journal of three pages; the log of seven blocks and the record; a flush for the directory; the journal's
/// first page once more and a flush; two pages of the database and a flush.
#[test]
fn sqlite_sends_what_the_kernel_shows() {
    let seen = run(scaled("sqlite", debian(), 1, 0)).0;
    let name = |one: &Request| match (one.operation, one.issuer.0) {
        (Operation::Flush, _) => "flush".to_owned(),
        (_, 2) if one.durable.before => "record".to_owned(),
        (_, 2) => format!("log {}", one.length.0 / PAGE),
        _ => format!("write {}", one.length.0 / PAGE),
    };
    let all: Vec<String> =
        seen.requests.iter().filter(|one| one.operation != Operation::Read).map(name).collect();
    let one = ["write 3", "log 7", "record", "flush", "write 1", "flush", "write 2", "flush"];
    let inserts: Vec<&[String]> = all.chunks(one.len()).collect();
    assert_eq!(inserts.len(), 10);
    for insert in &inserts[1..] {
        assert_eq!(*insert, one);
    }
}
