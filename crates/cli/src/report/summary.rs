//! Several runs of one scheduler as one result: means, and 95 % confidence intervals.

pub(crate) use idlewise_sim::experiment::Figure;
use idlewise_sim::experiment::Outcome;
use serde_json::{Map, Value};

use crate::failure::Failure;

/// One scheduler's result.
pub(crate) struct Summary {
    /// Means over the runs; of one run, the run itself.
    pub(crate) mean: Value,
    /// Each run, in order of seeds.
    pub(crate) runs: Vec<Value>,
    /// The runs are of several disks, of which each may be the real one.
    pub(crate) disks: bool,
}

impl Summary {
    /// The scheduler's name.
    pub(crate) fn name(&self) -> &str {
        self.mean["scheduler"].as_str().unwrap_or("?")
    }

    /// The figure at `path`, which has dots between its names; 0 if the runs have none.
    pub(crate) fn figure(&self, path: &str) -> Figure {
        Figure { mean: number(&self.mean, path), ci95: number(&self.mean, &format!("{path}_ci95")) }
    }

    /// The figure at `path` in each run.
    pub(crate) fn samples(&self, path: &str) -> Vec<f64> {
        self.runs.iter().map(|run| number(run, path)).collect()
    }
}

/// The number at `path`; 0 if there is none.
fn number(report: &Value, path: &str) -> f64 {
    path.split('.').fold(report, |at, name| &at[name]).as_f64().unwrap_or(0.0)
}

/// Sums up the runs of each scheduler; one without a finished run is left out.
pub(crate) fn summarise(outcomes: &[Outcome], schedulers: usize) -> Result<Vec<Summary>, Failure> {
    let mut summaries = Vec::new();
    for index in 0..schedulers {
        let own = outcomes.iter().filter(|outcome| outcome.scheduler == index);
        let values = own.map(|outcome| serde_json::to_value(&outcome.report)).collect::<Result<Vec<_>, _>>();
        let values = values.map_err(Failure::failed)?;
        if values.is_empty() {
            continue;
        }
        let mut mean = combine(&values.iter().collect::<Vec<_>>());
        if values.len() > 1 && values.iter().all(|value| *value == values[0]) {
            forget_intervals(&mut mean);
        }
        summaries.push(Summary { mean, runs: values, disks: false });
    }
    Ok(summaries)
}

/// Runs without chance have no interval: what was not measured is null, not 0.
fn forget_intervals(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                if key.ends_with("_ci95") { *value = Value::Null } else { forget_intervals(value) }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(forget_intervals),
        _ => {}
    }
}

/// The mean of alike JSON values. With several, each number gets a neighbour `…_ci95`.
fn combine(values: &[&Value]) -> Value {
    let Some(first) = values.first() else { return Value::Null };
    match first {
        _ if values.len() == 1 => (*first).clone(),
        Value::Object(fields) => {
            let mut combined = Map::new();
            for (key, value) in fields {
                let same: Vec<&Value> = values.iter().filter_map(|value| value.get(key)).collect();
                let names_something = matches!(key.as_str(), "id" | "weight");
                if value.is_number() && !names_something {
                    let samples: Vec<f64> = same.iter().filter_map(|value| value.as_f64()).collect();
                    let figure = Figure::of(&samples);
                    combined.insert(key.clone(), figure.mean.into());
                    combined.insert(format!("{key}_ci95"), figure.ci95.into());
                } else {
                    combined.insert(key.clone(), combine(&same));
                }
            }
            Value::Object(combined)
        }
        Value::Array(items) => {
            // Lists are of issuers: those that every run has, in the first run's order.
            let with_id = |list: &&Value, id: &Value| -> Option<Value> {
                list.as_array()?.iter().find(|item| item.get("id") == Some(id)).cloned()
            };
            let common = items.iter().filter_map(|item| {
                let id = item.get("id")?;
                let same: Option<Vec<Value>> = values.iter().map(|list| with_id(list, id)).collect();
                same.map(|same| combine(&same.iter().collect::<Vec<_>>()))
            });
            Value::Array(common.collect())
        }
        other => (*other).clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_get_an_interval_and_names_do_not() {
        let (a, b) = (
            json!({"scheduler": "x", "iops": 10, "issuers": [{"id": 1, "bytes": 4}]}),
            json!({"scheduler": "x", "iops": 20, "issuers": [{"id": 1, "bytes": 8}]}),
        );
        let both = combine(&[&a, &b]);
        assert_eq!(both["scheduler"], "x");
        assert_eq!(both["iops"], 15.0);
        assert!(both["iops_ci95"].as_f64().unwrap() > 60.0);
        assert_eq!(both["issuers"][0]["id"], 1);
        assert_eq!(both["issuers"][0]["bytes"], 6.0);
    }
}
