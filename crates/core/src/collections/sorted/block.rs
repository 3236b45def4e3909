//! A few requests in order of a key: what [`Sorted`](super::Sorted) is made of.
//!
//! Searches look at every place and moves move a whole block's worth, whatever is held: hardly a branch
//! depends on the keys, so that few are mispredicted. What is cheap at either end is done there: a queue
//! that is nearly empty should cost next to nothing.

use crate::collections::NIL;

/// Entries in a block. Measured: fewer make the directory long, more make the moves long.
pub(super) const BLOCK: usize = 16;
/// So many entries that two blocks of them should be one.
pub(super) const FEW: usize = 6;

/// The greatest key. A difference between two keys then has its sign in the top bit.
pub(super) const GREATEST: u64 = (1 << 63) - 2;
/// Above all keys.
pub(super) const NEVER: u64 = GREATEST + 1;

/// How many of `keys` are below `key`. None is above [`NEVER`].
#[inline]
pub(super) fn count_below(keys: &[u64], key: u64) -> usize {
    keys.iter().map(|held| held.wrapping_sub(key) >> 63).sum::<u64>() as usize
}

#[derive(Clone, Copy)]
pub(super) struct Entry {
    pub(super) key: u64,
    pub(super) id: u32,
}

#[derive(Clone)]
pub(super) struct Block {
    /// In order; [`NEVER`] behind the first `len`. Twice as many as are used, so that all moves are as long.
    keys: [u64; 2 * BLOCK],
    /// The request of each key, and [`NIL`] behind them.
    ids: [u32; 2 * BLOCK],
    pub(super) len: u32,
    /// Where the directory lists this block.
    pub(super) place: u32,
}

pub(super) const EMPTY: Block = Block { keys: [NEVER; 2 * BLOCK], ids: [NIL; 2 * BLOCK], len: 0, place: 0 };

impl Block {
    /// The requests, in order.
    #[inline]
    pub(super) fn ids(&self) -> &[u32] {
        &self.ids[..self.len as usize]
    }

    #[inline]
    pub(super) fn get(&self, index: usize) -> Option<Entry> {
        (index < self.len as usize).then(|| Entry { key: self.keys[index], id: self.ids[index] })
    }

    /// Puts `entry` behind all whose key is at most its own. There is room. True if it is now first.
    #[inline]
    pub(super) fn insert(&mut self, entry: Entry) -> bool {
        let at = self.below(entry.key + 1);
        if at != self.len as usize {
            self.keys.copy_within(at..at + BLOCK, at + 1);
            self.ids.copy_within(at..at + BLOCK, at + 1);
        }
        self.keys[at] = entry.key;
        self.ids[at] = entry.id;
        self.len += 1;
        at == 0
    }

    /// Takes out what is at `at`.
    #[inline]
    pub(super) fn remove(&mut self, at: usize) {
        self.len -= 1;
        if at == self.len as usize {
            (self.keys[at], self.ids[at]) = (NEVER, NIL);
        } else {
            self.keys.copy_within(at + 1..at + 1 + BLOCK, at);
            self.ids.copy_within(at + 1..at + 1 + BLOCK, at);
        }
    }

    /// How many keys are below `key`.
    #[inline]
    pub(super) fn below(&self, key: u64) -> usize {
        if self.len == 0 { 0 } else { count_below(&self.keys[..BLOCK], key) }
    }

    /// Where `id`, which is here, is.
    #[inline]
    pub(super) fn find(&self, id: u32) -> usize {
        if self.ids[0] == id {
            return 0;
        }
        let places = self.ids[..BLOCK].iter().zip(0u32..);
        places.map(|(held, place)| if *held == id { place } else { 0 }).sum::<u32>() as usize
    }

    /// Takes the entries of `greater`, which are all behind these. There is room.
    pub(super) fn join(&mut self, greater: &mut Block) {
        let own = self.len as usize;
        self.keys[own..own + BLOCK].copy_from_slice(&greater.keys[..BLOCK]);
        self.ids[own..own + BLOCK].copy_from_slice(&greater.ids[..BLOCK]);
        self.len += greater.len;
        *greater = Block { place: greater.place, ..EMPTY };
    }

    /// Moves the greater half of a full block to an empty one.
    pub(super) fn split(&mut self, greater: &mut Block) {
        const HALF: usize = BLOCK / 2;
        greater.keys[..HALF].copy_from_slice(&self.keys[HALF..BLOCK]);
        greater.ids[..HALF].copy_from_slice(&self.ids[HALF..BLOCK]);
        self.keys[HALF..BLOCK].fill(NEVER);
        self.ids[HALF..BLOCK].fill(NIL);
        (self.len, greater.len) = (HALF as u32, HALF as u32);
    }
}
