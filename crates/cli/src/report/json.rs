//! Results as JSON.

use idlewise_sim::experiment::{Choice, Load};
use idlewise_sim::replay::Mode;
use serde_json::{Value, json};

use super::origin;
use crate::failure::Failure;
use crate::input::setup::Prepared;

/// A value as JSON for people and programs.
pub(crate) fn text(value: &impl serde::Serialize) -> Result<String, Failure> {
    serde_json::to_string_pretty(value).map_err(Failure::failed)
}

/// What every JSON document begins with.
pub(crate) fn header(schema: &str, prepared: &Prepared, interrupted: bool) -> Value {
    let experiment = &prepared.experiment;
    let weights =
        experiment.weights.iter().map(|(who, weight)| (format!("weight.{who}"), json!(weight.get())));
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
        "command": origin::repeats(prepared).ok(),
        "trace": origin::trace(prepared),
        "disk": experiment.disk.name,
        "disk_reason": prepared.disk_reason,
        "not_told": prepared.missing,
        "load": prepared.load,
        "open_loop": matches!(experiment.load, Load::Trace { mode: Mode::Open, .. }),
        "one_process": matches!(experiment.load, Load::Trace { mode: Mode::OneProcess, .. }),
        "seeds": experiment.seeds,
        "interrupted": interrupted,
        "calibrated": experiment.calibrated,
        "settings": experiment.schedulers.iter().flat_map(settings).chain(weights).collect::<serde_json::Map<_, _>>(),
    })
}
