//! A load that changes: each scheduler's figures by phase, in percent of the best scheduler of that phase.

use std::fmt::Write as _;

use idlewise_core::selectors::registry as selectors;
use idlewise_sim::workloads::phases::REST;
use serde_json::Value;

use super::numbers::{three, wrap};
use super::summary::Summary;

/// What is compared by phase.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Measure {
    /// Bytes in a second.
    Throughput,
    /// The latency that 99 in 100 synchronous reads do not exceed.
    SyncReads,
}

impl Measure {
    /// What was measured in this phase, if there was anything to measure.
    fn value(self, phase: &Value) -> Option<f64> {
        match self {
            Measure::Throughput => phase["throughput_bytes_per_s"].as_f64(),
            Measure::SyncReads => phase["sync_read_latency_ns_p99"].as_f64().filter(|ns| *ns > 0.0),
        }
    }

    fn better(self, a: f64, b: f64) -> f64 {
        if self == Measure::Throughput { a.max(b) } else { a.min(b) }
    }

    /// `value` as a share of the best; 1 is as good.
    fn share(self, value: f64, best: f64) -> f64 {
        let (part, whole) = if self == Measure::Throughput { (value, best) } else { (best, value) };
        if whole > 0.0 { part / whole } else { 1.0 }
    }

    fn show(self, best: f64) -> String {
        match self {
            Measure::Throughput => format!("{} MB/s", three(best / 1e6)),
            Measure::SyncReads => format!("{} ms", three(best / 1e6)),
        }
    }

    fn title(self) -> &'static str {
        match self {
            Measure::Throughput => "By phase: throughput, in percent of the best scheduler's in that phase.",
            Measure::SyncReads => {
                "By phase: how low the p99 latency of synchronous reads is, in percent of the best scheduler's in that \
                 phase: 50 means twice the best latency."
            }
        }
    }
}

/// One scheduler's or selector's shares of what the best scheduler of each phase did.
struct Row<'a> {
    name: &'a str,
    /// `None`: there was nothing to measure.
    shares: Vec<Option<f64>>,
    /// The mean over time.
    mean: f64,
    /// The share in its worst phase.
    worst: f64,
    /// The scheduler's bytes as a share of the bytes that the best schedulers of the phases moved together.
    bytes: f64,
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

/// The phases, with the best that a single scheduler did in each. Selectors do not count.
fn best(summaries: &[Summary], measure: Measure) -> Vec<Phase> {
    let Some(first) = summaries.first() else { return Vec::new() };
    let of = |index: usize| {
        let single =
            summaries.iter().filter(|summary| !is_selector(summary) || summaries.iter().all(is_selector));
        let values = single.filter_map(|summary| measure.value(phases_of(summary).get(index)?));
        values.reduce(|a, b| measure.better(a, b))
    };
    let phases = phases_of(first).into_iter().enumerate().map(|(index, phase)| {
        let time = |key: &str| phase[key].as_f64().unwrap_or(0.0);
        let seconds = (time("ends_ns") - time("begins_ns")) / 1e9;
        Phase { name: phase["name"].as_str().unwrap_or("?").to_owned(), seconds, best: of(index) }
    });
    phases.collect()
}

fn row<'a>(summary: &'a Summary, phases: &[Phase], measure: Measure) -> Row<'a> {
    let values: Vec<Option<f64>> = phases_of(summary).into_iter().map(|phase| measure.value(phase)).collect();
    let share = |(value, phase): (&Option<f64>, &Phase)| Some(measure.share((*value)?, phase.best?));
    let shares: Vec<Option<f64>> = values.iter().zip(phases).map(share).collect();
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
        bytes: measure.share(done, most),
        switches: summary.mean["selector"]["switches"].as_f64(),
        shares,
    }
}

/// Within 1 % of the best; selectors may do more than the best single scheduler.
const NEARLY_BEST: f64 = 0.99;

/// A cell of a table.
pub(crate) struct Cell {
    pub(crate) text: String,
    /// The best of its phase, or nearly.
    pub(crate) best: bool,
}

/// What each scheduler made of each phase, by one measure.
pub(crate) struct Table<'a> {
    measure: Measure,
    phases: Vec<Phase>,
    /// The best first.
    rows: Vec<Row<'a>>,
}

