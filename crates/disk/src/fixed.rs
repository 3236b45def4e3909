//! A device that takes the same time for every command: for teaching, tests and upper bounds.
//!
//! Each of `depth` commands is served on its own, as by as many servers; with a depth of one the
//! host must wait for each. The time is a latency plus, if wanted, a time for each sector.

use crate::completions::Completions;
use crate::device::{Command, Completion, DiskModel, Spec, SubmitError, Timing, check_extent};
use crate::error::BuildError;
use alloc::{vec, vec::Vec};
use idlewise_core::{Duration, Instant, Sector};

/// A device of fixed latency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FixedSpec {
    /// Sectors of 512 bytes.
    pub capacity: u64,
    /// Time of every command.
    pub latency_ns: u64,
    /// Added for each sector.
    pub sector_ns: u64,
    /// Commands served at once.
    pub depth: u32,
}

/// A device of fixed latency.
#[derive(Clone, Debug)]
pub struct Fixed {
    spec: FixedSpec,
    completions: Completions,
}

impl Fixed {
    /// Builds the device.
    pub fn new(spec: &FixedSpec) -> Result<Fixed, BuildError> {
        if spec.depth == 0 || spec.capacity == 0 {
            return Err(BuildError::Zero { what: "the queue depth or the capacity" });
        }
        if spec.depth > 1 << 16 {
            return Err(BuildError::TooMany { what: "queued commands", limit: 1 << 16 });
        }
        Ok(Fixed { spec: *spec, completions: Completions::new(spec.depth)? })
    }
}

impl Spec for FixedSpec {
    type Disk = Fixed;

    fn build(&self) -> Result<Fixed, BuildError> {
        Fixed::new(self)
    }

    fn depth(&mut self) -> &mut u32 {
        &mut self.depth
    }

    fn set_capacity(&mut self, sectors: u64) -> bool {
        self.capacity = sectors;
        true
    }

    fn set_bus(&mut self, sector_ns: u32) {
        self.sector_ns = u64::from(sector_ns);
    }

    fn latency_ns(&mut self) -> Option<&mut u64> {
        Some(&mut self.latency_ns)
    }

    fn facts(&self) -> Vec<(&'static str, u64)> {
        vec![("latency_ns", self.latency_ns)]
    }
}

impl DiskModel for Fixed {
    fn capacity(&self) -> Sector {
        Sector(self.spec.capacity)
    }

    fn depth(&self) -> u32 {
        self.spec.depth
    }

    fn rotational(&self) -> bool {
        false
    }

    #[inline]
    fn submit(&mut self, now: Instant, command: Command) -> Result<(), SubmitError> {
        check_extent(&command, Sector(self.spec.capacity))?;
        if self.completions.len() >= self.spec.depth as usize {
            return Err(SubmitError::Full { depth: self.spec.depth });
        }
        let transfer = Duration(self.spec.sector_ns.saturating_mul(u64::from(command.length.0)));
        let overhead = Duration(self.spec.latency_ns);
        let timing = Timing { transfer, overhead, ..Timing::default() };
        let at = now + (transfer + overhead);
        self.completions.push(Completion { tag: command.tag, at, started: now, timing });
        Ok(())
    }

    #[inline]
    fn next_event(&self) -> Option<Instant> {
        self.completions.next()
    }

    #[inline]
    fn advance(&mut self, now: Instant) -> Option<Completion> {
        self.completions.pop(now)
    }
}
