//! The drive's write buffer: how much is written in a turn, and when a stream is held back.
//!
//! A drive takes writes into its buffer faster than it writes them. What it has left when a stream's turn begins it writes
//! between the stream's reads, and moves its heads there and back each time. So a turn of writes gets what the drive
//! could have read in that time, and a stream whose reads show that the drive is writing is held back.

use crate::units::{Duration, Instant, Sectors};

/// Reads of which the time is measured together.
const READS: u32 = 16;
/// Smaller reads do not count: most of their time is not the medium's.
const LARGE: Sectors = Sectors(128);
/// In each measurement reading is taken to be slower by this part: it is, elsewhere on the disk.
const FADING: u64 = 64;
/// A read that takes longer than the usual way to a stream divided by this waited for a turn of the platter, at least.
const SOON: u64 = 4;
/// The stream is held back for this times as long as the read took: most of the time is the drive's.
const PAUSE: u64 = 2;

/// What is known of the drive's reading and writing.
#[derive(Default)]
pub(super) struct DriveBuffer {
    /// When a read of the stream whose turn it is was last done.
    last: Instant,
    /// Reads that continued others, their sectors, and their time with the thinking before them.
    reads: u32,
    sectors: u64,
    time: Duration,
    /// The shortest time that reading a sector has taken, in sixteenths of a nanosecond. 0: not known.
    sector: u64,
    /// Sectors that the drive has been sent to write in this turn.
    written: u64,
    /// Half of the sectors of the last turn in which it was: the limit falls step by step, as it may be wrong.
    least: u64,
    /// Writes that the drive has taken into its buffer, and may not have written yet.
    unwritten: u64,
    /// The last read that continued another was not slow. Between two writes the drive may serve one such read.
    prompt: bool,
    /// Until when the stream whose turn it is is held back.
    until: Instant,
}

impl DriveBuffer {
    /// A read of the stream whose turn it is has taken `service`. `continues`: it began where the one before ended, which
    /// was of this turn, too. `way`: the usual time to reach a stream. Returns whether the drive was writing meanwhile.
    pub(super) fn reads(
        &mut self,
        now: Instant,
        length: Sectors,
        service: Duration,
        continues: bool,
        way: Duration,
    ) -> bool {
        let time = now.since(core::mem::replace(&mut self.last, now));
        if !continues {
            return false;
        }
        if self.unwritten > 0 && service > way / SOON + self.transfer(length) {
            // The drive wrote something before this read, and as much in each such time in which the stream is held back.
            (self.unwritten, self.prompt) = (self.unwritten.saturating_sub(1 + PAUSE), false);
            return true;
        }
        if core::mem::replace(&mut self.prompt, true) {
            self.unwritten = 0;
        }
        // Of a stream that thinks for longer than it reads, the rate is not the drive's.
        if length >= LARGE && time <= service * 2 {
            self.reads += 1;
            self.sectors += u64::from(length.0);
            self.time += time;
        }
        if self.reads == READS {
            let sector = self.time.0.saturating_mul(16) / self.sectors;
            let known = if self.sector == 0 { u64::MAX } else { self.sector + self.sector / FADING };
            self.sector = sector.min(known);
            (self.reads, self.sectors, self.time) = (0, 0, Duration::ZERO);
        }
        service > way + self.transfer(length)
    }

    /// How long ago a read of the stream whose turn it is was done before.
    pub(super) fn since_last(&self, now: Instant) -> Duration {
        now.since(self.last)
    }

    fn transfer(&self, length: Sectors) -> Duration {
        Duration(u64::from(length.0).saturating_mul(self.sector) / 16)
    }

    /// The drive was writing while it took `service` for a read. Returns for how long the stream is held back.
    pub(super) fn pause(&mut self, now: Instant, service: Duration) -> Duration {
        self.until = now + service * PAUSE;
        service * PAUSE
    }

    /// Until when the stream is held back, if it is.
    pub(super) fn until(&self, now: Instant) -> Option<Instant> {
        (now < self.until).then_some(self.until)
    }

    /// A turn begins.
    pub(super) fn begins(&mut self) {
        let written = core::mem::take(&mut self.written);
        if written > 0 {
            self.least = written / 2;
        }
    }

    /// A write of a turn of writes, or of a stream that writes, is dispatched.
    pub(super) fn writes(&mut self, length: Sectors) {
        self.written += u64::from(length.0);
    }

    /// A write is done after `service`; to get to a stream takes `way`. Too soon for the medium: it is in the buffer.
    pub(super) fn takes(&mut self, service: Duration, way: Duration) {
        self.unwritten += u64::from(service < way / SOON);
    }

    /// Whether the drive has been sent more in this turn than it reads in `time`.
    pub(super) fn has_enough(&self, time: Duration) -> bool {
        self.written > self.least && self.written.saturating_mul(self.sector) / 16 > time.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_held_back_no_longer_than_writes_can_be_in_the_buffer() {
        let (way, mut buffer) = (Duration::from_ms(10), DriveBuffer::default());
        let read = |buffer: &mut DriveBuffer, ms: u64| {
            buffer.reads(Instant(1), Sectors(8), Duration::from_ms(ms), true, way)
        };
        assert!(!read(&mut buffer, 4), "nothing was written");
        for _ in 0..7 {
            buffer.takes(Duration::from_ms(1), way);
        }
        buffer.takes(Duration::from_ms(3), way);
        let slow = core::iter::from_fn(|| read(&mut buffer, 4).then_some(())).take(9).count();
        assert_eq!(slow, 3, "a read and a pause of twice its length are for three of seven writes");
        let taken = |buffer: &mut DriveBuffer| (0..7).for_each(|_| buffer.takes(Duration::from_ms(1), way));
        taken(&mut buffer);
        assert!(
            read(&mut buffer, 4) && !read(&mut buffer, 2) && read(&mut buffer, 4),
            "one was between two writes"
        );
        taken(&mut buffer);
        assert!(
            !read(&mut buffer, 2) && !read(&mut buffer, 2) && !read(&mut buffer, 4),
            "two show that all is written"
        );
    }
}
