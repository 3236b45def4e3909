//! How the controller serves a read: from the buffer, in part from it, or from the medium.
//!
//! Times of a miss: the command overhead, then the arm moves; once the watermark is in the buffer
//! the bus is taken and data crosses it, overlapping the rest of the media transfer; then the
//! completion overhead. After a read the drive reads on, until the arm is wanted elsewhere.

use super::media::{self, ReadMode, Run};
use super::prefetch::Prefetch;
use super::queue::Job;
use super::{AFTER_READ, AFTER_WRITE, Mechanical, ReadAhead};
use idlewise_core::Operation;

/// A command with its times as numbers.
pub(super) struct Work<'a> {
    pub(super) job: &'a Job,
    pub(super) start: u64,
    pub(super) count: u32,
    pub(super) end: u64,
    /// When the arm could turn to it.
    pub(super) at: u64,
    /// The command was queued and has left the bus.
    pub(super) waited: bool,
}

impl Mechanical {
    /// Serves a command with the arm free at `at`.
    #[inline]
    pub(super) fn serve(&mut self, job: &Job, at: u64, waited: bool) {
        let start = job.command.start.0;
        let count = job.command.length.0;
        let work = Work { job, start, count, end: start + u64::from(count), at, waited };
        self.writing = None;
        if job.command.operation == Operation::Read {
            self.read(&work);
            self.last = AFTER_READ;
        } else {
            self.write(&work);
            self.last = AFTER_WRITE;
        }
    }

    /// Brings reading on up to `now`.
    #[inline]
    pub(super) fn read_on(&mut self, now: u64) {
        let Some(prefetch) = &mut self.prefetch else { return };
        let (end, goes_on) = prefetch.advance(&mut self.media, self.options.read_ahead, now);
        self.buffer.extend(usize::from(prefetch.segment), end);
        let segment = &self.buffer.segments[usize::from(prefetch.segment)];
        debug_assert_eq!(segment.end, end, "the segment ends where reading on is");
        if !goes_on {
            self.prefetch = None;
        }
    }

    /// Ends reading on at `now`; gives the time from which the arm can move.
    #[inline]
    pub(super) fn stop_reading_on(&mut self, now: u64) -> u64 {
        let stop_in_sector = self.options.stop_in_sector;
        self.prefetch.take().map_or(now, |prefetch| prefetch.release(&self.media, stop_in_sector, now))
    }

    fn read(&mut self, work: &Work<'_>) {
        self.read_on(work.at);
        match self.buffer.find(work.start, work.end) {
            Some(segment) if self.buffer.segments[segment].end >= work.end => self.read_hit(work, segment),
            Some(segment) => self.read_partly(work, segment),
            None => match self.next_to_come(work.start) {
                Some(segment) => self.read_partly(work, segment),
                None => self.read_miss(work),
            },
        }
    }

    /// The segment that is being read into, if `start` is the sector it is at.
    #[inline]
    fn next_to_come(&self, start: u64) -> Option<usize> {
        let segment = usize::from(self.prefetch.filter(|_| self.options.almost_hits)?.segment);
        (self.buffer.segments[segment].end == start).then_some(segment)
    }

    /// Time by which a read's command overhead is over when the arm is needed.
    #[inline]
    fn decoded(&self, work: &Work<'_>) -> u64 {
        let overheads = &self.overheads;
        work.job.arrival + u64::from(overheads.request_ns) + u64::from(overheads.read_miss_ns[self.last])
    }

    /// Time from which a read of buffered data may use the bus, if that is free.
    fn hit_ready(&self, work: &Work<'_>) -> u64 {
        let overheads = &self.overheads;
        let ready = if work.waited {
            let off_bus = self.decoded(work) + u64::from(overheads.disconnect_read_ns[self.last]);
            work.at.max(off_bus) + u64::from(overheads.reselect_first_ns)
        } else {
            work.job.arrival + u64::from(overheads.request_ns) + u64::from(overheads.read_hit_ns[self.last])
        };
        ready + u64::from(overheads.data_preparation_ns)
    }

    fn read_hit(&mut self, work: &Work<'_>, segment: usize) {
        let transfer = u64::from(work.count) * u64::from(self.bus_read);
        let bus_end = self.bus.carry(self.hit_ready(work), transfer) + transfer;
        let done = bus_end + u64::from(self.overheads.read_completion_ns);
        self.buffer.touch(segment);
        let limit = self.read_limit(segment, work.end);
        match &mut self.prefetch {
            Some(prefetch) if usize::from(prefetch.segment) == segment => {
                prefetch.limit = prefetch.limit.max(limit);
            }
            // The arm is on its way to another stream, and a hit does not need it.
            Some(prefetch) if work.at < prefetch.settled => {}
            _ => {
                // The arm leaves another stream; it serves this one if the drive reads on after hits.
                let free = self.stop_reading_on(work.at);
                let from = self.buffer.segments[segment].end;
                if self.options.read_ahead_on_hit && from < limit {
                    let begin = free.max(self.decoded(work));
                    self.start_reading_on(segment, from, limit, begin);
                }
            }
        }
        self.buffer.sent(segment, work.end);
        if !self.preseek {
            self.arm_free = self.arm_free.max(done);
        }
        self.finish_buffered(work.job.command.tag, work.at, done, transfer);
    }

