//! Processes: who is known, who issues into which queue, and whose a queue is.
//!
//! The queue of a process has the index of its place in the table; the asynchronous queues are behind those. A
//! process that issues into another's queue is a guest there. A place is not given to another process while it is
//! held: for each process with requests, for each guest and each of its requests in the queue that it joined, for each
//! busy queue.

use alloc::vec::Vec;

use super::raise::{Raise, passed};
use crate::collections::{Issuers, OutOfMemory, Place, table};
use crate::request::{Class, Priority};
use crate::units::{Duration, Instant, Issuer, Weight};

/// The most processes that may be guests in others' queues.
const GUESTS_MAX: usize = 32;
/// How many asynchronous queues there are.
pub(crate) const ASYNC_QUEUES: usize = 17;

/// Linux's weight of a level, 10 to 80, times the weight of the process if the host has set one: of 100
/// counts as 1. Rounded up, so that it is never 0.
pub(crate) fn weight_of(priority: Priority, host: Weight) -> u64 {
    let level = if priority.class == Class::Idle { 7 } else { u64::from(priority.level.min(7)) };
    ((8 - level) * 10 * u64::from(host.get())).div_ceil(u64::from(Weight::default().get()))
}

/// Among the asynchronous queues, the one of this priority: 8 of real time, 8 of best effort, 1 idle.
pub(crate) fn async_index(priority: Priority) -> usize {
    let level = usize::from(priority.level.min(7));
    match priority.class {
        Class::RealTime => level,
        Class::BestEffort => 8 + level,
        Class::Idle => 16,
    }
}

/// A queue, unless another process has got its place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ref {
    pub(crate) queue: usize,
    pub(crate) life: u32,
}

/// A process.
#[derive(Clone, Copy, Default)]
pub(crate) struct Process {
    /// The process has issued something and not exited since.
    pub(crate) alive: bool,
    /// Where its synchronous requests go.
    pub(crate) queue: usize,
    /// The process's requests, waiting or in flight.
    pub(crate) pending: u32,
    /// Priority and weight of its last synchronous request.
    pub(crate) rank: (Priority, Weight),
    /// Priority of its last asynchronous request.
    pub(crate) async_priority: Option<Priority>,
    /// The process has issued a synchronous request.
    pub(crate) met: bool,
    /// The queue that was created with its own, if it may continue in that one for good.
    pub(crate) stable: Option<Ref>,
    /// The process shares a queue for good.
    pub(crate) stably: bool,
    /// How its queue was raised when it went to another's.
    pub(crate) saved: Option<Raise>,
    /// When it issued its first synchronous request.
    pub(crate) born: Instant,
    /// When it came back to its queue.
    pub(crate) split: Option<Instant>,
}

/// Whose a queue is, and who issues into it.
#[derive(Clone, Copy, Default)]
pub(crate) struct Owner {
    life: u32,
    /// Whose it is; `None` for asynchronous ones.
    pub(crate) place: Option<Place>,
    /// Processes that issue into it.
    pub(crate) users: u32,
    /// No request has made it busy yet.
    pub(crate) new: bool,
    /// Others issue into it, too.
    pub(crate) shared: bool,
    /// The sharing is to end.
    pub(crate) splits: bool,
}

/// All processes and whose queues are.
pub(crate) struct Processes {
    /// Whether what is at a place is its process's.
    pub(crate) issuers: Issuers<bool>,
    pub(crate) list: Vec<Process>,
    pub(crate) owners: Vec<Owner>,
    /// Processes that issue into others' queues.
    pub(crate) guests: Vec<Place>,
}

impl Processes {
    pub(crate) fn new(places: usize) -> Result<Processes, OutOfMemory> {
        let mut guests = Vec::new();
        guests.try_reserve_exact(GUESTS_MAX).map_err(|_| OutOfMemory)?;
        Ok(Processes {
            issuers: Issuers::new(places)?,
            list: table(places, Process::default())?,
            owners: table(places + ASYNC_QUEUES, Owner::default())?,
            guests,
        })
    }

    /// The place of a process that issues a request, which is held if it has no others. True if somebody else
    /// was there.
    pub(crate) fn enter(&mut self, place: Place) -> bool {
        if self.list[place.index()].pending > 0 {
            return false;
        }
        self.issuers.hold(place);
        !core::mem::replace(&mut self.issuers[place], true)
    }

    /// The place of `who`, if that lives.
    pub(crate) fn find(&self, who: Issuer) -> Option<Place> {
        self.issuers.find(who).filter(|place| self.list[place.index()].alive)
    }

    /// Nothing is kept of `who` any more, unless its place is held. True if so.
    pub(crate) fn forget(&mut self, who: Issuer) -> bool {
        self.issuers.forget(who);
        self.issuers.find(who).is_none()
    }

    /// What was at `place` is somebody else's, or nobody's.
    pub(crate) fn clear(&mut self, index: usize) {
        let Process { alive, queue, pending, .. } = self.list[index];
        let users = self.owners[index].users - u32::from(self.is_at_home(index));
        if let Some(place) = self.owners[index].place.filter(|_| alive && queue != index) {
            self.go_home(place);
        }
        let life = self.owners[index].life + 1;
        self.owners[index] = Owner { life, users, new: true, ..Owner::default() };
        // Asynchronous requests of an earlier process of the same number may be under way.
        self.list[index] = Process { pending, ..Process::default() };
    }

