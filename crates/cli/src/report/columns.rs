//! The columns of a comparison's table, for terminals and for pages. Which there are is declared with the metrics, in
//! `metrics/report.rs` of sim.

use idlewise_sim::metrics::{Better, Metric, Report};

use super::grid::Cell;
use super::numbers::three;
use super::summary::{Figure, Summary};

/// One column, filled.
pub(super) struct Filled {
    /// Two lines: what it is, and its unit.
    pub(super) title: [&'static str; 2],
    /// One for each row.
    pub(super) cells: Vec<Cell>,
    /// Whether some cells are better than others.
    pub(super) marked: bool,
}

/// The order of rows in words.
pub(super) const ORDER: &str = "Rows: highest throughput first; of equals, lowest mean latency.";

/// What latencies are, in words.
pub(super) const LATENCY: &str = "Latency counts from issue to completion; for the p99 a read counts again for each \
                                  tenth of a second that it waits.";

/// The columns that have something to say about these rows, the most important first.
pub(super) fn columns(rows: &[&Summary], interrupted: bool) -> Vec<Filled> {
    let present = |metric: &Metric| rows.iter().any(|row| row.figure(&metric.path).mean > 0.0);
    let mut metrics: Vec<Metric> = Report::GROUP.metrics().filter(present).collect();
    metrics.sort_by_key(|metric| metric.column.rank);
    metrics.iter().map(|metric| fill(metric, rows, interrupted)).collect()
}

/// Runs that were cut short, each at another point, have no best.
fn fill(metric: &Metric, rows: &[&Summary], interrupted: bool) -> Filled {
    let figures: Vec<Figure> = rows.iter().map(|row| row.figure(&metric.path)).collect();
    let (low, high) =
        figures.iter().fold((f64::MAX, f64::MIN), |(low, high), f| (low.min(f.mean), high.max(f.mean)));
    let alike = interrupted || high <= low * 1.01;
    let is_best = |value: f64| match metric.column.better {
        Better::Less => !alike && value <= low * 1.01,
        Better::More => !alike && value >= high / 1.01,
        Better::Neither => false,
    };
    // By the middle of the column, so that neither end gets a row of digits.
    let least = figures.iter().map(|figure| figure.mean).filter(|mean| *mean > 0.0).fold(f64::MAX, f64::min);
    let (unit, scale) = metric.kind.unit_near((least.min(high) * high.max(0.0)).sqrt());
    let cell = |figure: &Figure| Cell {
        text: three(figure.mean / scale),
        spread: if figure.mean > 0.0 { figure.ci95 / figure.mean } else { 0.0 },
        best: is_best(figure.mean),
    };
    let mut cells: Vec<Cell> = figures.iter().map(cell).collect();
    // What looks the same is marked the same, and nothing is if all look the same.
    let winners: Vec<String> = cells.iter().filter(|cell| cell.best).map(|cell| cell.text.clone()).collect();
    let marked = !winners.is_empty() && cells.iter().any(|cell| !winners.contains(&cell.text));
    for cell in &mut cells {
        cell.best = marked && winners.contains(&cell.text);
    }
    Filled { title: [metric.column.title, unit], cells, marked }
}

/// Highest throughput first; ties go to the lowest latency.
pub(super) fn sorted(summaries: &[Summary]) -> Vec<&Summary> {
    let mut rows: Vec<&Summary> = summaries.iter().collect();
    let order = |row: &Summary| {
        let rate = row.figure("throughput_bytes_per_s").mean;
        // Rounded, so that runs that end with the last arrival go by latency.
        ((rate.max(1.0).ln() * 1000.0).round(), row.figure("latency_ns.mean").mean)
    };
    rows.sort_by(|a, b| {
        let (a, b) = (order(a), order(b));
        b.0.total_cmp(&a.0).then(a.1.total_cmp(&b.1))
    });
    rows
}
