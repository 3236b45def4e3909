//! The named workloads, each with its options, declared once.

use idlewise_core::{Sector, Sectors};

use super::{
    Ground, Named, Options, Pattern, Poisson, PoissonSettings, Process, Processes, Spec, SpecError, Think,
};

/// A named workload.
pub struct Kind {
    /// Its name.
    pub name: &'static str,
    /// What it is, in a sentence.
    pub summary: &'static str,
    /// Its options: name, default, meaning.
    pub options: &'static [(&'static str, &'static str, &'static str)],
    make: Make,
}

type Make = fn(&Options<'_>, Ground) -> Result<Box<dyn Named>, SpecError>;

static KINDS: &[Kind] = &[
    Kind {
        name: "poisson",
        summary: "Open arrivals at random times, uniform over the whole disk.",
        options: &[
            ("rate", "100", "mean arrivals in a second"),
            ("reads", "67", "reads in a hundred requests"),
            ("min", "4k", "smallest request"),
            ("max", "64k", "largest request"),
            ("step", "4k", "sizes and addresses are multiples of this"),
            ("requests", "100000", "how many requests"),
        ],
        make: poisson,
    },
    Kind {
        name: "random",
        summary: "Processes that read or write at random, each waiting for its requests.",
        options: &[
            ("n", "8", "processes"),
            ("depth", "1", "requests that each keeps outstanding"),
            ("bs", "4k", "request size"),
            ("reads", "100", "reads in a hundred requests"),
            ("think", "200us", "time from a completion to the next request"),
            ("dist", "fixed", "how think times spread: fixed, or uniform from 0 to think"),
            ("span", "100", "the share of the disk that is used, in percent"),
            ("requests", "10000", "requests of each process"),
        ],
        make: random,
    },
    Kind {
        name: "sync-streams",
        summary: "Processes that each read a file of their own, by default one request at a time (SOSP'01 §4.1).",
        options: &[
            ("n", "2", "processes"),
            ("pattern", "seq", "seq: every block; alternate: every other block; random"),
            ("depth", "1", "requests that each keeps outstanding; 1 is synchronous"),
            ("bs", "64k", "request size"),
            ("file", "1g", "size of each file"),
            ("gap", "8g", "distance from the end of one file to the start of the next"),
            ("think", "200us", "time from a completion to the next request"),
            ("think2", "", "the same for the second process alone"),
            ("dist", "fixed", "how think times spread: fixed, or uniform from 0 to think"),
            ("weights", "1", "weight of each process, separated by colons; the last one repeats"),
            ("requests", "4000", "requests of each process"),
        ],
        make: sync_streams,
    },
    Kind {
        name: "queues",
        summary: "Processes that keep queues of different lengths.",
        options: &[
            ("depths", "1:4", "requests that each process keeps outstanding, separated by colons"),
            ("pattern", "random", "seq, alternate or random, each in its own part of the disk"),
            ("bs", "4k", "request size"),
            ("reads", "100", "reads in a hundred requests"),
            ("think", "0", "time from a completion to the next request"),
            ("requests", "10000", "requests of each process for each of its depth"),
        ],
        make: queues,
    },
    Kind {
        name: "write-and-read",
        summary: "A process that streams writes beside one that streams reads (OLS'05 §5.4).",
        options: &[
            ("bs", "128k", "request size"),
            ("writes", "32", "write requests kept outstanding"),
            ("reads", "1", "read requests kept outstanding"),
            ("think", "200us", "reader's time from a completion to the next request"),
            ("requests", "4000", "requests of each process"),
        ],
        make: write_and_read,
    },
];

/// All named workloads.
pub fn all() -> &'static [Kind] {
    KINDS
}

/// The workload called `name`.
pub fn find(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.name == name)
}

