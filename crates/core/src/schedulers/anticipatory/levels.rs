//! Statistics of processes and, as SOSP'01 §5.2.2 suggests, of groups of processes and of regions of
//! the disk. The paper's word is level of abstraction; the most consistent level is trusted.
//!
//! Each level has a place for as many as the queue has ids, and [`SPARE`] more; whoever was heard of
//! longest ago, and has no request waiting or in flight, is forgotten for a new one.

use alloc::vec::Vec;

use super::statistics::{Expected, Percentile, Statistics};
use crate::collections::{Issuers, OutOfMemory, Place, TryBox, table};
use crate::request::Request;
use crate::scheduler::Cx;
use crate::units::{Duration, Group, Issuer, RequestId, Sector};

/// Places for those who have no request in the queue at the moment.
const SPARE: usize = 64;
/// A region of the disk: 2^18 sectors, 128 MiB.
const REGION_SHIFT: u32 = 18;
/// Think times that make statistics comparable.
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
    /// The request continues a larger one.
    part: bool,
}

/// Whose request was served last.
#[derive(Clone, Copy, Default)]
pub(super) struct Keys([Option<Issuer>; 3]);

/// Statistics on all levels.
pub(super) struct Levels {
    tables: [Issuers<Statistics>; 3],
    notes: Vec<Note>,
    collecting: Collecting,
}

/// How statistics are collected.
#[derive(Clone, Copy)]
pub(super) struct Collecting {
    /// Of groups and regions too, and not only of processes.
    pub(super) on_all_levels: bool,
    /// From this scatter of think times on, in hundredths, they are dropped. 0: never.
    pub(super) reset_spread: u64,
    /// Positioning times are as measured, or else from a process's own last request.
    pub(super) measured: bool,
    /// Of which think times a wait covers 95 %.
    pub(super) percentile: Percentile,
}

impl Levels {
    /// In memory of its own and not inlined, so that it takes little of the stack, of which a kernel has little.
    #[inline(never)]
    pub(super) fn new(capacity: usize, collecting: Collecting) -> Result<TryBox<Self>, OutOfMemory> {
        let (room, places) = (TryBox::room()?, capacity + SPARE);
        room.keep(Levels {
            tables: [Issuers::new(places)?, Issuers::new(places)?, Issuers::new(places)?],
            notes: table(capacity, Note::default())?,
            collecting,
        })
    }

    /// Changes how statistics are collected from now on.
    pub(super) fn tune(&mut self, collecting: Collecting) {
        self.collecting = collecting;
    }

    /// The synchronous request `id` arrives. `near` is the time to it from another place.
    pub(super) fn arrives(&mut self, cx: Cx<'_>, id: RequestId, near: impl Fn(Sector) -> Duration) {
        let (request, collecting) = (&cx[id], self.collecting);
        let mut note = Note::default();
        let used = if collecting.on_all_levels { 3 } else { 1 };
        for (level, table) in Level::ALL.into_iter().zip(&mut self.tables).take(used) {
            let Some(key) = level.key(request) else { continue };
            let place = table.enter_held(key);
            let before = table[place].position;
            let part = table[place].arrives(cx.now, request, collecting.percentile);
            if level == Level::Process {
                note.near = before.map(&near);
                note.part = part;
            }
            settle(&mut table[place], collecting);
            note.places[level as usize] = Some(place);
        }
        self.notes[id.index()] = note;
    }

    /// Whether `id` is a synchronous request of this queue.
    #[inline]
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
    pub(super) fn extends(&mut self, cx: Cx<'_>, id: RequestId) {
        for (place, table) in self.notes[id.index()].places.into_iter().zip(&mut self.tables) {
            if let Some(place) = place {
                table[place].extends(&cx[id], self.collecting.percentile);
                settle(&mut table[place], self.collecting);
            }
        }
    }

    /// `id` no longer waits: it goes to the device.
    #[inline]
    pub(super) fn dispatched(&mut self, id: RequestId) {
        if !self.tracks(id) {
            return;
        }
        for (place, table) in self.notes[id.index()].places.into_iter().zip(&mut self.tables) {
            if let Some(place) = place {
                table[place].waiting -= 1;
                table[place].in_flight += 1;
            }
        }
    }

    /// `id` no longer waits, and was not served by itself.
    pub(super) fn withdrawn(&mut self, id: RequestId) {
        let places = core::mem::take(&mut self.notes[id.index()]).places;
        for (place, table) in places.into_iter().zip(&mut self.tables) {
            if let Some(place) = place {
                table[place].waiting -= 1;
                table.release(place);
            }
        }
    }

    /// `id` is completed; the head took `measured` to it, if that is known.
    #[inline]
    pub(super) fn completes(&mut self, cx: Cx<'_>, id: RequestId, measured: Option<Duration>) {
        if self.tracks(id) {
            self.learns(cx, id, measured);
        }
    }

    fn learns(&mut self, cx: Cx<'_>, id: RequestId, measured: Option<Duration>) {
        let note = core::mem::take(&mut self.notes[id.index()]);
        let sample = if self.collecting.measured { measured.or(note.near) } else { note.near.or(measured) };
        for (place, table) in note.places.into_iter().zip(&mut self.tables) {
            let Some(place) = place else { continue };
            table[place].completes(cx.now);
            if let Some(time) = sample.filter(|_| !note.part) {
                table[place].positioned(time);
            }
            table.release(place);
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

    fn statistics(&self, keys: Keys, level: Level) -> Option<&Statistics> {
        self.tables[level as usize].get(keys.0[level as usize]?)
    }

    /// What to expect of the last process, on the level that is the most consistent.
    pub(super) fn most_consistent(&self, keys: Keys) -> Option<(Level, &Statistics, Expected)> {
        let known = |level| {
            let statistics = self.statistics(keys, level)?;
            Some((level, statistics, statistics.expected()?))
        };
        let own = known(Level::Process);
        if !self.collecting.on_all_levels {
            return own;
        }
        let enough = |(_, statistics, _): &(Level, &Statistics, Expected)| statistics.samples >= ENOUGH;
        let levels = Level::ALL.into_iter().filter_map(known).filter(enough);
        levels.min_by_key(|(_, statistics, _)| statistics.spread_percent()).or(own)
    }

    /// Whether the last process, or its group, has a request waiting.
    pub(super) fn waits(&self, keys: Keys, level: Level) -> bool {
        self.statistics(keys, level).is_some_and(|statistics| statistics.waiting > 0)
    }

    /// A wait for the last process ran out.
    pub(super) fn expired(&mut self, keys: Keys) {
        for (key, table) in keys.0.into_iter().zip(&mut self.tables) {
            if let Some(place) = key.and_then(|key| table.find(key)) {
                table[place].expired = true;
            }
        }
    }
}

/// Drops statistics that scatter too much (SOSP'01 §5.2.1: covariance resetting).
fn settle(statistics: &mut Statistics, collecting: Collecting) {
    if collecting.reset_spread > 0 && statistics.spread_percent() > collecting.reset_spread {
        statistics.reset();
    }
}
