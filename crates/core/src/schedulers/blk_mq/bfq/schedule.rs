//! What `bfq` does when it is called.

use super::Bfq;
use super::budget::Reason;
use super::inject::Whose;
use super::queue::Ref;
use super::raise::RAISED;
use super::requests::Requests;
use super::serve::Chosen;
use crate::request::Request;
use crate::room::Quota;
use crate::scheduler::{Cx, Decision, Scheduler};
use crate::units::{Issuer, RequestId};
use crate::why::Fact;

impl Bfq {
    /// What the device's answer says of the queue that it is for.
    fn note_completion(&mut self, cx: Cx<'_>, index: usize) {
        let serving = self.service.in_service.map(|index| &self.queues[index]);
        let own = serving.filter(|queue| queue.thinks_little);
        let own = own.map(|queue| queue.in_flight + queue.fifo.len() as u32);
        self.tagging.observe(self.waiting, self.in_flight, own);
        self.in_flight -= 1;
        let slice_idle = self.slice_idle();
        let queue = &mut self.queues[index];
        queue.in_flight -= 1;
        queue.thought.since = cx.now;
        self.last_completed = (!queue.shared).then_some(Ref { queue: index, life: queue.life });
        if queue.in_flight == 0 {
            if queue.plans_soft && queue.is_empty() && queue.raise.factor() != RAISED {
                queue.raise.plan_soft(cx.now, slice_idle);
            }
            if !self.service.shares.is_busy(index) {
                queue.timeout = Some(cx.now);
                self.service.shares.uncount(index);
            }
        }
        if self.rate.completed(cx.now) {
            self.retune();
        }
    }

    /// A request of the queue in service is done: it is idled for, goes on, or goes out of service.
    fn go_on(&mut self, cx: Cx<'_>, index: usize) {
        let (empty, done) = (self.queues[index].is_empty(), self.queues[index].in_flight == 0);
        if self.must_idle(cx, index) {
            if done {
                self.arm(cx, index);
            }
        } else if self.times_out(cx.now, index) {
            self.expire(cx, index, Reason::Timeout, false);
        } else if empty {
            self.expire(cx, index, Reason::NoMore, false);
        }
    }

    fn queue_word(&self, index: usize) -> Fact {
        let queue = &self.queues[index];
        if queue.is_sync() { queue.who.into() } else { "asynchronous".into() }
    }

    /// Why this request goes. `before` was in service until now.
    fn explain(&mut self, cx: Cx<'_>, Chosen { index, whose, .. }: Chosen, before: Option<usize>) {
        if cx.notes().is_none() {
            return;
        }
        if let Some(ended) = self.ended.take() {
            let who = ended.who.map_or("asynchronous".into(), Fact::from);
            let (words, service) = (ended.reason.words().into(), ended.service.into());
            match ended.charged.filter(|charged| *charged > ended.service) {
                Some(charged) => cx.rather("queue {} {}: served {} sectors, but charged for {}", || {
                    [who, words, service, charged.into()]
                }),
                None => cx.rather("queue {} {}: served {} sectors", || [who, words, service]),
            }
        }
        let entity = &self.service.entities[index];
        let new = before != self.service.in_service || entity.service == 0;
        let queue = self.queue_word(index);
        let (finish, weight) = (entity.finish >> super::entity::SHIFT, entity.weight());
        let serving = self.service.in_service.map_or("nobody".into(), |serving| self.queue_word(serving));
        match whose {
            Whose::Own if new => cx.because("queue {} is next: weight {}, finish {}, budget {}", || {
                [queue, weight.into(), finish.into(), entity.left().into()]
            }),
            Whose::Own => cx.because("queue {} goes on: budget left: {}", || [queue, entity.left().into()]),
            Whose::OwnAsync => {
                cx.because("waits for process {}; its own asynchronous request goes", || [serving]);
            }
            Whose::Waker => cx.because("waits for process {}, which {} wakes", || [serving, queue]),
            Whose::Woken => cx.because("waits for process {}, which wakes {}", || [serving, queue]),
            Whose::Other => {
                let limit =
                    self.service.in_service.map_or(0, |index| u64::from(self.queues[index].inject.limit));
                cx.because("waits for process {}; one of {} goes besides, as {} may", || {
                    [serving, queue, limit.into()]
                });
            }
        }
    }
}

impl Scheduler for Bfq {
    fn insert(&mut self, cx: Cx<'_>, id: RequestId) {
        self.catch_up(cx);
        let arrival = self.admit(cx, id);
        self.keep(arrival);
        self.arrive(cx, arrival);
    }

