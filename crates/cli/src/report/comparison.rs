//! A finished comparison: what was compared, the verdict, and both as text and as JSON.

use idlewise_sim::experiment::Load;

use super::summary::Summary;
use super::verdict::{Runs, verdict};
use super::{json, numbers, origin, phases, table};
use crate::failure::Failure;
use crate::input::setup::Prepared;

/// A finished comparison, ready to be told.
pub(crate) struct Comparison<'a> {
    pub(crate) prepared: &'a Prepared,
    pub(crate) summaries: &'a [Summary],
    pub(crate) interrupted: bool,
    /// Which scheduler is best for what.
    pub(crate) verdict: String,
}

impl<'a> Comparison<'a> {
    pub(crate) fn new(prepared: &'a Prepared, summaries: &'a [Summary], interrupted: bool) -> Self {
        let open_loop = matches!(prepared.experiment.load, Load::Trace { open_loop: true, .. });
        let verdict = verdict(summaries, Runs { open_loop, interrupted });
        Comparison { prepared, summaries, interrupted, verdict }
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
        let verdict = numbers::wrap(&self.verdict, width);
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
        document["verdict"] = self.verdict.as_str().into();
        json::text(&document)
    }
}
