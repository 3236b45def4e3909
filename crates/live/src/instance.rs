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
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let folder = all.join(format!("{PREFIX}{}-{number}", std::process::id()));
        fs::create_dir(&folder).map_err(|error| RecordError::tracefs(&error))?;
        let mut instance = Instance { folder, pipes: Vec::new(), page: vec![0; PAGE] };
        instance
            .prepare()
            .map_err(|error| RecordError::System { what: "preparing a trace buffer", error })?;
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
        self.set("buffer_size_kb", &BUFFER.min(BUFFERS / cpus.len().max(1)).to_string())
    }

    /// Switches the event `path` on, such as `block/block_rq_issue`, as far as `filter` lets through.
    pub(crate) fn add(&self, path: &str, filter: Option<&str>) -> Result<(), RecordError> {
        let event = Path::new("events").join(path);
        let filter = filter.map_or(Ok(()), |filter| self.set(event.join("filter"), filter));
        let outcome = filter.and_then(|()| self.set(event.join("enable"), "1"));
        outcome.map_err(|error| RecordError::System { what: "switching an event on", error })
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

/// An instance called so is ours, and its program has gone.
fn is_left(name: &str) -> bool {
    let process = name.strip_prefix(PREFIX).and_then(|rest| rest.split('-').next());
    process.is_some_and(|process| !Path::new("/proc").join(process).exists())
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
        assert!(!is_left(&format!("idlewise-{}-0", std::process::id())));
        assert!(is_left("idlewise-4294967295-0") && !is_left("other-4294967295-0"));
    }

    #[test]
    fn what_the_kernel_lost_is_read() {
        let text = "entries: 5\noverrun: 3\ncommit overrun: 1\nbytes: 36\nnow ts: 15.2\ndropped events: 2\nread events: 0\n";
        assert_eq!(losses(text), 6);
    }
}
