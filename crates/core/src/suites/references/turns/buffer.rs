//! What the slow reference for `turns` knows of the drive's write buffer.

use super::*;

pub(super) struct Buffer {
    last: Instant,
    /// Sectors and time of large reads that continued others.
    samples: Vec<(u64, u64)>,
    /// The shortest time of a sector, in sixteenths of a nanosecond.
    sector: Option<u64>,
    /// Sectors written in this turn, and in the last one in which any were.
    written: u64,
    before: u64,
    /// Writes that may be in the drive's buffer.
    pub(super) unwritten: u64,
    /// Reads on end that were not slow.
    prompt: u64,
    /// Until when the drive gets done with what it writes.
    pub(super) held_back: Instant,
}

impl Buffer {
    pub(super) fn new() -> Self {
        let (last, held_back) = (Instant::ZERO, Instant::ZERO);
        Buffer {
            last,
            samples: Vec::new(),
            sector: None,
            written: 0,
            before: 0,
            unwritten: 0,
            prompt: 0,
            held_back,
        }
    }

    /// A read of a stream's turn is done, which continues another and `took` so long. `way`: to a stream. Whether the drive was
    /// writing.
    pub(super) fn reads(&mut self, now: Instant, sectors: u64, took: u64, way: u64) -> bool {
        let time = now.since(self.last).0;
        self.last = now;
        if self.unwritten > 0 && took > way / 4 + self.transfer(sectors) {
            self.unwritten -= self.unwritten.min(3);
            self.prompt = 0;
            return true;
        }
        self.prompt += 1;
        if self.prompt > 1 {
            self.unwritten = 0;
        }
        if sectors >= 128 && time <= 2 * took {
            self.samples.push((sectors, time));
        }
        if self.samples.len() == 16 {
            let sum = |part: fn(&(u64, u64)) -> u64| self.samples.iter().map(part).sum::<u64>();
            let sample = sum(|(_, time)| *time) * 16 / sum(|(sectors, _)| *sectors);
            self.sector = Some(self.sector.map_or(sample, |known| sample.min(known + known / 64)));
            self.samples.clear();
        }
        took > way + self.transfer(sectors)
    }

    /// For how long no request of a stream's turn was done.
    pub(super) fn since(&self, now: Instant) -> u64 {
        now.since(self.last).0
    }

    /// Another request of a stream's turn is done.
    pub(super) fn begins(&mut self, now: Instant) {
        self.last = now;
    }

    pub(super) fn transfer(&self, sectors: u64) -> u64 {
        sectors * self.sector.unwrap_or(0) / 16
    }

    pub(super) fn writes(&mut self, sectors: u64) {
        self.written += sectors;
    }

    pub(super) fn turn_begins(&mut self) {
        if self.written > 0 {
            self.before = core::mem::take(&mut self.written);
        }
    }

    pub(super) fn is_full(&self, length: u64) -> bool {
        self.written > self.before / 2 && self.transfer(self.written) > length
    }
}
