//! Slices: who has the disk, until when, and whether its process is waited for.

use super::Cfq;
use super::order::Given;
use super::processes::{SHORT_WAIT, Who};
use super::queues::Index;
use super::reasons::{End, Ended, NoWait};
use crate::scheduler::Cx;
use crate::units::{Duration, Instant};

/// Linux's `CFQ_HW_QUEUE_MIN`: so many requests in the device at once show that it has a queue.
const DEEP: u64 = 5;
/// So many looks at a busy device make an estimate.
const LOOKS: u32 = 50;

/// The queue that has the disk.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slice {
    pub(super) queue: Index,
    /// When its time is over. It begins with the first completion.
    pub(super) end: Option<Instant>,
    /// Requests that went in it.
    pub(super) sent: u64,
    /// It was looked at whether the oldest is overdue.
    pub(super) looked: bool,
    /// A request that was waited for has come; it goes even if the time is over by then.
    pub(super) owed: bool,
    /// Who issued the first request that went. Held.
    pub(super) process: Option<Who>,
    pub(super) wait: Option<Wait>,
    /// Why its process was not waited for when a request was done, if it was not.
    pub(super) no_wait: NoWait,
}

/// A wait for the next request of a slice.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wait {
    pub(super) until: Instant,
    /// The time has passed, but nobody else wanted the disk.
    pub(super) over: bool,
    length: Duration,
}

impl Slice {
    fn of(queue: Index) -> Slice {
        let (end, process, wait, no_wait) = (None, None, None, NoWait::NotDone);
        Slice { queue, end, sent: 0, looked: false, owed: false, process, wait, no_wait }
    }

    /// Its time is over.
    #[inline]
    pub(super) fn used(&self, now: Instant) -> bool {
        self.end.is_some_and(|end| now >= end)
    }
}

/// Whether the device has a queue of its own, judged by how many requests it held at once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Depth {
    looks: u32,
    most: u64,
    queues: bool,
}

impl Depth {
    /// It has one, until that is known better.
    pub(super) fn new() -> Depth {
        Depth { looks: 0, most: 0, queues: true }
    }

    #[inline]
    pub(super) fn queues(&self) -> bool {
        self.queues
    }

    /// A request is done. Before that so many were in flight; so many wait.
    #[inline]
    pub(super) fn look(&mut self, in_flight: u64, waiting: u64) {
        self.most = self.most.max(in_flight);
        if waiting <= DEEP && in_flight <= DEEP {
            return;
        }
        self.looks += 1;
        if self.looks > LOOKS {
            *self = Depth { looks: 0, most: 0, queues: self.most >= DEEP };
        }
    }
}

impl Cfq {
    #[inline]
    pub(super) fn given(&self) -> Given<'_> {
        let active = self.active.as_ref().map(|active| active.queue);
        Given { queues: &self.queues, settings: &self.settings, busy: self.busy, active }
    }

    /// The key that `index` gets now.
    #[inline]
    pub(super) fn key_now(&self, index: Index, now: Instant) -> u64 {
        self.order.key(self.given(), index, now)
    }

    /// The queue `index`, which waits in order or is the one that had the disk last, has it now.
    #[inline]
    pub(super) fn activate(&mut self, index: Index) {
        self.order.remove(index);
        self.active = Some(Slice::of(index));
    }

    /// Takes the disk from the queue that has it. If `keep_rest`, what is left of its time, or what it
    /// took too much, counts for its next key.
    pub(super) fn expire(&mut self, cx: Cx<'_>, end: End, keep_rest: bool) {
        let Some(Slice { queue: index, end: over, process, .. }) = self.active else { return };
        self.ended = Some(Ended::new(end, &self.queues[index]));
        if let Some(over) = over.filter(|_| keep_rest) {
            self.queues[index].rest = (over.0 as i64).saturating_sub(cx.now.0 as i64);
        }
        if !self.queues[index].is_empty() {
            self.set_key(cx.now, index);
            self.order.insert(self.queues[index].key, index);
        }
        self.active = None;
        if let Some(who) = process {
            self.release(who.place);
        }
        self.tidy(index);
    }

    /// Gives the queue `index`, which has requests, the key of now.
    #[inline]
    pub(super) fn set_key(&mut self, now: Instant, index: Index) {
        let key = self.key_now(index, now);
        (self.queues[index].key, self.queues[index].rest) = (key, 0);
    }

    /// Lets the timer end the wait, if its time has come. Calls do that first, so that it does not
    /// matter whether the host asked at that very time.
    #[inline]
    pub(super) fn catch_up(&mut self, cx: Cx<'_>) {
        if let Some(active) = &mut self.active
            && let Some(wait) = &mut active.wait
            && !wait.over
            && cx.now >= wait.until
        {
            wait.over = true;
            let (length, index) = (wait.length, active.queue);
            let used = active.used(wait_end(active));
            if used || self.busy > 0 && self.queues[index].is_empty() {
                self.expire(cx, End::Waited(length), false);
            }
        }
    }

    /// A request of the queue that has the disk is done, and it has no more: its process is waited for,
    /// unless something speaks against it.
    pub(super) fn begin_wait(&mut self, cx: Cx<'_>) {
        let Some(mut active) = self.active else { return };
        match self.wait_for(cx, &active) {
            Ok(length) => active.wait = Some(Wait { until: cx.now + length, over: false, length }),
            Err(why) => active.no_wait = why,
        }
        self.active = Some(active);
    }

    /// How long the process whose slice it is may be waited for.
    fn wait_for(&self, cx: Cx<'_>, active: &Slice) -> Result<Duration, NoWait> {
        let queue = &self.queues[active.queue];
        let wait = self.settings.slice_idle.0;
        let thought = |who: Who| self.processes[who.place].mean_thought();
        if !cx.device.rotational && self.depth.queues() {
            return Err(NoWait::NoSeeks);
        }
        if wait == Duration::ZERO || !queue.worth_waiting {
            return Err(NoWait::NotWorth(active.process.map_or(Duration::ZERO, thought)));
        }
        let in_flight = self.in_flight[0] + self.in_flight[1];
        if in_flight > 0 {
            return Err(NoWait::InFlight(in_flight));
        }
        let there = active.process.filter(|who| self.processes[who.place].is(*who));
        let Who { place, .. } = there.ok_or(NoWait::Gone)?;
        let left = active.end.map_or(Duration::ZERO, |end| end.since(cx.now));
        if let Some(mean) = self.processes[place].reliable_thought()
            && mean > left
        {
            return Err(NoWait::ThinksLong { mean, left });
        }
        Ok(if queue.surely_seeky() { wait.min(SHORT_WAIT) } else { wait })
    }
}

/// When the wait of `active` ends.
fn wait_end(active: &Slice) -> Instant {
    active.wait.map_or(Instant::MAX, |wait| wait.until)
}
