//! A queue of processes, such as the streams that are ready for a turn, in order of when they came.

use alloc::vec::Vec;

use crate::collections::{Links, List, OutOfMemory, Place, table};
use crate::units::{Instant, RequestId};

/// A queue of processes by their places, each in it once.
pub(super) struct PlaceQueue {
    /// Lists of slot numbers: here, of places.
    links: Links,
    list: List,
    /// By place: since when it is in line; `None` if it is not.
    since: Vec<Option<(Place, Instant)>>,
}

impl PlaceQueue {
    pub(super) fn new(places: usize) -> Result<Self, OutOfMemory> {
        Ok(PlaceQueue { links: Links::new(places)?, list: List::default(), since: table(places, None)? })
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    pub(super) fn contains(&self, place: Place) -> bool {
        self.since[place.index()].is_some()
    }

    pub(super) fn front(&self) -> Option<(Place, Instant)> {
        self.since[self.list.front()?.index()]
    }

    /// `place` is the last in line, unless it is in line already.
    pub(super) fn push(&mut self, place: Place, now: Instant) {
        let since = &mut self.since[place.index()];
        if since.is_none() {
            *since = Some((place, now));
            self.links.push_back(&mut self.list, RequestId(place.index() as u32));
        }
    }

    /// `place` leaves the line, if it is in line.
    pub(super) fn leave(&mut self, place: Place) {
        if self.since[place.index()].take().is_some() {
            self.links.remove(&mut self.list, RequestId(place.index() as u32));
        }
    }
}
