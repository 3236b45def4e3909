//! Simulates before it switches: plays the latest requests against every candidate on a model of the disk.
//!
//! # How it decides
//! `auto-predict` begins with one candidate, *home*, and comes back to it whenever there is doubt. If the goal is throughput,
//! home is the first candidate; otherwise home is `mq-deadline`, or the first candidate if `mq-deadline` is not among them.
//! 1. `auto-predict` watches for a change of load: processes that were not there before, or another pattern or size
//!    for two periods in a row. A pattern that takes turns with the one before, or that has come with a switch, is no
//!    change. After a change `auto-predict` goes home. What came before is not used any more.
//! 2. When enough requests have come since, `auto-predict` asks its host for predictions. The host plays the requests of
//!    the last seconds, closed loop, against every candidate, for as long as the load has lasted, and answers a
//!    little later. `auto-predict` asks again after one, two, four … periods, then every `again`. It asks nothing while fewer
//!    than half a request is in the queue on average when another comes, or the disk has something to do for less than a
//!    twentieth of the time: then there is nothing to choose. All predictions together take about a fortieth of a processor at most.
//! 3. `auto-predict` weighs what each candidate would give against what the one in use would give, by the goal:
//!    throughput, latency of synchronous reads, fairness, the slowest process, or a mix, in which twice as much of one
//!    makes up for half as much of another. A read that is not done counts with the time that it has waited until now.
//!    A candidate under which somebody would wait for more than `patience`, and for more than twice as long as under
//!    `mq-deadline`, is as bad as can be, whatever it gives. To switch away from home, half of that is too long
//!    already: what comes may be worse than what came.
//!    If two predictions in a row say that the same candidate is the best, and by more than the margin, `auto-predict`
//!    switches. To go home it takes one prediction, and no margin.
//! 4. The reality guard compares what a switch promised with what is measured then. A switch is wrong if the two part by more
//!    than a factor of three, if less comes than before it, or if the load changes before that can be told. Then
//!    `auto-predict` goes home, and that candidate rests. After two wrong switches in a row the model is not believed:
//!    `auto-predict` stays at home for `rest` and asks nothing, after the next wrong one for twice as long, and so on.
//!
//! Both sides of each comparison are predictions, so that a model that is too fast or too slow throughout does no harm.
//!
//! # Source
//! Own.
//!
//! # Good for, bad for
//! Any load, if the model of the disk is right. Predicting costs a core for a fraction of a second now and then.

mod change;
mod goal;
mod guard;
#[cfg(test)]
mod tests;

use super::category::BY_PLACE;
use super::contract::{
    self, Answer, CANDIDATES_MAX, Candidate, Common, Method, Prediction, Question, Selector, Setup,
    Situation, Wish,
};
use super::summary::Summary;
use crate::collections::OutOfMemory;
use crate::tunables::{Count, Milliseconds, Percent};
use crate::units::{Duration, Instant};
use crate::why::Reason;
use change::Watch;
pub use goal::Goal;
pub use guard::{ENOUGH, SETTLE};
use guard::{Guard, Wrong};

crate::tunables! {
    /// How predictions are made and used.
    pub struct Foresight {
        /// How much of the latest requests is played again, at most.
        window: Milliseconds = 10_000, 100..=600_000;
        /// How long each candidate is simulated at least: as long as the load has lasted. A disk's buffer hides for
        /// a second or more what it cannot keep up.
        horizon: Milliseconds = 4000, 10..=600_000;
        /// How long each candidate is simulated at most.
        horizon_max: Milliseconds = 20_000, 10..=600_000;
        /// When the answer is there, counted from the question.
        delay: Milliseconds = 50, 1..=600_000;
        /// Requests that it takes to predict: with fewer, chance decides.
        few: Count = 40, 1..=100_000;
        /// The longest time between two questions.
        again: Milliseconds = 32_000, 100..=86_400_000;
        /// The least gain that is worth a switch: less than that is a tie.
        margin: Percent = 5, 0..=1000;
        /// How long a candidate rests that a wrong switch led to, unless the load changes; and for how long the model is
        /// not believed after two wrong switches.
        rest: Milliseconds = 20_000, 0..=86_400_000;
    }
}

crate::groups! {
    /// Tunables of `auto-predict` besides those that all selectors have.
    pub struct Settings {
        /// How predictions are made and used.
        foresight: Foresight,
        /// What counts as a gain.
        goal: Goal,
    }
}

/// Linux uses this scheduler if nobody chooses another: people are used to its waits.
const USUAL: &str = "mq-deadline";

/// With fewer requests in the queue when another comes, in hundredths, there is hardly ever anything to choose.
const QUEUED: u64 = 50;

