//! Addresses at which queues that others may share continue, by class: which is nearest to a request?

use crate::collections::{OutOfMemory, Sorted};
use crate::request::Class;
use crate::units::{RequestId, Sector};

/// Queues by class, then by the address of the next request, then by index. Addresses beyond
/// 2^(62 − bits of a queue's index) are equal.
pub(super) struct NextAddresses {
    sorted: Sorted,
    bits: u32,
}

impl NextAddresses {
    pub(super) fn new(queues: usize) -> Result<NextAddresses, OutOfMemory> {
        Ok(NextAddresses { sorted: Sorted::new(queues)?, bits: usize::BITS - queues.leading_zeros() })
    }

    fn key(&self, class: Class, Sector(start): Sector, queue: usize) -> u64 {
        let start = start.min((1 << (62 - self.bits)) - 1);
        (class as u64) << 62 | start << self.bits | queue as u64
    }

    /// Whether it is known where `queue` continues.
    pub(super) fn holds(&self, queue: usize) -> bool {
        self.sorted.contains(RequestId(queue as u32))
    }

    /// `queue` continues there from now on; `None`: others may not share it, or nothing of it waits.
    pub(super) fn set(&mut self, queue: usize, at: Option<(Class, Sector)>) {
        let id = RequestId(queue as u32);
        match (at.map(|(class, start)| self.key(class, start, queue)), self.holds(queue)) {
            (Some(key), true) => _ = self.sorted.rekey(id, key),
            (Some(key), false) => self.sorted.insert(key, id),
            (None, true) => self.sorted.remove(id),
            (None, false) => {}
        }
    }

    /// The queue of `class` nearest to `start`, at most `within` sectors away, among those that are not `left_out`, of
    /// which there are few. Of equally near ones it is the one with the least index.
    pub(super) fn nearest(
        &self,
        class: Class,
        start: Sector,
        within: u64,
        left_out: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let key = self.key(class, start, 0);
        let distance = |held: u64| (held >> self.bits).abs_diff(key >> self.bits);
        let near = |(held, _): &(u64, RequestId)| held >> 62 == key >> 62 && distance(*held) <= within;
        let fits = |(_, id): &(u64, RequestId)| !left_out(id.index());
        let found = |(held, id): (u64, RequestId)| (distance(held), id.index());
        let (before, behind) = self.sorted.iter_around(key);
        let behind = behind.take_while(near).find(fits).map(found);
        let before = before.take_while(near).find(fits).and_then(|(held, _)| {
            // The first of those that continue there.
            self.sorted.iter_from(held >> self.bits << self.bits).find(fits).map(found)
        });
        [before, behind].into_iter().flatten().min().map(|(_, queue)| queue)
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn the_nearest_is_what_a_search_finds() {
        let mut next_addresses = NextAddresses::new(40).unwrap();
        let mut plain: Vec<Option<(Class, Sector)>> = alloc::vec![None; 40];
        let mut state = 5u32;
        let mut random = |below: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 12) % below
        };
        let classes = [Class::RealTime, Class::BestEffort];
        for step in 0..20_000 {
            let queue = random(40) as usize;
            let at = (classes[random(2) as usize], Sector(u64::from(random(60))));
            plain[queue] = (random(3) > 0).then_some(at);
            next_addresses.set(queue, plain[queue]);
            let (class, start) = (classes[random(2) as usize], Sector(u64::from(random(60))));
            let out = [random(40) as usize, random(40) as usize];
            let listed = plain.iter().enumerate().filter(|(queue, _)| !out.contains(queue));
            let near = listed.filter_map(|(queue, at)| at.map(|(class, at)| (class, at, queue)));
            let near =
                near.filter(|(own, ..)| *own == class).map(|(_, at, queue)| (at.distance(start), queue));
            let within = u64::from(random(12));
            let nearest = near.min().filter(|(distance, _)| *distance <= within).map(|(_, queue)| queue);
            let found = next_addresses.nearest(class, start, within, |queue| out.contains(&queue));
            assert_eq!(found, nearest, "step {step}");
        }
    }
}
