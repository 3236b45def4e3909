//! Where on the disk the files of a job file lie, and which part of its file each job uses.

use idlewise_core::SECTOR_BYTES;

use super::job::Job;
use super::values;

/// The part of its file that a job uses, in sectors, and how much it moves there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Region {
    pub(super) start: u64,
    pub(super) length: u64,
    pub(super) moves: u64,
}

pub(super) fn region(job: &Job, whole: u64, clone: u64) -> Region {
    let sectors = |bytes: u64| bytes / SECTOR_BYTES;
    let bytes = whole * SECTOR_BYTES;
    let offset = job.offset.of(bytes).saturating_add(job.offset_increment.of(bytes).saturating_mul(clone));
    let start = sectors(offset);
    // Where the file's length is given, nothing lies beyond it.
    let bounded = job.filesize.is_some() || job.on_device();
    let rest = if bounded { whole.saturating_sub(start) } else { u64::MAX };
    let length = job.size.map_or(rest, |size| sectors(size.of(bytes))).min(rest);
    let moves = job.io_size.map_or(length, |size| sectors(size.of(bytes)));
    Region { start, length, moves }
}

impl Job {
    /// Whether its file is the whole disk.
    pub(super) fn on_device(&self) -> bool {
        self.filename.as_ref().is_some_and(|name| name.starts_with("/dev/"))
    }
}

/// Where files lie, in sectors.
pub(super) struct Layout {
    pub(super) capacity: u64,
    pub(super) end: u64,
    /// Name, length, start.
    files: Vec<(String, u64, u64)>,
}

impl Layout {
    /// A disk of `capacity` without files.
    pub(super) fn new(capacity: u64) -> Layout {
        Layout { capacity, end: 0, files: Vec::new() }
    }

    /// The length of a file as far as a job states it.
    pub(super) fn whole(&self, file: &str, job: &Job) -> u64 {
        match job.filesize {
            _ if file.starts_with("/dev/") => self.capacity,
            Some(length) => length,
            None => match job.size {
                Some(values::Amount::Bytes(bytes)) => bytes / SECTOR_BYTES,
                _ => 0,
            },
        }
    }

    /// Makes a file at least this long.
    pub(super) fn need(&mut self, file: String, length: u64) {
        match self.files.iter_mut().find(|(name, ..)| *name == file) {
            Some((_, known, _)) => *known = length.max(*known),
            None => self.files.push((file, length, 0)),
        }
    }

    pub(super) fn lay_out(&mut self) {
        const MEBIBYTE: u64 = (1 << 20) / SECTOR_BYTES;
        for (name, length, start) in &mut self.files {
            if !name.starts_with("/dev/") {
                *start = self.end.checked_next_multiple_of(MEBIBYTE).unwrap_or(u64::MAX);
                self.end = start.saturating_add(*length);
            }
        }
    }

    pub(super) fn start(&self, file: &str) -> u64 {
        self.files.iter().find(|(name, ..)| name == file).map_or(0, |(_, _, start)| *start)
    }
}
