//! Injection: what may go to the device while the queue in service is idled for.
//!
//! First what its process waits for: its own asynchronous requests, then those of its *waker*, a queue
//! after whose completions it has issued three times, then of a queue that waits for it. Else requests of
//! others, as many at a time as do not make its own slower by half: that is tried out.

use super::Bfq;
use super::queue::{Inject, Ref, Waker};
use super::rate::LARGE;
use super::serve::Chosen;
use crate::scheduler::Cx;
use crate::units::{Duration, Instant};

/// Linux's times: a request so soon after another's completion may wait for it; so often for a waker.
const SOON: Duration = Duration::from_ms(4);
const DETECTIONS: u32 = 3;
const DETECTION_SLICES: u64 = 128;
/// The limit is learnt anew this long after it was lowered, raised again after that, and judged after that.
const FORGET: Duration = Duration::from_ms(1_000);
const RELEARN: Duration = Duration::from_ms(100);
const SETTLE: Duration = Duration::from_ms(10);

/// Whose request goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whose {
    /// That of the queue in service.
    Own,
    /// An asynchronous one of its process.
    OwnAsync,
    Waker,
    Woken,
    Other,
}

/// How one request of the queue in service is watched, to learn from it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Watch {
    /// It is the next to go. When it came.
    pub(super) since: Instant,
    pub(super) for_dispatch: bool,
    /// It went.
    pub(super) request: Option<crate::units::RequestId>,
    /// Others went while it was waited for.
    pub(super) injected: bool,
}

fn long_ago(since: Option<Instant>, span: Duration, now: Instant) -> bool {
    since.is_none_or(|since| since + span <= now)
}

impl Bfq {
    pub(super) fn reference(&self, index: usize) -> Ref {
        Ref { queue: index, life: self.queues[index].life }
    }

    /// The queue of a reference, unless it is another's now.
    pub(super) fn alive(&self, of: Option<Ref>) -> Option<usize> {
        of.filter(|of| self.queues[of.queue].life == of.life).map(|of| of.queue)
    }

    /// A request of a process that has no other has come to `index`.
    pub(super) fn learn(&mut self, now: Instant, index: usize) {
        self.suspect_waker(now, index);
        if long_ago(self.queues[index].inject.lowered, FORGET, now) {
            self.forget_limit(now, index);
        }
        let inject = &self.queues[index].inject;
        let undisturbed = self.in_flight == 0;
        let disturbed = inject.alone > Duration::ZERO && self.watch.injected && self.in_flight > 0;
        if self.service.in_service == Some(index)
            && (undisturbed || disturbed)
            && long_ago(inject.lowered, SETTLE, now)
        {
            (self.watch.since, self.watch.for_dispatch) = (now, true);
            if undisturbed {
                self.watch.injected = false;
            }
        }
    }

    fn forget_limit(&mut self, now: Instant, index: usize) {
        let queue = &mut self.queues[index];
        self.watch.request = None;
        let limit = u32::from(!queue.thinks_little);
        queue.inject = Inject { limit, alone: Duration::ZERO, lowered: Some(now) };
    }

    /// Whether its process thinks little has been found out anew.
    pub(super) fn note_thinking(&mut self, now: Instant, index: usize, little: bool) {
        let changed = core::mem::replace(&mut self.queues[index].thinks_little, little) != little;
        let Inject { alone, lowered, .. } = self.queues[index].inject;
        if changed && alone == Duration::ZERO && (long_ago(lowered, RELEARN, now) || !little) {
            self.forget_limit(now, index);
        }
    }

    fn suspect_waker(&mut self, now: Instant, index: usize) {
        let Some(other) = self.last_completed.filter(|other| other.queue != index) else { return };
        let soon = self.rate.last_completion.is_some_and(|at| now.since(at) < SOON);
        let slice = self.slice_idle();
        if self.queues[index].thinks_little || !soon || self.alive(Some(other)).is_none() {
            return;
        }
        let own = self.reference(index);
        let waker = &mut self.queues[index].waker;
        if waker.suspect == Some(other) && now <= waker.since + slice * DETECTION_SLICES {
            waker.seen += 1;
        } else {
            *waker = Waker { suspect: Some(other), seen: 1, since: now, ..*waker };
        }
        if waker.seen == DETECTIONS {
            (waker.known, waker.suspect) = (Some(other), None);
            self.queues[other.queue].waker.woken = Some(own);
        }
    }

