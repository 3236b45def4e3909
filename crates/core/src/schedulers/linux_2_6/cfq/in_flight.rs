//! What is in flight, and what follows from that: whether a queue may send one more request, and whether
//! its process may be waited for.
//!
//! A queue has an idle window while its process is worth waiting for.

use super::processes::{Process, Processes, Who};
use super::queues::{Index, Queues};
use super::settings::Settings;
use super::slice::{NoWait, Slice};
use crate::scheduler::Cx;
use crate::units::{Duration, Instant};

/// What a queue that is alone may have in flight, in quanta, where the device has seeks.
const ALONE: u64 = 4;
/// Linux's `CFQ_HW_QUEUE_MIN`: this many requests in the device at once show that the device has a queue.
const DEEP: u64 = 5;
/// Looks at a busy device that make an estimate.
const LOOKS: u32 = 50;
/// Linux's `CFQ_MIN_TT`: the longest wait for a process that seeks.
const SHORT_WAIT: Duration = Duration::from_ms(2);

/// Why a queue may not send a request now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hold {
    /// Asynchronous requests in flight, for which the queue has to wait.
    AsyncInFlight(u64),
    /// Synchronous requests in flight, for which an asynchronous queue has to wait.
    SyncInFlight(u64),
    /// Requests of the queue in flight, which are enough.
    Enough(u64),
    /// Synchronous requests were done too shortly ago: until then.
    Ramp(Instant),
}

/// The requests in flight.
pub(super) struct InFlight {
    /// Asynchronous and synchronous ones.
    counts: [u64; 2],
    /// When a synchronous request was last done; before that, when the first request came.
    last_sync: Option<Instant>,
    /// The device has a queue of its own, judged by how many requests it held at most when looked at.
    device_queues: bool,
    looks: u32,
    most: u64,
}

impl InFlight {
    /// The device has a queue, until that is known better.
    pub(super) fn new() -> InFlight {
        InFlight { counts: [0; 2], last_sync: None, device_queues: true, looks: 0, most: 0 }
    }

    #[cfg(test)]
    pub(super) fn device_queues(&self) -> bool {
        self.device_queues
    }

    fn total(&self) -> u64 {
        self.counts[0] + self.counts[1]
    }

    /// A request is here. The first one counts as a synchronous one that was done.
    pub(super) fn begin(&mut self, now: Instant) {
        self.last_sync.get_or_insert(now);
    }

    pub(super) fn sent(&mut self, sync: bool) {
        self.counts[usize::from(sync)] += 1;
    }

    /// A request is done, while `waiting` others wait.
    #[inline]
    pub(super) fn done(&mut self, now: Instant, sync: bool, waiting: u64) {
        self.most = self.most.max(self.total());
        if waiting > DEEP || self.total() > DEEP {
            self.looks += 1;
            if self.looks > LOOKS {
                (self.device_queues, self.looks, self.most) = (self.most >= DEEP, 0, 0);
            }
        }
        self.counts[usize::from(sync)] -= 1;
        if sync {
            self.last_sync = Some(now);
        }
    }

    /// Whether the queue `index`, which has requests, may send one now.
    #[inline]
    pub(super) fn may_send(&self, cx: Cx<'_>, queues: &Queues, index: Index) -> Result<(), Hold> {
        let (settings, queue) = (&queues.settings, &queues[index]);
        let ([others, syncs], own) = (self.counts, queue.in_flight);
        if queue.idle_window && others > 0 {
            return Err(Hold::AsyncInFlight(others));
        }
        if !queue.kind.sync && syncs > 0 {
            return Err(Hold::SyncInFlight(syncs));
        }
        let quantum = settings.quantum.0;
        let most = match (queue.kind.is_idle_class(), own >= quantum) {
            (true, _) => 1,
            (false, true) if queues.busy() == 1 && self.no_seeks(cx) => u64::MAX,
            (false, true) if queues.busy() == 1 => ALONE * quantum,
            _ => quantum,
        };
        if own >= most {
            return Err(Hold::Enough(own));
        }
        if queue.kind.sync || !settings.low_latency { Ok(()) } else { self.ramp(cx.now, settings, own) }
    }

    /// A queue of asynchronous requests, of which `own` are in flight, may have one more for each
    /// `slice_sync` since a synchronous one was done; always one.
    fn ramp(&self, now: Instant, settings: &Settings, own: u64) -> Result<(), Hold> {
        let Some(last) = self.last_sync.filter(|_| own > 0) else { return Ok(()) };
        let from = last + settings.slice_sync.0 * (own + 1);
        if now >= from { Ok(()) } else { Err(Hold::Ramp(from)) }
    }

    /// Whether the queue `index` has an idle window, after `process` has issued a request for it.
    #[inline]
    pub(super) fn idle_window(&self, queues: &Queues, index: Index, process: &Process) -> bool {
        let (settings, queue) = (&queues.settings, &queues[index]);
        let wait = settings.slice_idle.0;
        let seeks_in_vain = !settings.low_latency && self.device_queues && queue.seeky();
        if !queue.kind.sync || queue.kind.is_idle_class() || wait == Duration::ZERO || seeks_in_vain {
            return false;
        }
        let longest = if queue.surely_seeky() { SHORT_WAIT } else { wait };
        process.reliable_thought().map_or(queue.idle_window, |thought| thought <= longest)
    }

    /// The device has no heads to move, and a queue of its own: what is not sent at once is time lost.
    pub(super) fn no_seeks(&self, cx: Cx<'_>) -> bool {
        !cx.device.rotational && self.device_queues
    }

    /// How long the process that issued the first request of `slice` may be waited for; nothing of its
    /// queue is left.
    pub(super) fn wait(
        &self,
        cx: Cx<'_>,
        queues: &Queues,
        slice: &Slice,
        processes: &Processes,
    ) -> Result<Duration, NoWait> {
        let (wait, queue) = (queues.settings.slice_idle.0, &queues[slice.queue]);
        if self.no_seeks(cx) {
            return Err(NoWait::NoSeeks);
        }
        if wait == Duration::ZERO || !queue.idle_window {
            let thought = |who: Who| processes[who.place].mean_thought();
            return Err(NoWait::NotWorth(slice.process.map_or(Duration::ZERO, thought)));
        }
        if self.total() > 0 {
            return Err(NoWait::InFlight(self.total()));
        }
        let there = slice.process.filter(|who| processes[who.place].is(*who)).ok_or(NoWait::Gone)?;
        let left = slice.end.map_or(Duration::ZERO, |end| end.since(cx.now));
        match processes[there.place].reliable_thought() {
            Some(mean) if mean > left => Err(NoWait::ThinksLong { mean, left }),
            _ if queue.surely_seeky() => Ok(wait.min(SHORT_WAIT)),
            _ => Ok(wait),
        }
    }
}
