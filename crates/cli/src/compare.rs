//! `idlewise run` and `idlewise compare`.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use comfy_table::{CellAlignment, Table, presets};
use idlewise_sim::engine::Control;
use idlewise_sim::experiment::{Choice, Load, Outcome};
use serde_json::{Value, json};

use crate::args::{CompareOptions, RunOptions};
use crate::failure::Failure;
use crate::output::{self, ms, three};
use crate::progress::{Progress, interruptible};
use crate::setup::{self, Prepared};
use crate::summary::{Figure, Figures, Summary, summarise};
use crate::trace::warn;
use crate::verdict::{Row, verdict};

/// Runs one scheduler and prints all that was measured.
pub(crate) fn run(options: &RunOptions) -> Result<(), Failure> {
    let entry = setup::scheduler(&options.scheduler)?;
    let choice = Choice { label: entry.name.to_owned(), entry, settings: Vec::new() };
    let prepared = setup::experiment(&options.load, vec![choice], 1)?;
    let (outcomes, control) = execute(&prepared)?;
    let Some(outcome) = outcomes.first() else { return Err(interrupted()) };
    remarks(&prepared, &outcomes, &control)?;
    match &options.json {
        Some(path) => {
            let mut document = header("idlewise/run/1", &prepared);
            document["result"] = serde_json::to_value(&outcome.report).map_err(Failure::failed)?;
            output::write(path, &output::json(&document)?)
        }
        None => output::print(&crate::page::page(&outcome.report, &prepared)),
    }
}

/// Runs several schedulers and says which is best for what.
pub(crate) fn compare(options: &CompareOptions) -> Result<(), Failure> {
    let prepared = setup::experiment(&options.load, setup::schedulers(&options.schedulers)?, options.runs)?;
    let (outcomes, control) = execute(&prepared)?;
    let summaries = summarise(&outcomes, prepared.experiment.schedulers.len())?;
    if summaries.is_empty() {
        return Err(interrupted());
    }
    remarks(&prepared, &outcomes, &control)?;
    let open_loop = matches!(prepared.experiment.load, Load::Trace { open_loop: true, .. });
    let rows: Vec<Row<'_>> = summaries.iter().map(|summary| (summary.name(), &summary.figures)).collect();
    let sentence = verdict(&rows, open_loop);
    let mut printed = false;
    if let Some(path) = &options.json {
        let mut document = header("idlewise/compare/1", &prepared);
        document["results"] = summaries.iter().map(|summary| summary.mean.clone()).collect();
        document["verdict"] = sentence.clone().into();
        output::write(path, &output::json(&document)?)?;
        printed |= is_stdout(path);
    }
    if let Some(path) = &options.csv {
        output::write(path, &csv(&summaries))?;
        printed |= is_stdout(path);
    }
    if printed {
        return Ok(());
    }
    let disk = &prepared.experiment.disk;
    let runs = if options.runs > 1 { format!(", {} runs each", options.runs) } else { String::new() };
    let title = format!("{} on {} ({}){runs}", prepared.load, disk.name, disk.description);
    output::print(&format!("{title}\n\n{}\n\n{sentence}", table(&summaries)))
}

fn is_stdout(path: &PathBuf) -> bool {
    path.as_os_str() == "-"
}

fn interrupted() -> Failure {
    Failure::failed("interrupted before the first run was done")
}

/// Runs the experiment, with progress and Ctrl-C.
fn execute(prepared: &Prepared) -> Result<(Vec<Outcome>, Arc<Control>), Failure> {
    let control = interruptible()?;
    let outcomes = {
        let _progress = Progress::follow(Arc::clone(&control), expected(prepared));
        prepared.experiment.run(&control)
    };
    Ok((outcomes.map_err(setup::failure)?, control))
}

/// Requests of all runs, if the limits tell.
fn expected(prepared: &Prepared) -> Option<u64> {
    let experiment = &prepared.experiment;
    let one = experiment.limits.requests;
    let runs = (experiment.schedulers.len() * experiment.seeds.len()) as u64;
    if one == u64::MAX { None } else { one.checked_mul(runs) }
}

