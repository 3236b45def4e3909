//! The requests that wait: by class as each is served, and by arrival as each falls due.

use alloc::vec::Vec;

use crate::collections::{Fifo, Links, List, OutOfMemory, Sorted, table};
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
    /// With all that nobody waits for.
    Async,
}

/// Requests that wait.
pub(super) struct Waiting {
    /// By id, of those that wait or are in flight.
    class: Vec<Class>,
    /// Those that somebody waits for, in order of arrival, and those that nobody waits for.
    arrivals: [Fifo; 2],
    pub(super) pool: Pool,
    writes: Sorted,
    /// Of streams: each process has a list.
    links: Links,
}

/// Whether nobody waits for `request`.
pub(super) fn is_async(request: &Request) -> bool {
    !request.sync && request.operation != Operation::Read
}

/// Which order of arrival a request is in.
fn side(request: &Request) -> usize {
    usize::from(is_async(request))
}

impl Waiting {
    pub(super) fn new(setup: Setup<'_>) -> Result<Self, OutOfMemory> {
        Ok(Waiting {
            class: table(setup.capacity, Class::default())?,
            arrivals: [Fifo::new(setup.capacity)?, Fifo::new(setup.capacity)?],
            pool: Pool::new(setup)?,
            writes: Sorted::new(setup.capacity)?,
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

    /// `id` waits from now on; a stream's request in `list`, its process's.
    pub(super) fn insert(&mut self, cx: Cx<'_>, id: RequestId, class: Class, list: &mut List) {
        self.class[id.index()] = class;
        self.arrivals[side(&cx[id])].push(id);
        match class {
            Class::Stream => self.links.push_back(list, id),
            Class::Pool => self.pool.insert(cx, id),
            Class::Async => self.writes.insert(cx[id].start.0, id),
        }
    }

    /// `id` waits no longer.
    pub(super) fn take(&mut self, cx: Cx<'_>, id: RequestId, list: &mut List) {
        let class = self.class(id);
        self.arrivals[side(&cx[id])].remove(id);
        match class {
            Class::Stream => self.links.remove(list, id),
            Class::Pool => self.pool.remove(id),
            Class::Async => self.writes.remove(id),
        }
    }

    pub(super) fn grown(&mut self, cx: Cx<'_>, id: RequestId) {
        match self.class(id) {
            Class::Stream => {}
            Class::Pool => self.pool.grown(cx, id),
            Class::Async => {
                self.writes.rekey(id, cx[id].start.0);
            }
        }
    }

    /// `survivor` has the earlier place in order of arrival from now on; both wait.
    pub(super) fn inherit(&mut self, cx: Cx<'_>, survivor: RequestId, other: RequestId) {
        self.arrivals[side(&cx[other])].inherit(survivor, other);
    }

    #[inline]
    pub(super) fn oldest_sync(&self) -> Option<RequestId> {
        self.arrivals[0].front()
    }

    /// The oldest of all.
    pub(super) fn oldest(&self, cx: Cx<'_>) -> Option<RequestId> {
        match (self.oldest_sync(), self.oldest_async()) {
            (Some(one), Some(other)) => Some(if cx[one].arrival <= cx[other].arrival { one } else { other }),
            (one, other) => one.or(other),
        }
    }

    #[inline]
    pub(super) fn oldest_async(&self) -> Option<RequestId> {
        self.arrivals[1].front()
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
        head.above(&self.writes).or_else(|| self.writes.first())
    }
}
