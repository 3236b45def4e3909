//! A unit's result as a Parquet file of one row.
//!
//! Columns are the unit's own and every number of a report, by the names that JSON and CSV have for them: what
//! `metrics/report.rs` declares. Every file of a dataset has the same columns; what a run has nothing to say of is null.

use std::sync::{Arc, OnceLock};

use idlewise_sim::experiment::Outcome;
use idlewise_sim::metrics::selector::Account as SelectorAccount;
use idlewise_sim::metrics::{FigureSet, Kind, Report};
use idlewise_sim::replay::Account;
use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::Result as Parquet;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{Type, TypePtr};
use serde_json::{Value, json};

use super::unit::Unit;
use crate::failure::Failure;

/// What a column holds.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Holds {
    Text,
    Whole,
    Real,
}

/// A column, and where its values stand in a row's JSON.
struct Column {
    path: String,
    holds: Holds,
}

/// A row as JSON: the unit's own columns, the report's figures, and what replay did to the trace.
fn row(unit: &Unit, report: &Report, account: Option<Account>) -> serde_json::Result<Value> {
    let mut row = json!({
        "unit": unit.id,
        "trace_device": unit.device(),
        "seed": unit.seed,
        "idlewise": env!("CARGO_PKG_VERSION"),
        "trace_sha256": unit.sha256(),
        "options": unit.options.join(" "),
        "replay": account,
    });
    let figures = serde_json::to_value(report)?;
    if let (Value::Object(row), Value::Object(figures)) = (&mut row, figures) {
        row.extend(figures);
    }
    Ok(row)
}

/// The columns of a report's group, below `prefix`. A whole report tells which numbers are whole.
fn figures(group: &'static FigureSet, prefix: &str, whole: &Value, columns: &mut Vec<Column>) {
    for field in group.fields {
        let path = if prefix.is_empty() { field.name.to_owned() } else { format!("{prefix}.{}", field.name) };
        let holds = match field.kind {
            Kind::One(inner) => {
                figures(inner, &path, whole, columns);
                continue;
            }
            Kind::List(_) => continue,
            Kind::Text | Kind::Name => Holds::Text,
            _ if at(whole, &path).is_f64() => Holds::Real,
            _ => Holds::Whole,
        };
        columns.push(Column { path, holds });
    }
}

/// What stands at `path`, with dots between the names.
fn at<'a>(row: &'a Value, path: &str) -> &'a Value {
    path.split('.').fold(row, |value, name| &value[name])
}

/// All columns, in order.
fn columns() -> &'static [Column] {
    static ALL: OnceLock<Vec<Column>> = OnceLock::new();
    ALL.get_or_init(|| {
        let text = ["unit", "trace_device", "idlewise", "trace_sha256", "options"];
        let mut all: Vec<Column> =
            text.map(|name| Column { path: name.to_owned(), holds: Holds::Text }).into();
        all.insert(2, Column { path: "seed".to_owned(), holds: Holds::Whole });
        let whole = Report { selector: Some(SelectorAccount::default()), ..Report::default() };
        figures(Report::GROUP, "", &json!(whole), &mut all);
        let replay = json!(Account::default());
        let names = replay.as_object().into_iter().flatten();
        all.extend(names.map(|(name, _)| Column { path: format!("replay.{name}"), holds: Holds::Whole }));
        all
    })
}

fn schema() -> Parquet<TypePtr> {
    let field = |column: &Column| {
        let (physical, logical) = match column.holds {
            Holds::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            Holds::Whole => (Physical::INT64, Some(LogicalType::integer(64, false))),
            Holds::Real => (Physical::DOUBLE, None),
        };
        let built = Type::primitive_type_builder(&column.path, physical)
            .with_repetition(Repetition::OPTIONAL)
            .with_logical_type(logical)
            .build();
        built.map(Arc::new)
    };
    let fields = columns().iter().map(field).collect::<Parquet<Vec<_>>>()?;
    Ok(Arc::new(Type::group_type_builder("run").with_fields(fields).build()?))
}

/// The result of a unit as a file's content. Equal results make equal bytes.
pub(crate) fn file(unit: &Unit, outcome: &Outcome) -> Result<Vec<u8>, Failure> {
    let row = row(unit, &outcome.report, outcome.account).map_err(Failure::failed)?;
    written(&row)
        .map_err(|error| Failure::failed(format!("the result cannot be written as Parquet: {error}")))
}

fn written(row: &Value) -> Parquet<Vec<u8>> {
    // One row: dictionaries and statistics would be larger than what they are about.
    let plain = WriterProperties::builder()
        .set_dictionary_enabled(false)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_created_by(concat!("idlewise ", env!("CARGO_PKG_VERSION")).to_owned())
        .build();
    let mut writer = SerializedFileWriter::new(Vec::new(), schema()?, Arc::new(plain))?;
    let mut group = writer.next_row_group()?;
    for column in columns() {
        let value = at(row, &column.path);
        let known: &[i16] = if value.is_null() { &[0] } else { &[1] };
        let count = usize::from(!value.is_null());
        let mut out = group.next_column()?.expect("the schema has a column for each of ours");
        match column.holds {
            Holds::Text => {
                let text = [ByteArray::from(value.as_str().unwrap_or_default())];
                out.typed::<ByteArrayType>().write_batch(&text[..count], Some(known), None)?;
            }
            Holds::Whole => {
                let number = [value.as_u64().unwrap_or_default() as i64];
                out.typed::<Int64Type>().write_batch(&number[..count], Some(known), None)?;
            }
            Holds::Real => {
                let number = [value.as_f64().unwrap_or_default()];
                out.typed::<DoubleType>().write_batch(&number[..count], Some(known), None)?;
            }
        }
        out.close()?;
    }
    group.close()?;
    writer.into_inner()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_what_a_report_declares() {
        let holds =
            |path: &str| columns().iter().find(|column| column.path == path).map(|column| column.holds);
        assert_eq!(holds("elapsed_ns"), Some(Holds::Whole));
        assert_eq!(holds("read.latency_ns.mean"), Some(Holds::Real));
        assert_eq!(holds("read.latency_ns.p99"), Some(Holds::Whole));
        assert_eq!(holds("scheduler"), Some(Holds::Text));
        assert_eq!(holds("selector.switches"), Some(Holds::Whole));
        assert_eq!(holds("replay.folded"), Some(Holds::Whole));
        assert_eq!(holds("issuers"), None);
        let mut paths: Vec<&str> =
            columns().iter().filter_map(|column| column.path.split('.').next()).collect();
        paths.dedup();
        let distinct: std::collections::HashSet<&str> = paths.iter().copied().collect();
        assert_eq!(paths.len(), distinct.len(), "a unit's own column has the name of a figure");
        let whole = json!(Report { selector: Some(SelectorAccount::default()), ..Report::default() });
        let mut figures_only = Vec::new();
        figures(Report::GROUP, "", &whole, &mut figures_only);
        for column in figures_only {
            assert!(!at(&whole, &column.path).is_null(), "{} stands in no report", column.path);
        }
    }
}
