//! What names on the command line stand for, and what users meant who mistype them.

use std::collections::HashSet;
use std::path::Path;

use idlewise_core::registry;
use idlewise_core::selectors::Candidate;
use idlewise_core::selectors::contract::CANDIDATES_MAX;
use idlewise_disk::{Profile, ProfileError, profile};
use idlewise_sim::experiment::{Choice, Chosen};
use idlewise_sim::selection::files::{self, FileError};

use super::device;
use super::presets;
use crate::failure::Failure;

/// The best guess at what `wanted` should have been, as a phrase; empty if nothing is near.
pub(crate) fn did_you_mean<'a>(wanted: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let near = |name: &&str| strsim::damerau_levenshtein(wanted, name) <= 1 + name.len() / 4;
    let scored = known.into_iter().filter(near).map(|name| (strsim::damerau_levenshtein(wanted, name), name));
    scored.min().map_or_else(String::new, |(_, name)| format!("; did you mean '{name}'?"))
}

/// A device is named where its model is wanted.
fn model_wanted(device: &Path) -> String {
    let (path, name) = (device.display(), device.file_name().unwrap_or_default().to_string_lossy());
    format!(
        "{path} is a disk, and here a model of a disk is wanted: make one (idlewise disk calibrate {path} -o {name}.toml) \
         and name {name}.toml, or leave --disk away"
    )
}

/// A disk by name or profile file, with options: `NAME|FILE[:key=value,…]`; or an array of such.
pub(crate) fn disk(text: &str) -> Result<Profile, Failure> {
    let file = |name: &str| match name.ends_with(".toml") || name.contains('/') {
        true if device::find(name).is_none() => Profile::load(Path::new(name)),
        _ => Profile::named(name),
    };
    Profile::find(text, &file).map_err(|error| match error {
        ProfileError::Unknown { name, .. } => {
            if let Some(device) = device::find(&name) {
                return Failure::usage(model_wanted(&device));
            }
            let hint = did_you_mean(&name, profile::names());
            Failure::usage(format!(
                "there is no disk '{name}'{hint} (`idlewise list disks` names them all; a profile file ends in .toml)"
            ))
        }
        ProfileError::Option { .. } => Failure::usage(error),
        error => Failure::failed(error),
    })
}

/// A scheduler or selector by name.
pub(crate) fn scheduler(name: &str) -> Result<Chosen, Failure> {
    Chosen::find(name).ok_or_else(|| unknown(name, Chosen::all().map(Chosen::name)))
}

fn unknown(name: &str, known: impl Iterator<Item = &'static str>) -> Failure {
    let names: Vec<String> = known.map(str::to_owned).chain(presets::names()).collect();
    let hint = did_you_mean(&name.to_lowercase(), names.iter().map(String::as_str));
    Failure::usage(format!("there is no scheduler '{name}'{hint} (`idlewise list` names them all)"))
}

/// A scheduler or selector with settings, as it takes part.
pub(crate) fn tuned(text: &str) -> Result<Choice, Failure> {
    let find = |name: &str| Chosen::find(name).map(|entry| (entry, entry.tunables()));
    let (entry, settings) = files::tuned(text, find).map_err(|error| match error {
        FileError::Unknown(name) => unknown(&name, Chosen::all().map(Chosen::name)),
        error => Failure::usage(format!("--schedulers: {error}")),
    })?;
    // Whoever says `none` reads `none`.
    let is_none = text.split(':').next().is_some_and(|name| name.trim().eq_ignore_ascii_case(registry::NONE));
    let name = if is_none { registry::NONE } else { entry.name() };
    let label = files::text(name, entry.tunables(), &settings);
    let settings = settings.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    Ok(Choice { label, entry, settings })
}

/// Candidates of a selector by their texts, each once.
pub(crate) fn candidates(texts: &[String]) -> Result<Vec<Candidate>, Failure> {
    let parse = |text: &String| {
        files::candidate(text).map_err(|error| match error {
            FileError::Unknown(name) => unknown(&name, registry::all().iter().map(|entry| entry.name)),
            error => Failure::usage(format!("--candidates: {error}")),
        })
    };
    let candidates = texts.iter().filter(|text| !text.trim().is_empty()).map(parse);
    let mut candidates: Vec<Candidate> = candidates.collect::<Result<_, _>>()?;
    let mut named = HashSet::new();
    candidates.retain(|candidate| named.insert(files::label(candidate)));
    if candidates.is_empty() || candidates.len() > CANDIDATES_MAX {
        return Err(Failure::usage(format!("--candidates: name 1 to {CANDIDATES_MAX} schedulers")));
    }
    Ok(candidates)
}

/// Schedulers by name, preset or family, some with settings, each once; and by index those that a verdict is about: those
/// of the preset `linux` if it is named, else all.
pub(crate) fn schedulers(names: &[String]) -> Result<(Vec<Choice>, Vec<usize>), Failure> {
    schedulers_and(names, Vec::new())
}

/// The same, and behind them those that the caller brings along, which have these names.
pub(crate) fn schedulers_and(
    names: &[String],
    own: Vec<String>,
) -> Result<(Vec<Choice>, Vec<usize>), Failure> {
    let mut chosen: Vec<Choice> = Vec::new();
    let mut about = Vec::new();
    for name in names.iter().map(|name| name.trim()).filter(|name| !name.is_empty()) {
        let members = presets::members(name);
        let is_linux = name.eq_ignore_ascii_case(presets::LINUX);
        for text in members.unwrap_or_else(|| vec![name]) {
            let choice = tuned(text)?;
            let same = |known: &Choice| {
                known.entry.name() == choice.entry.name() && known.settings == choice.settings
            };
            let place = chosen.iter().position(same).unwrap_or(chosen.len());
            if place == chosen.len() {
                chosen.push(choice);
            }
            if is_linux {
                about.push(place);
            }
        }
    }
    for (place, label) in own.into_iter().enumerate() {
        let named = Chosen::find(&label).is_some() || presets::members(&label).is_some();
        let known = named || chosen.iter().any(|choice| choice.label == label);
        if known || label.is_empty() || label.contains([',', ':', ';']) {
            return Err(Failure::usage(format!(
                "a scheduler of your own cannot be called '{label}': give it a name that no other has, without , : and ;"
            )));
        }
        chosen.push(Choice { label, entry: Chosen::Foreign(place), settings: Vec::new() });
    }
    if chosen.is_empty() {
        let presets = presets::names().join(", ");
        return Err(Failure::usage(format!(
            "no scheduler is named: try --schedulers deadline,c-look, or one of these sets: {presets}"
        )));
    }
    if about.is_empty() {
        about = (0..chosen.len()).collect();
    }
    Ok((chosen, about))
}
