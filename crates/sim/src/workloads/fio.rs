//! fio's job files as workloads: who would ask the disk for what, and when.
//!
//! Files are laid out one after the other from the start of the disk, in the order in which the job
//! file names them, each at a multiple of 1 MiB and as long as the job that needs most of it.
//! Jobs with the same `filename` share a file; all others have one for each of their `numjobs`. A
//! name below `/dev` is the whole disk. No page cache lies between: every request reaches the disk.
//! Requests are placed at multiples of the job's smallest size.

mod error;
mod ini;
mod job;
mod keys;
mod layout;
mod values;

use idlewise_core::{Instant, SECTOR_BYTES, Sector, Sectors};

pub use self::error::FioError;
use self::job::Job;
use self::keys::HARMLESS;
pub use self::keys::KEYS;
use self::layout::{Layout, Region, region};
use super::{Ground, Process, Processes, Sizes, Think};

/// A job file, read and checked.
#[derive(Debug)]
pub struct JobFile {
    file: String,
    /// Each section's name, its line and what it and the globals before it say.
    jobs: Vec<(String, u32, Job)>,
    /// What the user should know.
    pub warnings: Vec<String>,
}

impl JobFile {
    /// Reads the text of a job file; `file` is its name for messages.
    ///
    /// # Errors
    /// [`FioError`]: what cannot be understood or done as asked.
    pub fn parse(file: &str, text: &str) -> Result<JobFile, FioError> {
        let mut global = Job::default();
        let (mut kb, mut jobs, mut unknown) = (1024, Vec::new(), Vec::new());
        for section in ini::parse(file, text)? {
            let mut job = global.clone();
            for line in &section.lines {
                if line.key == "kb_base" {
                    kb = if line.value == "1000" { 1000 } else { 1024 };
                }
                if !job.apply(file, line, kb)? && HARMLESS.split(' ').all(|key| key != line.key) {
                    unknown.push(format!("{} ({file}:{})", line.key, line.number));
                }
            }
            if section.name == "global" {
                global = job;
            } else {
                check(file, section.number, &section.name, &job)?;
                jobs.push((section.name, section.number, job));
            }
        }
        if jobs.is_empty() {
            return Err(FioError::at(file, 0, "there is no job: write a [name] with rw= and size= below it"));
        }
        let warnings = warnings(file, &jobs, &unknown);
        Ok(JobFile { file: file.to_owned(), jobs, warnings })
    }

    /// The processes of all jobs on a disk.
    ///
    /// # Errors
    /// [`FioError`] if the files do not fit the disk.
    pub fn build(&self, ground: Ground) -> Result<Processes, FioError> {
        let mut files = Layout::new(ground.capacity.0);
        let (mut sketches, mut group) = (Vec::new(), 0);
        for (position, (name, number, job)) in self.jobs.iter().enumerate() {
            group += u32::from(job.stonewall && position > 0);
            for clone in 0..job.numjobs {
                let file = match &job.filename {
                    Some(file) => format!("{}{file}", job.directory),
                    // No file name holds a zero: so this one is not another job's.
                    None => format!("{name}\0{position}\0{clone}"),
                };
                let whole = files.whole(&file, job);
                let region = region(job, whole, clone);
                if region.length < job.largest() {
                    let what = format!(
                        "job '{name}': between its offset and the end of its file no request fits: lower offset or bs"
                    );
                    return Err(FioError::at(&self.file, line(job, "offset", *number), what));
                }
                files.need(
                    file.clone(),
                    if job.filesize.is_some() { whole } else { region.start + region.length },
                );
                sketches.push((name, job, clone, group, file, region));
            }
        }
        files.lay_out();
        if files.end > files.capacity {
            let (need, have) = (files.end * SECTOR_BYTES, files.capacity * SECTOR_BYTES);
            let what = format!(
                "the files need {:.1} GB and the disk has {:.1} GB: choose a smaller size or a larger --disk",
                need as f64 / 1e9,
                have as f64 / 1e9
            );
            return Err(FioError::at(&self.file, 0, what));
        }
        let processes = sketches.into_iter().map(|(name, job, clone, group, file, region)| Process {
            name: if job.numjobs > 1 { format!("{name}.{}", clone + 1) } else { name.clone() },
            file_start: Sector(files.start(&file) + region.start),
            file_sectors: region.length,
            group,
            ..process(job, region)
        });
        Ok(Processes::new(processes.collect(), ground.seed))
    }
}

