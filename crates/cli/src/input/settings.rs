//! `--set`: tunables of those that take part, and weights of processes.

use idlewise_core::registry::Assignment;
use idlewise_core::tunables::Tunable;
use idlewise_core::{Issuer, Weight};
use idlewise_sim::experiment::{Choice, Chosen};

use super::names::{did_you_mean, scheduler};
use crate::failure::Failure;

/// What `--set` says before the point for the weight of a process.
const WEIGHT: &str = "weight";

/// What `--set TEXT` sets of `name`, which has these tunables.
pub(crate) fn setting(
    text: &str,
    name: &str,
    tunables: &'static [Tunable],
    (tunable, value): (&str, &str),
) -> Result<Assignment<'static>, Failure> {
    let found = tunables.iter().find(|known| known.name == tunable).ok_or_else(|| {
        let hint = did_you_mean(tunable, tunables.iter().map(|known| known.name));
        let known: Vec<_> = tunables.iter().map(|known| known.name).collect();
        let has = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        Failure::usage(format!("{name} has no tunable '{tunable}'{hint} (it has: {has})"))
    })?;
    let value = found.parse(value).map_err(|error| Failure::usage(format!("--set {text}: {error}")))?;
    Ok((found.name, value))
}

/// Applies `--set SCHEDULER.TUNABLE=VALUE`, and returns the weights of `--set weight.PROCESS=N`.
pub(super) fn settings(chosen: &mut [Choice], set: &[String]) -> Result<Vec<(Issuer, Weight)>, Failure> {
    let mut weights: Vec<(Issuer, Weight)> = Vec::new();
    for text in set {
        if let Some(rest) = text.strip_prefix(WEIGHT).and_then(|rest| rest.strip_prefix('.')) {
            weights.push(weight(rest).map_err(|error| Failure::usage(format!("--set {text}: {error}")))?);
            continue;
        }
        let wrong = || {
            Failure::usage(format!(
                "--set {text}: write SCHEDULER.TUNABLE=VALUE, such as deadline.read_expire=100ms"
            ))
        };
        let (left, value) = text.split_once('=').ok_or_else(wrong)?;
        let (name, tunable) = left.rsplit_once('.').ok_or_else(wrong)?;
        let (tunable, value) = setting(text, name, setting_of(name)?.tunables(), (tunable, value))?;
        let choice =
            chosen.iter_mut().find(|choice| choice.label.eq_ignore_ascii_case(name)).ok_or_else(|| {
                Failure::usage(format!("--set {text}: {name} does not take part; add it to --schedulers"))
            })?;
        choice.settings.push((tunable.to_owned(), value));
    }
    Ok(weights)
}

/// The scheduler before the point of `--set`.
fn setting_of(name: &str) -> Result<Chosen, Failure> {
    let unknown = Chosen::find(name).is_none();
    let names = || Chosen::all().map(Chosen::name);
    if unknown && did_you_mean(name, names()).is_empty() {
        let hint = did_you_mean(name, [WEIGHT]);
        if !hint.is_empty() {
            return Err(Failure::usage(format!(
                "there is no scheduler '{name}'{hint} (write weight.PROCESS=N, such as weight.3=300)"
            )));
        }
    }
    scheduler(name)
}

/// Reads `PROCESS=N`.
fn weight(text: &str) -> Result<(Issuer, Weight), String> {
    let (process, number) =
        text.split_once('=').ok_or("write weight.PROCESS=N, such as weight.3=300".to_owned())?;
    let process = process.parse().map_err(|_| {
        format!("'{process}' is not a process's number; `idlewise run` shows the numbers before the names")
    })?;
    let weight = number.parse().ok().and_then(Weight::new).ok_or_else(|| {
        let (least, greatest) = (Weight::LEAST.get(), Weight::GREATEST.get());
        format!("a weight is a whole number from {least} to {greatest} (100 is what processes have)")
    })?;
    Ok((Issuer(process), weight))
}
