//! Idling: whether the process whose slice it is may be waited for, and how long.
//!
//! A queue has an idle window while its process is worth waiting for.

use super::processes::{Process, Processes, Who};
use super::queues::{Index, Queues};
use super::slice::{NoWait, Slice};
use crate::scheduler::Cx;
use crate::units::Duration;

/// Linux's `CFQ_HW_QUEUE_MIN`: so many requests in the device at once show that it has a queue.
const DEEP: u64 = 5;
/// So many looks at a busy device make an estimate.
const LOOKS: u32 = 50;
/// Linux's `CFQ_MIN_TT`: the longest wait for a process that seeks.
const SHORT_WAIT: Duration = Duration::from_ms(2);

/// Whether the device has a queue of its own, judged by how many requests it held at once; and what
/// follows from that.
#[derive(Clone, Copy, Debug)]
pub(super) struct Idling {
    looks: u32,
    most: u64,
    queues: bool,
}

impl Idling {
    /// The device has a queue, until that is known better.
    pub(super) fn new() -> Idling {
        Idling { looks: 0, most: 0, queues: true }
    }

    #[cfg(test)]
    pub(super) fn device_queues(&self) -> bool {
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
            *self = Idling { looks: 0, most: 0, queues: self.most >= DEEP };
        }
    }

    /// Whether the queue `index` has an idle window, after `process` has issued a request for it.
    #[inline]
    pub(super) fn window(&self, queues: &Queues, index: Index, process: &Process) -> bool {
        let (settings, queue) = (&queues.settings, &queues[index]);
        let wait = settings.slice_idle.0;
        let seeks_in_vain = !settings.low_latency && self.queues && queue.seeky();
        if !queue.kind().sync || queue.kind().is_idle_class() || wait == Duration::ZERO || seeks_in_vain {
            return false;
        }
        let longest = if queue.surely_seeky() { SHORT_WAIT } else { wait };
        process.reliable_thought().map_or(queue.idle_window, |thought| thought <= longest)
    }

    /// How long the process whose slice it is may be waited for: that which issued the first request. So
    /// many are in flight; nothing of its queue is left.
    pub(super) fn length(
        &self,
        cx: Cx<'_>,
        queues: &Queues,
        slice: &Slice,
        processes: &Processes,
        in_flight: u64,
    ) -> Result<Duration, NoWait> {
        let (wait, queue) = (queues.settings.slice_idle.0, &queues[slice.queue()]);
        if !cx.device.rotational && self.queues {
            return Err(NoWait::NoSeeks);
        }
        if wait == Duration::ZERO || !queue.idle_window {
            let thought = |who: Who| processes[who.place].mean_thought();
            return Err(NoWait::NotWorth(slice.process().map_or(Duration::ZERO, thought)));
        }
        if in_flight > 0 {
            return Err(NoWait::InFlight(in_flight));
        }
        let there = slice.process().filter(|who| processes[who.place].is(*who)).ok_or(NoWait::Gone)?;
        let left = slice.end().map_or(Duration::ZERO, |end| end.since(cx.now));
        match processes[there.place].reliable_thought() {
            Some(mean) if mean > left => Err(NoWait::ThinksLong { mean, left }),
            _ if queue.surely_seeky() => Ok(wait.min(SHORT_WAIT)),
            _ => Ok(wait),
        }
    }
}
