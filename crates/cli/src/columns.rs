//! The columns of a comparison's table, for terminals and for pages.

use crate::output::{ms, three};
use crate::summary::{Figure, Figures, Summary};

/// How a column's best value is found.
#[derive(Clone, Copy, PartialEq)]
enum Best {
    Least,
    Most,
    /// It describes; no value is better.
    None,
}

struct Column {
    /// Two lines: what it is, and its unit.
    title: [&'static str; 2],
    figure: fn(&Figures) -> Figure,
    show: fn(f64) -> String,
    best: Best,
    /// Where room is short, columns of a higher rank go first.
    rank: u8,
}

const fn column(
    title: [&'static str; 2],
    figure: fn(&Figures) -> Figure,
    show: fn(f64) -> String,
    best: Best,
    rank: u8,
) -> Column {
    Column { title, figure, show, best, rank }
}

const COLUMNS: &[Column] = &[
    column(["run time", "s"], |f| f.elapsed_ns, |ns| three(ns / 1e9), Best::Least, 0),
    column(["", "MB/s"], |f| f.throughput_bytes_per_s, |rate| three(rate / 1e6), Best::Most, 1),
    column(["", "IOPS"], |f| f.iops, three, Best::Most, 7),
    column(["mean", "ms"], |f| f.latency_mean_ns, ms, Best::Least, 2),
    column(["read p99", "ms"], |f| f.read_p99_ns, ms, Best::Least, 3),
    column(["write p99", "ms"], |f| f.write_p99_ns, ms, Best::Least, 4),
    column(["longest", "ms"], |f| f.latency_max_ns, ms, Best::Least, 5),
    column(["seek", "ms"], |f| f.seek_mean_ns, ms, Best::None, 9),
    column(["busy", "%"], |f| f.utilization, |share| three(share * 100.0), Best::None, 8),
    column(["fairness", "0 to 1"], |f| f.fairness_jain, three, Best::Most, 6),
];

/// One column, filled.
pub(crate) struct Filled {
    pub(crate) title: [&'static str; 2],
    pub(crate) rank: u8,
    /// One for each row.
    pub(crate) cells: Vec<Cell>,
    /// Whether some cells are better than others.
    pub(crate) marked: bool,
}

/// One value, ready to be shown.
pub(crate) struct Cell {
    pub(crate) text: String,
    /// Half the confidence interval as a share of the value; 0 for one run.
    pub(crate) spread: f64,
    /// The best of its column, or within 1 % of it.
    pub(crate) best: bool,
}

/// The columns that have something to say about these rows.
pub(crate) fn columns(rows: &[&Summary]) -> Vec<Filled> {
    let present = |column: &&Column| rows.iter().any(|row| (column.figure)(&row.figures).mean > 0.0);
    COLUMNS.iter().filter(present).map(|column| fill(column, rows)).collect()
}

fn fill(column: &Column, rows: &[&Summary]) -> Filled {
    let figures: Vec<Figure> = rows.iter().map(|row| (column.figure)(&row.figures)).collect();
    let (low, high) =
        figures.iter().fold((f64::MAX, f64::MIN), |(low, high), f| (low.min(f.mean), high.max(f.mean)));
    let alike = high <= low * 1.01;
    let is_best = |value: f64| match column.best {
        _ if alike => false,
        Best::Least => value <= low * 1.01,
        Best::Most => value >= high / 1.01,
        Best::None => false,
    };
    let cell = |figure: &Figure| Cell {
        text: (column.show)(figure.mean),
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
    Filled { title: column.title, rank: column.rank, cells, marked }
}

/// Soonest done first; of those, the shortest latency.
pub(crate) fn sorted(summaries: &[Summary]) -> Vec<&Summary> {
    let mut rows: Vec<&Summary> = summaries.iter().collect();
    let order = |figures: &Figures| {
        let rate = figures.throughput_bytes_per_s.mean;
        // Rounded, so that runs that end with the last arrival go by latency.
        ((rate.max(1.0).ln() * 1000.0).round(), figures.latency_mean_ns.mean)
    };
    rows.sort_by(|a, b| {
        let (a, b) = (order(&a.figures), order(&b.figures));
        b.0.total_cmp(&a.0).then(a.1.total_cmp(&b.1))
    });
    rows
}
