//! Injection, merging of queues and exits in the slow reference for `bfq`.

use super::record::{Inject, Waker};
use super::{Reference, Seat};
use crate::request::Class;
use crate::scheduler::Cx;
use crate::schedulers::blk_mq::bfq::budget::Reason;
use crate::schedulers::blk_mq::bfq::processes::Ref;
use crate::schedulers::blk_mq::bfq::raise::passed;
use crate::units::{Duration, Instant, Issuer, RequestId};

fn since(at: Option<Instant>, ms: u64, now: Instant) -> bool {
    at.is_none_or(|at| now.since(at) >= Duration::from_ms(ms))
}

impl Reference {
    /// A request of a process that has no other arrives.
    pub(super) fn learn(&mut self, now: Instant, index: usize) {
        self.suspect(now, index);
        if since(self.queues[index].q.inject.lowered, 1_000, now) {
            self.forget_limit(now, index);
        }
        let inject = self.queues[index].q.inject;
        let flying = self.in_flight() > 0;
        let watches = !flying || inject.alone > Duration::ZERO && self.watch.injected;
        if self.serving == Some(index) && watches && since(inject.lowered, 10, now) {
            (self.watch.since, self.watch.for_dispatch) = (now, true);
            self.watch.injected &= flying;
        }
    }

    pub(super) fn forget_limit(&mut self, now: Instant, index: usize) {
        self.watch.request = None;
        let q = &mut self.queues[index].q;
        q.inject =
            Inject { limit: if q.thinks_little { 0 } else { 1 }, alone: Duration::ZERO, lowered: Some(now) };
    }

    fn suspect(&mut self, now: Instant, index: usize) {
        let Some(other) = self.last_completed.filter(|other| other.queue != index) else { return };
        let gone = self.queues[other.queue].q.life != other.life;
        let late = self.rate.last_completion.is_none_or(|at| now.since(at) >= Duration::from_ms(4));
        if gone || late || self.queues[index].q.thinks_little {
            return;
        }
        let (own, limit) = (self.reference(index), self.slice() * 128);
        let waker = &mut self.queues[index].q.waker;
        if waker.suspect != Some(other) || now > waker.since + limit {
            *waker = Waker { suspect: Some(other), seen: 0, since: now, ..*waker };
        }
        waker.seen += 1;
        if waker.seen == 3 {
            (waker.known, waker.suspect) = (Some(other), None);
            self.queues[other.queue].q.waker.woken = Some(own);
        }
    }

    pub(super) fn judge(&mut self, now: Instant, index: usize) {
        let took = now.since(self.watch.since);
        let (only, most) = (self.in_flight() == 1, self.tagging.most);
        let inject = &mut self.queues[index].q.inject;
        let Inject { limit, alone, .. } = *inject;
        if alone > Duration::ZERO && self.watch.injected {
            if took.0 < alone.0 * 3 / 2 {
                inject.limit += u32::from(limit <= most);
            } else if limit > 0 {
                (inject.limit, inject.lowered) = (limit - 1, Some(now));
            }
        }
        if alone == Duration::ZERO && only {
            (inject.limit, inject.alone) = (limit.max(1), took);
        } else if took < alone || only && !self.watch.injected {
            inject.alone = took;
        }
        (self.watch.request, self.watch.injected) = (None, false);
    }

    /// Whose request goes while `index` is idled for.
    pub(super) fn inject(&mut self, cx: Cx<'_>, index: usize) -> Option<usize> {
        let q = self.queues[index].q;
        let process = self.processes.iter().find(|process| process.own == index);
        let process = process.filter(|_| self.queues[index].sync && !q.shared);
        if let Some(own) = process.and_then(|process| self.async_at(process.last_async?)) {
            let next = self.queues[own].next;
            let by = self.held.iter().find(|held| Some(held.id) == next).map(|held| held.who);
            if by == process.map(|process| process.who) && self.affords(cx, own) {
                return Some(own);
            }
        }
        let alive = |of: Ref| (self.queues[of.queue].q.life == of.life).then_some(of.queue);
        let waker = q.waker.known.and_then(alive);
        let woken = q.waker.woken.and_then(alive);
        let woken = woken.filter(|at| self.queues[*at].q.waker.known == Some(self.reference(index)));
        if let Some(found) = [waker, woken].into_iter().flatten().find(|at| self.affords(cx, *at)) {
            return Some(found);
        }
        let guarded = q.is_raised() && self.raised_busy() <= 1 && q.thinks_little;
        if self.boosts(cx, index) || guarded {
            return None;
        }
        let limit = q.inject.limit;
        let raised_only = q.is_raised() && q.thinks_little;
        let mut active = self.active();
        active.sort_by_key(|at| core::cmp::Reverse(self.queues[*at].turn));
        let found = active.into_iter().find(|at| {
            let large = |id: RequestId| !cx.device.rotational && cx[id].length.0 >= 64;
            let most = if self.queues[*at].next.is_some_and(large) { limit.min(1) } else { limit };
            let suits = !raised_only || self.queues[*at].q.is_raised();
            suits && self.affords(cx, *at) && self.in_flight() < most
        })?;
        self.watch.injected = true;
        Some(found)
    }

