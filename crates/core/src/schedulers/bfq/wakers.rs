//! Wakers: queues after whose completions another one issues, because its process waits for theirs.

use alloc::vec::Vec;

use super::processes::{Processes, Ref};
use crate::collections::{OutOfMemory, table};
use crate::units::{Duration, Instant};

/// Linux's times: a request so soon after another's completion may wait for it; so often for a waker; and in so
/// many times the time that is idled.
const SOON: Duration = Duration::from_ms(4);
const DETECTIONS: u32 = 3;
const DETECTION_SLICES: u64 = 128;

/// What is known of one queue.
#[derive(Clone, Copy, Default)]
struct Waker {
    known: Option<Ref>,
    suspect: Option<Ref>,
    seen: u32,
    since: Instant,
    /// The queue that was last found, or made busy, that this one wakes.
    woken: Option<Ref>,
}

/// The wakers of all queues.
pub(super) struct Wakers {
    queues: Vec<Waker>,
    /// Whose request was done last, if that is one process's.
    last_completed: Option<Ref>,
}

impl Wakers {
    pub(super) fn new(queues: usize) -> Result<Wakers, OutOfMemory> {
        Ok(Wakers { queues: table(queues, Waker::default())?, last_completed: None })
    }

    /// `queue` is another's from now on.
    pub(super) fn replace(&mut self, queue: usize) {
        self.queues[queue] = Waker::default();
    }

    /// A request was done, of this queue if that is one process's.
    pub(super) const fn note_done(&mut self, queue: Option<Ref>) {
        self.last_completed = queue;
    }

    /// A request of a process that has no other, and may wait for others, has come to `queue`, after the last
    /// completion.
    pub(super) fn suspect(
        &mut self,
        now: Instant,
        processes: &Processes,
        queue: usize,
        last_completion: Option<Instant>,
        slice_idle: Duration,
    ) {
        let Some(other) = self.last_completed.filter(|other| other.queue != queue) else { return };
        let soon = last_completion.is_some_and(|at| now.since(at) < SOON);
        if !soon || processes.alive(Some(other)).is_none() {
            return;
        }
        let waker = &mut self.queues[queue];
        if waker.suspect == Some(other) && now <= waker.since + slice_idle * DETECTION_SLICES {
            waker.seen += 1;
        } else {
            *waker = Waker { suspect: Some(other), seen: 1, since: now, ..*waker };
        }
        if waker.seen == DETECTIONS {
            self.learn(processes, queue, other);
        }
    }

    /// `waker` wakes `queue`.
    fn learn(&mut self, processes: &Processes, queue: usize, waker: Ref) {
        (self.queues[queue].known, self.queues[queue].suspect) = (Some(waker), None);
        self.queues[waker.queue].woken = Some(processes.reference(queue));
    }

    /// `queue` becomes busy: if another one wakes it, that is noted there.
    pub(super) fn note_busy(&mut self, processes: &Processes, queue: usize) {
        if let Some(waker) = processes.alive(self.queues[queue].known) {
            self.queues[waker].woken = Some(processes.reference(queue));
        }
    }

    /// The queue that wakes `queue`.
    pub(super) fn waker(&self, processes: &Processes, queue: usize) -> Option<usize> {
        processes.alive(self.queues[queue].known)
    }

    /// The queue that `queue` wakes.
    pub(super) fn woken(&self, processes: &Processes, queue: usize) -> Option<usize> {
        let woken = processes.alive(self.queues[queue].woken);
        woken.filter(|woken| self.queues[*woken].known == Some(processes.reference(queue)))
    }

    /// Those who issued into `queue` issue into `host` from now on.
    pub(super) fn pass(&mut self, processes: &Processes, queue: usize, host: usize) {
        let known = self.queues[queue].known.filter(|waker| waker.queue != host);
        if let Some(waker) = known
            && processes.alive(known).is_some()
            && self.queues[host].known.is_none()
        {
            self.learn(processes, host, waker);
        }
    }
}
