//! Requests in order of a key, usually their first sector. Equal keys keep their order of insertion.
//!
//! A list of small sorted blocks with a directory of where they begin. A search counts, without
//! branches that could be mispredicted, through the directory and one block; an insertion or removal
//! moves one block's entries. At the depths that queues have, that is faster than a balanced tree.
//!
//! Of two neighbouring blocks, one always holds more than [`FEW`]: a block that shrinks to that many
//! joins a neighbour that has no more. The rule bounds the number of blocks and so the memory.

mod block;
mod upkeep;

use alloc::vec::Vec;

#[cfg(test)]
pub(crate) use block::WIDE;
use block::{BLOCK, Block, EMPTY, Entry, FEW, GREATEST, NEVER, count_below, sign};

use super::{NIL, OutOfMemory, table};
use crate::units::RequestId;

/// The directory is halved until it is this short, and counted through then.
const STEP: usize = 8;

/// Requests in order of a key.
pub struct Sorted {
    blocks: Vec<Block>,
    /// The blocks in use, in key order.
    directory: Vec<u32>,
    /// Where each of them but the first begins: no key from there on is below, and none before is above.
    /// Behind them, [`NEVER`].
    cuts: Vec<u64>,
    /// Blocks not in use, which are empty.
    spare: Vec<u32>,
    /// The block that holds each request.
    home: Vec<u32>,
    len: usize,
    /// Where a sweep upward continues.
    finger: Finger,
}

/// What is known of the entries behind the one last taken out: `id` is the first whose key is at
/// least `from`, and none has a key in `from..from + gap`, but one has `from + gap`: `id`.
///
/// A key is in that range if, less `from`, it is below `gap`: one comparison.
#[derive(Clone, Copy)]
struct Finger {
    from: u64,
    gap: u64,
    id: u32,
}

/// Nothing is known.
const LOST: Finger = Finger { from: u64::MAX, gap: 0, id: NIL };

impl Finger {
    /// An entry under `taken` was taken out; the one after it is `next`.
    #[inline]
    fn behind(taken: u64, next: Option<Entry>) -> Finger {
        match next {
            Some(next) if next.key > taken => {
                Finger { from: taken + 1, gap: next.key - taken - 1, id: next.id }
            }
            _ => LOST,
        }
    }

    /// The first entry whose key is at least `key`, if it is known.
    #[inline]
    fn at_or_after(&self, key: u64) -> Option<RequestId> {
        let known = key.wrapping_sub(self.from) <= self.gap && self.id != NIL;
        known.then_some(RequestId(self.id))
    }
}

/// A position: a place in the directory and an index into that block.
#[derive(Clone, Copy)]
struct Position {
    place: usize,
    at: usize,
}

impl Sorted {
    /// Keys above it count as it: no disk has that many sectors.
    pub const GREATEST: u64 = GREATEST;

    /// A collection for request ids below `capacity`.
    ///
    /// # Errors
    /// [`OutOfMemory`] if the tables cannot be allocated.
    pub fn new(capacity: usize) -> Result<Self, OutOfMemory> {
        let most = 2 * capacity / (FEW + 2) + 2;
        let mut spare = table(most, 0u32)?;
        for (index, block) in spare.iter_mut().enumerate() {
            *block = index as u32;
        }
        let mut directory = Vec::new();
        directory.try_reserve_exact(most).map_err(|_| OutOfMemory)?;
        Ok(Sorted {
            blocks: table(most, EMPTY)?,
            directory,
            cuts: table(most.next_multiple_of(STEP), NEVER)?,
            spare,
            home: table(capacity, NIL)?,
            len: 0,
            finger: LOST,
        })
    }

    /// Number of requests.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// True if nothing is held.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// True if `request` is held.
    #[inline]
    pub fn contains(&self, request: RequestId) -> bool {
        self.home[request.index()] != NIL
    }

    /// Adds `request` behind all whose key is at most `key`.
    #[inline]
    pub fn insert(&mut self, key: u64, request: RequestId) {
        let key = key.min(GREATEST);
        assert!(!self.contains(request), "{request} is already sorted in");
        self.len += 1;
        if self.len == 1 {
            return self.insert_only(Entry { key, id: request.0 });
        }
        let mut place = self.place(key + 1);
        let mut block = self.directory[place];
        if self.blocks[block as usize].len as usize == BLOCK {
            place += usize::from(self.split(place) <= key);
            block = self.directory[place];
        }
        self.blocks[block as usize].insert(Entry { key, id: request.0 });
        self.home[request.index()] = block;
        let beyond = key.wrapping_sub(self.finger.from);
        if beyond < self.finger.gap {
            self.finger = Finger { gap: beyond, id: request.0, ..self.finger };
        }
    }

