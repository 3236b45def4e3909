//! How busy the drive is in a turn and on average, in the slow reference for `turns`: from a list of all that it did.

use super::*;

#[derive(Default)]
pub(super) struct Utilization {
    /// How long each turn was, and for how long the drive was busy.
    turns: Vec<(u64, u64)>,
    began: u64,
    /// For how long the drive was busy in this turn, each time; and whether with something of the turn's stream.
    times: Vec<(u64, bool)>,
    first: u64,
}

impl Utilization {
    pub(super) fn turn_begins(&mut self, now: u64) {
        self.turns.push((now - self.began, self.times.iter().map(|(busy, _)| busy).sum()));
        self.began = now;
        self.times.clear();
    }

    pub(super) fn busy(&mut self, time: u64, stream: bool) {
        self.times.push((time, stream));
    }

    /// The first request of the turn's stream is done.
    pub(super) fn first_is_done(&mut self, now: u64) {
        self.first = now;
        self.times.iter_mut().for_each(|(_, stream)| *stream = false);
    }

    /// Of a turn of `length` a quarter has passed, in which the drive was busy for less than half of the mean.
    pub(super) fn is_low(&self, now: u64, length: u64) -> bool {
        let mean = |old: u64, new: u64| (15 * old + new) / 16;
        let means = |old: (u64, u64), new: &(u64, u64)| (mean(old.0, new.0), mean(old.1, new.1));
        let (all, busy) = self.turns.iter().fold((0, 0), means);
        let own: u64 = self.times.iter().filter(|(_, stream)| *stream).map(|(busy, _)| busy).sum();
        let product = |one: u64, other: u64| u128::from(one / 1024) * u128::from(other / 1024);
        now - self.first >= length / 4 && product(2 * own, all) < product(now - self.first, busy)
    }
}
