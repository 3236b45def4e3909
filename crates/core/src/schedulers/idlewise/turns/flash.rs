//! State and decisions of `turns` on devices without moving heads: sends reads at once, and limits writes so that reads stay fast.

use super::classes::Others;
use super::next::Next;
use super::overdue::Overdue;
use super::settings::{READS, Settings};
use super::waiting::{Class, Waiting, is_async, may_merge};
use super::write_limit::{ASYNC, SYNC, WriteLimits};
use crate::collections::{OutOfMemory, TryBox, table};
use crate::request::{self, Operation, Request};
use crate::scheduler::{Cx, Decision, Scheduler, Setup};
use crate::schedulers::shared::head::Head;
use crate::units::{Instant, RequestId};
use alloc::vec::Vec;

/// All parts.
pub(super) struct Flash {
    waiting: TryBox<Waiting>,
    /// By id, of those in flight: since when.
    sent: Vec<Instant>,
    /// Writes in flight, by kind.
    writes: [usize; 2],
    /// Where the last request ends: writes go upward from there.
    head: Head,
    write_limits: WriteLimits,
    others: Others,
    /// Reads that have gone since a write that somebody waits for did.
    reads: u64,
    overdue: Overdue,
    pub(super) tunables: Settings,
}

impl Flash {
    /// In memory of its own and not inlined, so that it takes little of the stack, of which a kernel has little.
    #[inline(never)]
    pub(super) fn new(setup: Setup<'_>, tunables: Settings) -> Result<TryBox<Self>, OutOfMemory> {
        let room = TryBox::room()?;
        room.keep(Flash {
            waiting: Waiting::new(setup.capacity)?,
            sent: table(setup.capacity, Instant::ZERO)?,
            writes: [0; 2],
            head: Head::default(),
            write_limits: WriteLimits::default(),
            others: Others::default(),
            reads: 0,
            overdue: Overdue::default(),
            tunables,
        })
    }

    /// What is next of the usual class, or of the idle class.
    fn choose(&self, cx: Cx<'_>) -> Next {
        let [read, write] = self.waiting.oldest_sync();
        let may = write.filter(|_| self.admits(cx, SYNC));
        if let Some(id) = may.filter(|_| self.reads >= READS).or(read).or(may) {
            cx.because("somebody waits for it, and nothing turns", || []);
            return Next::Send(id);
        }
        match self.waiting.first_write(cx, &self.head, &self.tunables) {
            Some(id) if self.admits(cx, ASYNC) => {
                cx.because("a write beside {} in flight: reads bear {}", || {
                    [(self.writes[ASYNC] as u64).into(), self.write_limits.limit(ASYNC).into()]
                });
                Next::Send(id)
            }
            None if write.is_none() => self.others.idle(cx, self.waiting.next_idle(&self.head)),
            _ => {
                let kind = if write.is_some() { SYNC } else { ASYNC };
                cx.because("as many writes are in flight as reads bear: {}", || {
                    [self.write_limits.limit(kind).into()]
                });
                Next::Hold
            }
        }
    }

    /// Whether another write of this `kind` may go.
    #[inline]
    fn admits(&self, cx: Cx<'_>, kind: usize) -> bool {
        self.write_limits.admits(cx.now, kind, self.writes[kind])
    }

    /// Which limit is for `id`, of `class`, if any.
    #[inline]
    fn limit_of(cx: Cx<'_>, id: RequestId, class: Class) -> Option<usize> {
        match class {
            Class::Async => Some(ASYNC),
            Class::Pool if cx[id].operation != Operation::Read => Some(SYNC),
            _ => None,
        }
    }

