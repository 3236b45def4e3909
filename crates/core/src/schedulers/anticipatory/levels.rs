//! Habits of processes and, as SOSP'01 §5.2.2 suggests, of groups of processes and of regions of the
//! disk. The most consistent level is trusted.
//!
//! Each level has a place for as many as the queue has ids, and [`SPARE`] more; whoever was heard of
//! longest ago, and has no request waiting or in flight, is forgotten for a new one.

use alloc::vec::Vec;

use super::habits::{Arrival, Habit, Outlook};
use crate::collections::{Issuers, OutOfMemory, Place, table};
use crate::request::Request;
use crate::scheduler::Cx;
use crate::units::{Duration, Group, Issuer, RequestId};

/// Places for those who have no request in the queue at the moment.
const SPARE: usize = 64;
/// A region of the disk: 2^18 sectors, 128 MiB.
const REGION_SHIFT: u32 = 18;
/// So many think times make statistics that can be compared.
const ENOUGH: u32 = 4;

/// Of what statistics are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    Process = 0,
    Group = 1,
    Region = 2,
}

impl Level {
    const ALL: [Level; 3] = [Level::Process, Level::Group, Level::Region];

    /// Whose request it is on this level; nobody's where no group is known.
    fn key(self, request: &Request) -> Option<Issuer> {
        match self {
            Level::Process => Some(request.issuer),
            Level::Group => (request.group != Group::UNKNOWN).then_some(Issuer(request.group.0)),
            Level::Region => Some(Issuer((request.start.0 >> REGION_SHIFT) as u32)),
        }
    }

    pub(super) const fn word(self) -> &'static str {
        match self {
            Level::Process => "process",
            Level::Group => "group",
            Level::Region => "region",
        }
    }
}

/// What is noted of a synchronous request while it waits or is in flight.
#[derive(Clone, Copy, Default)]
struct Note {
    places: [Option<Place>; 3],
    /// How long the head would take to it from the end of the process's request before.
    near: Option<Duration>,
    /// It continues a larger request.
    part: bool,
}

/// Whose request was served last.
#[derive(Clone, Copy, Default)]
pub(super) struct Keys([Option<Issuer>; 3]);

/// Habits on all levels.
pub(super) struct Levels {
    tables: [Issuers<Habit>; 3],
    notes: Vec<Note>,
}

/// How statistics are kept.
#[derive(Clone, Copy)]
pub(super) struct Keeping {
    /// On all levels, or only of processes.
    pub(super) all: bool,
    /// From this scatter of think times on, in hundredths, they are dropped. 0: never.
    pub(super) reset_spread: u64,
    /// Positioning times are as measured, or else from a process's own last request.
    pub(super) measured: bool,
}

impl Levels {
    pub(super) fn new(capacity: usize) -> Result<Self, OutOfMemory> {
        let places = capacity + SPARE;
        Ok(Levels {
            tables: [Issuers::new(places)?, Issuers::new(places)?, Issuers::new(places)?],
            notes: table(capacity, Note::default())?,
        })
    }

    fn used(&mut self, keeping: Keeping) -> impl Iterator<Item = (Level, &mut Issuers<Habit>)> {
        let levels = if keeping.all { 3 } else { 1 };
        Level::ALL.into_iter().zip(&mut self.tables).take(levels)
    }

    /// The synchronous request `id` arrives. `near` is the time to it from another place.
    pub(super) fn arrives(
        &mut self,
        cx: Cx<'_>,
        id: RequestId,
        keeping: Keeping,
        near: impl Fn(crate::units::Sector) -> Duration,
    ) {
        let request = &cx[id];
        let mut note = Note::default();
        for (level, habits) in self.used(keeping) {
            let Some(key) = level.key(request) else { continue };
            let place = habits.enter(key);
            habits.hold(place);
            let habit = &mut habits[place];
            let before = habit.position;
            let arrival = habit.arrives(cx.now, request.start, request.end(), request.more_follows);
            if level == Level::Process {
                note.near = before.map(&near);
                note.part = arrival == Arrival::Part;
            }
            settle(habit, keeping);
            note.places[level as usize] = Some(place);
        }
        self.notes[id.index()] = note;
    }

