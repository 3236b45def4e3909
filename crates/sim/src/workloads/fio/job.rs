//! One job: what its keys say, each checked as it is read.

use std::collections::BTreeMap;

use idlewise_core::{Class, Duration, Priority, Weight};

use super::error::FioError;
use super::ini::Line;
use super::values::{self, Amount, amount, each, number, switch, time};
use crate::workloads::{Pattern, Sizes};

/// A job's settings, at first fio's defaults.
#[derive(Clone, Debug)]
pub(super) struct Job {
    pub(super) reads_percent: u32,
    pub(super) mixed: bool,
    pub(super) random: bool,
    /// Request sizes of reads and of writes, in sectors.
    pub(super) sizes: [Sizes; 2],
    pub(super) size: Option<Amount>,
    pub(super) filesize: Option<u64>,
    pub(super) io_size: Option<Amount>,
    pub(super) offset: Amount,
    pub(super) offset_increment: Amount,
    pub(super) filename: Option<String>,
    pub(super) directory: String,
    pub(super) numjobs: u64,
    pub(super) iodepth: u64,
    /// The I/O engine, and whether it keeps several requests outstanding.
    pub(super) engine: (String, bool),
    pub(super) direct: bool,
    pub(super) sync: bool,
    pub(super) runtime: Duration,
    pub(super) time_based: bool,
    pub(super) startdelay: Duration,
    pub(super) rwmixread: u32,
    pub(super) thinktime: Duration,
    pub(super) thinktime_blocks: u64,
    pub(super) rate: [Option<u64>; 2],
    pub(super) rate_iops: [Option<u64>; 2],
    pub(super) class: Option<Class>,
    pub(super) level: Option<u8>,
    pub(super) nice: i64,
    pub(super) weight: Weight,
    pub(super) stonewall: bool,
    pub(super) loops: u64,
    pub(super) number_ios: u64,
    pub(super) fsync: u64,
    pub(super) norandommap: bool,
    pub(super) distribution: Option<Pattern>,
    pub(super) randseed: u64,
    /// The line of each key, for messages about several keys together.
    pub(super) lines: BTreeMap<String, u32>,
}

impl Default for Job {
    fn default() -> Self {
        Job {
            reads_percent: 100,
            mixed: false,
            random: false,
            sizes: [vec![(8, 1)], vec![(8, 1)]],
            size: None,
            filesize: None,
            io_size: None,
            offset: Amount::Bytes(0),
            offset_increment: Amount::Bytes(0),
            filename: None,
            directory: String::new(),
            numjobs: 1,
            iodepth: 1,
            engine: ("psync".to_owned(), false),
            direct: false,
            sync: false,
            runtime: Duration::MAX,
            time_based: false,
            startdelay: Duration::ZERO,
            rwmixread: 50,
            thinktime: Duration::ZERO,
            thinktime_blocks: 1,
            rate: [None; 2],
            rate_iops: [None; 2],
            class: None,
            level: None,
            nice: 0,
            weight: Weight::default(),
            stonewall: false,
            loops: 1,
            number_ios: u64::MAX,
            fsync: 0,
            norandommap: false,
            distribution: None,
            randseed: 0,
            lines: BTreeMap::new(),
        }
    }
}

const MANY: u64 = 1 << 50;

impl Job {
    /// Takes one line. False: the key is not one that this reader knows.
    pub(super) fn apply(&mut self, file: &str, line: &Line, kb: u64) -> Result<bool, FioError> {
        let known = self.set(&line.key, &line.value, kb).map_err(|what| {
            let value = if line.value.is_empty() { String::new() } else { format!("={}", line.value) };
            FioError::at(file, line.number, format!("{}{value}: {what}", line.key))
        })?;
        self.lines.insert(line.key.clone(), line.number);
        Ok(known)
    }