/// A disk that has something to do for less than this part of the time soon has nothing to do, whoever chooses.
const BUSY: u64 = 20;

/// To simulate a request takes about a microsecond, and forty times as long must pass for it.
const CHARGE: Duration = Duration::from_us(40);

/// How far predictions may be ahead of that: after a change several come at once.
const AHEAD: Duration = Duration::from_s(10);

/// What has queued since the last question or the last change.
#[derive(Default)]
struct Queued {
    requests: u64,
    /// Others in the queue when one came, added up.
    others: u64,
    /// How long something was in the queue or in the device, and how long it has been since.
    busy: Duration,
    time: Duration,
}

impl Queued {
    fn add(&mut self, summary: &Summary) {
        self.requests += summary.requests;
        self.others += summary.outstanding;
        self.busy += summary.busy;
        self.time += summary.length;
    }

    fn is_hardly_anything(&self) -> bool {
        self.others * 100 < self.requests * QUEUED || self.busy * BUSY < self.time
    }
}

/// The predicting selector.
pub struct Predict {
    common: Common,
    settings: Settings,
    watch: Watch,
    guard: Guard,
    /// An answer is on its way.
    asked: bool,
    next_question: Instant,
    /// The time to the next question but one.
    gap: Duration,
    /// How much time must pass for the predictions so far.
    owed: Duration,
    /// Since the last question or change: the requests, and how many were in the queue when each came, added up.
    queued: Queued,
    /// Until when each candidate rests.
    rests: [Instant; CANDIDATES_MAX],
    /// The candidate that the last prediction found better than the one in use.
    better: Option<u8>,
    /// Why to go home, as soon as nothing holds it back.
    back: Option<Reason>,
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
            guard: Guard::default(),
            asked: false,
            next_question: Instant::ZERO,
            gap: Duration::ZERO,
            owed: Duration::ZERO,
            queued: Queued::default(),
            rests: [Instant::ZERO; CANDIDATES_MAX],
            better: None,
            back: None,
        })
    }
}

