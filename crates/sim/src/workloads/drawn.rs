//! Programs drawn at random: loads for which nobody has tuned a scheduler.
//!
//! A number draws one to four programs. Each has a kind, one or several processes, sizes, depths and think times of its own, and
//! may come later or end sooner than the others. The same number draws the same programs on every disk, but for the lengths of
//! files: at most a 160th of the disk, so that all fit.

use idlewise_core::{Duration, Instant, Sector, Sectors};
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{Ground, Pattern, Process, Processes, Think};

/// Programs of a load, at most.
const MOST_PROGRAMS: u32 = 4;
/// No file is longer than this part of the disk, and no gap between files: with 16 files of each program half of it is used at most.
const PART: u64 = 160;
/// 64 MiB: no file is shorter, if the disk is large enough.
const SMALL: u64 = 64 << 11;
/// Starts and ends lie at these parts of the whole time, counted in eighths.
const EIGHTHS: u64 = 8;

/// A program: what each of its processes does, how many there are, and whether they share a file.
struct Program {
    kind: &'static str,
    process: Process,
    count: u32,
    shares: bool,
}

/// Kinds of programs. Some are drawn more often, as disks see them more often.
const KINDS: &[fn(&mut Draw) -> Program] = &[
    reader,
    reader,
    read_ahead,
    thinker,
    writer,
    writeback,
    random,
    random,
    asynchronous,
    player,
    committer,
    database,
    small_files,
];

/// What is drawn from.
struct Draw(Xoshiro256PlusPlus);

impl Draw {
    fn of<T: Copy>(&mut self, values: &[T]) -> T {
        *values.choose(&mut self.0).expect("there is something to draw from")
    }

    fn kib(&mut self, sizes: &[u32]) -> Sectors {
        Sectors(self.of(sizes) * 2)
    }

    fn think(&mut self, times_us: &[u64]) -> Think {
        let time = Duration::from_us(self.of(times_us));
        if self.of(&[true, false]) { Think::Fixed(time) } else { Think::Uniform(time) }
    }

    fn percent(&mut self, percent: u32) -> bool {
        self.0.random_range(0..100) < percent
    }
}

/// A program of which nothing is drawn but how many processes it has.
fn program(draw: &mut Draw, kind: &'static str, counts: &[u32]) -> Program {
    Program { kind, process: Process::default(), count: draw.of(counts), shares: false }
}

/// Reads a file in order, as fast as it gets it.
fn reader(draw: &mut Draw) -> Program {
    let mut program = program(draw, "reader", &[1, 1, 2, 3, 5]);
    program.process.block = draw.kib(&[16, 32, 64, 128, 256, 512]);
    program
}

/// The same with requests ahead.
fn read_ahead(draw: &mut Draw) -> Program {
    let mut program = program(draw, "read-ahead", &[1, 2, 3]);
    program.process.block = draw.kib(&[64, 128, 256]);
    program.process.depth = draw.of(&[2, 4, 8, 16]);
    program
}

/// Reads a file in order, and computes on it: after each request, or after several.
fn thinker(draw: &mut Draw) -> Program {
    let mut program = program(draw, "thinker", &[1, 2, 4]);
    program.process.block = draw.kib(&[32, 64, 128]);
    program.process.think = draw.think(&[500, 1_000, 2_000, 4_000, 7_000, 12_000, 25_000]);
    program.process.burst = draw.of(&[1, 1, 2, 4, 16]);
    program
}

/// Writes a file in order, past the page cache.
fn writer(draw: &mut Draw) -> Program {
    let mut program = program(draw, "writer", &[1, 1, 2, 4]);
    program.process.reads_percent = 0;
    program.process.block = draw.kib(&[64, 128, 256, 512]);
    program.process.depth = draw.of(&[1, 4, 8, 16, 32]);
    if draw.percent(30) {
        program.process.interval = Duration::from_us(draw.of(&[5_000, 20_000, 50_000]));
    }
    program
}

/// What the page cache writes for a program.
fn writeback(draw: &mut Draw) -> Program {
    let mut program = writer(draw);
    program.kind = "writeback";
    (program.process.sync_writes, program.process.depth) = (false, draw.of(&[16, 32, 64]));
    if draw.percent(30) {
        program.process.pattern = Pattern::Runs(draw.of(&[1, 4, 16]));
    }
    program
}

/// Reads anywhere in a file that all its processes share.
fn random(draw: &mut Draw) -> Program {
    let mut program = Program { shares: true, ..program(draw, "random", &[1, 2, 4, 8, 16]) };
    program.process.block = draw.kib(&[4, 8, 16, 64]);
    program.process.pattern = draw.of(&[Pattern::Random, Pattern::Random, Pattern::Zipf(1.1)]);
    program.process.think = draw.think(&[0, 0, 200, 1_000, 5_000, 20_000]);
    program
}

/// Keeps several reads or writes anywhere outstanding.
fn asynchronous(draw: &mut Draw) -> Program {
    let mut program = Program { shares: true, ..program(draw, "asynchronous", &[1, 1, 2]) };
    program.process.block = draw.kib(&[4, 8, 32]);
    program.process.pattern = Pattern::Random;
    program.process.depth = draw.of(&[4, 8, 16, 32]);
    program.process.reads_percent = draw.of(&[100, 100, 0]);
    program
}

/// Plays a film: reads at a fixed rate.
fn player(draw: &mut Draw) -> Program {
    let mut program = program(draw, "player", &[1, 2, 4, 8]);
    program.process.block = draw.kib(&[128, 256, 1024]);
    program.process.interval = Duration::from_us(draw.of(&[30_000, 60_000, 125_000, 250_000]));
    program
}

