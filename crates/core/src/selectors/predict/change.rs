//! Watching for a change of load: since when the requests are of one kind.

use crate::selectors::category::{Bounds, Category};
use crate::selectors::summary::Summary;
use crate::units::{Duration, Instant};

/// So many requests of processes that were not there before, in a hundred, are a change.
const NEWCOMERS: u64 = 25;

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
    since: Instant,
    requests: u64,
    kind: Option<Kind>,
    /// Another kind, seen in the last period.
    other: Option<Kind>,
    /// The last full period of one kind.
    last: Summary,
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

impl Watch {
    /// Takes a period in; true if the load has changed.
    pub(super) fn look(&mut self, now: Instant, summary: &Summary, bounds: &Bounds) -> bool {
        let Some(kind) = Kind::of(summary, bounds) else { return false };
        let differs = self.kind.is_some_and(|before| !before.is(&kind));
        let persists = differs && self.other.is_some_and(|other| other.is(&kind));
        self.other = differs.then_some(kind);
        let first = self.kind.is_none();
        if !first && !persists && summary.newcomers_percent() < NEWCOMERS {
            self.requests += summary.requests;
            self.last = *summary;
            return false;
        }
        // The kind that persists began a period before.
        let length = if persists { summary.length * 2 } else { summary.length };
        *self = Watch {
            since: now - length.max(Duration(1)),
            requests: summary.requests,
            kind: Some(kind),
            other: None,
            last: *summary,
        };
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

    /// The last period.
    pub(super) fn last(&self) -> &Summary {
        &self.last
    }
}
