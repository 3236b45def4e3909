//! The elevator whose sweep takes all that waits and is closed to newcomers.
//!
//! # How it decides
//! 1. Arriving requests line up. When the sweep has nothing left, the whole line becomes the next sweep.
//! 2. The sweep is served as `look` serves: the nearest request in the direction of the head, then turn. The direction is kept
//!    from sweep to sweep. Requests with equal addresses are dispatched in order of arrival, or of joining the sweep.
//!
//! # Source
//! Textbooks, after Coffman, Klimko and Ryan 1972.
//!
//! # Differs from the source
//! Textbooks know no merging. Here a request may become part of one that is being swept: it costs no
//! seek, so it keeps nobody waiting for long. If the line and the sweep meet in a merge, the result
//! belongs to the sweep.
//!
//! # Good for, bad for
//! Good for deep queues where nobody may be forgotten: no stream can hold the head. Bad for throughput
//! compared with `look`: a newcomer right under the head waits a sweep.
//!
//! # Starvation
//! None: a request waits for the rest of this sweep and for the next, at most two full queues.

use super::n_step_scan::{Closed, Group};
use crate::scheduler::Starvation;
use crate::tunables::Nothing;

/// Sweeps over all requests in line at once.
pub type FScan = Closed<Line>;

/// All requests in line.
pub struct Line;

impl Group for Line {
    const NAME: &'static str = "fscan";
    const SUMMARY: &'static str = "Sweeps over all requests that wait; newcomers wait for the next sweep.";
    type Tunables = Nothing;

    fn most(_: &Nothing) -> u64 {
        u64::MAX
    }

    fn starvation(_: &Nothing) -> Starvation {
        Starvation::FullQueues(2)
    }
}
