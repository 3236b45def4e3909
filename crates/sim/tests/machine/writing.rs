//! Writing: when dirty pages reach the disk, and who waits for it.

use idlewise_core::{Duration, Instant, Issuer, Merging};
use idlewise_sim::machine::parameters::{DirtyLimits, Parameters};
use idlewise_sim::machine::presets;
use idlewise_sim::machine::program::{FileId, Op, Part, program};
use idlewise_sim::machine::{Job, Machine};
use idlewise_sim::workloads::Named;

use super::{LATENCY, Watched, by, file_system, job, linux, pages, reads, run, run_merging, scaled, writes};

/// A file that is there, and a process that writes `count` pages over it, and does `then`.
fn overwrite(parameters: Parameters, count: u64, then: impl Fn(FileId) -> Vec<Op>) -> (Watched, Instant) {
    let mut files = file_system(&parameters);
    let directory = files.make_directory(None).unwrap();
    let file = files.make_file(directory, count * 4096).unwrap();
    let part = Part { file, from: 0, bytes: count * 4096, call: 65_536 };
    let all = [Op::Compute(Duration::from_ms(1)), Op::Write(part)]
        .into_iter()
        .chain(then(file))
        .collect::<Vec<_>>();
    run(Machine::new(parameters, files, 32, vec![job(all)]))
}

fn sleep(seconds: u64) -> Vec<Op> {
    vec![Op::Compute(Duration::from_s(seconds))]
}

/// What became dirty in the beginning is 30 s old at the pass of 35 s, and not yet at the pass of 30 s.
#[test]
fn the_flusher_writes_what_is_old() {
    let (seen, _) = overwrite(linux(), 100, |_| sleep(34));
    assert!(writes(&seen.requests).is_empty());
    let (seen, _) = overwrite(linux(), 100, |_| sleep(40));
    let written = writes(&seen.requests);
    assert_eq!(pages(&written).iter().sum::<u32>(), 101, "the pages, and the inode");
    assert!(written.iter().all(|one| one.issuer == Issuer(1) && !one.sync));
    assert!(written.iter().all(|one| one.arrival >= Instant::ZERO + Duration::from_s(35)));
    assert!(written[0].arrival < Instant::ZERO + Duration::from_ms(35_010));
    assert_eq!(seen.dirty, 0);
}

/// Requests are as long as the driver takes them and the file lies in a row: 12 pages, then behind the block of pointers.
#[test]
fn the_flusher_writes_long_requests() {
    let (seen, _) = overwrite(linux(), 100, |_| sleep(40));
    let mut lengths = pages(&writes(&seen.requests));
    lengths.sort_unstable();
    assert_eq!(lengths, [1, 12, 24, 32, 32]);
}

fn limits(background: u32, most: u32) -> Parameters {
    let usual = linux();
    Parameters { dirty: DirtyLimits { background, most, ..usual.dirty }, ..usual }
}

#[test]
fn beyond_the_background_limit_the_flusher_writes_at_once_down_to_it() {
    let (seen, _) = overwrite(limits(500, 5000), 499, |_| sleep(20));
    assert!(writes(&seen.requests).is_empty());
    let (seen, _) = overwrite(limits(500, 5000), 1000, |_| sleep(20));
    assert!((450..=500).contains(&seen.dirty), "{}", seen.dirty);
    assert!(writes(&seen.requests)[0].arrival < Instant::ZERO + Duration::from_s(1));
}

/// The writer fills the memory up to the limit and then goes at the disk's pace.
#[test]
fn beyond_the_limit_writers_wait() {
    let (seen, end) = overwrite(limits(100, 300), 3200, |_| Vec::new());
    // A process runs for a slice before it gives way: some pages more.
    assert!((300..=400).contains(&seen.most_dirty), "{}", seen.most_dirty);
    // 100 requests of 32 pages, without the last few.
    assert!(end > Instant::ZERO + Duration(85 * LATENCY.0), "{end:?}");
    let (free, early) = overwrite(limits(4000, 5000), 3200, |_| Vec::new());
    assert!(early < Instant::ZERO + Duration::from_ms(300) && free.most_dirty >= 3200, "{early:?}");
}

/// Without room for anything clean the flusher makes some.
#[test]
fn a_memory_full_of_dirty_pages_is_written() {
    let parameters = Parameters { memory: 256, ..limits(10_000, 100_000) };
    let (seen, _) = overwrite(parameters, 2000, |_| Vec::new());
    assert!(pages(&writes(&seen.requests)).iter().sum::<u32>() >= 1744);
    assert!(seen.machine.kernel().cache.len() <= 256);
}

