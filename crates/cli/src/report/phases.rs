//! A load that changes: each scheduler's figures by phase, in percent of the best scheduler of that phase.

use std::fmt::Write as _;

use idlewise_core::selectors::registry as selectors;
use idlewise_sim::metrics::{Better, Metric, PhaseShare};
use idlewise_sim::workloads::phases::REST;
use serde_json::Value;

use super::grid::{Cell, aligned};
use super::numbers::{three, wrap};
use super::summary::Summary;

/// One scheduler's or selector's shares of what the best scheduler of each phase did.
struct Row<'a> {
    name: &'a str,
    /// `None`: there was nothing to measure.
    shares: Vec<Option<f64>>,
    /// The mean over time.
    mean: f64,
    /// The share in the worst phase.
    worst: f64,
    /// The scheduler's amount as a share of the amount that the best schedulers of the phases had together.
    amount: f64,
    switches: Option<f64>,
}

/// A phase: its name, how long it lasts, and what the best scheduler did, if anything was measured.
struct Phase {
    name: String,
    seconds: f64,
    best: Option<f64>,
}

fn phases_of(summary: &Summary) -> Vec<&Value> {
    let all = summary.mean["phases"].as_array().into_iter().flatten();
    all.filter(|phase| phase["name"] != REST).collect()
}

fn is_selector(summary: &Summary) -> bool {
    selectors::find(summary.name()).is_some()
}

fn more(metric: &Metric) -> bool {
    metric.column.better == Better::More
}

/// What was measured in this phase, if there was anything to measure.
fn value(metric: &Metric, phase: &Value) -> Option<f64> {
    phase[&metric.path].as_f64().filter(|value| more(metric) || *value > 0.0)
}

/// `value` as a share of the best; 1 is as good.
fn share(metric: &Metric, value: f64, best: f64) -> f64 {
    let (part, whole) = if more(metric) { (value, best) } else { (best, value) };
    if whole > 0.0 { part / whole } else { 1.0 }
}

/// The phases, with the best that a single scheduler did in each. Selectors do not count.
fn best(summaries: &[Summary], metric: &Metric) -> Vec<Phase> {
    let Some(first) = summaries.first() else { return Vec::new() };
    let of = |index: usize| {
        let single =
            summaries.iter().filter(|summary| !is_selector(summary) || summaries.iter().all(is_selector));
        let values = single.filter_map(|summary| value(metric, phases_of(summary).get(index)?));
        values.reduce(if more(metric) { f64::max } else { f64::min })
    };
    let phases = phases_of(first).into_iter().enumerate().map(|(index, phase)| {
        let time = |key: &str| phase[key].as_f64().unwrap_or(0.0);
        let seconds = (time("ends_ns") - time("begins_ns")) / 1e9;
        Phase { name: phase["name"].as_str().unwrap_or("?").to_owned(), seconds, best: of(index) }
    });
    phases.collect()
}

fn row<'a>(summary: &'a Summary, phases: &[Phase], metric: &Metric) -> Row<'a> {
    let values: Vec<Option<f64>> = phases_of(summary).into_iter().map(|phase| value(metric, phase)).collect();
    let share_of = |(value, phase): (&Option<f64>, &Phase)| Some(share(metric, (*value)?, phase.best?));
    let shares: Vec<Option<f64>> = values.iter().zip(phases).map(share_of).collect();
    // Over the time of the phases in which something was measured.
    let weighed = |value: &dyn Fn(usize) -> Option<f64>| {
        let parts = || (0..phases.len()).filter_map(|index| Some((value(index)?, phases[index].seconds)));
        let time: f64 = parts().map(|(_, seconds)| seconds).sum();
        parts().map(|(value, seconds)| value * seconds).sum::<f64>() / time.max(1e-9)
    };
    let done = weighed(&|index| *values.get(index)?);
    let most = weighed(&|index| phases[index].best);
    Row {
        name: summary.name(),
        worst: shares.iter().flatten().copied().fold(f64::INFINITY, f64::min),
        mean: weighed(&|index| *shares.get(index)?),
        amount: share(metric, done, most),
        switches: summary.mean["selector"]["switches"].as_f64(),
        shares,
    }
}

/// Within 1 % of the best; selectors may do more than the best single scheduler.
const NEARLY_BEST: f64 = 0.99;

