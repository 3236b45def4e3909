//! A binary heap of requests by key, smallest first, with removal from anywhere.
//!
//! Equal keys come out in order of insertion.

use alloc::vec::Vec;

use super::{NIL, OutOfMemory, table};
use crate::units::RequestId;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Item {
    key: u64,
    /// Order of insertion: what makes equal keys first in, first out.
    turn: u64,
    id: u32,
}

/// Requests by key, smallest first.
pub struct Heap {
    items: Vec<Item>,
    /// Where in `items` each request is.
    places: Vec<u32>,
    turn: u64,
}

impl Heap {
    /// A heap for request ids below `capacity`.
    ///
    /// # Errors
    /// [`OutOfMemory`] if the tables cannot be allocated.
    pub fn new(capacity: usize) -> Result<Self, OutOfMemory> {
        let mut items = Vec::new();
        items.try_reserve_exact(capacity).map_err(|_| OutOfMemory)?;
        Ok(Heap { items, places: table(capacity, NIL)?, turn: 0 })
    }

    /// Number of requests in the heap.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// True if the heap holds nothing.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// True if `request` is in the heap.
    pub fn contains(&self, request: RequestId) -> bool {
        self.places[request.index()] != NIL
    }

    /// Adds `request`.
    pub fn insert(&mut self, key: u64, request: RequestId) {
        self.turn += 1;
        self.insert_as(key, self.turn, request);
    }

    /// Adds `request`. Among equal keys it comes out by `turn`, smallest first, as if it had been
    /// inserted then.
    pub fn insert_as(&mut self, key: u64, turn: u64, request: RequestId) {
        assert!(!self.contains(request), "{request} is already in the heap");
        let place = self.items.len();
        self.items.push(Item { key, turn, id: request.0 });
        self.places[request.index()] = place as u32;
        self.rise(place);
    }

    /// The request with the smallest key, and that key.
    pub fn first(&self) -> Option<(u64, RequestId)> {
        self.items.first().map(|item| (item.key, RequestId(item.id)))
    }

    /// All requests with their keys, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = (u64, RequestId)> + '_ {
        self.items.iter().map(|item| (item.key, RequestId(item.id)))
    }

    /// Takes out the request with the smallest key.
    pub fn pop(&mut self) -> Option<(u64, RequestId)> {
        let first = self.first()?;
        self.remove(first.1);
        Some(first)
    }

    /// Takes `request` out, wherever it is.
    pub fn remove(&mut self, request: RequestId) {
        assert!(self.contains(request), "{request} is not in the heap");
        let place = self.places[request.index()] as usize;
        self.places[request.index()] = NIL;
        self.items.swap_remove(place);
        if place < self.items.len() {
            self.places[self.items[place].id as usize] = place as u32;
            self.rise(place);
            self.sink(place);
        }
    }

    fn rise(&mut self, mut place: usize) {
        while place > 0 {
            let parent = (place - 1) / 2;
            if self.items[parent] <= self.items[place] {
                break;
            }
            self.swap(parent, place);
            place = parent;
        }
    }

    fn sink(&mut self, mut place: usize) {
        loop {
            let left = 2 * place + 1;
            if left >= self.items.len() {
                break;
            }
            let right = left + 1;
            let smaller =
                if right < self.items.len() && self.items[right] < self.items[left] { right } else { left };
            if self.items[place] <= self.items[smaller] {
                break;
            }
            self.swap(place, smaller);
            place = smaller;
        }
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.items.swap(a, b);
        self.places[self.items[a].id as usize] = a as u32;
        self.places[self.items[b].id as usize] = b as u32;
    }
}
