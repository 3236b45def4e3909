//! Realistic job files, and what becomes of them.

use idlewise_core::{Class, Duration, Instant, Operation, RequestId};

use super::*;
use crate::engine::Workload;
use crate::engine::exits::Exits;

const GROUND: Ground = Ground { capacity: Sector(1 << 24), depth: 32, seed: 1 };

fn build(text: &str) -> Processes {
    let jobs = JobFile::parse("j.fio", text).unwrap_or_else(|error| panic!("{error}"));
    jobs.build(GROUND).unwrap_or_else(|error| panic!("{error}"))
}

fn error(text: &str) -> String {
    let jobs = JobFile::parse("j.fio", text);
    match jobs.and_then(|jobs| jobs.build(GROUND)) {
        Ok(_) => panic!("accepted: {text}"),
        Err(error) => error.to_string(),
    }
}

/// One request as (µs of issue, issuer, operation, start, length).
type Seen = (u64, u32, Operation, u64, u32);

/// Runs a workload on a disk that takes a millisecond for each request, any number at once.
fn run(mut workload: Processes, most: usize) -> Vec<Seen> {
    let mut seen = Vec::new();
    let mut in_flight: std::collections::VecDeque<(Instant, RequestId)> = Default::default();
    let mut ids: Vec<u32> = (0..1000).collect();
    loop {
        let arrival = workload.next().filter(|_| seen.len() < most);
        match (arrival, in_flight.front().copied()) {
            (at, Some((done, id))) if at.is_none_or(|at| done <= at) => {
                in_flight.pop_front();
                ids.push(id.0);
                workload.completed(done, id, &mut Exits::default());
            }
            (Some(at), _) => {
                let id = RequestId(ids.pop().unwrap());
                let request = workload.issue(id);
                in_flight.push_back((at + Duration::from_ms(1), id));
                let Sectors(length) = request.length;
                seen.push((at.0 / 1000, request.issuer.0, request.operation, request.start.0, length));
            }
            (None, _) => return seen,
        }
    }
}

#[test]
fn a_sequential_reader_reads_its_file_once() {
    let seen = run(build("[seq]\nrw=read\nbs=64k\nsize=256k\n"), 100);
    let wanted = |n: u64| (n * 1000, 1, Operation::Read, n * 128, 128);
    assert_eq!(seen, (0..4).map(wanted).collect::<Vec<_>>());
}

#[test]
fn random_reads_visit_every_block_once_and_keep_their_depth() {
    let text = "[global]\nioengine=libaio\ndirect=1\n[rnd]\nrw=randread\nsize=1m\niodepth=8\n";
    let seen = run(build(text), 10_000);
    let mut starts: Vec<_> = seen.iter().map(|row| row.3).collect();
    starts.sort_unstable();
    assert_eq!(starts, (0..256).map(|block| block * 8).collect::<Vec<_>>());
    assert_eq!(seen.iter().filter(|row| row.0 == 0).count(), 8);
}

#[test]
fn stonewall_waits_for_all_before_and_start_delay_counts_from_there() {
    let text = "[global]\nsize=16k\nrw=read\n[a]\n[b]\nsize=32k\n[c]\nstonewall\nstartdelay=1\nrw=write\n";
    let seen = run(build(text), 100);
    let of = |issuer: u32| seen.iter().filter(move |row| row.1 == issuer);
    assert_eq!(of(1).next().unwrap().0, 0);
    assert_eq!(of(2).next_back().unwrap().0, 7_000);
    assert_eq!(of(3).next().unwrap().0, 1_008_000);
    assert!(of(3).all(|row| row.2 == Operation::Write));
    assert_eq!(of(3).count(), 4);
}

#[test]
fn runtime_ends_and_time_based_repeats() {
    let seen = run(build("[a]\nsize=64k\nruntime=5ms\n"), 1000);
    assert_eq!(seen.len(), 5);
    let seen = run(build("[a]\nsize=8k\nruntime=5ms\ntime_based\n"), 1000);
    assert_eq!(seen.iter().map(|row| row.3).collect::<Vec<_>>(), [0, 8, 0, 8, 0]);
    assert_eq!(run(build("[a]\nsize=8k\nloops=3\n"), 1000).len(), 6);
    assert_eq!(run(build("[a]\nsize=1m\nnumber_ios=7\n"), 1000).len(), 7);
    assert_eq!(run(build("[a]\nsize=8k\nio_size=64k\n"), 1000).len(), 16);
}

