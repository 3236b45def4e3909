//! `idlewise compare`: several schedulers on the same load.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use idlewise_sim::experiment::Foreign;

use crate::assumptions::doubts;
use crate::caller;
use crate::execution::{Done, execute, finish};
use crate::failure::Failure;
use crate::input::args::{LOAD_NOTES, LoadOptions};
use crate::input::names;
use crate::input::setup::{self, Prepared};
use crate::notes::notes;
use crate::report::comparison::{Comparison, Variant};
use crate::report::csv::{csv, csv_of_processes, csv_of_series};
use crate::report::summary::{Summary, summarise};
use crate::report::verdict::table::Goal;
use crate::report::{html, output};

/// Run several schedulers on the same load and say which is best
#[derive(Args)]
#[command(after_help = LOAD_NOTES)]
pub(crate) struct Compare {
    /// Schedulers and sets of them, separated by commas; one with settings is NAME:tunable=value;tunable=value. Sets are
    /// linux (today's, with the settings that matter: the verdict is about them if the set is named), all, auto (all
    /// selectors), and the families (textbook, linux-2-6, blk-mq, unc, proportional-share, anticipatory)
    #[arg(long, default_value = "linux,all", value_name = "NAME|SET,…", value_delimiter = ',')]
    schedulers: Vec<String>,

    /// What the recommendation goes by
    #[arg(long, value_enum, ignore_case = true, default_value_t)]
    goal: Goal,

    #[command(flatten)]
    load: LoadOptions,

    /// Runs of each scheduler, each with another seed; more than one gives confidence intervals
    #[arg(long, default_value_t = 1, value_name = "COUNT")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1000))]
    runs: u32,

    /// Print the results as JSON, to standard output or a file
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    json: Option<PathBuf>,

    /// Print the results as CSV, to standard output or a file
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    csv: Option<PathBuf>,

    /// Print what each process got under each scheduler as CSV, to standard output or a file
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    csv_processes: Option<PathBuf>,

    /// Print what happened when under each scheduler as CSV, to standard output or a file: the first run, in at most 256
    /// stretches of time
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    csv_series: Option<PathBuf>,

    /// Write the results as a page for browsers, with plots of the runs over time: one file, which fetches nothing
    #[arg(long, value_name = "FILE", require_equals = true)]
    pub(crate) html: Option<PathBuf>,
}

/// A scheduler that the caller brings along, with its name.
pub(crate) type Own = (String, Arc<dyn Foreign>);

/// All that a comparison is told from.
pub(crate) struct Compared {
    pub(crate) prepared: Prepared,
    pub(crate) done: Done,
    pub(crate) summaries: Vec<Summary>,
    /// What to know beside the results, each a line.
    notes: Vec<String>,
    /// By index, the schedulers that the verdict is about.
    about: Vec<usize>,
    variants: Vec<Variant>,
    goal: Goal,
}

impl Compared {
    /// The comparison, ready to be told.
    pub(crate) fn comparison(&self) -> Comparison<'_> {
        let Compared { prepared, done, summaries, about, variants, goal, .. } = self;
        Comparison::new(prepared, summaries, done.interrupted, (*goal, about, None), variants)
    }

    /// The page for browsers; plots are of those runs that kept what happened when.
    pub(crate) fn page(&self) -> String {
        html::page(&self.comparison(), &self.notes, &self.done.series(&self.prepared))
    }
}

impl Compare {
    /// Runs the schedulers and says which is best for what.
    pub(crate) fn run(&self) -> Result<(), Failure> {
        output::check(&self.outputs(), &self.load.files())?;
        let compared = self.compared(Vec::new(), self.html.is_some() || self.csv_series.is_some())?;
        self.write(&compared)?;
        finish(&compared.done)
    }

    /// Runs the schedulers, those that the caller brings along behind the others, and remarks on how it went. `plotted`: what
    /// plots want is kept.
    pub(crate) fn compared(&self, own: Vec<Own>, plotted: bool) -> Result<Compared, Failure> {
        let (labels, foreign): (Vec<String>, Vec<_>) = own.into_iter().unzip();
        let (schedulers, about) = names::schedulers_and(&self.schedulers, labels)?;
        let mut prepared = setup::experiment(&self.load, schedulers, self.runs, false)?;
        prepared.experiment.series = plotted;
        prepared.experiment.foreign = foreign;
        let mut done = execute(&prepared)?;
        prepared.experiment.series = false;
        let mut summaries = summarise(&done.outcomes, prepared.experiment.schedulers.len())?;
        let named = setup::named(&self.load, &mut prepared)?;
        let doubts = if done.interrupted { None } else { doubts(&mut prepared, &about, &mut summaries)? };
        done.interrupted |= doubts.is_none();
        let doubts = doubts.unwrap_or_default();
        let notes: Vec<String> =
            notes(&prepared, &done).into_iter().chain(named).chain(doubts.note()).collect();
        caller::say(&notes)?;
        Ok(Compared { prepared, done, summaries, notes, about, variants: doubts.variants, goal: self.goal })
    }

    fn outputs(&self) -> [output::Asked<'_>; 5] {
        let Compare { json, csv, csv_processes, csv_series, html, .. } = self;
        let lists = [("--csv-processes", csv_processes), ("--csv-series", csv_series)];
        [("--json", json), ("--csv", csv), lists[0], lists[1], ("--html", html)]
    }

    /// Writes the files that were asked for, and the table unless one of them is standard output.
    fn write(&self, compared: &Compared) -> Result<(), Failure> {
        let comparison = compared.comparison();
        if let Some(path) = &self.json {
            output::write(path, &comparison.json()?)?;
        }
        if let Some(path) = &self.csv {
            output::write(path, &csv(comparison.prepared, comparison.summaries))?;
        }
        if let Some(path) = &self.csv_processes {
            output::write(path, &csv_of_processes(comparison.prepared, comparison.summaries))?;
        }
        if let Some(path) = &self.csv_series {
            output::write(path, &csv_of_series(&compared.done.series(&compared.prepared)))?;
        }
        if let Some(path) = &self.html {
            output::write(path, &compared.page())?;
        }
        let printed = self.outputs().iter().filter_map(|(_, path)| path.as_ref()).any(output::is_stdout);
        if printed { Ok(()) } else { output::print(&comparison.text()) }
    }
}
