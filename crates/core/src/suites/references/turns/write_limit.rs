//! How much the slow reference for `turns` lets be written beside reads where no heads move.

const LOWEST: u64 = 16;
const FREE: u64 = 16 * 1024;

/// How many writes of a kind may be in flight, in sixteenths.
pub(super) struct WriteLimit {
    writes: u64,
    /// How long reads take: the shortest ever, and the longest since the last look.
    shortest: u64,
    longest: u64,
    /// When the next look is due, once a read has been seen.
    look: Option<u64>,
    /// Since when what follows is counted: looks that have found a read that took too long, reads, their time, and sectors written.
    since: u64,
    bad: u64,
    reads: u64,
    time: u64,
    written: u64,
    /// Since when a lower limit is tried, since when it is the latest, the limit before, and the cost before.
    tries: Option<(u64, u64, u64, u64)>,
    /// Until when none is.
    rests: u64,
}

impl Default for WriteLimit {
    fn default() -> Self {
        WriteLimit {
            writes: FREE,
            shortest: 2_000_000,
            longest: 0,
            look: None,
            since: 0,
            bad: 0,
            reads: 0,
            time: 0,
            written: 0,
            tries: None,
            rests: 0,
        }
    }
}

impl WriteLimit {
    pub(super) fn allows(&self, now: u64, writes: u64) -> bool {
        writes * 16 < self.writes || self.nobody_reads(now)
    }

    fn nobody_reads(&self, now: u64) -> bool {
        self.look.is_none_or(|look| now >= look + 1_000_000_000)
    }

    /// `sectors` have been written.
    pub(super) fn wrote(&mut self, sectors: u32) {
        self.written += u64::from(sectors);
    }

    /// A read has taken `time`, beside `writes` of the kind of which there are more.
    pub(super) fn measure(&mut self, now: u64, time: u64, writes: u64) {
        self.shortest = self.shortest.min(time);
        self.longest = self.longest.max(time);
        self.reads += 1;
        self.time += time;
        if self.look.is_some_and(|look| now < look) {
            return;
        }
        if self.nobody_reads(now) {
            let (shortest, longest) = (self.shortest, self.longest);
            *self = WriteLimit { shortest, longest, since: now, ..WriteLimit::default() };
        }
        let slow = self.longest > 3 * self.shortest;
        self.longest = 0;
        self.shortest = (self.shortest + self.shortest / 64).min(2_000_000);
        self.look = Some(now + 5_000_000);
        if !slow {
            self.tries = None;
        }
        if !slow || now < self.rests {
            self.count_anew(now);
            return self.more();
        }
        self.bad += 1;
        let Some((began, latest, before, cost)) = self.tries else {
            return self.perhaps_try(now, writes);
        };
        if self.writes > LOWEST {
            self.tries = Some((began, now, before, cost));
            self.less(now, writes);
        } else if now - latest < time {
            // This read was sent with a higher limit.
            self.count_anew(now);
        } else if self.bad >= 8 {
            self.tries = None;
            if self.cost(now) >= cost {
                self.writes = before;
                self.rests = now + 16 * (now - began);
            }
        }
    }

    fn perhaps_try(&mut self, now: u64, writes: u64) {
        if self.bad < if self.writes == FREE { 8 } else { 2 } {
            self.more();
        } else if self.writes > LOWEST {
            self.tries = Some((now, now, self.writes, self.cost(now)));
            self.less(now, writes);
        } else if self.bad >= 8 * 16 * 16 {
            self.writes = FREE;
            self.count_anew(now);
        }
    }

    /// The time of a read, times the time in which a sector is written.
    fn cost(&self, now: u64) -> u64 {
        let read = self.time / self.reads.max(1) / 64;
        read.saturating_mul((now - self.since) * 16 / self.written.max(1))
    }

    fn count_anew(&mut self, now: u64) {
        (self.since, self.bad, self.reads, self.time, self.written) = (now, 0, 0, 0, 0);
    }

    fn more(&mut self) {
        self.writes = (self.writes + (self.writes / 64).max(1)).min(FREE);
    }

    fn less(&mut self, now: u64, writes: u64) {
        self.writes = (self.writes.min(16 * writes) / 2).max(LOWEST);
        self.count_anew(now);
    }
}
