//! The results of a comparison as a table for people, and as CSV.

use serde_json::Value;

use crate::columns::{Cell, Filled, columns, sorted};
use crate::output::wrap;
use crate::summary::Summary;

/// Columns stand this far apart, and no table is wider than `WIDEST`.
const GAP: usize = 2;
const WIDEST: usize = 100;

/// The table: a row for each scheduler, soonest done first, as wide as `width` allows.
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
        let last =
            shown.iter().enumerate().max_by_key(|(_, (column, _))| column.rank).map_or(0, |(index, _)| index);
        left_out.push(shown.remove(last).0.title.join(" ").trim().to_owned());
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
    if rows.iter().any(|row| row.figures.elapsed_ns.ci95 > 0.0) {
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

/// One row for each scheduler, one column for each scalar of the JSON result.
pub(crate) fn csv(summaries: &[Summary]) -> String {
    let rows: Vec<Fields> = summaries.iter().map(|summary| flatten("", &summary.mean)).collect();
    lines_of_csv(&rows)
}

/// One row for each scheduler and process, one column for each scalar of the process's JSON.
pub(crate) fn csv_of_processes(summaries: &[Summary]) -> String {
    let processes = |summary: &'_ Summary| -> Vec<Fields> {
        let listed = summary.mean["issuers"].as_array().map_or(&[][..], Vec::as_slice);
        let row = |issuer| {
            let mut fields = vec![("scheduler".to_owned(), summary.name().to_owned())];
            fields.append(&mut flatten("", issuer));
            fields
        };
        listed.iter().map(row).collect()
    };
    lines_of_csv(&summaries.iter().flat_map(processes).collect::<Vec<_>>())
}

/// A row's columns, each with its name.
type Fields = Vec<(String, String)>;

/// The names of the first row's columns, then all rows.
fn lines_of_csv(rows: &[Fields]) -> String {
    let mut text = String::new();
    if let Some(first) = rows.first() {
        text += &first.iter().map(|(key, _)| key.as_str()).collect::<Vec<_>>().join(",");
        text.push('\n');
    }
    for row in rows {
        text += &row.iter().map(|(_, value)| quoted(value)).collect::<Vec<_>>().join(",");
        text.push('\n');
    }
    text
}

/// A value as CSV has it (RFC 4180): names of processes may hold anything.
fn quoted(value: &str) -> String {
    if value.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", value.replace('"', "\"\""))
    } else {
        value.to_owned()
    }
}

/// The scalars of a JSON object, with dots between the names; lists are left to JSON.
fn flatten(prefix: &str, value: &Value) -> Fields {
    match value {
        Value::Object(fields) => {
            let name = |key: &str| if prefix.is_empty() { key.to_owned() } else { format!("{prefix}.{key}") };
            fields.iter().flat_map(|(key, value)| flatten(&name(key), value)).collect()
        }
        Value::Array(_) => Vec::new(),
        Value::Null => vec![(prefix.to_owned(), String::new())],
        Value::String(text) => vec![(prefix.to_owned(), text.clone())],
        other => vec![(prefix.to_owned(), other.to_string())],
    }
}
