//! Shortest seek first: always the request nearest to the head.
//!
//! # How it decides
//! 1. Take the request whose start is nearest to the end of the last one dispatched.
//! 2. Of two that are equally near, take the one in the direction of the last seek.
//!
//! Requests with equal addresses are dispatched in order of arrival. Distance is in sectors; an operating system
//! does not know cylinders.
//!
//! # Source
//! Textbooks.
//!
//! # Differs from the source
//! Sources differ on ties: textbooks say nothing, DiskSim alternates. Keeping the direction is what the
//! head does with the least effort.
//!
//! # Good for, bad for
//! Good for throughput when nobody is far away. Bad for requests at the edges of the disk, and for
//! synchronous processes, of which the nearest holds the head.
//!
//! # Starvation
//! Unbounded: arrivals near the head keep it from all others.

use crate::collections::Sorted;
use crate::scheduler::Cx;
use crate::schedulers::shared::head::{Head, Rule, Seek};
use crate::tunables::Nothing;
use crate::units::RequestId;

/// Shortest seek first.
pub type Sstf = Seek<Nearest>;

/// The rule of [`Sstf`].
pub struct Nearest;

impl Rule for Nearest {
    const NAME: &'static str = "sstf";
    const SUMMARY: &'static str = "Serves the request nearest to the head.";
    const SOURCE: &'static str = "textbook";
    const REASON: &'static str = "nearest to the head: {}, {} sectors away";
    type Tunables = Nothing;

    #[inline]
    fn pick(head: &Head, cx: Cx<'_>, waiting: &Sorted, _: &Nothing) -> Option<RequestId> {
        head.nearest(cx, waiting, 0)
    }
}

#[cfg(test)]
mod tests {
    use crate::schedulers::shared::head::tests::order;

    #[test]
    fn the_nearest_goes_first_wherever_it_lies() {
        assert_eq!(order("sstf", &[], 1000, &[1500, 900, 200, 1100, 950]), [950, 900, 1100, 1500, 200]);
    }

    #[test]
    fn of_two_equally_near_the_one_on_the_way_wins() {
        assert_eq!(order("sstf", &[], 1000, &[908, 1108]), [1108, 908]);
        // Down to 990, whose end 998 is 98 sectors from both others.
        assert_eq!(order("sstf", &[], 1000, &[1096, 990, 900]), [990, 900, 1096]);
    }
}
