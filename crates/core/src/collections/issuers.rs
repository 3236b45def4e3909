//! What is kept of each issuer: a hash table with a fixed number of places.
//!
//! A [`Place`] is the index of an issuer's entry. The lowest free one is given first, and schedulers break ties by it.
//! A new issuer that finds no free place takes the place of the issuer that was entered or released longest ago,
//! among those that are not held. Whoever queues requests by issuer holds an issuer once for each: with as many places as the
//! queue has ids, and one more, there is always a place. Each call takes constant time, but for chains of equal
//! hashes.

use core::ops::{Index, IndexMut};

use alloc::vec::Vec;

use super::{NIL, OutOfMemory, table};
use crate::units::Issuer;

/// Where an issuer is kept, until another takes its place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place(u32);

impl Place {
    /// The place as an index into a table as long as [`Issuers::places`].
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

#[derive(Clone)]
struct Slot<T> {
    who: Issuer,
    taken: bool,
    /// While this is not 0, the place is not given to another, and is not in the list of those that may be.
    holds: u32,
    /// The places before and after this one in that list.
    older: u32,
    newer: u32,
    /// The next place whose issuer has the same hash.
    next: u32,
    value: T,
}

/// A value for each of a limited number of issuers.
pub struct Issuers<T> {
    kept: Vec<Slot<T>>,
    heads: Vec<u32>,
    /// The ends of the list of places that somebody has and that are not held, the one used longest ago first.
    oldest: u32,
    newest: u32,
    free: Free,
}

/// The places that nobody has: a bit for each, and a bit for each word of bits that is not zero.
struct Free {
    bits: Vec<u64>,
    words: Vec<u64>,
}

impl Free {
    /// Places below `places`, all free.
    fn new(places: usize) -> Result<Free, OutOfMemory> {
        let bits = table(places.div_ceil(64), 0)?;
        let words = table(bits.len().div_ceil(64), 0)?;
        let mut free = Free { bits, words };
        (0..places).for_each(|place| free.add(place));
        Ok(free)
    }

    fn add(&mut self, place: usize) {
        self.bits[place / 64] |= 1 << (place % 64);
        self.words[place / 4096] |= 1 << (place / 64 % 64);
    }

    /// The lowest.
    fn lowest(&self) -> Option<usize> {
        let at = self.words.iter().position(|word| *word != 0)?;
        let word = at * 64 + self.words[at].trailing_zeros() as usize;
        Some(word * 64 + self.bits[word].trailing_zeros() as usize)
    }

    fn take_lowest(&mut self) -> Option<usize> {
        let place = self.lowest()?;
        let word = place / 64;
        self.bits[word] &= self.bits[word] - 1;
        if self.bits[word] == 0 {
            self.words[word / 64] &= !(1 << (word % 64));
        }
        Some(place)
    }
}

impl<T: Clone + Default> Issuers<T> {
    /// A table with this many places; at least one.
    ///
    /// # Errors
    /// [`OutOfMemory`] if it cannot be allocated.
    pub fn new(places: usize) -> Result<Self, OutOfMemory> {
        let value = T::default();
        let empty = Slot { who: Issuer(0), taken: false, holds: 0, older: NIL, newer: NIL, next: NIL, value };
        let (places, slots) = (places.max(1), 2 * places.max(1).next_power_of_two());
        let (kept, heads) = (table(places, empty)?, table(slots, NIL)?);
        Ok(Issuers { kept, heads, oldest: NIL, newest: NIL, free: Free::new(places)? })
    }

    /// Number of places.
    pub fn places(&self) -> usize {
        self.kept.len()
    }

    #[inline]
    fn slot(&self, who: Issuer) -> usize {
        (who.0.wrapping_mul(0x9E37_79B9) >> 7) as usize & (self.heads.len() - 1)
    }

