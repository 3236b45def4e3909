//! Why a run failed.

use idlewise_core::selectors::ChooserError;
use idlewise_core::{HostError, Issuer, Sector};

use crate::engine::EngineError;
use crate::replay::RowsError;
use crate::workloads::SpecError;
use crate::workloads::fio::FioError;

/// Why a run failed.
#[derive(Debug, thiserror::Error)]
pub enum ExperimentError {
    /// The scheduler could not be built.
    #[error("{scheduler}: {error}")]
    Scheduler {
        /// Its label.
        scheduler: String,
        /// Why.
        error: idlewise_core::registry::BuildError,
    },
    /// The selector could not be built.
    #[error("{selector}: {error}")]
    Selector {
        /// Its label.
        selector: String,
        /// Why.
        error: ChooserError,
    },
    /// The disk could not be built.
    #[error("{0}")]
    Disk(#[from] idlewise_disk::BuildError),
    /// The model that predictions are made on is smaller than the disk.
    #[error(
        "the model {model} has {} sectors, and {disk} has {}: predictions need a model that is at least as large as the disk",
        .model_end.0, .disk_end.0
    )]
    SmallModel {
        /// The model's name.
        model: String,
        /// Its end.
        model_end: Sector,
        /// The disk's name.
        disk: String,
        /// Its end.
        disk_end: Sector,
    },
    /// The workload's text is wrong.
    #[error("{0}")]
    Workload(#[from] SpecError),
    /// The job file asks for what this disk cannot give.
    #[error("{0}")]
    Fio(#[from] FioError),
    /// The trace could not be read.
    #[error("{0}")]
    Trace(RowsError),
    /// The reasons could not be written.
    #[error("writing the reasons: {0}")]
    Why(#[from] std::io::Error),
    /// A weight could not be set.
    #[error("the weight of process {who}: {error}")]
    Weight {
        /// Whose.
        who: Issuer,
        /// Why.
        error: HostError,
    },
    /// The run broke off.
    #[error("{scheduler}: {error}")]
    Engine {
        /// The scheduler's label.
        scheduler: String,
        /// Why.
        error: EngineError,
    },
}
