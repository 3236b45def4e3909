//! Which queue is next: those that have requests and not the disk, by class and then by key.
//!
//! A key is a time: when a queue gets it, plus what the other queues may be given before it, less what
//! was left of its last slice.

use alloc::vec::Vec;

use super::queues::Index;
use crate::collections::{Heap, OutOfMemory, table};
use crate::request::Class;
use crate::units::{Duration, Instant, RequestId};

/// Linux's `CFQ_IDLE_DELAY`: a queue of the idle class is this much behind the last one.
const IDLE_DELAY: i64 = Duration::from_ms(200).0 as i64;
/// Who preempts is this much before the first one.
pub(super) const FRONT: i64 = Duration::from_s(1).0 as i64;

/// The lower bits of a key are its time; the upper ones its class.
const TIME_BITS: u32 = 62;
/// Keys may be earlier than the host's origin of time.
const ORIGIN: i64 = 1 << 60;

/// A time as a part of a key. Far beyond any run, all are the same.
#[inline]
pub(super) fn key_at(class: Class, time: i64) -> u64 {
    let latest = (1 << TIME_BITS) - 1;
    let time = time.saturating_add(ORIGIN).clamp(0, latest) as u64;
    (class as u64) << TIME_BITS | time
}

/// The time in a key.
#[inline]
pub(super) fn time_of(key: u64) -> i64 {
    (key & ((1 << TIME_BITS) - 1)) as i64 - ORIGIN
}

/// Whether two keys are of one class.
pub(super) fn same_class(one: u64, other: u64) -> bool {
    one >> TIME_BITS == other >> TIME_BITS
}

/// The queues that have requests, but not the disk: Linux's service tree.
pub(super) struct ServiceTree {
    heap: Heap,
    /// By queue: its key while it has requests, else 0.
    keys: Vec<u64>,
}

impl ServiceTree {
    pub(super) fn new(queues: usize) -> Result<ServiceTree, OutOfMemory> {
        Ok(ServiceTree { heap: Heap::new(queues)?, keys: table(queues, 0)? })
    }

    pub(super) fn first(&self) -> Option<(u64, Index)> {
        self.heap.first().map(|(key, RequestId(index))| (key, index))
    }

    /// All of them, in no particular order.
    pub(super) fn iter(&self) -> impl Iterator<Item = Index> + '_ {
        self.heap.iter().map(|(_, RequestId(index))| index)
    }

    /// The queue `index` has `key` from now on; 0 if it has no requests any more.
    pub(super) fn set_key(&mut self, index: Index, key: u64) {
        self.keys[index as usize] = key;
    }

    /// The queue `index` comes in by its key.
    pub(super) fn insert(&mut self, index: Index) {
        self.heap.insert(self.keys[index as usize], RequestId(index));
    }

    /// The queue `index` has the disk.
    pub(super) fn remove(&mut self, index: Index) {
        self.heap.remove(RequestId(index));
    }

    /// The key that `index`, of the idle class, gets now: behind the last of all others; if that is none,
    /// behind now. `active` has the disk, and may have more requests.
    pub(super) fn idle_key(&self, now: Instant, index: Index, active: Option<Index>) -> u64 {
        let key = |queue: Index| self.keys[queue as usize];
        let others = self.iter().chain(active).filter(|other| *other != index);
        let last = others.map(key).filter(|key| *key != 0).max();
        // A queue that has the disk and more requests has a key: it may itself be the last.
        let own = active.filter(|active| *active == index).map(key);
        let after = last.filter(|last| own.is_none_or(|own| own < *last)).map_or(now.0 as i64, time_of);
        key_at(Class::Idle, after.saturating_add(IDLE_DELAY))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_sort_by_class_and_then_by_time() {
        let keys = [
            key_at(Class::RealTime, 5_000_000_000),
            key_at(Class::BestEffort, -3_000_000_000),
            key_at(Class::BestEffort, 7),
            key_at(Class::Idle, 0),
        ];
        assert!(keys.is_sorted());
        assert_eq!(keys.map(time_of), [5_000_000_000, -3_000_000_000, 7, 0]);
        assert!(same_class(keys[1], keys[2]) && !same_class(keys[2], keys[3]));
    }
}
