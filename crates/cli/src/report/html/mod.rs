//! A comparison as one HTML file: verdict, table, charts, and how to repeat it.
//!
//! Nothing is fetched and no script runs. Every name is escaped: traces come from anywhere.

mod charts;

use std::fmt::Write as _;

use idlewise_sim::metrics::{Better, Report};

use super::columns::{columns, sorted};
use super::comparison::Comparison;
use super::phases;
use super::summary::{Figure, Summary};

/// Processes whose shares are drawn; with more of them the bars say nothing.
const PROCESSES_DRAWN: usize = 12;

/// The page.
pub(crate) fn page(comparison: &Comparison<'_>) -> String {
    let rows = sorted(comparison.summaries);
    let title = escape(&comparison.title());
    let mut body = String::new();
    let _ = write!(
        body,
        "<header><p class=brand>idlewise: disk scheduling</p><h1>{title}</h1>\
         <p class=verdict>{}</p></header>\n<main>\n",
        escape(&comparison.verdict)
    );
    body += &section("Results", &table(&rows));
    body += &section("Throughput and latency", &charts_of_goals(&rows));
    body += &section("Latency", &latencies(&rows));
    if let Some(shares) = shares(&rows) {
        body += &section("Shares of the disk's time", &shares);
    }
    for table in phases::tables(comparison.summaries) {
        body += &section(table.name(), &by_phase(&table));
    }
    body += &section("To repeat this", &repeat(comparison));
    body += "</main>\n";
    format!(
        "<!doctype html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n\
         <meta name=viewport content=\"width=device-width, initial-scale=1\">\n\
         <meta name=color-scheme content=\"light dark\">\n<title>{title}</title>\n<style>\n{}</style>\n</head>\n\
         <body>\n{body}</body>\n</html>\n",
        include_str!("report.css")
    )
}

/// `text` with everything that HTML gives a meaning made harmless, control characters included.
pub(super) fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe += "&amp;",
            '<' => safe += "&lt;",
            '>' => safe += "&gt;",
            '"' => safe += "&quot;",
            '\'' => safe += "&#39;",
            '\t' | '\n' => safe.push(c),
            c if c.is_control() => safe.push('\u{fffd}'),
            c => safe.push(c),
        }
    }
    safe
}

fn section(title: &str, content: &str) -> String {
    format!("<section><h2>{}</h2>\n{content}</section>\n", escape(title))
}

fn table(rows: &[&Summary]) -> String {
    let columns = columns(rows);
    let mut text = String::from(
        "<div class=scroll tabindex=0 role=region aria-label=\"Results\"><table>\n<caption>Highest throughput first. \
         Marked cells are the best of their column, or within 1 % of it. Latency (mean, p99, longest) counts \
         from issue to completion.</caption>\n<thead><tr><th scope=col>scheduler</th>",
    );
    for column in &columns {
        let [what, unit] = column.title;
        let comma = if what.is_empty() { "" } else { ", " };
        let _ = write!(text, "<th scope=col>{what}{comma}{unit}</th>");
    }
    text += "</tr></thead>\n<tbody>\n";
    for (index, row) in rows.iter().enumerate() {
        let _ = write!(text, "<tr><th scope=row>{}</th>", escape(row.name()));
        for cell in columns.iter().map(|column| &column.cells[index]) {
            let class = if cell.best { " class=best" } else { "" };
            let spread = match cell.spread * 100.0 {
                percent if percent > 0.0 => format!(" <small>±{percent:.1}\u{a0}%</small>"),
                _ => String::new(),
            };
            let _ = write!(text, "<td{class}>{}{spread}</td>", cell.text);
        }
        text += "</tr>\n";
    }
    text + "</tbody>\n</table></div>\n"
}

/// What each scheduler made of each phase.
fn by_phase(table: &phases::Table<'_>) -> String {
    let mut text = format!("<p>{}</p>\n<ol>\n", escape(table.title()));
    for phase in table.phases() {
        let _ = writeln!(text, "<li>{}</li>", escape(&phase));
    }
    let label = escape(table.title());
    let _ = write!(
        text,
        "</ol>\n<div class=scroll tabindex=0 role=region aria-label=\"{label}\"><table>\n<caption>{}</caption>\n\
         <thead><tr><th scope=col>scheduler</th>",
        escape(table.note())
    );
    let numbers = (1..=table.phases().count()).map(|number| number.to_string());
    for head in table.heads().iter().map(|head| (*head).to_owned()).chain(numbers) {
        let _ = write!(text, "<th scope=col>{head}</th>");
    }
    text += "</tr></thead>\n<tbody>\n";
    for (name, cells) in table.rows() {
        let _ = write!(text, "<tr><th scope=row>{}</th>", escape(name));
        for cell in cells {
            let _ = write!(text, "<td{}>{}</td>", if cell.best { " class=best" } else { "" }, cell.text);
        }
        text += "</tr>\n";
    }
    text + "</tbody>\n</table></div>\n"
}

