//! What an observer who looks each tenth of a second sees of a request.

use idlewise_core::Duration;
use idlewise_core::selectors::observed;

/// A request that waits longer than an hour counts as one that waits an hour: this many tenths of a second.
const MOST: usize = 36_000;

/// The latency, and how long the request still waits at each look that follows.
#[inline]
pub(super) fn looks(latency_ns: u64) -> impl Iterator<Item = u64> {
    observed(Duration(latency_ns)).take(MOST).map(|seen| seen.0)
}
