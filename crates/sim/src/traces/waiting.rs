//! Requests between their first event and their last, in order of arrival, found by device and
//! sector.

use crate::traces::event::Event;
use crate::traces::names::Mixer;
use crate::traces::record::Record;
use idlewise_core::{Sector, Sectors};
use std::collections::{HashMap, VecDeque};

/// Requests at the same sector that are told apart. Finding one is a walk, which a hostile trace could make long.
const CHAIN: u32 = 64;

/// Flushes, which have no sector, wait under this one.
pub(crate) const FLUSH: u64 = u64::MAX;

const NONE: u64 = u64::MAX;

/// How far a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Waiting,
    Sent,
    Done,
}

/// A request that waits for its completion.
pub(crate) struct Slot {
    pub(crate) record: Record,
    /// The first sector that is not yet completed: the key it is found by.
    pub(crate) at: u64,
    /// Sectors from there on.
    pub(crate) left: u32,
    pub(crate) state: State,
    /// The next request with the same key.
    next: u64,
    pub(crate) linked: bool,
    /// Part of another record.
    pub(crate) folded: bool,
}

/// Requests with the same key, in order of arrival.
#[derive(Clone, Copy)]
struct Chain {
    head: u64,
    tail: u64,
    count: u32,
}

/// The requests, numbered in order of arrival.
pub(crate) struct Waiting {
    slots: VecDeque<Slot>,
    /// The number of the first slot.
    base: u64,
    chains: HashMap<(u32, u64), Chain, Mixer>,
}

impl Default for Waiting {
    fn default() -> Self {
        Waiting { slots: VecDeque::new(), base: 0, chains: HashMap::with_hasher(Mixer::new()) }
    }
}

impl Waiting {
    /// How many are held.
    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    /// The oldest.
    #[inline]
    pub(crate) fn front(&self) -> Option<&Slot> {
        self.slots.front()
    }

    /// Takes the oldest out.
    #[inline]
    pub(crate) fn pop_front(&mut self) -> Option<Slot> {
        if self.slots.front()?.linked {
            self.unlink(self.base);
        }
        self.base += 1;
        self.slots.pop_front()
    }

    /// Takes a request in, to be found at sector `at` with `left` sectors to do. Gives its number.
    pub(crate) fn add(&mut self, record: Record, at: u64, left: u32) -> u64 {
        let id = self.base + self.slots.len() as u64;
        let state = State::Waiting;
        self.slots.push_back(Slot { record, at, left, state, next: NONE, linked: false, folded: false });
        self.link(id);
        id
    }

    /// The request with this number, which is still held.
    #[inline]
    pub(crate) fn slot(&mut self, id: u64) -> &mut Slot {
        &mut self.slots[(id - self.base) as usize]
    }

    /// Makes a request findable by its key, unless too many are.
    pub(crate) fn link(&mut self, id: u64) {
        let base = self.base;
        let slot = &mut self.slots[(id - base) as usize];
        let fresh = Chain { head: id, tail: id, count: 0 };
        let chain = self.chains.entry((slot.record.device, slot.at)).or_insert(fresh);
        if chain.count >= CHAIN {
            return;
        }
        slot.linked = true;
        slot.next = NONE;
        if chain.count > 0 {
            self.slots[(chain.tail - base) as usize].next = id;
            chain.tail = id;
        }
        chain.count += 1;
    }

    /// Makes a request no longer findable; to be done before its key changes.
    pub(crate) fn unlink(&mut self, id: u64) {
        let base = self.base;
        let slot = &mut self.slots[(id - base) as usize];
        slot.linked = false;
        let (key, next) = ((slot.record.device, slot.at), slot.next);
        let Some(chain) = self.chains.get_mut(&key) else { return };
        chain.count -= 1;
        if chain.count == 0 {
            self.chains.remove(&key);
            return;
        }
        if chain.head == id {
            chain.head = next;
            return;
        }
        let mut before = chain.head;
        while self.slots[(before - base) as usize].next != id {
            before = self.slots[(before - base) as usize].next;
        }
        self.slots[(before - base) as usize].next = next;
        if chain.tail == id {
            chain.tail = before;
        }
    }

    /// The oldest request of the event's device and operation at sector `at` that `fits`.
    #[inline]
    pub(crate) fn find(&self, event: &Event, at: u64, fits: impl Fn(&Slot) -> bool) -> Option<u64> {
        let mut id = self.chains.get(&(event.device, at))?.head;
        while id != NONE {
            let slot = &self.slots[(id - self.base) as usize];
            if slot.record.operation == event.operation && fits(slot) {
                return Some(id);
            }
            id = slot.next;
        }
        None
    }

    /// The oldest request in `state` of which nothing but this event's extent is left.
    #[inline]
    pub(crate) fn find_whole(&self, event: &Event, state: State) -> Option<u64> {
        self.find(event, event.sector, |slot| slot.state == state && slot.left == event.length)
    }

    /// Cuts a request in two at sector `at`, if that lies inside what is left of it.
    pub(crate) fn split(&mut self, id: u64, at: u64) {
        let slot = self.slot(id);
        let end = slot.at.saturating_add(u64::from(slot.left));
        if at <= slot.at || at >= end || slot.at == FLUSH {
            return;
        }
        let rest = (end - at) as u32;
        slot.left -= rest;
        let first = at.saturating_sub(slot.record.start.0).min(u64::from(u32::MAX)) as u32;
        slot.record.length = Sectors(first);
        let record = Record { start: Sector(at), length: Sectors(rest), dispatched: None, ..slot.record };
        self.add(record, at, rest);
    }
}
