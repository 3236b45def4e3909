//! State of `turns` on disks with moving heads. Its decisions are in `decide.rs`, its events in `events.rs`.

use super::actors::Actors;
use super::classes::Classes;
use super::drive_buffer::DriveBuffer;
use super::in_flight::InFlight;
use super::overdue::Overdue;
use super::pool::Pool;
use super::round::Round;
use super::settings::Settings;
use super::shares::Shares;
use super::utilization::Utilization;
use super::waiting::Waiting;
use crate::collections::{Links, OutOfMemory, Place, TryBox};
use crate::learned::Learned;
use crate::scheduler::Setup;
use crate::schedulers::shared::head::Head;

/// All parts.
pub(super) struct Heads {
    pub(super) waiting: TryBox<Waiting>,
    pub(super) pool: TryBox<Pool>,
    /// What the actors' lists are made of.
    pub(super) links: Links,
    pub(super) in_flight: InFlight,
    pub(super) actors: Actors,
    pub(super) round: Round,
    pub(super) head: Head,
    pub(super) learned: TryBox<Learned>,
    pub(super) buffer: DriveBuffer,
    pub(super) utilization: Utilization,
    pub(super) shares: Shares,
    pub(super) classes: Classes,
    /// Who wrote last, of what nobody waits for.
    pub(super) writer: Option<Place>,
    pub(super) overdue: Overdue,
    pub(super) tunables: Settings,
}

impl Heads {
    /// In memory of its own and not inlined, so that it takes little of the stack, of which a kernel has little.
    #[inline(never)]
    pub(super) fn new(setup: Setup<'_>, tunables: Settings) -> Result<TryBox<Self>, OutOfMemory> {
        let room = TryBox::room()?;
        let actors = Actors::new(setup.capacity)?;
        room.keep(Heads {
            waiting: Waiting::new(setup.capacity)?,
            pool: Pool::new(setup)?,
            links: Links::new(setup.capacity)?,
            in_flight: InFlight::new(setup.capacity)?,
            round: Round::new(actors.places())?,
            shares: Shares::new(actors.places())?,
            classes: Classes::default(),
            actors,
            head: Head::default(),
            learned: TryBox::room()?.keep(setup.device.learned.clone())?,
            buffer: DriveBuffer::default(),
            utilization: Utilization::default(),
            writer: None,
            overdue: Overdue::default(),
            tunables,
        })
    }
}