    /// The process at `place` lives, and issues into its own queue.
    pub(crate) fn begin(&mut self, place: Place) {
        let index = place.index();
        (self.list[index].alive, self.list[index].queue) = (true, index);
        self.owners[index].users += 1;
    }

    /// The asynchronous queue of this priority.
    pub(crate) fn async_queue(&self, priority: Priority) -> usize {
        self.list.len() + async_index(priority)
    }

    /// A request of the process at `place`, in `queue` so far, is no more.
    #[inline(always)]
    pub(crate) fn release_request(&mut self, queue: usize, place: Place) {
        let process = &mut self.list[place.index()];
        process.pending -= 1;
        if process.pending == 0 {
            self.issuers.release(place);
        }
        if queue != place.index() {
            self.release(queue);
        }
    }

    /// The place of the process of `queue` is not given to another until it is released.
    // A call would cost more than what is done.
    #[inline(always)]
    pub(crate) fn hold(&mut self, queue: usize) {
        if let Some(place) = self.owners[queue].place {
            self.issuers.hold(place);
        }
    }

    pub(crate) fn release(&mut self, queue: usize) {
        if let Some(place) = self.owners[queue].place {
            self.issuers.release(place);
        }
    }

    /// The queue into which the process at `place` issues.
    pub(crate) fn queue(&self, place: Place) -> usize {
        self.list[place.index()].queue
    }

    /// Whether the process at `index` lives and issues into its own queue.
    pub(crate) fn is_at_home(&self, index: usize) -> bool {
        self.list[index].alive && self.list[index].queue == index
    }

    /// Whose `queue` is, unless it is asynchronous.
    pub(crate) fn who(&self, queue: usize) -> Option<Issuer> {
        self.owners[queue].place.map(|place| self.issuers.who(place))
    }

    /// The process of `queue`, unless that is asynchronous or others issue into it; and the asynchronous queue into
    /// which that process issued last.
    pub(crate) fn only_user(&self, queue: usize) -> Option<(Place, usize)> {
        let place = self.owners[queue].place.filter(|_| !self.owners[queue].shared)?;
        Some((place, self.async_queue(self.list[place.index()].async_priority?)))
    }

    /// Whether `queue` is synchronous.
    pub(crate) fn is_sync(&self, queue: usize) -> bool {
        queue < self.list.len()
    }

    pub(crate) fn reference(&self, queue: usize) -> Ref {
        Ref { queue, life: self.owners[queue].life }
    }

    /// The queue of a reference, unless it is another's now.
    pub(crate) fn alive(&self, of: Option<Ref>) -> Option<usize> {
        of.filter(|of| self.owners[of.queue].life == of.life).map(|of| of.queue)
    }

    /// Whether the process of `queue` came back to it longer than `span` ago, if ever.
    pub(crate) fn is_settled(&self, now: Instant, queue: usize, span: Duration) -> bool {
        self.list.get(queue).is_none_or(|process| passed(process.split, span, now))
    }

    /// Whether all who issue into `queue` can go elsewhere.
    pub(crate) fn can_move(&self, queue: usize) -> bool {
        let moved = self.owners[queue].users as usize;
        moved > 0 && self.guests.len() + moved <= GUESTS_MAX
    }

    /// All who issue into `queue` issue into `joined` from now on.
    pub(crate) fn move_all(&mut self, queue: usize, joined: usize) {
        let to = self.reference(joined);
        let owner = self.owners[queue].place.filter(|_| self.is_at_home(queue));
        self.guests.extend(owner);
        let mut at = 0;
        while let Some(guest) = self.guests.get(at).copied() {
            let own = guest.index();
            at += 1;
            if self.list[own].queue != queue {
                continue;
            }
            self.list[own].queue = joined;
            self.list[own].stable = self.list[own].stable.filter(|stable| *stable != to);
            self.owners[queue].users -= 1;
            self.owners[joined].users += 1;
            if own != queue {
                self.release(queue);
            }
            if own != joined {
                self.hold(joined);
            } else {
                at -= 1;
                self.guests.swap_remove(at);
            }
        }
        self.owners[joined].shared = true;
        self.owners[queue].new = false;
    }

    /// The process at `place` issues into another's queue no longer.
    fn go_home(&mut self, place: Place) {
        let queue = core::mem::replace(&mut self.list[place.index()].queue, place.index());
        self.owners[queue].users -= 1;
        self.release(queue);
        self.guests.retain(|guest| *guest != place);
    }

    /// The process at `place` issues into its own queue again, which is no new one.
    pub(crate) fn come_back(&mut self, place: Place) {
        self.go_home(place);
        let queue = &mut self.owners[place.index()];
        queue.users += 1;
        (queue.shared, queue.splits, queue.new) = (false, false, false);
    }

    /// The process at `place` has exited.
    pub(crate) fn exit(&mut self, place: Place) {
        if self.queue(place) == place.index() {
            self.owners[place.index()].users -= 1;
        } else {
            self.go_home(place);
        }
        self.list[place.index()].alive = false;
    }
}