/// The tables of a load that has phases: of throughput, and of latency if there are synchronous reads.
pub(crate) fn tables(summaries: &[Summary]) -> Vec<Table<'_>> {
    let table = |measure| {
        let phases = best(summaries, measure);
        phases.iter().find(|phase| phase.best.is_some())?;
        let mut rows: Vec<Row<'_>> = summaries.iter().map(|summary| row(summary, &phases, measure)).collect();
        rows.sort_by(|a, b| b.mean.total_cmp(&a.mean));
        Some(Table { measure, phases, rows })
    };
    [Measure::Throughput, Measure::SyncReads].into_iter().filter_map(table).collect()
}

fn percent(share: f64) -> String {
    format!("{:.1}", share * 100.0)
}

impl<'a> Table<'a> {
    /// The table's name.
    pub(crate) fn name(&self) -> &'static str {
        match self.measure {
            Measure::Throughput => "Throughput by phase",
            Measure::SyncReads => "p99 read latency by phase",
        }
    }

    /// What it shows.
    pub(crate) fn title(&self) -> &'static str {
        self.measure.title()
    }

    /// Each phase in words.
    pub(crate) fn phases(&self) -> impl Iterator<Item = String> + '_ {
        self.phases.iter().map(|phase| {
            let best =
                phase.best.map_or_else(|| "no synchronous reads".to_owned(), |best| self.measure.show(best));
            format!("{}, {:.1} s, at best {best}", phase.name, phase.seconds)
        })
    }

    /// The titles of the columns after the name, but for those of the phases.
    pub(crate) fn heads(&self) -> &'static [&'static str] {
        match self.measure {
            Measure::Throughput => &["mean", "worst", "bytes", "switches"],
            Measure::SyncReads => &["mean", "worst", "switches"],
        }
    }

    /// What the columns mean.
    pub(crate) fn note(&self) -> &'static str {
        match self.measure {
            Measure::Throughput => {
                "mean: over time. worst: in the scheduler's worst phase. bytes: in percent of what the best schedulers of \
                 all phases moved together."
            }
            Measure::SyncReads => {
                "A read counts again for each tenth of a second of waiting, so that starvation shows."
            }
        }
    }

    /// Each scheduler's name and cells: those of `heads`, then one for each phase.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (&'a str, Vec<Cell>)> + '_ {
        self.rows.iter().map(|row| {
            let plain = |text| Cell { text, best: false };
            let mut cells = vec![plain(percent(row.mean)), plain(percent(row.worst))];
            if self.measure == Measure::Throughput {
                cells.push(plain(percent(row.bytes)));
            }
            cells.push(plain(row.switches.map_or_else(String::new, |switches| format!("{switches:.0}"))));
            cells.extend(row.shares.iter().map(|share| Cell {
                text: share.map_or_else(|| "-".to_owned(), percent),
                best: share.is_some_and(|share| share >= NEARLY_BEST),
            }));
            (row.name, cells)
        })
    }

    /// As text of this width.
    pub(crate) fn text(&self, width: usize) -> String {
        let names = self.rows.iter().map(|row| row.name.len()).max().unwrap_or(0).max("scheduler".len());
        let mut text = wrap(self.title(), width);
        text.push('\n');
        for (index, phase) in self.phases().enumerate() {
            let _ = write!(text, "\n{:>4}  {phase}", index + 1);
        }
        let _ = write!(text, "\n\n{:names$}", "scheduler");
        let numbers = (1..=self.phases.len()).map(|number| number.to_string());
        let heads = self.heads().iter().map(|head| (*head).to_owned()).chain(numbers);
        for head in heads {
            let _ = write!(text, " {:>1$}", head, head.len().max(6));
        }
        for (name, cells) in self.rows() {
            let _ = write!(text, "\n{name:names$}");
            for (index, cell) in cells.iter().enumerate() {
                let least = self.heads().get(index).map_or(6, |head| head.len().max(6));
                let _ = write!(text, " {:>least$}", cell.text);
            }
        }
        text += "\n\n";
        text += &wrap(self.note(), width);
        text.push('\n');
        text
    }
}
