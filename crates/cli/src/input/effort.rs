//! How thoroughly matrices and rankings are measured.

use clap::Args;
use idlewise_core::Instant;
use idlewise_core::selectors::Candidate;
use idlewise_disk::Profile;
use idlewise_sim::experiment::measure::Effort;
use idlewise_sim::workloads::parse_duration;

use super::names;
use crate::failure::Failure;

/// What is measured, and how long.
#[derive(Args)]
pub(crate) struct EffortOptions {
    /// The disk: a name from `idlewise list disks`, or a profile file
    #[arg(long, default_value = "hdd-18tb-7200", value_name = "NAME|FILE[:KEY=VALUE,…]")]
    pub(crate) disk: String,

    /// Schedulers to measure: NAME or NAME:tunable=value;tunable=value, separated by commas
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

/// What the options ask for.
pub(crate) fn effort(options: &EffortOptions) -> Result<(Profile, Vec<Candidate>, Effort), Failure> {
    let disk = names::disk(&options.disk)?;
    let time = parse_duration(&options.duration).filter(|time| time.0 > 0).ok_or_else(|| {
        Failure::usage(format!("--duration {}: write a time such as 5s or 500ms", options.duration))
    })?;
    let effort = Effort { runs: u64::from(options.runs), until: Instant::ZERO + time };
    Ok((disk, names::candidates(&options.candidates)?, effort))
}