/// A new file under ext3: after 5 s its data, then the journal, and nothing else until the changed blocks are 30 s old.
#[test]
fn the_journal_commits_data_first() {
    let parameters = Parameters { access_times: false, ..presets::named("linux-2.6.9").unwrap() };
    let mut files = file_system(&parameters);
    let directory = files.make_directory(None).unwrap();
    let file = files.plan_file();
    let (start, blocks) = files.journal().unwrap();
    let part = Part { file, from: 0, bytes: 40 * 4096, call: 4096 };
    let all = [Op::Create(file, directory), Op::Write(part), Op::Compute(Duration::from_s(20))];
    let (seen, _) = run(Machine::new(parameters, files, 32, vec![job(all)]));
    let written = writes(&seen.requests);
    assert!(written.iter().all(|one| one.issuer == Issuer(2)), "all by the journal");
    assert!(written[0].arrival >= Instant::ZERO + Duration::from_s(5));
    assert!(written[0].arrival < Instant::ZERO + Duration::from_ms(5100));
    let in_journal = |block: u32| (start..start + blocks).contains(&block);
    let places: Vec<(u32, u32)> =
        written.iter().map(|one| ((one.start.0 / 8) as u32, one.length.0 / 8)).collect();
    let data =
        places.iter().take_while(|(block, _)| !in_journal(*block)).map(|(_, count)| count).sum::<u32>();
    assert_eq!(data, 40);
    let log: Vec<_> = places.iter().skip_while(|(block, _)| !in_journal(*block)).collect();
    assert_eq!(log.len(), 2, "{places:?}");
    // What lists the changes, the bitmaps of inodes and blocks, the descriptor of their group, the inodes of file and directory in
    // one block, the name, and the block of pointers; then the block that ends it.
    assert_eq!((*log[0], log[1].1), ((start, 7), 1), "{places:?}");
    assert_eq!(log[1].0, start + 7);
    // Each step waits for the one before.
    let last = written.len() - 1;
    assert!(written[last].arrival >= written[last - 1].arrival + LATENCY);
}

/// fsync: the data by the process, then a commit at once, for which it waits.
#[test]
fn fsync_waits_for_data_and_commit() {
    let parameters = Parameters { access_times: false, ..presets::named("linux-2.6.9").unwrap() };
    let (seen, end) = overwrite(parameters, 10, |file| vec![Op::Sync(file)]);
    let written = writes(&seen.requests);
    assert_eq!(by(&seen.requests, 3), 1 + reads(&seen.requests, true).len(), "one write, and what was read");
    assert_eq!(written.len(), 3, "data, log, record");
    assert!(written[0].sync && written[0].issuer == Issuer(3));
    let steps: Vec<_> = written.windows(2).map(|two| two[1].arrival.since(two[0].arrival)).collect();
    assert!(steps.iter().all(|step| *step >= LATENCY), "{steps:?}");
    assert!(end >= written[2].arrival + LATENCY && end < Instant::ZERO + Duration::from_ms(100));
    let (plain, end) = overwrite(linux(), 10, |file| vec![Op::Sync(file)]);
    assert_eq!(writes(&plain.requests).len(), 2, "data and inode");
    assert!(end < Instant::ZERO + Duration::from_ms(100));
}

/// FFS without soft updates: two writes that are waited for make a file, four a directory.
#[test]
fn ffs_waits_for_names() {
    let parameters = Parameters { access_times: false, ..presets::named("freebsd-4.3").unwrap() };
    let mut files = file_system(&parameters);
    let directory = files.make_directory(None).unwrap();
    let (file, own) = (files.plan_file(), files.plan_directory());
    let all =
        [Op::Create(file, directory), Op::Mark("made"), Op::MakeDirectory(own, directory), Op::Unlink(file)];
    let (seen, _) = run(Machine::new(parameters, files, 32, vec![job(all)]));
    let written = writes(&seen.requests);
    assert_eq!(written.len(), 2 + 4 + 2);
    assert!(written.iter().all(|one| one.sync && one.metadata && one.issuer == Issuer(3)));
    let made = seen.machine.moments()[0].at;
    assert_eq!(written.iter().filter(|one| one.arrival < made).count(), 2);
}

/// FreeBSD writes a cluster as soon as it is full; behind 24 pages lies a block of pointers.
#[test]
fn full_clusters_are_written_behind_the_writer() {
    let parameters = Parameters { access_times: false, ..presets::named("freebsd-4.3").unwrap() };
    let (seen, _) = overwrite(parameters, 40, |_| sleep(1));
    let written = writes(&seen.requests);
    assert_eq!(pages(&written), [16, 8, 8]);
    assert!(written.iter().all(|one| one.issuer == Issuer(3) && !one.sync));
}

/// Part of a page that is not in memory is read before it is written; a whole page is not.
#[test]
fn parts_of_pages_are_read_first() {
    let parameters = linux();
    let count = |from: u64, bytes: u64| {
        let mut files = file_system(&parameters);
        let directory = files.make_directory(None).unwrap();
        let file = files.make_file(directory, 10 * 4096).unwrap();
        let part = Part { file, from, bytes, call: 4096 };
        let (seen, _) = run(Machine::new(parameters, files, 32, vec![job([Op::Write(part)])]));
        reads(&seen.requests, false).len()
    };
    assert_eq!((count(4096, 4096), count(4096, 100), count(5000, 100)), (0, 1, 1));
    assert_eq!(count(10 * 4096, 100), 0, "beyond the end is nothing to read");
}

