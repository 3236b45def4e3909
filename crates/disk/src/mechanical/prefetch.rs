//! Reading ahead: after a read the arm stays and fills the segment, until it is wanted elsewhere.
//!
//! Nothing happens while reading ahead continues. What was read by some time is worked out when a command or the
//! host asks, track by track.

use super::media::{Media, Run, Stream};
use super::spec::ReadAhead;

/// Reading on after a read, until the arm is wanted elsewhere.
#[derive(Clone, Copy, Debug, Default)]
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
    /// Brings reading on to `now`. Gives the address after the last sector read, and whether reading continues.
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
