//! Disk time by weight: how much each process may still use in this round.
//!
//! A round fills each purse with its weight's part of `target`, and is over when nobody who has something left asks or is
//! about to. Whoever has used more owes it to the next rounds; what was not used is lost.

use crate::collections::{OutOfMemory, Place};
use crate::request::Priority;
use crate::units::{Duration, Instant, Weight};

use super::place_queue::PlaceQueue;

/// What a process weighs that has the usual weight and level: level 0 weighs 8 times the weight, level 7 once.
pub(super) const USUAL: u64 = 400;
/// Weights count for as many rounds after somebody with an unusual one has asked.
const REMEMBERED: u64 = 2;

/// What `weight` and a level come to.
pub(super) fn weigh(weight: Weight, priority: Priority) -> u64 {
    u64::from(weight.get()) * (8 - u64::from(priority.level.min(7)))
}

/// What a process has.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Purse {
    /// Disk time in nanoseconds as of `round`; less than nothing if it was overdrawn.
    left: i64,
    /// The round in which it was last filled.
    round: u64,
    weight: u64,
    /// Requests that somebody waits for, waiting or in flight.
    open: u32,
}

impl Purse {
    /// Somebody asks who has something left.
    fn is_solvent(&self) -> bool {
        self.open > 0 && self.left > 0
    }
}

/// All that is shared, and who has nothing left.
pub(super) struct Shares {
    /// Until when weights count, and whether they do.
    until: Instant,
    on: bool,
    /// The first round since they do, and this one.
    first: u64,
    round: u64,
    /// How long the round takes, and the weights that share it; 0: nobody does yet.
    target: Duration,
    all: u64,
    /// The weights of those that have requests open, and of those that have asked in this round.
    present: u64,
    seen: u64,
    /// How many have requests open and something left.
    solvent: usize,
    /// Until when somebody who has something left is expected to ask again.
    hope: Instant,
    /// Who has requests that wait and nothing left.
    held: PlaceQueue,
    /// What those requests have that nobody waits for.
    writes: Purse,
    /// When the drive was last done with a request.
    done: Instant,
}

impl Shares {
    pub(super) fn new(places: usize) -> Result<Self, OutOfMemory> {
        Ok(Shares {
            until: Instant::ZERO,
            on: false,
            first: 1,
            round: 1,
            target: Duration::ZERO,
            all: 0,
            present: 0,
            seen: 0,
            solvent: 0,
            hope: Instant::ZERO,
            held: PlaceQueue::new(places)?,
            writes: Purse::default(),
            done: Instant::ZERO,
        })
    }

    /// Whether weights count.
    pub(super) fn are_on(&self) -> bool {
        self.on
    }

    /// Fills `purse` for the rounds since it was last filled.
    fn settle(&mut self, purse: &mut Purse) {
        if purse.round == self.round {
            return;
        }
        self.seen += purse.weight;
        let share = self.share(purse.weight);
        purse.left = if purse.round < self.first {
            share
        } else {
            let rounds = (self.round - purse.round) as i64;
            purse.left.saturating_add(share.saturating_mul(rounds)).min(share)
        };
        purse.round = self.round;
    }

    /// The part of the round that `weight` has.
    fn share(&self, weight: u64) -> i64 {
        (self.target.0 * weight).checked_div(self.all).map_or(0, |part| part.min(self.target.0)) as i64
    }

    /// Does something to `purse`, and counts anew who has something left.
    fn change(&mut self, purse: &mut Purse, what: impl FnOnce(&mut Self, &mut Purse)) {
        self.solvent -= usize::from(purse.is_solvent());
        what(self, purse);
        self.solvent += usize::from(purse.is_solvent());
    }

    /// Whoever has `purse`, and weighs `weight`, asks. A round takes `target`.
    pub(super) fn asks(&mut self, now: Instant, purse: &mut Purse, weight: u64, target: Duration) {
        self.change(purse, |shares, purse| {
            shares.present += weight;
            shares.present -= if purse.open > 0 { purse.weight } else { 0 };
            (purse.weight, purse.open) = (weight, purse.open + 1);
            if weight != USUAL {
                shares.until = now + target * REMEMBERED;
            }
            if !core::mem::replace(&mut shares.on, now < shares.until) && shares.on {
                // Whoever asks now has nothing, so that a round begins in which all share that ask.
                shares.begin(target, 0);
                (shares.first, shares.all, shares.writes) = (shares.round, 0, Purse::default());
            }
            shares.settle(purse);
        });
    }

