//! How much the slow reference for `turns` lets be written beside reads where no heads move.

/// How many writes may be in flight, in sixteenths.
pub(super) struct WriteLimit {
    writes: u64,
    /// How long reads take: the shortest ever, and the longest since the last look.
    shortest: u64,
    longest: u64,
    /// When the next look is due.
    look: u64,
    /// How many looks in a row have found a read that took too long.
    bad: u64,
}

impl Default for WriteLimit {
    fn default() -> Self {
        WriteLimit { writes: 16 * 1024, shortest: u64::MAX, longest: 0, look: 0, bad: 0 }
    }
}

impl WriteLimit {
    pub(super) fn allows(&self, writes: u64) -> bool {
        writes * 16 < self.writes
    }

    /// A read has taken `time`, beside `writes`.
    pub(super) fn measure(&mut self, now: u64, time: u64, writes: u64) {
        self.shortest = self.shortest.min(time);
        self.longest = self.longest.max(time);
        if now < self.look {
            return;
        }
        self.bad += 1;
        if self.longest <= 3 * self.shortest {
            self.bad = 0;
        }
        if self.bad >= 8 {
            self.writes = (self.writes.min(16 * writes) / 2).max(16);
        } else {
            self.writes = (self.writes + (self.writes / 64).max(1)).min(16 * 1024);
        }
        self.longest = 0;
        self.shortest += self.shortest / 64;
        self.look = now + 5_000_000;
    }
}
