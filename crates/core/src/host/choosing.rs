//! A host with a selector: how both are built by name and settings, and how a decision is carried out.

use alloc::vec::Vec;

use super::Host;
use crate::collections::OutOfMemory;
use crate::device::Device;
use crate::queue::Queue;
use crate::registry::{AnyScheduler, Assignment, BuildError, SwitchError};
use crate::selectors::{Action, Candidate, Chooser, ChooserError, Decision, Entry, Setup};
use crate::tunables::{Tunable, TunableError};
use crate::units::Instant;

impl Host<AnyScheduler, Chooser> {
    /// A queue for up to `capacity` requests, under the scheduler with which `chooser` begins.
    ///
    /// # Errors
    /// [`BuildError`] if memory is exhausted.
    pub fn choosing(capacity: usize, device: Device, chooser: Chooser) -> Result<Self, BuildError> {
        let Candidate { entry, settings } = chooser.candidate();
        Ok(Host::new(Queue::new(capacity, device, entry, settings)?, chooser))
    }

    /// Lets the selector decide if its period is over, and carries a switch out. To be called at
    /// [`Chooser::next_tick`]. A selector that asks for predictions gets none here.
    ///
    /// # Errors
    /// [`SwitchError`] if memory is exhausted; the old scheduler then continues.
    pub fn tick(&mut self, now: Instant) -> Result<Option<Decision>, SwitchError> {
        let Some((_, decision)) = self.follower.due(now) else { return Ok(None) };
        if let Action::Switch(_) = decision.action {
            self.follower.candidate().take_over(now, &mut self.queue)?;
        }
        Ok(Some(decision))
    }
}

impl Candidate {
    /// Goes on with this scheduler in `queue`.
    ///
    /// # Errors
    /// [`SwitchError`]; the old scheduler then continues.
    pub fn take_over(&self, now: Instant, queue: &mut Queue<AnyScheduler>) -> Result<(), SwitchError> {
        queue.switch_to(now, self.entry, &self.settings)
    }
}

/// A chooser by `entry` among its usual candidates, for a queue of `capacity` request ids. Its first period begins at
/// `now`. `words` are settings of the selector, as [`settings`] reads them.
///
/// # Errors
/// [`ChooserError`] if a setting does not fit or memory is exhausted.
pub fn chooser(entry: &Entry, capacity: usize, now: Instant, words: &str) -> Result<Chooser, ChooserError> {
    let candidates = entry.field()?;
    let pairs = words.split_ascii_whitespace().map(|word| word.split_once('=').unwrap_or((word, "")));
    let settings = settings(entry.tunables, pairs)?;
    let setup = Setup { candidates: &candidates, cells: None, ranks: &[] };
    let mut chooser = Chooser::new(entry, capacity, setup, &settings)?;
    chooser.begin(now);
    Ok(chooser)
}

/// The settings that pairs of a name and a value say, of a scheduler or selector with the tunables of `table`.
///
/// # Errors
/// [`BuildError`] if a setting does not fit or memory is exhausted.
pub fn settings<'a>(
    table: &'static [Tunable],
    pairs: impl Iterator<Item = (&'a str, &'a str)>,
) -> Result<Vec<Assignment<'static>>, BuildError> {
    let mut settings = Vec::new();
    for (name, value) in pairs {
        let tunable = table.iter().find(|tunable| tunable.name == name);
        let tunable = tunable.ok_or(TunableError::Unknown(table))?;
        settings.try_reserve(1).map_err(|_| OutOfMemory)?;
        settings.push((tunable.name, tunable.parse(value)?));
    }
    Ok(settings)
}
