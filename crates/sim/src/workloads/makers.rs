//! Building the named workloads from their options.

use idlewise_core::{Duration, SECTOR_BYTES, Sector, Sectors, Weight};

use super::chains::{Pace, TooLarge};
use super::drawn;
use super::phases::{Kind, MIXES, phased};
use super::regions::Regions;
use super::{
    Chains, Ground, Named, Options, Pattern, Poisson, Process, Processes, SpecError, Think, TreeSettings,
};

const MANY: u64 = 1 << 50;

pub(super) fn poisson(options: &Options<'_>, ground: Ground) -> Result<Box<dyn Named>, SpecError> {
    let step = options.request_size("step")?;
    let (min, max) = (options.request_size("min")?, options.request_size("max")?);
    if min < step || max < min {
        return Err(options.bad("min", "choose step ≤ min ≤ max"));
    }
    let (rate, reads) = (options.rate("rate")?, options.number("reads", 0..=100)? as u32);
    let requests = options.number("requests", 1..=MANY)?;
    Ok(Box::new(Poisson::new(rate, reads, ((min / step, max / step), step), requests, ground)))
}

fn think(options: &Options<'_>, option: &str) -> Result<Think, SpecError> {
    let time = options.duration(option)?;
    Ok(match options.choice("dist", &["fixed", "uniform"])? {
        0 => Think::Fixed(time),
        _ => Think::Uniform(time),
    })
}

fn pattern(options: &Options<'_>) -> Result<Pattern, SpecError> {
    let patterns = [Pattern::Sequential, Pattern::Alternate, Pattern::Random];
    Ok(patterns[options.choice("pattern", &["seq", "alternate", "random"])?])
}

/// A process that reads the whole disk synchronously; constructors change what differs.
fn reader(name: String, ground: Ground) -> Process {
    let (file_sectors, block) = (ground.capacity.0, Sectors(8));
    Process { name, file_sectors, block, ..Process::default() }
}

pub(super) fn random(options: &Options<'_>, ground: Ground) -> Result<Box<dyn Named>, SpecError> {
    let span = options.number("span", 1..=100)?;
    let one = Process {
        file_sectors: ground.capacity.0 / 100 * span,
        block: Sectors(options.request_size("bs")?),
        pattern: Pattern::Random,
        reads_percent: options.number("reads", 0..=100)? as u32,
        depth: options.number("depth", 1..=4096)? as u32,
        think: think(options, "think")?,
        requests: options.number("requests", 1..=MANY)?,
        ..reader(String::new(), ground)
    };
    let count = options.number("n", 1..=4096)?;
    let processes = (1..=count).map(|index| Process { name: format!("random{index}"), ..one.clone() });
    Ok(Box::new(Processes::new(processes.collect(), ground.seed)))
}

fn weight(number: Option<&u64>) -> Weight {
    number.and_then(|number| Weight::new(*number as u32)).unwrap_or_default()
}

/// The regions of files that are read in blocks of this many sectors, and what a file takes with the room between its regions.
fn regions(options: &Options<'_>, file: u64, block: u32) -> Result<(u64, u64), SpecError> {
    let regions = options.sectors_or_none("regions")?;
    if regions % u64::from(block) != 0 {
        return Err(options.bad("regions", "wants a multiple of bs"));
    }
    Ok((regions, Regions::span(file, regions)))
}

/// An error unless this many sectors, of which the options `file` and `gap` are parts, are on the disk.
fn fits(options: &Options<'_>, needed: u64, ground: Ground) -> Result<(), SpecError> {
    if needed <= ground.capacity.0 {
        return Ok(());
    }
    let megabytes = |sectors: u64| sectors * SECTOR_BYTES / 1_000_000;
    let cure = format!(
        "with their gaps the files need {} MB, and the disk has {} MB: lower file={} or gap={}",
        megabytes(needed),
        megabytes(ground.capacity.0),
        options.text("file"),
        options.text("gap")
    );
    Err(options.bad("file", &cure))
}

