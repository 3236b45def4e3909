//! The queues: one for each process's synchronous requests, and the asynchronous ones by priority.
//!
//! A queue has its requests by address and in order of arrival, and knows the best place to continue.

use alloc::vec::Vec;

use super::cooperation::{Cooperation, Next};
use super::settings::Settings;
use crate::collections::{Fifos, Forest, List, OutOfMemory, Tree, table};
use crate::request::{Class, Priority, Request};
use crate::scheduler::Cx;
use crate::schedulers::shared::means::Mean;
use crate::schedulers::shared::nearer::better;
use crate::units::{Instant, Issuer, RequestId, Sector};
use crate::why::Fact;

/// Which queue.
pub(super) type Index = u32;

/// Levels in a class.
const LEVELS: usize = 8;
/// Asynchronous queues: one for each level of two classes, and one for the idle class.
const SHARED: usize = 2 * LEVELS + 1;
/// Linux's `CFQQ_SEEK_THR`, in sectors: who seeks further on average is seeky.
const SEEKY: u64 = 8 * 1024;

/// What a queue is for.
#[derive(Clone, Copy)]
pub(super) struct Kind {
    pub(super) sync: bool,
    pub(super) class: Class,
    pub(super) level: u8,
}

impl Kind {
    /// Of requests of this priority.
    #[inline]
    pub(super) fn new(sync: bool, Priority { class, level }: Priority) -> Kind {
        let lowest = LEVELS as u8 - 1;
        Kind { sync, class, level: if class == Class::Idle { lowest } else { level.min(lowest) } }
    }

    pub(super) fn is_idle_class(self) -> bool {
        self.class == Class::Idle
    }
}

/// One queue.
#[derive(Clone)]
pub(super) struct Queue {
    pub(super) kind: Kind,
    /// Whose it was when it was made.
    pub(super) who: Issuer,
    by_address: Tree,
    by_arrival: List,
    /// The best of its requests to continue with, as far as is known.
    pub(super) next: Option<RequestId>,
    /// The queue's requests that are metadata.
    metadata: u32,
    /// The queue's requests in flight.
    pub(super) in_flight: u64,
    /// What was left of its last slice in nanoseconds, until it gets a new key; less than 0 if it overran.
    pub(super) residual: i64,
    /// The queue's process may be waited for.
    pub(super) idle_window: bool,
    seek: Mean,
    /// Where the last request that was inserted ends. 0: there was none.
    position: Sector,
}

impl Queue {
    fn new(sync: bool, priority: Priority, who: Issuer) -> Queue {
        let kind = Kind::new(sync, priority);
        Queue {
            kind,
            who,
            by_address: Tree::default(),
            by_arrival: List::default(),
            next: None,
            metadata: 0,
            in_flight: 0,
            residual: 0,
            idle_window: sync && !kind.is_idle_class(),
            seek: Mean::default(),
            position: Sector(0),
        }
    }

    pub(super) fn set_priority(&mut self, priority: Priority) {
        self.kind = Kind::new(self.kind.sync, priority);
        self.idle_window &= !self.kind.is_idle_class();
    }

    /// What to call it: what it is, and its process or level.
    pub(super) fn name(&self) -> [Fact; 2] {
        let kind = match (self.kind.sync, self.kind.class) {
            (true, _) => return [Fact::Word("process"), self.who.into()],
            (_, Class::RealTime) => "async real-time level",
            (_, Class::BestEffort) => "async level",
            (_, Class::Idle) => "async idle level",
        };
        [Fact::Word(kind), u64::from(self.kind.level).into()]
    }

    pub(super) fn is_empty(&self) -> bool {
        self.by_arrival.is_empty()
    }

    /// Who came first.
    pub(super) fn oldest(&self) -> Option<RequestId> {
        self.by_arrival.front()
    }

    pub(super) fn has_metadata(&self) -> bool {
        self.metadata > 0
    }

    pub(super) fn seeky(&self) -> bool {
        self.seek.mean() > SEEKY
    }

