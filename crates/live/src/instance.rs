//! A trace buffer of our own: an instance of tracefs, which nobody else's tracing disturbs.
//!
//! The instance goes with the program. One whose program was killed stays until the next recording, which removes it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::error::RecordError;
use crate::pages;

/// Kilobytes of a processor's buffer: at 100 000 requests a second on one processor, half a second.
const BUFFER: usize = 16 << 10;

/// Kilobytes of all buffers together, on machines with many processors.
const BUFFERS: usize = 256 << 10;

/// The largest page that a kernel may be told to use, in bytes.
const PAGE: usize = 64 << 10;

/// What instances of ours are called; the numbers of the process and of the instance follow.
const PREFIX: &str = "idlewise-";

/// Instances that this program has made.
static MADE: AtomicU32 = AtomicU32::new(0);

/// A trace buffer of our own.
pub(crate) struct Instance {
    folder: PathBuf,
    /// What each processor's events are read from.
    pipes: Vec<File>,
    page: Vec<u8>,
}

impl Instance {
    /// Makes a buffer that is switched off, below the tracefs at `root`.
    pub(crate) fn create(root: &Path) -> Result<Instance, RecordError> {
        let all = root.join("instances");
        // Of one whose program only cannot be seen from here somebody reads the pipes: its removal is refused.
        for entry in fs::read_dir(&all).into_iter().flatten().flatten() {
            if is_left(&entry.file_name().to_string_lossy()) {
                let _ = fs::remove_dir(entry.path());
            }
        }
        let folder = loop {
            let number = MADE.fetch_add(1, Ordering::Relaxed);
            let folder = all.join(format!("{PREFIX}{}-{number}", std::process::id()));
            match fs::create_dir(&folder) {
                Ok(()) => break folder,
                // A process of the same number in another container has it.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(RecordError::tracefs("making a trace buffer", error)),
            }
        };
        let mut instance = Instance { folder, pipes: Vec::new(), page: vec![0; PAGE] };
        instance.prepare().map_err(|error| RecordError::tracefs("preparing a trace buffer", error))?;
        Ok(instance)
    }

    fn prepare(&mut self) -> io::Result<()> {
        let mut cpus: Vec<PathBuf> =
            fs::read_dir(self.folder.join("per_cpu"))?.flatten().map(|entry| entry.path()).collect();
        cpus.sort();
        for cpu in &cpus {
            let mut options = OpenOptions::new();
            options.read(true).custom_flags(libc::O_NONBLOCK);
            self.pipes.push(options.open(cpu.join("trace_pipe_raw"))?);
        }
        self.set("tracing_on", "0")?;
        self.set("trace_clock", "mono")?;
        // Otherwise the kernel notes the names of tasks at each switch between them; events have what is wanted.
        let _ = self.set("options/record-cmd", "0");
        self.set("buffer_size_kb", &BUFFER.min(BUFFERS / cpus.len().max(1)).to_string())
    }

    /// Switches the event `path` on, such as `block/block_rq_issue`, as far as `filter` lets through.
    pub(crate) fn add(&self, path: &str, filter: Option<&str>) -> Result<(), RecordError> {
        let event = Path::new("events").join(path);
        let filter = filter.map_or(Ok(()), |filter| self.set(event.join("filter"), filter));
        let outcome = filter.and_then(|()| self.set(event.join("enable"), "1"));
        outcome.map_err(|error| RecordError::tracefs("switching an event on", error))
    }

    /// Begins or stops to record.
    pub(crate) fn switch(&self, on: bool) -> Result<(), RecordError> {
        let outcome = self.set("tracing_on", if on { "1" } else { "0" });
        outcome.map_err(|error| RecordError::System { what: "switching the trace buffer", error })
    }

    fn set(&self, file: impl AsRef<Path>, value: &str) -> io::Result<()> {
        fs::write(self.folder.join(file), value)
    }

    /// Gives all that has come to `take`: its time and bytes. Tells how many events were lost.
    pub(crate) fn take(&mut self, mut take: impl FnMut(u64, &[u8])) -> Result<u64, RecordError> {
        let mut lost = 0;
        for pipe in &mut self.pipes {
            loop {
                match pipe.read(&mut self.page) {
                    Ok(0) => break,
                    Ok(length) => lost += pages::read(&self.page[..length], &mut take),
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(RecordError::System { what: "reading events", error }),
                }
            }
        }
        Ok(lost)
    }

    /// Events that found no room, as the kernel counts them.
    pub(crate) fn lost(&self) -> u64 {
        let cpus = fs::read_dir(self.folder.join("per_cpu")).into_iter().flatten().flatten();
        let texts = cpus.filter_map(|cpu| fs::read_to_string(cpu.path().join("stats")).ok());
        texts.map(|text| losses(&text)).sum()
    }
}

/// An instance called so is ours, and its program has gone: there is no such process, or it is this one, which has not
/// made it.
fn is_left(name: &str) -> bool {
    let Some((process, number)) = name.strip_prefix(PREFIX).and_then(|rest| rest.split_once('-')) else {
        return false;
    };
    let (Ok(process), Ok(number)) = (process.parse::<u32>(), number.parse::<u32>()) else { return false };
    let own = process == std::process::id() && number >= MADE.load(Ordering::Relaxed);
    own || !Path::new("/proc").join(process.to_string()).exists()
}

/// What `per_cpu/cpuN/stats` says was lost.
fn losses(text: &str) -> u64 {
    let rows = text.lines().filter_map(|line| line.split_once(": "));
    let lost = rows.filter(|(name, _)| matches!(*name, "overrun" | "commit overrun" | "dropped events"));
    lost.filter_map(|(_, count)| count.trim().parse::<u64>().ok()).sum()
}

impl Drop for Instance {
    fn drop(&mut self) {
        let _ = self.set("tracing_on", "0");
        self.pipes.clear();
        let _ = fs::remove_dir(&self.folder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instances_of_programs_that_run_are_kept() {
        let (own, made) = (std::process::id(), MADE.fetch_add(1, Ordering::Relaxed));
        assert!(
            !is_left(&format!("idlewise-{own}-{made}")) && is_left(&format!("idlewise-{own}-{}", u32::MAX))
        );
        assert!(is_left("idlewise-4294967295-0") && !is_left("other-4294967295-0"));
    }

    #[test]
    fn a_name_that_is_taken_is_passed_over() {
        let root = tempfile::tempdir().unwrap();
        let taken =
            |number| root.path().join(format!("instances/idlewise-{}-{number}/busy", std::process::id()));
        let made = MADE.load(Ordering::Relaxed);
        (made..made + 8).for_each(|number| fs::create_dir_all(taken(number)).unwrap());
        let error = Instance::create(root.path()).err().unwrap().to_string();
        assert!(error.starts_with("preparing a trace buffer"), "{error}");
        assert!((made..made + 8).all(|number| taken(number).exists()));
    }

    #[test]
    fn what_the_kernel_lost_is_read() {
        let text = "entries: 5\noverrun: 3\ncommit overrun: 1\nbytes: 36\nnow ts: 15.2\ndropped events: 2\nread events: 0\n";
        assert_eq!(losses(text), 6);
    }
}