/// Each scheduler's shares of the best of each phase, in one figure.
pub(super) struct Table<'a> {
    metric: Metric,
    pub(super) goal: &'static str,
    phases: Vec<Phase>,
    /// The best first.
    rows: Vec<Row<'a>>,
}

/// A table for each goal of which phases tell something.
pub(super) fn tables(summaries: &[Summary]) -> Vec<Table<'_>> {
    let table = |metric: Metric| {
        let goal = metric.column.goal?;
        let phases = best(summaries, &metric);
        phases.iter().find(|phase| phase.best.is_some())?;
        let mut rows: Vec<Row<'_>> = summaries.iter().map(|summary| row(summary, &phases, &metric)).collect();
        rows.sort_by(|a, b| b.mean.total_cmp(&a.mean));
        Some(Table { metric, goal, phases, rows })
    };
    PhaseShare::GROUP.metrics().filter_map(table).collect()
}

fn percent(share: f64) -> String {
    format!("{:.1}", share * 100.0)
}

impl<'a> Table<'a> {
    /// What the table shows.
    pub(super) fn title(&self) -> String {
        let goal = self.goal;
        if more(&self.metric) {
            return format!("By phase: {goal}, in percent of the best scheduler's in that phase.");
        }
        format!(
            "By phase: the best scheduler's {goal}, in percent of each scheduler's; 50 means twice the best."
        )
    }

    /// Each phase in words.
    pub(super) fn phases(&self) -> impl Iterator<Item = String> + '_ {
        let (unit, scale) = self.metric.kind.unit();
        self.phases.iter().map(move |phase| {
            let best = phase.best.map_or_else(
                || "nothing to measure".to_owned(),
                |best| format!("at best {} {unit}", three(best / scale)),
            );
            format!("{}, {:.1} s, {best}", phase.name, phase.seconds)
        })
    }

    /// The titles of the columns after the name.
    pub(super) fn heads(&self) -> impl Iterator<Item = String> {
        let amount = if more(&self.metric) { &["bytes"][..] } else { &[] };
        let heads =
            ["mean", "worst"].iter().chain(amount).chain(&["switches"]).map(|head| (*head).to_owned());
        heads.chain((1..=self.phases.len()).map(|number| number.to_string()))
    }

    /// What the columns mean.
    pub(super) fn note(&self) -> String {
        let bytes = " bytes: in percent of what the best schedulers of all phases moved together.";
        let amount = if more(&self.metric) { bytes } else { "" };
        let about = self.metric.about.trim();
        format!(
            "{about} Rows: highest mean first. mean: over time. worst: in the scheduler's worst phase.{amount}"
        )
    }

    /// Each scheduler's name and cells.
    pub(super) fn rows(&self) -> impl Iterator<Item = (&'a str, Vec<Cell>)> + '_ {
        self.rows.iter().map(|row| {
            let cell = |text, best| Cell { text, spread: 0.0, best };
            let amount = more(&self.metric).then(|| percent(row.amount));
            let switches = row.switches.map_or_else(String::new, |switches| format!("{switches:.0}"));
            let all = [percent(row.mean), percent(row.worst)].into_iter().chain(amount).chain([switches]);
            let phase = |share: &Option<f64>| {
                let text = share.map_or_else(|| "-".to_owned(), percent);
                cell(text, share.is_some_and(|share| share >= NEARLY_BEST))
            };
            (row.name, all.map(|text| cell(text, false)).chain(row.shares.iter().map(phase)).collect())
        })
    }

    /// As text of this width.
    pub(super) fn text(&self, width: usize) -> String {
        let mut text = wrap(&self.title(), width) + "\n";
        for (index, phase) in self.phases().enumerate() {
            let _ = write!(text, "\n{:>4}  {phase}", index + 1);
        }
        let heads = ["scheduler".to_owned()].into_iter().chain(self.heads()).collect();
        let row = |(name, cells): (&str, Vec<Cell>)| {
            [name.to_owned()].into_iter().chain(cells.into_iter().map(|cell| cell.text)).collect()
        };
        let rows: Vec<Vec<String>> = [heads].into_iter().chain(self.rows().map(row)).collect();
        format!("{text}\n\n{}\n{}\n", aligned(&rows), wrap(&self.note(), width))
    }
}
