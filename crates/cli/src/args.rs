//! The command line, declared once; help and completions are made from it.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

const PROGRAM_NOTES: &str = "\
Examples:
  idlewise compare --trace disk.blktrace --disk barracuda
  idlewise compare --workload sync-streams:n=4 --schedulers deadline,c-look --runs 5
  idlewise compare --fio job.fio --html=report.html
  idlewise docs c-look

Results go to standard output, messages to standard error.
Exit status: 0 done, 1 failed, 2 wrong usage, 130 interrupted (what was done so far is printed).";

const LOAD_NOTES: &str = "\
One of --workload, --trace and --fio says what the disk is asked to do.
--fio reads sizes, times and keys as fio does. Each file of a job lies after the one before, from the
start of the disk; a filename below /dev is the whole disk. Keys that are not modelled are named.
Ctrl-C ends the runs early and prints what is done so far; the exit status is then 130.";

/// Which disk scheduler should this disk use? Evidence instead of folklore.
#[derive(Parser)]
#[command(version, about, max_term_width = 100, disable_help_subcommand = true)]
#[command(after_help = PROGRAM_NOTES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// List schedulers, workloads, disks and trace formats
    List(List),
    /// Run one scheduler and report everything that was measured
    #[command(after_help = LOAD_NOTES)]
    Run(RunOptions),
    /// Run several schedulers on the same load and say which is best
    #[command(after_help = LOAD_NOTES)]
    Compare(CompareOptions),
    /// Measure a decision matrix for auto-matrix
    #[command(subcommand)]
    Matrix(MatrixCommand),
    /// Measure a ranking by request size for auto-ranking
    #[command(subcommand)]
    Ranking(RankingCommand),
    /// Look into a trace, or convert it
    #[command(subcommand)]
    Trace(TraceCommand),
    /// Look at a disk model, or check it against a real drive
    #[command(subcommand)]
    Disk(DiskCommand),
    /// Print the manual page of a scheduler, or reference tables in Markdown
    Docs(Docs),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
}

/// What `list` shows.
#[derive(Args)]
pub(crate) struct List {
    /// What to list
    #[arg(default_value = "schedulers")]
    pub(crate) what: Catalogue,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Catalogue {
    /// Schedulers with their tunables
    Schedulers,
    /// Selectors, which choose among schedulers, with their tunables
    Selectors,
    /// Named workloads with their options
    Workloads,
    /// Mixes of phases, for loads that change (`--workload phases:mix=NAME`)
    Mixes,
    /// Kinds of phases, of which mixes are made
    Phases,
    /// Disk models
    Disks,
    /// Trace formats
    Formats,
}

/// What the disk is asked to do, and which disk.
#[derive(Args)]
pub(crate) struct LoadOptions {
    /// The disk: a name from `idlewise list disks`, or a profile file; options such as depth=32,cache=off
    #[arg(long, default_value = "hdd-18tb-7200", value_name = "NAME|FILE[:KEY=VALUE,…]")]
    pub(crate) disk: String,

    /// A named workload: NAME[:key=value,…]; see `idlewise list workloads`
    #[arg(long, value_name = "NAME[:KEY=VALUE,…]", conflicts_with_all = ["trace", "fio"])]
    pub(crate) workload: Option<String>,

    /// A trace file, `-` for standard input, or the common prefix of blktrace's per-CPU files
    #[arg(long, value_name = "FILE", conflicts_with = "fio")]
    pub(crate) trace: Option<PathBuf>,

    /// A job file of fio as workload, or `-` for standard input
    #[arg(long, value_name = "JOB")]
    pub(crate) fio: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) reading: Reading,

    /// Replay at the recorded times, whatever the disk does
    #[arg(long)]
    pub(crate) open_loop: bool,

    /// Replay this much faster (below 1: slower)
    #[arg(long, default_value_t = 1.0, value_name = "FACTOR", value_parser = positive)]
    pub(crate) speed: f64,

