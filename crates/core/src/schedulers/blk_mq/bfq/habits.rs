//! Habits of those who issue into a queue: think time, seekiness, and whether they mostly wait for the device.

use super::rate;
use crate::request::{Class, Request};
use crate::scheduler::Cx;
use crate::schedulers::shared::means::{HALF, decayed};
use crate::units::{Duration, Instant, Sector};

/// Of a queue's last 32 requests more than this have to be far from the one before, for it to be seeky.
const SEEKY: u32 = 19;
/// Think times count from when their samples weigh more than this.
const SAMPLES: u64 = 80;
/// Linux looks at shares of idle time over this time.
const INTENSITY: Duration = Duration::from_ms(200);
/// A process has come back in time within this multiple of the time that is idled.
const IN_TIME: u64 = 3;

/// The habits of one queue.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Habits {
    samples: u64,
    total: u64,
    pub(super) mean: Duration,
    /// When its last request was done.
    pub(super) done: Instant,
    /// Whether think times count as short.
    pub(super) short: bool,
    io_bound: bool,
    busy_from: Instant,
    idle_time: Duration,
    /// One bit for each of the last requests: 1 if that was far from the one before; and how many are.
    seeks: u32,
    far: u32,
    last_end: Sector,
}

impl Habits {
    /// A queue that is new `now`, synchronous or not.
    pub(super) fn new(now: Instant, sync: bool, class: Class) -> Habits {
        let (done, short) = (now + Duration(1), sync && class != Class::Idle);
        Habits { done, short, io_bound: true, busy_from: now, seeks: 1, far: 1, ..Habits::default() }
    }

    /// A request arrives while there is nothing to do and nothing in flight: what was thought?
    pub(super) fn note_thought(&mut self, now: Instant, slice_idle: Duration) {
        let elapsed = now.since(self.done).min(slice_idle * 2);
        self.samples = decayed(self.samples, 1);
        self.total = decayed(self.total, elapsed.0);
        self.mean = Duration((self.total + HALF) / self.samples);
    }

    /// A request arrives: is it far from the one before?
    pub(super) fn note_seek(&mut self, cx: Cx<'_>, request: &Request) {
        let length = u64::from(request.length.0);
        let far = u32::from(rate::seeks(cx.device.rotational, self.last_end, request.start, length));
        self.far = self.far + far - (self.seeks >> 31);
        self.seeks = self.seeks << 1 | far;
        self.last_end = request.end();
    }

    /// A request arrives, while nothing waited and nothing was in flight if it was `idle`: is the process mostly
    /// waiting for the device? For a new queue there is no answer yet.
    pub(super) fn note_intensity(&mut self, now: Instant, idle: bool, new: bool) {
        let whole = now.since(self.busy_from);
        if idle {
            self.idle_time += now.since(self.done);
        }
        if new {
            return;
        }
        self.io_bound = self.idle_time * 5 <= whole;
        if whole > INTENSITY {
            self.busy_from = now - whole / 2;
            self.idle_time = self.idle_time / 2;
        }
    }

    /// Whether think times are known to be longer than half the time that is idled.
    pub(super) const fn is_long(&self, slice_idle: Duration) -> bool {
        self.samples > SAMPLES && self.mean.0 > slice_idle.0 / 2
    }

    /// Whether a request that arrives now came soon enough after the last was done.
    pub(super) fn in_time(&self, now: Instant, slice_idle: Duration) -> bool {
        now <= self.done + slice_idle * IN_TIME
    }

    pub(super) const fn is_seeky(&self) -> bool {
        self.far > SEEKY
    }

    /// Whether all requests that are remembered were far from the one before.
    pub(super) const fn only_seeks(&self) -> bool {
        self.far == u32::BITS
    }

    /// Processes that issued here issue into the queue of `joined` from now on.
    pub(super) const fn pass_to(&mut self, joined: &mut Habits) {
        joined.io_bound |= self.io_bound;
        self.io_bound = false;
    }

    /// The queue streams, and whoever issues into it asks for more soon.
    pub(super) const fn streams(&self) -> bool {
        !self.is_seeky() && self.io_bound && self.short
    }
}
