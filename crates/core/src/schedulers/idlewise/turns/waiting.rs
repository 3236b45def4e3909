//! The requests that wait: by class as each is served, and by arrival as each falls due.

use alloc::vec::Vec;

use crate::collections::{Fifo, Links, List, OutOfMemory, Sorted, TryBox, table};
use crate::request::{Operation, Request};
use crate::scheduler::{Cx, Setup};
use crate::schedulers::shared::head::Head;
use crate::units::RequestId;

use super::pool::Pool;

/// How a request is served.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Class {
    /// In a turn of its process: it goes on where the process left off.
    Stream,
    /// With all others that somebody waits for.
    #[default]
    Pool,
    /// With the pool, once its process has disk time left.
    Held,
    /// With all that nobody waits for.
    Async,
    /// Before all others: of the real-time class.
    Urgent,
    /// When nobody else asks: of the idle class.
    Idle,
}

/// Requests that wait.
pub(super) struct Waiting {
    /// By id, of those that wait or are in flight.
    class: Vec<Class>,
    /// In order of arrival: reads, writes that somebody waits for, those that nobody waits for, and those of the idle class.
    arrivals: [Fifo; 4],
    pub(super) pool: Pool,
    writes: Sorted,
    urgent: Sorted,
    idle: Sorted,
    /// Of each process: the requests of its stream, and those that are held.
    links: Links,
}

/// Of a process, in order of arrival.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lists {
    pub(super) stream: List,
    pub(super) held: List,
}

impl Lists {
    pub(super) fn is_empty(&self) -> bool {
        self.stream.is_empty() && self.held.is_empty()
    }
}

/// Whether nobody waits for `request`.
pub(super) fn is_async(request: &Request) -> bool {
    !request.sync && request.operation != Operation::Read
}

/// Which order of arrival a request of `class` is in.
fn side(class: Class, request: &Request) -> usize {
    match class {
        Class::Async => 2,
        Class::Idle => 3,
        _ => usize::from(request.operation != Operation::Read),
    }
}

/// Not inlined, for the same reason as [`Waiting::new`].
#[inline(never)]
fn arrivals(capacity: usize) -> Result<[Fifo; 4], OutOfMemory> {
    Ok([Fifo::new(capacity)?, Fifo::new(capacity)?, Fifo::new(capacity)?, Fifo::new(capacity)?])
}

impl Waiting {
    /// In memory of its own and not inlined, so that it takes little of the stack, of which a kernel has little.
    #[inline(never)]
    pub(super) fn new(setup: Setup<'_>) -> Result<TryBox<Self>, OutOfMemory> {
        let room = TryBox::room()?;
        room.keep(Waiting {
            class: table(setup.capacity, Class::default())?,
            arrivals: arrivals(setup.capacity)?,
            pool: Pool::new(setup)?,
            writes: Sorted::new(setup.capacity)?,
            urgent: Sorted::new(setup.capacity)?,
            idle: Sorted::new(setup.capacity)?,
            links: Links::new(setup.capacity)?,
        })
    }

    #[inline]
    pub(super) fn class(&self, id: RequestId) -> Class {
        self.class[id.index()]
    }

    /// An earlier scheduler has dispatched `id`.
    pub(super) fn adopt(&mut self, id: RequestId) {
        self.class[id.index()] = Class::Pool;
        self.pool.adopted();
    }

    /// `id`, of a process with `lists`, waits from now on.
    pub(super) fn insert(&mut self, cx: Cx<'_>, id: RequestId, class: Class, lists: &mut Lists) {
        self.class[id.index()] = class;
        self.arrivals[side(class, &cx[id])].push(id);
        let start = cx[id].start.0;
        match class {
            Class::Stream => self.links.push_back(&mut lists.stream, id),
            Class::Held => self.links.push_back(&mut lists.held, id),
            Class::Pool => self.pool.insert(cx, id),
            Class::Async => self.writes.insert(start, id),
            Class::Urgent => self.urgent.insert(start, id),
            Class::Idle => self.idle.insert(start, id),
        }
    }

    /// `id`, of `class` and of a process with `lists`, waits no longer.
    pub(super) fn take(&mut self, cx: Cx<'_>, id: RequestId, class: Class, lists: &mut Lists) {
        self.arrivals[side(class, &cx[id])].remove(id);
        match class {
            Class::Stream => self.links.remove(&mut lists.stream, id),
            Class::Held => self.links.remove(&mut lists.held, id),
            Class::Pool => self.pool.remove(id),
            Class::Async => self.writes.remove(id),
            Class::Urgent => self.urgent.remove(id),
            Class::Idle => self.idle.remove(id),
        }
    }

    /// What is held of a process with `lists` waits with the pool from now on.
    pub(super) fn release(&mut self, cx: Cx<'_>, lists: &mut Lists) {
        while let Some(id) = self.links.pop_front(&mut lists.held) {
            self.class[id.index()] = Class::Pool;
            self.pool.insert(cx, id);
        }
    }

    pub(super) fn grown(&mut self, cx: Cx<'_>, id: RequestId) {
        let set = match self.class(id) {
            Class::Stream | Class::Held => return,
            Class::Pool => return self.pool.grown(cx, id),
            Class::Async => &mut self.writes,
            Class::Urgent => &mut self.urgent,
            Class::Idle => &mut self.idle,
        };
        set.rekey(id, cx[id].start.0);
    }

    /// `survivor` has the earlier place in order of arrival from now on; both wait.
    pub(super) fn inherit(&mut self, cx: Cx<'_>, survivor: RequestId, other: RequestId) {
        self.arrivals[side(self.class(other), &cx[other])].inherit(survivor, other);
    }

    /// The oldest read, and the oldest write that somebody waits for.
    #[inline]
    pub(super) fn oldest_sync(&self) -> [Option<RequestId>; 2] {
        [self.arrivals[0].front(), self.arrivals[1].front()]
    }

    /// The oldest that is not of the idle class; of equals reads come first, and then those that somebody waits for.
    pub(super) fn oldest(&self, cx: Cx<'_>) -> Option<RequestId> {
        let first = |one: Option<RequestId>, other: Option<RequestId>| match (one, other) {
            (Some(one), Some(other)) => Some(if cx[one].arrival <= cx[other].arrival { one } else { other }),
            (one, other) => one.or(other),
        };
        first(first(self.arrivals[0].front(), self.arrivals[1].front()), self.oldest_async())
    }

    /// The oldest of the idle class.
    #[inline]
    pub(super) fn oldest_idle(&self) -> Option<RequestId> {
        self.arrivals[3].front()
    }

    #[inline]
    pub(super) fn oldest_async(&self) -> Option<RequestId> {
        self.arrivals[2].front()
    }

    #[inline]
    pub(super) fn any_pool(&self) -> bool {
        !self.pool.is_empty()
    }

    #[inline]
    pub(super) fn any_async(&self) -> bool {
        !self.writes.is_empty()
    }

    /// The next write upward from the head, or the lowest.
    pub(super) fn next_write(&self, head: &Head) -> Option<RequestId> {
        head.upward(&self.writes)
    }

    /// The same of the real-time class.
    #[inline]
    pub(super) fn next_urgent(&self, head: &Head) -> Option<RequestId> {
        // Most often there are none.
        if self.urgent.is_empty() { None } else { head.upward(&self.urgent) }
    }

    /// The same of the idle class.
    pub(super) fn next_idle(&self, head: &Head) -> Option<RequestId> {
        head.upward(&self.idle)
    }
}