    /// The answer to a dispatch where requests of several kinds wait.
    #[inline(never)]
    fn weigh(&mut self, cx: Cx<'_>) -> Decision {
        let oldest = self.waiting.oldest(cx);
        if oldest.or(self.waiting.oldest_idle()).is_none() {
            return Decision::Idle;
        }
        let urgent = self.waiting.next_urgent(cx, &self.head);
        let next = urgent.unwrap_or_else(|| self.choose(cx));
        match self.overdue.or(cx, next, &self.waiting, oldest, urgent.is_some(), &self.tunables) {
            Next::Send(id) | Next::Begin(id, _) => {
                let class = self.waiting.class(id);
                self.waiting.take(cx, id, class);
                self.goes(cx, id, class, oldest == Some(id));
                Decision::Dispatch(id)
            }
            Next::Wait(until) => Decision::WaitUntil(until),
            Next::Hold | Next::Round => {
                let due = oldest.map(|id| cx[id].arrival + self.tunables.expire());
                due.filter(|due| *due > cx.now).map_or(Decision::Idle, Decision::WaitUntil)
            }
        }
    }

    /// `id`, of `class`, goes to the device. `oldest`: nothing that is not of the idle class has waited for longer.
    #[inline(always)]
    fn goes(&mut self, cx: Cx<'_>, id: RequestId, class: Class, oldest: bool) {
        self.overdue.goes(cx, id, class, oldest, &self.tunables);
        match (class, cx[id].operation) {
            (Class::Async, _) => {}
            (_, Operation::Read) => self.reads += 1,
            _ => self.reads = 0,
        }
        self.others.sends(class);
        self.sent[id.index()] = cx.now;
        if let Some(kind) = Self::limit_of(cx, id, class) {
            self.writes[kind] += 1;
        }
        self.head.goes_to(&cx[id]);
    }
}

impl Scheduler for Flash {
    fn insert(&mut self, cx: Cx<'_>, id: RequestId) {
        let class = match cx[id].priority.class {
            request::Class::RealTime => Class::Urgent,
            request::Class::Idle => Class::Idle,
            request::Class::BestEffort if is_async(&cx[id]) => Class::Async,
            request::Class::BestEffort => Class::Pool,
        };
        self.waiting.insert(cx, id, class);
    }

    #[inline]
    fn dispatch(&mut self, cx: Cx<'_>) -> Decision {
        // Most often nothing is to be weighed: the oldest is next, overdue or not.
        let alike = if self.admits(cx, SYNC) { self.waiting.take_alike() } else { None };
        let Some(id) = alike else { return self.weigh(cx) };
        cx.because("somebody waits for it, and nothing turns", || []);
        self.goes(cx, id, Class::Pool, true);
        Decision::Dispatch(id)
    }

    fn complete(&mut self, cx: Cx<'_>, id: RequestId) {
        let class = self.waiting.class(id);
        if let Some(kind) = Self::limit_of(cx, id, class) {
            self.writes[kind] -= 1;
            self.write_limits.written(kind, cx[id].length);
        } else if cx[id].operation == Operation::Read {
            self.write_limits.read(cx.now, cx.now.since(self.sent[id.index()]), self.writes);
        }
        self.others.completes(cx.now, class);
    }

    fn remove(&mut self, cx: Cx<'_>, id: RequestId) {
        let class = self.waiting.class(id);
        self.waiting.take(cx, id, class);
    }

    fn grown(&mut self, cx: Cx<'_>, id: RequestId) {
        self.waiting.grown(cx, id);
    }

    fn absorbed(&mut self, cx: Cx<'_>, survivor: RequestId, other: RequestId) {
        self.waiting.inherit(cx, survivor, other);
        self.grown(cx, survivor);
        self.remove(cx, other);
    }

    fn adopt(&mut self, cx: Cx<'_>, id: RequestId) {
        self.sent[id.index()] = cx.now;
        if let Some(kind) = Self::limit_of(cx, id, Class::Pool) {
            self.writes[kind] += 1;
        }
        self.others.sends(Class::Pool);
        self.waiting.pools(id);
    }

    fn may_merge(&self, cx: Cx<'_>, id: RequestId, new: &Request) -> bool {
        may_merge(&cx[id], new)
    }
}
