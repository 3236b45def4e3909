//! Why a run could not go on.

use idlewise_core::registry::SwitchError;
use idlewise_core::{HostError, Instant};
use idlewise_disk::SubmitError;

/// Why a run could not go on.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The device refused a command.
    #[error("request at {now}: {error}")]
    Device {
        /// When.
        now: Instant,
        /// Why.
        error: SubmitError,
    },
    /// The queue refused a call.
    #[error("at {now}: {error}")]
    Host {
        /// When.
        now: Instant,
        /// Why.
        error: HostError,
    },
    /// The scheduler could not be exchanged.
    #[error("at {now}: {error}")]
    Switch {
        /// When.
        now: Instant,
        /// Why.
        error: SwitchError,
    },
    /// The scheduler holds requests but neither gives them out nor says when to ask again.
    #[error(
        "at {now} the scheduler is idle although {waiting} requests wait: this is a bug of the scheduler"
    )]
    Stuck {
        /// When.
        now: Instant,
        /// How many requests wait.
        waiting: usize,
    },
}
