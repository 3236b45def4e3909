//! `idlewise matrix build`.

use std::sync::Arc;

use clap::{Args, Subcommand};
use idlewise_sim::experiment::measure::{self, Goal};

use crate::failure::Failure;
use crate::input::effort::{EffortOptions, effort};
use crate::input::setup;
use crate::progress::Progress;
use crate::report::{origin, output};

/// Measure a decision matrix for auto-matrix
#[derive(Args)]
pub(crate) struct Matrix {
    #[command(subcommand)]
    command: Build,
}

#[derive(Subcommand)]
enum Build {
    /// Find the best scheduler for each kind of load, with workers of IOzone, and print the matrix as TOML
    Build {
        /// What a scheduler is best for: the lowest, the highest or the mean performance of a process
        #[arg(long, default_value = "mean", value_name = "GOAL", value_parser = ["lowest", "highest", "mean"])]
        goal: String,
        #[command(flatten)]
        effort: EffortOptions,
    },
}

impl Matrix {
    /// Measures a matrix and prints it.
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let Build::Build { goal, effort: options } = &self.command;
        let (disk, candidates, effort) = effort(options)?;
        let control = Arc::default();
        let runs = measure::MATRIX_LOADS * candidates.len() as u64 * effort.runs;
        let progress = Progress::follow(Arc::clone(&control), runs);
        let found = Goal::ALL.iter().find(|(name, _)| name == goal).map_or(Goal::Mean, |(_, goal)| *goal);
        let matrix = measure::matrix(&disk, &candidates, found, effort, &control);
        drop(progress);
        let text = matrix.map_err(setup::failure)?.text(&disk.name, goal);
        output::print(&format!("# {}\n{text}", origin::command()))
    }
}
