//! Requests in order of a key, usually their first sector. Equal keys keep their order of insertion.
//!
//! A list of small sorted blocks with a directory of their first keys. A search reads the directory
//! and one block; an insertion or removal moves at most one block's entries. That is dense memory
//! and few mispredicted branches: at the depths that queues have, faster than a balanced tree.
//!
//! Two neighbouring blocks always hold more than [`BLOCK`]/2 entries together (else they are
//! joined), which bounds the number of blocks and so the memory.

use alloc::vec::Vec;

use super::{NIL, OutOfMemory, table};
use crate::units::RequestId;

/// Entries in a block.
const BLOCK: usize = 32;

#[derive(Clone)]
struct Block {
    keys: [u64; BLOCK],
    ids: [u32; BLOCK],
    len: u32,
    /// Where the directory lists this block.
    place: u32,
}

const EMPTY: Block = Block { keys: [0; BLOCK], ids: [0; BLOCK], len: 0, place: 0 };

impl Block {
    #[inline]
    fn keys(&self) -> &[u64] {
        &self.keys[..self.len as usize]
    }

    #[inline]
    fn ids(&self) -> &[u32] {
        &self.ids[..self.len as usize]
    }

    /// Opens a gap at `at` and fills it.
    #[inline]
    fn insert(&mut self, at: usize, key: u64, id: u32) {
        let len = self.len as usize;
        self.keys.copy_within(at..len, at + 1);
        self.ids.copy_within(at..len, at + 1);
        self.keys[at] = key;
        self.ids[at] = id;
        self.len += 1;
    }

    #[inline]
    fn remove(&mut self, at: usize) {
        let len = self.len as usize;
        self.keys.copy_within(at + 1..len, at);
        self.ids.copy_within(at + 1..len, at);
        self.len -= 1;
    }
}

/// Requests in order of a key.
pub struct Sorted {
    blocks: Vec<Block>,
    /// The blocks in use, in key order.
    directory: Vec<u32>,
    /// The first key of each block in use, in key order.
    firsts: Vec<u64>,
    /// Blocks not in use.
    spare: Vec<u32>,
    /// The block that holds each request.
    home: Vec<u32>,
    len: usize,
}

/// A position: a place in the directory and an index into that block.
#[derive(Clone, Copy)]
struct Position {
    place: usize,
    at: usize,
}

impl Sorted {
    /// A collection for request ids below `capacity`.
    ///
    /// # Errors
    /// [`OutOfMemory`] if the tables cannot be allocated.
    pub fn new(capacity: usize) -> Result<Self, OutOfMemory> {
        let most = 2 * (2 * capacity / BLOCK + 1) + 1;
        let mut spare = table(most, 0u32)?;
        for (index, block) in spare.iter_mut().enumerate() {
            *block = index as u32;
        }
        let mut directory = Vec::new();
        directory.try_reserve_exact(most).map_err(|_| OutOfMemory)?;
        let mut firsts = Vec::new();
        firsts.try_reserve_exact(most).map_err(|_| OutOfMemory)?;
        Ok(Sorted {
            blocks: table(most, EMPTY)?,
            directory,
            firsts,
            spare,
            home: table(capacity, NIL)?,
            len: 0,
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
        assert!(!self.contains(request), "{request} is already sorted in");
        self.len += 1;
        if self.directory.is_empty() {
            let block = self.take_block(0, key);
            self.home[request.index()] = block;
            return self.blocks[block as usize].insert(0, key, request.0);
        }
        let mut place = self.firsts.partition_point(|first| *first <= key).saturating_sub(1);
        let mut block = self.directory[place];
        if self.blocks[block as usize].len as usize == BLOCK {
            self.split(place);
            if self.firsts[place + 1] <= key {
                place += 1;
                block = self.directory[place];
            }
        }
        let entries = &mut self.blocks[block as usize];
        let at = entries.keys().partition_point(|held| *held <= key);
        entries.insert(at, key, request.0);
        if at == 0 {
            self.firsts[place] = key;
        }
        self.home[request.index()] = block;
    }

    /// Takes `request` out.
    #[inline]
    pub fn remove(&mut self, request: RequestId) {
        let Position { place, at } = self.position(request);
        self.home[request.index()] = NIL;
        self.len -= 1;
        let block = &mut self.blocks[self.directory[place] as usize];
        block.remove(at);
        let left = block.len as usize;
        if left == 0 {
            return self.release(place);
        }
        if at == 0 {
            self.firsts[place] = block.keys[0];
        }
        if left <= BLOCK / 2 {
            self.join_around(place, left);
        }
    }

    /// Moves `request` to `key`, behind its new equals. False if it is there already.
    pub fn rekey(&mut self, request: RequestId, key: u64) -> bool {
        let moves = self.key(request) != key;
        if moves {
            self.remove(request);
            self.insert(key, request);
        }
        moves
    }

    /// Takes `request` out and returns the one after it.
    #[inline]
    pub fn remove_before_next(&mut self, request: RequestId) -> Option<RequestId> {
        let next = self.next(request);
        self.remove(request);
        next
    }

    /// The key under which `request` is held.
    pub fn key(&self, request: RequestId) -> u64 {
        let position = self.position(request);
        self.blocks[self.directory[position.place] as usize].keys[position.at]
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
        self.get(self.lower_bound(key))
    }

    /// The last request whose key is below `key`.
    #[inline]
    pub fn before(&self, key: u64) -> Option<RequestId> {
        self.get(self.step_back(self.lower_bound(key))?)
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
        self.get(self.step_back(self.position(request))?)
    }

    /// All requests in key order, with their keys.
    pub fn iter(&self) -> Iter<'_> {
        Iter { sorted: self, next: Position { place: 0, at: 0 } }
    }

    /// The requests whose key is at least `key`, in order, with their keys.
    pub fn iter_from(&self, key: u64) -> Iter<'_> {
        Iter { sorted: self, next: self.lower_bound(key) }
    }

