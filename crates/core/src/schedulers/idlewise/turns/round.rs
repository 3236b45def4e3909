//! Whose turn it is, until when, and who is next.

use crate::collections::{OutOfMemory, Place};
use crate::units::{Duration, Instant};

use super::place_queue::PlaceQueue;

/// Who has the disk at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Party {
    #[default]
    Nobody,
    /// A stream, which is waited for.
    Stream(Place),
    /// All others that somebody waits for.
    Pool,
    /// All that nobody waits for.
    Writes,
}

/// A turn.
#[derive(Clone, Copy, Debug, Default)]
struct Turn {
    party: Party,
    length: Duration,
    /// The turn of a stream counts from its first completion.
    until: Option<Instant>,
}

/// Turns of thinkers that follow one another.
#[derive(Clone, Copy, Debug)]
struct Group {
    length: Duration,
    /// Counts from the first completion.
    until: Option<Instant>,
}

/// The round of turns.
pub(super) struct Round {
    turn: Turn,
    /// Streams with requests that wait, apart from whose turn it is.
    line: PlaceQueue,
    /// The same of those that are soon left in their turns, because they think.
    thinkers: PlaceQueue,
    /// The time in which thinkers have turns before all others, while it is such a time.
    group: Option<Group>,
    /// Since when the pool is ready for a turn, and the writes.
    ready: [Instant; 2],
}

/// What waits.
#[derive(Clone, Copy)]
pub(super) struct Wanted {
    pub(super) pool: bool,
    /// Processes that have written.
    pub(super) writers: usize,
    /// Somebody waits who is not ready: for the next round of shares, or for an idle disk.
    pub(super) others: bool,
}

impl Round {
    pub(super) fn new(places: usize) -> Result<Self, OutOfMemory> {
        Ok(Round {
            turn: Turn::default(),
            line: PlaceQueue::new(places)?,
            thinkers: PlaceQueue::new(places)?,
            group: None,
            ready: [Instant::ZERO; 2],
        })
    }

    pub(super) fn party(&self) -> Party {
        self.turn.party
    }

    /// The stream whose turn it is.
    pub(super) fn holder(&self) -> Option<Place> {
        if let Party::Stream(place) = self.turn.party { Some(place) } else { None }
    }

    /// When the turn ends, if others want one. `None`: it has not begun to count.
    pub(super) fn until(&self) -> Option<Instant> {
        self.turn.until
    }

    /// How long the turn is.
    pub(super) fn length(&self) -> Duration {
        self.turn.length
    }

    /// Whether the turn's time is over. A stream alone keeps it.
    pub(super) fn is_over(&self, now: Instant, wanted: Wanted) -> bool {
        let keeps = self.holder().is_some() && self.is_alone(wanted);
        !keeps && self.turn.until.is_some_and(|until| now >= until)
    }

    /// Nobody but the stream whose turn it is wants the disk.
    pub(super) fn is_alone(&self, wanted: Wanted) -> bool {
        !self.any_stream() && !wanted.pool && wanted.writers == 0 && !wanted.others
    }

    /// Whether any stream is in line.
    pub(super) fn any_stream(&self) -> bool {
        self.line.len() + self.thinkers.len() > 0
    }

    /// Whether it is time for turns of thinkers.
    fn is_for_thinkers(&self, now: Instant) -> bool {
        self.group.is_some_and(|group| group.until.is_none_or(|until| now < until))
    }

    /// The thinker that has the next turn before all others, if there is one.
    pub(super) fn next_thinker(&self, now: Instant, wanted: Wanted) -> Option<Place> {
        let first = self.thinkers.front().map(|(place, _)| place);
        first.filter(|_| self.is_for_thinkers(now) && !wanted.pool && wanted.writers == 0)
    }

