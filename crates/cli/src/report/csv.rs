//! Results as CSV (RFC 4180): a column for each scalar of the JSON.

use serde_json::Value;

use super::summary::Summary;

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
