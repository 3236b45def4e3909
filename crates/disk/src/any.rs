//! Any of the models behind one type, so that a host needs neither generics nor trait objects.

use crate::device::{Command, Completion, Device, SubmitError};
use crate::{Fixed, Flash, Mechanical};
use idlewise_core::{Instant, Sector};

/// A device of any model.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "a simulation has one")]
pub enum AnyDevice {
    /// Platters and an arm.
    Mechanical(Mechanical),
    /// Channels and dies.
    Flash(Flash),
    /// The same latency for every command.
    Fixed(Fixed),
}

macro_rules! each {
    ($device:expr, $d:ident => $body:expr) => {
        match $device {
            AnyDevice::Mechanical($d) => $body,
            AnyDevice::Flash($d) => $body,
            AnyDevice::Fixed($d) => $body,
        }
    };
}

impl Device for AnyDevice {
    fn capacity(&self) -> Sector {
        each!(self, d => d.capacity())
    }

    fn depth(&self) -> u32 {
        each!(self, d => d.depth())
    }

    fn rotational(&self) -> bool {
        each!(self, d => d.rotational())
    }

    #[inline]
    fn submit(&mut self, now: Instant, command: Command) -> Result<(), SubmitError> {
        each!(self, d => d.submit(now, command))
    }

    #[inline]
    fn next_event(&self) -> Option<Instant> {
        each!(self, d => d.next_event())
    }

    #[inline]
    fn advance(&mut self, now: Instant) -> Option<Completion> {
        each!(self, d => d.advance(now))
    }
}

impl From<Mechanical> for AnyDevice {
    fn from(disk: Mechanical) -> AnyDevice {
        AnyDevice::Mechanical(disk)
    }
}

impl From<Flash> for AnyDevice {
    fn from(flash: Flash) -> AnyDevice {
        AnyDevice::Flash(flash)
    }
}

impl From<Fixed> for AnyDevice {
    fn from(fixed: Fixed) -> AnyDevice {
        AnyDevice::Fixed(fixed)
    }
}
