//! What a phase is like: its processes.

use idlewise_core::{Duration, Instant, Sector, Sectors};

use super::super::{Ground, Pattern, Process, Think};

/// Declares the kinds, each with its name and what its processes do.
macro_rules! kinds {
    ($($kind:ident $name:literal: $summary:literal;)*) => {
        /// The kind of a phase.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Kind {
            $(#[doc = $summary] $kind,)*
        }

        impl Kind {
            /// All kinds.
            pub const ALL: &'static [Kind] = &[$(Kind::$kind),*];

            /// The kind's name.
            pub fn name(self) -> &'static str {
                match self { $(Kind::$kind => $name),* }
            }

            /// What its processes do, in a sentence.
            pub fn summary(self) -> &'static str {
                match self { $(Kind::$kind => $summary),* }
            }
        }
    };
}

kinds! {
    SeqReaders "seq-readers": "4 that read files of 64 MiB, each in order, 64 KiB at a time, as fast as they get it; files anywhere.";
    Thinkers "thinkers": "2 that read a file in order, 64 KiB at a time, and compute 3 ms on each.";
    RandomReaders "random-readers": "8 that read 4 KiB anywhere, one at a time.";
    Scatter "scatter": "2 that keep 16 reads of 4 KiB outstanding, anywhere: asynchronous I/O.";
    Writers "writers": "4 that write files in order, 128 KiB at a time; nobody waits: writeback with 16 outstanding each.";
    Mail "mail": "12 that read and write 8 KiB anywhere in their spools, wait for each, and flush every fourth.";
    Database "database": "8 that read 8 KiB, mostly the popular ones, and compute 1 ms; one that writes a log in order, 16 KiB at a time.";
    Backup "backup": "One that reads the disk in order, 256 KiB at a time, beside 3 people who read 16 KiB now and then.";
    Copy "copy": "One that reads a file in order, 128 KiB at a time, and one that writes with 64 outstanding.";
    Web "web": "6 that read files of 256 KiB, each in order by pieces of 32 KiB, files anywhere; 2 ms between files.";
    Streams2 "streams-2": "2 that read in order, 64 KiB at a time, as fast as they get it; begun 300 ms apart.";
    Streams4 "streams-4": "4 such.";
    Streams8 "streams-8": "8 such.";
    Streams16 "streams-16": "16 such.";
    Boot "boot": "A boot: 240 processes within 12 s, each reads a program of 256 KiB in order, 32 KiB at a time, computes 2 ms on each, and exits.";
    Oltp "oltp-backup": "8 that read 8 KiB, mostly the popular ones, and compute 1 ms; a log of 16 KiB writes, each flushed; one that reads the disk in order.";
    Compile "compile": "6 that read sources of 32 KiB and compute up to 20 ms on each; a flusher that writes 512 pieces of 64 KiB every few seconds.";
    Video "video": "6 that read a film at 2 MiB a second, 128 KiB at a time, by the clock; one that scans the disk in order.";
    Compaction "compaction": "One that reads 256 KiB in order and one that writes as much with 32 outstanding; 8 that read 4 KiB, mostly the popular ones.";
    StartBesideStreams "start-streams": "A program that starts every 4 s with 300 reads of 4 to 16 KiB, all over its files; 3 that read in order beside it.";
    StartBesideWriters "start-writers": "The same program beside 2 that write in order with 32 outstanding.";
}

const KIB: u64 = 2;
const GIB: u64 = KIB << 20;
/// Requests until the end of the phase: more than any phase has.
const MANY: u64 = 1 << 50;

/// A part of the disk: its `index`th of `count`.
fn part(ground: Ground, index: u64, count: u64) -> (Sector, u64) {
    let length = ground.capacity.0 / count / 8 * 8;
    (Sector(index * length), length)
}

/// A file of at most `most` sectors at the beginning of a part.
fn file(ground: Ground, index: u64, count: u64, most: u64) -> Process {
    let (file_start, length) = part(ground, index, count);
    Process { file_start, file_sectors: length.min(most), requests: MANY, ..Process::default() }
}

/// As many copies of what `make` makes as asked for, with their numbers.
fn several(count: u64, name: &str, make: impl Fn(u64) -> Process) -> Vec<Process> {
    (0..count).map(|index| Process { name: format!("{name}{}", index + 1), ..make(index) }).collect()
}

