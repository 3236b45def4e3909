//! Why a run failed.

use idlewise_core::selectors::ChooserError;
use idlewise_core::{HostError, Issuer};

use crate::engine::EngineError;
use crate::replay::RowsError;
use crate::workloads::SpecError;
use crate::workloads::fio::FioError;

/// Why a run failed.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum ExperimentError {
    /// The scheduler could not be built.
    #[error("{scheduler}: {error}")]
    Scheduler { scheduler: String, error: idlewise_core::registry::BuildError },
    /// The selector could not be built.
    #[error("{selector}: {error}")]
    Selector { selector: String, error: ChooserError },
    /// The program's own scheduler could not be built, or went wrong.
    #[error("{scheduler}: {message}")]
    Foreign { scheduler: String, message: String },
    /// The disk could not be built.
    #[error("{0}")]
    Disk(#[from] idlewise_disk::BuildError),
    /// The model that predictions are made on is smaller than the disk, and cannot be made as large.
    #[error(
        "the model {model} is far smaller than {disk}, and cannot be made as large: choose the model of a larger disk"
    )]
    SmallModel { model: String, disk: String },
    /// What wants one scheduler on an array whose members have one each.
    #[error(
        "{disk} has a scheduler for each of its disks, and {what} wants one: take raid for md in its name, and the scheduler \
         stands above the array"
    )]
    ManySchedulers { disk: String, what: String },
    /// The workload's text is wrong.
    #[error("{0}")]
    Workload(#[from] SpecError),
    /// The job file asks for what this disk cannot give.
    #[error("{0}")]
    Fio(#[from] FioError),
    /// The trace could not be read.
    #[error("{0}")]
    Trace(RowsError),
    /// The replay ended before all of the trace was issued.
    #[error(
        "{rows} of the trace's {of} requests were never issued, so that the figures would be of less work: this is a mistake of \
         idlewise, please report it"
    )]
    Unissued { rows: usize, of: u64 },
    /// The reasons could not be written.
    #[error("writing the reasons: {0}")]
    Why(#[from] std::io::Error),
    /// A weight could not be set.
    #[error("the weight of process {who}: {error}")]
    Weight { who: Issuer, error: HostError },
    /// The run broke off.
    #[error("{scheduler}: {error}")]
    Engine { scheduler: String, error: EngineError },
}
