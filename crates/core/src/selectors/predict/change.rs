//! Watching for a change of load: since when the requests are of one kind.

use crate::selectors::category::{Bounds, Category};
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

/// What does not depend on the scheduler: sequential or random, reads or writes, and the size of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Kind {
    random: bool,
    write: bool,
    /// The binary logarithm of the mean size.
    size: u32,
}

/// What the load has been like since it changed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Watch {
    begun: bool,
    since: Instant,
    requests: u64,
    /// Known once there were requests enough to tell.
    kind: Option<Kind>,
    /// Another kind that was seen last, and since when.
    other: Option<(Kind, Instant)>,
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

impl Kind {
    fn of(summary: &Summary, bounds: &Bounds) -> Option<Kind> {
        let category = Category::of(summary, bounds)?;
        let size = summary.mean_size().max(1).ilog2();
        Some(Kind { random: category.random, write: category.write, size })
    }

    /// Sizes near a power of two may be on either side of it.
    fn is(&self, other: &Kind) -> bool {
        self.random == other.random && self.write == other.write && self.size.abs_diff(other.size) <= 1
    }
}

impl Chunk {
    fn add(&mut self, begun: Instant, period: &Summary) {
        if self.sums.requests == 0 {
            self.begun = begun;
        }
        let sums = &mut self.sums;
        sums.requests += period.requests;
        sums.reads += period.reads;
        sums.merged += period.merged;
        sums.sequential += period.sequential;
        sums.bytes += period.bytes;
        sums.processes = sums.processes.max(period.processes);
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
            return self.begin(begun, own, None);
        }
        self.chunk.add(begun, summary);
        if self.chunk.sums.requests < CHUNK {
            return false;
        }
        let Chunk { begun, sums } = core::mem::take(&mut self.chunk);
        let Some(kind) = Kind::of(&sums, bounds) else { return false };
        if self.kind.get_or_insert(kind).is(&kind) {
            self.other = None;
            return false;
        }
        match self.other {
            Some((other, since)) if other.is(&kind) => self.begin(since, sums.requests, Some(kind)),
            _ => {
                self.other = Some((kind, begun));
                false
            }
        }
    }

    /// The load is of this kind since then.
    fn begin(&mut self, since: Instant, requests: u64, kind: Option<Kind>) -> bool {
        *self = Watch { begun: true, since, requests, kind, calm: CALM, ..Watch::default() };
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
    use super::*;
    use crate::tunables::Tunables as _;
    use crate::units::Duration;

    fn period(requests: u64, reads: u64, newcomers: u64) -> Summary {
        let length = Duration::from_ms(100);
        Summary { length, requests, reads, newcomers, bytes: requests * 4096, ..Summary::default() }
    }

    /// When the load changed, in tenths of a second, among these periods.
    fn changes(periods: &[Summary]) -> alloc::vec::Vec<u64> {
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
    fn a_few_requests_are_no_pattern() {
        // Six of ten are reads; a period of five requests may show the contrary.
        let (more, less) = (period(5, 4, 0), period(5, 2, 0));
        let mut periods = [more; 100];
        periods.iter_mut().step_by(3).for_each(|period| *period = less);
        assert_eq!(changes(&periods), [0]);
    }
}
