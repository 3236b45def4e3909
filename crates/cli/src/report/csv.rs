//! Results as CSV (RFC 4180): a column for each scalar of the JSON; last, the command and the trace's hash.

use std::fmt::Write as _;

use idlewise_sim::metrics::series::Series;
use serde_json::Value;

use super::origin;
use super::summary::Summary;
use crate::input::setup::Prepared;

/// One row for each scheduler, one column for each scalar of the JSON result.
pub(crate) fn csv(prepared: &Prepared, summaries: &[Summary]) -> String {
    let rows: Vec<Fields> = summaries.iter().map(|summary| flatten("", &summary.mean)).collect();
    lines_of_csv(prepared, rows)
}

/// One row for each scheduler and process, one column for each scalar of the process's JSON.
pub(crate) fn csv_of_processes(prepared: &Prepared, summaries: &[Summary]) -> String {
    let processes = |summary: &'_ Summary| -> Vec<Fields> {
        let listed = summary.mean["issuers"].as_array().map_or(&[][..], Vec::as_slice);
        let row = |issuer| {
            let mut fields = vec![("scheduler".to_owned(), summary.name().to_owned())];
            fields.append(&mut flatten("", issuer));
            fields
        };
        listed.iter().map(row).collect()
    };
    lines_of_csv(prepared, summaries.iter().flat_map(processes).collect())
}

/// One row for each scheduler and stretch of time, then one for each of the processes in it; latencies, bytes and requests
/// are of all processes together.
pub(crate) fn csv_of_series(runs: &[(&str, &Series)]) -> String {
    let mut text = "scheduler,begins_ns,ends_ns,process,read_bytes,write_bytes,read_latency_ns_p99,write_latency_ns_p99,\
                    outstanding_mean,waiting_ns,service_ns\n"
        .to_owned();
    for (name, series) in runs {
        let name = quoted(name);
        for (bin, [begins, ends]) in series.bins.iter().zip(series.spans()) {
            let (begins, ends) = (begins.0, ends.0);
            let [read, write] = bin.bytes;
            let outstanding = bin.outstanding * series.bin.0 as f64 / (ends - begins).max(1) as f64;
            let (read_p99, write_p99, waiting) = (bin.read_ns_p99, bin.write_ns_p99, bin.waiting_ns);
            let served: u64 = bin.service_ns.iter().sum();
            let _ = writeln!(
                text,
                "{name},{begins},{ends},,{read},{write},{read_p99},{write_p99},{outstanding},{waiting},{served}"
            );
            for (process, served) in series.processes.iter().zip(&bin.service_ns).filter(|(_, ns)| **ns > 0) {
                let _ = writeln!(text, "{name},{begins},{ends},{},,,,,,,{served}", quoted(process));
            }
        }
    }
    text
}

/// A row's columns, each with its name.
type Fields = Vec<(String, String)>;

/// The names of the first row's columns, then all rows.
fn lines_of_csv(prepared: &Prepared, mut rows: Vec<Fields>) -> String {
    let hash = prepared.trace.as_ref().and_then(|trace| trace.sha256());
    for row in &mut rows {
        row.push(("command".to_owned(), origin::repeats(prepared).unwrap_or_default()));
        row.push(("trace_sha256".to_owned(), hash.unwrap_or_default().to_owned()));
    }
    let names = rows.first().map(|first| first.iter().map(|(key, _)| key.clone()).collect());
    let values = rows.iter().map(|row| row.iter().map(|(_, value)| quoted(value)).collect());
    names.into_iter().chain(values).map(|cells: Vec<String>| cells.join(",") + "\n").collect()
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