    /// `index` becomes busy: if somebody wakes it, that one knows whom it wakes.
    pub(super) fn note_woken(&mut self, index: usize) {
        if let Some(waker) = self.alive(self.queues[index].waker.known) {
            self.queues[waker].waker.woken = Some(self.reference(index));
        }
    }

    /// A request of the process of `index`, if it is asynchronous and next in its queue.
    fn own_async(&self, cx: Cx<'_>, index: usize) -> Option<Chosen> {
        let own = self.queues[index].place?;
        if self.queues[index].shared {
            return None;
        }
        let queue = self.async_queue(self.processes[own.index()].async_priority?);
        let next = self.queues[queue].next?;
        let its = self.requests.place(next) == Some(own);
        if its { self.fits(cx, queue, Whose::OwnAsync) } else { None }
    }

    /// The next request of `index`, if it has one waiting that its budget suffices for.
    fn fits(&self, cx: Cx<'_>, index: usize, whose: Whose) -> Option<Chosen> {
        if self.service.shares.is_busy(index) { self.affordable(cx, index, whose) } else { None }
    }

    /// What goes while `index` is idled for.
    pub(super) fn choose_injection(&mut self, cx: Cx<'_>, index: usize) -> Option<Chosen> {
        if let Some(own) = self.own_async(cx, index) {
            return Some(own);
        }
        let Waker { known, woken, .. } = self.queues[index].waker;
        if let Some(waker) = self.alive(known).and_then(|waker| self.fits(cx, waker, Whose::Waker)) {
            return Some(waker);
        }
        let woken =
            self.alive(woken).filter(|woken| self.queues[*woken].waker.known == Some(self.reference(index)));
        if let Some(woken) = woken.and_then(|woken| self.fits(cx, woken, Whose::Woken)) {
            return Some(woken);
        }
        let queue = &self.queues[index];
        let harmless = !queue.is_raised() || self.raised_busy > 1 || !queue.thinks_little;
        if self.idling_boosts(cx, queue) || !harmless {
            return None;
        }
        let other = self.other_to_inject(cx, index)?;
        self.watch.injected = true;
        self.fits(cx, other, Whose::Other)
    }

    /// The queue listed last whose request may go besides, within the limit.
    fn other_to_inject(&self, cx: Cx<'_>, index: usize) -> Option<usize> {
        let queue = &self.queues[index];
        let limit = queue.inject.limit;
        if self.in_flight >= limit {
            return None;
        }
        let any = !queue.is_raised() || !queue.thinks_little;
        self.service.newest_first(|other| {
            let candidate = &self.queues[other];
            let Some(next) = candidate.next else { return false };
            let large = !cx.device.rotational && u64::from(cx[next].length.0) >= LARGE;
            let limit = if large { limit.min(1) } else { limit };
            let suits = (any || candidate.is_raised()) && self.in_flight < limit;
            suits && self.fits(cx, other, Whose::Other).is_some()
        })
    }

    /// The request that was watched is done, while it still counts as in flight: what did others cost it?
    pub(super) fn judge_injection(&mut self, now: Instant, index: usize) {
        let took = now.since(self.watch.since);
        let inject = &mut self.queues[index].inject;
        let (before, alone) = (inject.limit, inject.alone);
        if alone > Duration::ZERO && self.watch.injected {
            let slower = took.0 >= alone.0.saturating_mul(3) / 2;
            if slower && before > 0 {
                inject.limit -= 1;
                inject.lowered = Some(now);
            } else if !slower && before <= self.tagging.most {
                inject.limit += 1;
            }
        }
        if alone == Duration::ZERO && self.in_flight == 1 {
            inject.limit = before.max(1);
            inject.alone = took;
        } else if took < alone || !self.watch.injected && self.in_flight == 1 {
            inject.alone = took;
        }
        (self.watch.request, self.watch.injected) = (None, false);
    }
}
