//! Doubly linked lists of requests: FIFO queues, any number of them over one table of links.

use alloc::vec::Vec;

use super::{NIL, OutOfMemory, table};
use crate::units::RequestId;

#[derive(Clone, Copy)]
struct Link {
    previous: u32,
    next: u32,
}

const DETACHED: Link = Link { previous: NIL, next: NIL };

/// The links of all requests. A request is in at most one of the lists that share them.
pub struct Links {
    links: Vec<Link>,
}

/// One list: where it begins and ends.
#[derive(Clone, Copy, Debug)]
pub struct List {
    head: u32,
    tail: u32,
    len: u32,
}

impl Default for List {
    fn default() -> Self {
        List { head: NIL, tail: NIL, len: 0 }
    }
}

impl List {
    /// Number of requests in the list.
    #[inline]
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// True if the list holds nothing.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The first request.
    #[inline]
    pub fn front(&self) -> Option<RequestId> {
        id(self.head)
    }

    /// The last request.
    #[inline]
    pub fn back(&self) -> Option<RequestId> {
        id(self.tail)
    }
}

#[inline]
fn id(index: u32) -> Option<RequestId> {
    if index == NIL { None } else { Some(RequestId(index)) }
}

impl Links {
    /// Links for request ids below `capacity`.
    ///
    /// # Errors
    /// [`OutOfMemory`] if the table cannot be allocated.
    pub fn new(capacity: usize) -> Result<Self, OutOfMemory> {
        Ok(Links { links: table(capacity, DETACHED)? })
    }

    /// Appends `request`.
    #[inline]
    pub fn push_back(&mut self, list: &mut List, request: RequestId) {
        self.links[request.index()] = Link { previous: list.tail, next: NIL };
        match id(list.tail) {
            Some(tail) => self.links[tail.index()].next = request.0,
            None => list.head = request.0,
        }
        list.tail = request.0;
        list.len += 1;
    }

    /// Puts `request` first.
    #[inline]
    pub fn push_front(&mut self, list: &mut List, request: RequestId) {
        self.links[request.index()] = Link { previous: NIL, next: list.head };
        match id(list.head) {
            Some(head) => self.links[head.index()].previous = request.0,
            None => list.tail = request.0,
        }
        list.head = request.0;
        list.len += 1;
    }

    /// Puts `request` directly before `place`, which is in `list`.
    pub fn insert_before(&mut self, list: &mut List, place: RequestId, request: RequestId) {
        let previous = self.links[place.index()].previous;
        let Some(before) = id(previous) else { return self.push_front(list, request) };
        self.links[request.index()] = Link { previous, next: place.0 };
        self.links[before.index()].next = request.0;
        self.links[place.index()].previous = request.0;
        list.len += 1;
    }

    /// Takes `request`, which is in `list`, out of it.
    #[inline]
    pub fn remove(&mut self, list: &mut List, request: RequestId) {
        let link = self.links[request.index()];
        debug_assert!(link.previous != NIL || list.head == request.0, "{request} is not in this list");
        match id(link.previous) {
            Some(previous) => self.links[previous.index()].next = link.next,
            None => list.head = link.next,
        }
        match id(link.next) {
            Some(next) => self.links[next.index()].previous = link.previous,
            None => list.tail = link.previous,
        }
        self.links[request.index()] = DETACHED;
        list.len -= 1;
    }

    /// Takes the first request out of `list`.
    #[inline]
    pub fn pop_front(&mut self, list: &mut List) -> Option<RequestId> {
        let front = list.front()?;
        let next = core::mem::replace(&mut self.links[front.index()], DETACHED).next;
        match id(next) {
            Some(next) => self.links[next.index()].previous = NIL,
            None => list.tail = NIL,
        }
        list.head = next;
        list.len -= 1;
        Some(front)
    }

    /// The request after `request` in its list.
    #[inline]
    pub fn next(&self, request: RequestId) -> Option<RequestId> {
        id(self.links[request.index()].next)
    }

    /// The request before `request` in its list.
    #[inline]
    pub fn previous(&self, request: RequestId) -> Option<RequestId> {
        id(self.links[request.index()].previous)
    }

    /// The requests of `list`, first to last.
    pub fn iter(&self, list: &List) -> Iter<'_> {
        Iter { links: self, at: list.front() }
    }
}

/// The requests of a list, first to last.
pub struct Iter<'a> {
    links: &'a Links,
    at: Option<RequestId>,
}

impl Iterator for Iter<'_> {
    type Item = RequestId;
    fn next(&mut self) -> Option<RequestId> {
        let current = self.at?;
        self.at = self.links.next(current);
        Some(current)
    }
}
