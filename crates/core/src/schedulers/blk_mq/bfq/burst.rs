//! Bursts: queues that are created together are a server's or a compiler's, not a user's.

use super::raise::passed;
use crate::units::{Duration, Instant};

/// Linux's `bfq_large_burst_thresh`: so many queues, each within [`BURST_GAP`] of the one before.
pub(super) const LARGE_BURST: usize = 8;
/// Linux's `bfq_burst_interval`.
pub(super) const BURST_GAP: Duration = Duration::from_ms(180);

/// The queues that were last created together.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Burst<Q> {
    members: [Option<Q>; LARGE_BURST],
    size: usize,
    large: bool,
    last: Option<Instant>,
}

impl<Q: Copy + PartialEq> Burst<Q> {
    /// A queue is created, while others are busy or not. Returns those that are in a large burst now.
    pub(super) fn created(&mut self, now: Instant, queue: Q, others: bool) -> [Option<Q>; LARGE_BURST] {
        let none = [None; LARGE_BURST];
        if self.members.contains(&Some(queue)) {
            return none;
        }
        let mut found = none;
        if passed(self.last, BURST_GAP, now) {
            *self = Burst { members: none, size: 0, large: false, last: None };
            if !others {
                (self.members[0], self.size) = (Some(queue), 1);
            }
        } else if self.large {
            found[0] = Some(queue);
        } else {
            self.size += 1;
            if let Some(free) = self.members.iter_mut().find(|member| member.is_none()) {
                *free = Some(queue);
            }
            if self.size == LARGE_BURST {
                self.large = true;
                found = core::mem::replace(&mut self.members, none);
            }
        }
        self.last = Some(now);
        found
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.size == 0
    }

    /// `queue` is no longer looked at. `ends` if its process has exited.
    pub(super) fn leave(&mut self, queue: Q, ends: bool) {
        if let Some(member) = self.members.iter_mut().find(|member| **member == Some(queue)) {
            *member = None;
            if ends {
                self.size = self.size.saturating_sub(1);
            }
        }
    }
}
