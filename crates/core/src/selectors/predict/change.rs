//! Watching for a change of load: since when the requests are of one kind.

use crate::selectors::category::{Bounds, Judge};
use crate::selectors::summary::Summary;
use crate::units::Instant;

/// So many requests of processes that were not there before, in a hundred, are a change …
const NEWCOMERS: u64 = 25;
/// … if there are so many.
const NEWCOMERS_LEAST: u64 = 2;
/// For so many periods newcomers stay new.
const CALM: u32 = 3;
/// So many requests are looked at together.
const CHUNK: u64 = 40;
/// Shares of reads, or of sequential requests, are others if they are so many points in a hundred apart. Among 40
/// requests chance makes less, but for once in a thousand times.
const APART: u64 = 25;

/// What the load has been like since it changed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Watch {
    begun: bool,
    since: Instant,
    requests: u64,
    /// All of it that was alike.
    own: Chunk,
    /// What was not like it, if that came last.
    other: Option<Chunk>,
    /// Periods that are looked at together, as they have few requests.
    chunk: Chunk,
    /// Periods in which newcomers are those of the last change.
    calm: u32,
}

/// Periods that are looked at together.
#[derive(Clone, Copy, Debug, Default)]
struct Chunk {
    begun: Instant,
    sums: Summary,
}

impl Chunk {
    fn add(&mut self, begun: Instant, more: &Summary) {
        if self.sums.requests == 0 {
            self.begun = begun;
        }
        let sums = &mut self.sums;
        sums.requests += more.requests;
        sums.reads += more.reads;
        sums.merged += more.merged;
        sums.sequential += more.sequential;
        sums.bytes += more.bytes;
    }

    /// Whether two are alike in what does not depend on the scheduler: shares of reads and of sequential
    /// requests, and sizes, of which those near a power of two may be on either side of it.
    fn is_like(&self, other: &Chunk, bounds: &Bounds) -> bool {
        let sequential = match bounds.judge {
            Judge::Merged => Summary::merged_percent,
            Judge::Place => Summary::sequential_percent,
        };
        let near = |share: fn(&Summary) -> u64| share(&self.sums).abs_diff(share(&other.sums)) < APART;
        let size = |chunk: &Chunk| chunk.sums.mean_size().max(1).ilog2();
        near(Summary::read_percent) && near(sequential) && size(self).abs_diff(size(other)) <= 1
    }
}

impl Watch {
    /// Takes a period in; true if the load has changed.
    pub(super) fn look(&mut self, now: Instant, summary: &Summary, bounds: &Bounds) -> bool {
        let begun = now - summary.length;
        self.requests += summary.requests;
        let came = summary.newcomers >= NEWCOMERS_LEAST && summary.newcomers_percent() >= NEWCOMERS;
        self.calm = self.calm.saturating_sub(1);
        if (came && self.calm == 0) || (!self.begun && summary.requests > 0) {
            // What others still ask for belongs to the load before.
            let own = if came { summary.newcomers } else { summary.requests };
            return self.begin(begun, own, Chunk::default());
        }
        self.chunk.add(begun, summary);
        if self.chunk.sums.requests < CHUNK {
            return false;
        }
        let chunk = core::mem::take(&mut self.chunk);
        if self.own.sums.requests == 0 || self.own.is_like(&chunk, bounds) {
            self.own.add(chunk.begun, &chunk.sums);
            self.other = None;
            return false;
        }
        match self.other.filter(|other| other.is_like(&chunk, bounds)) {
            Some(mut own) => {
                own.add(chunk.begun, &chunk.sums);
                self.begin(own.begun, own.sums.requests, own)
            }
            None => {
                self.other = Some(chunk);
                false
            }
        }
    }

    /// The load is like this since then.
    fn begin(&mut self, since: Instant, requests: u64, own: Chunk) -> bool {
        *self = Watch { begun: true, since, requests, own, calm: CALM, ..Watch::default() };
        true
    }

    /// Since when the load is of one kind.
    pub(super) fn since(&self) -> Instant {
        self.since
    }

    /// Requests since then.
    pub(super) fn requests(&self) -> u64 {
        self.requests
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
        let mut watch = Watch::default();
        let bounds = Bounds::defaults();
        let at = |place: usize| Instant::ZERO + Duration::from_ms(100 * (place as u64 + 1));
        let changed = |(place, period): (usize, &Summary)| {
            watch.look(at(place), period, &bounds).then_some(place as u64)
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