    /// Who has the next turn: a thinker, if it is time for that; or else whoever has been ready for longest, and whose turn it was
    /// only if nobody else is.
    pub(super) fn next(&self, now: Instant, wanted: Wanted) -> Option<Party> {
        if let Some(place) = self.next_thinker(now, wanted) {
            return Some(Party::Stream(place));
        }
        let first = |(place, since)| (since, Party::Stream(place));
        let (stream, thinker) = (self.line.front().map(first), self.thinkers.front().map(first));
        let pool = wanted.pool.then_some((self.ready[0], Party::Pool));
        let writes = (wanted.writers > 0).then_some((self.ready[1], Party::Writes));
        let rank = |(since, party): &(Instant, Party)| (*party == self.turn.party, *since);
        [stream, thinker, pool, writes].into_iter().flatten().min_by_key(rank).map(|(_, party)| party)
    }

    /// How many share the round. `thinks`: so does whose turn it was, which wants nothing at the moment.
    pub(super) fn parties(&self, wanted: Wanted, thinks: bool) -> usize {
        self.line.len()
            + self.thinkers.len()
            + usize::from(wanted.pool)
            + wanted.writers
            + usize::from(thinks)
    }

    /// A request has come to the stream at `place`, which `thinks` or not.
    pub(super) fn stream_is_ready(&mut self, now: Instant, place: Place, thinks: bool) {
        if self.holder() != Some(place) && !self.line.contains(place) && !self.thinkers.contains(place) {
            let line = if thinks { &mut self.thinkers } else { &mut self.line };
            line.push(place, now);
        }
    }

    /// The first request has come to the pool.
    pub(super) fn pool_is_ready(&mut self, now: Instant) {
        self.ready[0] = now;
    }

    /// The first request has come that nobody waits for.
    pub(super) fn writes_are_ready(&mut self, now: Instant) {
        self.ready[1] = now;
    }

    /// The turn ends so much later: its stream could not use the time.
    pub(super) fn prolong(&mut self, by: Duration) {
        self.turn.until = self.turn.until.map(|until| until + by);
    }

    /// The turn's time is over.
    pub(super) fn cut(&mut self, now: Instant) {
        self.turn.until = self.turn.until.map(|until| until.min(now));
    }

    /// The stream at `place` wants nothing any more.
    pub(super) fn leave(&mut self, place: Place) {
        self.line.leave(place);
        self.thinkers.leave(place);
    }

    /// The turn ends. `wants`: whose it was wants another. `thinks`: and is a thinker.
    pub(super) fn end(&mut self, now: Instant, wants: bool, thinks: bool) {
        match core::mem::take(&mut self.turn).party {
            Party::Stream(place) if wants => self.stream_is_ready(now, place, thinks),
            Party::Nobody | Party::Stream(_) => {}
            Party::Pool => self.ready[0] = now,
            Party::Writes => self.ready[1] = now,
        }
    }

    /// A turn of `length` begins; nothing lasts for longer than `longest`. Returns whether thinkers have turns, and had the last one.
    pub(super) fn begin(&mut self, now: Instant, party: Party, length: Duration, longest: Duration) -> bool {
        let mut until = Some(now + length);
        let mut group = None;
        if let Party::Stream(place) = party {
            if self.thinkers.contains(place) {
                let all = (length * self.thinkers.len() as u64).min(longest);
                group = Some(Group { length: all, until: None });
            }
            self.leave(place);
            until = None;
        }
        let again = group.is_some() && self.is_for_thinkers(now);
        self.group = if again { self.group } else { group };
        self.turn = Turn { party, length, until };
        again
    }

    /// A request of the stream whose turn it is is done. Returns whether it is the first in this turn.
    pub(super) fn is_done(&mut self, now: Instant) -> bool {
        let first = self.turn.until.is_none();
        if first {
            let mut until = now + self.turn.length;
            if let Some(group) = &mut self.group {
                until = until.min(*group.until.get_or_insert(now + group.length));
            }
            self.turn.until = Some(until);
        }
        first
    }
}
