//! All that `turns` is made of.

use super::actors::Actors;
use super::classes::Classes;
use super::draining::Draining;
use super::flight::Flight;
use super::leaving::Leaving;
use super::passed::Passed;
use super::round::Round;
use super::settings::Settings;
use super::shaper::Shaper;
use super::shares::Shares;
use super::waiting::Waiting;
use crate::collections::{OutOfMemory, Place, TryBox};
use crate::scheduler::Setup;
use crate::schedulers::shared::head::Head;

/// All parts.
pub(super) struct Service {
    pub(super) waiting: TryBox<Waiting>,
    pub(super) flight: Flight,
    pub(super) actors: Actors,
    pub(super) round: Round,
    pub(super) head: Head,
    pub(super) leaving: Leaving,
    pub(super) draining: Draining,
    pub(super) shaper: Shaper,
    pub(super) shares: Shares,
    pub(super) classes: Classes,
    /// Who wrote last, of what nobody waits for.
    pub(super) writer: Option<Place>,
    /// Reads that have gone since a write that somebody waits for did.
    pub(super) reads: u64,
    /// Since one that was overdue went, and since one of the idle class did.
    pub(super) passed: Passed,
    pub(super) idle_passed: Passed,
    pub(super) tunables: Settings,
}

impl Service {
    #[inline(always)]
    pub(super) fn new(setup: Setup<'_>, tunables: Settings) -> Result<Self, OutOfMemory> {
        let actors = Actors::new(setup.capacity)?;
        Ok(Service {
            waiting: Waiting::new(setup)?,
            flight: Flight::new(setup.capacity)?,
            round: Round::new(actors.places())?,
            shares: Shares::new(actors.places())?,
            classes: Classes::default(),
            actors,
            head: Head::default(),
            leaving: Leaving::default(),
            draining: Draining::default(),
            shaper: Shaper::default(),
            writer: None,
            reads: 0,
            passed: Passed::default(),
            idle_passed: Passed::default(),
            tunables,
        })
    }
}
