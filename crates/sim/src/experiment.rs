//! Many runs: schedulers × seeds, on all cores.

mod chosen;
mod error;
mod figure;
mod foreign;
pub mod front;
pub mod measure;
mod plan;
mod run;

pub use chosen::{Choice, Chosen, own_name};
pub use error::ExperimentError;
pub use figure::Figure;
pub use foreign::{Foreign, Hosted};
pub use plan::{Experiment, Load, OpenRows, Outcome};
pub(crate) use run::known_curve;