#[test]
fn rates_are_kept_and_lateness_is_caught_up() {
    let seen = run(build("[a]\nsize=40k\nrate_iops=100\n"), 1000);
    assert_eq!(
        seen.iter().map(|row| row.0).collect::<Vec<_>>(),
        (0..10).map(|n| n * 10_000).collect::<Vec<_>>()
    );
    // 2000 a second is more than the disk gives: no request waits for its turn.
    let seen = run(build("[a]\nsize=40k\nrate=8000k\n"), 1000);
    assert_eq!(seen.last().unwrap().0, 9_000);
    let seen = run(build("[a]\nioengine=libaio\niodepth=16\nsize=40k\nrate=400k\n"), 1000);
    assert_eq!(seen.last().unwrap().0, 90_000);
}

#[test]
fn think_time_comes_after_its_blocks() {
    let seen = run(build("[a]\nsize=24k\nthinktime=10ms\nthinktime_blocks=3\n"), 1000);
    assert_eq!(seen.iter().map(|row| row.0).collect::<Vec<_>>(), [0, 1000, 2000, 13_000, 14_000, 15_000]);
    let seen = run(build("[a]\nioengine=libaio\niodepth=32\nsize=16k\nthinktime=500\n"), 1000);
    assert_eq!(seen.iter().map(|row| row.0).collect::<Vec<_>>(), [0, 1500, 3000, 4500]);
}

#[test]
fn fsync_follows_its_writes() {
    let seen = run(build("[log]\nrw=write\nbs=8k\nsize=48k\nfsync=2\n"), 1000);
    let kinds: Vec<_> = seen.iter().map(|row| row.2).collect();
    use Operation::{Flush, Write};
    assert_eq!(kinds, [Write, Write, Flush, Write, Write, Flush, Write, Write]);
    // Who thinks does so before the flush: what was written may be on the medium by then.
    let seen = run(build("[log]\nrw=write\nbs=8k\nsize=24k\nfsync=1\nthinktime=10ms\n"), 1000);
    let rows: Vec<_> = seen.iter().map(|row| (row.0, row.2)).collect();
    assert_eq!(rows, [(0, Write), (11_000, Flush), (12_000, Write), (23_000, Flush), (24_000, Write)]);
}

#[test]
fn split_sizes_come_by_their_shares() {
    let seen = run(
        build("[a]\nrw=randrw\nrwmixread=70\nbssplit=4k/75:64k/25,16k\nsize=512m\nnumber_ios=4000\n"),
        9999,
    );
    let count = |operation, length| seen.iter().filter(|row| row.2 == operation && row.4 == length).count();
    let (small, large, writes) =
        (count(Operation::Read, 8), count(Operation::Read, 128), count(Operation::Write, 32));
    assert_eq!(small + large + writes, 4000);
    assert!((1950..2250).contains(&small), "{small}");
    assert!((600..800).contains(&large), "{large}");
    assert!((1100..1300).contains(&writes), "{writes}");
    assert!(seen.iter().all(|row| row.3 + u64::from(row.4) <= 1 << 20));
}

#[test]
fn files_lie_one_after_the_other_and_names_are_shared() {
    let text = "[global]\nsize=1536k\nbs=512\n[a]\n[b]\nfilename=data\noffset=512k\n[c]\nfilename=data\n[d]\nnumjobs=2\n";
    let seen = run(build(text), 5);
    let starts: Vec<_> = seen.iter().map(|row| (row.1, row.3)).collect();
    // a: 0 to 1.5 MiB; data: 2 to 4 MiB, b at its half MiB; d.1 at 4 MiB, d.2 at 6 MiB.
    assert_eq!(starts, [(1, 0), (2, 4096 + 1024), (3, 4096), (4, 8192), (5, 12288)]);
}

#[test]
fn a_device_is_the_whole_disk() {
    let text =
        "[dev]\nfilename=/dev/sdb\nrw=randread\nsize=10%\nnorandommap\ntime_based\nruntime=1\noffset=50%\n";
    let seen = run(build(text), 1000);
    let (low, high) = (1 << 23, (1 << 23) + (1 << 24) / 10 + 8);
    assert!(seen.iter().all(|row| (low..high).contains(&row.3)));
    let last = "[dev]\nfilename=/dev/sdb\nrw=read\nbs=1m\noffset=99%\n";
    assert!(run(build(last), 1000).last().unwrap().3 < 1 << 24);
    assert!(
        error("[dev]\nfilename=/dev/sdb\noffset=9g\n")
            .contains("j.fio:3: job 'dev': between its offset and the end of its file no request fits")
    );
}