    /// Where `who` is kept, if it is.
    #[inline]
    pub fn find(&self, who: Issuer) -> Option<Place> {
        let mut at = self.heads[self.slot(who)];
        // NIL is no place, so that one comparison ends the chain and checks the bound.
        while let Some(kept) = self.kept.get(at as usize) {
            if kept.who == who {
                return Some(Place(at));
            }
            at = kept.next;
        }
        None
    }

    /// What is kept of `who`, if anything.
    #[inline]
    pub fn get(&self, who: Issuer) -> Option<&T> {
        self.find(who).map(|place| &self[place])
    }

    /// Where `who` is kept, which is used now. A new issuer begins with the default value.
    ///
    /// # Panics
    /// If all places are held by others.
    #[inline]
    pub fn enter(&mut self, who: Issuer) -> Place {
        let place = self.find(who).unwrap_or_else(|| self.settle(who));
        if self.kept[place.index()].holds == 0 && self.newest != place.0 {
            self.unlist(place.0);
            self.append(place.0);
        }
        place
    }

    /// `place`, which is not in the list, becomes its newest.
    #[inline]
    fn append(&mut self, place: u32) {
        let before = core::mem::replace(&mut self.newest, place);
        let kept = &mut self.kept[place as usize];
        (kept.older, kept.newer) = (before, NIL);
        match before {
            NIL => self.oldest = place,
            before => self.kept[before as usize].newer = place,
        }
    }

    /// Takes `place` out of the list.
    #[inline]
    fn unlist(&mut self, place: u32) {
        let Slot { older, newer, .. } = self.kept[place as usize];
        match older {
            NIL => self.oldest = newer,
            older => self.kept[older as usize].newer = newer,
        }
        match newer {
            NIL => self.newest = older,
            newer => self.kept[newer as usize].older = older,
        }
    }

    /// Who would lose their place if somebody new were entered now.
    #[inline]
    pub fn next_to_go(&self) -> Option<Place> {
        let full = self.free.lowest().is_none() && self.oldest != NIL;
        full.then_some(Place(self.oldest))
    }

    /// Gives `who`, who is new, a place. Seldom: apart, so that to enter one who is known is short.
    #[cold]
    #[inline(never)]
    fn settle(&mut self, who: Issuer) -> Place {
        let at = match self.free.take_lowest() {
            Some(free) => {
                self.append(free as u32);
                free as u32
            }
            None => {
                assert!(self.oldest != NIL, "every place is held: the table is too small");
                self.vacate(Place(self.oldest));
                self.oldest
            }
        };
        let slot = self.slot(who);
        let next = core::mem::replace(&mut self.heads[slot], at);
        let kept = &mut self.kept[at as usize];
        (kept.who, kept.taken, kept.next, kept.value) = (who, true, next, T::default());
        Place(at)
    }

    /// Empties `place`, if somebody is there.
    fn vacate(&mut self, place: Place) {
        let Slot { who, taken: true, next, .. } = self.kept[place.index()] else { return };
        let slot = self.slot(who);
        if self.heads[slot] == place.0 {
            self.heads[slot] = next;
        } else {
            let mut at = self.heads[slot] as usize;
            while self.kept[at].next != place.0 {
                at = self.kept[at].next as usize;
            }
            self.kept[at].next = next;
        }
        self.kept[place.index()].taken = false;
    }

    /// Nothing is kept of `who` any more, unless it is held.
    pub fn forget(&mut self, who: Issuer) {
        if let Some(place) = self.find(who).filter(|place| self.kept[place.index()].holds == 0) {
            self.vacate(place);
            self.unlist(place.0);
            self.free.add(place.index());
        }
    }

    /// Where `who` is kept, which is entered and held: both at once.
    ///
    /// # Panics
    /// If all places are held by others.
    #[inline]
    pub fn enter_held(&mut self, who: Issuer) -> Place {
        let place = self.find(who).unwrap_or_else(|| self.settle(who));
        self.hold(place);
        place
    }

