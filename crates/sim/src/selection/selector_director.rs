//! The director of a run with a selector: tells the chooser everything, carries out what it decides.
//!
//! A prediction is computed beside the run. Its answer counts from a stated virtual time on,
//! however long the thread really takes: runs repeat exactly.

use std::sync::Arc;

use idlewise_core::host::Follower;
use idlewise_core::registry::SwitchError;
use idlewise_core::selectors::{Action, Candidate, Chooser, Decision, Prediction, Question};
use idlewise_core::{AnyScheduler, Duration, Inserted, Instant, Issuer, Queue, Request, RequestId};

use super::aged::Aged;
use super::beside::Beside;
use super::forecast::{Forecaster, Window};
use super::habits::Habits;
use super::log::{Evidence, Log};
use super::promises::Promises;
use super::switching::{Switch, Switching};
use crate::engine::director::Director;
use crate::metrics::selector::{Account, InUse};

/// An answer that is being computed.
struct Pending {
    due: Instant,
    horizon: Duration,
    predictions: Beside<Vec<Prediction>>,
}

/// A selector at work in a run.
pub struct Selecting {
    chooser: Chooser,
    forecaster: Option<Arc<Forecaster>>,
    habits: Habits,
    aged: Option<Aged>,
    switching: Switching,
    pending: Option<Pending>,
    switch: Option<Switch>,
    since: Instant,
    promises: Promises,
    account: Account,
    log: Option<Log>,
}

impl Selecting {
    /// A director that asks `chooser`. Predictions come from `forecaster`, each when its question wants it.
    pub fn new(
        chooser: Chooser,
        forecaster: Option<Arc<Forecaster>>,
        switching: Switching,
        log: Option<Log>,
    ) -> Selecting {
        let named = |(candidate, id): (&Candidate, u32)| InUse {
            id,
            scheduler: super::files::label(candidate),
            time_ns: 0,
        };
        let in_use = chooser.candidates().iter().zip(1..).map(named).collect();
        let account = Account { in_use, ..Account::default() };
        Selecting {
            aged: forecaster.as_ref().and_then(|forecaster| forecaster.aged()),
            chooser,
            forecaster,
            habits: Habits::default(),
            switching,
            pending: None,
            switch: None,
            since: Instant::ZERO,
            promises: Promises::default(),
            account,
            log,
        }
    }

    /// The candidate in use.
    pub fn current(&self) -> &Candidate {
        self.chooser.candidate()
    }

    /// What it did, in a run that ended at `end`.
    pub fn finish(mut self, end: Instant) -> (Account, Option<Log>) {
        self.account.in_use[self.chooser.current()].time_ns += end.since(self.since).0;
        self.account.switches = self.chooser.switches();
        self.promises.tell(&mut self.account);
        (self.account, self.log)
    }

    /// Carries a decision out; true if the scheduler is another one now.
    fn carry_out(
        &mut self,
        evidence: Evidence,
        decision: &Decision,
        queue: &mut Queue<AnyScheduler>,
    ) -> Result<bool, SwitchError> {
        let now = decision.at;
        if let Some(log) = &mut self.log {
            log.add(evidence, decision, &self.chooser);
        }
        match decision.action {
            Action::Stay => Ok(false),
            Action::Predict(question) => {
                self.ask(now, question, queue);
                Ok(false)
            }
            Action::Switch(to) => {
                self.account.in_use[decision.from].time_ns += now.since(self.since).0;
                self.since = now;
                self.promises.end();
                if self.switching == Switching::Carry {
                    return self.switch(now, to, queue);
                }
                let began = self.switch.map_or(now, |switch| switch.began);
                self.switch = Some(Switch { to, began, ready: None });
                self.drained(now, queue)
            }
        }
    }

    fn switch(&self, now: Instant, to: usize, queue: &mut Queue<AnyScheduler>) -> Result<bool, SwitchError> {
        self.chooser.candidates()[to].take_over(now, queue)?;
        Ok(true)
    }

    /// Lets the successor take over if the queue has drained and the grace is over.
    fn drained(&mut self, now: Instant, queue: &mut Queue<AnyScheduler>) -> Result<bool, SwitchError> {
        let Some(switch) = &mut self.switch else { return Ok(false) };
        let empty = queue.requests().free_count() == queue.requests().capacity();
        if !empty {
            return Ok(false);
        }
        let ready = *switch.ready.get_or_insert(now + self.switching.grace());
        if now < ready {
            return Ok(false);
        }
        let Switch { to, began, .. } = *switch;
        self.switch = None;
        self.account.blocked_ns += now.since(began).0;
        self.switch(now, to, queue)
    }

    /// Starts a prediction.
    fn ask(&mut self, now: Instant, question: Question, queue: &Queue<AnyScheduler>) {
        self.account.questions += 1;
        let (Some(forecaster), Some(recent)) = (&self.forecaster, self.chooser.recent()) else { return };
        let window = Window {
            aged: self.aged.clone(),
            learned: Some(queue.learned().clone()),
            ..forecaster.window(recent, &mut self.habits, now, question)
        };
        let forecaster = Arc::clone(forecaster);
        let predictions = Beside::begin(move || forecaster.predict(&window));
        self.pending = Some(Pending { due: question.due, horizon: question.horizon, predictions });
    }
}

impl Follower for Selecting {
    #[inline]
    fn inserted(&mut self, inserted: Inserted, request: &Request) {
        Follower::inserted(&mut self.chooser, inserted, request);
    }

    #[inline]
    fn dispatched(&mut self, now: Instant, id: RequestId) {
        self.chooser.dispatched(now, id);
    }

    #[inline]
    fn completed(&mut self, now: Instant, id: RequestId, request: &Request) {
        self.chooser.completed(now, id, request);
    }

    fn exited(&mut self, now: Instant, who: Issuer) {
        self.chooser.issuer_gone(now, who);
    }
}

impl Director<AnyScheduler> for Selecting {
    #[inline]
    fn next(&self) -> Instant {
        let answer = self.pending.as_ref().map_or(Instant::MAX, |pending| pending.due);
        let ready = self.switch.and_then(|switch| switch.ready).unwrap_or(Instant::MAX);
        self.chooser.next_tick().min(answer).min(ready)
    }

    fn holds(&self) -> bool {
        self.switch.is_some()
    }

    fn direct(&mut self, now: Instant, queue: &mut Queue<AnyScheduler>) -> Result<bool, SwitchError> {
        let mut switched = self.drained(now, queue)?;
        if let Some(Pending { predictions, horizon, .. }) = self.pending.take_if(|pending| pending.due <= now)
        {
            let predictions = predictions.end();
            let decision = self.chooser.predicted(now, &predictions);
            let chosen = |one: &&Prediction| decision.action == Action::Switch(one.candidate.into());
            let promised = predictions.iter().find(chosen).copied();
            switched |= self.carry_out(Evidence::Predicted(predictions), &decision, queue)?;
            if let Some(promised) = promised {
                self.promises.expect(now, &promised, horizon);
            }
        }
        if self.chooser.next_tick() <= now {
            if let (Some(aged), Some(recent)) = (&mut self.aged, self.chooser.recent()) {
                aged.learn(recent.since(Instant::ZERO), now);
            }
            let (summary, decision) = self.chooser.tick(now);
            self.promises.add(now, &summary);
            switched |= self.carry_out(Evidence::Period(summary), &decision, queue)?;
        }
        Ok(switched)
    }
}
