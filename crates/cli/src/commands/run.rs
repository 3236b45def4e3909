//! `idlewise run`: one scheduler, and all that was measured.

use std::io::Write as _;
use std::path::PathBuf;

use clap::Args;
use idlewise_core::{Instant, Issuer};
use idlewise_sim::engine::decision_log::WhyFilter;
use idlewise_sim::metrics::Report;
use idlewise_sim::workloads::parse_duration;

use crate::caller;
use crate::execution::{execute, explain, finish, watch};
use crate::failure::Failure;
use crate::input::args::{LOAD_NOTES, LoadOptions};
use crate::input::names;
use crate::input::setup::{self, Prepared};
use crate::notes;
use crate::report::csv::csv_of_processes;
use crate::report::summary::summarise;
use crate::report::{json, origin, output, page, timeline};

/// The selector that `auto` stands for: the best of all in `docs/selection.md`.
const AUTO: &str = "auto-predict";

/// Run one scheduler and report everything that was measured
#[derive(Args)]
#[command(after_help = LOAD_NOTES)]
pub(crate) struct Run {
    /// The scheduler; `auto` is the best selector, which chooses schedulers while it runs
    #[arg(long, default_value = "deadline", value_name = "NAME")]
    scheduler: String,

    #[command(flatten)]
    load: LoadOptions,

    /// Print each decision and its reason, to standard output or a file; of a selector, then its own
    /// decisions with their evidence, one JSON object a line; `idlewise docs why` explains the lines
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    why: Option<PathBuf>,

    /// With --why: only requests of this process
    #[arg(long, value_name = "PROCESS", requires = "why")]
    why_process: Option<u32>,

    /// With --why: only from this simulated time on, such as 1.5s
    #[arg(long, value_name = "TIME", requires = "why")]
    why_from: Option<String>,

    /// With --why: only up to this simulated time
    #[arg(long, value_name = "TIME", requires = "why")]
    why_to: Option<String>,

    /// Print the longest wait of a request in detail: all that happened meanwhile, with the reasons of decisions, and who
    /// was served; to standard output or a file
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    #[arg(conflicts_with = "why")]
    timeline: Option<PathBuf>,

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
        let Run { why, timeline, json, csv_processes, .. } = self;
        let lists = [("--why", why), ("--timeline", timeline)];
        let outputs = [lists[0], lists[1], ("--json", json), ("--csv-processes", csv_processes)];
        output::check(&outputs, &self.load.files())?;
        let auto = self.scheduler.eq_ignore_ascii_case("auto");
        if auto {
            writeln!(
                caller::Messages,
                "note: auto is {AUTO} here; `idlewise list selectors` names the others"
            )?;
        }
        let choice = names::tuned(if auto { AUTO } else { &self.scheduler })?;
        let mut prepared = setup::experiment(&self.load, vec![choice], 1, self.why.is_some())?;
        prepared.experiment.told = self.told()?;
        let done = match &self.why {
            Some(path) => explain(&prepared, path)?,
            None => execute(&prepared)?,
        };
        caller::say(&notes::notes(&prepared, &done))?;
        let report = &done.outcomes[0].report;
        if let Some(path) = &self.csv_processes {
            output::write(path, &csv_of_processes(&prepared, &summarise(&done.outcomes, 1)?))?;
        }
        if let Some(path) = &self.timeline {
            output::write(path, &timeline_of(&prepared, report)?)?;
        }
        match &self.json {
            Some(path) => {
                let mut document = json::header("idlewise/run/1", &prepared, done.interrupted);
                document["result"] = serde_json::to_value(report).map_err(Failure::failed)?;
                output::write(path, &json::text(&document)?)?;
            }
            None if [&self.csv_processes, &self.timeline].into_iter().flatten().any(output::is_stdout) => {}
            None => {
                let text = page::page(report, &prepared);
                let (title, rest) = text.split_once('\n').unwrap_or((text.as_str(), ""));
                output::print(&format!("{title}\n{}{rest}", origin::lines(&prepared)))?;
            }
        }
        finish(&done)
    }

    /// Which decisions are asked for.
    fn told(&self) -> Result<WhyFilter, Failure> {
        let time = |option: &str, text: &Option<String>, all: Instant| {
            let Some(text) = text else { return Ok(all) };
            let time = parse_duration(text).map(|time| Instant::ZERO + time);
            time.ok_or_else(|| {
                Failure::usage(format!("{option} {text}: write a time, such as 1.5s or 200ms"))
            })
        };
        let from = time("--why-from", &self.why_from, Instant::ZERO)?;
        let to = time("--why-to", &self.why_to, Instant::MAX)?;
        if to < from {
            return Err(Failure::usage("--why-to lies before --why-from: nothing would be printed"));
        }
        Ok(WhyFilter { process: self.why_process.map(Issuer), from, to })
    }
}

/// The longest wait of a run that had this report, from a second run, which is the same.
fn timeline_of(prepared: &Prepared, report: &Report) -> Result<String, Failure> {
    let Some((slowest, mut watch_for)) = timeline::longest(report) else {
        return Err(Failure::failed("--timeline: no request was read or written, so that none waited"));
    };
    watch(prepared, &mut watch_for)?;
    Ok(timeline::page(report, slowest, &watch_for))
}
