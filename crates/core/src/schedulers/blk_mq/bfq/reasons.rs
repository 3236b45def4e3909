//! Why a request is dispatched, or none is, in words.

use super::idling;
use super::queues::Queues;
use super::service::{Chosen, Ended, Whose};
use crate::scheduler::Cx;
use crate::units::Instant;
use crate::why::Fact;

fn word(queues: &Queues, queue: usize) -> Fact {
    queues.processes.who(queue).map_or("asynchronous".into(), Fact::from)
}

/// How the last service before this request ended.
pub(super) fn end(cx: Cx<'_>, Ended { who, reason, service, charged }: Ended) {
    let who = who.map_or("asynchronous".into(), Fact::from);
    let (words, served) = (reason.words().into(), service.into());
    match charged.filter(|charged| *charged > service) {
        Some(charged) => cx.rather("queue {} {}: served {} sectors, but charged for {}", || {
            [who, words, served, charged.into()]
        }),
        None => cx.rather("queue {} {}: served {} sectors", || [who, words, served]),
    }
}

/// Why this request goes. `before` was in service until now.
pub(super) fn dispatch(cx: Cx<'_>, queues: &Queues, chosen: Chosen, before: Option<usize>) {
    let Chosen { queue, whose, .. } = chosen;
    let (wf2q, serving) = (&queues.wf2q, queues.wf2q.in_service);
    let new = before != serving || wf2q.entities[queue].service == 0;
    let (own, left) = (word(queues, queue), wf2q.entities[queue].left().into());
    let served = serving.map_or("nobody".into(), |serving| word(queues, serving));
    match whose {
        Whose::Own if new => cx.because("queue {} is next: weight {}, finish {}, budget {}", || {
            [own, wf2q.entities[queue].weight.into(), wf2q.entities[queue].last_sector().into(), left]
        }),
        Whose::Own => cx.because("queue {} goes on: budget left: {}", || [own, left]),
        Whose::OwnAsync => {
            cx.because("waits for process {}; its own asynchronous request goes", || [served]);
        }
        Whose::Waker => cx.because("waits for process {}, which {} wakes", || [served, own]),
        Whose::Woken => cx.because("waits for process {}, which wakes {}", || [served, own]),
        Whose::Other => {
            let limit = serving.map_or(0, |serving| u64::from(queues.list[serving].limit.limit));
            cx.because("waits for process {}; one of {} goes besides, as {} may", || {
                [served, own, limit.into()]
            });
        }
    }
}

/// Why nothing goes while `queue` is idled for, until then or until its requests in flight are done.
pub(super) fn wait(cx: Cx<'_>, queues: &Queues, queue: usize, until: Option<Instant>) {
    let who = word(queues, queue);
    let Some(until) = until else {
        return cx
            .because("waits until what process {} has in flight is done, and then for its next", || [who]);
    };
    let text = if queues.list[queue].raise.is_on() {
        "waits for process {}, which is raised, until {}: it thinks {}; budget left: {}"
    } else if idling::boosts(queues, cx, queue) {
        "waits for process {} until {}, as that costs nothing: it thinks {}; budget left: {}"
    } else {
        "waits for process {} until {} to keep its share: it thinks {}; budget left: {}"
    };
    let mean = queues.list[queue].habits.mean;
    cx.because(text, || [who, until.into(), mean.into(), queues.wf2q.entities[queue].left().into()]);
}