    /// Set a tunable, or the weight of a process, as in weight.3=300 (1 to 10000); may be repeated
    #[arg(long = "set", value_name = "SCHEDULER.TUNABLE=VALUE|weight.PROCESS=N")]
    pub(crate) set: Vec<String>,

    /// Tell schedulers the disk's positioning times from its model; else they learn them as they go
    #[arg(long)]
    pub(crate) calibrated: bool,

    #[command(flatten)]
    pub(crate) selection: SelectionOptions,

    /// Seed of all randomness
    #[arg(long, default_value_t = 1, value_name = "NUMBER")]
    pub(crate) seed: u64,

    /// Requests that the queue holds at once
    #[arg(long, default_value_t = 4096, value_name = "COUNT")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1_048_576))]
    pub(crate) queue_size: u32,

    /// Hardware queues of the disk, to which its depth is dealt out; each serves its share of the processes
    #[arg(long, default_value_t = 1, value_name = "COUNT")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=65536))]
    pub(crate) hardware_queues: u32,

    /// Do not merge neighbouring requests
    #[arg(long)]
    pub(crate) no_merges: bool,

    /// Stop issuing after this many requests
    #[arg(long, value_name = "COUNT")]
    pub(crate) max_requests: Option<u64>,

    /// Stop issuing after this much simulated time, such as 30s
    #[arg(long, value_name = "TIME")]
    pub(crate) duration: Option<String>,
}

/// What selectors (auto-…) are given besides their tunables.
#[derive(Args)]
#[command(next_help_heading = "Selectors")]
pub(crate) struct SelectionOptions {
    /// Whom selectors choose among, except auto-matrix, and auto-ranking with --ranking: NAME or
    /// NAME:tunable=value;tunable=value, separated by commas
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub(crate) candidates: Vec<String>,

    /// Own decision matrix for auto-matrix, as `idlewise matrix build` writes it
    #[arg(long, value_name = "FILE")]
    pub(crate) matrix: Option<PathBuf>,

    /// Ranking for auto-ranking, as `idlewise ranking build` writes it; without it, one is measured
    #[arg(long, value_name = "FILE")]
    pub(crate) ranking: Option<PathBuf>,

    /// How schedulers are exchanged: requests carried over, or drained as in Linux 2.6.11 or today
    #[arg(long, default_value = "carry", value_name = "WAY", value_parser = ["carry", "drain", "freeze"])]
    pub(crate) switching: String,

    /// The disk model that auto-predict simulates, if it is not the disk itself
    #[arg(long, value_name = "NAME|FILE")]
    pub(crate) model: Option<String>,
}

/// How to read a trace.
#[derive(Args, Clone)]
pub(crate) struct Reading {
    /// The trace's format, if its content is ambiguous; see `idlewise list formats`
    #[arg(long, value_name = "NAME")]
    pub(crate) format: Option<String>,

    /// Only this device or volume of the trace, by the name that `trace info` shows; may be repeated
    #[arg(long = "device", value_name = "NAME")]
    pub(crate) devices: Vec<String>,

    /// Skip rows that cannot be read, and count them
    #[arg(long)]
    pub(crate) lenient: bool,
}

#[derive(Args)]
pub(crate) struct RunOptions {
    /// The scheduler
    #[arg(long, default_value = "deadline", value_name = "NAME")]
    pub(crate) scheduler: String,

    #[command(flatten)]
    pub(crate) load: LoadOptions,

    /// Print each decision and its reason, to standard output or a file; of a selector, its own decisions
    /// with their evidence, one JSON object a line
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    pub(crate) why: Option<PathBuf>,

    /// Print the report as JSON, to standard output or a file
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    pub(crate) json: Option<PathBuf>,

