//! What a disk is, as integers: the specification of one of the models.

use crate::mechanical::{BuildError, Mechanical, MechanicalSpec};
use crate::{AnyDevice, Fixed, FixedSpec, Flash, FlashSpec};

/// What a profile describes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Model {
    /// A disk with platters and an arm.
    Mechanical(MechanicalSpec),
    /// A flash device.
    Flash(FlashSpec),
    /// A device of fixed latency.
    Fixed(FixedSpec),
}

impl Model {
    /// Builds the disk. Allocates all the memory it will ever use.
    ///
    /// # Errors
    /// [`BuildError`].
    pub fn build(&self) -> Result<AnyDevice, BuildError> {
        Ok(match self {
            Model::Mechanical(spec) => Mechanical::new(spec)?.into(),
            Model::Flash(spec) => Flash::new(spec)?.into(),
            Model::Fixed(spec) => Fixed::new(spec)?.into(),
        })
    }

    /// Whether writes complete before they are durable, so that a flush means something.
    pub fn write_cache(&self) -> bool {
        match self {
            Model::Mechanical(spec) => spec.buffer.write_cache,
            Model::Flash(spec) => !spec.power_loss_protection,
            Model::Fixed(_) => false,
        }
    }
}
