//! How much the slow reference for `turns` lets be written beside reads where no heads move.

const LOWEST: u64 = 16;
const FREE: u64 = 16 * 1024;

/// What has been done by a time.
#[derive(Clone, Copy, Default)]
struct Sum {
    now: u64,
    reads: u64,
    time: u64,
    written: u64,
}

/// How many writes of a kind may be in flight, in sixteenths.
struct Kind {
    gain: u64,
    writes: u64,
    written: u64,
    /// Looks in a row that have found a read that took too long, and what had been done before.
    bad: u64,
    before: Sum,
    /// Since when a lower limit is tried, since when it is the latest, the limit before, and the cost before.
    tries: Option<(u64, u64, u64, u64)>,
    /// Until when none is.
    rests: u64,
}

pub(super) struct WriteLimit {
    /// How long reads take: the shortest ever, and the longest since the last look.
    shortest: u64,
    longest: u64,
    /// When the next look is due, once a read has been seen.
    look: Option<u64>,
    reads: u64,
    time: u64,
    /// Writes that nobody waits for, and others.
    kinds: [Kind; 2],
}

impl Default for WriteLimit {
    fn default() -> Self {
        let kind = |gain| Kind {
            gain,
            writes: FREE,
            written: 0,
            bad: 0,
            before: Sum::default(),
            tries: None,
            rests: 0,
        };
        WriteLimit { shortest: 2_000_000, longest: 0, look: None, reads: 0, time: 0, kinds: [1, 2].map(kind) }
    }
}

impl WriteLimit {
    pub(super) fn allows(&self, now: u64, sync: bool, writes: u64) -> bool {
        writes * 16 < self.kinds[usize::from(sync)].writes || self.nobody_reads(now)
    }

    fn nobody_reads(&self, now: u64) -> bool {
        self.look.is_none_or(|look| now >= look + 1_000_000_000)
    }

    /// `sectors` have been written.
    pub(super) fn wrote(&mut self, sync: bool, sectors: u32) {
        self.kinds[usize::from(sync)].written += u64::from(sectors);
    }

    /// A read has taken `time`, beside `writes` of each kind.
    pub(super) fn measure(&mut self, now: u64, time: u64, writes: [u64; 2]) {
        self.shortest = self.shortest.min(time);
        self.longest = self.longest.max(time);
        self.reads += 1;
        self.time += time;
        if self.look.is_some_and(|look| now < look) {
            return;
        }
        let alone = self.nobody_reads(now);
        let slow = self.longest > 3 * self.shortest;
        self.longest = 0;
        self.shortest = (self.shortest + self.shortest / 64).min(2_000_000);
        self.look = Some(now + 5_000_000);
        for (kind, writes) in self.kinds.iter_mut().zip(writes) {
            let sum = Sum { now, reads: self.reads, time: self.time, written: kind.written };
            if alone {
                (kind.tries, kind.rests) = (None, 0);
                kind.frees(sum);
            }
            if slow && now >= kind.rests {
                kind.slow(sum, time, writes);
            } else {
                kind.tries = None;
                kind.counts_anew(sum);
                kind.more();
            }
        }
    }
}

impl Kind {
    fn slow(&mut self, sum: Sum, time: u64, writes: u64) {
        self.bad += 1;
        let now = sum.now;
        let Some((began, latest, before, cost)) = self.tries else {
            return self.perhaps_try(sum, writes);
        };
        if self.writes > LOWEST {
            self.tries = Some((began, now, before, cost));
            self.less(sum, writes);
        } else if now - latest < time {
            // This read was sent with a higher limit.
            self.counts_anew(sum);
        } else if self.bad >= 8 {
            let pays = self.cost(sum).saturating_mul(self.gain) < cost;
            if pays {
                self.tries = None;
            } else if now - latest >= 200_000_000 {
                self.tries = None;
                self.writes = before;
                self.rests = now + 16 * (now - began);
            } else {
                self.counts_anew(sum);
            }
        }
    }

    fn perhaps_try(&mut self, sum: Sum, writes: u64) {
        let nobody = writes == 0 && sum.written == self.before.written;
        if nobody || self.bad < if self.writes == FREE { 8 } else { 2 } {
            self.more();
        } else if self.writes > LOWEST {
            self.tries = Some((sum.now, sum.now, self.writes, self.cost(sum)));
            self.less(sum, writes);
        } else if self.bad >= 8 * 16 * 16 {
            self.frees(sum);
        }
    }

    /// The time of a read, times the time in which a sector is written.
    fn cost(&self, sum: Sum) -> u64 {
        let [reads, written] = [sum.reads - self.before.reads, sum.written - self.before.written];
        let read = (sum.time - self.before.time) / reads.max(1) / 64;
        read.saturating_mul((sum.now - self.before.now) * 16 / written.max(1))
    }

    fn counts_anew(&mut self, sum: Sum) {
        (self.bad, self.before) = (0, sum);
    }

    fn frees(&mut self, sum: Sum) {
        self.writes = FREE;
        self.counts_anew(sum);
    }

    fn more(&mut self) {
        self.writes = (self.writes + (self.writes / 64).max(1)).min(FREE);
    }

    fn less(&mut self, sum: Sum, writes: u64) {
        self.writes = (self.writes.min(16 * writes) / 2).max(LOWEST);
        self.counts_anew(sum);
    }
}
