//! Early queue merge: processes that read near each other, such as the threads of a backup program, share
//! a queue, so that together they are sequential.
//!
//! A process whose request is within 4 MiB of where the queue in service is, or of another queue's next
//! request, issues into that queue from then on. If the shared queue turns out to be seeky, the guests go
//! back to their own.

use super::Bfq;
use super::raise::passed;
use crate::collections::Place;
use crate::request::Class;
use crate::scheduler::Cx;
use crate::units::{Duration, Sector};

/// Linux's `BFQQ_CLOSE_THR`, in sectors.
const CLOSE: u64 = 8 * 1024;
/// Linux's `bfq_merge_time_limit`: a queue that was served for longer is not merged.
const MERGE_TIME: Duration = Duration::from_ms(100);
/// So many processes may be guests in others' queues.
const GUESTS_MAX: usize = 32;

impl Bfq {
    /// It has been served for so long that its process is known.
    fn too_late(&self, cx: Cx<'_>, index: usize) -> bool {
        let queue = &self.queues[index];
        queue.raise.busy_service > 0 && passed(Some(queue.first_io), MERGE_TIME, cx.now)
    }

    /// Whether `index` is a queue that others may share, and whose processes may share another.
    fn is_sharable(&self, index: usize) -> bool {
        let queue = &self.queues[index];
        queue.users > 0
            && queue.is_sync()
            && !queue.is_seeky()
            && self.service.entities[index].class != Class::Idle
    }

    /// Whether `index`, which is sharable, may merge into `other`.
    fn may_join(&self, cx: Cx<'_>, index: usize, other: usize) -> bool {
        index != other
            && self.service.entities[index].class == self.service.entities[other].class
            && self.is_sharable(other)
            && !self.too_late(cx, other)
    }

    /// The queue in which a request at `start`, which arrives for `index`, goes on.
    fn find_host(&self, cx: Cx<'_>, index: usize, start: Sector) -> Option<usize> {
        if self.reorders(cx)
            || !self.is_sharable(index)
            || self.too_late(cx, index)
            || self.service.shares.busy() == 1
        {
            return None;
        }
        let serving = self.service.in_service.filter(|serving| self.may_join(cx, index, *serving));
        if let Some(serving) = serving.filter(|_| start.distance(self.served_to) <= CLOSE) {
            return Some(serving);
        }
        let distance = |other: usize| self.queues[other].next.map(|next| cx[next].start.distance(start));
        let close = self.service.active().filter(|other| distance(*other).is_some_and(|way| way <= CLOSE));
        let hosts = close.filter(|other| self.may_join(cx, index, *other));
        hosts.min_by_key(|other| (distance(*other), *other))
    }

    /// Makes the process at `place`, which issues into `index`, share another's queue, if its next request, at
    /// `start`, is close to where that one goes on. Returns the queue of the request.
    pub(super) fn merge(&mut self, cx: Cx<'_>, index: usize, place: Place, start: Sector) -> usize {
        if let Some(host) = self.stable_host(cx, place, index) {
            return host;
        }
        let host = self.find_host(cx, index, start).filter(|host| self.join(cx, index, *host));
        host.unwrap_or(index)
    }

    /// Makes all processes of `index` issue into `host`, unless too many are guests or there are none.
    pub(super) fn join(&mut self, cx: Cx<'_>, index: usize, host: usize) -> bool {
        let moved = self.queues[index].users as usize;
        if moved == 0 || self.guests + moved > GUESTS_MAX {
            return false;
        }
        self.save_raise(cx, index);
        self.save_raise(cx, host);
        for place in 0..self.processes.len() {
            let process = &self.processes[place];
            if process.alive && process.queue == index {
                self.move_process(place, index, host);
            }
        }
        self.hand_over(index, host);
        if self.service.shares.is_busy(index)
            && self.queues[index].is_empty()
            && self.service.in_service != Some(index)
        {
            self.not_busy(cx, index, false);
        }
        self.follow(self.reference(index), Some(self.reference(host)));
        true
    }

    /// A process that has its queue to itself will want back how that was raised.
    fn save_raise(&mut self, cx: Cx<'_>, index: usize) {
        let queue = &self.queues[index];
        if queue.shared {
            return;
        }
        let mut saved = queue.raise;
        if queue.created && !queue.in_burst && self.tunables.low_latency {
            saved.as_interactive(self.rate.raise_time);
            saved.since = cx.now;
        }
        if let Some(place) = queue.place {
            self.processes[place.index()].saved = Some(saved);
        }
    }

    /// The process at `place` goes from `index` to `host`.
    fn move_process(&mut self, place: usize, index: usize, host: usize) {
        let stable = self.processes[place].stable.filter(|stable| *stable != self.reference(host));
        (self.processes[place].queue, self.processes[place].stable) = (host, stable);
        self.queues[index].users -= 1;
        self.queues[host].users += 1;
        if let Some(left) = self.queues[index].place.filter(|left| left.index() != place) {
            self.issuers.release(left);
            self.guests -= 1;
        }
        if let Some(new) = self.queues[host].place.filter(|new| new.index() != place) {
            self.issuers.hold(new);
            self.guests += 1;
        }
    }

    /// `host` gets what is good about `index`.
    fn hand_over(&mut self, index: usize, host: usize) {
        let from = self.queues[index];
        let mut raise = from.raise;
        self.change_raise(host, |queue| raise.pass_to(&mut queue.raise));
        self.change_raise(index, |queue| queue.raise = raise);
        let known = from.waker.known.filter(|waker| waker.queue != host);
        let waker = known.filter(|waker| self.queues[waker.queue].life == waker.life);
        let own = self.reference(host);
        let queue = &mut self.queues[host];
        queue.io_bound |= from.io_bound;
        queue.shared = true;
        if let (Some(waker), None) = (waker, queue.waker.known) {
            (queue.waker.known, queue.waker.suspect) = (Some(waker), None);
            self.queues[waker.queue].waker.woken = Some(own);
        }
        let queue = &mut self.queues[index];
        (queue.io_bound, queue.created) = (false, false);
    }
}
