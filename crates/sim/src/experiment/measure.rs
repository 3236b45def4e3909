//! Measuring a decision matrix or a ranking for a disk, in the simulator.

use idlewise_core::selectors::category::PROCESSES;
use idlewise_core::selectors::{Candidate, Rank};
use idlewise_core::{Instant, SECTOR_BYTES};
use idlewise_disk::Profile;

use super::{Choice, Experiment, ExperimentError, Load, Outcome};
use crate::engine::{Control, Limits};
use crate::selection::files::{self, Matrix, Ranking};
use crate::workloads::Spec;

/// What a matrix is measured for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// The process that gets least.
    Lowest,
    /// The process that gets most.
    Highest,
    /// The mean over processes.
    Mean,
}

impl Goal {
    /// The goals by name.
    pub const ALL: [(&'static str, Goal); 3] =
        [("lowest", Goal::Lowest), ("highest", Goal::Highest), ("mean", Goal::Mean)];

    /// The performance in this sense of a run with this many processes: bytes.
    fn of(self, outcome: &Outcome, processes: usize) -> f64 {
        let bytes = outcome.report.issuers.iter().map(|issuer| issuer.bytes as f64);
        match self {
            Goal::Lowest if outcome.report.issuers.len() < processes => 0.0,
            Goal::Lowest => bytes.fold(f64::INFINITY, f64::min),
            Goal::Highest => bytes.fold(0.0, f64::max),
            Goal::Mean => bytes.sum::<f64>() / processes as f64,
        }
    }
}

/// How to measure.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Runs of each scheduler, each with another seed.
    pub runs: u64,
    /// How long each run lasts.
    pub until: Instant,
}

/// A result this near to the best, as a share of it, is as good: the earlier candidate is taken. Runs with other
/// seeds differ by as much.
const SAME: f64 = 0.01;

/// The patterns, in the order of a matrix's columns, as the workload `iozone` names them.
const PATTERNS: [&str; 4] = ["seq-read", "seq-write", "random-read", "random-write"];

/// Loads that a matrix is measured by: one for each of its cells.
pub const MATRIX_LOADS: u64 = (PROCESSES.len() * PATTERNS.len()) as u64;

/// Sizes of blocks that a ranking is measured by, as powers of two sectors.
const SIZES: std::ops::RangeInclusive<u32> = 3..=11;

/// Loads that a ranking is measured by: one for each size.
pub const RANKING_LOADS: u64 = (*SIZES.end() - *SIZES.start() + 1) as u64;

/// Runs every candidate on a workload.
fn run(
    disk: &Profile,
    candidates: &[Candidate],
    load: &str,
    effort: Effort,
    control: &Control,
) -> Result<Vec<Outcome>, ExperimentError> {
    let choice = |candidate: &Candidate| Choice {
        label: files::label(candidate),
        entry: candidate.entry.into(),
        settings: candidate.settings.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect(),
    };
    let experiment = Experiment {
        schedulers: candidates.iter().map(choice).collect(),
        seeds: (1..=effort.runs).collect(),
        limits: Limits { until: effort.until, ..Limits::default() },
        ..Experiment::new(disk.clone(), Load::Workload(Spec::parse(load)?))
    };
    experiment.run(control)
}

/// The first candidate whose mean score is as good as the best.
fn best(outcomes: &[Outcome], candidates: usize, score: impl Fn(&Outcome) -> f64) -> u8 {
    let mean = |place: usize| {
        let own = outcomes.iter().filter(|outcome| outcome.scheduler == place);
        let (sum, count) = own.fold((0.0, 0.0), |(sum, count), own| (sum + score(own), count + 1.0));
        sum / f64::max(count, 1.0)
    };
    let means: Vec<f64> = (0..candidates).map(mean).collect();
    let most = means.iter().copied().fold(0.0, f64::max);
    means.iter().position(|mean| *mean >= most * (1.0 - SAME)).unwrap_or(0) as u8
}

/// Measures the best candidate for each category, as IOAZ §3.4 did: 1, 4, 8 and 16 workers of IOzone.
pub fn matrix(
    disk: &Profile,
    candidates: &[Candidate],
    goal: Goal,
    effort: Effort,
    control: &Control,
) -> Result<Matrix, ExperimentError> {
    let mut cells = [0; 16];
    for (row, processes) in PROCESSES.iter().enumerate() {
        for (column, pattern) in PATTERNS.iter().enumerate() {
            let load = format!("iozone:n={processes},pattern={pattern}");
            let outcomes = run(disk, candidates, &load, effort, control)?;
            let score = |outcome: &Outcome| goal.of(outcome, *processes as usize);
            cells[row * 4 + column] = best(&outcomes, candidates.len(), score);
        }
    }
    Ok(Matrix { candidates: candidates.to_vec(), cells })
}

/// Measures the best candidate for each request size from 4 KiB to 1 MiB, as OLS'05 §6 describes it: random reads
/// of blocks of that size from several large files.
pub fn ranking(
    disk: &Profile,
    candidates: &[Candidate],
    effort: Effort,
    control: &Control,
) -> Result<Ranking, ExperimentError> {
    let mut ranks: Vec<Rank> = Vec::new();
    for shift in SIZES {
        let up_to = SECTOR_BYTES << shift;
        let load = format!("random:n=4,think=0,bs={up_to},requests=100000000");
        let outcomes = run(disk, candidates, &load, effort, control)?;
        let candidate = best(&outcomes, candidates.len(), |outcome| outcome.report.throughput_bytes_per_s);
        match ranks.last_mut() {
            Some(last) if last.candidate == candidate => last.up_to = up_to,
            _ => ranks.push(Rank { up_to, candidate }),
        }
    }
    Ok(Ranking { candidates: candidates.to_vec(), ranks })
}