    fn too_late(&self, now: Instant, index: usize) -> bool {
        let q = &self.queues[index].q;
        q.raise.busy_service > 0 && now.since(q.raise.first_service) > Duration::from_ms(100)
    }

    /// The queue that a request for `index` goes to.
    pub(super) fn merge(&mut self, cx: Cx<'_>, index: usize, process: usize, id: RequestId) -> usize {
        if self.decides(cx, index, process) {
            let joined = self.processes[process].stable.take().filter(|_| !self.boosts(cx, index));
            return self.share(cx, index, process, joined);
        }
        let queueing = !cx.device.rotational && self.tagging.queues();
        let queue = &self.queues[index];
        let never = !queue.sync || queue.q.users == 0 || queue.q.is_seeky() || queue.class == Class::Idle;
        if queueing || never || self.busy() == 1 || self.too_late(cx.now, index) {
            return index;
        }
        let joins = |at: usize| {
            let joined = &self.queues[at];
            let apt = joined.sync && joined.q.users > 0 && !joined.q.is_seeky() && !self.too_late(cx.now, at);
            at != index && apt && joined.class == queue.class
        };
        let start = cx[id].start;
        let at_head = start.distance(self.served_to) <= 8192;
        let serving = self.serving.filter(|at| at_head && joins(*at));
        let way = |at: usize| self.queues[at].next.map_or(u64::MAX, |next| cx[next].start.distance(start));
        let near = self.active().into_iter().filter(|at| way(*at) <= 8192 && joins(*at));
        let Some(joined) = serving.or_else(|| near.min_by_key(|at| way(*at))) else { return index };
        self.unite(cx, index, joined);
        joined
    }

    /// All of `index` continue in `joined`.
    fn unite(&mut self, cx: Cx<'_>, index: usize, joined: usize) {
        self.save(cx, index);
        self.save(cx, joined);
        let to = self.reference(joined);
        if self.last_created == Some(self.reference(index)) {
            self.last_created = Some(to);
        }
        for process in self.processes.iter_mut().filter(|process| process.alive && process.queue == index) {
            process.queue = joined;
            process.stable = process.stable.filter(|stable| *stable != to);
            self.queues[index].q.users -= 1;
            self.queues[joined].q.users += 1;
        }
        self.hand_over(index, joined);
        if self.queues[index].busy && self.queues[index].line.is_empty() && self.serving != Some(index) {
            self.not_busy(cx, index, false);
        }
    }

    /// Whether the time has come to decide if this process's queue goes into another for good.
    fn decides(&self, cx: Cx<'_>, index: usize, process: usize) -> bool {
        let q = &self.queues[index].q;
        let long = |at: Option<Instant>| at.is_none_or(|at| at + Duration::from_ms(600) < cx.now);
        let queueing = !cx.device.rotational && self.tagging.queues();
        self.processes[process].stable.is_some()
            && !queueing
            && !q.created
            && long(Some(q.born))
            && long(q.split)
    }

    /// The process, which issues into `index`, continues in `joined` for good, if that is still there.
    fn share(&mut self, cx: Cx<'_>, index: usize, process: usize, joined: Option<Ref>) -> usize {
        let Some(joined) = joined.filter(|of| self.queues[of.queue].q.life == of.life) else { return index };
        let (joined, users) = (joined.queue, self.queues[index].q.users);
        if joined == index || users == 0 || self.queues[joined].q.users == 0 {
            return index;
        }
        let alone = !self.queues[joined].q.shared;
        let owner = self
            .processes
            .iter()
            .position(|other| other.own == joined && other.queue == joined && other.alive);
        self.unite(cx, index, joined);
        self.processes[process].stably = true;
        if let Some(owner) = owner.filter(|_| alone) {
            self.processes[owner].stably = true;
        }
        joined
    }

    /// A synchronous request of a process: the first decides which queue counts as created together with the process's.
    pub(super) fn meet(&mut self, cx: Cx<'_>, at: usize) {
        let own = self.processes[at].own;
        if self.processes[at].met || self.processes[at].queue != own {
            self.processes[at].met = true;
            return;
        }
        self.processes[at].met = true;
        self.queues[own].q.born = cx.now;
        let last = self.last_created.filter(|last| self.queues[last.queue].q.life == last.life);
        let alike = last.filter(|last| {
            let (one, other) = (&self.queues[own], &self.queues[last.queue]);
            let ms = cx.now.since(other.q.born);
            one.wanted == other.wanted
                && one.wanted_class == other.wanted_class
                && ms <= Duration::from_ms(600)
        });
        let Some(last) = alike else {
            self.last_created = Some(self.reference(own));
            return;
        };
        if cx.now.since(self.queues[last.queue].q.born) > Duration::from_ms(180) {
            return;
        }
        if !cx.device.rotational && self.tagging.queues() {
            self.share(cx, own, at, Some(last));
        } else {
            self.processes[at].stable = Some(last);
        }
    }

