//! The elevator: the head moves in one direction over the waiting requests, turns at the last, and comes back.
//!
//! # How it decides
//! 1. Upward, take the nearest request at or above the end of the last one dispatched; downward, the
//!    nearest below it.
//! 2. If there is none in that direction, turn.
//!
//! Requests with equal addresses are dispatched in order of arrival. A request that begins exactly where the head
//! stands counts as above: a downward sweep does not follow a stream that grows upward.
//!
//! # Source
//! Textbooks. Many kernels and books call this SCAN or the elevator; `scan` is the one
//! that moves on to the disk's end.
//!
//! # Good for, bad for
//! Good for deep queues of scattered requests, with less travel than `c-look`. Bad for
//! requests near the edges, which wait up to twice as long as those in the middle, and for synchronous
//! processes, which it serves in turn, with a seek each.
//!
//! # Starvation
//! Unbounded: arrivals just ahead of the head hold it in place.

use crate::collections::Sorted;
use crate::scheduler::Cx;
use crate::schedulers::shared::head::{Head, Rule, Seek};
use crate::tunables::Nothing;
use crate::units::RequestId;

/// The elevator that turns at the last waiting request.
pub type Look = Seek<BackAndForth>;

/// The rule of [`Look`].
pub struct BackAndForth;

impl Rule for BackAndForth {
    const NAME: &'static str = "look";
    const SUMMARY: &'static str = "Sweeps up and down over the waiting requests and turns at the last one.";
    const SOURCE: &'static str = "textbook";
    const REASON: &'static str = "next on the sweep {}, {} sectors away";
    type Tunables = Nothing;

    #[inline]
    fn pick(head: &Head, _: Cx<'_>, waiting: &Sorted, _: &Nothing) -> Option<RequestId> {
        head.sweep(waiting)
    }
}

#[cfg(test)]
mod tests {
    use crate::schedulers::shared::head::tests::order;

    #[test]
    fn the_sweep_turns_at_the_last_request() {
        let starts = [980, 1830, 370, 1220, 140, 1240, 650, 670];
        assert_eq!(order("look", &[], 530, &starts), [650, 670, 980, 1220, 1240, 1830, 370, 140]);
    }

    #[test]
    fn a_downward_sweep_does_not_follow_a_stream_upward() {
        assert_eq!(order("look", &[], 5000, &[4000, 4008, 3000]), [4008, 4000, 3000]);
    }
}
