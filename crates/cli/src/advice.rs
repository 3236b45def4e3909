//! Advice on a disk: what it was asked to do, which scheduler to have, which processes gain and lose, and how to get it.

mod apply;
mod subject;
mod text;

use std::collections::BTreeMap;

use idlewise_core::registry::TAKEN_PREFIX;
use idlewise_sim::fit::FitReport;
use idlewise_sim::traces::TraceInfo;
use serde::Serialize;
use serde_json::Value;

pub(crate) use apply::Lines;
pub(crate) use subject::{Subject, subjects};
pub(crate) use text::text;

use crate::input::recorded::{Model, Off};
use crate::report::comparison::{Change, Comparison};
use crate::report::summary::Summary;
use crate::report::verdict::{Claim, ENOUGH};

/// A process is named as one that gains or loses if its mean latency changes by this share, below which models differ
/// from drives.
const MATTERS: f64 = 0.05;
/// Processes with fewer requests say little.
const REQUESTS_OF_A_PROCESS: u64 = 20;
/// Processes, kinds of load and ties are named up to this number.
pub(crate) const NAMED: usize = 5;

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Action {
    /// The disk has a scheduler that nothing beats.
    Keep,
    /// Another is better.
    Change,
    /// Nothing is known of the scheduler in use: take this one.
    Take,
    /// The recording does not decide it.
    CannotTell,
}

/// A kind of load and its share of the requests.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Kind {
    pub(crate) kind: String,
    pub(crate) share: f64,
}

/// A process whose requests take longer or less long under the scheduler advised.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Affected {
    pub(crate) process: String,
    pub(crate) now_ns: f64,
    pub(crate) then_ns: f64,
}

/// Advice on one disk.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Advice {
    pub(crate) disk: String,
    /// The disk in words: what the kernel says, and the model that stands for it.
    pub(crate) model: String,
    pub(crate) fit: Option<FitReport>,
    /// Why the model was not fitted, if it was not.
    pub(crate) not_fitted: Option<String>,
    /// The model is too far from the disk to rest advice on it.
    pub(crate) far: bool,
    pub(crate) requests: u64,
    pub(crate) kinds: Vec<Kind>,
    /// The recording says which disk it is of.
    #[serde(skip)]
    pub(crate) disk_known: bool,
    /// The scheduler in use, if that is known.
    pub(crate) current: Option<String>,
    pub(crate) action: Action,
    /// The scheduler to have, which is the one in use unless `action` says otherwise.
    pub(crate) scheduler: Option<String>,
    /// Others that are as good.
    pub(crate) ties: Vec<String>,
    /// How many times better that is than the scheduler in use, for the goal: in run time if that differs, else in latency.
    pub(crate) times_better: f64,
    pub(crate) figures: Vec<Change>,
    pub(crate) gain: Vec<Affected>,
    pub(crate) lose: Vec<Affected>,
    /// The longest request under the scheduler in use, and under the one advised, in nanoseconds.
    pub(crate) longest_ns: Option<[f64; 2]>,
    pub(crate) verdict: String,
    pub(crate) claims: Vec<Claim>,
    pub(crate) lines: Option<Lines>,
}

/// How many processes a category, such as `4 random reads`, has, and what they do. `None`: it does not count them.
fn counted(category: &str) -> Option<(&str, &str)> {
    category.split_once(' ').filter(|_| category.starts_with(|c: char| c.is_ascii_digit()))
}

/// The kinds of load of a trace, most requests first. How many processes, only if the trace tells issuers.
pub(crate) fn kinds(info: &TraceInfo) -> Vec<Kind> {
    let mut requests: BTreeMap<&str, u64> = BTreeMap::new();
    for stretch in &info.timeline.stretches {
        if let Some(category) = &stretch.category {
            let kind = counted(category).filter(|_| info.issuers.is_none());
            let kind = kind.map_or(category.as_str(), |(_, what)| what);
            *requests.entry(kind).or_default() += stretch.requests;
        }
    }
    let all: u64 = requests.values().sum();
    let kind = |(kind, count): (&str, u64)| Kind { kind: kind.to_owned(), share: count as f64 / all as f64 };
    let mut kinds: Vec<Kind> = requests.into_iter().map(kind).collect();
    kinds.sort_by(|a, b| b.share.total_cmp(&a.share));
    kinds.truncate(NAMED);
    kinds
}

/// The schedulers that a verdict leaves, the one it would take first; none if it cannot tell.
fn good(claims: &[Claim], all: &[&str]) -> Vec<String> {
    let others = |but: &[String]| -> Vec<String> {
        all.iter().map(|name| (*name).to_owned()).filter(|name| !but.contains(name)).collect()
    };
    for claim in claims {
        match claim {
            Claim::Take { scheduler, ties, .. } => {
                return std::iter::once(scheduler).chain(ties).cloned().collect();
            }
            Claim::Same { simplest, .. } | Claim::Even { simplest, .. } => {
                let rest = others(std::slice::from_ref(simplest));
                return std::iter::once(simplest.clone()).chain(rest).collect();
            }
            Claim::Avoid { but, .. } => return others(but),
            Claim::Far { .. }
            | Claim::CannotTell { .. }
            | Claim::Untold { .. }
            | Claim::Interrupted
            | Claim::Alone => {
                return Vec::new();
            }
            _ => {}
        }
    }
    Vec::new()
}