/// What the user should know of the load and of how the runs ended.
fn remarks(prepared: &Prepared, outcomes: &[Outcome], control: &Control) -> Result<(), Failure> {
    use std::io::Write as _;
    let mut err = std::io::stderr().lock();
    if control.stop.load(Ordering::Relaxed) {
        writeln!(err, "interrupted: these are the results so far, the last runs cut short")?;
    }
    let account = outcomes.first().and_then(|outcome| outcome.account);
    if let Some(account) = account.filter(|account| account.folded > 0) {
        writeln!(
            err,
            "note: {} of {} requests lie beyond the end of {} and were folded back onto it; \
             a larger --disk keeps their distances",
            account.folded, account.rows, prepared.experiment.disk.name
        )?;
    }
    drop(err);
    match prepared.trace.as_ref().and_then(|trace| trace.report()) {
        Some(report) => warn(&report),
        None => Ok(()),
    }
}

/// What every JSON document begins with.
fn header(schema: &str, prepared: &Prepared) -> Value {
    let experiment = &prepared.experiment;
    let settings = |choice: &Choice| {
        choice
            .settings
            .iter()
            .map(move |(name, value)| (format!("{}.{name}", choice.label), json!(value)))
            .collect::<Vec<_>>()
    };
    json!({
        "schema": schema,
        "version": env!("CARGO_PKG_VERSION"),
        "disk": experiment.disk.name,
        "load": prepared.load,
        "open_loop": matches!(experiment.load, Load::Trace { open_loop: true, .. }),
        "seeds": experiment.seeds,
        "settings": experiment.schedulers.iter().flat_map(settings).collect::<serde_json::Map<_, _>>(),
    })
}

type Column = (&'static str, fn(&Figures) -> Figure, fn(f64) -> String);

const COLUMNS: &[Column] = &[
    ("run s", |f| f.elapsed_ns, |ns| three(ns / 1e9)),
    ("MB/s", |f| f.throughput_bytes_per_s, |rate| three(rate / 1e6)),
    ("IOPS", |f| f.iops, three),
    ("mean ms", |f| f.latency_mean_ns, ms),
    ("read p99 ms", |f| f.read_p99_ns, ms),
    ("write p99 ms", |f| f.write_p99_ns, ms),
    ("max ms", |f| f.latency_max_ns, ms),
    ("seek ms", |f| f.seek_mean_ns, ms),
    ("busy %", |f| f.utilization, |share| three(share * 100.0)),
    ("fairness", |f| f.fairness_jain, three),
];

/// The table for people: a row for each scheduler, soonest done first.
fn table(summaries: &[Summary]) -> String {
    let mut sorted: Vec<&Summary> = summaries.iter().collect();
    let order = |summary: &Summary| (summary.figures.elapsed_ns.mean, summary.figures.latency_mean_ns.mean);
    sorted.sort_by(|a, b| order(a).partial_cmp(&order(b)).unwrap_or(std::cmp::Ordering::Equal));
    let present = |column: &&Column| sorted.iter().any(|summary| column.1(&summary.figures).mean > 0.0);
    let columns: Vec<&Column> = COLUMNS.iter().filter(present).collect();
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    table.set_header(std::iter::once("scheduler").chain(columns.iter().map(|column| column.0)));
    for summary in sorted {
        let cell = |column: &&Column| {
            let figure = column.1(&summary.figures);
            let mut text = column.2(figure.mean);
            if figure.ci95 > 0.0 {
                let _ = write!(text, " ±{}", column.2(figure.ci95));
            }
            text
        };
        table.add_row(std::iter::once(summary.name().to_owned()).chain(columns.iter().map(cell)));
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

/// One row for each scheduler, one column for each scalar of the JSON result.
fn csv(summaries: &[Summary]) -> String {
    let rows: Vec<Vec<(String, String)>> =
        summaries.iter().map(|summary| flatten("", &summary.mean)).collect();
    let mut text = String::new();
    if let Some(first) = rows.first() {
        text += &first.iter().map(|(key, _)| key.as_str()).collect::<Vec<_>>().join(",");
        text.push('\n');
    }
    for row in rows {
        text += &row.iter().map(|(_, value)| value.as_str()).collect::<Vec<_>>().join(",");
        text.push('\n');
    }
    text
}

/// The scalars of a JSON object, with dots between the names; lists are left to JSON.
fn flatten(prefix: &str, value: &Value) -> Vec<(String, String)> {
    match value {
        Value::Object(fields) => {
            let name = |key: &str| if prefix.is_empty() { key.to_owned() } else { format!("{prefix}.{key}") };
            fields.iter().flat_map(|(key, value)| flatten(&name(key), value)).collect()
        }
        Value::Array(_) => Vec::new(),
        Value::String(text) => vec![(prefix.to_owned(), text.clone())],
        other => vec![(prefix.to_owned(), other.to_string())],
    }
}
