//! The arm and the platters: how long it takes to reach sectors and to read or write them.
//!
//! All of it is arithmetic on the time at which the arm is free; nothing is stepped sector by
//! sector. A transfer is cut into chunks, one a track. For each chunk it is known when its first
//! and last sector are in the buffer, and from that when the bus can have moved them.

use super::error::BuildError;
use super::geometry::{Geometry, Place};
use super::seek::SeekCurve;
use super::spec::{MechanicalSpec, ReadAhead};

/// Where the arm is and what it costs to move it.
#[derive(Clone, Debug)]
pub(super) struct Media {
    pub(super) geometry: Geometry,
    pub(super) seek: SeekCurve,
    pub(super) cylinder: u32,
    pub(super) head: u32,
    head_switch: u32,
    write_settle: i32,
    minimum_write_seek: u32,
}

/// A span of sectors to read or write.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    pub(super) start: u64,
    pub(super) count: u32,
    pub(super) place: Place,
}

/// What a read or write did to the arm.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Run {
    /// Seek to the first track.
    pub(super) seek: u64,
    /// Wait for the first sector, without what overlaps other work.
    pub(super) rotation: u64,
    /// The last sector is done.
    pub(super) end: u64,
    /// When the sector after the last one would pass, if it is on the same track.
    pub(super) next_start: u64,
    /// Addressable sectors left on the last track.
    pub(super) left: u32,
    /// Zone of the last track.
    pub(super) zone: u32,
    /// Lowest address that went into the buffer.
    pub(super) low: u64,
}

/// How the bus follows the medium: it moves sectors in order, each once it is in the buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stream {
    bus: u64,
    total: u32,
    watermark: u32,
    earliest: u64,
    reconnect: u64,
    finish: u64,
}

impl Stream {
    /// A transfer of `total` sectors, `bus` ns each, that may use the bus from `earliest` on and
    /// takes it, in `reconnect` ns, when `watermark` sectors are there.
    #[inline]
    pub(super) fn new(bus: u32, total: u32, watermark: u32, earliest: u64, reconnect: u32) -> Stream {
        let (bus, reconnect) = (u64::from(bus), u64::from(reconnect));
        Stream { bus, total, watermark, earliest, reconnect, finish: 0 }
    }

    /// Sectors `index..index + count` come in at a steady rate, the first at `first`, the last at `last`.
    #[inline]
    fn arrive(&mut self, index: u32, count: u32, first: u64, last: u64) {
        let rest = u64::from(self.total - index);
        self.finish = self.finish.max(first + rest * self.bus);
        self.finish = self.finish.max(last + (rest - u64::from(count) + 1) * self.bus);
        if self.watermark > index && self.watermark - index <= count {
            // Exact for one sector and for all, which are the watermarks that drives have.
            let at = if self.watermark - index == 1 {
                first
            } else {
                let done = u64::from(self.watermark - index - 1);
                first + (last - first) * done / u64::from((count - 1).max(1))
            };
            self.earliest = self.earliest.max(at + self.reconnect);
        }
    }

    /// Sectors up to `index` were there before.
    pub(super) fn already(&mut self, count: u32, at: u64) {
        if count > 0 {
            self.arrive(0, count, at, at);
        }
    }

    /// When the last sector has crossed the bus.
    #[inline]
    pub(super) fn finish(&self) -> u64 {
        self.finish.max(self.earliest + u64::from(self.total) * self.bus)
    }
}

/// How a read treats sectors that pass out of order.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ReadMode {
    pub(super) immediate: bool,
    pub(super) keep_free: bool,
}

/// When the data of a write is in the buffer: sector `i` at `start + (i + 1) * bus`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Supply {
    pub(super) start: u64,
    pub(super) bus: u64,
}

impl Media {
    pub(super) fn new(spec: &MechanicalSpec) -> Result<Media, BuildError> {
        let geometry = Geometry::new(spec)?;
        let last = spec.zones.last().map_or(0, |zone| zone.last_cylinder);
        Ok(Media {
            geometry,
            seek: SeekCurve::new(&spec.seek, last)?,
            cylinder: 0,
            head: 0,
            head_switch: spec.head_switch_ns,
            write_settle: spec.write_settle_ns,
            minimum_write_seek: spec.overheads.minimum_write_seek_ns,
        })
    }

    /// Time from the arm's present place to `place`.
    #[inline]
    pub(super) fn seek_time(&self, place: &Place, write: bool) -> u64 {
        u64::from(self.arm_time(place.cylinder, place.head, write))
    }

