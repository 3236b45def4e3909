//! Upward sweeps only: the head serves requests in ascending order and returns to the lowest.
//!
//! # How it decides
//! 1. Take the first request at or after the end of the last one dispatched.
//! 2. If there is none, take the request with the lowest address.
//!
//! Requests with equal addresses are dispatched in order of arrival.
//!
//! # Source
//! Textbooks. SOSP'01 calls it CSCAN (§3.3, "starts over at the first available request"); FreeBSD's
//! `disksort` is the same.
//!
//! # Good for, bad for
//! Good for deep queues of scattered requests: short seeks, and a wait that is alike everywhere on
//! the disk. Bad for synchronous processes: it serves them round robin, with a seek each.
//!
//! # Starvation
//! Unbounded: arrivals just ahead of the head hold it in place.

use crate::collections::Sorted;
use crate::scheduler::Cx;
use crate::schedulers::shared::head::{Head, Rule, Seek};
use crate::tunables::Nothing;
use crate::units::RequestId;

/// Upward sweeps only, from the lowest waiting request to the highest.
pub type CLook = Seek<Upward>;

/// The rule of [`CLook`].
pub struct Upward;

impl Rule for Upward {
    const NAME: &'static str = "c-look";
    const SUMMARY: &'static str = "Sweeps upward over the waiting requests and starts again at the lowest.";
    const SOURCE: &'static str = "textbook; SOSP'01 §3.3 (there: CSCAN)";
    const REASON: &'static str = "next on the sweep, or the lowest after its end: {} by {} sectors";
    type Tunables = Nothing;

    #[inline]
    fn pick(head: &Head, _: Cx<'_>, waiting: &Sorted, _: &Nothing) -> Option<RequestId> {
        head.upward(waiting)
    }
}

#[cfg(test)]
mod tests {
    use crate::schedulers::shared::head::tests::order;

    #[test]
    fn after_the_highest_comes_the_lowest() {
        assert_eq!(order("c-look", &[], 530, &[980, 1830, 370, 530, 1220]), [980, 1220, 1830, 370, 530]);
    }

    #[test]
    fn a_request_where_the_head_stands_is_ahead() {
        assert_eq!(order("c-look", &[], 530, &[600, 538]), [538, 600]);
    }
}