    /// A request of whoever has `purse` is no more. `expected`: how soon the next comes, if soon.
    pub(super) fn leaves(
        &mut self,
        now: Instant,
        purse: &mut Purse,
        expected: impl FnOnce() -> Option<Duration>,
    ) {
        self.change(purse, |shares, purse| {
            purse.open -= 1;
            if purse.open > 0 {
                return;
            }
            shares.present -= purse.weight;
            if purse.left > 0
                && let Some(wait) = expected()
            {
                shares.hope = shares.hope.max(now + wait);
            }
        });
    }

    /// The drive is done with a request that it got at `sent`. Returns how long it was busy with it.
    pub(super) fn busy(&mut self, now: Instant, sent: Instant) -> Duration {
        now.since(sent.max(core::mem::replace(&mut self.done, now)))
    }

    /// The drive was busy for `time` with what whoever has `purse` asked for.
    pub(super) fn charge(&mut self, purse: &mut Purse, time: Duration) {
        if self.on {
            self.change(purse, |shares, purse| {
                shares.settle(purse);
                purse.left = purse.left.saturating_sub_unsigned(time.0);
            });
        }
    }

    /// The same of what nobody waits for.
    pub(super) fn charge_writes(&mut self, time: Duration) {
        let cost = if self.on { time.0 } else { 0 };
        self.writes.left = self.writes.left.saturating_sub_unsigned(cost);
    }

    /// Whether `purse` has something left, or weights do not count.
    pub(super) fn may(&self, purse: &Purse) -> bool {
        !self.on || purse.left > 0
    }

    /// The same of what nobody waits for.
    pub(super) fn may_write(&self) -> bool {
        self.may(&self.writes)
    }

    /// How much `purse` has left, if weights count.
    pub(super) fn left(&self, purse: &Purse) -> Option<Duration> {
        self.on.then(|| Duration(purse.left.max(0) as u64))
    }

    /// The same of what nobody waits for.
    pub(super) fn left_to_write(&self) -> Option<Duration> {
        self.left(&self.writes)
    }

    /// Whether anybody asks who has something left.
    pub(super) fn any_solvent(&self) -> bool {
        self.solvent > 0
    }

    /// Until when somebody who has something left is expected to ask again, if anybody is.
    pub(super) fn hope(&self, now: Instant) -> Option<Instant> {
        (now < self.hope).then_some(self.hope)
    }

    /// A round of `target` begins. `writers`: how many have written what nobody waits for.
    pub(super) fn begin(&mut self, target: Duration, writers: usize) {
        let writes = USUAL * writers as u64;
        (self.target, self.all) = (target, self.present.max(self.seen) + writes);
        (self.round, self.seen) = (self.round + 1, 0);
        let share = self.share(writes);
        self.writes.left = self.writes.left.saturating_add(share).min(share);
    }

    /// The round that has begun fills `purse`.
    pub(super) fn fill(&mut self, purse: &mut Purse) {
        self.change(purse, Shares::settle);
    }

    /// Whoever has `purse` owes nothing any more.
    pub(super) fn forgive(&mut self, purse: &mut Purse) {
        self.change(purse, |_, purse| purse.left = purse.left.max(1));
    }

    /// So it is with what nobody waits for.
    pub(super) fn forgive_writes(&mut self) {
        self.writes.left = self.writes.left.max(1);
    }

    /// Whoever is at `place` waits for the next round.
    pub(super) fn hold(&mut self, place: Place, now: Instant) {
        self.held.push(place, now);
    }

    /// Whoever is at `place` does not wait for it.
    pub(super) fn release(&mut self, place: Place) {
        self.held.leave(place);
    }

    /// How many wait for the next round.
    pub(super) fn held(&self) -> usize {
        self.held.len()
    }

    /// Who has waited for it for longest.
    pub(super) fn first_held(&self) -> Option<Place> {
        self.held.front().map(|(place, _)| place)
    }
}
