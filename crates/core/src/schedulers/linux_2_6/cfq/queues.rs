//! The queues: one for each process's synchronous requests, and the asynchronous ones by priority.
//!
//! A queue has its requests by address and in order of arrival, and knows the best place to go on.

use alloc::vec::Vec;

use super::processes::Who;
use crate::collections::{Forest, Links, List, NIL, OutOfMemory, Tree, table};
use crate::request::{Class, Priority};
use crate::scheduler::Cx;
use crate::schedulers::shared::means::Mean;
use crate::schedulers::shared::ways::{Back, better};
use crate::units::{Instant, Issuer, RequestId, Sector};

/// Which queue.
pub(super) type Index = u32;

/// Levels in a class.
const LEVELS: usize = 8;
/// Asynchronous queues: one for each level of two classes, and one for the idle class.
pub(super) const SHARED: usize = 2 * LEVELS + 1;
/// Linux's `CFQQ_SEEK_THR`, in sectors: who seeks further on average is seeky.
pub(super) const SEEKY: u64 = 8 * 1024;
/// A mean of samples that weigh no more than this is not relied upon: the first two do not suffice.
const FEW_SAMPLES: u64 = 80;

/// A mean, if enough is known to rely on it.
#[inline]
pub(super) fn reliable(mean: &Mean) -> Option<u64> {
    (mean.weight() > FEW_SAMPLES).then(|| mean.mean())
}

/// One queue.
#[derive(Clone)]
pub(super) struct Queue {
    pub(super) sync: bool,
    pub(super) class: Class,
    pub(super) level: u8,
    /// Whose it was when it was made.
    pub(super) who: Issuer,
    by_address: Tree,
    by_arrival: List,
    /// The best of its requests to go on with, as far as is known.
    pub(super) next: Option<RequestId>,
    /// Those of its requests that are metadata.
    pub(super) metadata: u32,
    pub(super) in_flight: u32,
    /// Its place in the order of queues, while it has requests; else 0. See [`order`](super::order).
    pub(super) key: u64,
    /// What was left of its last slice in nanoseconds, until it gets a new key; less than 0 if it overran.
    pub(super) rest: i64,
    /// Its process may be waited for.
    pub(super) worth_waiting: bool,
    pub(super) seek: Mean,
    /// Where the last request that was inserted ends. 0: there was none.
    pub(super) position: Sector,
    /// Processes that use it, and those that will.
    pub(super) users: u32,
    /// Its processes are to use this queue instead.
    pub(super) merges_into: Option<Index>,
    /// Processes have come from other queues.
    pub(super) shared: bool,
    /// Since when its processes together seek far, if they came from several queues.
    pub(super) seeky_since: Option<Instant>,
}

impl Queue {
    pub(super) fn new(sync: bool, priority: Priority, who: Issuer) -> Queue {
        let mut queue = Queue {
            sync,
            class: priority.class,
            level: priority.level,
            who,
            by_address: Tree::default(),
            by_arrival: List::default(),
            next: None,
            metadata: 0,
            in_flight: 0,
            key: 0,
            rest: 0,
            worth_waiting: sync,
            seek: Mean::default(),
            position: Sector(0),
            users: 0,
            merges_into: None,
            shared: false,
            seeky_since: None,
        };
        queue.set_priority(priority);
        queue
    }

    pub(super) fn set_priority(&mut self, priority: Priority) {
        (self.class, self.level) = (priority.class, priority.level.min(LEVELS as u8 - 1));
        if self.is_idle_class() {
            self.level = LEVELS as u8 - 1;
            self.worth_waiting = false;
        }
    }

    #[inline]
    pub(super) fn is_idle_class(&self) -> bool {
        self.class == Class::Idle
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.by_arrival.is_empty()
    }

    /// It is known to seek far.
    #[inline]
    pub(super) fn surely_seeky(&self) -> bool {
        reliable(&self.seek).is_some_and(|mean| mean > SEEKY)
    }

    #[inline]
    pub(super) fn seeky(&self) -> bool {
        self.seek.mean() > SEEKY
    }

    /// How far from the head a request is close for this queue.
    #[inline]
    pub(super) fn reach(&self) -> u64 {
        reliable(&self.seek).unwrap_or(SEEKY)
    }
}

/// Who issued a request, and in which queue it is.
#[derive(Clone, Copy)]
pub(super) struct Owner {
    pub(super) queue: Index,
    pub(super) process: Who,
}

/// All queues, and what they share.
pub(super) struct Queues {
    queues: Vec<Queue>,
    free: Vec<Index>,
    forest: Forest,
    links: Links,
    /// By request: when it is overdue.
    due: Vec<Instant>,
    /// By request, while it waits or is in flight.
    pub(super) owners: Vec<Option<Owner>>,
}

impl Queues {
    /// For request ids below `capacity`, and as many queues of processes as `own`.
    pub(super) fn new(capacity: usize, own: usize) -> Result<Queues, OutOfMemory> {
        let nobody = Queue::new(true, Priority::default(), Issuer::UNKNOWN);
        let mut queues = table(SHARED + own, nobody)?;
        for (index, queue) in queues.iter_mut().enumerate().take(SHARED) {
            let class = [Class::RealTime, Class::BestEffort, Class::Idle][index / LEVELS];
            let level = (index % LEVELS) as u8;
            *queue = Queue::new(false, Priority { class, level }, Issuer::UNKNOWN);
            queue.users = 1;
        }
        let mut free = table(own, 0)?;
        for (at, index) in free.iter_mut().enumerate() {
            *index = (SHARED + own - 1 - at) as Index;
        }
        Ok(Queues {
            queues,
            free,
            forest: Forest::new(capacity)?,
            links: Links::new(capacity)?,
            due: table(capacity, Instant::ZERO)?,
            owners: table(capacity, None)?,
        })
    }

