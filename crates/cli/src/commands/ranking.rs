//! `idlewise ranking build`.

use std::sync::Arc;

use clap::{Args, Subcommand};
use idlewise_sim::experiment::measure;

use crate::failure::Failure;
use crate::input::effort::{EffortOptions, effort};
use crate::input::setup;
use crate::progress::Progress;
use crate::report::{origin, output};

/// Measure a ranking by request size for auto-ranking
#[derive(Args)]
pub(crate) struct Ranking {
    #[command(subcommand)]
    command: Build,
}

#[derive(Subcommand)]
enum Build {
    /// Find the best scheduler for each request size, with random reads, and print the ranking as TOML
    Build {
        #[command(flatten)]
        effort: EffortOptions,
    },
}

impl Ranking {
    /// Measures a ranking and prints it.
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let Build::Build { effort: options } = &self.command;
        let (disk, candidates, effort) = effort(options)?;
        let control = Arc::default();
        let runs = measure::RANKING_LOADS * candidates.len() as u64 * effort.runs;
        let progress = Progress::follow(Arc::clone(&control), runs);
        let ranking = measure::ranking(&disk, &candidates, effort, &control);
        drop(progress);
        let text = ranking.map_err(setup::failure)?.text(&disk.name);
        output::print(&format!("# {}\n{text}", origin::command()))
    }
}
