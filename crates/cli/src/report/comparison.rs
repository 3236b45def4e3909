//! A finished comparison: what was compared, the verdict, and both as text and as JSON.

use idlewise_sim::experiment::Load;
use idlewise_sim::metrics::Kind;
use idlewise_sim::replay::Mode;
use serde::Serialize;

use super::summary::Summary;
use super::verdict::table::{Arrivals, Goal, Measured, Table};
use super::verdict::{Assumed, Assumption, Claim, ENOUGH, Question, Verdict, verdict};
use super::{json, numbers, origin, phases, table};
use crate::failure::Failure;
use crate::input::recorded::Off;
use crate::input::setup::Prepared;

/// A figure under two schedulers.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Change {
    pub(crate) figure: &'static str,
    #[serde(skip)]
    pub(crate) kind: Kind,
    /// Under the first, in the figure's unit of JSON.
    pub(crate) now: f64,
    /// Under the second.
    pub(crate) then: f64,
    /// How many times better the second is; below 1 if worse.
    pub(crate) times_better: f64,
}

/// The schedulers that a verdict is about, under another assumption.
pub(crate) struct Variant {
    pub(crate) assumption: Assumption,
    pub(crate) mode: Mode,
    pub(crate) summaries: Vec<Summary>,
}

/// A finished comparison, ready to be told.
pub(crate) struct Comparison<'a> {
    pub(crate) prepared: &'a Prepared,
    pub(crate) summaries: &'a [Summary],
    pub(crate) interrupted: bool,
    /// Which scheduler is best for what.
    pub(crate) verdict: Verdict,
    goal: Goal,
    figures: Table,
}

impl<'a> Comparison<'a> {
    /// `about` are the indices of those schedulers that the verdict is about, `in_use` is the one that the disk has, if
    /// the question is whether to change it.
    pub(crate) fn new(
        prepared: &'a Prepared,
        summaries: &'a [Summary],
        interrupted: bool,
        (goal, about, in_use): (Goal, &[usize], Option<&str>),
        variants: &[Variant],
    ) -> Self {
        let experiment = &prepared.experiment;
        let named = |index: &usize| experiment.schedulers[*index].label.as_str();
        let place = |name: &str| summaries.iter().position(|summary| summary.name() == name);
        let about: Vec<usize> = about.iter().map(named).filter_map(place).collect();
        let table = |summaries: &[Summary], arrivals| Table {
            in_use: in_use.map(str::to_owned),
            ..Table::of(&summaries.iter().collect::<Vec<_>>(), arrivals)
        };
        let assumed = |variant: &Variant| Assumed {
            assumption: variant.assumption.clone(),
            table: table(&variant.summaries, Arrivals::replayed(variant.mode)),
        };
        let table = table(summaries, Arrivals::of(&experiment.load));
        let assumed: Vec<Assumed> = variants.iter().map(assumed).collect();
        let missing = prepared.missing.unwrap_or_default();
        let of_trace = matches!(experiment.load, Load::Trace { .. });
        let requests = summaries.first().map_or(0, |first| first.figure("requests").mean as u64);
        let barred = match prepared.off {
            _ if interrupted => Some(Claim::Interrupted),
            _ if of_trace && requests < ENOUGH => Some(Claim::Few { requests }),
            Some(Off::Far(off)) => Some(Claim::Far { off }),
            _ => None,
        };
        let question = Question { table: &table, goal, barred, missing, assumed: &assumed, about: &about };
        let verdict = verdict(&question);
        Comparison { prepared, summaries, interrupted, verdict, goal, figures: table }
    }

    /// How many times better the summary at `then` is than the one at `now`, for the goal.
    pub(crate) fn times_better(&self, now: usize, then: usize) -> f64 {
        self.figures.behind(self.goal, now, then)
    }

    /// The figures of the summary at `now` and of the one at `then`.
    pub(crate) fn changes(&self, now: usize, then: usize) -> Vec<Change> {
        let change = |figure: &Measured| Change {
            figure: figure.name,
            kind: figure.kind,
            now: figure.mean(now),
            then: figure.mean(then),
            times_better: figure.ratio(now, then),
        };
        self.figures.figures.iter().map(change).collect()
    }

    /// What was compared, in a line.
    pub(crate) fn title(&self) -> String {
        let experiment = &self.prepared.experiment;
        let runs = match experiment.seeds.len() {
            1 => String::new(),
            several => format!(", {several} runs each"),
        };
        format!("{} on {} ({}){runs}", self.prepared.load, experiment.disk.name, experiment.disk.description)
    }

    /// The tables by phase. Runs that were interrupted, each in another phase, have none.
    pub(super) fn phases(&self) -> Vec<phases::Table<'_>> {
        if self.interrupted { Vec::new() } else { phases::tables(self.summaries) }
    }

    /// For a terminal.
    pub(crate) fn text(&self) -> String {
        let width = numbers::width();
        let verdict = numbers::wrap(&self.verdict.text(), width);
        let phases: String = self.phases().iter().map(|table| table.text(width) + "\n").collect();
        let title = numbers::wrap(&self.title(), width);
        format!(
            "{title}\n{}\n{}\n\n{phases}{verdict}",
            origin::lines(self.prepared),
            table::table(self.summaries, width, self.interrupted)
        )
    }

    /// For programs.
    pub(crate) fn json(&self) -> Result<String, Failure> {
        let mut document = json::header("idlewise/compare/1", self.prepared, self.interrupted);
        document["results"] = self.summaries.iter().map(|summary| summary.mean.clone()).collect();
        document["verdict"] = self.verdict.text().into();
        document["claims"] = serde_json::to_value(&self.verdict.claims).map_err(Failure::failed)?;
        json::text(&document)
    }
}
