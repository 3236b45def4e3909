//! Who issues what somebody waits for: each process, and whether the next process continues where that one stopped.

use alloc::vec::Vec;

use crate::collections::{Issuers, List, OutOfMemory, Place, table};
use crate::request::Request;
use crate::units::{Group, Instant, Issuer, RequestId};

use super::habits::{Habits, PROMPT};
use super::shares::Purse;
use super::waiting::Class;

/// Requests of an actor, in order of arrival: those of its stream, and those that are held.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lists {
    pub(super) stream: List,
    pub(super) held: List,
}

impl Lists {
    pub(super) fn is_empty(&self) -> bool {
        self.stream.is_empty() && self.held.is_empty()
    }
}

/// A process that asks for itself, or a chain of them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Actor {
    pub(super) habits: Habits,
    pub(super) lists: Lists,
    pub(super) purse: Purse,
    /// Requests of the stream in flight.
    pub(super) flying: u32,
    /// Requests that wait or are in flight, of all classes.
    outstanding: u32,
    /// Since when there are none.
    pub(super) idle: Option<Instant>,
    /// The same of what nobody waits for.
    pub(super) writing: Habits,
    /// Of these, those that wait, and those in flight.
    writes_waiting: u32,
    writes_flying: u32,
    /// When the first of these was done since the actor issued the last one.
    written: Option<Instant>,
    /// The process that issued last has exited.
    exited: bool,
    /// The actor's last turn ended early, because it thought.
    pub(super) left: bool,
}

/// What is kept of a process: itself as an actor, and which actor it belongs to.
#[derive(Clone, Copy, Debug, Default)]
struct Member {
    /// No other that is kept has it. 0: a process of which nothing is known.
    serial: u64,
    /// The actor's place, and its serial number: another process may have the place by now.
    actor: Option<(Place, u64)>,
    own: Actor,
}

/// All processes, and the actors that they are.
pub(super) struct Actors {
    members: Issuers<Member>,
    /// By group of processes: the actor to which its last newcomer belongs.
    groups: Issuers<Option<(Place, u64)>>,
    /// By request that waits or is in flight: whose it is.
    owners: Vec<Place>,
    serial: u64,
    /// How many actors have writes waiting that nobody waits for.
    writers: usize,
}

/// Places for processes that have nothing waiting or in flight.
const ABSENT_PLACES: usize = 64;
/// Groups of processes that are remembered.
const GROUPS: usize = 64;

impl Actors {
    /// Not inlined, so that what it takes of the stack is free when the next part is built.
    #[inline(never)]
    pub(super) fn new(capacity: usize) -> Result<Self, OutOfMemory> {
        Ok(Actors {
            members: Issuers::new(capacity.saturating_add(ABSENT_PLACES))?,
            groups: Issuers::new(GROUPS)?,
            owners: table(capacity, Place::default())?,
            serial: 0,
            writers: 0,
        })
    }

    pub(super) fn places(&self) -> usize {
        self.members.places()
    }

    /// The process at `place`, the first of its chain.
    pub(super) fn who(&self, place: Place) -> Issuer {
        self.members.who(place)
    }

    /// Whose `id` is, which waits or is in flight.
    #[inline]
    pub(super) fn owner(&self, id: RequestId) -> Place {
        self.owners[id.index()]
    }

    #[inline]
    pub(super) fn get(&self, place: Place) -> &Actor {
        &self.members[place].own
    }

    #[inline]
    pub(super) fn get_mut(&mut self, place: Place) -> &mut Actor {
        &mut self.members[place].own
    }

    pub(super) fn hold(&mut self, place: Place) {
        self.members.hold(place);
    }

    pub(super) fn release(&mut self, place: Place) {
        self.members.release(place);
    }

    /// The actor at `place`, if it is still the one with that serial number.
    fn still(&self, actor: Option<(Place, u64)>) -> Option<Place> {
        actor.filter(|(place, serial)| self.members[*place].serial == *serial).map(|(place, _)| place)
    }

    /// The actor that `request` belongs to. `holder`: whose turn it is.
    pub(super) fn actor_of(&mut self, request: &Request, holder: Option<Place>) -> Place {
        let member = self.members.enter(request.issuer);
        if self.members[member].serial == 0 {
            self.serial += 1;
            let actor = self.predecessor(request, holder).unwrap_or(member);
            self.members[member].serial = self.serial;
            let serial = self.members[actor].serial;
            self.members[member].actor = Some((actor, serial));
            if request.group != Group::UNKNOWN {
                let group = self.groups.enter(Issuer(request.group.0));
                self.groups[group] = Some((actor, serial));
            }
        }
        let actor = self.still(self.members[member].actor).unwrap_or(member);
        if actor != member {
            // Used now, so that its place is not given to another.
            let who = self.members.who(actor);
            self.members.enter(who);
        }
        actor
    }

