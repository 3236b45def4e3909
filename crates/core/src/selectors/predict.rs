//! Simulates before it switches: plays the latest requests against every candidate on a model of the disk.
//!
//! # How it decides
//! 1. `auto-predict` watches for a change of load: processes that were not there before, or another pattern or size
//!    for two periods in a row. A pattern that takes turns with the one before, or that has come with a switch, is no
//!    change. What came before a change is not used any more.
//! 2. When enough requests have come since, `auto-predict` asks its host for predictions. The host plays the requests of
//!    the last seconds, closed loop, against every candidate, for as long as the load has lasted, and answers a
//!    little later. `auto-predict` asks again after one, two, four … periods, then every `again`.
//! 3. `auto-predict` weighs what each candidate would give against what the one in use would give, by the goal:
//!    throughput, latency of synchronous reads, fairness, the slowest process, or a mix, in which twice as much of one
//!    makes up for half as much of another. A read that is not done counts with the time that it has waited until now.
//!    A candidate under which somebody would wait for more than `patience`, and for more than twice as long as under
//!    `mq-deadline`, is as bad as can be, whatever it gives.
//!    If the best gains more than the margin, `auto-predict` switches. If loads of late lasted too briefly, it does not:
//!    a small gain is not worth being bound by the dwell time when the next load comes.
//! 4. After a switch `auto-predict` compares the outcome with the prediction. If the prediction was too good, the margin
//!    widens. Later predictions of throughput for the candidate in use that come true narrow it again. A switch
//!    that made things worse is undone, and that candidate rests. A candidate that gives less than a quarter of what was
//!    promised is known after half a second, and `auto-predict` asks again.
//!
//! Both sides of each comparison are predictions, so that a model that is too fast or too slow throughout does no harm.
//! But if the candidate in use gives much less than predicted, what it gives is what counts. Some predictions are
//! doubted, and `auto-predict` asks again: one that says so for the first time, after one that was right; and, in a
//! load that has lasted, one that finds a candidate better that was not better in the prediction before.
//!
//! # Source
//! Own.
//!
//! # Good for, bad for
//! Any load, if the model of the disk is right. Predicting costs a core for a fraction of a second now and then.

mod bias;
mod change;
mod doubt;
mod goal;
mod lifetimes;
mod outcome;
#[cfg(test)]
mod tests;

use super::category::BY_PLACE;
use super::contract::{
    self, CANDIDATES_MAX, Common, Method, Prediction, Question, Selector, Setup, Situation, Verdict, Wish,
};
use super::summary::Summary;
use crate::collections::OutOfMemory;
use crate::tunables::{Count, Milliseconds, Percent};
use crate::units::{Duration, Instant};
use crate::why::Reason;
use bias::{Bias, Compared};
use change::Watch;
use doubt::{Doubt, bit};
pub use goal::Goal;
use lifetimes::Lifetimes;
use outcome::{Outcome, Worse};

crate::tunables! {
    /// How predictions are made and used.
    pub struct Foresight {
        /// How much of the latest requests is played again, at most.
        window: Milliseconds = 10_000, 100..=600_000;
        /// How long each candidate is simulated at least: as long as the load has lasted. A disk's buffer hides for
        /// a second or more what it cannot keep up.
        horizon: Milliseconds = 4000, 10..=600_000;
        /// How long each candidate is simulated at most.
        horizon_max: Milliseconds = 60_000, 10..=600_000;
        /// When the answer is there, counted from the question.
        delay: Milliseconds = 50, 1..=600_000;
        /// Requests that it takes to predict: with fewer, chance decides.
        few: Count = 40, 1..=100_000;
        /// The longest time between two questions.
        again: Milliseconds = 8000, 100..=86_400_000;
        /// The least gain that is worth a switch: less than that is a tie.
        margin: Percent = 5, 0..=1000;
        /// The most by which errors of the model widen the margin.
        error_max: Percent = 30, 0..=1000;
        /// How long a candidate rests whose switch made things worse, unless the load changes.
        rest: Milliseconds = 20_000, 0..=86_400_000;
    }
}

crate::groups! {
    /// What it can be told besides.
    pub struct Settings {
        /// How predictions are made and used.
        foresight: Foresight,
        /// What counts as a gain.
        goal: Goal,
    }
}

/// Linux uses this scheduler if nobody chooses another: people are used to its waits.
const USUAL: &str = "mq-deadline";

/// The predicting selector.
pub struct Predict {
    common: Common,
    settings: Settings,
    watch: Watch,
    outcome: Outcome,
    bias: Bias,
    doubt: Doubt,
    lifetimes: Lifetimes,
    /// The load is new: nothing was predicted for it yet.
    new: bool,
    /// An answer is on its way.
    asked: bool,
    next_question: Instant,
    /// The time to the next question but one.
    gap: Duration,
    /// Until when each candidate rests.
    rests: [Instant; CANDIDATES_MAX],
    /// A switch that is to be undone.
    undo: Option<Worse>,
}