/// Commits: small synchronous writes, in order or anywhere, each few of them with a flush.
fn committer(draw: &mut Draw) -> Program {
    let mut program = Program { shares: true, ..program(draw, "committer", &[1, 1, 3]) };
    program.process.block = draw.kib(&[4, 8, 16]);
    program.process.reads_percent = 0;
    program.process.pattern = draw.of(&[Pattern::Sequential, Pattern::Random]);
    // A log has one writer.
    program.shares = program.process.pattern != Pattern::Sequential;
    program.process.flush_every = draw.of(&[1, 4, 16]);
    program.process.think = draw.think(&[0, 500, 5_000]);
    program
}

/// Reads and writes anywhere.
fn database(draw: &mut Draw) -> Program {
    let mut program = Program { shares: true, ..program(draw, "database", &[1, 2, 4]) };
    program.process.block = draw.kib(&[4, 8, 16]);
    program.process.pattern = Pattern::Random;
    program.process.reads_percent = draw.of(&[50, 70, 90]);
    program.process.depth = draw.of(&[1, 4, 8]);
    program
}

/// Reads small files, each in order, one after the other, anywhere in a tree.
fn small_files(draw: &mut Draw) -> Program {
    let mut program = Program { shares: true, ..program(draw, "small-files", &[1, 2, 4]) };
    program.process.block = draw.kib(&[4, 16, 32]);
    program.process.pattern = Pattern::Runs(draw.of(&[2, 4, 8, 32]));
    program.process.think = draw.think(&[0, 200, 1_000, 3_000]);
    program
}

/// The programs that `number` draws, for a disk and a time.
pub(super) fn drawn(number: u64, time: Duration, ground: Ground) -> Processes {
    Processes::new(programs(number, time, ground), ground.seed)
}

fn seeded(number: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(number)
}

fn programs(number: u64, time: Duration, ground: Ground) -> Vec<Process> {
    let mut draw = Draw(seeded(number));
    let longest = ground.capacity.0 / PART;
    let mut next = longest * draw.0.random_range(0..PART / 4);
    let mut processes = Vec::new();
    for place in 1..=draw.0.random_range(1..=MOST_PROGRAMS) {
        let program = draw.of(KINDS)(&mut draw);
        let start = if draw.percent(30) { draw.0.random_range(1..EIGHTHS / 2) } else { 0 };
        let end = if draw.percent(25) { draw.0.random_range(EIGHTHS / 2..EIGHTHS) } else { EIGHTHS };
        let [length, gap] = [(); 2].map(|()| length(&mut draw, longest));
        for clone in 1..=program.count {
            processes.push(Process {
                name: format!("{}{place}.{clone}", program.kind),
                file_start: Sector(next),
                file_sectors: length,
                start: Instant::ZERO + time * start / EIGHTHS,
                runtime: time * (end - start) / EIGHTHS,
                requests: u64::MAX,
                seed: u64::from(place) << 32 | u64::from(clone),
                ..program.process.clone()
            });
            if !program.shares || clone == program.count {
                next += length + gap;
            }
        }
    }
    processes
}

/// How long a file is: any order of magnitude is as likely as another, but what is small stays in memory.
fn length(draw: &mut Draw, longest: u64) -> u64 {
    (longest >> draw.0.random_range(0..10)).max(SMALL.min(longest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const TIME: Duration = Duration::from_s(20);

    fn draw(number: u64, capacity: u64, seed: u64) -> Vec<Process> {
        programs(number, TIME, Ground { capacity: Sector(capacity), depth: 32, seed })
    }

    #[test]
    fn all_kinds_are_drawn_and_each_has_something_to_do() {
        let all: Vec<Process> = (1..=300).flat_map(|number| draw(number, 4_000_000_000, 1)).collect();
        let kind = |process: &Process| {
            process.name.trim_end_matches(|c: char| c == '.' || c.is_ascii_digit()).to_owned()
        };
        let kinds: BTreeSet<String> = all.iter().map(kind).collect();
        let named: BTreeSet<String> =
            KINDS.iter().map(|make| make(&mut Draw(seeded(1))).kind.to_owned()).collect();
        assert_eq!(kinds, named);
        for process in &all {
            let end = process.start + process.runtime;
            assert!(process.runtime >= TIME / EIGHTHS && end <= Instant::ZERO + TIME, "{process:?}");
            assert!(
                process.file_sectors >= SMALL && process.file_sectors >= u64::from(process.block.0),
                "{process:?}"
            );
        }
    }

    #[test]
    fn files_fit_any_disk_and_only_programs_that_share_one_overlap() {
        for capacity in [3_000_000, 80_000_000, 40_000_000_000] {
            for number in 1..=300 {
                let all = draw(number, capacity, 1);
                assert!(
                    all.iter().all(|process| process.file_start.0 + process.file_sectors <= capacity),
                    "{number}"
                );
                for (one, other) in all.iter().zip(&all[1..]) {
                    let apart = one.file_start.0 + one.file_sectors <= other.file_start.0;
                    assert!(
                        apart || one.file_start == other.file_start,
                        "{number}: {} and {}",
                        one.name,
                        other.name
                    );
                }
            }
        }
    }

    #[test]
    fn the_seed_of_a_run_draws_nothing() {
        let names =
            |seed: u64| draw(7, 80_000_000, seed).into_iter().map(|process| process.name).collect::<Vec<_>>();
        assert_eq!(names(1), names(2));
    }
}
