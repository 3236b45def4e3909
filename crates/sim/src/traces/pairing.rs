//! Puts the events of a request together: queued, dispatched, completed.
//!
//! blktrace, blkparse and ftrace tell of a request in several events, which share device and
//! sector. Requests wait here in order of arrival until they complete; the oldest leaves first. At
//! most 65 536 wait: when more do, the oldest leaves incomplete and is counted.
//!
//! A merged request is found at dispatch: the one dispatched covers several extents that were
//! queued, one behind the other. Each of them gets the times of the whole, or, if asked to fold,
//! all become one record. A request that is split becomes two with the same arrival.

use crate::traces::error::Bad;
use crate::traces::names::Mixer;
use crate::traces::order::Timed;
use crate::traces::record::Record;
use crate::traces::report::Skip;
use crate::traces::sink::Sink;
use idlewise_core::{Instant, Issuer, Operation, Priority, Sector, Sectors};
use std::collections::{HashMap, VecDeque};

/// Requests that wait for their completion.
const CAPACITY: usize = 65_536;

/// Requests at the same sector that are told apart.
const CHAIN: u32 = 64;

/// Extents that one dispatch may cover.
const MERGED: usize = 4096;

/// Flushes have no sector. They wait under this one.
const FLUSH: u64 = u64::MAX;

const NONE: u64 = u64::MAX;

/// What happened to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// It reached the block layer.
    Queue,
    /// It reached the scheduler.
    Insert,
    /// It went to the disk.
    Dispatch,
    /// The disk was done with it.
    Complete,
    /// The disk did not take it.
    Requeue,
    /// It was cut in two, the second beginning at this sector.
    Split(u64),
    /// It joined another.
    Merge,
    /// It was mapped from another device.
    Remap,
}

/// One event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event {
    pub(crate) action: Action,
    /// Nanoseconds.
    pub(crate) time: u64,
    pub(crate) device: u32,
    pub(crate) sector: u64,
    /// In sectors.
    pub(crate) length: u32,
    pub(crate) operation: Operation,
    pub(crate) sync: bool,
    pub(crate) metadata: bool,
    pub(crate) issuer: Option<Issuer>,
    pub(crate) priority: Option<Priority>,
}

impl Timed for Event {
    #[inline]
    fn time(&self) -> u64 {
        self.time
    }

    fn set_time(&mut self, time: u64) {
        self.time = time;
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Waiting,
    Sent,
    Done,
}

/// A request that waits for its completion.
struct Slot {
    record: Record,
    /// The first sector that is not yet completed: the key it is found by.
    at: u64,
    /// Sectors from there on.
    left: u32,
    state: State,
    /// The next request with the same key.
    next: u64,
    linked: bool,
    /// Part of another record.
    folded: bool,
}

#[derive(Clone, Copy)]
struct Chain {
    head: u64,
    tail: u64,
    count: u32,
}

/// Requests between their first event and their last.
pub(crate) struct Pairing {
    slots: VecDeque<Slot>,
    /// The number of the first slot; slots are numbered in order of arrival.
    base: u64,
    chains: HashMap<(u32, u64), Chain, Mixer>,
    queued: bool,
    flush_sent: bool,
}

impl Default for Pairing {
    fn default() -> Self {
        let chains = HashMap::with_hasher(Mixer::new());
        Pairing { slots: VecDeque::new(), base: 0, chains, queued: false, flush_sent: false }
    }
}

impl Pairing {
    /// Takes an event, and gives to `sink` what is complete. Events come in order of time.
    #[inline]
    pub(crate) fn event(&mut self, event: &Event, sink: &mut Sink) -> Result<(), Bad<'static>> {
        match event.action {
            Action::Queue => {
                self.queued = true;
                if event.length == 0 && event.operation != Operation::Flush {
                    sink.counts.skip(Skip::ZeroLength);
                } else {
                    self.arrive(event);
                }
            }
            Action::Insert => self.insert(event, sink),
            Action::Dispatch => self.dispatch(event, sink),
            Action::Complete => self.complete(event, sink),
            Action::Requeue => self.requeue(event, sink),
            Action::Split(at) => {
                sink.counts.splits += 1;
                if let Some(id) = self.find(event, event.sector, |_| true) {
                    self.split(id, at);
                }
            }
            Action::Merge => sink.counts.merges += 1,
            Action::Remap => sink.counts.remaps += 1,
        }
        self.drain(sink, CAPACITY)
    }

