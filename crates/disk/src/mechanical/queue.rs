//! Commands that wait for the arm, and which of them to serve next: the one that is reached soonest.
//!
//! The place of each command is found once, when it arrives. A choice then costs one seek-curve
//! lookup and one subtraction of angles for each command.

use super::geometry::Place;
use super::media::Media;
use crate::device::Command;
use crate::error::{BuildError, reserve};
use alloc::vec::Vec;
use idlewise_core::Operation;

/// A sector that would come within this share (a power of two) of a revolution after the arm settles
/// is not counted on: seek times are not exact. About two sectors.
const MARGIN_SHIFT: u32 = 7;

/// A command that waits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job {
    pub(super) command: Command,
    pub(super) arrival: u64,
    pub(super) place: Place,
    /// The job's first sector was in the buffer when last looked at.
    pub(super) hit: bool,
}

/// What a choice looks at.
#[derive(Clone, Copy, Debug)]
struct Key {
    cylinder: u32,
    angle: u32,
    head: u32,
    write: bool,
    hit: bool,
}

/// Waiting commands, in no order.
#[derive(Clone, Debug)]
pub(super) struct Queue {
    jobs: Vec<Job>,
    keys: Vec<Key>,
    limit: usize,
    /// Sectors of all that wait.
    sectors: u64,
}

impl Queue {
    pub(super) fn new(limit: u32) -> Result<Queue, BuildError> {
        let (mut jobs, mut keys) = (Vec::new(), Vec::new());
        reserve(&mut jobs, limit as usize)?;
        reserve(&mut keys, limit as usize)?;
        Ok(Queue { jobs, keys, limit: limit as usize, sectors: 0 })
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }

    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.jobs.len() >= self.limit
    }

    /// Sectors of all that wait.
    #[inline]
    pub(super) fn sectors(&self) -> u64 {
        self.sectors
    }

    #[inline]
    pub(super) fn push(&mut self, job: Job) {
        debug_assert!(!self.is_full(), "the queue is checked before a command is taken");
        let Place { cylinder, angle, head, .. } = job.place;
        let write = job.command.operation != Operation::Read;
        self.keys.push(Key { cylinder, angle, head, write, hit: job.hit });
        self.sectors += u64::from(job.command.length.0);
        self.jobs.push(job);
    }

    /// Whether the one taken last can grow by this command, up to `most` sectors in all.
    pub(super) fn can_extend(&self, command: &Command, most: u64) -> bool {
        self.jobs.last().is_some_and(|last| {
            let length = u64::from(last.command.length.0);
            let after = last.command.start.0 + length == command.start.0;
            after && length + u64::from(command.length.0) <= most
        })
    }

    /// Takes a command, or lets the one taken last grow by it, up to `most` sectors in all.
    pub(super) fn push_or_extend(&mut self, job: Job, most: u64) {
        if self.can_extend(&job.command, most)
            && let Some(last) = self.jobs.last_mut()
        {
            last.command.length.0 += job.command.length.0;
            self.sectors += u64::from(job.command.length.0);
        } else {
            self.push(job);
        }
    }

    /// Notes which reads now find their first sector in the buffer.
    #[inline]
    pub(super) fn note_held(&mut self, start: u64, end: u64) {
        for (job, key) in self.jobs.iter().zip(&mut self.keys) {
            let address = job.command.start.0;
            key.hit |= !key.write && start <= address && address < end;
        }
    }

    /// Takes out the command that the arm, free at `now`, reaches soonest. Commands older than
    /// `age_limit` (if not 0) come before that, oldest first.
    pub(super) fn take_next(&mut self, media: &Media, now: u64, age_limit: u64) -> Option<Job> {
        let index = match self.jobs.len() {
            0 => return None,
            1 => 0,
            _ => self.aged(now, age_limit).unwrap_or_else(|| self.nearest(media, now)),
        };
        self.keys.swap_remove(index);
        let job = self.jobs.swap_remove(index);
        self.sectors -= u64::from(job.command.length.0);
        Some(job)
    }

    fn aged(&self, now: u64, limit: u64) -> Option<usize> {
        if limit == 0 {
            return None;
        }
        let (index, oldest) = self.jobs.iter().enumerate().min_by_key(|(_, job)| job.arrival)?;
        (now.saturating_sub(oldest.arrival) > limit).then_some(index)
    }

    fn nearest(&self, media: &Media, now: u64) -> usize {
        let geometry = &media.geometry;
        let margin = geometry.period() >> MARGIN_SHIFT;
        let here = geometry.angle_at(now);
        let (mut best, mut best_time) = (0, u32::MAX);
        for (index, key) in self.keys.iter().enumerate() {
            if key.hit {
                return index;
            }
            let seek = media.arm_time(key.cylinder, key.head, key.write);
            if seek >= best_time {
                continue;
            }
            if seek == 0 && geometry.wait(here, key.angle) == 0 {
                // The job continues what the arm just did.
                return index;
            }
            let settled = geometry.turn(here, seek + margin);
            let time = seek + margin + geometry.wait(settled, key.angle);
            if time < best_time {
                best = index;
                best_time = time;
            }
        }
        best
    }
}