    /// The place is not given to another until it is released as often as it was held.
    #[inline]
    pub fn hold(&mut self, place: Place) {
        let kept = &mut self.kept[place.index()];
        kept.holds += 1;
        if kept.holds == 1 {
            self.unlist(place.0);
        }
    }

    /// Ends one hold. True if it was the last.
    #[inline]
    pub fn release(&mut self, place: Place) -> bool {
        let holds = &mut self.kept[place.index()].holds;
        *holds -= 1;
        let last = *holds == 0;
        if last {
            self.append(place.0);
        }
        last
    }

    /// Who is kept at `place`.
    #[inline]
    pub fn who(&self, place: Place) -> Issuer {
        self.kept[place.index()].who
    }

    /// All issuers that are kept, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = (Place, Issuer, &T)> + '_ {
        let taken = self.kept.iter().enumerate().filter(|(_, kept)| kept.taken);
        taken.map(|(at, kept)| (Place(at as u32), kept.who, &kept.value))
    }
}

impl<T> Index<Place> for Issuers<T> {
    type Output = T;
    #[inline]
    fn index(&self, place: Place) -> &T {
        &self.kept[place.index()].value
    }
}

impl<T> IndexMut<Place> for Issuers<T> {
    #[inline]
    fn index_mut(&mut self, place: Place) -> &mut T {
        &mut self.kept[place.index()].value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_unused_issuer_that_is_not_held_gives_up_its_place() {
        let mut table: Issuers<u32> = Issuers::new(3).unwrap();
        for who in 1..=3 {
            let place = table.enter(Issuer(who));
            table[place] = who * 10;
        }
        let held = table.find(Issuer(1)).unwrap();
        table.hold(held);
        table.enter(Issuer(2));
        let fresh = table.enter(Issuer(4));
        assert_eq!(table[fresh], 0, "a new issuer starts over");
        assert_eq!(table.get(Issuer(3)), None, "3 was used longest ago, as 1 is held");
        assert_eq!((table.get(Issuer(1)), table.get(Issuer(2))), (Some(&10), Some(&20)));
        table.release(held);
        table.enter(Issuer(5));
        assert_eq!((table.get(Issuer(1)), table.get(Issuer(2))), (Some(&10), None), "1 was released last");
        table.forget(Issuer(4));
        table.enter(Issuer(6));
        assert_eq!(table.iter().count(), 3, "the place that nobody had was taken first");
    }

    /// Schedulers break ties by place, so that another order changes decisions.
    #[test]
    fn the_lowest_free_place_is_given_first_whatever_the_order_of_exits() {
        let mut table: Issuers<u32> = Issuers::new(200).unwrap();
        (0..150).for_each(|who| assert_eq!(table.enter(Issuer(who)).index(), who as usize));
        [70, 3, 149, 130].into_iter().for_each(|who| table.forget(Issuer(who)));
        let places = [1000, 1001, 1002, 1003, 1004].map(|who| table.enter(Issuer(who)).index());
        assert_eq!(places, [3, 70, 130, 149, 150]);
    }

    #[test]
    fn it_holds_what_a_plain_list_would_hold() {
        let mut table: Issuers<u32> = Issuers::new(16).unwrap();
        let mut plain: Vec<(u32, u32)> = Vec::new();
        let mut state = 7u32;
        for step in 0..20_000 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let who = (state >> 16) % 40 * 1024;
            let known = plain.iter().position(|(held, _)| *held == who);
            assert_eq!(table.get(Issuer(who)), known.map(|at| &plain[at].1), "step {step}");
            if state >> 8 & 7 == 0 {
                table.forget(Issuer(who));
                plain.retain(|(held, _)| *held != who);
                continue;
            }
            let value = known.map_or(0, |at| plain.remove(at).1);
            if plain.len() == 16 {
                plain.remove(0);
            }
            plain.push((who, value + 1));
            let place = table.enter(Issuer(who));
            table[place] += 1;
        }
        assert_eq!(table.iter().count(), plain.len());
    }
}
