//! How the controller serves writes, and whatever it can do while the arm is busy.
//!
//! A write from the buffer is done when its data has crossed the bus; the arm starts at the end of
//! the command overhead and continues afterwards. Other writes wait for the medium. While the arm is
//! busy, a drive may take a write that continues the one under way, take others into spare room, or
//! serve hits.

use super::media::{self, Supply};
use super::queue::Job;
use super::service::Work;
use super::{AFTER_READ, AFTER_WRITE, Mechanical, Writing};
use crate::device::Command;
use idlewise_core::Operation;

/// Drives with an extra disconnection start on the medium with this much of a write in the buffer.
const EXTRA_FIRST: u64 = 10;

impl Mechanical {
    /// Whether a write completes from the buffer.
    #[inline]
    fn fast(&self, command: &Command) -> bool {
        self.options.write_cache && !command.fua
    }

    pub(super) fn write(&mut self, work: &Work<'_>) {
        let overheads = self.overheads;
        let fast = self.fast(&work.job.command);
        let base = work.job.arrival + u64::from(overheads.request_ns);
        let preparation = u64::from(overheads.data_preparation_ns);
        let table = if fast { &overheads.write_hit_ns } else { &overheads.write_miss_ns };
        let mut decoded = base + u64::from(table[self.last]);
        let mut bus_start = decoded + preparation;
        let mut disconnect = u64::from(overheads.disconnect_write_ns);
        let mut reselect = u64::from(overheads.reselect_first_ns);
        if work.waited {
            bus_start = (decoded + disconnect).max(work.at) + reselect + preparation;
        } else if let Some(extra) = overheads.extra_disconnect.filter(|_| self.extra_disconnects(work)) {
            decoded = base + u64::from(extra.command_ns) + u64::from(extra.seek_delta_ns);
            bus_start = base + u64::from(extra.command_ns) + u64::from(extra.disconnect_ns);
            bus_start += u64::from(extra.pause_ns) + reselect + preparation;
            disconnect = u64::from(extra.second_disconnect_ns);
            reselect = u64::from(overheads.reselect_other_ns);
        }
        let transfer = u64::from(work.count) * u64::from(self.bus_write);
        bus_start = self.bus.carry(bus_start, transfer);
        self.read_on(work.at);
        let busy = self.prefetch.map(|prefetch| prefetch.segment);
        let begin = self.stop_reading_on(work.at).max(decoded);
        let segment = self.buffer.take_for_write(work.start, work.end, busy);
        self.buffer.hold(segment, work.start, work.end, true);
        let bus = u64::from(self.bus_write);
        let mut supply = Supply { start: bus_start, bus, earliest: 0 };
        if overheads.extra_disconnect.is_some() {
            supply.earliest = bus_start + u64::from(work.count).min(EXTRA_FIRST) * bus;
        }
        let extent = media::Extent { start: work.start, count: work.count, place: work.job.place };
        let run = self.media.write(begin, extent, self.options.immediate_write, supply, false);
        let bus_end = bus_start + transfer;
        let completion = u64::from(overheads.write_completion_ns);
        if fast {
            self.arm_free = run.end;
            self.writing = Some(Writing { segment, start: work.start, end: work.end });
            self.buffered_write_done(work.job, work.at, bus_start, bus_end + completion);
            return;
        }
        let done = run.end.max(bus_end + disconnect) + reselect + completion;
        self.arm_free = if self.preseek { run.end } else { done };
        let overhead = begin - work.at + reselect + completion;
        self.finish_run(work.job.command.tag, work.at, done, &run, overhead);
    }

    fn buffered_write_done(&mut self, job: &Job, started: u64, bus_start: u64, done: u64) {
        let transfer = u64::from(job.command.length.0) * u64::from(self.bus_write);
        debug_assert!(bus_start >= started, "data crosses the bus after the command came");
        self.finish_buffered(job.command.tag, started, done, transfer);
    }

    /// A write elsewhere, straight after a write.
    fn extra_disconnects(&self, work: &Work<'_>) -> bool {
        let newest = self.buffer.segments.iter().max_by_key(|segment| segment.used);
        newest.is_some_and(|segment| segment.written && segment.end != work.start)
    }

