//! Sweeps in steps, for a program that deals the runs out to workers by itself.
//!
//! What is asked for, what is known of traces, and units are JSON texts: they go from one machine to another, and a program
//! may change where a unit's files lie. The steps are `sources`, [`portions`] for each of them, [`plan`], and [`run`]
//! for each unit that is not done; [`estimate`] before, if somebody wants to know.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};

use super::{Error, Following};
use crate::failure::Failure;
use crate::sweep::file::{Source, SweepFile};
use crate::sweep::plan::{Asked, Plan};
use crate::sweep::portions::{Portions, Workshop};
use crate::sweep::unit::{Deciding, Unit};
use crate::sweep::{dataset, estimate as estimates, local};

fn read<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, Failure> {
    serde_json::from_str(text).map_err(|error| Failure::usage(format!("sweep: {error}")))
}

/// What the TOML file at `path` asks for, as JSON.
///
/// # Errors
/// [`Error`]: the file cannot be read, or asks for something that does not exist.
pub fn file(path: &Path) -> Result<String, Error> {
    SweepFile::read(path)?;
    let failed = |error: &dyn std::fmt::Display| Error::Failed(format!("{}: {error}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| failed(&error))?;
    if path.extension().is_some_and(|extension| extension == "json") {
        return Ok(text);
    }
    let value: Value = toml::from_str(&text).map_err(|error| failed(&error))?;
    Ok(value.to_string())
}

/// Checks what `sweep` asks for, as far as that can be done before any trace is read; gives its traces, a list in which each
/// has a `file`, a `name` and how to read it.
///
/// # Errors
/// [`Error::Usage`] names what is wrong.
pub fn sources(sweep: &str) -> Result<String, Error> {
    let file = SweepFile::from_json(sweep)?;
    Asked::new(&file)?;
    Ok(json!(file.sources()?).to_string())
}

/// What is known of a trace of `sweep`, which is one of [`sources`], perhaps with its `file` somewhere else. What was found
/// is kept below `work`. With `cut`, a trace of several devices is split there.
///
/// # Errors
/// [`Error`]: the trace cannot be read, or `work` cannot be written.
pub fn portions(
    sweep: &str,
    source: &str,
    work: &Path,
    cut: bool,
    following: &Arc<Following>,
) -> Result<String, Error> {
    let whole = Asked::new(&SweepFile::from_json(sweep)?)?.whole;
    let source: Source = read(source)?;
    let workshop = Workshop { folder: work, control: &following.control, told: false };
    let portions = workshop.portions(&source, whole, cut)?;
    Ok(json!(portions).to_string())
}

/// The units of `sweep`: `portions` has what is known of each of its traces, in order, and files of devices lie below `work`.
/// An object with `words` and `units`; `place` of a unit is where its result lies in the dataset.
///
/// # Errors
/// [`Error::Usage`] names what is wrong.
pub fn plan(sweep: &str, portions: &[String], work: &str) -> Result<String, Error> {
    let file = SweepFile::from_json(sweep)?;
    let known: Vec<Portions> = portions.iter().map(|text| read(text)).collect::<Result<_, _>>()?;
    let known: Vec<(Source, Portions)> = file.sources()?.into_iter().zip(known).collect();
    let plan = Plan::new(&file, &Asked::new(&file)?, &known, Path::new(work))?;
    let placed = |unit: &Unit| {
        let mut value = json!(unit);
        value["place"] = json!(dataset::place(unit));
        value
    };
    let units: Vec<Value> = plan.units.iter().map(placed).collect();
    Ok(json!({"words": plan.words(), "units": units}).to_string())
}

/// Carries a unit out; the content of its result's file, or nothing if it was stopped.
///
/// # Errors
/// [`Error`]: the run failed, or would give another result here than where the plan was made: idlewise, or a profile that
/// the unit names, is another one.
pub fn run(unit: &str, following: &Following) -> Result<Option<Vec<u8>>, Error> {
    let unit: Unit = read(unit)?;
    let deciding = Deciding::run(&unit.disk, &unit.scheduler, &unit.options)?;
    if Deciding::id(&Deciding::load(&unit.load)?, &deciding, unit.seed) != unit.id {
        return Err(Error::Failed(format!(
            "{}: this machine would give another result than the plan is for: it has another idlewise, or another file of a \
             disk, a job, a matrix or a ranking",
            unit.words()
        )));
    }
    Ok(local::result(&unit, &following.control)?)
}

/// Writes the result of a unit into the dataset in the folder `output`, in the place of an earlier one.
///
/// # Errors
/// [`Error::Failed`] names the file that cannot be written.
pub fn write(output: &Path, unit: &str, content: &[u8]) -> Result<(), Error> {
    Ok(dataset::write(output, &read(unit)?, content)?)
}

/// The ids of the results in the dataset in the folder `output`.
///
/// # Errors
/// [`Error::Failed`] names the folder that cannot be read.
pub fn present(output: &Path) -> Result<Vec<String>, Error> {
    Ok(dataset::present(output)?.into_iter().collect())
}

/// What `units`, a list, would cost: an object with `seconds` on one core and, for people, `text` about `jobs` at a time.
///
/// # Errors
/// [`Error::Failed`] if the runs were interrupted. Units that fail are told in `text`.
pub fn estimate(units: &str, jobs: usize) -> Result<String, Error> {
    let units: Vec<Unit> = read(units)?;
    let units: Vec<&Unit> = units.iter().collect();
    let told = estimates::estimate(&units)?;
    Ok(json!({"seconds": told.seconds, "text": told.words(jobs)}).to_string())
}
