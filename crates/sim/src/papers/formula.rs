//! Formulas: which figures of which runs a claim is about.
//!
//! As text: `RUN[@STEP]: SCHEDULER [MEASURE]`, and the same again after ` / ` for a ratio. Behind the stroke the run may be left
//! out: then it is the same one. A scheduler may have settings, as everywhere: `aged-sptf:bound=100`.
//!
//! ```text
//! think@8: antic-aged-sptf / aged-sptf
//! weights: stride time.stream2 / stride time.stream1
//! ```

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;

use super::watches::Watch;

/// What of a run is looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Measure {
    /// Bytes in a second.
    #[default]
    Throughput,
    /// How long the run took, in seconds.
    Seconds,
    /// The share of the run in which the disk was busy.
    Busy,
    /// Reads for another group of processes than the read before.
    Changes,
    /// What somebody counts who watches the run.
    Watched(Watch),
    /// Requests of a process in a second.
    Requests(Who),
    /// Bytes of a process in a second.
    Bytes(Who),
    /// The disk's time for a process, as a share of the run.
    Time(Who),
    /// When a process's last request was done, in seconds.
    Done(Who),
    /// How long a phase of the programs took on average, in seconds.
    Phase(String),
}

/// Of which process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Who {
    /// All of them together.
    All,
    /// The one that has least.
    Least,
    /// The one that has most.
    Most,
    /// The one of this name.
    Named(String),
}

/// A figure of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// The run's name in the paper's file.
    pub run: String,
    /// The step, of a run that has several.
    pub step: Option<String>,
    /// The scheduler, with settings if it has any.
    pub scheduler: String,
    /// What is looked at.
    pub measure: Measure,
}

/// A figure, or a ratio of two.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Formula {
    /// The figure, or the ratio's first.
    pub over: Term,
    /// The ratio's second.
    pub under: Option<Term>,
    text: String,
}

/// Why a text is no formula.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum FormulaError {
    /// It names no run.
    #[error("'{0}' names no run: write RUN: SCHEDULER [MEASURE]")]
    Run(String),
    /// It names no scheduler, or has too many words.
    #[error("'{0}' is not SCHEDULER [MEASURE]")]
    Words(String),
    /// The measure is unknown.
    #[error(
        "there is no measure '{0}' (there are: throughput, seconds, busy, changes, accuracy, alternation, and requests, bytes, time or done, each with .all, .least, .most or .PROCESS, and phase.NAME)"
    )]
    Measure(String),
}

impl FromStr for Measure {
    type Err = FormulaError;

    fn from_str(text: &str) -> Result<Measure, FormulaError> {
        let unknown = || FormulaError::Measure(text.to_owned());
        Ok(match text.split_once('.') {
            None => match text {
                "throughput" => Measure::Throughput,
                "seconds" => Measure::Seconds,
                "busy" => Measure::Busy,
                "changes" => Measure::Changes,
                _ => {
                    let watch = Watch::ALL.into_iter().find(|watch| watch.name() == text);
                    Measure::Watched(watch.ok_or_else(unknown)?)
                }
            },
            Some(("phase", name)) => Measure::Phase(name.to_owned()),
            Some((of, who)) => {
                let who = match who {
                    "all" => Who::All,
                    "least" => Who::Least,
                    "most" => Who::Most,
                    name => Who::Named(name.to_owned()),
                };
                match of {
                    "requests" => Measure::Requests(who),
                    "bytes" => Measure::Bytes(who),
                    "time" => Measure::Time(who),
                    "done" => Measure::Done(who),
                    _ => return Err(unknown()),
                }
            }
        })
    }
}

impl Term {
    /// A run and its step, as `RUN[@STEP]`.
    fn run(text: &str) -> (String, Option<String>) {
        let (run, step) = text.split_once('@').unwrap_or((text, ""));
        (run.to_owned(), (!step.is_empty()).then(|| step.to_owned()))
    }

    /// Reads `[RUN[@STEP]: ]SCHEDULER [MEASURE]`; without a run the term has the run of `first`.
    fn read(text: &str, first: Option<&Term>) -> Result<Term, FormulaError> {
        let (place, words) = match (text.split_once(": "), first) {
            (Some((place, words)), _) => (Term::run(place), words),
            (None, Some(first)) => ((first.run.clone(), first.step.clone()), text),
            (None, None) => return Err(FormulaError::Run(text.to_owned())),
        };
        let mut each = words.split_whitespace();
        let (scheduler, measure, more) = (each.next(), each.next(), each.next());
        let (Some(scheduler), None) = (scheduler, more) else {
            return Err(FormulaError::Words(words.to_owned()));
        };
        let measure = measure.map_or(Ok(Measure::default()), Measure::from_str)?;
        Ok(Term { run: place.0, step: place.1, scheduler: scheduler.to_owned(), measure })
    }
}

impl Formula {
    /// Whether it has no unit: it is the ratio of two figures, or a share.
    pub(super) fn is_ratio(&self) -> bool {
        self.under.is_some()
            || matches!(self.over.measure, Measure::Busy | Measure::Time(_) | Measure::Watched(_))
    }

    /// The figures that it takes.
    pub fn terms(&self) -> impl Iterator<Item = &Term> {
        std::iter::once(&self.over).chain(&self.under)
    }
}

impl TryFrom<String> for Formula {
    type Error = FormulaError;

    fn try_from(text: String) -> Result<Formula, FormulaError> {
        let (over, under) = match text.split_once(" / ") {
            Some((over, under)) => (over, Some(under)),
            None => (text.as_str(), None),
        };
        let over = Term::read(over, None)?;
        let under = under.map(|under| Term::read(under, Some(&over))).transpose()?;
        Ok(Formula { over, under, text })
    }
}

impl fmt::Display for Formula {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn formula(text: &str) -> Result<Formula, FormulaError> {
        Formula::try_from(text.to_owned())
    }

    #[test]
    fn the_second_run_may_be_left_out() {
        let read = formula("think@8: antic-aged-sptf:percentile=all / aged-sptf seconds").unwrap();
        let under = read.under.clone().unwrap();
        assert_eq!((read.over.run.as_str(), read.over.step.as_deref()), ("think", Some("8")));
        assert_eq!(read.over.scheduler, "antic-aged-sptf:percentile=all");
        assert_eq!((under.run.as_str(), under.step.as_deref()), ("think", Some("8")));
        assert_eq!((&read.over.measure, &under.measure), (&Measure::Throughput, &Measure::Seconds));
        let two = formula("two: cas / one: cas").unwrap();
        assert_eq!(two.terms().map(|term| term.run.as_str()).collect::<Vec<_>>(), ["two", "one"]);
    }

    #[test]
    fn what_is_wrong_is_told() {
        assert_eq!(formula("cas"), Err(FormulaError::Run("cas".to_owned())));
        assert_eq!(formula("one: cas seconds more"), Err(FormulaError::Words("cas seconds more".to_owned())));
        assert_eq!(formula("one: cas weight.least"), Err(FormulaError::Measure("weight.least".to_owned())));
        let least = formula("one: cas time.least").unwrap().over.measure;
        assert_eq!(least, Measure::Time(Who::Least));
    }
}