    /// Takes `request` out.
    #[inline]
    pub fn remove(&mut self, request: RequestId) {
        self.remove_before_next(request);
    }

    /// Takes `request` out and returns the one after it.
    #[inline(never)]
    pub fn remove_before_next(&mut self, request: RequestId) -> Option<RequestId> {
        self.take_out(request, |_, _, _| ()).1
    }

    /// Takes `request` out and returns the one before it and the one after it.
    #[inline(never)]
    pub fn remove_between(&mut self, request: RequestId) -> (Option<RequestId>, Option<RequestId>) {
        self.take_out(request, |sorted, block, position| match block.ids()[..position.at].last() {
            Some(id) => Some(RequestId(*id)),
            None => sorted.before_that(position),
        })
    }

    /// Takes `request` out. Returns what `of` makes of its block and position, and the request after it.
    #[inline(always)]
    fn take_out<R>(
        &mut self,
        request: RequestId,
        of: impl FnOnce(&Sorted, &Block, Position) -> R,
    ) -> (R, Option<RequestId>) {
        if self.len == 1 {
            let before = of(self, self.block(0), Position { place: 0, at: 0 });
            self.remove_only(request);
            return (before, None);
        }
        let home = core::mem::replace(&mut self.home[request.index()], NIL);
        assert!(home != NIL, "{request} is not sorted in");
        let block = &self.blocks[home as usize];
        let (place, at) = (block.place as usize, block.find(request.0));
        let before = of(self, block, Position { place, at });
        let block = &mut self.blocks[home as usize];
        let taken = block.remove(at);
        let left = block.len as usize;
        self.len -= 1;
        let next = block.get(at).or_else(|| self.first_in(place + 1));
        if left == FEW || left == 0 {
            self.shrunk(place, left);
        }
        self.finger = Finger::behind(taken, next);
        (before, next.map(|entry| RequestId(entry.id)))
    }

    /// Moves `request` to `key`, behind its new equals. False if it is there already.
    pub fn rekey(&mut self, request: RequestId, key: u64) -> bool {
        let moves = self.key(request) != key.min(GREATEST);
        if moves {
            self.remove(request);
            self.insert(key, request);
        }
        moves
    }

    /// The key under which `request` is held.
    pub fn key(&self, request: RequestId) -> u64 {
        self.entry(self.position(request)).map_or(0, |entry| entry.key)
    }

    /// The request with the smallest key.
    #[inline]
    pub fn first(&self) -> Option<RequestId> {
        self.get(Position { place: 0, at: 0 })
    }

    /// The request with the largest key.
    #[inline]
    pub fn last(&self) -> Option<RequestId> {
        let block = &self.blocks[*self.directory.last()? as usize];
        block.ids().last().map(|id| RequestId(*id))
    }

    /// The first request whose key is at least `key`.
    #[inline]
    pub fn at_or_after(&self, key: u64) -> Option<RequestId> {
        self.finger.at_or_after(key).or_else(|| self.get(self.lower_bound(key)))
    }

    /// The last request whose key is below `key`.
    #[inline]
    pub fn before(&self, key: u64) -> Option<RequestId> {
        self.before_that(self.lower_bound(key))
    }

    /// Of the requests with the largest key below `key`, the one that was inserted first.
    #[inline]
    pub fn below(&self, key: u64) -> Option<RequestId> {
        self.first_below(self.lower_bound(key))
    }

    /// The requests on both sides of `key`: what [`below`](Sorted::below) and [`at_or_after`](Sorted::at_or_after) return.
    #[inline]
    pub fn around(&self, key: u64) -> (Option<RequestId>, Option<RequestId>) {
        if let Some(above) = self.finger.at_or_after(key) {
            return (self.first_below(self.position(above)), Some(above));
        }
        let position = self.lower_bound(key);
        (self.first_below(position), self.get(position))
    }

    /// The request after `request` in key order.
    #[inline]
    pub fn next(&self, request: RequestId) -> Option<RequestId> {
        let Position { place, at } = self.position(request);
        self.get(Position { place, at: at + 1 })
    }

    /// The request before `request` in key order.
    #[inline]
    pub fn previous(&self, request: RequestId) -> Option<RequestId> {
        self.before_that(self.position(request))
    }