    /// Serves a command while the arm is busy with another, if the drive can; else gives false.
    pub(super) fn serve_beside(&mut self, now: u64, command: &Command) -> bool {
        let start = command.start.0;
        let end = start + u64::from(command.length.0);
        if command.operation == Operation::Read {
            return self.options.hits_while_busy && self.hit_beside(now, command, end);
        }
        if !self.fast(command) {
            return false;
        }
        // Nothing that came before it may wait for the arm, in the buffer or out of it.
        let next = self.waiting.is_empty() && self.dirty.is_empty();
        let combines = next && self.options.combine_writes;
        let continues = self
            .writing
            .filter(|writing| combines && writing.end == start && end - writing.start <= self.buffer.size());
        let most = if self.options.combine_writes { self.buffer.size() } else { 0 };
        let held = self.dirty.sectors() + u64::from(command.length.0);
        let place = !self.dirty.is_full() || self.dirty.can_extend(command, most);
        let fits = place && held <= self.buffer.size() * self.buffer.segments.len() as u64;
        let room = self.options.prebuffer_writes && fits;
        if !room && continues.is_none() {
            return false;
        }
        let overheads = &self.overheads;
        let decoded = now + u64::from(overheads.request_ns) + u64::from(overheads.write_hit_ns[self.last]);
        let transfer = u64::from(command.length.0) * u64::from(self.bus_write);
        let bus_start = self.bus.carry(decoded + u64::from(overheads.data_preparation_ns), transfer);
        let done = bus_start + transfer + u64::from(overheads.write_completion_ns);
        let place = self.media.geometry.locate(start);
        let job = Job { command: *command, arrival: now, place, hit: false };
        match continues {
            Some(writing) => {
                let extent = media::Extent { start, count: command.length.0, place };
                let supply = Supply { start: bus_start, bus: u64::from(self.bus_write), earliest: 0 };
                let immediate = self.options.immediate_write;
                let run = self.media.write(self.arm_free, extent, immediate, supply, true);
                self.arm_free = run.end;
                self.writing = Some(Writing { end, ..writing });
                self.buffer.extend(writing.segment, end);
            }
            None => {
                let busy = self.prefetch.map(|prefetch| prefetch.segment);
                let segment = self.buffer.take_for_write(start, end, busy);
                self.prefetch = self.prefetch.filter(|prefetch| usize::from(prefetch.segment) != segment);
                self.buffer.hold(segment, start, end, true);
                self.dirty.push_or_extend(Job { arrival: decoded, ..job }, most);
            }
        }
        self.last = AFTER_WRITE;
        self.buffered_write_done(&job, now, bus_start, done);
        true
    }

    fn hit_beside(&mut self, now: u64, command: &Command, end: u64) -> bool {
        let found = self.buffer.find(command.start.0, end);
        let Some(segment) = found.filter(|&s| self.buffer.segments[s].end >= end) else { return false };
        self.buffer.touch(segment);
        let overheads = &self.overheads;
        let decoded = now + u64::from(overheads.request_ns) + u64::from(overheads.read_hit_ns[self.last]);
        let transfer = u64::from(command.length.0) * u64::from(self.bus_read);
        let ready = decoded + u64::from(overheads.data_preparation_ns);
        let done = self.bus.carry(ready, transfer) + transfer + u64::from(overheads.read_completion_ns);
        self.last = AFTER_READ;
        self.finish_buffered(command.tag, now, done, transfer);
        true
    }

    /// Whether it is a write that the buffer had no room for. When its turn comes it goes there, and some of
    /// what was buffered before it goes to the medium: that may be a long run where it is short.
    pub(super) fn waits_for_room(&self, command: &Command) -> bool {
        let write = command.operation == Operation::Write && self.fast(command);
        write && self.options.prebuffer_writes && !self.dirty.is_empty()
    }

    /// Lets a waiting write into the buffer; if it is still full, starts to write some of it to the medium.
    pub(super) fn let_in(&mut self, now: u64, job: Job) {
        let at = self.arm_free.max(job.arrival);
        if self.serve_beside(at, &job.command) {
            return;
        }
        self.destage_next(now);
        if !self.serve_beside(at, &job.command) {
            self.waiting.push(job);
        }
    }

    /// Writes buffered data to the medium.
    pub(super) fn destage(&mut self, job: &Job, at: u64) {
        let count = job.command.length.0;
        let extent = media::Extent { start: job.command.start.0, count, place: job.place };
        self.read_on(at);
        let begin = self.stop_reading_on(at).max(job.arrival);
        let supply = Supply { start: 0, bus: 0, earliest: 0 };
        let run = self.media.write(begin, extent, self.options.immediate_write, supply, false);
        self.arm_free = run.end;
        let end = extent.start + u64::from(count);
        self.writing = Some(Writing { segment: 0, start: end, end: u64::MAX });
    }
}
