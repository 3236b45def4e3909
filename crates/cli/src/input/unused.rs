//! What would silently do nothing: options for selectors that nobody who takes part uses, and settings that
//! others overrule.

use idlewise_core::selectors::registry::{self, Entry};
use idlewise_core::selectors::{by_hand, matrix};
use idlewise_core::tunables::Tunables as _;
use idlewise_sim::experiment::{Choice, Chosen};
use idlewise_sim::selection::{Selection, Switching};

use crate::failure::Failure;

/// An error if something of `selection`, or a setting of `chosen`, would do nothing.
pub(crate) fn check(selection: &Selection, chosen: &[Choice]) -> Result<(), Failure> {
    let selectors: Vec<(&Choice, &'static Entry)> = chosen
        .iter()
        .filter_map(|choice| match choice.entry {
            Chosen::Selector(entry) => Some((choice, entry)),
            Chosen::Scheduler(_) | Chosen::Foreign(_) => None,
        })
        .collect();
    options(selection, &selectors)?;
    selectors.iter().try_for_each(|(choice, entry)| settings(selection, choice, entry))
}

/// Whether a selector uses an option.
type Uses = fn(&Selection, &Entry) -> bool;

/// An error if nobody uses an option that is given. It is enough that one does.
fn options(selection: &Selection, selectors: &[(&Choice, &Entry)]) -> Result<(), Failure> {
    let all: [(&str, bool, Uses, &str); 5] = [
        (
            "--candidates",
            selection.candidates.is_some(),
            Selection::free,
            " (a matrix or ranking has its own candidates)",
        ),
        ("--matrix", selection.matrix.is_some(), |_, entry| entry.matrix, ""),
        ("--ranking", selection.ranking.is_some(), |_, entry| entry.ranks, ""),
        ("--model", selection.model.is_some(), |_, entry| entry.predicts, ""),
        ("--switching", selection.switching != Switching::default(), |_, _| true, ""),
    ];
    for (option, given, uses, reason) in all {
        if given && !selectors.iter().any(|(_, entry)| uses(selection, entry)) {
            let users = registry::all().iter().filter(|entry| uses(selection, entry));
            let users: Vec<&str> = users.map(|entry| entry.name).collect();
            let one = if users.len() == 1 { "it" } else { "one of them" };
            return Err(Failure::usage(format!(
                "{option} is for {}: let {one} take part{reason}",
                users.join(", ")
            )));
        }
    }
    Ok(())
}

/// An error if a setting of this selector would do nothing.
fn settings(selection: &Selection, choice: &Choice, entry: &Entry) -> Result<(), Failure> {
    let label = &choice.label;
    let built_in = |name: &str| matrix::Choice::TABLE.iter().any(|tunable| tunable.name == name);
    let overruled = choice.settings.iter().find(|(name, _)| built_in(name));
    if let Some((name, _)) = overruled.filter(|_| entry.matrix && selection.matrix.is_some()) {
        return Err(Failure::usage(format!(
            "{label}: {name} is for the built-in matrices: leave it or --matrix out"
        )));
    }
    let set =
        |wanted: &str| choice.settings.iter().rfind(|(name, _)| name == wanted).map(|(_, value)| *value);
    if entry.matrix && set("goal").is_some() && set("hints") == Some(0) {
        return Err(Failure::usage(format!(
            "{label}: hints=off has one matrix for every goal: leave goal out"
        )));
    }
    let count = selection.field(entry).candidates.len();
    by_hand(set("manual").unwrap_or(0), count)
        .map_err(|error| Failure::usage(format!("{label}: {error}")))?;
    Ok(())
}
