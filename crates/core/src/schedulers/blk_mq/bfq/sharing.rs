//! Sharing: processes that read near each other, or that begin together, issue into one queue.
//!
//! *Early queue merge*: a process whose request is within 4 MiB of where the queue in service is, or of another
//! queue's next request, issues into that queue from then on, as do the threads of a backup program. Together they
//! are sequential. If the shared queue turns out to be seeky, the guests go back to their own.
//!
//! *Stable merge*: a queue that is created within 180 ms of another of the same class and weight is taken for one
//! of the same program, whose processes need no protection from each other. On a device without heads that takes
//! several commands they share a queue for good, at once. On another one they do so 600 ms later, unless it is
//! faster to wait for the process alone, because it streams.

use alloc::vec::Vec;

use super::burst::BURST_GAP;
use super::idling;
use super::processes::Ref;
use super::queues::Queues;
use super::raise::{Raise, passed};
use super::service::Service;
use crate::collections::{OutOfMemory, Place, table};
use crate::request::Request;
use crate::scheduler::Cx;
use crate::units::{Duration, Instant, Sector};

/// Linux's `bfq_activation_stable_merging`: after that, another queue is the one that is compared with.
const TOGETHER: Duration = Duration::from_ms(600);
/// Linux's `bfq_late_stable_merging`: so long a queue is watched before its process shares another.
const WATCHED: Duration = Duration::from_ms(600);
/// Right after it came back to its own queue, a process does not count towards a burst.
const SPLIT_SETTLES: Duration = Duration::from_ms(10);

/// Linux's `BFQQ_CLOSE_THR`, in sectors.
const CLOSE: u64 = 8 * 1024;

/// Whether the device reorders by itself, and far is as good as near.
fn reorders(queues: &Queues, cx: Cx<'_>) -> bool {
    !cx.device.rotational && queues.tagging.queues()
}

/// The queue that goes on near `start`, if the processes of `queue` may issue into that one.
fn find_host(service: &mut Service, cx: Cx<'_>, queue: usize, start: Sector) -> Option<usize> {
    let queues = &service.queues;
    let sharable = |queue: usize| queues.is_sharable(cx.now, queue);
    if !sharable(queue) || reorders(queues, cx) || queues.wf2q.busy() == 1 {
        return None;
    }
    let class = |queue: usize| queues.wf2q.class(queue);
    let suits = |serving: &usize| *serving != queue && class(*serving) == class(queue) && sharable(*serving);
    let serving = queues.wf2q.in_service().filter(|_| service.distance(start) <= CLOSE).filter(suits);
    serving.or_else(|| {
        let near = service.queues.nearest(cx.now, queue, start);
        near.filter(|(distance, _)| *distance <= CLOSE).map(|(_, near)| near)
    })
}

/// A process, and the queue at its place.
#[derive(Clone, Copy)]
struct Member {
    /// It has issued a synchronous request.
    met: bool,
    /// The queue that was created with its own, if it may go on in that one for good.
    stable: Option<Ref>,
    /// It shares a queue for good.
    stably: bool,
    /// How its queue was raised when it went to another's.
    saved: Option<Raise>,
    /// When it issued its first synchronous request.
    born: Instant,
    /// When it came back to its queue.
    split: Option<Instant>,
}

impl Member {
    const fn new(now: Instant) -> Member {
        Member { met: false, stable: None, stably: false, saved: None, born: now, split: None }
    }
}

/// Who shares whose queue, and why.
pub(super) struct Sharing {
    members: Vec<Member>,
    /// The queue that those created after it are compared with.
    last_created: Option<Ref>,
}

impl Sharing {
    pub(super) fn new(queues: usize) -> Result<Sharing, OutOfMemory> {
        Ok(Sharing { members: table(queues, Member::new(Instant::ZERO))?, last_created: None })
    }

    /// The place is another process's from now on.
    pub(super) fn replace(&mut self, now: Instant, place: Place) {
        self.members[place.index()] = Member::new(now);
    }

    /// Whether the process at `place` shares a queue for good.
    pub(super) fn is_stable(&self, place: Place) -> bool {
        self.members[place.index()].stably
    }

    /// Whether the process of `queue` came back to it longer than `span` ago, if ever.
    pub(super) fn is_settled(&self, now: Instant, queue: usize, span: Duration) -> bool {
        passed(self.members[queue].split, span, now)
    }

    /// The queue in which `request`, which is synchronous, of the process at `place` goes.
    pub(super) fn queue_for(
        &mut self,
        service: &mut Service,
        cx: Cx<'_>,
        place: Place,
        request: &Request,
    ) -> usize {
        if !core::mem::replace(&mut self.members[place.index()].met, true) {
            self.meet(service, cx, place);
        }
        let mut queue = service.queues.processes.queue(place);
        if service.queues.processes.splits(queue) {
            queue = self.split(service, cx, place, queue);
        }
        if service.queues.processes.is_new(queue) && self.is_settled(cx.now, queue, SPLIT_SETTLES) {
            service.queues.note_created(cx.now, queue);
        }
        self.merge(service, cx, queue, place, request.start)
    }