/// What a job asks for, apart from its name and its file's region.
fn process(job: &Job, region: Region) -> Process {
    let reads = job.reads();
    let block = job.used_sizes().fold(0, gcd);
    let in_blocks =
        |sizes: &Sizes| sizes.iter().map(|(size, share)| ((size / block).max(1), *share)).collect();
    let share = f64::from(reads) / 100.0;
    let mean = job.mean_size(false) * share + job.mean_size(true) * (1.0 - share);
    let planned = ((region.moves as f64 / mean) as u64).max(1).saturating_mul(job.loops);
    let writes_per_flush = job.fsync.saturating_mul(100) / u64::from(100 - reads).max(1);
    let thinks = job.thinktime.0 > 0;
    Process {
        weight: job.weight,
        priority: job.priority(),
        block: Sectors(block),
        sizes: job.sizes.each_ref().map(in_blocks),
        pattern: job.pattern(),
        reads_percent: reads,
        sync_writes: job.direct || job.sync,
        depth: if job.engine.1 { job.iodepth as u32 } else { 1 },
        think: Think::Fixed(job.thinktime),
        burst: if thinks { job.thinktime_blocks as u32 } else { 0 },
        flush_every: if reads < 100 { writes_per_flush } else { 0 },
        interval: job.interval(),
        start: Instant::ZERO + job.startdelay,
        runtime: job.runtime,
        requests: if job.time_based { u64::MAX } else { planned }.min(job.number_ios),
        seed: job.randseed,
        ..Process::default()
    }
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The line of `key`, or of the job.
fn line(job: &Job, key: &str, otherwise: u32) -> u32 {
    job.lines.get(key).copied().unwrap_or(otherwise)
}

/// What cannot be, whatever the disk.
fn check(file: &str, number: u32, name: &str, job: &Job) -> Result<(), FioError> {
    let wrong = |key: &str, what: String| Err(FioError::at(file, line(job, key, number), what));
    let percent = |amount: Option<values::Amount>| matches!(amount, Some(values::Amount::Percent(_)));
    if job.size.is_none() && job.filesize.is_none() && !job.on_device() {
        let cure = "add size=, such as size=1g, or filename=/dev/sda for the whole disk";
        return wrong("", format!("job '{name}' does not say how much: {cure}"));
    }
    let relative = percent(job.size) || (percent(job.io_size) && job.size.is_none());
    if relative && job.filesize.is_none() && !job.on_device() {
        return wrong("size", "a share needs a whole: add filesize=, or filename=/dev/sda".to_owned());
    }
    if job.time_based && job.runtime.0 == u64::MAX {
        return wrong("time_based", format!("job '{name}' is time_based without end: add runtime="));
    }
    let size = match job.size {
        Some(values::Amount::Bytes(bytes)) => bytes / SECTOR_BYTES,
        _ => job.filesize.unwrap_or(u64::MAX),
    };
    if size < job.largest() {
        return wrong("size", format!("job '{name}': size is less than one request: lower bs or raise size"));
    }
    Ok(())
}

fn warnings(file: &str, jobs: &[(String, u32, Job)], unknown: &[String]) -> Vec<String> {
    let mut warnings = Vec::new();
    if !unknown.is_empty() {
        warnings.push(format!("keys that are not modelled, ignored: {}", unknown.join(", ")));
    }
    for (name, number, job) in jobs {
        if job.iodepth > 1 && !job.engine.1 {
            let place = line(job, "iodepth", *number);
            warnings.push(format!(
                "{file}:{place}: job '{name}': iodepth={} has no effect with ioengine={}, which waits for each \
                 request; use ioengine=libaio",
                job.iodepth, job.engine.0
            ));
        }
    }
    let cached: Vec<&str> =
        jobs.iter().filter(|(_, _, job)| !job.direct).map(|(name, _, _)| name.as_str()).collect();
    if !cached.is_empty() {
        warnings.push(format!(
            "{file}: without direct=1 a page cache would lie before the disk; here every request reaches it \
             (jobs: {})",
            cached.join(", ")
        ));
    }
    warnings
}

#[cfg(test)]
mod tests;
