//! IOAZ's loads: the four that validated its classification, and IOzone's workers, by which its matrices were made.
//! IOAZ is the paper *Optimizing System Performance Through Dynamic Disk Scheduling Algorithm Selection* (2006).
//!
//! What stands between a program and the queue is part of them: read-ahead makes 128 KiB of a program's
//! small reads in order, and writeback hands pages in order to the queue, which merges them.

use idlewise_core::{Duration, Sector, Sectors};

use super::{Ground, Named, Options, Pattern, Process, Processes, SpecError, Think};

const MANY: u64 = 1 << 50;
/// A page of memory, in sectors.
const PAGE: Sectors = Sectors(8);
/// What a program does between two reads.
const THINK: Think = Think::Fixed(Duration::from_us(100));
/// Pages that writeback keeps outstanding.
const WRITEBACK: u32 = 64;

/// The four patterns by name, in the order of IOAZ's columns.
const PATTERNS: [&str; 4] = ["seq-read", "seq-write", "random-read", "random-write"];

/// One of the four loads of IOAZ §3.3.
pub(super) fn ioaz(options: &Options<'_>, ground: Ground) -> Result<Box<dyn Named>, SpecError> {
    let runtime = options.duration("runtime")?;
    let whole = Process {
        file_sectors: ground.capacity.0 / 8 * 8,
        block: PAGE,
        think: THINK,
        requests: MANY,
        runtime,
        ..Process::default()
    };
    let named = |name: &str, process: Process| Process { name: name.to_owned(), ..process };
    let processes = match options.choice("pattern", &PATTERNS)? {
        0 => vec![named("cat", Process { block: Sectors(256), ..whole })],
        1 => vec![named(
            "dd",
            Process {
                file_sectors: whole.file_sectors / 4,
                reads_percent: 0,
                sync_writes: false,
                depth: WRITEBACK,
                think: Think::Fixed(Duration::ZERO),
                ..whole
            },
        )],
        2 => vec![named("dd", Process { pattern: Pattern::Random, ..whole })],
        // A directory or block of inodes is read for every few times that are written back, anywhere.
        _ => vec![named(
            "ls",
            Process { pattern: Pattern::Random, reads_percent: 30, sync_writes: false, depth: 4, ..whole },
        )],
    };
    Ok(Box::new(Processes::new(processes, ground.seed)))
}

/// IOzone's workers.
pub(super) fn iozone(options: &Options<'_>, ground: Ground) -> Result<Box<dyn Named>, SpecError> {
    let count = options.number("n", 1..=1024)?;
    let (record, window) = (options.request_size("record")?, options.request_size("window")?);
    let file = options.sectors("file")?;
    let part = ground.capacity.0 / count / 8 * 8;
    if file > part {
        return Err(
            options.bad("file", &format!("{count} files need more than the disk has: choose smaller ones"))
        );
    }
    let requests = options.number("requests", 1..=MANY)?;
    let mut names = PATTERNS.to_vec();
    names.push("all");
    let chosen = options.choice("pattern", &names)?;
    let all = chosen == PATTERNS.len();
    let sectors = requests.saturating_mul(u64::from(window));
    let worker = |(pattern, index): (usize, u64)| {
        let (random, write) = (pattern >= 2, pattern % 2 == 1);
        let block = if random { record } else { window };
        let name = format!("worker{}", index + 1);
        Process {
            name: if all { format!("{name} {}", PATTERNS[pattern]) } else { name },
            file_start: Sector(index * part),
            file_sectors: file,
            block: Sectors(block),
            pattern: if random { Pattern::Random } else { Pattern::Sequential },
            reads_percent: if write { 0 } else { 100 },
            // Nobody waits for writeback.
            sync_writes: false,
            depth: if write { 16 } else { 1 },
            think: if write { Think::Fixed(Duration::ZERO) } else { THINK },
            group: if all { pattern as u32 } else { 0 },
            requests: if all { (sectors / u64::from(block)).max(1) } else { requests },
            ..Process::default()
        }
    };
    let patterns = if all { 0..PATTERNS.len() } else { chosen..chosen + 1 };
    let workers = patterns.flat_map(|pattern| (0..count).map(move |index| (pattern, index)));
    Ok(Box::new(Processes::new(workers.map(worker).collect(), ground.seed)))
}

#[cfg(test)]
mod tests {
    use crate::experiment::{Choice, Chosen, Experiment, Load};
    use crate::workloads::Spec;
    use idlewise_disk::Profile;

    #[test]
    fn all_patterns_move_as_many_bytes_one_after_the_other() {
        let load = Load::Workload(Spec::parse("iozone:n=2,pattern=all,requests=8").unwrap());
        let entry = Chosen::find("noop").unwrap();
        let schedulers = vec![Choice { label: "noop".to_owned(), entry, settings: Vec::new() }];
        let disk = Profile::named("maxtor-40g").unwrap();
        let experiment = Experiment { schedulers, ..Experiment::new(disk, load) };
        let report = experiment.run(&Default::default()).unwrap().remove(0).report;
        assert_eq!(report.issuers.len(), 8, "{:?}", report.issuers);
        assert!(report.issuers.iter().all(|worker| worker.bytes == 8 * (128 << 10)), "{:?}", report.issuers);
        let ended = |pattern: &str| {
            let of = report
                .issuers
                .iter()
                .filter(|one| one.name.as_deref().is_some_and(|name| name.ends_with(pattern)));
            of.map(|one| one.finished_ns).max().unwrap()
        };
        assert!(super::PATTERNS.map(ended).is_sorted());
    }
}