/// The processes whose requests take longer under one scheduler than under another: those that gain, those that lose.
fn affected(now: &Summary, then: &Summary) -> (Vec<Affected>, Vec<Affected>) {
    let processes = |summary: &Summary| summary.mean["issuers"].as_array().cloned().unwrap_or_default();
    let after = processes(then);
    let change = |before: &Value| {
        let same = after.iter().find(|process| process["id"] == before["id"])?;
        let latency = |process: &Value| process["latency_ns_mean"].as_f64();
        let many = before["requests"].as_f64()? >= REQUESTS_OF_A_PROCESS as f64;
        let (now_ns, then_ns) = (latency(before)?, latency(same)?);
        let name = before["name"].as_str().map_or_else(|| "process".to_owned(), str::to_owned);
        let process = format!("{name} ({})", before["id"]);
        many.then_some(Affected { process, now_ns, then_ns })
    };
    let mut changes: Vec<Affected> = processes(now).iter().filter_map(change).collect();
    changes.sort_by(|a, b| (b.now_ns / b.then_ns).total_cmp(&(a.now_ns / a.then_ns)));
    let gain = changes.iter().filter(|change| change.now_ns > change.then_ns * (1.0 + MATTERS));
    let lose = changes.iter().rev().filter(|change| change.then_ns > change.now_ns * (1.0 + MATTERS));
    (gain.take(NAMED).cloned().collect(), lose.take(NAMED).cloned().collect())
}

/// The settings of `NAME:tunable=value;tunable=value` as sysfs has them.
fn settings(comparison: &Comparison<'_>, label: &str) -> Vec<(String, String)> {
    let choices = &comparison.prepared.experiment.schedulers;
    let choice = choices.iter().find(|choice| choice.label == label);
    let settings = choice.into_iter().flat_map(|choice| &choice.settings);
    settings.map(|(name, value)| (name.clone(), value.to_string())).collect()
}

/// Advice on `subject`, whose replay gave `comparison`.
pub(crate) fn advise(
    subject: &Subject,
    model: Model,
    kinds: Vec<Kind>,
    comparison: &Comparison<'_>,
) -> Advice {
    let names: Vec<&str> = comparison.summaries.iter().map(Summary::name).collect();
    let current = subject.current().filter(|current| names.contains(&current.as_str()));
    let requests = subject.records.len() as u64;
    let few = requests < ENOUGH;
    let good = if few { Vec::new() } else { good(&comparison.verdict.claims, &names) };
    let undecided =
        |claim: &Claim| matches!(claim, Claim::Same { .. } | Claim::Even { .. } | Claim::Avoid { .. });
    // As it was recorded nobody is better than the scheduler in use.
    let assumed = |claim: &Claim| matches!(claim, Claim::Take { only, .. } if !only.is_empty());
    let content = |current: &String| good.contains(current) || comparison.verdict.claims.iter().any(assumed);
    let (action, scheduler) = match (&current, good.first()) {
        (current, None) => (Action::CannotTell, current.clone()),
        (Some(current), Some(_)) if content(current) => (Action::Keep, Some(current.clone())),
        (Some(_), Some(first)) => (Action::Change, Some(first.clone())),
        (None, Some(_)) if comparison.verdict.claims.iter().any(undecided) => (Action::Keep, None),
        (None, Some(first)) => (Action::Take, Some(first.clone())),
    };
    let row = |name: &Option<String>| names.iter().position(|known| Some(*known) == name.as_deref());
    let (mut gain, mut lose, mut figures, mut times_better, mut longest_ns) =
        (Vec::new(), Vec::new(), Vec::new(), 1.0, None);
    if let (Action::Change, Some(now), Some(then)) = (action, row(&current), row(&scheduler)) {
        (gain, lose) = affected(&comparison.summaries[now], &comparison.summaries[then]);
        times_better = comparison.times_better(now, then);
        figures = comparison.changes(now, then);
        longest_ns = Some([now, then].map(|row| comparison.summaries[row].figure("latency_ns.max").mean));
    }
    let takes = matches!(action, Action::Change | Action::Take);
    let lines = scheduler.as_ref().filter(|_| takes).map(|label| {
        let name = label.split(':').next().unwrap_or(label);
        let offered = subject.target().offered;
        let own = format!("{TAKEN_PREFIX}{name}");
        let name =
            if offered.contains(&own) && !offered.iter().any(|known| known == name) { &own } else { name };
        subject.target().lines(name, &settings(comparison, label))
    });
    let verdict = &comparison.verdict;
    let (claims, verdict) = match model.off {
        _ if few => (Vec::new(), String::new()),
        Off::Far(_) => verdict.facts(),
        _ => (verdict.claims.clone(), verdict.text()),
    };
    Advice {
        disk: subject.name.clone(),
        far: matches!(model.off, Off::Far(_)),
        model: model.words,
        fit: model.fit,
        not_fitted: model.not_fitted,
        requests,
        kinds,
        disk_known: subject.disk.is_some(),
        current,
        action,
        ties: good.into_iter().filter(|name| Some(name) != scheduler.as_ref()).collect(),
        scheduler,
        times_better,
        figures,
        gain,
        lose,
        longest_ns,
        verdict,
        claims,
        lines,
    }
}
