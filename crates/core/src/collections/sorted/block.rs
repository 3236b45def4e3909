//! A few requests in order of a key: what [`Sorted`](super::Sorted) is made of.
//!
//! Searches look at every place and moves move a whole block's worth, whatever is held: hardly a branch
//! depends on the keys, so that few are mispredicted. What is cheap at either end is done there: a queue
//! that is nearly empty should cost next to nothing.

use crate::collections::NIL;

/// Entries in a block. Measured: fewer make the directory long, more make the moves long.
pub(super) const BLOCK: usize = 16;
/// A block that shrinks to this many entries joins a neighbour that has no more.
pub(super) const FEW: usize = 6;

/// The greatest key. A difference between two keys then has its sign in the top bit.
pub(super) const GREATEST: u64 = (1 << 63) - 2;
/// Above all keys.
pub(super) const NEVER: u64 = GREATEST + 1;

/// Whether the processor looks at several keys at a time. Kernels are compiled without.
#[cfg(not(test))]
#[inline]
const fn wide() -> bool {
    VECTORS
}
const VECTORS: bool = cfg!(any(target_feature = "sse2", target_feature = "neon", target_feature = "simd128"));

#[cfg(test)]
std::thread_local! {
    /// A test's thread may do as kernels do.
    pub(crate) static WIDE: core::cell::Cell<bool> = const { core::cell::Cell::new(VECTORS) };
}
#[cfg(test)]
fn wide() -> bool {
    WIDE.get()
}

/// 1 if the first of two keys, whose difference this is, is the smaller one; else 0. Nothing to branch on.
#[inline]
pub(super) const fn sign(difference: u64) -> usize {
    (difference >> 63) as usize
}

/// How many of `keys`, which are in order and whose number is a power of two, are below `key`. None is above [`NEVER`].
#[inline]
pub(super) fn count_below<const N: usize>(keys: &[u64; N], key: u64) -> usize {
    const { assert!(N.is_power_of_two()) }
    if wide() {
        return keys.iter().map(|held| sign(held.wrapping_sub(key))).sum();
    }
    let (mut below, mut half) = (0, N / 2);
    while half > 0 {
        below += usize::from(keys[(below + half - 1) % N] < key) * half;
        half /= 2;
    }
    below + usize::from(keys[below % N] < key)
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
    /// Where one was last taken out. On a sweep upward the next one is there.
    taken: u32,
}

pub(super) const EMPTY: Block =
    Block { keys: [NEVER; 2 * BLOCK], ids: [NIL; 2 * BLOCK], len: 0, place: 0, taken: 0 };

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

    /// Puts `entry` behind all whose key is at most its own. The block has room.
    #[inline]
    pub(super) fn insert(&mut self, entry: Entry) {
        let at = self.below(entry.key + 1);
        if !wide() {
            for place in (at..(self.len as usize).min(BLOCK)).rev() {
                (self.keys[place + 1], self.ids[place + 1]) = (self.keys[place], self.ids[place]);
            }
        } else if at != self.len as usize {
            self.keys.copy_within(at..at + BLOCK, at + 1);
            self.ids.copy_within(at..at + BLOCK, at + 1);
        }
        self.keys[at] = entry.key;
        self.ids[at] = entry.id;
        self.len += 1;
    }

    /// Puts `entry` into this block, which is empty.
    #[inline]
    pub(super) fn only(&mut self, entry: Entry) {
        (self.keys[0], self.ids[0], self.len) = (entry.key, entry.id, 1);
    }

    /// Takes out what is at `at`. Returns its key.
    #[inline]
    pub(super) fn remove(&mut self, at: usize) -> u64 {
        let key = self.keys[at];
        self.taken = at as u32;
        self.len -= 1;
        let last = self.len as usize;
        if wide() && at != last {
            self.keys.copy_within(at + 1..at + 1 + BLOCK, at);
            self.ids.copy_within(at + 1..at + 1 + BLOCK, at);
            return key;
        }
        for place in at..last.min(BLOCK) {
            (self.keys[place], self.ids[place]) = (self.keys[place + 1], self.ids[place + 1]);
        }
        (self.keys[last], self.ids[last]) = (NEVER, NIL);
        key
    }

    /// How many keys are below `key`.
    #[inline]
    pub(super) fn below(&self, key: u64) -> usize {
        let [keys, _] = self.keys.as_chunks::<BLOCK>().0 else { unreachable!("twice as many") };
        count_below(keys, key)
    }

    /// Where `id`, which is here, is.
    #[inline]
    pub(super) fn find(&self, id: u32) -> usize {
        let likely = self.taken as usize % BLOCK;
        if self.ids[likely] == id {
            return likely;
        }
        if !wide() {
            return self.ids[..BLOCK].iter().position(|held| *held == id).unwrap_or(0);
        }
        let places = self.ids[..BLOCK].iter().zip(0u32..);
        places.map(|(held, place)| if *held == id { place } else { 0 }).sum::<u32>() as usize
    }

    /// Takes the entries of `greater`, which are all behind these. The block has room.
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
