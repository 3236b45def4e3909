//! `idlewise run`: one scheduler, and all that was measured.

use std::path::PathBuf;

use clap::Args;
use idlewise_sim::experiment::Choice;

use crate::execution::{execute, explain, finish, remarks};
use crate::failure::Failure;
use crate::input::args::{LOAD_NOTES, LoadOptions};
use crate::input::{names, setup};
use crate::report::csv::csv_of_processes;
use crate::report::summary::summarise;
use crate::report::{json, output, page};

/// Run one scheduler and report everything that was measured
#[derive(Args)]
#[command(after_help = LOAD_NOTES)]
pub(crate) struct Run {
    /// The scheduler
    #[arg(long, default_value = "deadline", value_name = "NAME")]
    scheduler: String,

    #[command(flatten)]
    load: LoadOptions,

    /// Print each decision and its reason, to standard output or a file; of a selector, then its own
    /// decisions with their evidence, one JSON object a line
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    why: Option<PathBuf>,

    /// Print the report as JSON, to standard output or a file
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    json: Option<PathBuf>,

    /// Print what each process got as CSV, to standard output or a file
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    csv_processes: Option<PathBuf>,
}

impl Run {
    /// Runs the scheduler and prints all that was measured.
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let Run { why, json, csv_processes, .. } = self;
        let outputs = [("--why", why), ("--json", json), ("--csv-processes", csv_processes)];
        output::check(&outputs, &self.load.files())?;
        let entry = names::scheduler(&self.scheduler)?;
        let choice = Choice { label: entry.name().to_owned(), entry, settings: Vec::new() };
        let prepared = setup::experiment(&self.load, vec![choice], 1, self.why.is_some())?;
        let done = match &self.why {
            Some(path) => explain(&prepared, path)?,
            None => execute(&prepared)?,
        };
        remarks(&prepared, &done)?;
        let report = &done.outcomes[0].report;
        if let Some(path) = &self.csv_processes {
            output::write(path, &csv_of_processes(&summarise(&done.outcomes, 1)?))?;
        }
        match &self.json {
            Some(path) => {
                let mut document = json::header("idlewise/run/1", &prepared, done.interrupted);
                document["result"] = serde_json::to_value(report).map_err(Failure::failed)?;
                output::write(path, &json::text(&document)?)?;
            }
            None if self.csv_processes.as_ref().is_some_and(output::is_stdout) => {}
            None => output::print(&page::page(report, &prepared))?,
        }
        finish(&done)
    }
}
