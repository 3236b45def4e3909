//! Schedulers with their settings as words: `as:antic_expire=3;read_batch_expire=2000`.

use core::fmt;

use idlewise_core::host;
use idlewise_core::registry::{self, BuildError};
use idlewise_core::selectors::Candidate;
use idlewise_core::tunables::Unit;

/// What is wrong with the word of a candidate.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum CandidateError<'a> {
    Scheduler(&'a str),
    Setting(&'a str, BuildError),
}

impl fmt::Display for CandidateError<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CandidateError::Scheduler(name) => {
                write!(f, "there is no scheduler {name}; policy lists those there are")
            }
            CandidateError::Setting(word, error) => write!(f, "{word}: {error}"),
        }
    }
}

/// The candidate of a word.
pub(crate) fn candidate(word: &str) -> Result<Candidate, CandidateError<'_>> {
    let (name, settings) = word.split_once(':').unwrap_or((word, ""));
    let entry = registry::find(name).ok_or(CandidateError::Scheduler(name))?;
    let pairs = settings.split(';').filter(|pair| !pair.is_empty());
    let pairs = pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    let settings =
        host::settings(entry.tunables, pairs).map_err(|error| CandidateError::Setting(word, error))?;
    Ok(Candidate { entry, settings })
}

/// A candidate as a word.
pub(crate) struct Label<'a>(pub(crate) &'a Candidate);

impl fmt::Display for Label<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Candidate { entry, settings } = self.0;
        f.write_str(entry.name)?;
        settings.iter().enumerate().try_for_each(|(index, (name, value))| {
            write!(f, "{}{name}=", if index == 0 { ':' } else { ';' })?;
            match entry.tunables.iter().find(|tunable| tunable.name == *name) {
                Some(tunable) if matches!(tunable.unit, Unit::Choice(_) | Unit::Switch) => {
                    write!(f, "{}", tunable.show(*value))
                }
                _ => write!(f, "{value}"),
            }
        })
    }
}
