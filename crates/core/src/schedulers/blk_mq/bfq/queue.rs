//! A queue: one process's synchronous requests, or all asynchronous ones of one I/O priority.

use super::budget::Budget;
use super::habits::Habits;
use super::inject::Limit;
use super::raise::Raised;
use super::requests::Line;
use super::wakers::Waker;

/// What is known of one queue, besides its virtual times and whose it is.
#[derive(Clone, Copy)]
pub(super) struct Queue {
    pub(super) line: Line,
    pub(super) budget: Budget,
    pub(super) habits: Habits,
    pub(super) raised: Raised,
    pub(super) limit: Limit,
    pub(super) waker: Waker,
}
