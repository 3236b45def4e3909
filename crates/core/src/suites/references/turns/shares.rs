//! Disk time by weight in the slow reference for `turns`: what each process has left, counted in rounds.

/// How long weights count after somebody has asked who is not like all others.
const ROUNDS: u64 = 2;

#[derive(Clone, Copy, Default)]
pub(super) struct Purse {
    pub(super) weight: u64,
    pub(super) left: i64,
    /// The round that it was last filled for; 0: none.
    filled: u64,
}

#[derive(Default)]
pub(super) struct Purses {
    pub(super) on: bool,
    until: u64,
    /// The round in which weights began to count, and this round.
    began: u64,
    round: u64,
    target: u64,
    /// The weights among which this round is divided; 0: nobody has anything.
    sum: u64,
    /// The weights of all that have been filled in this round.
    seen: u64,
    pub(super) writes: i64,
}

impl Purses {
    pub(super) fn new() -> Purses {
        Purses { began: 1, round: 1, ..Purses::default() }
    }

    fn part(&self, weight: u64) -> i64 {
        (self.target * weight).checked_div(self.sum).unwrap_or(0).min(self.target) as i64
    }

    pub(super) fn fill(&mut self, purse: &mut Purse) {
        if purse.filled == self.round {
            return;
        }
        let new = purse.filled < self.began;
        self.seen += purse.weight;
        let part = self.part(purse.weight);
        let missed = (self.round - purse.filled) as i64;
        purse.left = if new { part } else { part.min(purse.left + part * missed) };
        purse.filled = self.round;
    }

    /// Another round among `sum`, of which `writes` are of writes that nobody waits for.
    pub(super) fn next(&mut self, target: u64, present: u64, writers: u64) {
        self.round += 1;
        self.target = target;
        self.sum = present.max(self.seen) + 400 * writers;
        self.seen = 0;
        let part = self.part(400 * writers);
        self.writes = part.min(self.writes + part);
    }

    /// Somebody asks who weighs `weight`. `present`: the weights of all who have asked.
    pub(super) fn asks(&mut self, now: u64, weight: u64, target: u64, present: u64) {
        if weight != 400 {
            self.until = now + ROUNDS * target;
        }
        let was = self.on;
        self.on = now < self.until;
        if self.on && !was {
            self.next(target, present, 0);
            (self.began, self.sum, self.writes) = (self.round, 0, 0);
        }
    }
}
