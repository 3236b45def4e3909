//! The contract between a scheduler and its host.
//!
//! | method | the caller guarantees | the scheduler must |
//! |---|---|---|
//! | `insert` | the request waits and was not inserted before | remember it |
//! | `dispatch` | the device has room | return a waiting request, once; or say when to ask again |
//! | `complete` | the request was dispatched, by this scheduler or one before it | – |
//! | `remove` | the request waits | forget it |
//! | `grown` | the request waits; its extent is already the larger one | re-key it |
//! | `absorbed` | both wait; the survivor is already grown | forget the other |
//! | `inherit` | – | take this for known of the device, and learn on |
//!
//! `now` never decreases. See ARCHITECTURE.md for the invariants by name.

use alloc::boxed::Box;
use core::ops::Index;

use crate::admission::DepthLimit;
use crate::collections::OutOfMemory;
use crate::device::Device;
use crate::learned::Learned;
use crate::request::{Priority, Request};
use crate::request_table::Table;
use crate::tunables::{Tunables, Unit};
use crate::units::{Duration, Instant, Issuer, RequestId, Weight};
use crate::why::{Fact, Notes};

/// What a scheduler sees when it is called: the time, the requests, the device.
#[derive(Clone, Copy)]
pub struct Cx<'a> {
    /// The time of this call.
    pub now: Instant,
    /// All requests in the queue.
    pub requests: &'a Table,
    /// The device below.
    pub device: &'a Device,
    /// Where to leave the reason for a decision, if the host wants to know.
    notes: Option<&'a Notes>,
}

impl<'a> Cx<'a> {
    /// What the queue shows its scheduler.
    #[inline]
    pub(crate) fn new(
        now: Instant,
        requests: &'a Table,
        device: &'a Device,
        notes: Option<&'a Notes>,
    ) -> Cx<'a> {
        Cx { now, requests, device, notes }
    }

    /// The same at another time.
    #[inline]
    pub(crate) fn at(self, now: Instant) -> Cx<'a> {
        Cx { now, ..self }
    }

    /// The same without anybody who wants reasons: what is looked at and not decided.
    #[inline]
    pub(crate) fn silent(self) -> Cx<'a> {
        Cx { notes: None, ..self }
    }

    /// Where reasons go.
    #[inline]
    pub(crate) fn notes(&self) -> Option<&'a Notes> {
        self.notes
    }

    /// The decision of this call is made because of `text`, with a fact in place of each `{}`.
    #[inline]
    pub fn because<const N: usize>(&self, text: &'static str, facts: impl FnOnce() -> [Fact; N]) {
        if let Some(notes) = self.notes {
            notes.put(text, facts);
        }
    }

    /// Before the reason of this call's decision: why another one, that was considered, is not made.
    #[inline]
    pub fn rather<const N: usize>(&self, text: &'static str, facts: impl FnOnce() -> [Fact; N]) {
        if let Some(notes) = self.notes {
            notes.put_first(text, facts);
        }
    }

    /// The weight of `who`, as the host has set it.
    #[inline]
    pub fn weight(&self, who: Issuer) -> Weight {
        self.requests.weight(who)
    }

    /// How long `id` has been waiting.
    #[inline]
    pub fn age(&self, id: RequestId) -> Duration {
        self.now.since(self[id].arrival)
    }
}

impl Index<RequestId> for Cx<'_> {
    type Output = Request;
    #[inline]
    fn index(&self, id: RequestId) -> &Request {
        &self.requests[id]
    }
}

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Send this request to the device.
    Dispatch(RequestId),
    /// Nothing yet, though requests may wait: ask again at this time, or after any event.
    WaitUntil(Instant),
    /// Nothing, and nothing changes before the next event.
    Idle,
}

