//! Watching for a change of load: since when the requests are of one kind.
//!
//! Newcomers are a change at once. Another pattern must persist. A pattern is no change if it gives way to the one before
//! within a few seconds: both belong to one load, such as a copy, whose reads and writes come in turns. A pattern is no
//! change either if it came with another scheduler, under which more is read than before, or less.

use crate::selectors::activity::FRESH;
use crate::selectors::category::{Bounds, Judge};
use crate::selectors::summary::Summary;
use crate::units::{Duration, Instant};

/// The share of newcomers' requests, in a hundred, that is a change of load: with a quarter, as few as one process in
/// four is new, which is enough for another scheduler to be best.
const NEWCOMERS: u64 = 25;
/// The least number of newcomers' requests: a single one, in a period with few, is no load.
const NEWCOMERS_LEAST: u64 = 2;
/// Requests that are looked at together: with fewer, chance makes two halves of the same load look different.
const CHUNK: u64 = 40;
/// Shares of reads, or of sequential requests, differ if they are this many points in a hundred apart. Among 40
/// requests chance makes less, but for once in a thousand times.
const APART: u64 = 25;
/// A pattern between two others that are alike is part of their load if it lasted no longer: buffers fill and empty
/// within a second or two. A pattern that comes this soon after a switch is the scheduler's doing.
const SPELL: Duration = Duration::from_s(3);

/// What the load has been like since it changed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Watch {
    begun: bool,
    load: Load,
    /// The one before it, if nobody has come since.
    before: Option<Load>,
    /// What was not like it, if that came last.
    other: Option<Chunk>,
    /// Periods that are looked at together, as they have few requests.
    chunk: Chunk,
    /// Periods in which no newcomers came but the ones of the last change.
    calm: u32,
    /// The candidate in use, and since when.
    current: (usize, Instant),
}

/// What is of one kind.
#[derive(Clone, Copy, Debug, Default)]
struct Load {
    since: Instant,
    requests: u64,
    /// All of it that was alike.
    own: Chunk,
    /// A pattern with which it takes turns; what lies between both belongs to it, too.
    turns: Option<Chunk>,
}

/// Periods that are looked at together. A whole [`Summary`] of each would be too large for a kernel's stack.
#[derive(Clone, Copy, Debug, Default)]
struct Chunk {
    begun: Instant,
    requests: u64,
    reads: u64,
    merged: u64,
    sequential: u64,
    bytes: u64,
}

impl Chunk {
    fn of(begun: Instant, period: &Summary) -> Chunk {
        let Summary { requests, reads, merged, sequential, bytes, .. } = *period;
        Chunk { begun, requests, reads, merged, sequential, bytes }
    }

    fn add(&mut self, more: &Chunk) {
        if self.requests == 0 {
            self.begun = more.begun;
        }
        self.requests += more.requests;
        self.reads += more.reads;
        self.merged += more.merged;
        self.sequential += more.sequential;
        self.bytes += more.bytes;
    }

    fn summary(&self) -> Summary {
        let Chunk { requests, reads, merged, sequential, bytes, .. } = *self;
        Summary { requests, reads, merged, sequential, bytes, ..Summary::default() }
    }

    /// What does not depend on the scheduler, and how far apart it may be in two that are alike: shares of reads and
    /// of sequential requests, and sizes, of which those near a power of two may be on either side of it.
    fn traits(&self, bounds: &Bounds) -> [(u64, u64); 3] {
        let sums = self.summary();
        let sequential = match bounds.judge {
            Judge::Merged => sums.merged_percent(),
            Judge::Place => sums.sequential_percent(),
        };
        let size = u64::from(sums.mean_size().max(1).ilog2());
        [(sums.read_percent(), APART - 1), (sequential, APART - 1), (size, 1)]
    }

    /// Whether it is like `one`, like `other`, or between them.
    fn is_between(&self, one: &Chunk, other: &Chunk, bounds: &Bounds) -> bool {
        let sides = one.traits(bounds).into_iter().zip(other.traits(bounds));
        self.traits(bounds).into_iter().zip(sides).all(|((own, apart), ((one, _), (other, _)))| {
            own + apart >= one.min(other) && own <= one.max(other) + apart
        })
    }

    fn is_like(&self, other: &Chunk, bounds: &Bounds) -> bool {
        self.is_between(other, other, bounds)
    }
}

impl Load {
    fn has(&self, chunk: &Chunk, bounds: &Bounds) -> bool {
        chunk.is_between(&self.own, &self.turns.unwrap_or(self.own), bounds)
    }

    fn add(&mut self, chunk: &Chunk, bounds: &Bounds) {
        if chunk.is_like(&self.own, bounds) {
            self.own.add(chunk);
        }
    }
}

