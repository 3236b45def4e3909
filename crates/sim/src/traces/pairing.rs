//! Puts the events of a request together: queued, dispatched, completed.
//!
//! blktrace, blkparse and ftrace tell of a request in several events, which share device and
//! sector. Requests wait here in order of arrival until they complete; the oldest leaves first. At
//! most 65 536 wait: when more do, the oldest leaves incomplete and is counted.
//!
//! A merged request is found at dispatch: the one dispatched covers several extents that were
//! queued, one behind the other. Each of them gets the times of the whole, or, if asked to fold,
//! all become one record. A request that is split becomes two with the same arrival.

use crate::traces::counts::Skip;
use crate::traces::error::Bad;
use crate::traces::event::{Action, Event};
use crate::traces::record::{Exit, Record};
use crate::traces::sink::Sink;
use crate::traces::waiting::{FLUSH, State, Waiting};
use idlewise_core::{Instant, Operation, Sector, Sectors};
use std::collections::VecDeque;

/// Requests that wait for their completion.
const CAPACITY: usize = 65_536;

/// Extents that one dispatch may cover.
const MERGED: usize = 4096;

/// Puts events together.
#[derive(Default)]
pub(crate) struct Pairing {
    waiting: Waiting,
    /// Exits that are later than requests still held here.
    exits: VecDeque<Exit>,
    /// A queue event was seen, so requests without one are exceptions.
    queued: bool,
    /// A completion was seen.
    completed: bool,
    /// A dispatch of a flush was seen, so flushes complete only after theirs.
    flush_sent: bool,
}