    /// Whether `id` is a synchronous request of this queue.
    pub(super) fn tracks(&self, id: RequestId) -> bool {
        self.notes[id.index()].places[0].is_some()
    }

    /// `survivor` has taken in `other`.
    pub(super) fn absorbed(&mut self, survivor: RequestId, other: RequestId) {
        if self.tracks(survivor) {
            self.withdrawn(other);
        } else {
            self.notes[survivor.index()] = core::mem::take(&mut self.notes[other.index()]);
        }
    }

    /// A new request went into the waiting request `id`.
    pub(super) fn extends(&mut self, cx: Cx<'_>, id: RequestId, keeping: Keeping) {
        let request = &cx[id];
        for (place, habits) in self.notes[id.index()].places.into_iter().zip(&mut self.tables) {
            if let Some(place) = place {
                habits[place].extends(request.end(), request.more_follows);
                settle(&mut habits[place], keeping);
            }
        }
    }

    /// `id` no longer waits: it goes to the device.
    pub(super) fn dispatched(&mut self, id: RequestId) {
        for (place, habits) in self.notes[id.index()].places.into_iter().zip(&mut self.tables) {
            if let Some(place) = place {
                habits[place].waiting -= 1;
                habits[place].in_flight += 1;
            }
        }
    }

    /// `id` no longer waits, and was not served by itself.
    pub(super) fn withdrawn(&mut self, id: RequestId) {
        let places = core::mem::take(&mut self.notes[id.index()]).places;
        for (place, habits) in places.into_iter().zip(&mut self.tables) {
            if let Some(place) = place {
                habits[place].waiting -= 1;
                habits.release(place);
            }
        }
    }

    /// `id` is completed; the head took `measured` to it, if that is known.
    pub(super) fn completes(
        &mut self,
        cx: Cx<'_>,
        id: RequestId,
        measured: Option<Duration>,
        keeping: Keeping,
    ) {
        let note = core::mem::take(&mut self.notes[id.index()]);
        let sample = if keeping.measured { measured.or(note.near) } else { note.near.or(measured) };
        for (place, habits) in note.places.into_iter().zip(&mut self.tables) {
            let Some(place) = place else { continue };
            habits[place].completes(cx.now);
            if let Some(time) = sample.filter(|_| !note.part) {
                habits[place].positioned(time);
            }
            habits.release(place);
        }
    }

    /// `who` has exited: its number may come again as another process.
    pub(super) fn gone(&mut self, who: Issuer) {
        self.tables[Level::Process as usize].forget(who);
    }

    /// Whose request `id` is.
    pub(super) fn keys(&self, request: &Request) -> Keys {
        Keys(Level::ALL.map(|level| level.key(request)))
    }

    fn habit(&self, keys: Keys, level: Level) -> Option<&Habit> {
        self.tables[level as usize].get(keys.0[level as usize]?)
    }

    /// What to expect of the last process, on the level that is the most consistent.
    pub(super) fn trusted(&self, keys: Keys, keeping: Keeping) -> Option<(Level, &Habit, Outlook)> {
        let known = |level| {
            let habit = self.habit(keys, level)?;
            Some((level, habit, habit.outlook()?))
        };
        let own = known(Level::Process);
        if !keeping.all {
            return own;
        }
        let enough = |(_, habit, _): &(Level, &Habit, Outlook)| habit.samples >= ENOUGH;
        let levels = Level::ALL.into_iter().filter_map(known).filter(enough);
        levels.min_by_key(|(_, habit, _)| habit.spread_percent()).or(own)
    }

    /// Whether the last process, or its group, has a request waiting.
    pub(super) fn waits(&self, keys: Keys, level: Level) -> bool {
        self.habit(keys, level).is_some_and(|habit| habit.waiting > 0)
    }

    /// A wait for the last process ran out.
    pub(super) fn expired(&mut self, keys: Keys) {
        for (key, habits) in keys.0.into_iter().zip(&mut self.tables) {
            if let Some(place) = key.and_then(|key| habits.find(key)) {
                habits[place].expired = true;
            }
        }
    }
}

/// Drops statistics that scatter too much (SOSP'01 §5.2.1: covariance resetting).
fn settle(habit: &mut Habit, keeping: Keeping) {
    if keeping.reset_spread > 0 && habit.spread_percent() > keeping.reset_spread {
        habit.reset();
    }
}
