//! The event engine: virtual time, one queue, one device, one workload.
//!
//! A request's route: workload, or trace and `replay` → `overflow` → core's `Host` and `Queue` → scheduler → `tags` → disk
//! model → `metrics/recorder` → `metrics/report` → cli's `report/summary` → `report/table`.
//!
//! Each step goes to the earliest of four times: the device finishes something, a process exits, the
//! workload issues something, the scheduler asked to be asked. At one instant things happen in this
//! order: completions, exits and arrivals, and after each kind a dispatch. So a process that issues its next
//! request "at once" after a completion still comes too late for the decision at that completion,
//! as it does on a real machine.
//!
//! What has no room in the queue waits before it: everything when all ids are in use, or else those kinds of
//! requests of which the scheduler wants no more.

pub mod decision_log;
pub mod director;
mod error;
pub mod exits;
mod flushes;
mod observer;
mod overflow;
pub mod scheduled;
mod tags;
pub mod timeline;
pub mod watched;
mod workload;

use std::sync::atomic::Ordering;

use idlewise_core::{
    Admission, Decision, Host, Instant, Operation, Request, RequestId, Scheduler, Sector, Sectors,
};
use idlewise_disk::{Command, Completion, DiskModel, News};

pub use error::EngineError;

use director::Director;
use exits::Exits;
use flushes::Flushes;
pub use observer::{Control, Observer};
use overflow::Overflow;
use tags::Tags;
pub use workload::Workload;

/// How often the engine tells [`Control`] how far it is, in completions: a few hundred times a second, which costs nothing.
const CONTROL_INTERVAL: u64 = 4096;

/// How often the engine looks whether it is to stop, in steps. A step may be a scheduler that wants to be asked again, and completes
/// nothing.
const STOP_INTERVAL: u64 = 256;

/// A whole run in [`Control::millionths`].
pub const WHOLE_RUN: u64 = 1_000_000;

/// When a run ends, besides the workload's own end.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Nothing is issued after this time.
    pub until: Instant,
    /// Nothing is issued after this many requests.
    pub requests: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { until: Instant::MAX, requests: u64::MAX }
    }
}

/// One run in progress.
pub struct Engine<'a, W: ?Sized, S, D, O, C = ()> {
    workload: &'a mut W,
    /// The queue, and the director that may switch its scheduler.
    host: &'a mut Host<S, C>,
    device: &'a mut D,
    observer: &'a mut O,
    limits: Limits,
    now: Instant,
    issued: u64,
    completed: u64,
    in_flight: u32,
    /// Of the device's hardware queues.
    tags: Tags,
    exits: Exits,
    /// What was issued and has no room in the queue.
    overflow: Overflow,
    /// When the scheduler wants to be asked again; [`Instant::MAX`] if it does not.
    wake: Instant,
    /// The requests that want the device flushed.
    flushes: Flushes,
    /// The observer is told of every decision.
    explained: bool,
}

