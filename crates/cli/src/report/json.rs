//! Results as JSON.

use idlewise_sim::experiment::{Choice, Load};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::input::setup::Prepared;

/// A value as JSON for people and programs.
pub(crate) fn text(value: &impl serde::Serialize) -> Result<String, Failure> {
    serde_json::to_string_pretty(value).map_err(Failure::failed)
}

/// The command that makes this report, as a shell takes it.
pub(crate) fn command() -> String {
    let own = std::iter::once(std::ffi::OsString::from("idlewise"));
    let words = own.chain(std::env::args_os().skip(1));
    words.map(|word| quote(&word.to_string_lossy())).collect::<Vec<_>>().join(" ")
}

/// A word as a shell takes it.
fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
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
        "command": command(),
        "disk": experiment.disk.name,
        "disk_reason": prepared.disk_reason,
        "not_told": prepared.missing,
        "load": prepared.load,
        "open_loop": matches!(experiment.load, Load::Trace { open_loop: true, .. }),
        "seeds": experiment.seeds,
        "interrupted": interrupted,
        "calibrated": experiment.calibrated,
        "settings": experiment.schedulers.iter().flat_map(settings).chain(weights).collect::<serde_json::Map<_, _>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_for_a_shell() {
        assert_eq!(quote("it's"), "'it'\\''s'");
        assert_eq!(quote("--set=a.b=1"), "--set=a.b=1");
    }
}
