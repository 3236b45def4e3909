//! What the program does, for other programs: the Python package is one.
//!
//! A program asks with the words of a command line, and gets data. So an option, its default and its checks are declared
//! once, and each result carries the command that gives the same numbers in a shell. Nothing is printed, and Ctrl-C is the
//! program's: it follows and stops runs through [`Following`].
//!
//! ```
//! use std::sync::Arc;
//! use idlewise::library::{Following, compare};
//!
//! let words = ["--workload", "sync-streams:n=2", "--schedulers", "noop,antic-sptf", "--duration", "1s"];
//! let words: Vec<String> = words.iter().map(ToString::to_string).collect();
//! let comparison = compare(&words, Vec::new(), &Arc::new(Following::default()))?;
//! let table = comparison.summary();
//! assert_eq!(table.rows(), 2);
//! println!("{}", comparison.verdict());
//! # Ok::<(), idlewise::library::Error>(())
//! ```

mod options;
pub mod sweeps;
mod table;

use std::path::Path;
use std::sync::Arc;

use clap::{Args, Parser};
use idlewise_sim::experiment::Foreign;
use idlewise_sim::traces::Trace;
use serde_json::Value;

pub use crate::caller::Following;
use crate::caller::{self, Returned};
use crate::commands::{Arguments, compare};
use crate::failure::Failure;
use crate::input::args::Reading;
use crate::input::{trace, wrong};
use crate::report::csv::{csv, csv_of_processes};
pub use options::{Opt, Takes, options};
pub use table::{Column, Table, Values};

/// Why a call did not do what was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// What was asked for is wrong: an unknown name, a value out of range.
    Usage(String),
    /// The work failed: a file could not be read, a run broke off.
    Failed(String),
    /// The runs were stopped before there was anything to tell.
    Interrupted,
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Error::Usage(message) | Error::Failed(message) => f.write_str(message),
            Error::Interrupted => f.write_str("interrupted before there was a result"),
        }
    }
}

impl std::error::Error for Error {}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Error {
        match failure {
            Failure::Usage(message) => Error::Usage(message),
            Failure::Failed(message) => Error::Failed(message),
            Failure::Interrupted => Error::Interrupted,
            Failure::OutputClosed => Error::Failed("standard output is closed".to_owned()),
        }
    }
}

impl From<clap::Error> for Error {
    fn from(error: clap::Error) -> Error {
        Error::Usage(wrong::words(&error))
    }
}

/// What a command printed, and its messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Printed {
    /// What goes to standard output in a shell.
    pub text: String,
    /// What goes to standard error in a shell: warnings and notes, each in a line.
    pub messages: String,
}

/// Carries out the command that `words` are, such as `trace`, `info`, `FILE`, `--json`.
///
/// # Errors
/// [`Error`], with the message that a shell shows. What a command that was stopped had printed until then is lost.
pub fn command(words: &[String], following: &Arc<Following>) -> Result<Printed, Error> {
    let Returned { value, printed, messages } = caller::call(words, following, || {
        Arguments::of(words).map_err(Error::from)?.run().map_err(Error::from)
    });
    value.map(|()| Printed { text: printed, messages })
}

/// Opens a trace: a file, or the common prefix of blktrace's. `format`: if its content is ambiguous; `devices`: only these, if
/// any; `lenient`: rows that cannot be read are skipped.
///
/// # Errors
/// [`Error`]: such a format does not exist, or the file cannot be read as a trace.
pub fn open(
    path: &Path,
    format: Option<String>,
    devices: Vec<String>,
    lenient: bool,
) -> Result<Trace, Error> {
    let options = trace::options(&Reading { format, devices, lenient })?;
    Trace::open(path, &options).map_err(|error| Error::Failed(error.to_string()))
}

/// The options of a command, without the program around it.
#[derive(Parser)]
#[command(no_binary_name = true)]
struct Alone<T: Args> {
    #[command(flatten)]
    options: T,
}

/// Compares schedulers as `idlewise compare` does with these options, and `own` ones, each with its name, behind those that the options name. A
/// comparison that was stopped has what was done until then.
///
/// # Errors
/// [`Error`]. Options that say where results are written write nothing here; with `--html` the page has its plots.
pub fn compare(
    words: &[String],
    own: Vec<(String, Arc<dyn Foreign>)>,
    following: &Arc<Following>,
) -> Result<Compared, Error> {
    let mut all = vec!["compare".to_owned()];
    all.extend_from_slice(words);
    let Returned { value, messages, .. } = caller::call(&all, following, || -> Result<_, Error> {
        let asked = Alone::<compare::Compare>::try_parse_from(words)?.options;
        let plotted = asked.html.is_some();
        Ok(asked.compared(own, plotted)?)
    });
    Ok(Compared { inner: value?, words: all, messages })
}

/// A finished comparison.
pub struct Compared {
    inner: compare::Compared,
    /// The command line that asked for it.
    words: Vec<String>,
    messages: String,
}

impl Compared {
    /// Which scheduler is best for what, and whether it matters, in sentences.
    pub fn verdict(&self) -> String {
        self.inner.comparison().verdict.text()
    }

    /// What was compared, in a line.
    pub fn title(&self) -> String {
        self.inner.comparison().title()
    }

    /// Notes and warnings, each in a line.
    pub fn messages(&self) -> &str {
        &self.messages
    }

    /// The runs were stopped before all were done.
    pub fn interrupted(&self) -> bool {
        self.inner.done.interrupted
    }

    /// A row for each scheduler: means over the runs of all figures, and of several runs half of each 95 % confidence
    /// interval.
    pub fn summary(&self) -> Table {
        table::summary(&self.inner.summaries)
    }

    /// A row for each run: scheduler, seed, and all figures.
    pub fn runs(&self) -> Table {
        table::runs(&self.inner.done.outcomes)
    }

    /// A row for each process under each scheduler.
    pub fn processes(&self) -> Table {
        table::processes(&self.inner.summaries)
    }

    /// The table and the verdict, as a terminal shows them.
    pub fn text(&self) -> String {
        self.told(|inner| inner.comparison().text())
    }

    /// The page that `idlewise compare --html` writes.
    pub fn html(&self) -> String {
        self.told(compare::Compared::page)
    }

    /// The text that `idlewise compare --csv` prints.
    pub fn csv(&self) -> String {
        self.told(|inner| csv(&inner.prepared, &inner.summaries))
    }

    /// The text that `idlewise compare --csv-processes` prints.
    pub fn csv_of_processes(&self) -> String {
        self.told(|inner| csv_of_processes(&inner.prepared, &inner.summaries))
    }

    /// The document that `idlewise compare --json` prints; `docs/schema` has its schema.
    ///
    /// # Errors
    /// [`Error::Failed`] if a figure cannot be written as JSON.
    pub fn json(&self) -> Result<String, Error> {
        self.told(|inner| inner.comparison().json()).map_err(Error::from)
    }

    /// The claims of the verdict, as JSON has them.
    ///
    /// # Errors
    /// [`Error::Failed`] if a claim cannot be written as JSON.
    pub fn claims(&self) -> Result<Value, Error> {
        let claims = serde_json::to_value(&self.inner.comparison().verdict.claims);
        claims.map_err(|error| Error::Failed(error.to_string()))
    }

    /// What `tell` makes of it where the command line is this one's.
    fn told<T>(&self, tell: impl FnOnce(&compare::Compared) -> T) -> T {
        caller::call(&self.words, &Arc::default(), || tell(&self.inner)).value
    }
}
