//! The arm and the platters: how long it takes to reach sectors and to read or write them.
//!
//! All of it is arithmetic on the time at which the arm is free; nothing is stepped sector by
//! sector. A transfer is cut into chunks, one a track. For each chunk it is known when its first
//! and last sector are in the buffer, and from that when the bus can have moved them.

use super::geometry::{Geometry, Place};
use super::seek::SeekCurve;
use super::spec::MechanicalSpec;
use crate::error::BuildError;

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
    pub(super) fn arrive(&mut self, index: u32, count: u32, first: u64, last: u64) {
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

    /// From when on it has the bus.
    #[inline]
    pub(super) fn earliest(&self) -> u64 {
        self.earliest
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
    /// No sector is written before this time.
    pub(super) earliest: u64,
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
    pub(super) fn move_to(&mut self, place: &Place) {
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
            let needed = (supply.start + u64::from(written + 1) * supply.bus).max(supply.earliest);
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
            let reach = ahead.checked_div(gain).map_or(u64::from(count), |overtaken| overtaken + 1);
            written = written.saturating_add(reach.min(u64::from(count)) as u32).min(count);
            if written == count {
                return (rotation, turn + span);
            }
            turn += period;
        }
    }
}