    /// Gives everything to `sink`: there are no more events.
    pub(crate) fn end(&mut self, sink: &mut Sink) -> Result<(), Bad<'static>> {
        self.drain(sink, 0)
    }

    fn drain(&mut self, sink: &mut Sink, capacity: usize) -> Result<(), Bad<'static>> {
        while let Some(front) = self.slots.front() {
            let done = front.state == State::Done;
            if !done && self.slots.len() <= capacity {
                return Ok(());
            }
            if front.linked {
                self.unlink(self.base);
            }
            let Some(slot) = self.slots.pop_front() else { return Ok(()) };
            self.base += 1;
            if !done {
                sink.counts.without_completion += 1;
                sink.counts.crowded_out += u64::from(capacity > 0 && sink.counts.completions > 0);
            }
            if !slot.folded {
                sink.push(slot.record)?;
            }
        }
        Ok(())
    }

    fn arrive(&mut self, event: &Event) -> u64 {
        let flush = event.operation == Operation::Flush;
        let start = if flush { 0 } else { event.sector };
        let length = Sectors(if flush { 0 } else { event.length });
        let record = Record {
            arrival: Instant(event.time),
            dispatched: None,
            completed: None,
            start: Sector(start),
            length,
            operation: event.operation,
            sync: event.sync,
            metadata: event.metadata,
            issuer: event.issuer,
            priority: event.priority,
            device: event.device,
        };
        let at = if flush { FLUSH } else { start };
        self.add(record, at, length.0)
    }

    fn add(&mut self, record: Record, at: u64, left: u32) -> u64 {
        let id = self.base + self.slots.len() as u64;
        let state = State::Waiting;
        self.slots.push_back(Slot { record, at, left, state, next: NONE, linked: false, folded: false });
        self.link(id);
        id
    }

    #[inline]
    fn slot(&mut self, id: u64) -> &mut Slot {
        &mut self.slots[(id - self.base) as usize]
    }

    fn link(&mut self, id: u64) {
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

    fn unlink(&mut self, id: u64) {
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
    fn find(&self, event: &Event, at: u64, fits: impl Fn(&Slot) -> bool) -> Option<u64> {
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
    fn find_whole(&self, event: &Event, state: State) -> Option<u64> {
        self.find(event, event.sector, |slot| slot.state == state && slot.left == event.length)
    }

    fn insert(&mut self, event: &Event, sink: &mut Sink) {
        let at = if event.operation == Operation::Flush { FLUSH } else { event.sector };
        match self.find(event, at, |slot| slot.state == State::Waiting) {
            Some(id) if event.priority.is_some() => self.slot(id).record.priority = event.priority,
            Some(_) => {}
            None => self.unannounced(event, sink),
        }
    }

    /// A request whose queue event is missing. Flushes that the kernel makes itself have none.
    fn unannounced(&mut self, event: &Event, sink: &mut Sink) {
        if event.operation == Operation::Flush && self.queued {
            return;
        }
        if event.length == 0 && event.operation != Operation::Flush {
            sink.counts.skip(Skip::ZeroLength);
            return;
        }
        sink.counts.without_queue += u64::from(event.action == Action::Dispatch);
        self.arrive(event);
    }

    fn dispatch(&mut self, event: &Event, sink: &mut Sink) {
        if event.operation == Operation::Flush {
            return self.dispatch_flush(event, sink);
        }
        let again = self.queued;
        let found = self
            .find_whole(event, State::Waiting)
            .or_else(|| self.find(event, event.sector, |slot| slot.state == State::Waiting))
            .or_else(|| self.find(event, event.sector, |slot| again && slot.state == State::Sent));
        if found.is_none() {
            self.unannounced(event, sink);
        }
        let mut next = found.or_else(|| self.find(event, event.sector, |slot| slot.state == State::Waiting));
        let (mut at, end) = (event.sector, event.sector.saturating_add(u64::from(event.length)));
        let mut oldest = next;
        let mut covered = 0;
        while let Some(id) = next {
            if u64::from(self.slot(id).left) > end - at && event.length > 0 {
                self.split(id, end);
            }
            let slot = self.slot(id);
            slot.state = State::Sent;
            slot.record.dispatched = Some(Instant(event.time));
            at = at.saturating_add(u64::from(slot.left).max(1));
            oldest = oldest.min(Some(id));
            covered += 1;
            if at >= end || covered >= MERGED {
                break;
            }
            next = self.find(event, at, |slot| slot.state == State::Waiting);
        }
        if covered > 1 && sink.fold_merges {
            self.fold(event, oldest, covered);
        }
    }

    /// Makes one record of the `covered` that a dispatch covers; the `oldest` of them stays.
    fn fold(&mut self, event: &Event, oldest: Option<u64>, covered: usize) {
        let mut at = event.sector;
        for _ in 0..covered {
            let time = Some(Instant(event.time));
            let found = self.find(event, at, |slot| slot.state == State::Sent);
            let Some(id) =
                found.filter(|&id| self.slots[(id - self.base) as usize].record.dispatched == time)
            else {
                break;
            };
            let slot = self.slot(id);
            at = at.saturating_add(u64::from(slot.left));
            if Some(id) == oldest {
                slot.record.start = Sector(event.sector);
                slot.record.length = Sectors(event.length);
            } else {
                slot.folded = true;
            }
        }
    }

    fn dispatch_flush(&mut self, event: &Event, sink: &mut Sink) {
        self.flush_sent = true;
        if self.find(event, FLUSH, |slot| slot.state == State::Waiting).is_none() {
            self.unannounced(event, sink);
        }
        while let Some(id) = self.find(event, FLUSH, |slot| slot.state == State::Waiting) {
            let slot = self.slot(id);
            slot.state = State::Sent;
            slot.record.dispatched = Some(Instant(event.time));
        }
    }

    fn complete(&mut self, event: &Event, sink: &mut Sink) {
        sink.counts.completions += 1;
        if event.operation == Operation::Flush {
            return self.complete_flush(event, sink);
        }
        let (mut at, end) = (event.sector, event.sector.saturating_add(u64::from(event.length)));
        let mut found = 0;
        while found < MERGED {
            let whole = if found == 0 { self.find_whole(event, State::Sent) } else { None };
            let next = whole
                .or_else(|| self.find(event, at, |slot| slot.state == State::Sent))
                .or_else(|| self.find(event, at, |slot| slot.state == State::Waiting));
            let Some(id) = next else { break };
            found += 1;
            self.unlink(id);
            let slot = self.slot(id);
            let rest = end - at;
            if event.length > 0 && u64::from(slot.left) > rest {
                slot.at = end;
                slot.left -= rest as u32;
                self.link(id);
                break;
            }
            slot.state = State::Done;
            slot.record.completed = Some(Instant(event.time).max(slot.record.arrival));
            at = at.saturating_add(u64::from(slot.left));
            if at >= end {
                break;
            }
        }
        sink.counts.stray_completions += u64::from(found == 0);
    }

    fn complete_flush(&mut self, event: &Event, sink: &mut Sink) {
        let mut found = 0;
        while let Some(id) = self.find(event, FLUSH, |slot| slot.state == State::Sent) {
            self.finish_flush(id, event.time);
            found += 1;
        }
        if found == 0
            && !self.flush_sent
            && let Some(id) = self.find(event, FLUSH, |slot| slot.state == State::Waiting)
        {
            self.finish_flush(id, event.time);
            found = 1;
        }
        // With queue events, the kernel's own flushes complete a second time, as the request's.
        sink.counts.stray_completions += u64::from(found == 0 && !self.queued);
    }

    fn finish_flush(&mut self, id: u64, time: u64) {
        self.unlink(id);
        let slot = self.slot(id);
        slot.state = State::Done;
        slot.record.completed = Some(Instant(time).max(slot.record.arrival));
    }

    fn requeue(&mut self, event: &Event, sink: &mut Sink) {
        sink.counts.requeues += 1;
        let flush = event.operation == Operation::Flush;
        let (mut at, end) = (event.sector, event.sector.saturating_add(u64::from(event.length)));
        for _ in 0..MERGED {
            let key = if flush { FLUSH } else { at };
            let Some(id) = self.find(event, key, |slot| slot.state == State::Sent) else { return };
            let slot = self.slot(id);
            slot.state = State::Waiting;
            slot.record.dispatched = None;
            at = at.saturating_add(u64::from(slot.left));
            if at >= end && !flush {
                return;
            }
        }
    }

    /// Cuts a request in two at sector `at`, if that lies inside what is left of it.
    fn split(&mut self, id: u64, at: u64) {
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