    /// Time from the arm's present place to a track.
    #[inline]
    pub(super) fn arm_time(&self, cylinder: u32, head: u32, write: bool) -> u32 {
        let moved = self.seek.time(self.cylinder.abs_diff(cylinder));
        let switched = if self.head == head { 0 } else { self.head_switch };
        let time = moved.max(switched);
        let settle = if write && time != 0 { self.write_settle } else { 0 };
        time.saturating_add_signed(settle)
    }

    #[inline]
    fn move_to(&mut self, place: &Place) {
        self.cylinder = place.cylinder;
        self.head = place.head;
    }

    /// The extent at an address.
    #[inline]
    pub(super) fn extent(&self, start: u64, count: u32) -> Extent {
        Extent { start, count, place: self.geometry.locate(start) }
    }

    /// Reads `extent` from time `now` on; tells `stream` when sectors come, the first being number `index`.
    #[inline]
    pub(super) fn read(
        &mut self,
        now: u64,
        extent: Extent,
        mode: ReadMode,
        index: u32,
        stream: &mut Stream,
    ) -> Run {
        let mut run = Run { low: extent.start, ..Run::default() };
        let (mut at, mut now, mut place) = (extent.start, now, extent.place);
        let mut done = 0;
        loop {
            let count = place.left.min(extent.count - done);
            let seek = self.seek_time(&place, false);
            self.move_to(&place);
            now += seek;
            let zone = self.geometry.zone(&place);
            let here = self.geometry.angle_at(now);
            let wait = u64::from(self.geometry.wait(here, place.angle));
            let mut rotation = wait;
            let span = zone.passing(count);
            let past = u64::from(self.geometry.period()) - wait;
            if mode.immediate && wait != 0 && past < span {
                // The head landed inside the extent: read to its end, then what came before.
                let first = now + wait;
                let landed = (zone.passed(past) as u32 + 1).min(count);
                run.end = first + zone.passing(landed);
                stream.arrive(index + done, landed, first + zone.passing(1), run.end);
                if landed < count {
                    stream.arrive(index + done + landed, count - landed, run.end, run.end);
                }
                run.next_start = first + span;
                rotation = (run.end - now).saturating_sub(span);
                if mode.keep_free && done == 0 {
                    run.low = at - u64::from(place.sector);
                }
            } else {
                let first = now + wait;
                run.end = first + span;
                run.next_start = run.end;
                stream.arrive(index + done, count, first + zone.passing(1), run.end);
                if mode.keep_free && done == 0 {
                    let passing_before = zone.passed(wait).min(u64::from(place.sector));
                    run.low = at - passing_before;
                }
            }
            if done == 0 {
                run.seek = seek;
                run.rotation = rotation;
            }
            done += count;
            at += u64::from(count);
            now = run.end;
            if done == extent.count {
                run.left = place.left - count;
                run.zone = place.zone;
                return run;
            }
            place = self.geometry.locate(at);
        }
    }

    /// Writes `extent` from time `now` on, as data comes in. `continues` says that it extends the last write.
    pub(super) fn write(
        &mut self,
        now: u64,
        extent: Extent,
        immediate: bool,
        supply: Supply,
        continues: bool,
    ) -> Run {
        let mut run = Run { low: extent.start, ..Run::default() };
        let (mut at, mut now, mut place) = (extent.start, now, extent.place);
        let mut done = 0;
        loop {
            let count = place.left.min(extent.count - done);
            let mut seek = self.seek_time(&place, true);
            if done == 0 && !continues {
                seek = seek.max(u64::from(self.minimum_write_seek));
            }
            self.move_to(&place);
            now += seek;
            let supply_here = Supply { start: supply.start + u64::from(done) * supply.bus, ..supply };
            let (rotation, end) = self.write_track(now, &place, count, immediate, supply_here);
            if done == 0 {
                run.seek = seek;
                run.rotation = rotation;
            }
            run.end = end;
            run.next_start = end;
            done += count;
            at += u64::from(count);
            now = end;
            if done == extent.count {
                run.left = place.left - count;
                run.zone = place.zone;
                return run;
            }
            place = self.geometry.locate(at);
        }
    }

