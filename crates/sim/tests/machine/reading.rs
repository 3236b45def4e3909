//! Reading: who waits for what, and what is read with it.

use idlewise_core::{Duration, Instant, Issuer};
use idlewise_sim::machine::Machine;
use idlewise_sim::machine::parameters::{Costs, Parameters};
use idlewise_sim::machine::presets;
use idlewise_sim::machine::program::{FileId, Op, Part, program};
use idlewise_sim::workloads::Named;

use super::{LATENCY, file_system, job, linux, pages, reads, run, scaled, writes};

/// The same machine with calls that take no time.
fn without_costs(parameters: Parameters) -> Parameters {
    let none = Duration::ZERO;
    let costs = Costs {
        call: none,
        page: none,
        fetch: none,
        fault: none,
        name: none,
        fork: none,
        exec: none,
        exit: none,
        ..parameters.costs
    };
    Parameters { costs, ..parameters }
}

/// A machine with one file of `count` pages, and what a process does with it.
fn one_file(parameters: Parameters, count: u64, operations: impl Fn(FileId) -> Vec<Op>) -> Machine {
    let mut files = file_system(&parameters);
    let directory = files.make_directory(None).unwrap();
    let file = files.make_file(directory, count * 4096).unwrap();
    Machine::new(parameters, files, 32, vec![job(operations(file))])
}

/// 16 pages, then 18 and 32 as read-ahead goes; the block of pointers behind the first 12 pages comes between.
#[test]
fn cat_reads_windows_and_the_block_that_says_where_they_lie() {
    let (seen, _) = run(one_file(linux(), 200, |file| vec![Op::Read(Part::all(file, 4096))]));
    assert_eq!(pages(&reads(&seen.requests, false)), [12, 4, 18, 32, 32, 32, 32, 32, 6]);
    assert_eq!(reads(&seen.requests, true).len(), 1);
    assert!(seen.requests.iter().all(|one| one.sync && one.issuer == Issuer(3)));
}

/// The process waits for the pages that it wants. What is read ahead goes on while it computes.
#[test]
fn a_process_waits_for_what_it_wants_and_not_for_what_is_read_ahead() {
    // A window of 32 pages, and then 32 calls of 4 KiB with 200 us each: 6.4 ms, longer than a request.
    let think = Duration::from_us(200);
    let calls = move |file: FileId| {
        let page = move |page: u64| {
            [Op::Read(Part { file, from: page * 4096, bytes: 4096, call: 4096 }), Op::Compute(think)]
        };
        (0..640).flat_map(page).collect::<Vec<_>>()
    };
    let parameters = without_costs(presets::named("debian12").unwrap());
    let (_, end) = run(one_file(parameters, 640, calls));
    let computing = Duration(640 * think.0);
    let over = end.since(Instant::ZERO).0 - computing.0;
    assert!(over < 5 * LATENCY.0, "it waited for {} ms", over / 1_000_000);

    // Without read-ahead each of the pages is waited for.
    let random = move |file: FileId| {
        let page = move |page: u64| {
            [
                Op::Read(Part { file, from: page * 37 % 640 * 4096, bytes: 4096, call: 4096 }),
                Op::Compute(think),
            ]
        };
        (1..=100).flat_map(page).collect::<Vec<_>>()
    };
    let (seen, end) = run(one_file(parameters, 640, random));
    assert_eq!(pages(&reads(&seen.requests, false)), [1; 100]);
    assert_eq!(end, Instant::ZERO + Duration(100 * (think.0 + LATENCY.0)));
}

#[test]
fn what_is_in_memory_is_not_read_again() {
    let twice = |file| vec![Op::Read(Part::all(file, 4096)), Op::Read(Part::all(file, 65_536))];
    let (seen, _) = run(one_file(linux(), 100, twice));
    assert_eq!(pages(&reads(&seen.requests, false)).iter().sum::<u32>(), 100);
    // In a memory of 64 pages the file pushes itself out.
    let (seen, _) = run(one_file(Parameters { memory: 64, ..linux() }, 100, twice));
    assert!(pages(&reads(&seen.requests, false)).iter().sum::<u32>() >= 200);
}