/// Builds the workload that `spec` names.
///
/// # Errors
/// [`SpecError`] if the name, an option or a value is wrong.
pub fn build(spec: &Spec, ground: Ground) -> Result<Box<dyn Named>, SpecError> {
    let kind = find(&spec.name).ok_or_else(|| SpecError::UnknownWorkload(spec.name.clone()))?;
    for (option, _) in &spec.options {
        if !kind.options.iter().any(|row| row.0 == option) {
            let known = kind.options.iter().map(|row| row.0).collect::<Vec<_>>().join(", ");
            let (workload, option) = (spec.name.clone(), option.clone());
            return Err(SpecError::UnknownOption { workload, option, known });
        }
    }
    (kind.make)(&Options { given: &spec.options, defaults: kind.options }, ground)
}

const MANY: u64 = 1 << 50;

fn poisson(options: &Options<'_>, ground: Ground) -> Result<Box<dyn Named>, SpecError> {
    let step = options.request_size("step")?;
    let (min, max) = (options.request_size("min")?, options.request_size("max")?);
    if min < step || max < min {
        let (option, value) = ("min".to_owned(), options.text("min").to_owned());
        let cure = "choose step ≤ min ≤ max".to_owned();
        return Err(SpecError::BadValue { option, value, cure });
    }
    let settings = PoissonSettings {
        rate: options.rate("rate")?,
        reads_percent: options.number("reads", 0..=100)? as u32,
        size: (min / step, max / step),
        step,
        requests: options.number("requests", 1..=MANY)?,
    };
    Ok(Box::new(Poisson::new(settings, ground)))
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

fn random(options: &Options<'_>, ground: Ground) -> Result<Box<dyn Named>, SpecError> {
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

fn sync_streams(options: &Options<'_>, ground: Ground) -> Result<Box<dyn Named>, SpecError> {
    let (file, gap) = (options.sectors("file")?, options.sectors_or_none("gap")?);
    let weights = options.numbers("weights", 1..=10_000)?;
    let count = options.number("n", 1..=4096)?;
    let needed = count * file + (count - 1) * gap;
    if needed > ground.capacity.0 {
        let (option, value) = ("file".to_owned(), options.text("file").to_owned());
        let cure = format!(
            "{count} files with their gaps need {needed} sectors and the disk has {}: choose smaller files or gaps",
            ground.capacity
        );
        return Err(SpecError::BadValue { option, value, cure });
    }
    let usual = think(options, "think")?;
    let second = if options.text("think2").is_empty() { usual } else { think(options, "think2")? };
    let (block, pattern) = (Sectors(options.request_size("bs")?), pattern(options)?);
    let (requests, depth) =
        (options.number("requests", 1..=MANY)?, options.number("depth", 1..=4096)? as u32);
    let stream = |index: u64| Process {
        weight: *weights.get(index as usize).or(weights.last()).unwrap_or(&1) as u32,
        file_start: Sector(index * (file + gap)),
        file_sectors: file,
        block,
        pattern,
        think: if index == 1 { second } else { usual },
        depth,
        requests,
        ..reader(format!("stream{}", index + 1), ground)
    };
    Ok(Box::new(Processes::new((0..count).map(stream).collect(), ground.seed)))
}

fn queues(options: &Options<'_>, ground: Ground) -> Result<Box<dyn Named>, SpecError> {
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

fn write_and_read(options: &Options<'_>, ground: Ground) -> Result<Box<dyn Named>, SpecError> {
    let half = ground.capacity.0 / 2;
    let block = Sectors(options.request_size("bs")?);
    let requests = options.number("requests", 1..=MANY)?;
    let base = Process { file_sectors: half, block, requests, ..reader(String::new(), ground) };
    let writer = Process {
        name: "writer".to_owned(),
        reads_percent: 0,
        sync_writes: false,
        depth: options.number("writes", 1..=4096)? as u32,
        ..base.clone()
    };
    let reader = Process {
        name: "reader".to_owned(),
        file_start: Sector(half),
        depth: options.number("reads", 1..=4096)? as u32,
        think: Think::Fixed(options.duration("think")?),
        ..base
    };
    Ok(Box::new(Processes::new(vec![writer, reader], ground.seed)))
}