/// A chart for each goal, but for the tails, which have charts of their own.
fn charts_of_goals(rows: &[&Summary]) -> String {
    let mut text = String::from("<div class=charts>\n");
    for metric in Report::GROUP.metrics() {
        let Some(goal) = metric.column.goal.filter(|_| !metric.path.contains(".latency_ns.")) else {
            continue;
        };
        let (unit, scale) = metric.kind.unit();
        let bars: Vec<charts::Bar<'_>> = rows
            .iter()
            .map(|row| {
                let Figure { mean, ci95 } = row.figure(&metric.path);
                charts::Bar { name: row.name(), value: mean / scale, spread: ci95 / scale }
            })
            .collect();
        text += &charts::bars(&title(goal), unit, metric.column.better == Better::Less, &bars);
    }
    text + "</div>\n"
}

/// `name` with a capital letter.
fn title(name: &str) -> String {
    name.chars().enumerate().map(|(place, c)| if place == 0 { c.to_ascii_uppercase() } else { c }).collect()
}

fn latencies(rows: &[&Summary]) -> String {
    let mut text = String::from("<div class=charts>\n");
    for (title, part) in [("Latency of reads", "read"), ("Latency of writes", "write")] {
        let ranges: Vec<charts::Range<'_>> = rows
            .iter()
            .filter(|row| row.mean[part]["requests"].as_f64().unwrap_or(0.0) > 0.0)
            .map(|row| {
                let at = |name: &str| row.mean[part]["latency_ns"][name].as_f64().unwrap_or(0.0) / 1e6;
                charts::Range { name: row.name(), points: ["p50", "p90", "p99", "p999", "max"].map(at) }
            })
            .collect();
        if !ranges.is_empty() {
            text += &charts::ranges(title, &ranges);
        }
    }
    text + "</div>\n"
}

/// Each process's share of the disk's time under each scheduler, if there are few enough.
fn shares(rows: &[&Summary]) -> Option<String> {
    let label = |issuer: &serde_json::Value| {
        let id = issuer["id"].as_u64().unwrap_or(0);
        issuer["name"]
            .as_str()
            .filter(|name| !name.is_empty())
            .map_or(id.to_string(), |name| format!("{name} ({id})"))
    };
    let mut ids: Vec<(u64, String)> = Vec::new();
    for issuer in rows.iter().flat_map(|row| row.mean["issuers"].as_array().into_iter().flatten()) {
        let id = issuer["id"].as_u64().unwrap_or(0);
        if !ids.iter().any(|(known, _)| *known == id) {
            ids.push((id, label(issuer)));
        }
    }
    if ids.len() < 2 || ids.len() > PROCESSES_DRAWN {
        return None;
    }
    ids.sort();
    let stacks: Vec<charts::Stack<'_>> = rows
        .iter()
        .map(|row| {
            let part = |(id, _): &(u64, String)| {
                let issuers = row.mean["issuers"].as_array().into_iter().flatten();
                let mut own = issuers.filter(|issuer| issuer["id"].as_u64() == Some(*id));
                own.next().and_then(|issuer| issuer["service_ns"].as_f64()).unwrap_or(0.0)
            };
            charts::Stack { name: row.name(), parts: ids.iter().map(part).collect() }
        })
        .collect();
    let names: Vec<&str> = ids.iter().map(|(_, name)| name.as_str()).collect();
    Some(charts::stacks("Each process under each scheduler", &names, &stacks))
}

fn repeat(comparison: &Comparison<'_>) -> String {
    let seeds: Vec<String> = comparison.prepared.experiment.seeds.iter().map(ToString::to_string).collect();
    let own = std::iter::once(std::ffi::OsString::from("idlewise"));
    let words = own.chain(std::env::args_os().skip(1));
    let words = words.map(|word| quote(&word.to_string_lossy())).collect::<Vec<_>>().join(" ");
    format!(
        "<pre><code>{}</code></pre>\n<p>idlewise {}; seeds: {}. The same command on the same trace gives the same \
         numbers.</p>\n",
        escape(&words),
        env!("CARGO_PKG_VERSION"),
        seeds.join(", ")
    )
}

/// A word as a shell takes it.
fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_break_out() {
        assert_eq!(escape("<b a='1'>&\"\u{1b}"), "&lt;b a=&#39;1&#39;&gt;&amp;&quot;\u{fffd}");
        assert_eq!(quote("it's"), "'it'\\''s'");
        assert_eq!(quote("--set=a.b=1"), "--set=a.b=1");
    }
}