impl<'a, W: Workload + ?Sized, S: Scheduler, D: DiskModel, O: Observer, C: Director<S>>
    Engine<'a, W, S, D, O, C>
{
    /// A run that begins at time zero.
    pub fn new(
        workload: &'a mut W,
        host: &'a mut Host<S, C>,
        device: &'a mut D,
        observer: &'a mut O,
        limits: Limits,
    ) -> Self {
        let (now, tags) = (Instant::ZERO, Tags::new(device.depth(), host.queue().device().hardware_queues));
        let overflow = Overflow::new(host.queue().requests().capacity());
        Engine {
            workload,
            host,
            device,
            observer,
            limits,
            now,
            issued: 0,
            completed: 0,
            in_flight: 0,
            tags,
            exits: Exits::default(),
            overflow,
            wake: Instant::MAX,
            flushes: Flushes::default(),
            explained: false,
        }
    }

    /// The observer is told of every decision and its reason.
    #[must_use]
    pub fn explained(mut self) -> Self {
        self.host.parts().0.explain();
        self.explained = true;
        self
    }

    /// Runs until the workload ends, a limit is reached or `control` says stop, and everything
    /// issued is done. Returns the time of the end.
    pub fn run(mut self, control: &Control) -> Result<Instant, EngineError> {
        let (mut reported, mut done, mut steps) = (0, 0, 0_u64);
        let mut arrival = self.next_arrival();
        loop {
            steps += 1;
            if steps.is_multiple_of(STOP_INTERVAL) && control.stop.load(Ordering::Relaxed) {
                self.limits.requests = 0;
                arrival = self.next_arrival();
            }
            let completion = self.device.next_event().unwrap_or(Instant::MAX);
            let exit = self.exits.next();
            let soonest = completion.min(arrival).min(self.wake).min(exit);
            if soonest == Instant::MAX && !self.host.follower().holds() {
                break;
            }
            self.now = self.now.max(soonest.min(self.host.follower().next()));
            let arrives = arrival <= self.now;
            if completion <= self.now && self.finish_commands()? {
                self.ask()?;
                arrival = self.next_arrival();
                if self.completed - reported >= CONTROL_INTERVAL {
                    control.completed.fetch_add(self.completed - reported, Ordering::Relaxed);
                    reported = self.completed;
                    let now_done = self.millionths().max(done);
                    control.millionths.fetch_add(now_done - done, Ordering::Relaxed);
                    done = now_done;
                }
            }
            if exit <= self.now && self.exit()? {
                self.dispatch()?;
            }
            if self.host.follower().next() <= self.now || self.host.follower().holds() {
                if self.direct()? {
                    self.dispatch()?;
                }
                arrival = self.next_arrival();
            }
            if self.overflow.len() > 0 && !self.host.follower().holds() && self.enter()? {
                self.dispatch()?;
                arrival = self.next_arrival();
            }
            let issued = self.issued;
            if arrives && !self.host.follower().holds() {
                arrival = self.admit()?;
            }
            if self.issued > issued || self.wake <= self.now || self.workload.asks() {
                self.ask()?;
            }
        }
        control.completed.fetch_add(self.completed - reported, Ordering::Relaxed);
        control.millionths.fetch_add(WHOLE_RUN - done, Ordering::Relaxed);
        let waiting = self.host.queue().requests().capacity() - self.host.queue().requests().free_count()
            + self.overflow.len();
        if waiting > 0 {
            return Err(EngineError::Stuck { now: self.now, waiting });
        }
        Ok(self.now)
    }

    /// Asks the scheduler, or comes back when the workload has it asked.
    #[inline]
    fn ask(&mut self) -> Result<(), EngineError> {
        let at = self.workload.asked_at(self.now, &mut self.exits);
        if at <= self.now {
            return self.dispatch();
        }
        self.wake = at;
        Ok(())
    }

    /// About how many millionths of the run are done.
    #[cold]
    fn millionths(&self) -> u64 {
        let of_requests = self.completed as f64 / self.limits.requests as f64;
        let of_time = self.now.0 as f64 / self.limits.until.0 as f64;
        let own = self.workload.share_done(self.now).unwrap_or(0.0);
        (own.max(of_requests).max(of_time).clamp(0.0, 1.0) * WHOLE_RUN as f64) as u64
    }

    /// When the next request can enter the queue; [`Instant::MAX`] if none may.
    #[inline]
    fn next_arrival(&mut self) -> Instant {
        let full = self.host.parts().0.any_free().is_none() || self.overflow.is_full();
        if self.issued >= self.limits.requests || full || self.host.follower().holds() {
            return Instant::MAX;
        }
        self.workload.next().filter(|at| *at <= self.limits.until).unwrap_or(Instant::MAX)
    }

    /// Takes what the device has finished; true if there was something.
    #[inline]
    fn finish_commands(&mut self) -> Result<bool, EngineError> {
        let now = self.now;
        let mut any = false;
        while self.in_flight > 0
            && let Some(completion) = self.device.advance(now)
        {
            any = true;
            self.in_flight -= 1;
            let id = RequestId(completion.tag);
            if self.flushes.owns(id) {
                self.flushed(&completion)?;
                continue;
            }
            self.observer.served(now, id, &completion);
            let request = self.host.queue().request(id);
            if request.durable.before {
                self.flushes.written();
            }
            let held = self.tags.give_back(request);
            self.complete(id, completion.at.since(completion.started).0)?;
            if let Some(held) = held {
                self.submit_held(held)?;
            }
        }
        Ok(any)
    }

    /// The request `id` is done with all its parts. The device served it for `service` ns.
    #[inline(always)]
    fn complete(&mut self, id: RequestId, service: u64) -> Result<(), EngineError> {
        let now = self.now;
        let total = u64::from(self.host.queue().request(id).length.0).max(1);
        for part in self.host.queue().requests().parts(id) {
            let request = self.host.queue().requests().original(part);
            let share = if request.length.0 as u64 == total {
                service
            } else {
                service / total * request.length.0 as u64
            };
            self.observer.completed(now, part, request, share);
            self.workload.completed(now, self.overflow.done(part), &mut self.exits);
            self.completed += 1;
        }
        self.host.complete(now, id).map_err(|error| EngineError::Host { now, error })
    }

    /// Tells the scheduler who has exited by now; true if somebody has.
    #[cold]
    #[inline(never)]
    fn exit(&mut self) -> Result<bool, EngineError> {
        let now = self.now;
        let mut any = false;
        while let Some(who) = self.exits.take(now) {
            any = true;
            self.host.exited(now, who).map_err(|error| EngineError::Host { now, error })?;
            self.device.tell(now, News::Exited(who));
        }
        Ok(any)
    }

    /// Lets the director have the queue; true if the scheduler is another one now.
    #[cold]
    fn direct(&mut self) -> Result<bool, EngineError> {
        let now = self.now;
        let (queue, director) = self.host.parts();
        director.direct(now, queue).map_err(|error| EngineError::Switch { now, error })
    }

    /// Puts what is issued by now into the queue, as far as there is room.
    /// Returns when the next one can enter.
    #[inline]
    fn admit(&mut self) -> Result<Instant, EngineError> {
        let now = self.now;
        loop {
            let Some(id) = self.host.parts().0.any_free() else { return Ok(Instant::MAX) };
            if !self.workload.ready(now, &mut self.exits) {
                return Ok(self.next_arrival());
            }
            if self.overflow.len() == 0 && self.host.queue().admission() == Admission::ALL {
                let request = self.workload.issue(id);
                self.insert(id, request)?;
            } else {
                let name = self.overflow.name();
                let request = self.workload.issue(name);
                self.overflow.join(name, request);
                self.enter()?;
            }
            self.issued += 1;
            let next = self.next_arrival();
            if next > now {
                return Ok(next);
            }
        }
    }

    /// Puts `request` into the queue.
    #[inline]
    fn insert(&mut self, id: RequestId, request: Request) -> Result<(), EngineError> {
        let now = self.now;
        self.observer.arrived(now, id, &request);
        self.host.insert_as(now, id, request).map_err(|error| EngineError::Host { now, error })?;
        Ok(())
    }

    /// Lets in who has room, of those in the overflow; true if somebody had.
    #[inline(never)]
    fn enter(&mut self) -> Result<bool, EngineError> {
        let mut any = false;
        while self.overflow.len() > 0
            && let Some(id) = self.host.parts().0.any_free()
            && let Some(held) = self.overflow.enter(self.host.queue().admission(), id)
        {
            any = true;
            self.insert(id, held.request)?;
        }
        Ok(any)
    }

    /// Tells the observer of a decision.
    #[cold]
    fn tell(&mut self, decision: Decision) {
        let request = match decision {
            Decision::Dispatch(id) => Some(self.host.queue().request(id)),
            Decision::WaitUntil(_) | Decision::Idle => None,
        };
        self.observer.decided(self.now, decision, request, self.host.queue().why());
    }

    /// Sends the device what the scheduler gives, as long as it has room.
    #[inline(always)]
    fn dispatch(&mut self) -> Result<(), EngineError> {
        self.wake = Instant::MAX;
        if self.tags.any() { self.fill() } else { Ok(()) }
    }

    /// Sends `id`, which was held back until now, to the device.
    #[cold]
    fn submit_held(&mut self, id: RequestId) -> Result<(), EngineError> {
        self.submit(id)
    }

    /// Sends `id`, which has a tag, to the device; instead of it the flush, if `id` is its owner.
    #[inline(always)]
    fn submit(&mut self, id: RequestId) -> Result<(), EngineError> {
        self.in_flight += 1;
        if self.flushes.owns(id) {
            return self.send_flush(id);
        }
        self.observer.dispatched(self.now, id);
        self.tell_sent(id);
        let request = self.host.queue().request(id);
        let Request { operation, start, length, durable, .. } = *request;
        let command = Command { tag: id.0, operation, start, length, fua: durable.itself };
        let submitted = self.device.submit_for(self.now, command, request);
        submitted.map_err(|error| EngineError::Device { now: self.now, error })
    }

    #[inline(always)]
    fn tell_sent(&mut self, id: RequestId) {
        let now = self.now;
        self.workload.dispatched(now, self.overflow.name_of(id));
        self.host.parts().1.dispatched(now, id);
    }

    /// Sends a flush, under the tag of its owner `id`.
    #[cold]
    fn send_flush(&mut self, id: RequestId) -> Result<(), EngineError> {
        let now = self.now;
        let (operation, start, length) = (Operation::Flush, Sector(0), Sectors(0));
        let flush = Command { tag: id.0, operation, start, length, fua: false };
        self.device.submit(now, flush).map_err(|error| EngineError::Device { now, error })
    }

    /// The device has done a flush. Requests that wanted nothing else are done; the engine sends the writes behind the flush next.
    #[cold]
    fn flushed(&mut self, completion: &Completion) -> Result<(), EngineError> {
        let owner = RequestId(completion.tag);
        let held = self.tags.give_back(self.host.queue().request(owner));
        let (writes, flushes): (Vec<_>, Vec<_>) =
            self.flushes.end().into_iter().partition(|id| self.host.queue().request(*id).durable.before);
        writes.into_iter().for_each(|id| self.flushes.send(id));
        if let Some(first) = flushes.first() {
            self.observer.served(self.now, *first, completion);
        }
        let service = completion.at.since(completion.started).0;
        for id in &flushes {
            self.complete(*id, service / flushes.len() as u64)?;
        }
        held.map_or(Ok(()), |held| self.submit_held(held))
    }

    /// Sends the next write behind a flush, or the next flush. Returns false if neither may be sent now.
    #[cold]
    fn flush(&mut self) -> Result<bool, EngineError> {
        let mut next = self.flushes.ready();
        if next.is_none() {
            let whose = self.flushes.begin().to_vec();
            let only = |id: &&RequestId| !self.host.queue().request(**id).durable.before;
            let only: Vec<RequestId> = whose.iter().filter(only).copied().collect();
            // The device gets one command. The observer knows it by the first flush that shares it.
            if let Some(first) = only.first() {
                self.observer.dispatched(self.now, *first);
            }
            only.into_iter().for_each(|id| self.tell_sent(id));
            next = whose.first().copied();
        }
        let Some(id) = next else { return Ok(false) };
        if self.tags.take(id, self.host.queue().request(id)) {
            self.submit(id)?;
        }
        Ok(true)
    }

    /// Sends the device, which has room, what the scheduler gives.
    fn fill(&mut self) -> Result<(), EngineError> {
        let now = self.now;
        while self.tags.any() {
            if !self.flushes.idle() && self.flush()? {
                continue;
            }
            let decision =
                self.host.parts().0.dispatch(now).map_err(|error| EngineError::Host { now, error })?;
            if self.explained {
                self.tell(decision);
            }
            match decision {
                Decision::Dispatch(id) => {
                    let request = self.host.queue().request(id);
                    if Flushes::wanted(request) {
                        self.flushes.join(id);
                    } else if !self.tags.take(id, request) {
                        break;
                    } else {
                        self.submit(id)?;
                    }
                }
                Decision::WaitUntil(until) => {
                    if self.in_flight == 0 {
                        self.observer.waits(now, until);
                    }
                    self.wake = until;
                    break;
                }
                Decision::Idle => break,
            }
        }
        Ok(())
    }
}