    /// The queue is known to seek far.
    pub(super) fn surely_seeky(&self) -> bool {
        self.seek.reliable().is_some_and(|mean| mean > SEEKY)
    }

    /// How far from the head a request is close for this queue.
    pub(super) fn reach(&self) -> u64 {
        self.seek.reliable().unwrap_or(SEEKY)
    }

    #[inline]
    fn learn(&mut self, request: &Request) {
        // Linux takes 0 for no position, too.
        let seek = if self.position == Sector(0) { 0 } else { request.start.distance(self.position) };
        self.seek.enter_seek(seek);
        self.position = request.end();
    }
}

/// All queues, their requests, and the settings by which they are served.
pub(super) struct Queues {
    pub(super) settings: Settings,
    queues: Vec<Queue>,
    free: Vec<Index>,
    cooperation: Cooperation,
    /// Queues that have requests.
    busy: usize,
    /// Requests in them.
    waiting: u64,
    forest: Forest,
    /// Each with when it is overdue.
    fifos: Fifos<Instant>,
}

impl Queues {
    /// For request ids below `capacity`, and as many queues of processes as `own`.
    pub(super) fn new(capacity: usize, own: usize, settings: Settings) -> Result<Queues, OutOfMemory> {
        let nobody = Queue::new(true, Priority::default(), Issuer::UNKNOWN);
        let mut queues = table(SHARED + own, nobody)?;
        for (index, queue) in queues.iter_mut().enumerate().take(SHARED) {
            let class = [Class::RealTime, Class::BestEffort, Class::Idle][index / LEVELS];
            let level = (index % LEVELS) as u8;
            *queue = Queue::new(false, Priority { class, level }, Issuer::UNKNOWN);
        }
        let mut free = table(own, 0)?;
        for (at, index) in free.iter_mut().enumerate() {
            *index = (SHARED + own - 1 - at) as Index;
        }
        Ok(Queues {
            settings,
            cooperation: Cooperation::new(queues.len())?,
            queues,
            free,
            busy: 0,
            waiting: 0,
            forest: Forest::new(capacity)?,
            fifos: Fifos::new(capacity)?,
        })
    }

    /// How many queues there are.
    pub(super) fn len(&self) -> usize {
        self.queues.len()
    }

    /// How many have requests.
    pub(super) fn busy(&self) -> usize {
        self.busy
    }