    /// The queue of asynchronous requests of this priority.
    #[inline]
    pub(super) fn shared(priority: Priority) -> Index {
        let level = usize::from(priority.level).min(LEVELS - 1);
        (match priority.class {
            Class::RealTime => level,
            Class::BestEffort => LEVELS + level,
            Class::Idle => 2 * LEVELS,
        }) as Index
    }

    /// A new queue for the synchronous requests of `who`.
    pub(super) fn open(&mut self, priority: Priority, who: Issuer) -> Index {
        let Some(index) = self.free.pop() else { panic!("there are more queues than processes") };
        self[index] = Queue { users: 1, ..Queue::new(true, priority, who) };
        index
    }

    /// Nobody uses the queue any more, and it has no requests.
    pub(super) fn close(&mut self, index: Index) {
        debug_assert!(index as usize >= SHARED && self[index].is_empty());
        self.free.push(index);
    }

    /// Who came first.
    #[inline]
    pub(super) fn oldest(&self, index: Index) -> Option<RequestId> {
        self[index].by_arrival.front()
    }

    #[inline]
    pub(super) fn due(&self, id: RequestId) -> Instant {
        self.due[id.index()]
    }

    #[inline]
    pub(super) fn insert(&mut self, cx: Cx<'_>, id: RequestId, index: Index, due: Instant) {
        let queue = &mut self.queues[index as usize];
        self.due[id.index()] = due;
        self.links.push_back(&mut queue.by_arrival, id);
        self.forest.insert(&mut queue.by_address, cx[id].start.0, id);
        queue.metadata += u32::from(cx[id].metadata);
    }

    /// Takes `id` out of its queue.
    #[inline]
    pub(super) fn remove(&mut self, cx: Cx<'_>, id: RequestId, index: Index, way: Way) {
        if self[index].next == Some(id) {
            let before = self.forest.previous(id);
            let queue = &self.queues[index as usize];
            let first = || self.forest.first(&queue.by_address).filter(|first| *first != id);
            let behind = self.forest.next(id).or_else(first);
            self[index].next = way.choose(cx, before, behind);
        }
        let queue = &mut self.queues[index as usize];
        self.links.remove(&mut queue.by_arrival, id);
        self.forest.remove(&mut queue.by_address, id);
        queue.metadata -= u32::from(cx[id].metadata);
    }

    /// `id`, which waits in the queue, may be a better place to go on than the one known.
    #[inline]
    pub(super) fn consider(&mut self, cx: Cx<'_>, id: RequestId, index: Index, way: Way) {
        self[index].next = way.choose(cx, self[index].next, Some(id));
    }

    /// The address of `id` is another. True if so.
    pub(super) fn rekey(&mut self, cx: Cx<'_>, id: RequestId, index: Index) -> bool {
        if self.forest.key(id) == cx[id].start.0 {
            return false;
        }
        let queue = &mut self.queues[index as usize];
        self.forest.remove(&mut queue.by_address, id);
        self.forest.insert(&mut queue.by_address, cx[id].start.0, id);
        true
    }

    /// If `other`, of the same queue, is due earlier, `survivor` gets its time and its place.
    pub(super) fn inherit(&mut self, survivor: RequestId, other: RequestId, index: Index) {
        if self.due(other) < self.due(survivor) {
            let fifo = &mut self.queues[index as usize].by_arrival;
            self.links.remove(fifo, survivor);
            self.links.insert_before(fifo, other, survivor);
            self.due[survivor.index()] = self.due[other.index()];
        }
    }
}

/// Where the head is, and what going back is worth.
#[derive(Clone, Copy)]
pub(super) struct Way {
    pub(super) head: Sector,
    pub(super) back: Back,
}

impl Way {
    /// The better of two requests, of equals the first: a synchronous one before others, metadata before
    /// data, then the nearer.
    #[inline]
    pub(super) fn choose(
        self,
        cx: Cx<'_>,
        one: Option<RequestId>,
        two: Option<RequestId>,
    ) -> Option<RequestId> {
        let (Some(first), Some(second)) = (one, two) else { return one.or(two) };
        let (a, b) = (&cx[first], &cx[second]);
        let second_wins = if a.sync != b.sync {
            b.sync
        } else if a.metadata != b.metadata {
            b.metadata
        } else {
            better(self.back, self.head, b.start, a.start)
        };
        if second_wins { two } else { one }
    }
}

impl core::ops::Index<Index> for Queues {
    type Output = Queue;
    #[inline]
    fn index(&self, index: Index) -> &Queue {
        debug_assert!(index != NIL);
        &self.queues[index as usize]
    }
}

impl core::ops::IndexMut<Index> for Queues {
    #[inline]
    fn index_mut(&mut self, index: Index) -> &mut Queue {
        &mut self.queues[index as usize]
    }
}
