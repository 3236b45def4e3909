//! A queue whose scheduler comes from the registry: built, switched and set by name.

use super::{Queue, SwitchError};
use crate::device::Device;
use crate::registry::{Assignment, BuildError, Entry};
use crate::scheduler::Setup;
use crate::schedulers::AnyScheduler;
use crate::tunables::TunableError;
use crate::units::Instant;

impl Queue<AnyScheduler> {
    /// A queue for up to `capacity` requests, waiting or in flight, under the scheduler of `entry`
    /// with these settings.
    ///
    /// # Errors
    /// [`BuildError`] if a setting does not fit or memory is exhausted.
    pub fn new(
        capacity: usize,
        device: Device,
        entry: &Entry,
        settings: &[Assignment<'_>],
    ) -> Result<Self, BuildError> {
        Queue::with(capacity, device, |setup| entry.build(setup, settings))
    }

    /// Goes on with another scheduler. Waiting requests move over in order of arrival with their
    /// arrival times; requests in flight complete into it. Nothing drains, nobody blocks.
    ///
    /// # Errors
    /// [`SwitchError`]; the old scheduler then goes on.
    pub fn switch_to(
        &mut self,
        now: Instant,
        entry: &Entry,
        settings: &[Assignment<'_>],
    ) -> Result<(), SwitchError> {
        let setup = Setup { capacity: self.table.capacity(), device: &self.device };
        let successor = entry.build(setup, settings)?;
        self.replace(now, successor)?;
        Ok(())
    }

    /// Sets a tunable of the scheduler.
    ///
    /// # Errors
    /// [`TunableError::Unknown`], [`TunableError::OutOfRange`].
    pub fn set(&mut self, tunable: &str, value: u64) -> Result<(), TunableError> {
        self.scheduler.set(tunable, value)
    }
}
