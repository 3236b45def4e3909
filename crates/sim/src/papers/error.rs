//! Why the papers' runs could not be carried out.

use crate::experiment::ExperimentError;
use crate::selection::files::FileError;
use crate::workloads::SpecError;

/// Why the papers' runs could not be carried out.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum PapersError {
    /// A formula names a run that the paper's file does not declare.
    #[error("{paper}: there is no run '{run}': declare [run.{run}] in the paper's file")]
    Run { paper: String, run: String },
    /// A formula names a step that the run does not have.
    #[error("{paper}: run '{run}' has no step '{step}' (it has: {known})")]
    Step { paper: String, run: String, step: String, known: String },
    /// A time cannot be read.
    #[error("'{0}' is not a time: write one such as 20s or 500ms")]
    Time(String),
    /// A scheduler or its settings are wrong.
    #[error("{0}")]
    Scheduler(#[from] FileError),
    /// A workload's text is wrong.
    #[error("{0}")]
    Workload(#[from] SpecError),
    /// A disk's profile cannot be read.
    #[error("{0}")]
    Disk(#[from] idlewise_disk::ProfileError),
    /// A run failed.
    #[error("{0}")]
    Experiment(#[from] ExperimentError),
    /// There are no threads for the runs.
    #[error("cannot start the threads that simulate: {0}; try --jobs 1")]
    Threads(String),
}