/// FreeBSD reads around a fault and nothing ahead; each fault is waited for.
#[test]
fn faults_read_around_and_not_ahead() {
    let parameters = Parameters { access_times: false, ..presets::named("freebsd-4.3").unwrap() };
    let (seen, _) = run(one_file(parameters, 64, |file| vec![Op::Touch(Part::all(file, 0))]));
    let data = reads(&seen.requests, false);
    assert_eq!(pages(&data), [8; 8]);
    let gaps: Vec<u64> = data.windows(2).map(|two| two[1].arrival.since(two[0].arrival).0).collect();
    assert!(gaps.iter().all(|gap| *gap >= LATENCY.0), "{gaps:?}");
}

/// A call of 256 KiB on a driver that takes 128 KiB: both parts at once, and the first says that one follows.
#[test]
fn long_reads_come_in_parts_that_say_so() {
    let parameters = Parameters { request_max: 8, ..presets::named("debian12").unwrap() };
    let (seen, _) = run(one_file(parameters, 24, |file| vec![Op::Read(Part::all(file, 24 * 4096))]));
    let parts: Vec<_> =
        reads(&seen.requests, false).iter().map(|one| (one.length.0 / 8, one.more_follows)).collect();
    assert_eq!(parts, [(8, true), (8, true), (8, false)]);
}

/// Open reads the directory's block and the inode's; the same again nothing.
#[test]
fn names_and_inodes_are_read_once() {
    let (seen, _) = run(one_file(linux(), 1, |file| vec![Op::Open(file), Op::Stat(file), Op::Open(file)]));
    assert_eq!(pages(&reads(&seen.requests, true)), [1, 1]);
    assert_eq!(seen.requests.len(), 2);
}

/// Of `find -exec cat`: a block for each directory, one for each 32 inodes, and the data of each file by a process of
/// its own, which belongs to its parent's group.
#[test]
fn find_exec_cat_asks_for_names_inodes_and_files() {
    let (seen, _) = run(scaled("find", linux(), 1, 0));
    let (metadata, data) = (reads(&seen.requests, true), reads(&seen.requests, false));
    let kernel = seen.machine.kernel();
    let (files, directories) = (160, 10);
    let inodes: std::collections::BTreeSet<u32> =
        (0..files).map(|file| kernel.files.file(FileId(file)).inode).collect();
    let pointers = (0..files).filter(|file| kernel.files.pages(FileId(*file)) > 12).count();
    assert_eq!(metadata.len(), directories + inodes.len() + pointers);
    let total: u32 = (0..files).map(|file| kernel.files.pages(FileId(file))).sum();
    assert_eq!(pages(&data).iter().sum::<u32>(), total);
    let issuers: std::collections::BTreeSet<Issuer> = data.iter().map(|one| one.issuer).collect();
    assert_eq!(issuers.len(), files as usize, "a process for each file");
    assert!(seen.requests.iter().all(|one| one.group.0 == 3));
    // A file of 8 pages at most is one request.
    let small = (0..files).filter(|file| kernel.files.pages(FileId(*file)) <= 8).count();
    assert!(
        data.len() >= small && data.len() <= small + 6 * (files as usize - small),
        "{} {small}",
        data.len()
    );
    assert!(writes(&seen.requests).is_empty());
}

/// Two processes that compute on one processor take twice as long as one.
#[test]
fn processes_share_the_processor() {
    let second = || job([Op::Compute(Duration::from_s(1))]);
    let parameters = linux();
    let two = |count| Parameters { costs: Costs { processors: count, ..parameters.costs }, ..parameters };
    let [one, each] = [1, 2]
        .map(|count| run(Machine::new(two(count), file_system(&parameters), 32, vec![second(), second()])).1);
    assert_eq!((one, each), (Instant::ZERO + Duration::from_s(2), Instant::ZERO + Duration::from_s(1)));
}

/// A parent waits for its children, who run at the same time and cost a fork, an exec and an exit each.
#[test]
fn a_parent_waits_for_its_children() {
    let parameters = linux();
    let child = || Op::Spawn("child", program([Op::Compute(Duration::from_ms(10))]));
    let parent = job([child(), child(), Op::Wait, Op::Mark("after")]);
    let (seen, end) = run(Machine::new(parameters, file_system(&parameters), 32, vec![parent]));
    let Costs { fork, exec, exit, .. } = parameters.costs;
    let known = Duration(2 * (fork.0 + exec.0 + exit.0) + Duration::from_ms(20).0);
    assert_eq!(end, Instant::ZERO + known);
    assert_eq!(seen.machine.moments().len(), 2);
}