    /// How many requests wait.
    pub(super) fn waiting(&self) -> u64 {
        self.waiting
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

    /// A new queue for the process that issues `request`.
    pub(super) fn open(&mut self, request: &Request) -> Index {
        let Some(index) = self.free.pop() else { panic!("there are more queues than processes") };
        self[index] = Queue::new(true, request.priority, request.issuer);
        self.cooperation.open(index);
        index
    }

    /// The queue for `request`, whose process has used `own`. `active` has the disk.
    #[inline]
    pub(super) fn next_for(
        &mut self,
        now: Instant,
        own: Index,
        request: &Request,
        active: Option<Index>,
    ) -> Index {
        match self.cooperation.next(now, own) {
            Next::Same => own,
            Next::Own => {
                self[own].who = request.issuer;
                own
            }
            Next::Other(target) => {
                self.tidy(own, active);
                target
            }
            Next::New => {
                self.leave(own, active);
                self.open(request)
            }
        }
    }

    /// The processes of one of the two are to use the queue of the other.
    pub(super) fn join(&mut self, index: Index, other: Index) {
        self.cooperation.join(index, other);
    }

    /// A process gives up `index`, and with it the queues that it was to use instead.
    pub(super) fn leave(&mut self, index: Index, active: Option<Index>) {
        let mut at = Some(index);
        while let Some(index) = at {
            at = self.cooperation.leave(index);
            self.tidy(index, active);
        }
    }

    /// Closes the queue if nobody uses it and it has nothing to do; `active` has the disk.
    #[inline]
    pub(super) fn tidy(&mut self, index: Index, active: Option<Index>) {
        if !self.cooperation.abandoned(index) {
            return;
        }
        let queue = &self[index];
        if queue.is_empty() && queue.in_flight == 0 && active != Some(index) {
            debug_assert!(index as usize >= SHARED);
            self.free.push(index);
        }
    }

    pub(super) fn due(&self, id: RequestId) -> Instant {
        self.fifos.mark(id)
    }

    /// `id` is inserted into `index`. True if that had no requests.
    #[inline]
    pub(super) fn insert(&mut self, cx: Cx<'_>, id: RequestId, index: Index, head: Sector) -> bool {
        let (request, queue) = (&cx[id], &mut self.queues[index as usize]);
        let was_empty = queue.is_empty();
        self.busy += usize::from(was_empty);
        self.waiting += 1;
        let due = request.arrival + self.settings.expire(request.sync);
        self.fifos.push(&mut queue.by_arrival, id, due);
        self.forest.insert(&mut queue.by_address, request.start.0, id);
        queue.metadata += u32::from(request.metadata);
        queue.next = choose(cx, &self.settings, head, queue.next, Some(id));
        queue.learn(request);
        self.cooperation.seeks(cx.now, index, queue.seeky());
        was_empty
    }

    /// Takes `id` out of its queue. True if that has no more requests.
    #[inline]
    pub(super) fn remove(&mut self, cx: Cx<'_>, id: RequestId, index: Index, head: Sector) -> bool {
        let queue = &mut self.queues[index as usize];
        if queue.by_arrival.len() == 1 {
            queue.next = None;
        } else if queue.next == Some(id) {
            let before = self.forest.previous(id);
            let first = || self.forest.first(&queue.by_address).filter(|first| *first != id);
            let behind = self.forest.next(id).or_else(first);
            queue.next = choose(cx, &self.settings, head, before, behind);
        }
        self.fifos.remove(&mut queue.by_arrival, id);
        self.forest.remove(&mut queue.by_address, id);
        queue.metadata -= u32::from(cx[id].metadata);
        self.waiting -= 1;
        self.busy -= usize::from(queue.is_empty());
        queue.is_empty()
    }

    /// The address of `id` may be another: then it may be a better place to continue than the one known.
    pub(super) fn rekey(&mut self, cx: Cx<'_>, id: RequestId, index: Index, head: Sector) {
        if self.forest.key(id) != cx[id].start.0 {
            let queue = &mut self.queues[index as usize];
            self.forest.remove(&mut queue.by_address, id);
            self.forest.insert(&mut queue.by_address, cx[id].start.0, id);
            queue.next = choose(cx, &self.settings, head, queue.next, Some(id));
        }
    }

    /// If `other`, of the same queue, is due earlier, `survivor` gets its time and its place.
    pub(super) fn inherit(&mut self, survivor: RequestId, other: RequestId, index: Index) {
        self.fifos.inherit(&mut self.queues[index as usize].by_arrival, survivor, other);
    }
}

/// The better of two requests to continue with from `head`, where ties go to the first: metadata before data, then
/// the nearer.
#[inline]
fn choose(
    cx: Cx<'_>,
    settings: &Settings,
    head: Sector,
    one: Option<RequestId>,
    two: Option<RequestId>,
) -> Option<RequestId> {
    let (Some(first), Some(second)) = (one, two) else { return one.or(two) };
    let (a, b) = (&cx[first], &cx[second]);
    let nearer = || better(settings.back(), head, b.start, a.start);
    let second_wins = if a.metadata == b.metadata { nearer() } else { b.metadata };
    if second_wins { two } else { one }
}

impl core::ops::Index<Index> for Queues {
    type Output = Queue;
    fn index(&self, index: Index) -> &Queue {
        &self.queues[index as usize]
    }
}

impl core::ops::IndexMut<Index> for Queues {
    fn index_mut(&mut self, index: Index) -> &mut Queue {
        &mut self.queues[index as usize]
    }
}
