//! A few requests in order of a key: what [`Sorted`](super::Sorted) is made of.

use crate::collections::NIL;

/// Entries in a block. Measured: fewer make the directory long, more make the moves long.
pub(super) const BLOCK: usize = 48;
/// So many entries that two blocks of them should be one.
pub(super) const FEW: usize = 9;

#[derive(Clone, Copy)]
pub(super) struct Entry {
    pub(super) key: u64,
    pub(super) id: u32,
}

pub(super) const NOTHING: Entry = Entry { key: 0, id: NIL };

#[derive(Clone)]
pub(super) struct Block {
    /// The first `len` of them, from the greatest to the smallest.
    pub(super) entries: [Entry; BLOCK],
    pub(super) len: u32,
    /// Where the directory lists this block.
    pub(super) place: u32,
}

pub(super) const EMPTY: Block = Block { entries: [NOTHING; BLOCK], len: 0, place: 0 };

impl Block {
    #[inline]
    pub(super) fn entries(&self) -> &[Entry] {
        &self.entries[..self.len as usize]
    }

    /// The entry at `index`, counted from the smallest.
    #[inline]
    pub(super) fn get(&self, index: usize) -> Option<Entry> {
        self.entries().get((self.len as usize).wrapping_sub(index + 1)).copied()
    }

    /// Puts `entry` behind all whose key is at most its own. There is room. True if it is now first.
    #[inline]
    pub(super) fn insert(&mut self, entry: Entry) -> bool {
        // From the smallest on, each that belongs before it moves over by one.
        let mut first = true;
        self.len += 1;
        let Some((mut gap, mut rest)) = self.entries[..self.len as usize].split_last_mut() else {
            return false;
        };
        while let Some((next, others)) = rest.split_last_mut() {
            if next.key > entry.key {
                break;
            }
            *gap = *next;
            (gap, rest) = (next, others);
            first = false;
        }
        *gap = entry;
        first
    }

    /// Takes out `id`, which is here, and returns its key and its neighbours here: the one before it,
    /// which is [`NOTHING`] if it was the first, and the one after it.
    #[inline]
    pub(super) fn remove(&mut self, id: u32) -> (u64, Entry, Option<Entry>) {
        // From the smallest on, each moves over by one, until it is its turn.
        let held = &mut self.entries[..self.len as usize];
        self.len -= 1;
        let mut moving = NOTHING;
        for at in (0..held.len()).rev() {
            let before = moving;
            moving = core::mem::replace(&mut held[at], moving);
            if moving.id == id {
                return (moving.key, before, at.checked_sub(1).map(|next| held[next]));
            }
        }
        (0, NOTHING, None)
    }

    /// How many keys are below `key`.
    #[inline]
    pub(super) fn below(&self, key: u64) -> usize {
        self.entries().iter().rev().take_while(|entry| entry.key < key).count()
    }

    /// Where `id`, which is here, is, counted from the smallest.
    #[inline]
    pub(super) fn find(&self, id: u32) -> usize {
        self.entries().iter().rev().position(|entry| entry.id == id).unwrap_or(0)
    }

    /// Takes in the entries of `greater`, which are all behind these. There is room.
    pub(super) fn join(&mut self, greater: &Block) {
        let (own, more) = (self.len as usize, greater.len as usize);
        self.entries.copy_within(..own, more);
        self.entries[..more].copy_from_slice(greater.entries());
        self.len += greater.len;
    }

    /// Moves the greater half of a full block to an empty one.
    pub(super) fn split(&mut self, greater: &mut Block) {
        const HALF: usize = BLOCK / 2;
        greater.entries[..HALF].copy_from_slice(&self.entries[..HALF]);
        self.entries.copy_within(HALF.., 0);
        (self.len, greater.len) = (HALF as u32, HALF as u32);
    }
}