    fn read_partly(&mut self, work: &Work<'_>, segment: usize) {
        let held = self.buffer.segments[segment].end;
        let there = (held - work.start) as u32;
        let earliest = self.hit_ready(work).max(self.bus.free());
        let mut stream = media::Stream::new(self.bus_read, work.count, 1, earliest, 0);
        stream.already(there, work.at);
        self.buffer.touch(segment);
        let run = match self.prefetch.take() {
            Some(mut prefetch) if usize::from(prefetch.segment) == segment => {
                let run = prefetch.run_to(&mut self.media, held, work.end, there, &mut stream);
                let limit = self.read_limit(segment, work.end);
                prefetch.limit = prefetch.limit.max(limit);
                self.prefetch = Some(prefetch);
                self.buffer.extend(segment, work.end);
                run
            }
            other => {
                self.prefetch = other;
                let begin = self.stop_reading_on(work.at).max(self.decoded(work));
                let extent = self.media.extent(held, work.count - there);
                let run = self.media.read(begin, extent, self.read_mode(), there, &mut stream);
                self.buffer.extend(segment, work.end);
                self.follow(segment, work.end, &run);
                run
            }
        };
        self.buffer.sent(segment, work.end);
        self.complete_read(work, work.at, &run, &stream);
    }

    fn read_miss(&mut self, work: &Work<'_>) {
        let overheads = &self.overheads;
        let decoded = self.decoded(work);
        let off_bus = decoded + u64::from(overheads.disconnect_read_ns[self.last]);
        let reconnect = overheads.reselect_first_ns + overheads.data_preparation_ns;
        let busy = self.prefetch.map(|prefetch| prefetch.segment);
        let begin = self.stop_reading_on(work.at).max(decoded);
        let in_segment = u64::from(work.count).min(self.buffer.size()) as u32;
        let watermark =
            ((u64::from(in_segment) * u64::from(self.options.read_watermark)) >> 10).max(1) as u32;
        let earliest = (off_bus + u64::from(reconnect)).max(self.bus.free());
        let mut stream = media::Stream::new(self.bus_read, work.count, watermark, earliest, reconnect);
        let extent = media::Extent { start: work.start, count: work.count, place: work.job.place };
        let run = self.media.read(begin, extent, self.read_mode(), 0, &mut stream);
        if self.options.read_cache {
            let segment = self.buffer.take_for_read(busy);
            self.buffer.hold(segment, run.low, work.end, false);
            self.follow(segment, work.end, &run);
            self.buffer.sent(segment, work.end);
        }
        self.complete_read(work, begin, &run, &stream);
    }

    /// Books the bus for a read that used the arm from `begin` on and whose data crosses the bus as `stream`.
    #[inline]
    fn complete_read(&mut self, work: &Work<'_>, begin: u64, run: &Run, stream: &media::Stream) {
        let completion = u64::from(self.overheads.read_completion_ns);
        let done = stream.finish() + completion;
        self.bus.hold(stream.earliest(), stream.finish());
        self.arm_free = if self.preseek { run.end } else { done.max(run.end) };
        self.finish_run(work.job.command.tag, work.at, done, run, begin - work.at + completion);
    }

    fn read_mode(&self) -> ReadMode {
        let keep_free = self.options.read_free_sectors;
        ReadMode { immediate: self.options.immediate_read || keep_free, keep_free }
    }

    /// How far a segment may read on after a read that ended at `end`.
    fn read_limit(&mut self, segment: usize, end: u64) -> u64 {
        let capacity = self.media.geometry.capacity();
        let held = &mut self.buffer.segments[segment];
        let limit = match self.options.read_ahead {
            ReadAhead::None => end,
            ReadAhead::Adaptive if end < capacity => {
                let place = self.media.geometry.locate(end);
                let track_end = end + u64::from(place.left);
                let track_start = end - u64::from(place.sector);
                let further = held.origin < track_start;
                let track = self.media.geometry.zone(&place).sectors_per_track;
                track_end + if further { u64::from(track) } else { 0 }
            }
            _ => end + u64::from(self.options.read_ahead_sectors),
        };
        held.read_limit = held.read_limit.max(limit.min(capacity));
        held.read_limit
    }

    /// Reads on behind a read that just used the arm.
    #[inline]
    fn follow(&mut self, segment: usize, end: u64, run: &Run) {
        let limit = self.read_limit(segment, end);
        if limit <= end {
            return;
        }
        let mut prefetch = Prefetch {
            segment: segment as u8,
            chunk: end,
            track_end: end + u64::from(run.left),
            limit,
            settled: run.end,
            start: run.next_start,
            zone: run.zone,
        };
        let goes_on = run.left > 0 || prefetch.next_track(&mut self.media, self.options.read_ahead, run.end);
        if goes_on {
            self.prefetch = Some(prefetch);
        }
    }

    /// Sends the arm to read `from..limit` into a segment.
    fn start_reading_on(&mut self, segment: usize, from: u64, limit: u64, begin: u64) {
        let mut prefetch =
            Prefetch { segment: segment as u8, chunk: from, track_end: from, limit, ..Prefetch::default() };
        prefetch.next_track(&mut self.media, ReadAhead::Segment, begin);
        self.prefetch = Some(prefetch);
    }
}
