//! What waits in ADIOS for a place in a page: reads and all others by deadline, and the bias between the two sides.

use alloc::vec::Vec;

use super::settings::Nice;
use crate::collections::{OutOfMemory, Sorted, table};
use crate::units::{Instant, RequestId};

/// Deadlines that differ only in this many low bits of nanoseconds are the same.
const STEP_BITS: u32 = 20;

/// Requests that are in no page yet.
pub(super) struct Waiting {
    /// By side: requests by the step of their deadline.
    sides: [Sorted; 2],
    /// By request: when it should be served.
    deadlines: Vec<Instant>,
    /// From where steps count.
    origin: Option<Instant>,
    /// Below 0: the others are favoured.
    bias: i64,
}

/// The side on which requests of a kind wait.
#[inline]
fn side_of(kind: usize) -> usize {
    usize::from(kind > 0)
}

impl Waiting {
    pub(super) fn new(capacity: usize) -> Result<Self, OutOfMemory> {
        let sides = [Sorted::new(capacity)?, Sorted::new(capacity)?];
        Ok(Waiting { sides, deadlines: table(capacity, Instant::ZERO)?, origin: None, bias: 0 })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.sides.iter().all(Sorted::is_empty)
    }

    /// When `id` should be served.
    pub(super) fn deadline(&self, id: RequestId) -> Instant {
        self.deadlines[id.index()]
    }

    /// Sorts `id` in, behind all in the same step.
    pub(super) fn insert(&mut self, id: RequestId, kind: usize, arrival: Instant, deadline: Instant) {
        let origin = *self.origin.get_or_insert(arrival);
        self.deadlines[id.index()] = deadline;
        self.sides[side_of(kind)].insert(deadline.since(origin).0 >> STEP_BITS, id);
    }

    pub(super) fn remove(&mut self, id: RequestId, kind: usize) {
        self.sides[side_of(kind)].remove(id);
    }

    /// The request that would be next into a page, and whether the bias moves for it.
    pub(super) fn next(&self) -> Option<(RequestId, bool)> {
        let favoured = usize::from(self.bias < 0);
        match (self.sides[favoured].first(), self.sides[1 - favoured].first()) {
            (Some(id), Some(other)) => Some((id, self.deadline(id) > self.deadline(other))),
            (Some(id), None) => Some((id, true)),
            (None, Some(other)) => Some((other, false)),
            (None, None) => None,
        }
    }

    pub(super) fn bias(&self) -> i64 {
        self.bias
    }

    pub(super) fn set_bias(&mut self, bias: i64) {
        self.bias = bias;
    }

    /// Moves the bias away from the side that it favours.
    pub(super) fn pay(&mut self, predicted: u64, read_priority: Nice) {
        let reads = self.bias >= 0;
        let sign = if reads { -1 } else { 1 };
        if predicted == 0 {
            self.bias = sign;
            return;
        }
        let weight = if reads { read_priority } else { Nice(0) }.weight();
        let price = (predicted.saturating_mul(weight) >> 10).min(i64::MAX as u64);
        self.bias = self.bias.saturating_add(sign * price as i64);
    }
}