    /// The requests whose key is below `key`, largest first, with their keys.
    pub fn iter_back_from(&self, key: u64) -> impl Iterator<Item = (u64, RequestId)> + '_ {
        let mut at = self.step_back(self.lower_bound(key));
        core::iter::from_fn(move || {
            let position = at?;
            at = self.step_back(position);
            self.entry(position)
        })
    }

    #[inline]
    fn get(&self, position: Position) -> Option<RequestId> {
        self.entry(position).map(|(_, id)| id)
    }

    /// The entry at `position`, which may be one past the end of its block.
    #[inline]
    fn entry(&self, Position { place, at }: Position) -> Option<(u64, RequestId)> {
        let block = &self.blocks[*self.directory.get(place)? as usize];
        if let Some(id) = block.ids().get(at) {
            return Some((block.keys[at], RequestId(*id)));
        }
        let block = &self.blocks[*self.directory.get(place + 1)? as usize];
        Some((block.keys[0], RequestId(block.ids[0])))
    }

    #[inline]
    fn lower_bound(&self, key: u64) -> Position {
        let place = self.firsts.partition_point(|first| *first < key).saturating_sub(1);
        let Some(block) = self.directory.get(place) else { return Position { place: 0, at: 0 } };
        let at = self.blocks[*block as usize].keys().partition_point(|held| *held < key);
        Position { place, at }
    }

    #[inline]
    fn step_back(&self, Position { place, at }: Position) -> Option<Position> {
        if at > 0 {
            return Some(Position { place, at: at - 1 });
        }
        let place = place.checked_sub(1)?;
        let block = &self.blocks[self.directory[place] as usize];
        Some(Position { place, at: block.len as usize - 1 })
    }

    #[inline]
    fn position(&self, request: RequestId) -> Position {
        let home = self.home[request.index()];
        assert!(home != NIL, "{request} is not sorted in");
        let block = &self.blocks[home as usize];
        let at = block.ids().iter().position(|id| *id == request.0).unwrap_or(0);
        Position { place: block.place as usize, at }
    }

    /// Puts a spare block into the directory at `place`.
    fn take_block(&mut self, place: usize, first: u64) -> u32 {
        let Some(block) = self.spare.pop() else { unreachable!("blocks are bounded by joining") };
        self.directory.insert(place, block);
        self.firsts.insert(place, first);
        self.renumber(place);
        block
    }

    /// Takes the empty block at `place` out of the directory.
    fn release(&mut self, place: usize) {
        let block = self.directory.remove(place);
        self.firsts.remove(place);
        self.spare.push(block);
        self.renumber(place);
    }

    fn renumber(&mut self, from: usize) {
        for place in from..self.directory.len() {
            self.blocks[self.directory[place] as usize].place = place as u32;
        }
    }

    /// Moves the upper half of the full block at `place` to a new block behind it.
    fn split(&mut self, place: usize) {
        const HALF: usize = BLOCK / 2;
        let full = self.directory[place] as usize;
        let first = self.blocks[full].keys[HALF];
        let fresh = self.take_block(place + 1, first);
        let mut moved = core::mem::replace(&mut self.blocks[fresh as usize], EMPTY);
        let source = &mut self.blocks[full];
        moved.place = place as u32 + 1;
        moved.len = HALF as u32;
        moved.keys[..HALF].copy_from_slice(&source.keys[HALF..]);
        moved.ids[..HALF].copy_from_slice(&source.ids[HALF..]);
        source.len = HALF as u32;
        for id in moved.ids() {
            self.home[*id as usize] = fresh;
        }
        self.blocks[fresh as usize] = moved;
    }

    /// Joins the block at `place`, which holds `len`, with a neighbour if both fit half a block.
    fn join_around(&mut self, place: usize, len: usize) {
        let fits = |neighbour: usize| {
            let block = self.directory.get(neighbour).map(|block| &self.blocks[*block as usize]);
            block.is_some_and(|block| block.len as usize + len <= BLOCK / 2)
        };
        if fits(place + 1) {
            self.join(place);
        } else if place > 0 && fits(place - 1) {
            self.join(place - 1);
        }
    }

    /// Appends the block behind `place` to the block at `place`.
    fn join(&mut self, place: usize) {
        let (left, right) = (self.directory[place], self.directory[place + 1] as usize);
        let taken = self.blocks[right].clone();
        let target = &mut self.blocks[left as usize];
        let at = target.len as usize;
        let end = at + taken.len as usize;
        target.keys[at..end].copy_from_slice(taken.keys());
        target.ids[at..end].copy_from_slice(taken.ids());
        target.len = end as u32;
        for id in taken.ids() {
            self.home[*id as usize] = left;
        }
        self.blocks[right].len = 0;
        self.release(place + 1);
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
        let block = &self.sorted.blocks[*self.sorted.directory.get(self.next.place)? as usize];
        if self.next.at >= block.len as usize {
            self.next = Position { place: self.next.place + 1, at: 0 };
        }
        let entry = self.sorted.entry(self.next)?;
        self.next.at += 1;
        Some(entry)
    }
}
