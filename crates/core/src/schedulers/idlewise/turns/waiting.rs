//! Waiting requests, by deadline and by address.

use alloc::vec::Vec;

use crate::collections::{Fifos, List, OutOfMemory, Sorted, TryBox, table};
use crate::request::{Operation, Request};
use crate::scheduler::Cx;
use crate::schedulers::shared::head::Head;
use crate::units::RequestId;

use super::next::Next;
use super::settings::Settings;

/// How a request is served.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Class {
    /// In a turn of its process: it continues where the process left off.
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

/// Requests that wait. Those of streams and of the pool are kept elsewhere, too.
pub(super) struct Waiting {
    /// By id, of those that wait or are in flight.
    class: Vec<Class>,
    /// In order of arrival: reads, writes that somebody waits for, those that nobody waits for, and those of the idle class.
    arrivals: [List; 4],
    /// What these consist of, each with its number in order of arrival.
    numbered: Fifos<u64>,
    number: u64,
    writes: Sorted,
    urgent: Sorted,
    idle: Sorted,
}

/// Whether nobody waits for `request`.
pub(super) fn is_async(request: &Request) -> bool {
    !request.sync && request.operation != Operation::Read
}

/// Whether `one` and `other` are served alike, so that one may become part of the other.
pub(super) fn may_merge(one: &Request, other: &Request) -> bool {
    one.sync == other.sync && one.priority.class == other.priority.class
}

/// Which order of arrival a request of `class` is in.
#[inline]
fn side(class: Class, request: &Request) -> usize {
    match class {
        Class::Async => 2,
        Class::Idle => 3,
        _ => usize::from(request.operation != Operation::Read),
    }
}

impl Waiting {
    /// In memory of its own and not inlined, so that it takes little of the stack, of which a kernel has little.
    #[inline(never)]
    pub(super) fn new(capacity: usize) -> Result<TryBox<Self>, OutOfMemory> {
        let room = TryBox::room()?;
        room.keep(Waiting {
            class: table(capacity, Class::default())?,
            arrivals: [List::default(); 4],
            numbered: Fifos::new(capacity)?,
            number: 0,
            writes: Sorted::new(capacity)?,
            urgent: Sorted::new(capacity)?,
            idle: Sorted::new(capacity)?,
        })
    }

    #[inline]
    pub(super) fn class(&self, id: RequestId) -> Class {
        self.class[id.index()]
    }

    /// `id` is of the pool from now on.
    pub(super) fn pools(&mut self, id: RequestId) {
        self.class[id.index()] = Class::Pool;
    }

    /// Those of `class`, if they are kept by address here.
    #[inline]
    fn by_address(&mut self, class: Class) -> Option<&mut Sorted> {
        match class {
            Class::Stream | Class::Pool | Class::Held => None,
            Class::Async => Some(&mut self.writes),
            Class::Urgent => Some(&mut self.urgent),
            Class::Idle => Some(&mut self.idle),
        }
    }

    /// `id` waits from now on.
    // Each form of `turns` has one place that inserts.
    #[inline(always)]
    pub(super) fn insert(&mut self, cx: Cx<'_>, id: RequestId, class: Class) {
        self.class[id.index()] = class;
        self.number += 1;
        self.numbered.push(&mut self.arrivals[side(class, &cx[id])], id, self.number);
        if let Some(set) = self.by_address(class) {
            set.insert(cx[id].start.0, id);
        }
    }

    /// `id`, which is of `class`, waits no longer.
    #[inline]
    pub(super) fn take(&mut self, cx: Cx<'_>, id: RequestId, class: Class) {
        self.numbered.remove(&mut self.arrivals[side(class, &cx[id])], id);
        if let Some(set) = self.by_address(class) {
            set.remove(id);
        }
    }

    pub(super) fn grown(&mut self, cx: Cx<'_>, id: RequestId) {
        let class = self.class(id);
        if let Some(set) = self.by_address(class) {
            set.rekey(id, cx[id].start.0);
        }
    }

    /// `survivor` has the earlier place in order of arrival from now on; both wait.
    pub(super) fn inherit(&mut self, cx: Cx<'_>, survivor: RequestId, other: RequestId) {
        let list = &mut self.arrivals[side(self.class(other), &cx[other])];
        self.numbered.inherit(list, survivor, other);
    }

    /// Takes the oldest, if all that wait are reads or all are writes that somebody waits for, and none is of the real-time class.
    #[inline]
    pub(super) fn take_alike(&mut self) -> Option<RequestId> {
        let all: usize = self.arrivals.iter().map(List::len).sum();
        let alike = self.arrivals[..2].iter_mut().find(|list| list.len() == all)?;
        if self.urgent.is_empty() { self.numbered.pop(alike) } else { None }
    }

    /// The oldest read, and the oldest write that somebody waits for.
    #[inline]
    pub(super) fn oldest_sync(&self) -> [Option<RequestId>; 2] {
        [self.arrivals[0].front(), self.arrivals[1].front()]
    }

    /// The oldest that is not of the idle class; ties go to reads, and then to those that somebody waits for.
    pub(super) fn oldest(&self, cx: Cx<'_>) -> Option<RequestId> {
        let first = |one: Option<RequestId>, other: Option<RequestId>| match (one, other) {
            (Some(one), Some(other)) => Some(if cx[one].arrival <= cx[other].arrival { one } else { other }),
            (one, other) => one.or(other),
        };
        first(first(self.arrivals[0].front(), self.arrivals[1].front()), self.arrivals[2].front())
    }

    /// The oldest of the idle class.
    #[inline]
    pub(super) fn oldest_idle(&self) -> Option<RequestId> {
        self.arrivals[3].front()
    }

    #[inline]
    pub(super) fn any_async(&self) -> bool {
        !self.writes.is_empty()
    }

    /// The next write upward from the head, or the lowest.
    #[inline]
    pub(super) fn next_write(&self, head: &Head) -> Option<RequestId> {
        head.upward(&self.writes)
    }

    /// The oldest write if it has waited for half a round; else the next upward.
    pub(super) fn first_write(&self, cx: Cx<'_>, head: &Head, tunables: &Settings) -> Option<RequestId> {
        let late = self.arrivals[2].front().filter(|id| cx.age(*id) >= tunables.half());
        late.or_else(|| self.next_write(head))
    }

    /// The same of the real-time class.
    #[inline]
    pub(super) fn next_urgent(&self, cx: Cx<'_>, head: &Head) -> Option<Next> {
        // Most often there are none.
        let id = if self.urgent.is_empty() { None } else { head.upward(&self.urgent) }?;
        cx.because("process {} is of the real-time class", || [cx[id].issuer.into()]);
        Some(Next::Send(id))
    }

    /// The same of the idle class.
    pub(super) fn next_idle(&self, head: &Head) -> Option<RequestId> {
        head.upward(&self.idle)
    }
}
