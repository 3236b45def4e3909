//! A disk with platters and an arm, from published parameters.
//!
//! A command is worked out when the arm turns to it: the whole course of seek, rotation, transfer
//! and bus is arithmetic on its start time, so a command costs the same whatever its size. Reading
//! ahead is brought up to date only when something asks. The parts:
//! - `spec`: the parameters, as integers;
//! - `geometry`, `seek`: where a sector is, how long the arm takes;
//! - `media`, `prefetch`: reads and writes on the medium, reading ahead;
//! - `buffer`: segments; `queue`: commands waiting for the arm, nearest first;
//! - `service`, `write`: how the controller serves reads and writes;
//! - `curve`: expected positioning time by distance, for schedulers.

mod buffer;
mod bus;
mod curve;
mod geometry;
mod media;
mod prefetch;
mod queue;
mod seek;
mod service;
mod spec;
mod write;

pub use geometry::{Geometry, Place, Zone};
pub use seek::SeekCurve;
pub use spec::{
    AFTER_READ, AFTER_WRITE, BufferSpec, ExtraDisconnect, MechanicalSpec, Overheads, ReadAhead, ZoneSpec,
};

use crate::device::{
    Alteration, Command, Completion, DiskModel, Spec, SubmitError, Timing, check_extent, sane,
};
use crate::error::{BuildError, reserve};
use alloc::vec::Vec;
use buffer::Buffer;
use bus::Bus;
use idlewise_core::{Duration, Instant, Operation, Sector};
use media::{Media, Run};
use prefetch::Prefetch;
use queue::{Job, Queue};

/// The last write, while it can still be continued.
#[derive(Clone, Copy, Debug)]
struct Writing {
    segment: usize,
    start: u64,
    end: u64,
}

/// A disk with platters and an arm.
#[derive(Clone, Debug)]
pub struct Mechanical {
    media: Media,
    buffer: Buffer,
    overheads: Overheads,
    options: BufferSpec,
    bus_read: u32,
    bus_write: u32,
    depth: u32,
    age_limit: u64,
    preseek: bool,
    /// Until then the arm serves a command and cannot leave.
    arm_free: u64,
    bus: Bus,
    /// Reading on, since the last read.
    prefetch: Option<Prefetch>,
    /// The write that the arm is busy with.
    writing: Option<Writing>,
    /// `AFTER_READ` or `AFTER_WRITE`.
    last: usize,
    waiting: Queue,
    dirty: Queue,
    finished: Vec<Completion>,
    outstanding: u32,
}

impl Mechanical {
    /// Builds a disk. Allocates all the memory it will ever use.
    pub fn new(spec: &MechanicalSpec) -> Result<Mechanical, BuildError> {
        let counts = [
            (spec.heads, "the number of heads"),
            (spec.period_ns, "the time of a revolution"),
            (spec.depth, "the queue depth"),
        ];
        if let Some(&(_, what)) = counts.iter().find(|(n, _)| *n == 0) {
            return Err(BuildError::Zero { what });
        }
        if spec.period_ns < 2 || spec.period_ns > 1 << 28 {
            return Err(BuildError::TooMany { what: "nanoseconds in a revolution", limit: 1 << 28 });
        }
        let longest = spec.head_switch_ns.max(spec.write_settle_ns.unsigned_abs());
        if longest > 1_000_000_000 {
            return Err(BuildError::TooMany { what: "ns in a head switch or settle", limit: 1_000_000_000 });
        }
        if spec.depth > 4096 || spec.buffer.write_segments > 4096 {
            return Err(BuildError::TooMany { what: "queued commands or write segments", limit: 4096 });
        }
        let mut finished = Vec::new();
        reserve(&mut finished, spec.depth as usize)?;
        Ok(Mechanical {
            media: Media::new(spec)?,
            buffer: Buffer::new(&spec.buffer)?,
            overheads: spec.overheads,
            options: spec.buffer,
            bus_read: spec.bus_read_ns,
            bus_write: spec.bus_write_ns,
            depth: spec.depth,
            age_limit: spec.age_limit_ns,
            preseek: spec.preseek,
            arm_free: 0,
            bus: Bus::default(),
            prefetch: None,
            writing: None,
            last: AFTER_READ,
            waiting: Queue::new(spec.depth)?,
            dirty: Queue::new(spec.buffer.write_segments)?,
            finished,
            outstanding: 0,
        })
    }

