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

/// The round of turns.
pub(super) struct Round {
    turn: Turn,
    /// Streams with requests that wait, apart from whose turn it is.
    line: PlaceQueue,
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
        Ok(Round { turn: Turn::default(), line: PlaceQueue::new(places)?, ready: [Instant::ZERO; 2] })
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
        self.line.len() == 0 && !wanted.pool && wanted.writers == 0 && !wanted.others
    }

    /// Whether any stream is in line.
    pub(super) fn any_stream(&self) -> bool {
        self.line.len() > 0
    }

    /// The first stream in line.
    pub(super) fn next_stream(&self) -> Option<Place> {
        self.line.front().map(|(place, _)| place)
    }

    /// Who has the next turn: whoever has been ready for longest, and whose turn it was only if nobody else is.
    pub(super) fn next(&self, wanted: Wanted) -> Option<Party> {
        let stream = self.line.front().map(|(place, since)| (since, Party::Stream(place)));
        let pool = wanted.pool.then_some((self.ready[0], Party::Pool));
        let writes = (wanted.writers > 0).then_some((self.ready[1], Party::Writes));
        let rank = |(since, party): &(Instant, Party)| (*party == self.turn.party, *since);
        [stream, pool, writes].into_iter().flatten().min_by_key(rank).map(|(_, party)| party)
    }

    /// How many share the round. `thinks`: so does whose turn it was, which wants nothing at the moment.
    pub(super) fn parties(&self, wanted: Wanted, thinks: bool) -> usize {
        self.line.len() + usize::from(wanted.pool) + wanted.writers + usize::from(thinks)
    }

    /// A request has come to the stream at `place`.
    pub(super) fn stream_is_ready(&mut self, now: Instant, place: Place) {
        if self.holder() != Some(place) {
            self.line.push(place, now);
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

    /// The stream at `place` wants nothing any more.
    pub(super) fn leave(&mut self, place: Place) {
        self.line.leave(place);
    }

    /// The turn ends. `wants`: whose it was wants another.
    pub(super) fn end(&mut self, now: Instant, wants: bool) {
        match core::mem::take(&mut self.turn).party {
            Party::Stream(place) if wants => self.line.push(place, now),
            Party::Nobody | Party::Stream(_) => {}
            Party::Pool => self.ready[0] = now,
            Party::Writes => self.ready[1] = now,
        }
    }

    /// A turn of `length` begins.
    pub(super) fn begin(&mut self, now: Instant, party: Party, length: Duration) {
        let mut until = Some(now + length);
        if let Party::Stream(place) = party {
            self.line.leave(place);
            until = None;
        }
        self.turn = Turn { party, length, until };
    }

    /// A request of the stream whose turn it is is done. Returns whether it is the first in this turn.
    pub(super) fn is_done(&mut self, now: Instant) -> bool {
        let first = self.turn.until.is_none();
        if first {
            self.turn.until = Some(now + self.turn.length);
        }
        first
    }
}