fn us(time: u64) -> Think {
    Think::Fixed(Duration::from_us(time))
}

impl Kind {
    /// The kind called `name`.
    pub fn named(name: &str) -> Option<Kind> {
        Kind::ALL.iter().copied().find(|kind| kind.name() == name)
    }

    /// The kind's processes, with the start of each counted from the phase's.
    pub(super) fn processes(self, ground: Ground) -> Vec<Process> {
        let block = |kib: u64| Sectors((kib * KIB) as u32);
        match self {
            Kind::SeqReaders => {
                // Files end: else who is served first, and so which zone of the disk, would decide the rate.
                several(4, "reader", |index| Process {
                    block: block(64),
                    pattern: Pattern::Runs(1024),
                    ..file(ground, index, 4, u64::MAX)
                })
            }
            Kind::Thinkers => several(2, "thinker", |index| Process {
                block: block(64),
                think: us(3000),
                ..file(ground, index, 3, 4 * GIB)
            }),
            Kind::RandomReaders => several(8, "random", |index| Process {
                block: block(4),
                pattern: Pattern::Random,
                think: us(200),
                ..file(ground, index, 8, u64::MAX)
            }),
            Kind::Scatter => several(2, "scatter", |index| Process {
                block: block(4),
                pattern: Pattern::Random,
                depth: 16,
                ..file(ground, index, 2, u64::MAX)
            }),
            Kind::Writers => several(4, "writer", |index| Process {
                block: block(128),
                reads_percent: 0,
                sync_writes: false,
                depth: 16,
                ..file(ground, index, 4, 8 * GIB)
            }),
            Kind::Mail => several(12, "mail", |index| Process {
                block: block(8),
                pattern: Pattern::Random,
                reads_percent: 60,
                flush_every: 4,
                think: Think::Uniform(Duration::from_ms(4)),
                ..file(ground, index, 24, 2 * GIB)
            }),
            Kind::Database => database(ground),
            Kind::Backup => backup(ground),
            Kind::Copy => copy(ground),
            Kind::Web => several(6, "web", |index| Process {
                block: block(32),
                pattern: Pattern::Runs(8),
                burst: 8,
                think: us(2000),
                ..file(ground, index, 6, 16 * GIB)
            }),
            Kind::Streams2 => streams(2, ground),
            Kind::Streams4 => streams(4, ground),
            Kind::Streams8 => streams(8, ground),
            Kind::Streams16 => streams(16, ground),
            Kind::Boot => boot(ground),
            Kind::Oltp => oltp(ground),
            Kind::Compile => compile(ground),
            Kind::Video => video(ground),
            Kind::Compaction => compaction(ground),
            Kind::StartBesideStreams => starts(ground).into_iter().chain(streams(3, ground)).collect(),
            Kind::StartBesideWriters => starts(ground).into_iter().chain(two_writers(ground)).collect(),
        }
    }
}

/// Readers in order, begun one after the other: processes that begin together are a burst to some schedulers.
fn streams(count: u64, ground: Ground) -> Vec<Process> {
    several(count, "stream", |index| Process {
        block: Sectors(128),
        start: Instant::ZERO + Duration::from_ms(index * 300),
        ..file(ground, index, count + 1, u64::MAX)
    })
}

fn boot(ground: Ground) -> Vec<Process> {
    several(240, "program", |index| Process {
        block: Sectors(64),
        requests: 8,
        think: us(2000),
        start: Instant::ZERO + Duration::from_ms(index * 50),
        ..file(ground, index, 240, GIB)
    })
}

fn two_writers(ground: Ground) -> Vec<Process> {
    several(2, "writer", |index| Process {
        block: Sectors(256),
        reads_percent: 0,
        sync_writes: false,
        depth: 32,
        ..file(ground, index, 4, 8 * GIB)
    })
}

/// A program that is started again and again: each start is a process.
fn starts(ground: Ground) -> Vec<Process> {
    several(4, "start", |index| Process {
        block: Sectors(8),
        sizes: [vec![(1, 50), (2, 30), (4, 20)], Vec::new()],
        pattern: Pattern::Random,
        think: us(200),
        requests: 300,
        start: Instant::ZERO + Duration::from_ms(2000 + index * 4000),
        ..file(ground, 24, 25, GIB)
    })
}

