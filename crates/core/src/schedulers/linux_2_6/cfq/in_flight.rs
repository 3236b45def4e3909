//! What is in flight, and whether a queue may send one more request.

use super::queues::{Index, Queues};
use super::settings::Settings;
use crate::units::Instant;

/// What a queue that is alone may have in flight, in quanta.
const ALONE: u64 = 4;

/// Why a queue may not send a request now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hold {
    /// So many asynchronous requests are in flight, before which this one would have to wait.
    AsyncInFlight(u64),
    /// So many synchronous ones are, and this one is not.
    SyncInFlight(u64),
    /// So many of the queue are.
    Enough(u64),
    /// It is not so long enough ago that synchronous requests were done: until then.
    Ramp(Instant),
}

/// The requests in flight.
pub(super) struct InFlight {
    /// Asynchronous and synchronous ones.
    counts: [u64; 2],
    /// When a synchronous request was last done; before that, when the first request came.
    last_sync: Option<Instant>,
}

impl InFlight {
    pub(super) fn new() -> InFlight {
        InFlight { counts: [0; 2], last_sync: None }
    }

    pub(super) fn total(&self) -> u64 {
        self.counts[0] + self.counts[1]
    }

    /// A request is here. The first one counts as a synchronous one that was done.
    pub(super) fn begin(&mut self, now: Instant) {
        self.last_sync.get_or_insert(now);
    }

    pub(super) fn sent(&mut self, sync: bool) {
        self.counts[usize::from(sync)] += 1;
    }

    #[inline]
    pub(super) fn done(&mut self, now: Instant, sync: bool) {
        self.counts[usize::from(sync)] -= 1;
        if sync {
            self.last_sync = Some(now);
        }
    }

    /// Whether the queue `index`, which has requests, may send one now.
    #[inline]
    pub(super) fn may_send(&self, now: Instant, queues: &Queues, index: Index) -> Result<(), Hold> {
        let (settings, queue) = (&queues.settings, &queues[index]);
        let ([others, syncs], own) = (self.counts, queue.in_flight);
        if queue.idle_window && others > 0 {
            return Err(Hold::AsyncInFlight(others));
        }
        if !queue.kind().sync && syncs > 0 {
            return Err(Hold::SyncInFlight(syncs));
        }
        let quantum = settings.quantum.0;
        let most = match (queue.kind().is_idle_class(), own >= quantum) {
            (true, _) => 1,
            (false, true) if queues.busy() == 1 => ALONE * quantum,
            _ => quantum,
        };
        if own >= most {
            return Err(Hold::Enough(own));
        }
        if queue.kind().sync || !settings.low_latency { Ok(()) } else { self.ramp(now, settings, own) }
    }

    /// A queue of asynchronous requests, of which `own` are in flight, may have one more for each
    /// `slice_sync` since a synchronous one was done; always one.
    fn ramp(&self, now: Instant, settings: &Settings, own: u64) -> Result<(), Hold> {
        let Some(last) = self.last_sync.filter(|_| own > 0) else { return Ok(()) };
        let from = last + settings.slice_sync.0 * (own + 1);
        if now >= from { Ok(()) } else { Err(Hold::Ramp(from)) }
    }
}
