//! The overflow: requests that were issued and have no room in the queue yet.
//!
//! Writers issue many requests at once, of which a scheduler lets only a part into the queue. The rest wait
//! here, while synchronous reads pass. Each kind of request enters in order of issue.
//!
//! A workload learns the name of a request when it issues it, before anybody can say whether it has room.
//! So a request gets a name of the overflow's own, beyond the queue's ids, whenever there is not room for all, and
//! keeps it until it is done, under whatever id it enters the queue.

use std::collections::VecDeque;

use idlewise_core::{Admission, AdmissionClass, Request, RequestId};

/// Requests that wait here at most: far more than writeback holds back, and 4 MiB of memory. Then nothing is issued
/// until one has entered.
const OVERFLOW_MAX: usize = 1 << 16;

/// A request in the overflow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    /// What the workload knows it as.
    pub(crate) name: RequestId,
    pub(crate) request: Request,
    order: u64,
}

/// Requests that wait for room, and the names of those that waited.
#[derive(Debug)]
pub(crate) struct Overflow {
    /// By entrant, in order of issue.
    waiting: [VecDeque<Held>; 3],
    len: usize,
    order: u64,
    /// By id in the queue: the name, if it is not the id.
    names: Vec<Option<RequestId>>,
    /// Names that are not in use.
    free: Vec<RequestId>,
    /// Names given out so far, whether in use or not.
    made: u32,
    /// Requests in the queue whose names are not their ids.
    entered: usize,
}

impl Overflow {
    /// A line before a queue of `capacity`.
    pub(crate) fn new(capacity: usize) -> Overflow {
        let names = vec![None; capacity];
        Overflow {
            waiting: Default::default(),
            len: 0,
            order: 0,
            names,
            free: Vec::new(),
            made: 0,
            entered: 0,
        }
    }

    /// How many wait.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Nobody may join.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.len >= OVERFLOW_MAX
    }

    /// A name for the next request.
    pub(crate) fn name(&mut self) -> RequestId {
        self.free.pop().unwrap_or_else(|| {
            self.made += 1;
            RequestId(self.names.len() as u32 + self.made - 1)
        })
    }

    /// `request`, issued as `name`, waits.
    pub(crate) fn join(&mut self, name: RequestId, request: Request) {
        self.order += 1;
        self.len += 1;
        let held = Held { name, request, order: self.order };
        self.waiting[AdmissionClass::of(&request) as usize].push_back(held);
    }

    /// The first, of those for which there is `room`, enters the queue as `id`.
    pub(crate) fn enter(&mut self, room: Admission, id: RequestId) -> Option<Held> {
        let kinds = [AdmissionClass::Free, AdmissionClass::SyncWrite, AdmissionClass::Async];
        let open = kinds.into_iter().filter(|entrant| room.admits(*entrant));
        let heads = open.filter_map(|kind| Some((self.waiting[kind as usize].front()?.order, kind)));
        let (_, first) = heads.min_by_key(|(order, _)| *order)?;
        let held = self.waiting[first as usize].pop_front()?;
        self.len -= 1;
        self.entered += 1;
        self.names[id.index()] = Some(held.name);
        Some(held)
    }

    /// What the workload knows `id` as.
    #[inline]
    pub(crate) fn name_of(&self, id: RequestId) -> RequestId {
        if self.entered == 0 { id } else { self.names[id.index()].unwrap_or(id) }
    }

    /// The same of `id`, which is done.
    #[inline]
    pub(crate) fn done(&mut self, id: RequestId) -> RequestId {
        if self.entered == 0 { id } else { self.take_name(id) }
    }

    fn take_name(&mut self, id: RequestId) -> RequestId {
        let Some(name) = self.names[id.index()].take() else { return id };
        self.entered -= 1;
        self.free.push(name);
        name
    }
}
