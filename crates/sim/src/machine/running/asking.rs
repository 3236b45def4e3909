//! The machine as the engine sees it: when something happens next, which requests come of it, and who asks the scheduler.
//!
//! Whoever has issued a request asks at once. After a completion the worker is woken, behind whoever the same completion has
//! woken, and asks when it has a processor. What is sent to the drive takes time of whoever asked.

use idlewise_core::{Duration, Instant, Request, RequestId};

use super::{FIRST, Machine};
use crate::engine::Workload;
use crate::engine::exits::Exits;
use crate::machine::kernel::FLUSHER;
use crate::machine::processors::Task;
use crate::machine::transfers::Waiter;

impl Workload for Machine {
    fn next(&mut self) -> Option<Instant> {
        self.kernel.transfers.next().or_else(|| self.next_event())
    }

    fn ready(&mut self, now: Instant, exits: &mut Exits) -> bool {
        while let Some(at) = self.next_event().filter(|at| *at <= now) {
            self.happen(at, exits);
        }
        self.end(exits);
        self.kernel.transfers.next().is_some()
    }

    fn issue(&mut self, id: RequestId) -> Request {
        let Some((request, asks)) = self.kernel.transfers.issue(id) else { unreachable!("ready() said so") };
        self.asks = self.asks.or(asks.then_some(request.issuer));
        request
    }

    fn asked_at(&mut self, now: Instant, exits: &mut Exits) -> Instant {
        if !self.kernel.parameters.asks_last {
            return now;
        }
        self.sender = self.asks.take().map(|issuer| (issuer, now));
        if self.sender.is_some() {
            return now;
        }
        self.catch_up(now, exits);
        if self.worker.sleeps() {
            self.kernel.now = self.kernel.now.max(now);
            // Whoever the same completion has woken was woken before.
            self.wake();
            self.processors.want(now, Task::Worker, Duration::ZERO);
            self.processors.run(now);
            self.worker.woken();
        }
        while let Some(at) = self.next_event().filter(|at| *at <= now) {
            self.happen(at, exits);
        }
        // What those who ran before the worker issued comes first, if there is room for it.
        if self.kernel.transfers.next().is_some_and(|at| at <= now) && self.let_in != now {
            self.let_in = now + Duration(1);
            return self.let_in;
        }
        if self.worker.ask() {
            return now;
        }
        self.next_event().map_or(now, |next| next.max(now + Duration(1)))
    }

    fn asks(&self) -> bool {
        self.worker.is_there()
    }

    fn dispatched(&mut self, now: Instant, id: RequestId) {
        let pages = self.kernel.dispatched(now, id);
        if !self.kernel.parameters.asks_last {
            return;
        }
        let cost = Duration(self.kernel.parameters.costs.send.0 * u64::from(pages));
        let sender = self.sender.filter(|(_, at)| *at == now).map(|(issuer, _)| issuer);
        if sender == Some(FLUSHER.issuer) {
            return self.kernel.flusher.owe(cost);
        }
        let sender = sender.and_then(|issuer| issuer.0.checked_sub(FIRST));
        match sender.and_then(|number| self.processes.get_mut(number as usize)) {
            Some(process) => process.owe(cost),
            None => self.worker.owe(now, cost),
        }
    }

    fn completed(&mut self, now: Instant, id: RequestId, exits: &mut Exits) {
        self.catch_up(now, exits);
        for waiter in self.kernel.done(now, id) {
            match waiter {
                Waiter::Flusher => self.kernel.flusher.outstanding -= 1,
                Waiter::Journal => {
                    let commit = self.kernel.journal.as_mut().and_then(|own| own.committing.as_mut());
                    commit.into_iter().for_each(|commit| commit.outstanding -= 1);
                }
                Waiter::Process(_) => {}
            }
        }
        let cost =
            Duration(self.kernel.parameters.costs.end.0 * u64::from(std::mem::take(&mut self.kernel.ended)));
        self.finisher.owe(now, cost);
        // Who gets a processor is told when the scheduler is to be asked.
        self.follow_up();
        self.end(exits);
    }
}