impl Method for Predict {
    const NAME: &'static str = "auto-predict";
    const SUMMARY: &'static str =
        "Selector: simulates every candidate on the latest requests before it switches.";
    const SOURCE: &'static str = "own";
    /// Found by measurement: each more gains less than a hundredth, and few are soon compared.
    const CANDIDATES: &'static [&'static str] = &["turns", USUAL, "as"];
    const PREDICTS: bool = true;
    /// The selector looks ten times a second, and keeps to a choice for half a second.
    const PRESETS: &'static [(&'static str, u64)] = &[("period", 100), ("dwell", 500), ("idle", 1), BY_PLACE];
    type Tunables = Settings;

    fn new(_: Setup<'_>, settings: contract::Settings<Self>) -> Result<Self, OutOfMemory> {
        Ok(Predict {
            common: *settings.common,
            settings: settings.own,
            watch: Watch::default(),
            outcome: Outcome::default(),
            bias: Bias::default(),
            doubt: Doubt::default(),
            lifetimes: Lifetimes::default(),
            new: true,
            asked: false,
            next_question: Instant::ZERO,
            gap: Duration::ZERO,
            rests: [Instant::ZERO; CANDIDATES_MAX],
            undo: None,
        })
    }
}

impl Predict {
    /// The margin, widened by the model's error, in thousandths.
    fn margin(&self) -> u64 {
        let error = self.outcome.error_permille().min(self.settings.foresight.error_max.0 * 10);
        self.settings.foresight.margin.0 * 10 + error
    }

    /// What to ask now, if anything.
    fn question(&mut self, now: Instant) -> Option<Question> {
        let ready = self.watch.requests() >= self.settings.foresight.few.0 && now >= self.next_question;
        if self.asked || !ready {
            return None;
        }
        self.asked = true;
        self.gap = (self.gap * 2).max(self.common.pace.period.0);
        self.next_question = now + self.gap.min(self.settings.foresight.again.0);
        let Foresight { window, horizon, horizon_max, delay, .. } = self.settings.foresight;
        let begun = self.watch.since();
        Some(Question {
            begun,
            since: begun.max(now - window.0),
            horizon: now.since(begun).min(horizon_max.0).max(horizon.0),
            due: now + delay.0,
        })
    }

    /// The longest that anybody may wait.
    fn limit(&self, at: Situation<'_>, predictions: &[Prediction]) -> Duration {
        let usual = predictions.iter().find(|one| name(at, one.candidate) == USUAL);
        self.settings.goal.limit(usual.map_or(Duration::ZERO, |usual| usual.longest))
    }

    /// Why not to switch to `best`, which promises such a gain.
    fn refuses(&self, at: Situation<'_>, gain: i64, best: &Prediction) -> Option<Reason> {
        let (name, margin) = (name(at, best.candidate), self.margin());
        if gain <= margin as i64 {
            let text = "the best other, {}, would be {} by {} thousandths: the margin is {}";
            let word = if gain < 0 { "worse" } else { "better" };
            let facts = [name.into(), word.into(), gain.unsigned_abs().into(), margin.into()];
            return Some(Reason::new(text, &facts));
        }
        let (age, dwell) = (at.now.since(self.watch.since()), self.common.pace.dwell.0);
        let text =
            "{} would be better by {} thousandths, but the next load may come before the dwell time ends";
        let worth = self.lifetimes.worth(gain, age, dwell);
        (!worth).then(|| Reason::new(text, &[name.into(), gain.unsigned_abs().into()]))
    }
}