    fn save(&mut self, cx: Cx<'_>, index: usize) {
        let q = &self.queues[index].q;
        if q.shared {
            return;
        }
        let mut saved = q.raise;
        if q.created && !q.raise.in_burst && self.set.low_latency {
            saved.as_interactive(self.rate.raise_time);
            saved.since = cx.now;
        }
        if let Some(process) = self.processes.iter_mut().find(|process| process.own == index) {
            process.saved = Some(saved);
        }
    }

    fn hand_over(&mut self, index: usize, joined: usize) {
        let mut raise = self.queues[index].q.raise;
        raise.pass_to(&mut self.queues[joined].q.raise);
        let own = self.reference(joined);
        let from = &mut self.queues[index].q;
        from.raise = raise;
        let (bound, known) = (from.io_bound, from.waker.known);
        (from.io_bound, from.created) = (false, false);
        let to = &mut self.queues[joined].q;
        to.io_bound |= bound;
        to.shared = true;
        let free = to.waker.known.is_none();
        if let Some(waker) = known.filter(|waker| free && waker.queue != joined)
            && self.queues[waker.queue].q.life == waker.life
        {
            let waking = &mut self.queues[joined].q.waker;
            (waking.known, waking.suspect) = (Some(waker), None);
            self.queues[waker.queue].q.waker.woken = Some(own);
        }
    }

    /// The queue into which the process at `at` issues: its own again, if the sharing is to end.
    pub(super) fn split(&mut self, cx: Cx<'_>, at: usize) -> usize {
        let (own, index) = (self.processes[at].own, self.processes[at].queue);
        let q = &mut self.queues[index].q;
        if !q.shared || !q.splits || self.processes[at].stably || q.users > 1 && own == index {
            return index;
        }
        if q.users == 1 {
            (q.shared, q.splits) = (false, false);
            return index;
        }
        q.users -= 1;
        self.processes[at].queue = own;
        let saved = self.processes[at].saved.take().filter(|_| self.set.low_latency);
        let span = self.rate.raise_time;
        let q = &mut self.queues[own].q;
        q.users += 1;
        q.split = Some(cx.now);
        (q.shared, q.splits, q.created) = (false, false, false);
        if let Some(saved) = saved {
            q.raise.resume(saved, cx.now, span);
        }
        own
    }

    /// Whether the process of `index` thinks little.
    pub(super) fn judge_thinking(&mut self, cx: Cx<'_>, index: usize) {
        let slice = self.slice();
        let queue = &mut self.queues[index];
        let settled = passed(queue.q.split, Duration::from_s(2), cx.now);
        if !queue.sync || queue.class == Class::Idle || slice == Duration::ZERO || !settled {
            return;
        }
        let (old, new) = (queue.q.thinks_little, !queue.q.thought.is_long(slice));
        queue.q.thinks_little = new;
        let Inject { alone, lowered, .. } = queue.q.inject;
        if old != new && alone == Duration::ZERO && (!new || since(lowered, 100, cx.now)) {
            self.forget_limit(cx.now, index);
        }
    }

    pub(super) fn release(&mut self, id: RequestId) {
        let who = self.held(id).unwrap().who;
        let at = self.process(who).unwrap();
        self.processes[at].pending -= 1;
        self.held.retain(|held| held.id != id);
        self.starts.retain(|(known, _)| *known != id);
    }

    pub(super) fn exit(&mut self, cx: Cx<'_>, who: Issuer) {
        let Some(at) = self.process(who).filter(|at| self.processes[*at].alive) else { return };
        let (own, index) = (self.processes[at].own, self.processes[at].queue);
        if self.serving == Some(index) {
            self.leave(cx, index, Reason::Timeout);
        }
        self.queues[index].q.users -= 1;
        if self.last_created == Some(self.reference(index)) {
            self.last_created = None;
        }
        (self.processes[at].alive, self.processes[at].queue) = (false, own);
        if self.queues[index].busy && self.queues[index].line.is_empty() && self.serving != Some(index) {
            self.not_busy(cx, index, false);
        }
        // Nothing is left of a process without requests in whose queue nobody else's are.
        let left = self.held.iter().any(|held| held.who == who || held.queue == own);
        if !left && !self.queues[own].busy && self.queues[own].q.users == 0 {
            self.burst.leave(self.reference(own), true);
            let queue = &mut self.queues[own];
            (queue.seat, queue.weighs, queue.counted, queue.q.life) = (Seat::Off, false, 0, queue.q.life + 1);
        }
    }
}