pub(super) fn sync_streams(options: &Options<'_>, ground: Ground) -> Result<Box<dyn Named>, SpecError> {
    let (file, gap) = (options.sectors("file")?, options.sectors_or_none("gap")?);
    let weights = options.numbers("weights", 1..=10_000)?;
    let count = options.number("n", 1..=4096)?;
    let block = options.request_size("bs")?;
    let (regions, span) = regions(options, file, block)?;
    fits(options, count.saturating_mul(span + gap) - gap, ground)?;
    let usual = think(options, "think")?;
    let second = if options.text("think2").is_empty() { usual } else { think(options, "think2")? };
    let pattern = pattern(options)?;
    let timed = !options.text("runtime").is_empty();
    let runtime = if timed { options.duration("runtime")? } else { Duration::MAX };
    let endless = timed && !options.is_given("requests");
    let requests = if endless { MANY } else { options.number("requests", 1..=MANY)? };
    let depth = options.number("depth", 1..=4096)? as u32;
    let split = Sectors(options.request_size("split")?);
    let stream = |index: u64| Process {
        split,
        weight: weight(weights.get(index as usize).or(weights.last())),
        runtime,
        file_start: Sector(index * (span + gap)),
        file_sectors: file,
        regions,
        block: Sectors(block),
        pattern,
        think: if index == 1 { second } else { usual },
        depth,
        requests,
        ..reader(format!("stream{}", index + 1), ground)
    };
    Ok(Box::new(Processes::new((0..count).map(stream).collect(), ground.seed)))
}

pub(super) fn queues(options: &Options<'_>, ground: Ground) -> Result<Box<dyn Named>, SpecError> {
    let depths = options.numbers("depths", 1..=4096)?;
    let part = ground.capacity.0 / depths.len() as u64;
    let (block, pattern) = (Sectors(options.request_size("bs")?), pattern(options)?);
    let (reads_percent, think) = (options.number("reads", 0..=100)? as u32, options.duration("think")?);
    let requests = options.number("requests", 1..=MANY)?;
    let process = |(index, depth): (usize, &u64)| Process {
        file_start: Sector(index as u64 * part),
        file_sectors: part,
        block,
        pattern,
        reads_percent,
        depth: *depth as u32,
        think: Think::Fixed(think),
        requests: requests.saturating_mul(*depth),
        ..reader(format!("depth{depth}"), ground)
    };
    Ok(Box::new(Processes::new(depths.iter().enumerate().map(process).collect(), ground.seed)))
}

pub(super) fn drawn(options: &Options<'_>, ground: Ground) -> Result<Box<dyn Named>, SpecError> {
    let (number, time) = (options.number("draw", 1..=MANY)?, options.duration("runtime")?);
    Ok(Box::new(drawn::drawn(number, time, ground)))
}

/// dd and the page cache keep the block layer's whole queue full of writes; cat waits for each
/// read-ahead window.
pub(super) fn write_and_read(options: &Options<'_>, ground: Ground) -> Result<Box<dyn Named>, SpecError> {
    let (written, gap) = (options.sectors("written")?, options.sectors_or_none("gap")?);
    let file = options.sectors("file")?;
    fits(options, written + gap + file, ground)?;
    let block = Sectors(options.request_size("bs")?);
    let base = Process { block, ..reader(String::new(), ground) };
    let writer = Process {
        name: "writer".to_owned(),
        file_sectors: written,
        reads_percent: 0,
        sync_writes: false,
        depth: options.number("writes", 1..=4096)? as u32,
        background: true,
        requests: MANY,
        ..base.clone()
    };
    let reader = Process {
        name: "reader".to_owned(),
        file_start: Sector(written + gap),
        file_sectors: file,
        depth: options.number("reads", 1..=4096)? as u32,
        think: Think::Fixed(options.duration("think")?),
        requests: (file / u64::from(block.0)).max(1),
        ..base
    };
    Ok(Box::new(Processes::new(vec![writer, reader], ground.seed)))
}

/// What an anticipatory scheduler's statistics distinguish, and a little more (SOSP'01 §3.3).
const OUTBID: Duration = Duration::from_us(600);
/// The longest think time that they count.
const LONGEST: Duration = Duration::from_ms(15);