    fn set(&mut self, key: &str, value: &str, kb: u64) -> Result<bool, String> {
        const SECOND: u64 = 1_000_000_000;
        const MICROSECOND: u64 = 1_000;
        let one = |sectors| Ok(vec![(values::request(sectors)?, 1)]);
        match key {
            "rw" | "readwrite" => self.set_rw(value)?,
            "bs" | "blocksize" => each(value, &mut self.sizes, |text| one(values::sectors(text, kb)?))?,
            "bsrange" | "blocksize_range" => each(value, &mut self.sizes, |text| values::range(text, kb))?,
            "bssplit" => each(value, &mut self.sizes, |text| values::split(text, kb))?,
            "size" => self.size = Some(amount(value, kb)?),
            "filesize" => self.filesize = Some(values::sectors(value, kb)?),
            "io_size" | "io_limit" => self.io_size = Some(amount(value, kb)?),
            "offset" => self.offset = amount(value, kb)?,
            "offset_increment" => self.offset_increment = amount(value, kb)?,
            "filename" => self.filename = Some(one_file(value)?),
            "directory" => self.directory = format!("{value}/"),
            "numjobs" => self.numjobs = number(value, 1..=4096)?,
            "iodepth" => self.iodepth = number(value, 1..=65_536)?,
            "ioengine" => self.engine = engine(value)?,
            "direct" => self.direct = switch(value)?,
            "buffered" => self.direct = !switch(value)?,
            "sync" => self.sync = !matches!(value, "0" | "none"),
            "runtime" | "timeout" => self.runtime = limit(time(value, SECOND)?),
            "time_based" => self.time_based = switch(value)?,
            "startdelay" => self.startdelay = time(value, SECOND)?,
            "rwmixread" => self.rwmixread = number(value, 0..=100)? as u32,
            "rwmixwrite" => self.rwmixread = 100 - number(value, 0..=100)? as u32,
            "thinktime" => self.thinktime = time(value, MICROSECOND)?,
            "thinktime_blocks" => self.thinktime_blocks = number(value, 1..=1 << 30)?,
            "rate" => each(value, &mut self.rate, |text| Ok(Some(values::bytes(text, kb)?)))?,
            "rate_iops" => each(value, &mut self.rate_iops, |text| Ok(Some(number(text, 0..=MANY)?)))?,
            "rate_process" if value == "linear" => {}
            "prio" => self.level = Some(number(value, 0..=7)? as u8),
            "prioclass" => self.class = class(value)?,
            "nice" => self.nice = nice(value)?,
            "cgroup_weight" => self.weight = weight(value)?,
            "stonewall" | "wait_for_previous" => self.stonewall = switch(value)?,
            "loops" => self.loops = number(value, 1..=MANY)?,
            "number_ios" => self.number_ios = number(value, 1..=MANY)?,
            "fsync" | "fdatasync" => self.fsync = number(value, 0..=MANY)?,
            "norandommap" => self.norandommap = switch(value)?,
            "random_distribution" => self.distribution = distribution(value)?,
            "randseed" => self.randseed = number(value, 0..=u64::MAX)?,
            "kb_base" | "name" => {}
            "read_iolog" => return Err("a recorded trace is not a job: give it as --trace".to_owned()),
            "rate_process" => return Err("only rate_process=linear is supported".to_owned()),
            "wait_for" => {
                return Err("is not supported: use stonewall, which waits for all jobs before".to_owned());
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn set_rw(&mut self, value: &str) -> Result<(), String> {
        let (kind, modifier) = value.split_once(':').unwrap_or((value, ""));
        if !modifier.is_empty() {
            return Err(format!("what follows the colon is not supported: write rw={kind}"));
        }
        (self.random, self.mixed, self.reads_percent) = match kind {
            "read" => (false, false, 100),
            "write" => (false, false, 0),
            "rw" | "readwrite" => (false, true, 50),
            "randread" => (true, false, 100),
            "randwrite" => (true, false, 0),
            "randrw" => (true, true, 50),
            trim if trim.contains("trim") => {
                return Err("trims are not supported: choose read, write, rw, randread, randwrite or randrw"
                    .to_owned());
            }
            _ => return Err("wants read, write, rw, randread, randwrite or randrw".to_owned()),
        };
        Ok(())
    }

    /// Reads in a hundred requests.
    pub(super) fn reads(&self) -> u32 {
        if self.mixed { self.rwmixread } else { self.reads_percent }
    }

    /// The request sizes that it really uses, in sectors.
    pub(super) fn used_sizes(&self) -> impl Iterator<Item = u32> {
        let used = [self.reads() > 0, self.reads() < 100];
        self.sizes
            .iter()
            .zip(used)
            .filter(|(_, used)| *used)
            .flat_map(|(sizes, _)| sizes)
            .map(|(size, _)| *size)
    }

    /// The job's largest request, in sectors.
    pub(super) fn largest(&self) -> u64 {
        self.used_sizes().max().map_or(0, u64::from)
    }

    /// Mean request size of reads or of writes, in sectors.
    pub(super) fn mean_size(&self, write: bool) -> f64 {
        let sizes = &self.sizes[usize::from(write)];
        let (sum, shares) = sizes.iter().fold((0.0, 0.0), |(sum, shares), (size, share)| {
            (sum + f64::from(*size) * f64::from(*share), shares + f64::from(*share))
        });
        sum / shares
    }

    /// The least mean time between requests that keeps all rate limits. A mix keeps its shares: the
    /// limit that binds first holds back reads and writes.
    pub(super) fn interval(&self) -> Duration {
        let mut per_second = f64::INFINITY;
        for (write, share) in [(false, self.reads()), (true, 100 - self.reads())] {
            let share = f64::from(share) / 100.0;
            let index = usize::from(write);
            let by_bytes = self.rate[index].map(|rate| rate as f64 / 512.0 / self.mean_size(write));
            let by_count = self.rate_iops[index].map(|rate| rate as f64);
            for limit in [by_bytes, by_count].into_iter().flatten().filter(|limit| *limit > 0.0) {
                if share > 0.0 {
                    per_second = per_second.min(limit / share);
                }
            }
        }
        Duration((1e9 / per_second) as u64)
    }

    /// The job's I/O priority. Where no class is set, Linux derives the level from the nice value.
    pub(super) fn priority(&self) -> Priority {
        let usual = ((self.nice + 20) / 5) as u8;
        let class = self.class.unwrap_or_default();
        Priority { class, level: self.level.unwrap_or(if self.class.is_some() { 0 } else { usual }) }
    }

    /// Where it goes: fio visits every block once unless told otherwise.
    pub(super) fn pattern(&self) -> Pattern {
        match self.distribution {
            _ if !self.random => Pattern::Sequential,
            Some(skewed) => skewed,
            None if self.norandommap => Pattern::Random,
            None => Pattern::Shuffled,
        }
    }
}

fn limit(time: Duration) -> Duration {
    if time == Duration::ZERO { Duration::MAX } else { time }
}

fn one_file(value: &str) -> Result<String, String> {
    match value {
        "" => Err("wants a name".to_owned()),
        _ if value.contains(':') => {
            Err("several files are not supported: write one job for each file".to_owned())
        }
        _ => Ok(value.to_owned()),
    }
}

fn engine(value: &str) -> Result<(String, bool), String> {
    match value {
        "sync" | "psync" | "vsync" | "pvsync" | "pvsync2" | "mmap" => Ok((value.to_owned(), false)),
        "libaio" | "io_uring" | "io_uring_cmd" | "posixaio" | "windowsaio" | "solarisaio" | "sg" => {
            Ok((value.to_owned(), true))
        }
        _ => Err("is not supported: choose libaio, io_uring, posixaio, psync, sync or mmap".to_owned()),
    }
}

fn class(value: &str) -> Result<Option<Class>, String> {
    let classes = [None, Some(Class::RealTime), Some(Class::BestEffort), Some(Class::Idle)];
    Ok(classes[number(value, 0..=3)? as usize])
}

fn weight(value: &str) -> Result<Weight, String> {
    let (least, greatest) = (u64::from(Weight::LEAST.get()), u64::from(Weight::GREATEST.get()));
    Ok(Weight::new(number(value, least..=greatest)? as u32).unwrap_or_default())
}

fn nice(value: &str) -> Result<i64, String> {
    let fits = value.parse().ok().filter(|nice| (-20..=19).contains(nice));
    fits.ok_or_else(|| "wants a whole number from -20 to 19".to_owned())
}

fn distribution(value: &str) -> Result<Option<Pattern>, String> {
    let (kind, parameter) = value.split_once(':').unwrap_or((value, ""));
    let number = |usual: f64, fits: fn(f64) -> bool, cure: &str| {
        let number = if parameter.is_empty() { Some(usual) } else { parameter.parse().ok() };
        number.filter(|number: &f64| fits(*number)).ok_or_else(|| cure.to_owned())
    };
    match kind {
        "random" => Ok(None),
        "zipf" => Ok(Some(Pattern::Zipf(number(
            1.1,
            |x| x > 0.0 && x <= 100.0,
            "wants zipf:THETA, such as zipf:1.2",
        )?))),
        "pareto" => Ok(Some(Pattern::Pareto(number(
            0.2,
            |x| x > 0.0 && x < 1.0,
            "wants pareto:H with H between 0 and 1, such as pareto:0.2",
        )?))),
        _ => Err("is not supported: choose random, zipf:THETA or pareto:H".to_owned()),
    }
}
