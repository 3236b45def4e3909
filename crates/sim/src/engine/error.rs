//! Why a run could not continue.

use idlewise_core::registry::SwitchError;
use idlewise_core::{HostError, Instant};
use idlewise_disk::SubmitError;

/// Why a run could not continue.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum EngineError {
    /// The device refused a command.
    #[error("request at {now}: {error}")]
    Device { now: Instant, error: SubmitError },
    /// The queue refused a call.
    #[error("at {now}: {error}")]
    Host { now: Instant, error: HostError },
    /// The scheduler could not be replaced.
    #[error("at {now}: {error}")]
    Switch { now: Instant, error: SwitchError },
    /// The scheduler holds requests but neither gives them out nor says when to ask again.
    #[error(
        "at {now} the scheduler is idle although {waiting} requests wait: this is a bug of the scheduler"
    )]
    Stuck { now: Instant, waiting: usize },
}
