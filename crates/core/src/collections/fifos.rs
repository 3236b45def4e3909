//! Many lists of requests in order of arrival, each request with its mark: a count, or when it is overdue.
//!
//! The one place that knows what becomes of two requests that a merge makes one: the survivor inherits the
//! earlier mark, and the place that goes with it.

use alloc::vec::Vec;

use super::{Links, List, ListIter, OutOfMemory, table};
use crate::units::RequestId;

/// The requests of any number of [`List`]s with their marks.
pub struct Fifos<M> {
    links: Links,
    /// By request, for those in a list.
    marks: Vec<M>,
}

impl<M: Copy + Ord + Default> Fifos<M> {
    /// For ids below `capacity`.
    ///
    /// # Errors
    /// [`OutOfMemory`] if the table cannot be allocated.
    pub fn new(capacity: usize) -> Result<Self, OutOfMemory> {
        Ok(Fifos { links: Links::new(capacity)?, marks: table(capacity, M::default())? })
    }

    /// The mark of `request`.
    #[inline]
    pub fn mark(&self, request: RequestId) -> M {
        self.marks[request.index()]
    }

    /// Adds `request` at the back.
    #[inline]
    pub fn push(&mut self, list: &mut List, request: RequestId, mark: M) {
        self.marks[request.index()] = mark;
        self.links.push_back(list, request);
    }

    /// Takes the first request.
    #[inline]
    pub fn pop(&mut self, list: &mut List) -> Option<RequestId> {
        self.links.pop_front(list)
    }

    /// Takes `request` out, wherever it is.
    #[inline]
    pub fn remove(&mut self, list: &mut List, request: RequestId) {
        self.links.remove(list, request);
    }

    /// `survivor` takes over the mark and the place of `other`, which is in the same list and stays behind it, if
    /// that mark is the earlier one. Says whether it was.
    pub fn inherit(&mut self, list: &mut List, survivor: RequestId, other: RequestId) -> bool {
        let mark = self.mark(other);
        let earlier = mark < self.mark(survivor);
        if earlier {
            self.links.remove(list, survivor);
            self.links.insert_before(list, other, survivor);
            self.marks[survivor.index()] = mark;
        }
        earlier
    }

    /// The links, for lists of another order: a request is in one list at a time.
    pub fn links(&mut self) -> &mut Links {
        &mut self.links
    }

    /// The requests of `list`, from the first to the last.
    pub fn iter(&self, list: &List) -> ListIter<'_> {
        self.links.iter(list)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_survivor_inherits_the_earlier_mark_and_its_place() {
        let (mut fifos, mut list) = (Fifos::new(4).unwrap(), List::default());
        (0..4).for_each(|id| fifos.push(&mut list, RequestId(id), 10 * id));
        assert!(!fifos.inherit(&mut list, RequestId(1), RequestId(2)), "its own is earlier");
        assert!(fifos.inherit(&mut list, RequestId(3), RequestId(1)));
        assert_eq!(fifos.iter(&list).map(|id| id.0).collect::<Vec<_>>(), [0, 3, 1, 2]);
        assert_eq!((fifos.mark(RequestId(3)), fifos.mark(RequestId(1))), (10, 10));
    }
}