fn oltp(ground: Ground) -> Vec<Process> {
    let mut all = queries(ground);
    let log = Process { block: Sectors(32), reads_percent: 0, flush_every: 1, ..file(ground, 2, 4, GIB) };
    let backup = Process { block: Sectors(512), think: us(100), ..file(ground, 0, 1, u64::MAX) };
    all.push(Process { name: "log".to_owned(), think: us(2000), ..log });
    all.push(Process { name: "backup".to_owned(), start: Instant::ZERO + Duration::from_ms(500), ..backup });
    all
}

fn compile(ground: Ground) -> Vec<Process> {
    let mut all = several(6, "compiler", |index| Process {
        block: Sectors(32),
        pattern: Pattern::Runs(2),
        burst: 2,
        think: Think::Uniform(Duration::from_ms(20)),
        start: Instant::ZERO + Duration::from_ms(index * 100),
        ..file(ground, 1, 4, 2 * GIB)
    });
    all.push(Process {
        name: "flusher".to_owned(),
        block: Sectors(128),
        reads_percent: 0,
        sync_writes: false,
        depth: 64,
        burst: 512,
        think: us(3_000_000),
        pattern: Pattern::Runs(16),
        start: Instant::ZERO + Duration::from_ms(1000),
        ..file(ground, 2, 4, 2 * GIB)
    });
    all
}

fn video(ground: Ground) -> Vec<Process> {
    let mut all = several(6, "film", |index| Process {
        block: Sectors(256),
        interval: Duration::from_us(62_500),
        start: Instant::ZERO + Duration::from_ms(index * 300),
        ..file(ground, index + 1, 8, 4 * GIB)
    });
    let scan = Process { block: Sectors(512), think: us(100), ..file(ground, 0, 8, u64::MAX) };
    all.push(Process { name: "scan".to_owned(), ..scan });
    all
}

fn compaction(ground: Ground) -> Vec<Process> {
    let mut all = several(8, "point", |index| Process {
        block: Sectors(8),
        pattern: Pattern::Zipf(1.1),
        think: us(500),
        start: Instant::ZERO + Duration::from_ms(index * 50),
        ..file(ground, 3, 4, 4 * GIB)
    });
    let base = Process { block: Sectors(512), ..file(ground, 0, 4, 4 * GIB) };
    let (file_start, _) = part(ground, 2, 4);
    let written = Process { file_start, reads_percent: 0, sync_writes: false, depth: 32, ..base.clone() };
    all.push(Process { name: "reads".to_owned(), think: us(1000), ..base });
    all.push(Process { name: "writes".to_owned(), ..written });
    all
}

fn queries(ground: Ground) -> Vec<Process> {
    several(8, "query", |_| Process {
        block: Sectors(16),
        pattern: Pattern::Zipf(1.1),
        think: us(1000),
        ..file(ground, 1, 4, 4 * GIB)
    })
}

fn database(ground: Ground) -> Vec<Process> {
    let mut all = queries(ground);
    all.push(Process {
        name: "log".to_owned(),
        block: Sectors(32),
        reads_percent: 0,
        think: us(2000),
        ..file(ground, 2, 4, GIB)
    });
    all
}

fn backup(ground: Ground) -> Vec<Process> {
    let mut all = several(3, "person", |index| Process {
        block: Sectors(32),
        pattern: Pattern::Random,
        think: Think::Uniform(Duration::from_ms(60)),
        ..file(ground, index + 4, 8, 2 * GIB)
    });
    all.push(Process {
        name: "backup".to_owned(),
        block: Sectors(512),
        think: us(100),
        ..file(ground, 0, 1, u64::MAX)
    });
    all
}

fn copy(ground: Ground) -> Vec<Process> {
    let base = Process { block: Sectors(256), ..file(ground, 0, 3, 4 * GIB) };
    let reader = Process { name: "from".to_owned(), think: us(100), ..base.clone() };
    let (file_start, _) = part(ground, 2, 3);
    let writer = Process {
        name: "to".to_owned(),
        file_start,
        reads_percent: 0,
        sync_writes: false,
        depth: 64,
        ..base
    };
    vec![reader, writer]
}
