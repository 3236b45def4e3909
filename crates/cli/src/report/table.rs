//! The results of a comparison as a table for people.

use super::columns::{Cell, Filled, columns, sorted};
use super::numbers::wrap;
use super::summary::Summary;

/// Columns stand this far apart, and no table is wider than `WIDEST`.
const GAP: usize = 2;
const WIDEST: usize = 100;

/// The table: a row for each scheduler, highest throughput first, as wide as `width` allows.
pub(crate) fn table(summaries: &[Summary], width: usize) -> String {
    let rows = sorted(summaries);
    let mut shown: Vec<(Filled, Vec<String>)> = columns(&rows)
        .into_iter()
        .map(|column| {
            let cells = lines(&column);
            (column, cells)
        })
        .collect();
    let names = rows.iter().map(|row| row.name().len()).max().unwrap_or(0).max("scheduler".len());
    let total = |shown: &[(Filled, Vec<String>)]| {
        names + shown.iter().map(|(_, cells)| GAP + cell_width(cells)).sum::<usize>()
    };
    let mut left_out = Vec::new();
    while total(&shown) > width.min(WIDEST) && shown.len() > 1 {
        left_out.extend(shown.pop().map(|(column, _)| column.title.join(" ").trim().to_owned()));
    }
    let mut text = String::new();
    for line in 0..rows.len() + 2 {
        let name = match line {
            0 => "scheduler",
            1 => "",
            _ => rows[line - 2].name(),
        };
        let cells = shown.iter().map(|(_, cells)| format!("{:>1$}", cells[line], GAP + cell_width(cells)));
        text += format!("{name:names$}{}", cells.collect::<String>()).trim_end();
        text.push('\n');
    }
    let mut notes = vec![
        "Latency (mean, p99, longest) counts from issue to completion. * best, or within 1 % of it."
            .to_owned(),
    ];
    if rows.iter().any(|row| row.figure("elapsed_ns").ci95 > 0.0) {
        notes.push("± half the 95 % confidence interval, where it is 1 % or more.".to_owned());
    }
    if !left_out.is_empty() {
        notes.push(format!("No room for: {} (--csv has all).", left_out.join(", ")));
    }
    for note in notes {
        text.push('\n');
        text += &wrap(&note, width);
    }
    text
}

fn cell_width(cells: &[String]) -> usize {
    cells.iter().map(|cell| cell.chars().count()).max().unwrap_or(0)
}

/// A column's two title lines and its cells, each ending where its numbers do. A star marks the best.
fn lines(column: &Filled) -> Vec<String> {
    let pad = if column.marked { " " } else { "" };
    let titles = column.title.iter().map(|title| format!("{title}{pad}"));
    let cell = |cell: &Cell| {
        let percent = cell.spread * 100.0;
        let spread = if percent >= 1.0 { format!(" ±{percent:.0}%") } else { String::new() };
        format!("{}{spread}{}", cell.text, if cell.best { "*" } else { pad })
    };
    titles.chain(column.cells.iter().map(cell)).collect()
}
