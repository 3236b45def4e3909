//! Models of disks: what a command costs, and when it completes.
//!
//! A host submits [`Command`]s to a [`DiskModel`] and asks it for [`Completion`]s; the model keeps no
//! clock of its own. Three models: [`Mechanical`] (platters and an arm, from published drive
//! parameters), [`Flash`] (channels, dies, garbage collection), [`Fixed`] (a latency). All
//! arithmetic at run time is on integers, and only construction allocates, so that the same model
//! runs in a simulator, a web page or a kernel.
//!
//! With the `std` feature: profiles (one TOML file a drive), validation against traces of
//! real drives, and drawings.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]

extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

pub mod array;
mod completions;
mod device;
mod error;
mod fixed;
mod flash;
pub mod mechanical;
mod models;
mod options;

pub use device::{Alteration, Command, Completion, DiskModel, News, Spec, SubmitError, Timing, WithModel};
pub use error::BuildError;
pub use fixed::{Fixed, FixedSpec};
pub use flash::{Flash, FlashSpec};
pub use mechanical::{Mechanical, MechanicalSpec};
pub use models::{AnyModel, AnySpec};
pub use options::{DiskOption, OPTIONS, OptionError};

#[cfg(feature = "std")]
pub mod describe;
#[cfg(feature = "std")]
pub mod draw;
#[cfg(feature = "std")]
pub mod profile;
#[cfg(feature = "std")]
pub mod validate;

#[cfg(feature = "std")]
pub use profile::{Profile, ProfileError};
