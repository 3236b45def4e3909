//! Why a disk cannot be built from a specification.

use alloc::vec::Vec;
use core::fmt;

/// A specification that describes no disk, or one that does not fit into memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum BuildError {
    /// A number that must not be zero is.
    Zero { what: &'static str },
    /// More of something than the model holds.
    TooMany { what: &'static str, limit: u64 },
    /// Fewer of something than the model needs.
    TooFew { what: &'static str, least: u64 },
    /// A zone is empty, overlaps the one before, or has more spares than sectors.
    Zone { first_cylinder: u32 },
    /// The zones hold fewer sectors than the capacity.
    Capacity { wanted: u64, zones: u64 },
    /// The seek curve is empty or its distances do not ascend.
    SeekCurve,
    /// Memory ran out.
    Memory,
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            BuildError::Zero { what } => write!(f, "{what} is zero; give at least 1"),
            BuildError::TooMany { what, limit } => write!(f, "too many {what}; the model holds {limit}"),
            BuildError::TooFew { what, least } => write!(f, "too few {what}; give at least {least}"),
            BuildError::Zone { first_cylinder } => write!(
                f,
                "the zone at cylinder {first_cylinder} is empty or overlaps the one before; list zones by \
                 ascending cylinder, with at least one sector on a track and fewer spares than sectors"
            ),
            BuildError::Capacity { wanted, zones } => write!(
                f,
                "the zones hold {zones} sectors but the capacity is {wanted}; lower the capacity or extend \
                 the zones"
            ),
            BuildError::SeekCurve => f.write_str(
                "the seek curve has no points or its distances do not ascend; list them from 1 up",
            ),
            BuildError::Memory => {
                f.write_str("out of memory while building the disk; use fewer segments or a smaller queue")
            }
        }
    }
}

impl core::error::Error for BuildError {}

/// Reserves room for `count` more elements, or fails with an error.
pub(crate) fn reserve<T>(list: &mut Vec<T>, count: usize) -> Result<(), BuildError> {
    list.try_reserve_exact(count).map_err(|_| BuildError::Memory)
}

/// `count` times `value`, or an error if there is no room.
pub(crate) fn filled<T: Clone>(count: usize, value: T) -> Result<Vec<T>, BuildError> {
    let mut list = Vec::new();
    reserve(&mut list, count)?;
    list.resize(count, value);
    Ok(list)
}