    /// Print what each process got as CSV, to standard output or a file
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    pub(crate) csv_processes: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct CompareOptions {
    /// Schedulers, separated by commas, or `all`; one with settings is NAME:tunable=value;tunable=value
    #[arg(long, default_value = "all", value_name = "NAME,…|all", value_delimiter = ',')]
    pub(crate) schedulers: Vec<String>,

    #[command(flatten)]
    pub(crate) load: LoadOptions,

    /// Runs of each scheduler, each with another seed; more than one gives confidence intervals
    #[arg(long, default_value_t = 1, value_name = "COUNT")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) runs: u32,

    /// Print the results as JSON, to standard output or a file
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    pub(crate) json: Option<PathBuf>,

    /// Print the results as CSV, to standard output or a file
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    pub(crate) csv: Option<PathBuf>,

    /// Print what each process got under each scheduler as CSV, to standard output or a file
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    pub(crate) csv_processes: Option<PathBuf>,

    /// Write the results as a page for browsers, one file without scripts
    #[arg(long, value_name = "FILE", require_equals = true)]
    pub(crate) html: Option<PathBuf>,
}

#[derive(Subcommand)]
pub(crate) enum MatrixCommand {
    /// Find the best scheduler for each kind of load, with workers of IOzone, and print the matrix as TOML
    Build {
        /// What a scheduler is best for: the lowest, the highest or the mean performance of a process
        #[arg(long, default_value = "mean", value_name = "GOAL", value_parser = ["lowest", "highest", "mean"])]
        goal: String,
        #[command(flatten)]
        effort: EffortOptions,
    },
}

#[derive(Subcommand)]
pub(crate) enum RankingCommand {
    /// Find the best scheduler for each request size, with random reads, and print the ranking as TOML
    Build {
        #[command(flatten)]
        effort: EffortOptions,
    },
}

/// What is measured, and how long.
#[derive(Args)]
pub(crate) struct EffortOptions {
    /// The disk: a name from `idlewise list disks`, or a profile file
    #[arg(long, default_value = "hdd-18tb-7200", value_name = "NAME|FILE[:KEY=VALUE,…]")]
    pub(crate) disk: String,

    /// Whom to measure: NAME or NAME:tunable=value;tunable=value, separated by commas
    #[arg(long, default_value = "noop,deadline,as,cfq", value_name = "NAME,…", value_delimiter = ',')]
    pub(crate) candidates: Vec<String>,

    /// Runs of each, each with another seed
    #[arg(long, default_value_t = 5, value_name = "COUNT")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) runs: u32,

    /// Simulated time of each run
    #[arg(long, default_value = "5s", value_name = "TIME")]
    pub(crate) duration: String,
}

#[derive(Subcommand)]
pub(crate) enum TraceCommand {
    /// Say what a trace holds and what it lacks
    Info {
        /// The trace: a file, `-` for standard input, or the prefix of blktrace's per-CPU files
        file: PathBuf,
        #[command(flatten)]
        reading: Reading,
        /// Periods by which the kind of load is told
        #[arg(long, default_value = "1s", value_name = "TIME")]
        period: String,
        /// Set a bound between kinds of load, as selectors have them (`idlewise docs auto-matrix`); may be repeated
        #[arg(long = "set", value_name = "TUNABLE=VALUE")]
        set: Vec<String>,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Write a trace in another format
    Convert {
        /// The trace: a file, `-` for standard input, or the prefix of blktrace's per-CPU files
        file: PathBuf,
        /// The file to write, `-` for standard output
        output: PathBuf,
        #[command(flatten)]
        reading: Reading,
        /// The format to write
        #[arg(long, default_value = "idlewise", value_name = "NAME")]
        to: String,
    },
}

#[derive(Subcommand)]
pub(crate) enum DiskCommand {
    /// Print a disk's figures and draw its seek curve and zones
    Show {
        /// A name from `idlewise list disks`, or a profile file
        name: String,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Replay a real drive's measured trace and print how far the model is off
    Validate {
        /// A name from `idlewise list disks`, or a profile file
        name: String,
        /// Lines of: R|W Hit|Miss start blocks service-µs think-µs
        trace: PathBuf,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Args)]
pub(crate) struct Docs {
    /// A scheduler's name, or a selector's, or one of: schedulers, selectors, workloads, disks, formats
    pub(crate) topic: String,
}

fn positive(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite() && *number > 0.0);
    number.ok_or_else(|| format!("'{text}' is not a number above zero"))
}
