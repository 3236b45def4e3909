//! `idlewise front`: which schedulers nobody beats in throughput and latency at once.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use clap::{Args, ValueEnum};
use idlewise_core::{Duration, Instant};
use idlewise_disk::Profile;
use idlewise_sim::experiment::Choice;
use idlewise_sim::experiment::front::{self, Effort, FrontLoad, LOADS, Panel};
use idlewise_sim::workloads::parse_duration;

use crate::failure::Failure;
use crate::input::{names, setup};
use crate::progress::{Progress, interruptible};
use crate::report::front::{DiskFronts, json, plot, text};
use crate::report::output;

/// Show which schedulers nobody beats in throughput and latency at once, over many loads and disks
#[derive(Args)]
pub(crate) struct Front {
    /// Disks: names, or profile files, separated by commas
    #[arg(long, default_value = "hdd-18tb-7200", value_name = "NAME|FILE,…", value_delimiter = ',')]
    disks: Vec<String>,

    /// Loads by their names, separated by commas; those of --set without it
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    loads: Vec<String>,

    /// Which loads
    #[arg(long, value_enum, ignore_case = true, default_value_t, conflicts_with = "loads")]
    set: Set,

    /// Loads drawn at random instead, with these numbers: each draws one to four programs for which nobody has tuned a scheduler
    #[arg(long, value_name = "FROM-TO", conflicts_with_all = ["loads", "set"], value_parser = numbers)]
    drawn: Option<(u64, u64)>,

    /// Schedulers and sets of them, as for compare; mq-deadline is always among them
    #[arg(long, default_value = "all", value_name = "NAME|SET,…", value_delimiter = ',')]
    schedulers: Vec<String>,

    /// Runs of each, each with another seed
    #[arg(long, default_value_t = 1, value_name = "COUNT")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1000))]
    runs: u32,

    /// Simulated time of each run
    #[arg(long, default_value = "20s", value_name = "TIME")]
    duration: String,

    /// Count bytes on every load, also on those that count what each party gets
    #[arg(long)]
    bytes: bool,

    /// Print the results as JSON, to standard output or a file
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    json: Option<PathBuf>,

    /// Write the results as a page for browsers: a plot of throughput and latency for each load
    #[arg(long, value_name = "FILE", require_equals = true)]
    html: Option<PathBuf>,
}

/// Loads by whether they may be tuned on.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Set {
    /// All of them
    #[default]
    All,
    /// Those that schedulers may be tuned on
    Known,
    /// Those that are set aside, to see whether it holds
    Aside,
}

impl Front {
    /// Measures and prints.
    pub(crate) fn run(&self) -> Result<(), Failure> {
        output::check(&[("--json", &self.json), ("--html", &self.html)], &[])?;
        let disks = self.disks.iter().map(|name| names::disk(name)).collect::<Result<Vec<_>, _>>()?;
        let (schedulers, effort) = (self.schedulers()?, self.effort()?);
        let loads = self.loads(effort.until.since(Instant::ZERO))?;
        let control = interruptible()?;
        let runs = disks.len() * loads.len() * schedulers.len() * self.runs as usize;
        let mut fronts = Vec::new();
        {
            let _progress = Progress::follow(Arc::clone(&control), runs as u64);
            for disk in &disks {
                let panels = panels(disk, &loads, &schedulers, effort, &control)?;
                if !panels.is_empty() {
                    fronts.push(DiskFronts { disk, panels, schedulers: &schedulers });
                }
            }
        }
        if fronts.is_empty() {
            return Err(Failure::failed("interrupted before the first load was done"));
        }
        self.write(&fronts)?;
        if control.stop.load(Ordering::Relaxed) { Err(Failure::Interrupted) } else { Ok(()) }
    }

    fn write(&self, fronts: &[DiskFronts<'_>]) -> Result<(), Failure> {
        if let Some(path) = &self.json {
            output::write(path, &json(fronts)?)?;
        }
        if let Some(path) = &self.html {
            output::write(path, &plot::page(fronts))?;
        }
        let printed = self.json.as_ref().is_some_and(output::is_stdout);
        if printed { Ok(()) } else { output::print(&text(fronts)) }
    }

    fn loads(&self, time: Duration) -> Result<Vec<FrontLoad>, Failure> {
        if let Some((from, to)) = self.drawn {
            return Ok((from..=to).map(|number| FrontLoad::drawn(number, time)).collect());
        }
        if self.loads.is_empty() {
            let wanted = |load: &&FrontLoad| match self.set {
                Set::All => true,
                Set::Known => !load.aside,
                Set::Aside => load.aside,
            };
            return Ok(LOADS.iter().filter(wanted).cloned().collect());
        }
        let find = |name: &String| {
            let known = || LOADS.iter().map(|load| &*load.name);
            LOADS.iter().find(|load| load.name.eq_ignore_ascii_case(name)).cloned().ok_or_else(|| {
                let hint = names::did_you_mean(name, known());
                let all = known().collect::<Vec<_>>().join(", ");
                Failure::usage(format!("there is no load '{name}'{hint} (loads: {all})"))
            })
        };
        self.loads.iter().map(find).collect()
    }

    fn schedulers(&self) -> Result<Vec<Choice>, Failure> {
        let mut names = self.schedulers.clone();
        names.push(front::YARDSTICK.to_owned());
        Ok(names::schedulers(&names)?.0)
    }

    fn effort(&self) -> Result<Effort, Failure> {
        let time = parse_duration(&self.duration).filter(|time| time.0 > 0).ok_or_else(|| {
            Failure::usage(format!("--duration {}: write a time such as 20s or 500ms", self.duration))
        })?;
        Ok(Effort { runs: u64::from(self.runs), until: Instant::ZERO + time, bytes: self.bytes })
    }
}

/// The most loads that are drawn at once.
const MOST_DRAWN: u64 = 10_000;

/// Numbers from one to another, as in `1-40`, or a single one.
fn numbers(text: &str) -> Result<(u64, u64), String> {
    let (from, to) = text.split_once('-').unwrap_or((text, text));
    let number = |text: &str| text.parse::<u64>().ok().filter(|number| *number > 0);
    match (number(from), number(to)) {
        (Some(from), Some(to)) if from <= to && to - from < MOST_DRAWN => Ok((from, to)),
        _ => Err(format!("write numbers such as 1-40: from 1 on, at most {MOST_DRAWN} of them")),
    }
}

/// All loads on one disk; those before an interruption, if there is one.
fn panels(
    disk: &Profile,
    loads: &[FrontLoad],
    schedulers: &[Choice],
    effort: Effort,
    control: &idlewise_sim::engine::Control,
) -> Result<Vec<Panel>, Failure> {
    let mut panels = Vec::new();
    for load in loads {
        match front::panel(disk, load, schedulers, effort, control).map_err(setup::failure)? {
            Some(panel) => panels.push(panel),
            None => break,
        }
    }
    Ok(panels)
}
