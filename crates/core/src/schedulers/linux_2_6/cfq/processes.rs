//! Processes: how long they think, which queue is theirs, and what becomes of it when they exit.

use super::Cfq;
use super::queues::{Index, reliable};
use super::reasons::End;
use crate::collections::Place;
use crate::request::Priority;
use crate::scheduler::Cx;
use crate::schedulers::shared::means::{Mean, ticks};
use crate::units::{Duration, Instant, RequestId, Sector};

/// Linux's `CFQ_MIN_TT`: the longest wait for a process that seeks.
pub(super) const SHORT_WAIT: Duration = Duration::from_ms(2);

/// What is known of one process.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Process {
    /// It has issued a request since it began, or since its number was given to another.
    known: bool,
    exited: bool,
    /// How many processes had its number while it was kept here.
    life: u32,
    priority: Priority,
    /// The queue of its synchronous requests.
    pub(super) queue: Option<Index>,
    /// When it began to think: when its last synchronous request was done, or it issued its first one.
    pub(super) done: Instant,
    thought: Mean,
}

/// One process, and none that has its number later.
#[derive(Clone, Copy, Debug)]
pub(super) struct Who {
    pub(super) place: Place,
    life: u32,
}

impl Process {
    /// How long it thinks on average: whole ticks.
    #[inline]
    pub(super) fn mean_thought(&self) -> Duration {
        ticks(self.thought.mean())
    }

    /// The same, if enough is known to rely on it.
    #[inline]
    pub(super) fn reliable_thought(&self) -> Option<Duration> {
        reliable(&self.thought).map(ticks)
    }

    /// It is still the one that `who` was, and has not exited.
    #[inline]
    pub(super) fn is(&self, who: Who) -> bool {
        !self.exited && self.life == who.life
    }

    /// It will issue nothing more.
    pub(super) fn exit(&mut self) {
        self.exited = true;
    }

    #[inline]
    pub(super) fn priority(&self) -> Priority {
        self.priority
    }

    /// It issues a request.
    #[inline]
    fn issues(&mut self, now: Instant, longest: Duration) {
        self.thought.enter_thought(now.since(self.done).min(longest));
    }
}

impl Cfq {
    /// Where the process that issues `id` is kept. It is held once more.
    #[inline]
    pub(super) fn enter_process(&mut self, cx: Cx<'_>, id: RequestId) -> Who {
        let request = &cx[id];
        if self.processes.find(request.issuer).is_none()
            && let Some(place) = self.processes.next_to_go()
        {
            self.leave(cx, place);
        }
        let place = self.processes.enter(request.issuer);
        self.processes.hold(place);
        let process = &mut self.processes[place];
        if !process.known || process.exited {
            let (life, priority) = (process.life.wrapping_add(1), request.priority);
            *process = Process { known: true, life, priority, done: cx.now, ..Process::default() };
        }
        if process.priority != request.priority {
            process.priority = request.priority;
            if let Some(own) = process.queue {
                self.queues[own].set_priority(request.priority);
            }
        }
        Who { place, life: process.life }
    }

    /// Ends one hold. Nobody remembers a process that has exited and has nothing here any more.
    #[inline]
    pub(super) fn release(&mut self, place: Place) {
        self.processes.release(place);
        if self.processes[place].exited {
            self.processes.forget(self.processes.who(place));
        }
    }

    /// The process at `place` gives up its queue: it has exited, or is forgotten. That ends its slice.
    pub(super) fn leave(&mut self, cx: Cx<'_>, place: Place) {
        let Some(own) = self.processes[place].queue.take() else { return };
        if self.active.as_ref().is_some_and(|active| active.queue == own) {
            self.expire(cx, End::Exited, false);
        }
        self.unuse(own);
    }

    /// What the process at `place` has issued, `id`, tells of it and of its queue `index`.
    #[inline]
    pub(super) fn learn(&mut self, cx: Cx<'_>, id: RequestId, index: Index, place: Place) {
        let wait = self.settings.slice_idle.0;
        let process = &mut self.processes[place];
        process.issues(cx.now, wait * 2);
        let thought = process.reliable_thought();
        let queue = &mut self.queues[index];
        // Linux takes 0 for no position, too.
        let seek = if queue.position == Sector(0) { 0 } else { cx[id].start.distance(queue.position) };
        queue.seek.enter_seek(seek);
        if queue.shared {
            queue.seeky_since = queue.seeky().then(|| queue.seeky_since.unwrap_or(cx.now));
        }
        queue.position = cx[id].end();
        if !queue.sync || queue.is_idle_class() {
            return;
        }
        let seeks_in_vain = !self.settings.low_latency && self.depth.queues() && queue.seeky();
        if wait == Duration::ZERO || seeks_in_vain {
            queue.worth_waiting = false;
        } else if let Some(thought) = thought {
            let longest = if queue.surely_seeky() { SHORT_WAIT } else { wait };
            queue.worth_waiting = thought <= longest;
        }
    }
}