    /// All requests in key order, with their keys.
    pub fn iter(&self) -> Iter<'_> {
        Iter { sorted: self, next: Position { place: 0, at: 0 } }
    }

    /// The requests whose key is at least `key`, in order, with their keys.
    pub fn iter_from(&self, key: u64) -> Iter<'_> {
        Iter { sorted: self, next: self.lower_bound(key) }
    }

    /// The requests on both sides of `key`, with their keys: those below it, largest first, and [the others](Sorted::iter_from).
    #[inline]
    pub fn iter_around(&self, key: u64) -> (impl Iterator<Item = (u64, RequestId)> + '_, Iter<'_>) {
        let next = self.lower_bound(key);
        let mut at = self.step_back(next);
        let below = core::iter::from_fn(move || {
            let position = at?;
            at = self.step_back(position);
            self.entry(position).map(|entry| (entry.key, RequestId(entry.id)))
        });
        (below, Iter { sorted: self, next })
    }

    #[inline]
    fn get(&self, position: Position) -> Option<RequestId> {
        self.entry(position).map(|entry| RequestId(entry.id))
    }

    #[inline]
    fn block(&self, place: usize) -> &Block {
        &self.blocks[self.directory[place] as usize]
    }

    /// The entry at `position`, which may be one past the end of its block.
    #[inline]
    fn entry(&self, Position { place, at }: Position) -> Option<Entry> {
        let block = &self.blocks[*self.directory.get(place)? as usize];
        block.get(at).or_else(|| self.first_in(place + 1))
    }

    /// The first entry of the block at `place`, if there is one.
    #[inline]
    fn first_in(&self, place: usize) -> Option<Entry> {
        self.blocks[*self.directory.get(place)? as usize].get(0)
    }

    /// Where the directory lists the last block that may hold a key below `key`.
    #[inline]
    fn place(&self, key: u64) -> usize {
        let (steps, below) = self.cuts_below(key);
        steps * STEP + below
    }

    /// How many cuts are below `key`: whole steps of [`STEP`], and more. To add them up here would have the sum of
    /// the latter made without vectors.
    #[inline(never)]
    fn cuts_below(&self, key: u64) -> (usize, usize) {
        let steps = &self.cuts.as_chunks::<STEP>().0[..(self.directory.len() + STEP - 2) / STEP];
        let (mut before, mut rest) = (0, steps.len());
        while rest > 1 {
            let half = rest / 2;
            before += sign(steps[before + half][0].wrapping_sub(key)) * half;
            rest -= half;
        }
        (before, steps.get(before).map_or(0, |step| count_below(step, key)))
    }

    #[inline]
    fn lower_bound(&self, key: u64) -> Position {
        let key = key.min(NEVER);
        let place = match self.directory.len() {
            0 => return Position { place: 0, at: 0 },
            1 => 0,
            _ => self.place(key),
        };
        Position { place, at: self.block(place).below(key) }
    }

    #[inline]
    fn step_back(&self, Position { place, at }: Position) -> Option<Position> {
        if at > 0 {
            return Some(Position { place, at: at - 1 });
        }
        let place = place.checked_sub(1)?;
        Some(Position { place, at: self.block(place).len as usize - 1 })
    }

    /// The request before the one at `position`.
    #[inline]
    fn before_that(&self, position: Position) -> Option<RequestId> {
        self.get(self.step_back(position)?)
    }

    /// Of the requests with the largest key before `position`, the one that was inserted first.
    #[inline]
    fn first_below(&self, position: Position) -> Option<RequestId> {
        let latest = self.step_back(position)?;
        let Entry { key, id } = self.entry(latest)?;
        let earlier = self.step_back(latest).and_then(|earlier| self.entry(earlier));
        if earlier.is_some_and(|earlier| earlier.key == key) {
            self.at_or_after(key)
        } else {
            Some(RequestId(id))
        }
    }

    #[inline]
    fn position(&self, request: RequestId) -> Position {
        let home = self.home[request.index()];
        assert!(home != NIL, "{request} is not sorted in");
        let block = &self.blocks[home as usize];
        Position { place: block.place as usize, at: block.find(request.0) }
    }
}

/// Requests in key order, with their keys.
pub struct Iter<'a> {
    sorted: &'a Sorted,
    next: Position,
}

impl Iterator for Iter<'_> {
    type Item = (u64, RequestId);
    fn next(&mut self) -> Option<Self::Item> {
        let listed = self.sorted.directory.get(self.next.place)?;
        if self.next.at >= self.sorted.blocks[*listed as usize].len as usize {
            self.next = Position { place: self.next.place + 1, at: 0 };
        }
        let entry = self.sorted.entry(self.next)?;
        self.next.at += 1;
        Some((entry.key, RequestId(entry.id)))
    }
}
