//! A load that changes: what each scheduler made of each phase, against the best scheduler of that phase.

use std::fmt::Write as _;

use idlewise_core::selectors::registry as selectors;
use idlewise_sim::workloads::phases::REST;
use serde_json::Value;

use crate::output::{three, wrap};
use crate::summary::Summary;

/// One scheduler's or selector's shares of what the best scheduler of each phase did.
struct Row<'a> {
    name: &'a str,
    shares: Vec<f64>,
    /// The mean over time.
    mean: f64,
    /// The share in its worst phase.
    worst: f64,
    /// Its bytes as a share of the bytes that the best schedulers of the phases did together.
    bytes: f64,
    switches: Option<f64>,
}

/// A phase: its name, how long it lasts, and what the best scheduler did in a second.
struct Phase {
    name: String,
    seconds: f64,
    best: f64,
}

fn phases_of(summary: &Summary) -> Vec<&Value> {
    let all = summary.mean["phases"].as_array().into_iter().flatten();
    all.filter(|phase| phase["name"] != REST).collect()
}

fn rate(phase: &Value) -> f64 {
    phase["throughput_bytes_per_s"].as_f64().unwrap_or(0.0)
}

fn is_selector(summary: &Summary) -> bool {
    selectors::find(summary.name()).is_some()
}

/// The phases, with the best that a single scheduler did in each. Selectors do not count.
fn best(summaries: &[Summary]) -> Vec<Phase> {
    let Some(first) = summaries.first() else { return Vec::new() };
    let of = |index: usize| {
        let rates =
            summaries.iter().filter(|summary| !is_selector(summary) || summaries.iter().all(is_selector));
        rates.filter_map(|summary| Some(rate(phases_of(summary).get(index)?))).fold(0.0, f64::max)
    };
    let phases = phases_of(first).into_iter().enumerate().map(|(index, phase)| {
        let time = |key: &str| phase[key].as_f64().unwrap_or(0.0);
        let seconds = (time("ends_ns") - time("begins_ns")) / 1e9;
        Phase { name: phase["name"].as_str().unwrap_or("?").to_owned(), seconds, best: of(index) }
    });
    phases.collect()
}

fn row<'a>(summary: &'a Summary, phases: &[Phase]) -> Row<'a> {
    let rates: Vec<f64> = phases_of(summary).into_iter().map(rate).collect();
    let pairs = || rates.iter().zip(phases);
    let share = |rate: f64, phase: &Phase| if phase.best > 0.0 { rate / phase.best } else { 1.0 };
    let shares: Vec<f64> = pairs().map(|(rate, phase)| share(*rate, phase)).collect();
    let time: f64 = phases.iter().map(|phase| phase.seconds).sum();
    let weighed = |values: &mut dyn Iterator<Item = f64>| values.sum::<f64>() / time.max(1e-9);
    let mean = weighed(&mut shares.iter().zip(phases).map(|(share, phase)| share * phase.seconds));
    let done = weighed(&mut pairs().map(|(rate, phase)| rate * phase.seconds));
    let most = weighed(&mut phases.iter().map(|phase| phase.best * phase.seconds));
    Row {
        name: summary.name(),
        worst: shares.iter().copied().fold(f64::INFINITY, f64::min),
        mean,
        bytes: if most > 0.0 { done / most } else { 1.0 },
        switches: summary.mean["selector"]["switches"].as_f64(),
        shares,
    }
}

/// The table of phases, or nothing if the load has none.
pub(crate) fn table(summaries: &[Summary], width: usize) -> String {
    let phases = best(summaries);
    if phases.is_empty() {
        return String::new();
    }
    let mut rows: Vec<Row<'_>> = summaries.iter().map(|summary| row(summary, &phases)).collect();
    rows.sort_by(|a, b| b.mean.total_cmp(&a.mean));
    let names = rows.iter().map(|row| row.name.len()).max().unwrap_or(0).max("scheduler".len());
    let mut text = wrap("By phase: percent of what the best scheduler of each phase did in it.", width);
    text.push('\n');
    for (index, phase) in phases.iter().enumerate() {
        let (name, seconds, best) = (&phase.name, phase.seconds, three(phase.best / 1e6));
        let _ = write!(text, "\n{:>4}  {name}, {seconds:.1} s, at best {best} MB/s", index + 1);
    }
    let numbers: String = (1..=phases.len()).map(|number| format!("{number:>6}")).collect();
    let _ = write!(text, "\n\n{:names$}   mean  worst  bytes switches {numbers}\n", "scheduler");
    for row in &rows {
        let percent = |share: f64| format!("{:.1}", share * 100.0);
        let shares: String = row.shares.iter().map(|share| format!("{:>6}", percent(*share))).collect();
        let switches = row.switches.map_or_else(String::new, |switches| format!("{switches:.0}"));
        let (mean, worst, bytes) = (percent(row.mean), percent(row.worst), percent(row.bytes));
        let _ = writeln!(text, "{:names$} {mean:>6} {worst:>6} {bytes:>6} {switches:>8} {shares}", row.name);
    }
    text.push('\n');
    text += &wrap(
        "mean: each second counts the same, in whatever phase. worst: the phase in which it does worst. bytes: of all \
         that the best schedulers of the phases did together.",
        width,
    );
    text.push('\n');
    text
}