    /// Writes `count` sectors of one track; gives the wait and the end.
    fn write_track(
        &self,
        now: u64,
        place: &Place,
        count: u32,
        immediate: bool,
        supply: Supply,
    ) -> (u64, u64) {
        let zone = self.geometry.zone(place);
        let period = u64::from(self.geometry.period());
        let wait = u64::from(self.geometry.wait(self.geometry.angle_at(now), place.angle));
        let past = period - wait;
        let span = zone.passing(count);
        let all_there = supply.start + u64::from(count) * supply.bus <= now;
        if immediate && all_there && wait != 0 && past < span {
            let landed = (zone.passed(past) as u32 + 1).min(count);
            let end = now + wait + zone.passing(landed);
            return ((end - now).saturating_sub(span), end);
        }
        // `turn` is when sector 0 of the chunk passes in the revolution that is tried.
        let mut turn = now + wait;
        let mut written = 0;
        let sector = zone.passing(1);
        let mut rotation = wait;
        loop {
            let needed = supply.start + u64::from(written + 1) * supply.bus;
            let mut passes = turn + zone.passing(written);
            if needed > passes {
                let turns = (needed - passes).div_ceil(period);
                turn += turns * period;
                passes += turns * period;
                if written == 0 {
                    rotation += turns * period;
                }
            }
            // How far the head gets before it overtakes the bus.
            let ahead = passes - needed;
            let gain = supply.bus.saturating_sub(sector);
            let reach = if gain == 0 { u64::from(count) } else { ahead / gain + 1 };
            written = written.saturating_add(reach.min(u64::from(count)) as u32).min(count);
            if written == count {
                return (rotation, turn + span);
            }
            turn += period;
        }
    }
}

/// Reading on after a read, until the arm is wanted elsewhere.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prefetch {
    /// Segment it fills.
    pub(super) segment: u8,
    /// First address of the present chunk.
    pub(super) chunk: u64,
    /// Address after the last one of the present track.
    pub(super) track_end: u64,
    /// Address after the last one wanted.
    pub(super) limit: u64,
    /// The arm is on the present track from this time on.
    pub(super) settled: u64,
    /// When `chunk` begins to pass.
    pub(super) start: u64,
    /// Zone of the present track.
    pub(super) zone: u32,
}

impl Prefetch {
    /// Brings reading on to `now`. Gives the address after the last sector read, and whether it goes on.
    #[inline]
    pub(super) fn advance(&mut self, media: &mut Media, mode: ReadAhead, now: u64) -> (u64, bool) {
        loop {
            if self.chunk >= self.limit {
                return (self.chunk, false);
            }
            let wanted = (self.limit.min(self.track_end) - self.chunk) as u32;
            if now <= self.start {
                return (self.chunk, true);
            }
            let zone = &media.geometry.zones()[self.zone as usize];
            let chunk_end = self.start + zone.passing(wanted);
            if now < chunk_end {
                return (self.chunk + zone.passed(now - self.start).min(u64::from(wanted)), true);
            }
            self.chunk += u64::from(wanted);
            if self.chunk >= self.limit || !self.next_track(media, mode, chunk_end) {
                return (self.chunk, false);
            }
        }
    }

    /// Reads on from `held` to `end`, which a command waits for; tells `stream` when its sectors,
    /// from number `index` on, come.
    pub(super) fn run_to(
        &mut self,
        media: &mut Media,
        held: u64,
        end: u64,
        index: u32,
        stream: &mut Stream,
    ) -> Run {
        let (mut held, mut index) = (held, index);
        loop {
            let zone = &media.geometry.zones()[self.zone as usize];
            let before = (held - self.chunk) as u32;
            let count = (end.min(self.track_end) - held) as u32;
            let last = self.start + zone.passing(before + count);
            if count > 0 {
                stream.arrive(index, count, self.start + zone.passing(before + 1), last);
            }
            held += u64::from(count);
            index += count;
            if held == end {
                return Run { end: last, next_start: last, zone: self.zone, ..Run::default() };
            }
            self.chunk = held;
            self.next_track(media, ReadAhead::Segment, last);
        }
    }

    /// Goes to the next track at `now`; false where the drive does not.
    pub(super) fn next_track(&mut self, media: &mut Media, mode: ReadAhead, now: u64) -> bool {
        let place = media.geometry.locate(self.chunk);
        let stays = place.cylinder == media.cylinder;
        if mode == ReadAhead::Track || (mode == ReadAhead::Cylinder && !stays) {
            self.limit = self.chunk;
            return false;
        }
        self.settled = now + media.seek_time(&place, false);
        media.move_to(&place);
        let here = media.geometry.angle_at(self.settled);
        self.start = self.settled + u64::from(media.geometry.wait(here, place.angle));
        self.track_end = self.chunk + u64::from(place.left);
        self.zone = place.zone;
        true
    }

    /// When the arm can leave if it is wanted at `now`, up to which reading on was brought.
    #[inline]
    pub(super) fn release(&self, media: &Media, stop_in_sector: bool, now: u64) -> u64 {
        if now < self.settled {
            return self.settled;
        }
        if stop_in_sector || now <= self.start {
            return now;
        }
        let zone = &media.geometry.zones()[self.zone as usize];
        let passed = zone.passed(now - self.start) as u32;
        (self.start + zone.passing(passed + 1)).max(now)
    }
}