    /// The queue of the process at `place`: its own again, if `queue`, which shall be split, is another's.
    #[cold]
    fn split(&mut self, service: &mut Service, cx: Cx<'_>, place: Place, queue: usize) -> usize {
        let own = place.index();
        if self.members[own].stably {
            return queue;
        }
        if service.queues.processes.users(queue) == 1 {
            service.queues.processes.end_sharing(queue);
            return queue;
        }
        if own == queue {
            return queue;
        }
        service.queues.come_back(cx, place, self.members[own].saved.take());
        self.members[own].split = Some(cx.now);
        own
    }

    /// Makes the process at `place`, which issues into `queue`, share another's queue, if its next request, at
    /// `start`, is close to where that one goes on. Returns the queue of the request.
    fn merge(
        &mut self,
        service: &mut Service,
        cx: Cx<'_>,
        queue: usize,
        place: Place,
        start: Sector,
    ) -> usize {
        if let Some(host) = self.stable_host(service, cx, place, queue) {
            return host;
        }
        let host = find_host(service, cx, queue, start).filter(|host| self.join(service, cx, queue, *host));
        host.unwrap_or(queue)
    }

    /// Makes all processes of `queue` issue into `host`, unless too many are guests or there are none.
    fn join(&mut self, service: &mut Service, cx: Cx<'_>, queue: usize, host: usize) -> bool {
        if !service.queues.processes.can_move(queue) {
            return false;
        }
        for queue in [queue, host] {
            if !service.queues.processes.is_shared(queue) {
                self.members[queue].saved = Some(service.queues.raise_to_save(cx.now, queue));
            }
        }
        let (from, to) =
            (service.queues.processes.reference(queue), service.queues.processes.reference(host));
        for process in service.queues.processes.users_of(queue) {
            let stable = &mut self.members[process].stable;
            *stable = stable.filter(|stable| *stable != to);
        }
        service.queues.join(cx, queue, host);
        self.follow(from, Some(to));
        true
    }

    /// Processes go from `queue` to `host`: what was to be done with the one is done with the other.
    pub(super) fn follow(&mut self, queue: Ref, host: Option<Ref>) {
        if self.last_created == Some(queue) {
            self.last_created = host;
        }
    }

    /// The process at `place` issues its first synchronous request: its queue counts as created.
    #[cold]
    fn meet(&mut self, service: &mut Service, cx: Cx<'_>, place: Place) {
        let own = place.index();
        if service.queues.processes.queue(place) != own {
            return;
        }
        self.members[own].born = cx.now;
        let alike = |last: &usize| service.queues.wf2q.wanted(*last) == service.queues.wf2q.wanted(own);
        let last = service.queues.processes.alive(self.last_created).filter(alike);
        let Some(last) = last.filter(|last| !passed(Some(self.members[*last].born), TOGETHER, cx.now)) else {
            self.last_created = Some(service.queues.processes.reference(own));
            return;
        };
        if passed(Some(self.members[last].born), BURST_GAP, cx.now) {
            return;
        }
        if reorders(&service.queues, cx) {
            self.join_stably(service, cx, place, own, last);
        } else {
            self.members[own].stable = Some(service.queues.processes.reference(last));
        }
    }

    /// The queue that the process at `place`, which issues into `queue`, goes on in for good, if the time to
    /// decide that has come; `queue` if it does not.
    fn stable_host(
        &mut self,
        service: &mut Service,
        cx: Cx<'_>,
        place: Place,
        queue: usize,
    ) -> Option<usize> {
        let stable = self.members[place.index()].stable?;
        let watched = passed(Some(self.members[queue].born), WATCHED, cx.now)
            && self.is_settled(cx.now, queue, WATCHED);
        if reorders(&service.queues, cx) || service.queues.processes.is_new(queue) || !watched {
            return None;
        }
        self.members[place.index()].stable = None;
        let host = service
            .queues
            .processes
            .alive(Some(stable))
            .filter(|_| !idling::boosts(&service.queues, cx, queue));
        Some(host.map_or(queue, |host| self.join_stably(service, cx, place, queue, host)))
    }

    /// Makes the process at `place` share `host` and not part from it. Returns the queue it goes on in.
    fn join_stably(
        &mut self,
        service: &mut Service,
        cx: Cx<'_>,
        place: Place,
        queue: usize,
        host: usize,
    ) -> usize {
        let alone = !service.queues.processes.is_shared(host);
        if queue == host || service.queues.processes.users(host) == 0 || !self.join(service, cx, queue, host)
        {
            return queue;
        }
        self.members[place.index()].stably = true;
        if alone && service.queues.processes.is_at_home(host) {
            self.members[host].stably = true;
        }
        host
    }
}