    /// The layout.
    pub fn geometry(&self) -> &Geometry {
        &self.media.geometry
    }

    /// The seek curve.
    pub fn seek_curve(&self) -> &SeekCurve {
        &self.media.seek
    }

    /// Starts what the arm could have started by `now`: queued commands, then unwritten data.
    #[inline]
    fn catch_up(&mut self, now: u64) {
        while self.arm_free <= now {
            if !self.waiting.is_empty() {
                self.dispatch(now);
            } else if !self.dirty.is_empty() {
                self.destage_next(now);
            } else {
                return;
            }
        }
    }

    fn dispatch(&mut self, now: u64) {
        let at = self.arm_free;
        if let Some(prefetch) = self.prefetch {
            self.read_on(at);
            let segment = self.buffer.segments[usize::from(prefetch.segment)];
            self.waiting.note_held(segment.start, segment.end);
        }
        match self.waiting.take_next(&self.media, at, self.age_limit) {
            Some(job) if self.waits_for_room(&job.command) => self.let_in(now, job),
            Some(job) => self.serve(&job, at.max(job.arrival), true),
            None => {}
        }
    }

    fn destage_next(&mut self, now: u64) {
        let at = self.arm_free;
        if let Some(job) = self.dirty.take_next(&self.media, at, 0) {
            self.destage(&job, at.max(job.arrival).min(now));
        }
    }

    /// Hands a completion to the host at its time.
    #[inline]
    fn finish(&mut self, tag: u32, started: u64, at: u64, timing: Timing) {
        self.finished.push(Completion { tag, at: Instant(at), started: Instant(started), timing });
    }

    /// Hands over a command that touched only the buffer. Its data crossed the bus in `transfer`.
    #[inline]
    fn finish_buffered(&mut self, tag: u32, started: u64, at: u64, transfer: u64) {
        let (transfer, overhead) = (Duration(transfer), Duration(at - started - transfer));
        self.finish(tag, started, at, Timing { transfer, overhead, cached: true, ..Timing::default() });
    }

    /// Hands over a command that used the arm in `run`.
    #[inline]
    fn finish_run(&mut self, tag: u32, started: u64, at: u64, run: &Run, overhead: u64) {
        let timing = Timing {
            seek: Duration(run.seek),
            rotation: Duration(run.rotation),
            transfer: Duration((at - started).saturating_sub(overhead + run.seek + run.rotation)),
            overhead: Duration(overhead),
            cached: false,
        };
        self.finish(tag, started, at, timing);
    }

    /// A command that moves no data.
    fn control(&mut self, now: u64, command: &Command) {
        let mut at = now + u64::from(self.overheads.request_ns);
        if command.operation == Operation::Flush {
            while !self.dirty.is_empty() {
                self.destage_next(u64::MAX);
            }
            if self.writing.is_some() {
                at = at.max(self.arm_free);
            }
        } else {
            let start = command.start.0;
            self.buffer.forget(start, start + u64::from(command.length.0));
        }
        self.finish_buffered(command.tag, now, at, 0);
    }
}

/// Surfaces at most of a disk that is made larger: enough for the model of an old drive to stand for one of today.
const MOST_HEADS: u32 = 1 << 16;
/// A page: smaller parts of a buffer hold nothing of use.
const LEAST_SEGMENT: u32 = 8;
const MINUTE_NS: u64 = 60_000_000_000;

impl Spec for MechanicalSpec {
    type Disk = Mechanical;

    fn build(&self) -> Result<Mechanical, BuildError> {
        Mechanical::new(self)
    }

    fn write_cache(&self) -> bool {
        self.buffer.write_cache
    }

    fn depth(&mut self) -> &mut u32 {
        &mut self.depth
    }

