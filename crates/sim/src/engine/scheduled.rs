//! A disk below a queue and a scheduler of its own, as one device: a member of an md array.
//!
//! What the array sends is a request here. The queue merges neighbours and the scheduler orders them, as Linux does it below
//! md. The order at one instant is the engine's: first what the disk has finished, then a dispatch. What a scheduler does
//! not admit waits inside: md's bios wait nowhere else.

use std::collections::VecDeque;

use idlewise_core::{AnyScheduler, Decision, Instant, Operation, Queue, Request, RequestId, Sector};
use idlewise_disk::{Command, Completion, DiskModel, News, SubmitError};

/// A disk, its queue and its scheduler.
pub struct Scheduled<D> {
    queue: Queue<AnyScheduler>,
    disk: D,
    /// Commands that the disk has.
    in_flight: u32,
    /// Commands that were not handed back.
    outstanding: u32,
    /// By id in the queue: what the host calls it.
    tags: Vec<u32>,
    /// What is done, and was not handed back.
    finished: VecDeque<Completion>,
    /// When the scheduler wants to be asked again.
    wake: Instant,
}

impl<D: DiskModel> Scheduled<D> {
    /// `disk` below `queue`, which was made for it and is empty.
    pub fn new(queue: Queue<AnyScheduler>, disk: D) -> Scheduled<D> {
        let tags = vec![0; queue.requests().capacity()];
        let finished = VecDeque::new();
        Scheduled { queue, disk, in_flight: 0, outstanding: 0, tags, finished, wake: Instant::MAX }
    }

    /// Requests that were merged into others.
    pub fn merges(&self) -> u64 {
        self.queue.merges()
    }

    /// Takes what the disk has finished by `now`, and asks the scheduler where something may have changed.
    fn bring(&mut self, now: Instant) {
        let mut asks = self.wake <= now;
        while self.in_flight > 0
            && let Some(done) = self.disk.advance(now)
        {
            self.in_flight -= 1;
            let id = RequestId(done.tag);
            for part in self.queue.requests().parts(id) {
                self.finished.push_back(Completion { tag: self.tags[part.index()], ..done });
            }
            accepted(self.queue.complete(now, id));
            asks = true;
        }
        if asks {
            self.dispatch(now);
        }
    }

    /// Sends the disk what the scheduler gives, as long as it has room.
    fn dispatch(&mut self, now: Instant) {
        self.wake = Instant::MAX;
        while self.in_flight < self.disk.depth() {
            match accepted(self.queue.dispatch(now)) {
                Decision::Dispatch(id) => {
                    let request = self.queue.request(id);
                    let Request { operation, start, length, durable, .. } = *request;
                    let command = Command { tag: id.0, operation, start, length, fua: durable.itself };
                    self.in_flight += 1;
                    accepted(self.disk.submit_for(now, command, request));
                }
                Decision::WaitUntil(until) => {
                    self.wake = until;
                    return;
                }
                Decision::Idle => return,
            }
        }
    }
}

/// What came of a call that cannot fail: the array sends no more than the queue holds, nothing beyond the disk's end, and
/// its time does not go back.
fn accepted<T, E: std::fmt::Display>(outcome: Result<T, E>) -> T {
    outcome.unwrap_or_else(|error| unreachable!("a member of an array: {error}"))
}

impl<D: DiskModel> DiskModel for Scheduled<D> {
    fn capacity(&self) -> Sector {
        self.disk.capacity()
    }

    /// As many as the queue holds.
    fn depth(&self) -> u32 {
        self.queue.requests().capacity() as u32
    }

    fn rotational(&self) -> bool {
        self.disk.rotational()
    }

    fn remembers(&self) -> bool {
        self.disk.remembers()
    }

    fn positioning_curve(&self, points: usize) -> Vec<(u64, idlewise_core::Duration)> {
        self.disk.positioning_curve(points)
    }

    fn submit(&mut self, now: Instant, command: Command) -> Result<(), SubmitError> {
        self.submit_for(now, command, &Request::default())
    }

    fn submit_for(&mut self, now: Instant, command: Command, request: &Request) -> Result<(), SubmitError> {
        if self.outstanding >= self.depth() {
            return Err(SubmitError::Full { depth: self.depth() });
        }
        self.bring(now);
        let Command { tag, operation, start, length, fua } = command;
        let mut own = Request { operation, start, length, ..*request };
        // Flushes go past schedulers. Who waits for a write waits for what is read for it, too.
        own.past |= operation == Operation::Flush;
        own.sync |= operation == Operation::Read;
        own.durable.before = false;
        own.durable.itself = fua;
        self.outstanding += 1;
        let id = accepted(self.queue.insert(now, own)).id();
        self.tags[id.index()] = tag;
        self.dispatch(now);
        Ok(())
    }

    fn tell(&mut self, now: Instant, news: News) {
        self.bring(now);
        match news {
            News::Exited(who) => {
                accepted(self.queue.issuer_gone(now, who));
                self.dispatch(now);
            }
            News::Weight(who, weight) => accepted(self.queue.set_weight(now, who, weight)),
        }
    }

    fn next_event(&self) -> Option<Instant> {
        if self.outstanding == 0 {
            return None;
        }
        let disk = if self.in_flight > 0 { self.disk.next_event() } else { None };
        let finished = self.finished.front().map(|done| done.at);
        let wake = (self.wake != Instant::MAX).then_some(self.wake);
        [disk, finished, wake].into_iter().flatten().min()
    }

    fn advance(&mut self, now: Instant) -> Option<Completion> {
        if self.finished.is_empty() {
            self.bring(now);
        }
        let done = self.finished.pop_front()?;
        self.outstanding -= 1;
        Some(done)
    }
}
