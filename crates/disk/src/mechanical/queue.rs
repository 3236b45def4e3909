//! Commands that wait for the arm, and which of them to serve next: the one that is reached soonest.
//!
//! The place of each command is found once, when it arrives. A choice then costs one seek-curve
//! lookup and one subtraction of angles for each command.

use super::error::{BuildError, reserve};
use super::geometry::Place;
use super::media::Media;
use crate::device::Command;
use alloc::vec::Vec;
use idlewise_core::Operation;

/// A command that waits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job {
    pub(super) command: Command,
    pub(super) arrival: u64,
    pub(super) place: Place,
    /// Its first sector was in the buffer when last looked at.
    pub(super) hit: bool,
}

/// Waiting commands, in no order.
#[derive(Clone, Debug)]
pub(super) struct Queue {
    jobs: Vec<Job>,
    limit: usize,
}

impl Queue {
    pub(super) fn new(limit: u32) -> Result<Queue, BuildError> {
        let mut jobs = Vec::new();
        reserve(&mut jobs, limit as usize)?;
        Ok(Queue { jobs, limit: limit as usize })
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }

    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.jobs.len() >= self.limit
    }

    #[inline]
    pub(super) fn push(&mut self, job: Job) {
        debug_assert!(!self.is_full(), "the queue is checked before a command is taken");
        self.jobs.push(job);
    }

    /// Notes which commands now find their first sector in the buffer.
    #[inline]
    pub(super) fn note_held(&mut self, start: u64, end: u64) {
        for job in &mut self.jobs {
            let address = job.command.start.0;
            let held = start <= address && address < end;
            job.hit |= held && job.command.operation == Operation::Read;
        }
    }

    /// Takes out the command that the arm, free at `now`, reaches soonest. Commands older than
    /// `age_limit` (if not 0) come before that, oldest first.
    pub(super) fn take_next(&mut self, media: &Media, now: u64, age_limit: u64) -> Option<Job> {
        if self.jobs.len() < 2 {
            return self.jobs.pop();
        }
        let index = self.aged(now, age_limit).unwrap_or_else(|| self.nearest(media, now));
        Some(self.jobs.swap_remove(index))
    }

    fn aged(&self, now: u64, limit: u64) -> Option<usize> {
        if limit == 0 {
            return None;
        }
        let (index, oldest) = self.jobs.iter().enumerate().min_by_key(|(_, job)| job.arrival)?;
        (now - oldest.arrival.min(now) > limit).then_some(index)
    }

    fn nearest(&self, media: &Media, now: u64) -> usize {
        let (geometry, period) = (&media.geometry, media.geometry.period());
        let here = geometry.angle_at(now);
        let (mut best, mut best_time) = (0, u32::MAX);
        for (index, job) in self.jobs.iter().enumerate() {
            if job.hit {
                return index;
            }
            let write = job.command.operation != Operation::Read;
            let seek = media.seek_time(&job.place, write).min(u64::from(u32::MAX / 4)) as u32;
            if seek >= best_time {
                continue;
            }
            let mut angle = here + seek;
            while angle >= period {
                angle -= period;
            }
            let time = seek + geometry.wait(angle, job.place.angle);
            if time < best_time {
                best = index;
                best_time = time;
            }
        }
        best
    }
}
