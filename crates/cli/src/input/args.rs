//! Options that several commands have; each command's own are in its file.

use std::path::PathBuf;

use clap::Args;
use idlewise_sim::traces::Trace;

pub(crate) const LOAD_NOTES: &str = "\
One of --workload, --trace and --fio says what the disk is asked to do.
--fio reads sizes, times and keys as fio does. Each file of a job lies after the one before, from the
start of the disk; a filename below /dev is the whole disk. A warning names keys that are not modelled.
Ctrl-C ends the runs early and prints what is done so far; the exit status is then 130.";

/// What the disk is asked to do, and which disk.
#[derive(Args)]
pub(crate) struct LoadOptions {
    /// The disk: a name from `idlewise list disks`, or a profile file; options such as depth=32,cache=off,capacity=2t.
    /// Without it, workloads run on hdd-18tb-7200, and a trace on the disk that its latencies and addresses fit
    #[arg(long, value_name = "NAME|FILE[:KEY=VALUE,…]")]
    pub(crate) disk: Option<String>,

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

    /// Take requests without an issuer for one process's; otherwise each stream of neighbours is taken for a process's
    #[arg(long, conflicts_with = "open_loop")]
    pub(crate) one_process: bool,

    /// Replay all devices of the trace on one disk; otherwise each has a disk of its own, of the same kind
    #[arg(long)]
    pub(crate) one_disk: bool,

    /// Replay this much faster (below 1: slower)
    #[arg(long, default_value_t = 1.0, value_name = "FACTOR", value_parser = positive)]
    pub(crate) speed: f64,

    /// Set a tunable, or the weight of a process, as in weight.3=300 (1 to 10000); may be repeated
    #[arg(long = "set", value_name = "NAME.TUNABLE=VALUE")]
    pub(crate) set: Vec<String>,

    /// Let schedulers learn the disk's positioning times; otherwise its model tells them beforehand
    #[arg(long)]
    pub(crate) uncalibrated: bool,

    #[command(flatten)]
    pub(crate) selection: SelectionOptions,

    /// Seed of all randomness
    #[arg(long, default_value_t = 1, value_name = "NUMBER")]
    pub(crate) seed: u64,

    /// Requests that the queue holds at once
    #[arg(long, default_value_t = 4096, value_name = "COUNT")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1_048_576))]
    pub(crate) queue_size: u32,

    /// Hardware queues of the disk, which share its depth; each serves its share of the processes
    #[arg(long, default_value_t = 1, value_name = "COUNT")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=65536))]
    pub(crate) hardware_queues: u32,

    /// Do not merge neighbouring requests
    #[arg(long)]
    pub(crate) no_merges: bool,

    /// Stop issuing after this many requests
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_requests: Option<u64>,

    /// Stop issuing after this much simulated time, such as 30s
    #[arg(long, value_name = "TIME")]
    pub(crate) duration: Option<String>,
}

/// Options of selectors (auto-…) besides tunables.
#[derive(Args)]
#[command(next_help_heading = "Selectors")]
pub(crate) struct SelectionOptions {
    /// Candidates of selectors, except auto-matrix, and auto-ranking with --ranking: NAME or
    /// NAME:tunable=value;tunable=value, separated by commas
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub(crate) candidates: Vec<String>,

    /// Own decision matrix for auto-matrix, as `idlewise matrix build` writes it
    #[arg(long, value_name = "FILE")]
    pub(crate) matrix: Option<PathBuf>,

    /// Ranking for auto-ranking, as `idlewise ranking build` writes it; without it, one is measured
    #[arg(long, value_name = "FILE")]
    pub(crate) ranking: Option<PathBuf>,

    /// How the scheduler is switched: requests carried over, or drained as in Linux 2.6.11 or today
    #[arg(long, default_value = "carry", value_name = "HOW", value_parser = ["carry", "drain", "freeze"])]
    pub(crate) switching: String,

    /// The disk model that auto-predict simulates, if it is not the disk itself; a smaller one gets more platters
    #[arg(long, value_name = "NAME|FILE")]
    pub(crate) model: Option<String>,
}

/// How to read a trace.
#[derive(Args, Clone)]
pub(crate) struct Reading {
    /// The trace's format, if its content is ambiguous; see `idlewise list formats`
    #[arg(long, value_name = "NAME")]
    pub(crate) format: Option<String>,

    /// Only this device or volume of the trace, by the name that `trace info` shows, or as major:minor, major,minor or
    /// the number that they make; may be repeated
    #[arg(long = "device", value_name = "NAME")]
    pub(crate) devices: Vec<String>,

    /// Skip rows that cannot be read, and count them
    #[arg(long)]
    pub(crate) lenient: bool,
}

impl LoadOptions {
    /// The files that are read for a run, which no result may replace.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let SelectionOptions { matrix, ranking, .. } = &self.selection;
        let others = [&self.fio, matrix, ranking].into_iter().flatten().cloned();
        self.trace.iter().flat_map(|path| Trace::files(path)).chain(others).collect()
    }
}

fn positive(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite() && *number > 0.0);
    number.ok_or_else(|| format!("'{text}' is not a number above zero"))
}
