//! Results by column. Which columns there are is declared with the figures, in `metrics/report.rs` of sim.

use idlewise_sim::experiment::Outcome;
use idlewise_sim::metrics::{Field, FigureSet, Kind, Report};
use serde_json::Value;

use crate::report::summary::Summary;

/// The values of a column, one for each row; none where nothing was measured.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Words.
    Text(Vec<Option<String>>),
    /// Numbers that name something, such as seeds.
    Whole(Vec<Option<u64>>),
    /// Figures, in the column's unit.
    Number(Vec<Option<f64>>),
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// The names that lead to the figure in JSON, with dots between.
    pub name: String,
    /// What it says.
    pub about: String,
    /// Its unit, such as `ns`; empty for plain numbers and words.
    pub unit: &'static str,
    /// What is in it.
    pub values: Values,
}

/// A table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// The columns, all of the same length.
    pub columns: Vec<Column>,
}

impl Table {
    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| match &column.values {
            Values::Text(values) => values.len(),
            Values::Whole(values) => values.len(),
            Values::Number(values) => values.len(),
        })
    }

    /// The column called `name`.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }
}

/// A figure of a group or of one below, but for lists.
struct Leaf {
    path: String,
    field: &'static Field,
}

/// The figures of `group` and below it, in order.
fn leaves(group: &'static FigureSet, prefix: &str) -> Vec<Leaf> {
    let of = |field: &'static Field| {
        let path = if prefix.is_empty() { field.name.to_owned() } else { format!("{prefix}.{}", field.name) };
        match field.kind {
            Kind::One(inner) => leaves(inner, &path),
            Kind::List(_) => Vec::new(),
            _ => vec![Leaf { path, field }],
        }
    };
    group.fields.iter().flat_map(of).collect()
}

fn at<'a>(row: &'a Value, path: &str) -> &'a Value {
    path.split('.').fold(row, |at, name| &at[name])
}

/// The number at `path`. No request takes no time: a time of requests that there were none of was not measured.
fn number(row: &Value, path: &str, kind: Kind) -> Option<f64> {
    let zero = |group: &Value, name: &str| group[name].as_f64() == Some(0.0);
    let (mut here, mut nothing) = (row, false);
    for name in path.split('.') {
        nothing |= zero(here, "requests") || zero(here, "max");
        here = &here[name];
    }
    here.as_f64().filter(|_| !(nothing && matches!(kind, Kind::Millis)))
}

/// The column of `leaf` over `rows`.
fn column(leaf: &Leaf, rows: &[&Value]) -> Column {
    let found = || rows.iter().map(|row| at(row, &leaf.path));
    let values = match leaf.field.kind {
        Kind::Text | Kind::Name => {
            Values::Text(found().map(|value| value.as_str().map(str::to_owned)).collect())
        }
        Kind::Id | Kind::Weight => Values::Whole(found().map(Value::as_u64).collect()),
        kind => Values::Number(rows.iter().map(|row| number(row, &leaf.path, kind)).collect()),
    };
    let about = leaf.field.about.trim().to_owned();
    Column { name: leaf.path.clone(), about, unit: leaf.field.kind.base_unit(), values }
}

/// Half the confidence interval of `leaf` over `rows`, if there were several runs.
fn interval(leaf: &Leaf, rows: &[&Value]) -> Option<Column> {
    let path = format!("{}_ci95", leaf.path);
    let (parent, name) = path.rsplit_once('.').unwrap_or(("", path.as_str()));
    let group = |row: &Value| {
        if parent.is_empty() { row.get(name).is_some() } else { at(row, parent).get(name).is_some() }
    };
    if !rows.iter().any(|row| group(row)) {
        return None;
    }
    let values = Values::Number(rows.iter().map(|row| number(row, &path, leaf.field.kind)).collect());
    let about = format!("Half the 95 % confidence interval of {}.", leaf.path);
    Some(Column { name: path, about, unit: leaf.field.kind.base_unit(), values })
}

/// Every figure of `group` over `rows`, each followed by its interval.
fn columns(group: &'static FigureSet, rows: &[&Value]) -> Vec<Column> {
    let both = |leaf: Leaf| std::iter::once(column(&leaf, rows)).chain(interval(&leaf, rows));
    leaves(group, "").into_iter().flat_map(both).collect()
}

/// A row for each scheduler.
pub(super) fn summary(summaries: &[Summary]) -> Table {
    let rows: Vec<&Value> = summaries.iter().map(|summary| &summary.mean).collect();
    Table { columns: columns(Report::GROUP, &rows) }
}

/// A row for each run.
pub(super) fn runs(outcomes: &[Outcome]) -> Table {
    let rows: Vec<Value> =
        outcomes.iter().map(|outcome| serde_json::to_value(&outcome.report).unwrap_or_default()).collect();
    let mut all = columns(Report::GROUP, &rows.iter().collect::<Vec<_>>());
    let seeds = Values::Whole(outcomes.iter().map(|outcome| Some(outcome.seed)).collect());
    let about = "The seed of the run.".to_owned();
    all.insert(1.min(all.len()), Column { name: "seed".to_owned(), about, unit: "", values: seeds });
    Table { columns: all }
}

/// A row for each process under each scheduler.
pub(super) fn processes(summaries: &[Summary]) -> Table {
    let list = Report::GROUP.fields.iter().find_map(|field| match field.kind {
        Kind::List(group) if field.name == PROCESSES => Some(group),
        _ => None,
    });
    let Some(group) = list else { return Table::default() };
    let of = |summary: &'_ Summary| {
        let listed = summary.mean[PROCESSES].as_array().cloned().unwrap_or_default();
        listed.into_iter().map(|row| (summary.name().to_owned(), row)).collect::<Vec<_>>()
    };
    let rows: Vec<(String, Value)> = summaries.iter().flat_map(of).collect();
    let names = Values::Text(rows.iter().map(|(name, _)| Some(name.clone())).collect());
    let about = "The scheduler's name.".to_owned();
    let mut all = vec![Column { name: "scheduler".to_owned(), about, unit: "", values: names }];
    all.extend(columns(group, &rows.iter().map(|(_, row)| row).collect::<Vec<_>>()));
    Table { columns: all }
}

/// The list of processes in a report.
const PROCESSES: &str = "issuers";
