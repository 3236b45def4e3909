//! The results of a comparison as a table for people.

use super::columns::{Filled, LATENCY, ORDER, columns, sorted};
use super::grid::{Cell, aligned};
use super::numbers::wrap;
use super::summary::Summary;

/// The table: a row for each scheduler, highest throughput first, as wide as `width` allows.
pub(super) fn table(summaries: &[Summary], width: usize, interrupted: bool) -> String {
    let rows = sorted(summaries);
    let mut shown = columns(&rows, interrupted);
    let names: Vec<&str> = ["scheduler", ""].into_iter().chain(rows.iter().map(|row| row.name())).collect();
    let mut left_out = Vec::new();
    let mut text = loop {
        let cells: Vec<Vec<String>> = shown.iter().map(lines).collect();
        let row = |(line, name): (usize, &&str)| {
            [(*name).to_owned()].into_iter().chain(cells.iter().map(|cells| cells[line].clone())).collect()
        };
        let text = aligned(&names.iter().enumerate().map(row).collect::<Vec<_>>());
        if shown.len() <= 1 || text.lines().all(|line| line.chars().count() <= width) {
            break text;
        }
        left_out.extend(shown.pop().map(|column| column.title.join(" ").trim().to_owned()));
    };
    let mut notes = vec![format!("{ORDER} {LATENCY}")];
    if !interrupted {
        notes[0] += " * best, or within 1 % of it.";
    }
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