/// The name of a candidate.
fn name(at: Situation<'_>, candidate: u8) -> &'static str {
    at.candidates[usize::from(candidate)].entry.name
}

impl Selector for Predict {
    fn period(&mut self, at: Situation<'_>, summary: &Summary) -> Verdict {
        let before = (self.watch.requests() > 0).then(|| self.watch.since());
        let changed = self.watch.look(at.now, at.current, summary, &self.common.bounds);
        if let Some(before) = before.filter(|_| changed) {
            self.lifetimes.ended(self.watch.since().since(before));
        }
        if changed {
            self.new = true;
            self.outcome.forget();
            self.bias.forget();
            self.doubt.forget();
            (self.rests, self.undo) = ([Instant::ZERO; CANDIDATES_MAX], None);
            (self.gap, self.next_question) = (Duration::ZERO, at.now);
        }
        let worse = self.outcome.look(at.current, summary, &self.settings.goal);
        // As long as something holds it back, it is wanted still.
        self.undo = worse.or(self.undo).filter(|worse| worse.after == at.current);
        if let Some(Worse { before, after, ratio_permille }) = self.undo {
            self.rests[after] = at.now + self.settings.foresight.rest.0;
            let text = "undone: {} gave {} thousandths of what {} gave";
            let (name, old) = (at.candidates[after].entry.name, at.candidates[before].entry.name);
            let facts = [name.into(), ratio_permille.into(), old.into()];
            return Verdict { wish: Wish::Use(before), reason: Reason::new(text, &facts) };
        }
        if self.outcome.has_news() {
            (self.gap, self.next_question) = (Duration::ZERO, at.now);
        } else if self.outcome.should_have_settled() {
            // Whether it has is asked before a switch is judged.
            self.next_question = at.now;
        }
        if at.free
            && let Some(question) = self.question(at.now)
        {
            let reason = Reason::new(
                "what would each make of {} requests since {}?",
                &[self.watch.requests().into(), question.since.into()],
            );
            return Verdict { wish: Wish::Predict(question), reason };
        }
        let text = if changed { "the load has changed" } else { "the last prediction stands" };
        Verdict::stay(Reason::new(text, &[]))
    }

    fn predicted(&mut self, at: Situation<'_>, predictions: &[Prediction]) -> Verdict {
        self.asked = false;
        let Some(own) = predictions.iter().find(|own| usize::from(own.candidate) == at.current) else {
            return Verdict::stay(Reason::new("too few requests to predict from", &[]));
        };
        self.outcome.settling(own.settles);
        let goal = self.settings.goal;
        // Of other goals, a second or two says too little: percentiles and who is slowest vary.
        if goal.is_throughput() {
            self.outcome.confirm(&self.bias.expects(own), &goal);
        }
        let compared = self.bias.compare(own, self.outcome.measured());
        let (own, short) = match &compared {
            Compared::Right(own) => (own, false),
            Compared::Short(own) => (own, true),
            Compared::Doubtful => {
                (self.gap, self.next_question) = (Duration::ZERO, at.now);
                let text = "{} gives much less than it would: the last prediction was right, and this one is doubtful";
                return Verdict::stay(Reason::new(text, &[at.candidates[at.current].entry.name.into()]));
            }
        };
        let limit = self.limit(at, predictions);
        let rests =
            |candidate: u8| self.rests.get(usize::from(candidate)).is_some_and(|until| *until > at.now);
        let others = predictions.iter().filter(|other| other.candidate != own.candidate);
        let gains = others
            .filter(|other| !rests(other.candidate))
            .map(|other| (goal.gain_within(limit, other, own), other));
        let margin = self.margin() as i64;
        let better =
            gains.clone().filter(|(gain, _)| *gain > margin).map(|(_, other)| bit(other.candidate)).sum();
        let Some((gain, best)) = gains.max_by_key(|(gain, other)| (*gain, u8::MAX - other.candidate)) else {
            return Verdict::stay(Reason::new("no other candidate is there", &[]));
        };
        if core::mem::take(&mut self.new) {
            self.lifetimes.begun(gain);
        }
        let age = at.now.since(self.watch.since());
        if !self.doubt.believes(at.current, better, best.candidate, age) && gain > margin {
            (self.gap, self.next_question) = (Duration::ZERO, at.now);
            let text =
                "{} would be better by {} thousandths, which no prediction before has said: it is doubtful";
            return Verdict::stay(Reason::new(
                text,
                &[name(at, best.candidate).into(), gain.unsigned_abs().into()],
            ));
        }
        if let Some(reason) = self.refuses(at, gain, best) {
            return Verdict::stay(reason);
        }
        let relieves = own.longest > limit && best.longest <= limit;
        self.outcome.expect(at.current, self.bias.expects(best), relieves);
        let (name, old) = (name(at, best.candidate), at.candidates[at.current].entry.name);
        let reason = if relieves {
            let text = "under {} somebody would wait {}, under {} nobody longer than {}";
            Reason::new(text, &[old.into(), own.longest.into(), name.into(), best.longest.into()])
        } else if goal.is_throughput() {
            let text = match short {
                false => "{} would give {} KiB/s where {} would give {}",
                true => "{} would give {} KiB/s where {} falls short with {}",
            };
            let kib = |prediction: &Prediction| (prediction.throughput / 1024).into();
            Reason::new(text, &[name.into(), kib(best), old.into(), kib(own)])
        } else {
            let text = "{} would be better than {} by {} thousandths: the margin is {}";
            let facts = [name.into(), old.into(), gain.unsigned_abs().into(), self.margin().into()];
            Reason::new(text, &facts)
        };
        Verdict { wish: Wish::Use(usize::from(best.candidate)), reason }
    }
}