impl Watch {
    /// Takes a period in; true if the load has changed.
    pub(super) fn look(&mut self, now: Instant, current: usize, summary: &Summary, bounds: &Bounds) -> bool {
        let begun = now - summary.length;
        if self.current.0 != current {
            self.current = (current, begun);
        }
        self.load.requests += summary.requests;
        let came = summary.newcomers >= NEWCOMERS_LEAST && summary.newcomers_percent() >= NEWCOMERS;
        self.calm = self.calm.saturating_sub(1);
        if (came && self.calm == 0) || (!self.begun && summary.requests > 0) {
            // What others still ask for belongs to the load before.
            let requests = if came { summary.newcomers } else { summary.requests };
            let load = Load { since: begun, requests, ..Load::default() };
            *self = Watch { begun: true, load, calm: FRESH, current: self.current, ..Watch::default() };
            return true;
        }
        self.chunk.add(&Chunk::of(begun, summary));
        if self.chunk.requests < CHUNK {
            return false;
        }
        let chunk = core::mem::take(&mut self.chunk);
        if self.load.own.requests == 0 {
            self.load.own = chunk;
            return false;
        }
        if self.load.has(&chunk, bounds) {
            self.load.add(&chunk, bounds);
            self.other = None;
            return false;
        }
        match self.other.take().filter(|other| other.is_like(&chunk, bounds)) {
            Some(mut own) => {
                own.add(&chunk);
                self.turn(own, bounds)
            }
            None => {
                self.other = Some(chunk);
                false
            }
        }
    }

    /// Another pattern has persisted; true if it is another load.
    fn turn(&mut self, own: Chunk, bounds: &Bounds) -> bool {
        let (since, switched) = (self.load.since, self.current.1);
        if switched > since && own.begun.since(switched) <= SPELL {
            self.load.turns = Some(own);
            return false;
        }
        let spell = own.begun.since(since);
        if let Some(before) = self.before.filter(|before| spell <= SPELL && before.has(&own, bounds)) {
            let requests = before.requests + self.load.requests;
            self.load = Load { requests, turns: Some(self.load.own), ..before };
            self.before = None;
            return false;
        }
        self.before = Some(self.load);
        self.load = Load { since: own.begun, requests: own.requests, own, turns: None };
        self.calm = FRESH;
        true
    }

    /// Since when the load is of one kind.
    pub(super) fn since(&self) -> Instant {
        self.load.since
    }

    /// Requests since then.
    pub(super) fn requests(&self) -> u64 {
        self.load.requests
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::tunables::Tunables as _;
    use crate::units::Duration;

    fn period(requests: u64, reads: u64, newcomers: u64) -> Summary {
        let length = Duration::from_ms(100);
        Summary { length, requests, reads, newcomers, bytes: requests * 4096, ..Summary::default() }
    }

    /// When the load changed, in tenths of a second, among these periods.
    fn changes(periods: &[Summary]) -> Vec<u64> {
        changes_with_switch(periods, usize::MAX)
    }

    /// The same if there is a switch before one of them.
    fn changes_with_switch(periods: &[Summary], switch: usize) -> Vec<u64> {
        let mut watch = Watch::default();
        let bounds = Bounds::defaults();
        let at = |place: usize| Instant::ZERO + Duration::from_ms(100 * (place as u64 + 1));
        let changed = |(place, period): (usize, &Summary)| {
            watch.look(at(place), usize::from(place >= switch), period, &bounds).then_some(place as u64)
        };
        periods.iter().enumerate().filter_map(changed).collect()
    }

    #[test]
    fn newcomers_are_a_change_at_once() {
        let (old, new) = (period(20, 20, 0), period(20, 20, 8));
        assert_eq!(changes(&[period(20, 20, 20), old, old, new, new, old, period(20, 20, 2)]), [0, 3]);
    }

    #[test]
    fn another_pattern_must_persist() {
        let (reads, writes) = (period(40, 40, 0), period(40, 0, 0));
        assert_eq!(changes(&[reads, reads, writes, reads, reads, writes, writes, writes]), [0, 6]);
    }

    #[test]
    fn patterns_that_take_turns_are_one_load() {
        let (reads, writes) = (period(40, 40, 0), period(40, 0, 0));
        let turns: Vec<_> = [[reads; 5], [writes; 5]].concat().repeat(4);
        assert_eq!(changes(&turns), [0, 6], "a change at first, then it has come back");
        let long: Vec<_> = [[reads; 40], [writes; 40]].concat().repeat(2);
        assert_eq!(changes(&long), [0, 41, 81, 121]);
    }

    #[test]
    fn a_pattern_that_comes_with_a_switch_is_no_change() {
        let (reads, writes) = (period(40, 40, 0), period(40, 0, 0));
        let periods = [[reads; 20], [writes; 20]].concat();
        assert_eq!(changes_with_switch(&periods, 19), [0]);
        assert_eq!(changes_with_switch(&periods, 30), [0, 21], "it came before");
        let late = [[reads; 60], [writes; 60]].concat();
        assert_eq!(changes_with_switch(&late, 19), [0, 61], "it came long after");
    }

    #[test]
    fn half_reads_and_half_writes_are_no_change_however_chance_has_it() {
        // As of 40 requests: more than three standard deviations to either side.
        let periods: Vec<_> = (0..60u64).map(|n| period(40, 10 + n * 7 % 20, 0)).collect();
        assert_eq!(changes(&periods), [0]);
        let later: Vec<_> = (0..30u64).map(|n| period(40, 2 + n * 7 % 10, 0)).collect();
        assert_eq!(changes(&[periods, later].concat()), [0, 61], "17 % reads are another load");
    }

    #[test]
    fn a_few_requests_are_no_pattern() {
        // Six of ten are reads; a period of five requests may show the contrary.
        let (more, less) = (period(5, 4, 0), period(5, 2, 0));
        let mut periods = [more; 100];
        periods.iter_mut().step_by(3).for_each(|period| *period = less);
        assert_eq!(changes(&periods), [0]);
    }
}