#[test]
fn a_removed_file_is_not_written() {
    let (seen, _) = overwrite(linux(), 50, |file| vec![Op::Unlink(file), Op::Compute(Duration::from_s(60))]);
    assert!(writes(&seen.requests).iter().all(|one| one.metadata));
}

/// `cp -r`: each byte is read once and written once.
#[test]
fn cp_reads_and_writes_each_byte_once() {
    for (name, parameters) in
        [("without a journal", linux()), ("ext3", presets::named("linux-2.6.9").unwrap())]
    {
        let (seen, _) = run(scaled("cp", parameters, 1, 60));
        let kernel = seen.machine.kernel();
        let total =
            |files: std::ops::Range<u32>| files.map(|file| kernel.files.pages(FileId(file))).sum::<u32>();
        let (old, new) = (total(0..160), total(160..320));
        assert_eq!(old, new);
        assert_eq!(pages(&reads(&seen.requests, false)).iter().sum::<u32>(), old, "{name}");
        let mut data: Vec<u64> = Vec::new();
        for one in writes(&seen.requests).iter().filter(|one| !one.metadata) {
            data.extend((one.start.0..one.start.0 + u64::from(one.length.0)).step_by(8));
        }
        assert_eq!(data.len() as u32, new, "{name}");
        data.sort_unstable();
        data.dedup();
        assert_eq!(data.len() as u32, new, "{name}: a block was written twice");
    }
}

/// The guest's machine without a journal, which has a file of `count` pages written as soon as they are dirty.
fn guest(count: u64, change: impl Fn(&mut Parameters)) -> Watched {
    let usual = presets::named("guest").unwrap();
    let mut parameters =
        Parameters { journal: None, dirty: DirtyLimits { background: 1, ..usual.dirty }, ..usual };
    change(&mut parameters);
    overwrite(parameters, count, |_| sleep(20)).0
}

#[test]
fn ext4_is_written_in_pieces_of_eight_mebibytes() {
    // A pass finds all of the file.
    let seen = guest(5000, |parameters| {
        parameters.dirty = DirtyLimits { background: 6000, age: Duration::from_s(5), ..parameters.dirty };
    });
    let data: Vec<_> = writes(&seen.requests).into_iter().filter(|one| !one.metadata).collect();
    let ends = data.iter().map(|one| one.start.0 / 8 + u64::from(one.length.0 / 8) - data[0].start.0 / 8);
    let ends: Vec<_> = ends.collect();
    assert_eq!(ends.iter().filter(|end| **end <= 2048 * 2 && *end % 2048 == 0).count(), 2, "{ends:?}");
    assert_eq!(ends.last(), Some(&5000));
}

/// A reader asks for the next part of its file as soon as it has read the part before. Alone the reader comes too late: the worker that asks the
/// scheduler has already sent what waits. Beside a process that computes, the reader has had less of the processor and goes first: what it
/// asks for becomes part of what waits.
#[test]
fn the_worker_that_asks_the_scheduler_waits_for_who_has_had_less() {
    let commands = |asks_last: bool, beside: bool| {
        let parameters = Parameters { journal: None, asks_last, ..presets::named("guest").unwrap() };
        let mut files = file_system(&parameters);
        let directory = files.make_directory_at(0, 1).unwrap();
        let file = files.make_file(directory, 2048 * 4096).unwrap();
        let mut jobs = vec![job([Op::Open(file), Op::Read(Part::all(file, 128 << 10))])];
        let computes = program(std::iter::repeat_with(|| Op::Compute(Duration::from_ms(20))));
        jobs.extend(beside.then_some(Job { name: "other", program: computes, background: true }));
        run_merging(Machine::new(parameters, files, 1, jobs), Merging::All).0.sent.len()
    };
    assert_eq!(commands(false, false), commands(true, false));
    let (alone, beside) = (commands(true, false), commands(true, true));
    assert!(4 * beside < 3 * alone, "{beside} of {alone}");
}

/// A paced writer sleeps before the limit is reached; under Linux 2.6 a writer goes on up to the limit.
#[test]
fn writers_of_today_are_paced() {
    let of = |machine| {
        let usual = presets::named(machine).unwrap();
        let dirty = DirtyLimits { background: 4000, most: 8000, ..usual.dirty };
        let parameters = Parameters { journal: None, dirty, request_max: 32, ..usual };
        overwrite(parameters, 60_000, |_| Vec::new()).0.most_dirty
    };
    assert!((8000..8200).contains(&of("linux-2.6.32")), "{}", of("linux-2.6.32"));
    assert!((6000..8000).contains(&of("guest")), "{}", of("guest"));
}