/// A scheduler: decides which waiting request the device gets next, and when.
pub trait Scheduler {
    /// A request has arrived.
    fn insert(&mut self, cx: Cx<'_>, id: RequestId);

    /// The device has room: what now? A request that is returned is no longer the scheduler's.
    ///
    /// A call that yields nothing changes no later decision.
    fn dispatch(&mut self, cx: Cx<'_>) -> Decision;

    /// The device has finished a request, which an earlier scheduler may have dispatched.
    fn complete(&mut self, _cx: Cx<'_>, _id: RequestId) {}

    /// A waiting request is withdrawn: cancelled, or handed to another scheduler.
    fn remove(&mut self, cx: Cx<'_>, id: RequestId);

    /// A merge has made a waiting request larger, at its front or back.
    fn grown(&mut self, _cx: Cx<'_>, _id: RequestId) {}

    /// `survivor` has taken in `other`: two waiting requests that a merge made neighbours. The
    /// survivor has grown and has the earlier of the two arrival times.
    fn absorbed(&mut self, cx: Cx<'_>, survivor: RequestId, other: RequestId) {
        self.remove(cx, other);
        self.grown(cx, survivor);
    }

    /// A process has exited and will issue nothing more.
    fn issuer_gone(&mut self, _cx: Cx<'_>, _who: Issuer) {}

    /// A request that an earlier scheduler dispatched is still in flight.
    fn adopt(&mut self, _cx: Cx<'_>, _id: RequestId) {}

    /// Whether requests that end where a waiting one begins are looked for.
    fn front_merges(&self) -> bool {
        true
    }

    /// Whether `new` may become part of the waiting request `id`, which it touches.
    fn may_merge(&self, _cx: Cx<'_>, _id: RequestId, _new: &Request) -> bool {
        true
    }

    /// What the scheduler has learned of the device, for the next one.
    fn learned(&self) -> Option<&Learned> {
        None
    }

    /// This is known of the device, whatever the scheduler has learned.
    fn inherit(&mut self, _learned: &Learned) {}

    /// How much of a queue of `size` requests may be of which kind, until the next event.
    fn depth_limit(&self, _size: usize) -> DepthLimit {
        DepthLimit::NONE
    }
}

/// Implements [`Scheduler`] for what passes calls on. `$call!(self, method, arguments…)` says where each goes. A
/// method that is missing in this list is an error of clippy's.
macro_rules! delegate {
    ([$($generics:tt)*] $kind:ty, $call:ident) => {
        #[deny(clippy::missing_trait_methods)]
        impl<$($generics)*> $crate::scheduler::Scheduler for $kind {
            #[inline]
            fn insert(&mut self, cx: $crate::Cx<'_>, id: $crate::RequestId) {
                $call!(self, insert, cx, id)
            }
            #[inline]
            fn dispatch(&mut self, cx: $crate::Cx<'_>) -> $crate::Decision {
                $call!(self, dispatch, cx)
            }
            #[inline]
            fn complete(&mut self, cx: $crate::Cx<'_>, id: $crate::RequestId) {
                $call!(self, complete, cx, id)
            }
            fn remove(&mut self, cx: $crate::Cx<'_>, id: $crate::RequestId) {
                $call!(self, remove, cx, id)
            }
            fn grown(&mut self, cx: $crate::Cx<'_>, id: $crate::RequestId) {
                $call!(self, grown, cx, id)
            }
            fn absorbed(&mut self, cx: $crate::Cx<'_>, survivor: $crate::RequestId, other: $crate::RequestId) {
                $call!(self, absorbed, cx, survivor, other)
            }
            fn issuer_gone(&mut self, cx: $crate::Cx<'_>, who: $crate::Issuer) {
                $call!(self, issuer_gone, cx, who)
            }
            fn adopt(&mut self, cx: $crate::Cx<'_>, id: $crate::RequestId) {
                $call!(self, adopt, cx, id)
            }
            #[inline]
            fn front_merges(&self) -> bool {
                $call!(self, front_merges)
            }
            #[inline]
            fn may_merge(&self, cx: $crate::Cx<'_>, id: $crate::RequestId, new: &$crate::Request) -> bool {
                $call!(self, may_merge, cx, id, new)
            }
            fn learned(&self) -> Option<&$crate::learned::Learned> {
                $call!(self, learned)
            }
            fn inherit(&mut self, learned: &$crate::learned::Learned) {
                $call!(self, inherit, learned)
            }
            #[inline]
            fn depth_limit(&self, size: usize) -> $crate::admission::DepthLimit {
                $call!(self, depth_limit, size)
            }
        }
    };
}
pub(crate) use delegate;

macro_rules! boxed {
    ($boxed:ident, $method:ident $(, $argument:ident)*) => { (**$boxed).$method($($argument),*) };
}
// For hosts that have schedulers of their own, which no list names.
delegate!(['a] Box<dyn Scheduler + 'a>, boxed);

/// A scheduler that has something to do whenever requests wait, and can say what without doing it.
///
/// Anticipation is built on that: it looks at the request that would be next, and may rather wait.
pub trait Policy: Scheduler {
    /// The request that [`dispatch`](Scheduler::dispatch) would return now.
    fn select(&self, cx: Cx<'_>) -> Option<RequestId>;

    /// Gives out `id`, which `select` has named and which still waits.
    fn take(&mut self, cx: Cx<'_>, id: RequestId);

    /// What [`dispatch`](Scheduler::dispatch) does: selects and takes.
    #[inline]
    fn serve(&mut self, cx: Cx<'_>) -> Decision {
        let Some(id) = self.select(cx) else { return Decision::Idle };
        self.take(cx, id);
        Decision::Dispatch(id)
    }
}

/// What a scheduler is built for.
#[derive(Clone, Copy)]
pub struct Setup<'a> {
    /// Request ids are below this.
    pub capacity: usize,
    /// The device below.
    pub device: &'a Device,
}

/// How long a request can be passed over, as a scheduler promises it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Starvation {
    /// For ever: there are arrivals that keep some request waiting without end.
    Unbounded,
    /// Once a request has waited for `after`, at most `per_waiting` × (requests that wait at that
    /// moment) + `plus` other requests go first.
    Bounded {
        /// How long a request waits before the promise holds.
        after: Duration,
        /// Requests that may still go first, for each that waits then.
        per_waiting: u64,
        /// Requests that may go first besides.
        plus: u64,
    },
    /// At most as many other requests go first as this many full queues hold.
    FullQueues(u64),
}

/// What an I/O priority gives: what it is called, how much, and in which unit.
pub type PriorityEffects = [Option<(&'static str, u64, Unit)>; 3];

/// A scheduler that the registry can name, describe and build.
pub trait Algorithm: Scheduler + Sized {
    /// The scheduler's name in commands, files and reports.
    const NAME: &'static str;
    /// What it is, in a sentence.
    const SUMMARY: &'static str;
    /// Where its rules come from.
    const SOURCE: &'static str;
    /// The scheduler's settings.
    type Tunables: Tunables;

    /// Builds it. Only here does it allocate.
    ///
    /// # Errors
    /// [`OutOfMemory`].
    fn new(setup: Setup<'_>, tunables: Self::Tunables) -> Result<Self, OutOfMemory>;

    /// The scheduler's settings change while it runs.
    fn tune(&mut self, tunables: Self::Tunables);

    /// What an I/O priority gives its process, under these settings: what it is called, how much, and in
    /// which unit. Classes are not in it, where one goes before the other whatever is there.
    fn priority_effects(_: &Self::Tunables, _: Priority) -> PriorityEffects {
        PriorityEffects::default()
    }

    /// How long a request can be passed over, under these settings.
    fn starvation(tunables: &Self::Tunables) -> Starvation;
}
