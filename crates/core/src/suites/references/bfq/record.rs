//! What the slow reference for `bfq` keeps of one queue, all of it together.

use crate::request::{Class, Request};
use crate::scheduler::Cx;
use crate::schedulers::blk_mq::bfq::processes::Ref;
use crate::schedulers::blk_mq::bfq::raise::Raise;
use crate::schedulers::blk_mq::bfq::rate::{self, SHORT};
use crate::schedulers::shared::means::{HALF, decayed};
use crate::units::{Duration, Instant, RequestId, Sector};

/// Of a queue's last 32 requests more than this have to be far from the one before, for it to be seeky.
const SEEKY: u32 = 19;
/// Think times count from when their samples weigh more than this.
const SAMPLES: u64 = 80;
/// Linux looks at shares of idle time over this time.
const INTENSITY: Duration = Duration::from_ms(200);

/// How long a queue's process thinks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Thought {
    samples: u64,
    total: u64,
    pub(super) mean: u64,
    /// When its last request was done.
    pub(super) since: Instant,
}

impl Thought {
    fn enter(&mut self, elapsed: Duration) {
        self.samples = decayed(self.samples, 1);
        self.total = decayed(self.total, elapsed.0);
        self.mean = (self.total + HALF) / self.samples;
    }

    /// Whether it is known to think longer than half the time that is idled.
    pub(super) const fn is_long(&self, slice_idle: Duration) -> bool {
        self.samples > SAMPLES && self.mean > slice_idle.0 / 2
    }
}

/// Whose request another queue waits for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Waker {
    pub(super) known: Option<Ref>,
    pub(super) suspect: Option<Ref>,
    pub(super) seen: u32,
    pub(super) since: Instant,
    /// The queue that was last found, or made busy, that this one wakes.
    pub(super) woken: Option<Ref>,
}

/// How many requests of others may go while it is waited for, and what that is learnt from.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Inject {
    pub(super) limit: u32,
    /// What a request takes if no others go: Linux's `last_serv_time_ns`.
    pub(super) alone: Duration,
    pub(super) lowered: Option<Instant>,
}

/// How one request of the queue in service is watched, to learn from it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Watch {
    /// When the watched request came.
    pub(super) since: Instant,
    pub(super) for_dispatch: bool,
    /// The watched request, once it has been dispatched.
    pub(super) request: Option<RequestId>,
    /// Others went while it was waited for.
    pub(super) injected: bool,
}

/// One queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Queue {
    pub(super) life: u32,
    /// Processes that issue into it.
    pub(super) users: u32,
    pub(super) in_flight: u32,
    /// Since it is in service, it was looked at whether its oldest request is overdue.
    pub(super) fifo_looked: bool,
    pub(super) max_budget: u64,
    /// When its time is over; once it has nothing more to do, when that was. `None`: long ago.
    pub(super) timeout: Option<Instant>,
    /// The queue emptied before its budget and time were over.
    pub(super) waited: bool,
    pub(super) created: bool,
    pub(super) thought: Thought,
    pub(super) thinks_little: bool,
    pub(super) io_bound: bool,
    pub(super) busy_from: Instant,
    pub(super) idle_time: Duration,
    pub(super) seeks: u32,
    pub(super) last_end: Sector,
    pub(super) raise: Raise,
    pub(super) inject: Inject,
    pub(super) waker: Waker,
    /// When its process issued its first synchronous request.
    pub(super) born: Instant,
    /// Others issue into it, too.
    pub(super) shared: bool,
    /// The sharing is to end.
    pub(super) splits: bool,
    /// When its process came back to it.
    pub(super) split: Option<Instant>,
}

impl Queue {
    pub(super) fn new(now: Instant, sync: bool, class: Class) -> Queue {
        Queue {
            life: 0,
            users: 0,
            in_flight: 0,
            fifo_looked: false,
            max_budget: 0,
            timeout: None,
            waited: false,
            created: sync,
            thought: Thought { samples: 0, total: 0, mean: 0, since: now + Duration(1) },
            thinks_little: sync && class != Class::Idle,
            io_bound: true,
            busy_from: now,
            idle_time: Duration::ZERO,
            seeks: 1,
            last_end: Sector(0),
            raise: Raise::new(now),
            inject: Inject::default(),
            waker: Waker::default(),
            born: now,
            shared: false,
            splits: false,
            split: None,
        }
    }

    pub(super) const fn is_raised(&self) -> bool {
        self.raise.is_on()
    }

    pub(super) const fn is_seeky(&self) -> bool {
        self.seeks.count_ones() > SEEKY
    }

    /// A request arrives while it is `busy` or not: what did its process think?
    pub(super) fn note_thought(&mut self, now: Instant, busy: bool, slice_idle: Duration) {
        if self.in_flight == 0 && !busy {
            self.thought.enter(now.since(self.thought.since).min(slice_idle * 2));
        }
    }

    /// A request arrives: is it far from the one before?
    pub(super) fn note_seek(&mut self, cx: Cx<'_>, request: &Request) {
        let length = u64::from(request.length.0);
        let far = rate::seeks(cx.device.rotational, self.last_end, request.start, length);
        self.seeks = self.seeks << 1 | u32::from(far);
    }

    /// A request arrives, and is not yet among those that wait: is the process mostly waiting for the
    /// disk?
    pub(super) fn note_intensity(&mut self, now: Instant, empty: bool) {
        let whole = now.since(self.busy_from);
        if empty && self.in_flight == 0 {
            self.idle_time += now.since(self.thought.since);
        }
        if self.created {
            return;
        }
        self.io_bound = self.idle_time * 5 <= whole;
        if whole > INTENSITY {
            self.busy_from = now - whole / 2;
            self.idle_time = self.idle_time / 2;
        }
    }

    /// How long it is waited for.
    pub(super) fn idles_for(&self, slice_idle: Duration, differs: bool) -> Duration {
        if self.is_seeky() && !self.is_raised() && !differs {
            slice_idle.min(SHORT)
        } else if self.is_raised() {
            slice_idle.max(Duration::from_ms(20))
        } else {
            slice_idle
        }
    }
}