impl Predict {
    /// What to ask now, if anything.
    fn question(&mut self, now: Instant) -> Option<Question> {
        let ready = self.watch.requests() >= self.settings.foresight.few.0 && now >= self.next_question;
        if self.asked || !ready || self.owed > AHEAD || self.queued.is_hardly_anything() {
            return None;
        }
        (self.asked, self.queued) = (true, Queued::default());
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

    /// The candidate to begin with and to come back to: the first one, but the usual one if it is not throughput that counts.
    fn home(&self, candidates: &[Candidate]) -> usize {
        let usual = || candidates.iter().position(|candidate| candidate.entry.name == USUAL);
        if self.settings.goal.is_throughput() { 0 } else { usual().unwrap_or(0) }
    }

    /// The longest that anybody may wait.
    fn limit(&self, at: Situation<'_>, predictions: &[Prediction]) -> Duration {
        let usual = predictions.iter().find(|one| name(at, one.candidate) == USUAL);
        self.settings.goal.limit(usual.map_or(Duration::ZERO, |usual| usual.longest))
    }

    /// Asks again as soon as may be.
    fn hurry(&mut self, now: Instant) {
        (self.gap, self.next_question) = (Duration::ZERO, now);
    }

    /// Takes in what a period shows of the load, and of the last switch. Why to go home, if that is a reason.
    fn looks(&mut self, at: Situation<'_>, summary: &Summary) -> Option<Reason> {
        self.owed = self.owed - summary.length;
        let changed = self.watch.look(at.now, at.current, summary, &self.common.bounds);
        if changed {
            self.queued = Queued::default();
        }
        self.queued.add(summary);
        if changed {
            self.guard.forget(at.now, self.settings.foresight.rest.0);
            (self.rests, self.better) = ([Instant::ZERO; CANDIDATES_MAX], None);
            self.hurry(at.now);
            return Some(Reason::new("the load has changed", &[]));
        }
        let rest = self.settings.foresight.rest.0;
        let Wrong { after, promised, got } =
            self.guard.look(at.now, at.current, summary, &self.settings.goal, rest)?;
        self.rests[after] = at.now + rest;
        let text = "{} promised {} KiB/s and gives {}";
        let facts = [at.candidates[after].entry.name.into(), (promised / 1024).into(), (got / 1024).into()];
        Some(Reason::new(text, &facts))
    }

    /// Why to stay, if `best` promises such a gain over the one in use.
    fn refuses(&mut self, at: Situation<'_>, gain: i64, best: &Prediction) -> Option<Reason> {
        let margin = self.settings.foresight.margin.0 * 10;
        let better = (gain > margin as i64).then_some(best.candidate);
        let before = core::mem::replace(&mut self.better, better);
        let name = name(at, best.candidate);
        if better.is_none() {
            let text = "the best other, {}, would be {} by {} thousandths: the margin is {}";
            let word = if gain < 0 { "worse" } else { "better" };
            return Some(Reason::new(
                text,
                &[name.into(), word.into(), gain.unsigned_abs().into(), margin.into()],
            ));
        }
        if before == better {
            return None;
        }
        self.hurry(at.now);
        let text = "{} would be better by {} thousandths, if the next prediction says so too";
        Some(Reason::new(text, &[name.into(), gain.unsigned_abs().into()]))
    }
}

/// The name of a candidate.
fn name(at: Situation<'_>, candidate: u8) -> &'static str {
    at.candidates[usize::from(candidate)].entry.name
}

/// Why `best` is better than `own`, by such a gain.
fn because(at: Situation<'_>, own: &Prediction, best: &Prediction, gain: i64, goal: &Goal) -> Reason {
    let (old, new) = (name(at, own.candidate), name(at, best.candidate));
    if goal.is_throughput() {
        let kib = |prediction: &Prediction| (prediction.throughput / 1024).into();
        let text = "{} would give {} KiB/s where {} would give {}";
        Reason::new(text, &[new.into(), kib(best), old.into(), kib(own)])
    } else {
        let text = "{} would be better than {} by {} thousandths";
        Reason::new(text, &[new.into(), old.into(), gain.unsigned_abs().into()])
    }
}

impl Selector for Predict {
    fn first(&mut self, candidates: &[Candidate]) -> usize {
        self.home(candidates)
    }

    fn period(&mut self, at: Situation<'_>, summary: &Summary) -> Answer {
        let reason = self.looks(at, summary);
        // As long as something holds it back, it is wanted still.
        let home = self.home(at.candidates);
        self.back = reason.or(self.back).filter(|_| at.current != home);
        if let Some(reason) = self.back {
            return Answer { wish: Wish::Use(home), reason };
        }
        if let Some((until, times)) = self.guard.distrusts(at.now) {
            let text = "predictions are not believed until {}: twice in a row a switch was wrong, {} times since one was right";
            return Answer::stay(Reason::new(text, &[until.into(), u64::from(times).into()]));
        }
        if at.free
            && let Some(question) = self.question(at.now)
        {
            let text = "what would each make of {} requests since {}?";
            let facts = [self.watch.requests().into(), question.since.into()];
            return Answer { wish: Wish::Predict(question), reason: Reason::new(text, &facts) };
        }
        Answer::stay(reason.unwrap_or_else(|| Reason::new("the last prediction stands", &[])))
    }

    fn predicted(&mut self, at: Situation<'_>, predictions: &[Prediction]) -> Answer {
        self.asked = false;
        self.owed += CHARGE * predictions.iter().map(|one| one.requests).sum::<u64>();
        let Some(own) = predictions.iter().find(|own| usize::from(own.candidate) == at.current) else {
            return Answer::stay(Reason::new("too few requests to predict from", &[]));
        };
        let goal = self.settings.goal;
        let limit = self.limit(at, predictions);
        let rests =
            |candidate: u8| self.rests.get(usize::from(candidate)).is_some_and(|until| *until > at.now);
        let at_home = self.home(at.candidates);
        let bound =
            |other: &Prediction| if usize::from(other.candidate) == at_home { limit } else { limit / 2 };
        let gains = predictions
            .iter()
            .filter(|other| other.candidate != own.candidate && !rests(other.candidate))
            .map(|other| (goal.gain_within([bound(other), limit], other, own), other));
        let home = gains.clone().find(|(gain, other)| usize::from(other.candidate) == at_home && *gain > 0);
        let Some((gain, best)) = gains.max_by_key(|(gain, other)| (*gain, u8::MAX - other.candidate)) else {
            return Answer::stay(Reason::new("no other candidate is there", &[]));
        };
        let refused = self.refuses(at, gain, best);
        let (gain, best) = match (refused, home) {
            (Some(_), Some(home)) => {
                self.rests[at.current] = at.now + self.settings.foresight.rest.0;
                home
            }
            (Some(reason), None) => return Answer::stay(reason),
            (None, _) => (gain, best),
        };
        self.better = None;
        let relieves = own.longest > limit && best.longest <= limit;
        if usize::from(best.candidate) != at_home {
            self.guard.expect(*best, relieves);
        }
        let reason = if relieves {
            let text = "under {} somebody would wait {}, under {} nobody longer than {}";
            let (old, new) = (name(at, own.candidate), name(at, best.candidate));
            Reason::new(text, &[old.into(), own.longest.into(), new.into(), best.longest.into()])
        } else {
            because(at, own, best, gain, &goal)
        };
        Answer { wish: Wish::Use(usize::from(best.candidate)), reason }
    }
}
