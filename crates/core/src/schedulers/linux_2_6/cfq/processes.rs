//! Processes: how long they think, which queue is theirs, and which requests.

use alloc::vec::Vec;
use core::ops::{Index, IndexMut};

use super::queues;
use crate::collections::{Issuers, OutOfMemory, Place, table};
use crate::request::{Priority, Request};
use crate::schedulers::shared::means::{Mean, ticks};
use crate::units::{Duration, Instant, Issuer, RequestId};

/// Processes that are remembered besides those with requests in the queue.
const REMEMBERED: usize = 64;

/// What is known of one process.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Process {
    /// The process has issued a request since it began, or since its number was given to another.
    known: bool,
    exited: bool,
    /// How many processes had its number while it was kept here.
    life: u32,
    priority: Priority,
    /// The queue of its synchronous requests.
    pub(super) queue: Option<queues::Index>,
    /// When it began to think: when its last synchronous request was done, or it issued its first one.
    done: Instant,
    thought: Mean,
}

/// One process, and none that has its number later.
#[derive(Clone, Copy, Debug)]
pub(super) struct Who {
    pub(super) place: Place,
    life: u32,
}

/// Who issued a request, and in which queue it is.
#[derive(Clone, Copy)]
pub(super) struct Owner {
    pub(super) queue: queues::Index,
    pub(super) process: Who,
}

impl Process {
    /// How long it thinks on average: whole ticks.
    pub(super) fn mean_thought(&self) -> Duration {
        self.thought.thought()
    }

    /// The same, if enough is known to rely on it.
    pub(super) fn reliable_thought(&self) -> Option<Duration> {
        self.thought.reliable().map(ticks)
    }

    /// The process is still the one that `who` was, and has not exited.
    pub(super) fn is(&self, who: Who) -> bool {
        !self.exited && self.life == who.life
    }

    /// The process issues a request. A longer think time counts as the `longest`.
    pub(super) fn issues(&mut self, now: Instant, longest: Duration) {
        self.thought.enter_thought(now.since(self.done).min(longest));
    }
}

/// All processes.
pub(super) struct Processes {
    issuers: Issuers<Process>,
    /// By request, while it waits or is in flight.
    owners: Vec<Option<Owner>>,
}

impl Processes {
    /// How many are remembered, with request ids below `capacity`.
    pub(super) fn places(capacity: usize) -> usize {
        capacity.saturating_add(REMEMBERED)
    }

    pub(super) fn new(capacity: usize) -> Result<Processes, OutOfMemory> {
        let issuers = Issuers::new(Self::places(capacity))?;
        Ok(Processes { issuers, owners: table(capacity, None)? })
    }

    pub(super) fn find(&self, who: Issuer) -> Option<Place> {
        self.issuers.find(who)
    }

    /// Who is forgotten if `who` issues a request now.
    pub(super) fn makes_room_for(&self, who: Issuer) -> Option<Place> {
        if self.issuers.find(who).is_none() { self.issuers.next_to_go() } else { None }
    }

    /// Who issues `request`. The process is held once more. True if its priority is another than before.
    #[inline]
    pub(super) fn enter(&mut self, now: Instant, request: &Request) -> (Who, bool) {
        let place = self.issuers.enter_held(request.issuer);
        let process = &mut self.issuers[place];
        if !process.known || process.exited {
            let (life, priority) = (process.life.wrapping_add(1), request.priority);
            *process = Process { known: true, life, priority, done: now, ..Process::default() };
        }
        let changed = process.priority != request.priority;
        process.priority = request.priority;
        (Who { place, life: process.life }, changed)
    }

    pub(super) fn hold(&mut self, who: Who) {
        self.issuers.hold(who.place);
    }

    /// Ends one hold. Nobody remembers a process that has exited and has nothing here any more.
    #[inline]
    pub(super) fn release(&mut self, who: Who) {
        self.issuers.release(who.place);
        if self.issuers[who.place].exited {
            self.issuers.forget(self.issuers.who(who.place));
        }
    }

    /// The process at `place` will issue nothing more.
    pub(super) fn exit(&mut self, place: Place) {
        self.issuers[place].exited = true;
        self.issuers.forget(self.issuers.who(place));
    }

    /// A synchronous request of `who` is done.
    #[inline]
    pub(super) fn done(&mut self, now: Instant, who: Who) {
        if self.issuers[who.place].is(who) {
            self.issuers[who.place].done = now;
        }
    }

    pub(super) fn issuer(&self, who: Who) -> Issuer {
        self.issuers.who(who.place)
    }

    /// `id` has this owner.
    pub(super) fn own(&mut self, id: RequestId, owner: Owner) {
        self.owners[id.index()] = Some(owner);
    }

    /// Whose `id` is. Nobody's if an earlier scheduler dispatched it.
    pub(super) fn owner(&self, id: RequestId) -> Option<Owner> {
        self.owners[id.index()]
    }

    /// `id` is nobody's any more. Returns whose it was.
    pub(super) fn disown(&mut self, id: RequestId) -> Option<Owner> {
        self.owners[id.index()].take()
    }
}

impl Index<Place> for Processes {
    type Output = Process;
    fn index(&self, place: Place) -> &Process {
        &self.issuers[place]
    }
}

impl IndexMut<Place> for Processes {
    fn index_mut(&mut self, place: Place) -> &mut Process {
        &mut self.issuers[place]
    }
}
