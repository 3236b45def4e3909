//! A comparison as one HTML file: verdict, notes, table, charts, plots of runs over time, and how to repeat it.
//!
//! Nothing is fetched. Charts and tables need no scripts; plots over time do. Every name is escaped: traces come from
//! anywhere.

mod charts;
mod plots;

use std::fmt::Write as _;

use idlewise_sim::metrics::{Better, Report};

use super::columns::{LATENCY, ORDER, columns, sorted};
use super::comparison::Comparison;
use super::grid::{self, escape};
use super::summary::{Figure, Summary};
use super::{origin, phases};

/// Processes whose shares are drawn; with more of them the bars say nothing.
const PROCESSES_DRAWN: usize = 12;

pub(crate) use plots::Named;

/// The page: a comparison, notes on it, and its runs over time.
pub(crate) fn page(comparison: &Comparison<'_>, notes: &[String], runs: &[Named<'_>]) -> String {
    let rows = sorted(comparison.summaries);
    let what = escape(&comparison.title());
    let mut body = String::new();
    let _ = write!(
        body,
        "<header><p class=brand>idlewise: disk scheduling</p><h1>{}</h1><p class=load>{what}</p>\
         <p class=verdict>{}</p></header>\n<main>\n",
        escape(&comparison.verdict.headline()),
        escape(&comparison.verdict.text())
    );
    if !notes.is_empty() {
        let items: String = notes.iter().map(|note| format!("<li>{}</li>\n", escape(note))).collect();
        body += &section("What to know", &format!("<ul class=notes>\n{items}</ul>\n"));
    }
    body += &section("Results", &table(&rows, comparison.interrupted));
    body += &plots::plots(runs, &shown_first(&rows, comparison));
    body += &section("Throughput and latency", &charts_of_goals(&rows));
    if let Some(shares) = shares(&rows) {
        body += &section("Shares of the disk's time", &shares);
    }
    for table in comparison.phases() {
        body += &section(&format!("{} by phase", title(table.goal)), &by_phase(&table));
    }
    body += &section("To repeat this", &repeat(comparison));
    document(&what, &(body + "</main>\n"))
}

/// The schedulers that plots show at first: the best for the goal, the one of most systems today, and the slowest.
fn shown_first<'a>(rows: &[&'a Summary], comparison: &Comparison<'_>) -> Vec<&'a str> {
    let best = comparison.verdict.takes().and_then(|name| rows.iter().find(|row| row.name() == name));
    let usual = rows.iter().find(|row| row.name() == "mq-deadline");
    let mut first: Vec<&str> = Vec::new();
    for row in [best.or(rows.first()), usual, rows.last()].into_iter().flatten() {
        if !first.contains(&row.name()) {
            first.push(row.name());
        }
    }
    first
}

/// A whole page, of a title and what it shows, both as HTML.
pub(super) fn document(title: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n\
         <meta name=viewport content=\"width=device-width, initial-scale=1\">\n\
         <meta name=color-scheme content=\"light dark\">\n<title>{title}</title>\n<style>\n{}</style>\n</head>\n\
         <body>\n{body}</body>\n</html>\n",
        include_str!("html/report.css")
    )
}

pub(super) fn section(title: &str, content: &str) -> String {
    format!("<section><h2>{}</h2>\n{content}</section>\n", escape(title))
}

fn table(rows: &[&Summary], interrupted: bool) -> String {
    let mut columns = columns(rows, interrupted);
    let head =
        |[what, unit]: [&str; 2]| if what.is_empty() { unit.to_owned() } else { format!("{what}, {unit}") };
    let heads: Vec<String> = columns.iter().map(|column| head(column.title)).collect();
    let marked =
        if interrupted { "" } else { " Marked cells are the best of their column, or within 1 % of it." };
    let caption = format!("{ORDER}{marked} {LATENCY}");
    let mut cells: Vec<_> = columns.iter_mut().map(|column| column.cells.drain(..)).collect();
    let rows = rows.iter().map(|row| (row.name(), cells.iter_mut().filter_map(Iterator::next).collect()));
    grid::html(("Results", &caption), heads.into_iter(), rows)
}

/// Each scheduler's shares of the best of each phase.
fn by_phase(table: &phases::Table<'_>) -> String {
    let phases: String = table.phases().map(|phase| format!("<li>{}</li>\n", escape(&phase))).collect();
    let title = table.title();
    let rows = grid::html((&title, &table.note()), table.heads(), table.rows());
    format!("<p>{}</p>\n<ol>\n{phases}</ol>\n{rows}", escape(&title))
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
    let stacks: Vec<_> = rows
        .iter()
        .map(|row| {
            let part = |(id, _): &(u64, String)| {
                let issuers = row.mean["issuers"].as_array().into_iter().flatten();
                let mut own = issuers.filter(|issuer| issuer["id"].as_u64() == Some(*id));
                own.next().and_then(|issuer| issuer["service_ns"].as_f64()).unwrap_or(0.0)
            };
            (row.name(), ids.iter().map(part).collect())
        })
        .collect();
    let names: Vec<&str> = ids.iter().map(|(_, name)| name.as_str()).collect();
    Some(charts::stacks("Each process under each scheduler", &names, &stacks))
}

fn repeat(comparison: &Comparison<'_>) -> String {
    let seeds: Vec<String> = comparison.prepared.experiment.seeds.iter().map(ToString::to_string).collect();
    let hash = comparison.prepared.trace.as_ref().and_then(|trace| trace.sha256());
    let (command, same) = match origin::repeats(comparison.prepared) {
        Ok(command) => {
            let on = if hash.is_some() { " on the same trace" } else { "" };
            let same = format!(" The same command{on} gives the same numbers.");
            (format!("<pre><code>{}</code></pre>", escape(&command)), same)
        }
        Err(why) => (format!("<p>{}</p>", escape(&why)), String::new()),
    };
    let trace =
        hash.map_or_else(String::new, |hash| format!("<p>SHA-256 of the trace: <code>{hash}</code></p>\n"));
    format!(
        "{command}\n<p>idlewise {}; seeds: {}.{same}</p>\n{trace}",
        env!("CARGO_PKG_VERSION"),
        seeds.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_break_out() {
        assert_eq!(escape("<b a='1'>&\"\u{1b}"), "&lt;b a=&#39;1&#39;&gt;&amp;&quot;\u{fffd}");
    }
}