    /// For which actor a newcomer continues: the latest of its group, if that is idle; or whose turn it is, if that has exited or
    /// has left off where the newcomer begins.
    fn predecessor(&self, request: &Request, holder: Option<Place>) -> Option<Place> {
        let group = (request.group != Group::UNKNOWN).then_some(Issuer(request.group.0));
        let latest = group.and_then(|group| self.still(*self.groups.get(group)?));
        let idle = |place: &Place| self.get(*place).idle.is_some();
        latest.filter(idle).or_else(|| {
            let holder = holder.filter(idle)?;
            let actor = self.get(holder);
            (actor.exited || actor.habits.is_near(request)).then_some(holder)
        })
    }

    /// `id` of the actor at `place`, which is returned, waits from now on.
    pub(super) fn enters(&mut self, place: Place, id: RequestId) -> &mut Actor {
        self.owners[id.index()] = place;
        self.members.hold(place);
        let actor = self.get_mut(place);
        actor.outstanding += 1;
        actor
    }

    /// The actor at `place` issues `request`, which somebody waits for.
    pub(super) fn issues(&mut self, now: Instant, place: Place, request: &Request) {
        let actor = &mut self.members[place].own;
        let thought = actor.idle.map(|since| now.since(since));
        actor.habits.learn(request, thought);
        (actor.idle, actor.exited) = (None, false);
    }

    /// The actor at `place` issues `request`, which nobody waits for.
    pub(super) fn writes(&mut self, place: Place, request: &Request) {
        let actor = self.get_mut(place);
        actor.writing.learn(request, None);
        (actor.idle, actor.written) = (None, None);
        actor.writes_waiting += 1;
        let first = actor.writes_waiting == 1;
        self.writers += usize::from(first);
    }

    /// One of its writes that nobody waits for waits no longer.
    pub(super) fn waits_no_longer(&mut self, place: Place) {
        let actor = self.get_mut(place);
        actor.writes_waiting -= 1;
        let last = actor.writes_waiting == 0;
        self.writers -= usize::from(last);
    }

    /// How many actors have writes waiting that nobody waits for.
    pub(super) fn writers(&self) -> usize {
        self.writers
    }

    /// Until when the actor at `place`, which writes in order, may be about to issue more of such writes: for as long as those in
    /// flight are all that it has issued, and for a moment after one is done.
    pub(super) fn writes_on(&self, place: Place) -> Option<Instant> {
        let actor = self.get(place);
        let until = actor.written.map_or(Instant::MAX, |since| since + PROMPT);
        (actor.writes_flying > 0 && actor.writing.streams()).then_some(until)
    }

    /// A request of the actor goes to the device.
    pub(super) fn goes(&mut self, place: Place, class: Class) {
        let actor = self.get_mut(place);
        match class {
            Class::Stream => actor.flying += 1,
            Class::Async => actor.writes_flying += 1,
            _ => {}
        }
    }

    /// An earlier scheduler has dispatched `id`. Returns whose it is.
    pub(super) fn adopt(&mut self, request: &Request, id: RequestId) -> Place {
        let place = self.actor_of(request, None);
        self.enters(place, id);
        place
    }

    /// `id` is done. Returns whose it was.
    pub(super) fn leaves(&mut self, now: Instant, id: RequestId, class: Class) -> Place {
        let place = self.owner(id);
        let actor = self.get_mut(place);
        match class {
            Class::Stream => actor.flying -= 1,
            Class::Async => {
                actor.writes_flying -= 1;
                actor.written.get_or_insert(now);
            }
            _ => {}
        }
        self.withdraws(now, place);
        place
    }

    /// Whether the actor at `place` has nothing waiting or in flight.
    pub(super) fn is_away(&self, place: Place) -> bool {
        self.get(place).outstanding == 0
    }

    /// A request of the actor at `place` is no more: it is done, or withdrawn.
    pub(super) fn withdraws(&mut self, now: Instant, place: Place) {
        let actor = self.get_mut(place);
        actor.outstanding -= 1;
        if actor.outstanding == 0 {
            actor.idle = Some(now);
        }
        self.members.release(place);
    }

    /// The process has exited. If it continues for another, whoever has its number next is a newcomer.
    pub(super) fn exits(&mut self, who: Issuer) {
        let Some(member) = self.members.find(who) else { return };
        let actor = self.still(self.members[member].actor).unwrap_or(member);
        self.get_mut(actor).exited = true;
        if actor != member {
            self.members.forget(who);
        }
    }
}
