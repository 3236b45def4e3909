//! `idlewise matrix build` and `idlewise ranking build`.

use idlewise_core::Instant;
use idlewise_core::selectors::Candidate;
use idlewise_disk::Profile;
use idlewise_sim::engine::Control;
use idlewise_sim::experiment::measure::{self, Effort, Goal};
use idlewise_sim::workloads::parse_duration;

use crate::args::{EffortOptions, MatrixCommand, RankingCommand};
use crate::failure::Failure;
use crate::output;
use crate::setup;

/// What the options ask for.
fn effort(options: &EffortOptions) -> Result<(Profile, Vec<Candidate>, Effort), Failure> {
    let disk = setup::disk(&options.disk)?;
    let time = parse_duration(&options.duration).filter(|time| time.0 > 0).ok_or_else(|| {
        Failure::usage(format!("--duration {}: write a time such as 5s or 500ms", options.duration))
    })?;
    let effort = Effort { runs: u64::from(options.runs), until: Instant::ZERO + time };
    Ok((disk, setup::candidates(&options.candidates)?, effort))
}

/// Measures a matrix and prints it.
pub(crate) fn matrix(command: &MatrixCommand) -> Result<(), Failure> {
    let MatrixCommand::Build { goal, effort: options } = command;
    let (disk, candidates, effort) = effort(options)?;
    let found = Goal::ALL.iter().find(|(name, _)| name == goal).map_or(Goal::Mean, |(_, goal)| *goal);
    let matrix = measure::matrix(&disk, &candidates, found, effort, &Control::default());
    output::print(&matrix.map_err(setup::failure)?.text(&disk.name, goal))
}

/// Measures a ranking and prints it.
pub(crate) fn ranking(command: &RankingCommand) -> Result<(), Failure> {
    let RankingCommand::Build { effort: options } = command;
    let (disk, candidates, effort) = effort(options)?;
    let ranking = measure::ranking(&disk, &candidates, effort, &Control::default());
    output::print(&ranking.map_err(setup::failure)?.text(&disk.name))
}