#[test]
fn priorities_and_names_reach_the_report() {
    let jobs = JobFile::parse(
        "j",
        "[bulk]\nsize=1m\nprioclass=3\n[db]\nsize=1m\nnumjobs=2\nprio=1\n[n]\nsize=1m\nnice=19\n",
    );
    let mut built = jobs.unwrap().build(GROUND).unwrap();
    let first: Vec<_> = (0..4).map(|id| built.issue(RequestId(id)).priority).collect();
    assert_eq!(
        first.iter().map(|p| p.class).collect::<Vec<_>>(),
        [Class::Idle, Class::BestEffort, Class::BestEffort, Class::BestEffort]
    );
    assert_eq!(first.iter().map(|p| p.level).collect::<Vec<_>>(), [0, 1, 1, 7]);
    use super::super::Named;
    let name = |issuer| built.name(idlewise_core::Issuer(issuer)).unwrap();
    assert_eq!([name(1), name(2), name(3)], ["bulk", "db.1", "db.2"]);
}

#[test]
fn warnings_name_what_is_ignored_with_its_line() {
    let text = "[global]\nnrfiles=4\ndirect=1\n[a]\nsize=1m\niodepth=8\ngroup_reporting\nverify=crc32c\n";
    let warnings = JobFile::parse("j.fio", text).unwrap().warnings;
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert_eq!(warnings[0], "keys that are not modelled, ignored: nrfiles (j.fio:2), verify (j.fio:8)");
    assert!(warnings[1].starts_with("j.fio:6: job 'a': iodepth=8 has no effect with ioengine=psync"));
}

#[test]
fn errors_say_where_what_and_the_cure() {
    for (text, wanted) in [
        ("", "j.fio: there is no job: write a [name]"),
        ("[global]\nsize=1m\n", "j.fio: there is no job"),
        ("[a]\nrw=read\n", "j.fio:1: job 'a' does not say how much: add size="),
        ("[a]\nsize=20%\n", "j.fio:2: a share needs a whole: add filesize="),
        ("[a]\nsize=1m\nrw=randtrim\n", "j.fio:3: rw=randtrim: trims are not supported: choose read"),
        ("[a]\nsize=1m\nrw=backwards\n", "j.fio:3: rw=backwards: wants read, write"),
        ("[a]\nsize=-1\n", "j.fio:2: size=-1: wants a size such as 4k or 1g"),
        (
            "[a]\nsize=1m\nbs=4kib\n",
            "j.fio:3: bs=4kib: is 4000 bytes; wants a multiple of 512 (in fio kib is 1000",
        ),
        ("[a]\nsize=4k\nbs=1m\n", "j.fio:2: job 'a': size is less than one request"),
        ("[a]\nsize=1m\ntime_based\n", "j.fio:3: job 'a' is time_based without end: add runtime="),
        ("[a]\nsize=1t\n", "j.fio: the files need 1099.5 GB and the disk has 8.6 GB: choose a smaller size"),
        ("[a]\nsize=1m\nrandom_distribution=zoned:50/5\n", "j.fio:3: random_distribution=zoned:50/5: is not"),
        ("[a]\nsize=1m\nioengine=rbd\n", "j.fio:3: ioengine=rbd: is not supported: choose libaio"),
        (
            "[a]\nsize=1m\nread_iolog=x\n",
            "j.fio:3: read_iolog=x: a recorded trace is not a job: give it as --trace",
        ),
        (
            "[a]\nsize=1m\nbssplit=4k/60:8k/60\n",
            "j.fio:3: bssplit=4k/60:8k/60: has shares that add up to 120",
        ),
    ] {
        let message = error(text);
        assert!(message.starts_with(wanted), "{message}");
    }
}

#[test]
fn the_keys_that_are_told_of_are_known() {
    for key in KEYS.iter().flat_map(|(keys, _)| keys.split(", ")) {
        let text = format!("[a]\nsize=1m\ndirect=1\n{key}=1\n");
        if let Ok(jobs) = JobFile::parse("j", &text) {
            assert!(!jobs.warnings.iter().any(|warning| warning.contains("not modelled")), "{key}");
        }
    }
}