impl Pairing {
    /// Takes an event, and gives to `sink` what is complete. Events come in order of time.
    #[inline]
    pub(crate) fn event(&mut self, event: &Event, sink: &mut Sink) -> Result<(), Bad<'static>> {
        match event.action {
            Action::Queue => {
                self.queued = true;
                if event.length == 0 && event.operation != Operation::Flush {
                    sink.skips.skip(Skip::ZeroLength);
                } else {
                    self.arrive(event);
                }
            }
            Action::Insert => self.insert(event, sink),
            Action::Dispatch => self.dispatch(event, sink),
            Action::Complete => self.complete(event, sink),
            Action::Requeue => self.requeue(event, sink),
            Action::Split(at) => {
                sink.report.splits += 1;
                if let Some(id) = self.waiting.find(event, event.sector, |_| true) {
                    self.waiting.split(id, at);
                }
            }
            Action::Merge => sink.report.merges += 1,
            Action::Remap => sink.report.remaps += 1,
        }
        self.drain(sink, CAPACITY)
    }

    /// Takes the exit of a process. Exits beyond what is held of requests are dropped.
    pub(crate) fn exit(&mut self, exit: Exit, sink: &mut Sink) {
        if self.exits.len() < CAPACITY {
            self.exits.push_back(exit);
        }
        self.pass_exits(sink);
    }

    /// Gives `sink` the exits before the oldest request held.
    fn pass_exits(&mut self, sink: &mut Sink) {
        let until = self.waiting.front().map_or(Instant::MAX, |front| front.record.arrival);
        while self.exits.front().is_some_and(|exit| exit.at < until) {
            self.exits.pop_front().into_iter().for_each(|exit| sink.push_exit(exit));
        }
    }

    /// Gives everything to `sink`: there are no more events.
    pub(crate) fn end(&mut self, sink: &mut Sink) -> Result<(), Bad<'static>> {
        self.drain(sink, 0)
    }

    fn drain(&mut self, sink: &mut Sink, capacity: usize) -> Result<(), Bad<'static>> {
        while let Some(front) = self.waiting.front() {
            let done = front.state == State::Done;
            if !done && self.waiting.len() <= capacity {
                return Ok(());
            }
            let Some(slot) = self.waiting.pop_front() else { return Ok(()) };
            if !done {
                sink.report.without_completion += 1;
                sink.report.crowded_out += u64::from(capacity > 0 && self.completed);
            }
            if !slot.folded {
                sink.push(slot.record)?;
            }
            if !self.exits.is_empty() {
                self.pass_exits(sink);
            }
        }
        Ok(())
    }

    fn arrive(&mut self, event: &Event) -> u64 {
        let flush = event.operation == Operation::Flush;
        let start = if flush { 0 } else { event.sector };
        let length = Sectors(if flush { 0 } else { event.length });
        let record = Record {
            sync: event.flags.sync,
            metadata: event.flags.metadata,
            durable: event.flags.durable,
            issuer: event.issuer,
            priority: event.priority,
            device: event.device,
            ..Record::new(Instant(event.time), event.operation, Sector(start), length)
        };
        let at = if flush { FLUSH } else { start };
        self.waiting.add(record, at, length.0)
    }

    fn insert(&mut self, event: &Event, sink: &mut Sink) {
        let at = if event.operation == Operation::Flush { FLUSH } else { event.sector };
        match self.waiting.find(event, at, |slot| slot.state == State::Waiting) {
            Some(id) if event.priority.is_some() => self.waiting.slot(id).record.priority = event.priority,
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
            sink.skips.skip(Skip::ZeroLength);
            return;
        }
        sink.report.without_queue_event += u64::from(event.action == Action::Dispatch);
        self.arrive(event);
    }

    fn dispatch(&mut self, event: &Event, sink: &mut Sink) {
        if event.operation == Operation::Flush {
            return self.dispatch_flush(event, sink);
        }
        let again = self.queued;
        let found = self
            .waiting
            .find_whole(event, State::Waiting)
            .or_else(|| self.waiting.find(event, event.sector, |slot| slot.state == State::Waiting))
            .or_else(|| self.waiting.find(event, event.sector, |slot| again && slot.state == State::Sent));
        if found.is_none() {
            self.unannounced(event, sink);
        }
        let mut next =
            found.or_else(|| self.waiting.find(event, event.sector, |slot| slot.state == State::Waiting));
        let (mut at, end) = (event.sector, event.sector.saturating_add(u64::from(event.length)));
        let mut oldest = next;
        let mut covered = 0;
        while let Some(id) = next {
            if u64::from(self.waiting.slot(id).left) > end - at && event.length > 0 {
                self.waiting.split(id, end);
            }
            let slot = self.waiting.slot(id);
            slot.state = State::Sent;
            slot.record.dispatched = Some(Instant(event.time));
            // The kernel decides on a priority when it makes a request of a bio.
            slot.record.priority = event.priority.or(slot.record.priority);
            at = at.saturating_add(u64::from(slot.left).max(1));
            oldest = oldest.min(Some(id));
            covered += 1;
            if at >= end || covered >= MERGED {
                break;
            }
            next = self.waiting.find(event, at, |slot| slot.state == State::Waiting);
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
            let found = self.waiting.find(event, at, |slot| slot.state == State::Sent);
            let Some(id) = found else { return };
            let slot = self.waiting.slot(id);
            if slot.record.dispatched != time {
                return;
            }
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
        if self.waiting.find(event, FLUSH, |slot| slot.state == State::Waiting).is_none() {
            self.unannounced(event, sink);
        }
        while let Some(id) = self.waiting.find(event, FLUSH, |slot| slot.state == State::Waiting) {
            let slot = self.waiting.slot(id);
            slot.state = State::Sent;
            slot.record.dispatched = Some(Instant(event.time));
        }
    }

    fn complete(&mut self, event: &Event, sink: &mut Sink) {
        self.completed = true;
        if event.operation == Operation::Flush {
            return self.complete_flush(event, sink);
        }
        let (mut at, end) = (event.sector, event.sector.saturating_add(u64::from(event.length)));
        let mut found = 0;
        while found < MERGED {
            let whole = if found == 0 { self.waiting.find_whole(event, State::Sent) } else { None };
            let next = whole
                .or_else(|| self.waiting.find(event, at, |slot| slot.state == State::Sent))
                .or_else(|| self.waiting.find(event, at, |slot| slot.state == State::Waiting));
            let Some(id) = next else { break };
            found += 1;
            self.waiting.unlink(id);
            let slot = self.waiting.slot(id);
            let rest = end - at;
            if event.length > 0 && u64::from(slot.left) > rest {
                slot.at = end;
                slot.left -= rest as u32;
                self.waiting.link(id);
                break;
            }
            slot.state = State::Done;
            slot.record.completed = Some(Instant(event.time).max(slot.record.arrival));
            at = at.saturating_add(u64::from(slot.left));
            if at >= end {
                break;
            }
        }
        sink.report.stray_completions += u64::from(found == 0);
    }

    fn complete_flush(&mut self, event: &Event, sink: &mut Sink) {
        let mut found = 0;
        while let Some(id) = self.waiting.find(event, FLUSH, |slot| slot.state == State::Sent) {
            self.finish_flush(id, event.time);
            found += 1;
        }
        if found == 0
            && !self.flush_sent
            && let Some(id) = self.waiting.find(event, FLUSH, |slot| slot.state == State::Waiting)
        {
            self.finish_flush(id, event.time);
            found = 1;
        }
        // With queue events, the kernel's own flushes complete a second time, as the request's.
        sink.report.stray_completions += u64::from(found == 0 && !self.queued);
    }

    fn finish_flush(&mut self, id: u64, time: u64) {
        self.waiting.unlink(id);
        let slot = self.waiting.slot(id);
        slot.state = State::Done;
        slot.record.completed = Some(Instant(time).max(slot.record.arrival));
    }

    fn requeue(&mut self, event: &Event, sink: &mut Sink) {
        sink.report.requeues += 1;
        let flush = event.operation == Operation::Flush;
        let (mut at, end) = (event.sector, event.sector.saturating_add(u64::from(event.length)));
        for _ in 0..MERGED {
            let key = if flush { FLUSH } else { at };
            let Some(id) = self.waiting.find(event, key, |slot| slot.state == State::Sent) else { return };
            let slot = self.waiting.slot(id);
            slot.state = State::Waiting;
            slot.record.dispatched = None;
            at = at.saturating_add(u64::from(slot.left));
            if at >= end && !flush {
                return;
            }
        }
    }
}