pub(super) fn adversary(options: &Options<'_>, ground: Ground) -> Result<Box<dyn Named>, SpecError> {
    let (file, gap) = (options.sectors("file")?, options.sectors_or_none("gap")?);
    let block = options.request_size("bs")?;
    let (regions, span) = regions(options, file, block)?;
    fits(options, 2 * span + gap, ground)?;
    let base = Process {
        file_sectors: file,
        regions,
        block: Sectors(block),
        think: match options.text("pause") {
            "" => Think::Rising { step: OUTBID, longest: LONGEST },
            _ => Think::Fixed(options.duration("pause")?),
        },
        burst: options.number("n", 0..=1 << 20)? as u32 + 1,
        requests: options.number("requests", 1..=MANY)?,
        ..reader(String::new(), ground)
    };
    let one = |index: u64| Process {
        name: format!("adversary{}", index + 1),
        file_start: Sector(index * (span + gap)),
        ..base.clone()
    };
    Ok(Box::new(Processes::new(vec![one(0), one(1)], ground.seed)))
}

/// The chains of a workload, with `beside` them, from `start` on.
fn chains(
    options: &Options<'_>,
    ground: Ground,
    beside: Vec<Process>,
    count: u32,
    start: Sector,
) -> Result<Box<dyn Named>, SpecError> {
    let tree = TreeSettings {
        files: options.number("files", 1..=1_000_000)?,
        directories: options.number("directories", 1..=1_000_000)?,
        groups: options.number("groups", 1..=100_000)?,
        median: options.sectors("median")? * SECTOR_BYTES,
        mean: options.sectors("mean")? * SECTOR_BYTES,
        inodes: options.number("inodes", 1..=4096)?,
        hashed: options.choice("order", &["disk", "hash"])? == 1,
    };
    if tree.mean < tree.median {
        return Err(options.bad("mean", "choose median ≤ mean"));
    }
    let pace = Pace {
        block: Sectors(options.request_size("block")?),
        think: options.duration("think")?,
        exec: options.duration("exec")?,
    };
    let gap = options.sectors_or_none("gap")?;
    match Chains::new(beside, count, tree, pace, (start, gap), ground) {
        Ok(chains) => Ok(Box::new(chains)),
        Err(TooLarge(needed)) => {
            let cure = format!(
                "all trees and files with their gaps need {needed} sectors and the disk has {}: choose fewer or \
                 smaller files, or a smaller gap",
                ground.capacity
            );
            Err(options.bad("files", &cure))
        }
    }
}

pub(super) fn stream_and_chain(options: &Options<'_>, ground: Ground) -> Result<Box<dyn Named>, SpecError> {
    let (file, gap) = (options.sectors("stream")?, options.sectors_or_none("gap")?);
    let stream = Process {
        name: "stream".to_owned(),
        file_sectors: file,
        block: Sectors(options.request_size("bs")?),
        think: Think::Fixed(options.duration("think")?),
        depth: options.number("depth", 1..=4096)? as u32,
        background: true,
        requests: MANY,
        ..reader(String::new(), ground)
    };
    chains(options, ground, vec![stream], 1, Sector(file + gap))
}

pub(super) fn two_chains(options: &Options<'_>, ground: Ground) -> Result<Box<dyn Named>, SpecError> {
    let count = options.number("chains", 1..=64)? as u32;
    chains(options, ground, Vec::new(), count, Sector(0))
}

/// A mix by its name, or by its phases: `seq-readers=10:mail=20`.
pub(super) fn phases(options: &Options<'_>, ground: Ground) -> Result<Box<dyn Named>, SpecError> {
    let text = options.text("mix");
    let percent = options.number("length", 1..=10_000)?;
    let rounds = options.number("rounds", 1..=1000)? as usize;
    let phases = MIXES.iter().find(|mix| mix.name == text).map_or(text, |mix| mix.phases);
    let parse = |part: &str| {
        let (kind, seconds) = part.split_once('=')?;
        let seconds: u64 = seconds.parse().ok().filter(|seconds| (1..=100_000).contains(seconds))?;
        Some((Kind::named(kind)?, Duration::from_ms(seconds * 10 * percent)))
    };
    let Some(once) = phases.split(':').map(parse).collect::<Option<Vec<_>>>() else {
        let mixes: Vec<_> = MIXES.iter().map(|mix| mix.name).collect();
        let kinds: Vec<_> = Kind::ALL.iter().map(|kind| kind.name()).collect();
        let cure = format!(
            "wants one of {}, or kinds with seconds such as seq-readers=10:mail=20; kinds are {}",
            mixes.join(", "),
            kinds.join(", ")
        );
        return Err(options.bad("mix", &cure));
    };
    let all: Vec<_> = std::iter::repeat_n(once, rounds).flatten().collect();
    Ok(Box::new(phased(&all, ground)))
}
