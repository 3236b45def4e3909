//! A first-in, first-out queue that knows who came first.

use super::{Fifos, List, ListIter, OutOfMemory};
use crate::units::RequestId;

/// One queue, in order of arrival. Two requests become one at the place of the earlier.
pub struct Fifo {
    list: List,
    /// When each request came, as a count.
    turns: Fifos<u64>,
    turn: u64,
}

impl Fifo {
    /// A queue for request ids below `capacity`.
    ///
    /// # Errors
    /// [`OutOfMemory`] if the tables cannot be allocated.
    pub fn new(capacity: usize) -> Result<Self, OutOfMemory> {
        Ok(Fifo { list: List::default(), turns: Fifos::new(capacity)?, turn: 0 })
    }

    /// Number of requests.
    #[inline]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// True if nothing is queued.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The request that came first.
    #[inline]
    pub fn front(&self) -> Option<RequestId> {
        self.list.front()
    }

    /// A number that is smaller for requests that came earlier.
    #[inline]
    pub fn turn(&self, request: RequestId) -> u64 {
        self.turns.mark(request)
    }

    /// Appends `request`.
    #[inline]
    pub fn push(&mut self, request: RequestId) {
        self.turn += 1;
        self.turns.push(&mut self.list, request, self.turn);
    }

    /// Takes out the request that came first.
    #[inline]
    pub fn pop(&mut self) -> Option<RequestId> {
        self.turns.pop(&mut self.list)
    }

    /// Takes `request`, which is queued, out.
    #[inline]
    pub fn remove(&mut self, request: RequestId) {
        self.turns.remove(&mut self.list, request);
    }

    /// `survivor` moves to the place of `other`, which stays behind it, if that is the earlier one.
    pub fn inherit(&mut self, survivor: RequestId, other: RequestId) {
        self.turns.inherit(&mut self.list, survivor, other);
    }

    /// Takes `other` out. `survivor` moves to its place if that is the earlier one.
    pub fn absorb(&mut self, survivor: RequestId, other: RequestId) {
        self.inherit(survivor, other);
        self.remove(other);
    }

    /// All requests, first to last.
    pub fn iter(&self) -> ListIter<'_> {
        self.turns.iter(&self.list)
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    fn absorbed(survivor: u32, other: u32) -> Vec<u32> {
        let mut fifo = Fifo::new(4).unwrap();
        (0..4).for_each(|id| fifo.push(RequestId(id)));
        fifo.absorb(RequestId(survivor), RequestId(other));
        assert!(fifo.iter().map(|id| fifo.turn(id)).is_sorted());
        fifo.iter().map(|id| id.0).collect()
    }

    #[test]
    fn of_two_that_become_one_the_earlier_place_stays() {
        assert_eq!(absorbed(3, 1), [0, 3, 2]);
        assert_eq!(absorbed(1, 3), [0, 1, 2]);
        assert_eq!(absorbed(1, 0), [1, 2, 3]);
    }
}