    /// A larger disk has more platters, so that seeks and rates stay; a smaller one uses its outer cylinders.
    fn set_capacity(&mut self, sectors: u64) -> bool {
        let cylinders = |zone: &ZoneSpec| u64::from(zone.last_cylinder - zone.first_cylinder + 1);
        let tracks = |zone: &ZoneSpec| u64::from(zone.sectors_per_track) * u64::from(self.heads);
        let usable = |zone: &ZoneSpec| tracks(zone).saturating_sub(u64::from(zone.spares_per_cylinder));
        let whole: u64 = self.zones.iter().map(|zone| cylinders(zone) * usable(zone)).sum();
        let times = u32::try_from(sectors.div_ceil(whole.max(1))).ok();
        let heads =
            times.and_then(|times| self.heads.checked_mul(times)).filter(|heads| *heads <= MOST_HEADS);
        let (Some(times), Some(heads)) = (times, heads) else { return false };
        for zone in &mut self.zones {
            zone.spares_per_cylinder *= times;
        }
        (self.heads, self.capacity) = (heads, sectors);
        true
    }

    fn set_bus(&mut self, sector_ns: u32) {
        (self.bus_read_ns, self.bus_write_ns) = (sector_ns, sector_ns);
    }

    fn alter(&mut self, what: Alteration) -> bool {
        let part = |old: u32, hundredths: u32| (u64::from(old) * u64::from(hundredths) / 100) as u32;
        match what {
            Alteration::CacheOff => self.buffer = self.buffer.off(),
            Alteration::WriteCacheOff => self.buffer.write_cache = false,
            Alteration::Buffer(size) => {
                let buffer = &mut self.buffer;
                for sectors in [&mut buffer.segment_sectors, &mut buffer.read_ahead_sectors] {
                    *sectors = part(*sectors, size).max(LEAST_SEGMENT.min(*sectors));
                }
            }
            Alteration::Seek(time) => self.seek.iter_mut().for_each(|(_, ns)| *ns = part(*ns, time)),
            Alteration::Rpm(rpm) => {
                let old = u64::from(self.period_ns);
                self.period_ns = (MINUTE_NS / u64::from(rpm)) as u32;
                // A skew covers a switch, which takes as long as before: a part of a revolution that became shorter
                // would end before the switch, and each track would cost a turn.
                let longer =
                    |ns: u32| (u64::from(ns) * u64::from(self.period_ns) / old).max(u64::from(ns)) as u32;
                for zone in &mut self.zones {
                    zone.track_skew_ns = longer(zone.track_skew_ns);
                    zone.cylinder_skew_ns = longer(zone.cylinder_skew_ns);
                }
            }
        }
        true
    }

    /// What is worth knowing of it is in a description of its own.
    fn facts(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }
}

impl DiskModel for Mechanical {
    fn capacity(&self) -> Sector {
        Sector(self.media.geometry.capacity())
    }

    fn depth(&self) -> u32 {
        self.depth
    }

    fn rotational(&self) -> bool {
        true
    }

    fn positioning_curve(&self, points: usize) -> Vec<(u64, Duration)> {
        self.expected_positioning(points)
    }

    fn submit(&mut self, now: Instant, command: Command) -> Result<(), SubmitError> {
        check_extent(&command, self.capacity())?;
        if self.outstanding >= self.depth {
            return Err(SubmitError::Full { depth: self.depth });
        }
        self.outstanding += 1;
        let now = sane(now);
        self.catch_up(now);
        if !matches!(command.operation, Operation::Read | Operation::Write) {
            self.control(now, &command);
            return Ok(());
        }
        if self.arm_free > now && self.serve_beside(now, &command) {
            return Ok(());
        }
        let place = self.media.geometry.locate(command.start.0);
        let mut job = Job { command, arrival: now, place, hit: false };
        if self.arm_free <= now {
            self.serve(&job, now, false);
        } else {
            let end = command.start.0 + u64::from(command.length.0);
            job.hit =
                command.operation == Operation::Read && self.buffer.find(command.start.0, end).is_some();
            self.waiting.push(job);
        }
        Ok(())
    }

    #[inline]
    fn next_event(&self) -> Option<Instant> {
        let finished = self.finished.iter().map(|c| c.at).min();
        if self.waiting.is_empty() {
            return finished;
        }
        let arm = Instant(self.arm_free);
        Some(finished.map_or(arm, |at| at.min(arm)))
    }

    fn advance(&mut self, now: Instant) -> Option<Completion> {
        if !self.waiting.is_empty() {
            self.catch_up(now.0);
        }
        let (index, first) = self.finished.iter().enumerate().min_by_key(|(_, c)| c.at)?;
        if first.at > now {
            return None;
        }
        self.outstanding -= 1;
        Some(self.finished.swap_remove(index))
    }
}