    fn dispatch(&mut self, cx: Cx<'_>) -> Decision {
        self.catch_up(cx);
        if self.waiting == 0 {
            return Decision::Idle;
        }
        if self.tunables.strict_guarantees && self.in_flight > 0 {
            cx.because("strict guarantees: one at a time", || []);
            return Decision::Idle;
        }
        let before = self.service.in_service;
        let chosen = match self.select(cx) {
            Ok(chosen) => chosen,
            Err(decision) => return decision,
        };
        self.explain(cx, chosen, before);
        self.send(cx, chosen);
        Decision::Dispatch(chosen.id)
    }

    fn complete(&mut self, cx: Cx<'_>, id: RequestId) {
        self.catch_up(cx);
        let Some((index, place)) = self.requests.disown(id) else { return };
        if self.watch.request == Some(id) {
            self.judge_injection(cx.now, index);
        }
        self.note_completion(cx, index);
        if self.service.in_service == Some(index) {
            self.go_on(cx, index);
        }
        self.release(index, place);
    }

    fn remove(&mut self, cx: Cx<'_>, id: RequestId) {
        self.catch_up(cx);
        if let Some((index, place)) = self.requests.disown(id) {
            self.take_out(cx, index, id);
            self.release(index, place);
        }
    }

    fn grown(&mut self, cx: Cx<'_>, id: RequestId) {
        self.catch_up(cx);
        let Some(index) = self.requests.queue(id) else { return };
        if self.requests.rekey(cx, index, id) {
            let (back, before) = (self.back(), self.queues[index].next);
            let next = Requests::choose(cx, back, self.rate.position, before, Some(id));
            self.queues[index].next = next;
            if next != before {
                self.renew_budget(cx, index);
            }
        }
    }

    fn absorbed(&mut self, cx: Cx<'_>, survivor: RequestId, other: RequestId) {
        if let (Some(index), true) =
            (self.requests.queue(survivor), self.requests.queue(survivor) == self.requests.queue(other))
        {
            let queue = &mut self.queues[index];
            self.requests.inherit(queue, survivor, other);
            if queue.next == Some(other) {
                queue.next = Some(survivor);
            }
        }
        self.remove(cx, other);
        self.grown(cx, survivor);
    }

    fn issuer_gone(&mut self, cx: Cx<'_>, who: Issuer) {
        self.catch_up(cx);
        self.exit(cx, who);
    }

    fn may_merge(&self, _: Cx<'_>, id: RequestId, new: &Request) -> bool {
        let queue = if new.sync {
            let place = self.issuers.find(new.issuer).map(|place| &self.processes[place.index()]);
            place.filter(|process| process.alive).map(|process| process.queue)
        } else {
            Some(self.async_queue(new.priority))
        };
        queue.is_some() && self.requests.queue(id) == queue
    }

    fn quota(&self, size: usize) -> Quota {
        // Linux's `word_depths`: in sixteenths for asynchronous requests, and for all but synchronous reads.
        let (asynchronous, others) = if self.raised_busy > 0 { (3, 6) } else { (8, 12) };
        Quota { others: size * others / 16, asynchronous: size * asynchronous / 16 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::AnyScheduler;
    use crate::units::{Instant, Sector, Sectors};
    use crate::{Device, Merging, Queue, registry};

    /// Fills a queue of 128 with what has room; returns how many asynchronous requests and then synchronous
    /// writes. A process that has come before is raised, if any is.
    fn filled(settings: &[(&str, u64)]) -> (usize, usize) {
        let device = Device { merging: Merging::Off, ..Device::default() };
        let mut queue: Queue<AnyScheduler> =
            Queue::new(128, device, registry::find("bfq").unwrap(), settings).unwrap();
        let now = Instant(10_000_000_000);
        queue.insert(now, Request::read(Sector(1000), Sectors(8)).by(Issuer(1))).unwrap();
        let write = Request::write(Sector(8), Sectors(8)).by(Issuer(9));
        while queue.room().asynchronous {
            queue.insert(now, write).unwrap();
        }
        while queue.room().sync_writes {
            queue.insert(now, Request { sync: true, ..write }).unwrap();
        }
        (queue.requests().asynchronous(), queue.requests().sync_writes())
    }

    #[test]
    fn writes_have_less_room_while_a_queue_is_raised() {
        assert_eq!(filled(&[("low_latency", 0)]), (64, 32));
        assert_eq!(filled(&[]), (24, 24));
    }
}
