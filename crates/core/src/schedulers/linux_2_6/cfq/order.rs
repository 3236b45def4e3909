//! Which queue is next: those that have requests and not the disk, by class and then by key.
//!
//! A key is a time: when a queue gets it, plus what the other queues may be given before it, less what
//! was left of its last slice. Linux calls this the service tree.

use super::queues::{Index, Queue, Queues};
use super::settings::Settings;
use crate::collections::{Heap, OutOfMemory};
use crate::request::Class;
use crate::units::{Duration, Instant, RequestId};

/// Linux's `CFQ_IDLE_DELAY`: a queue of the idle class is this much behind the last one.
const IDLE_DELAY: i64 = Duration::from_ms(200).0 as i64;
/// Who preempts is this much before the first one.
const FRONT: i64 = Duration::from_s(1).0 as i64;

/// The lower bits of a key are its time; the upper ones its class.
const TIME_BITS: u32 = 62;
/// Keys may be earlier than the host's origin of time.
const ORIGIN: i64 = 1 << 60;

/// A time as a part of a key. Far beyond any run, all are the same.
#[inline]
fn key_at(class: Class, time: i64) -> u64 {
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

/// The queues that have requests, but not the disk.
pub(super) struct Order {
    heap: Heap,
}

impl Order {
    pub(super) fn new(queues: usize) -> Result<Order, OutOfMemory> {
        Ok(Order { heap: Heap::new(queues)? })
    }

    #[inline]
    pub(super) fn first(&self) -> Option<(u64, Index)> {
        self.heap.first().map(|(key, RequestId(index))| (key, index))
    }

    #[inline]
    pub(super) fn insert(&mut self, key: u64, index: Index) {
        self.heap.insert(key, RequestId(index));
    }

    #[inline]
    pub(super) fn remove(&mut self, index: Index) {
        self.heap.remove(RequestId(index));
    }

    /// All of them, in no particular order.
    pub(super) fn iter(&self) -> impl Iterator<Item = Index> + '_ {
        self.heap.iter().map(|(_, RequestId(index))| index)
    }

    /// Moves `index` before all others of its class.
    pub(super) fn move_to_front(&mut self, index: Index, queue: &mut Queue) {
        let Some((first, _)) = self.first() else { return };
        queue.key = key_at(queue.class, time_of(first) - FRONT);
        self.remove(index);
        self.insert(queue.key, index);
    }

    /// The key that `index` gets now. `active` has the disk, and may have more requests.
    #[inline]
    pub(super) fn key(&self, given: Given<'_>, index: Index, now: Instant) -> u64 {
        let queue = &given.queues[index];
        if queue.is_idle_class() {
            return key_at(queue.class, self.idle_time(given, index, now));
        }
        let time = (now.0 as i64).saturating_add(given.offset(queue)).saturating_sub(queue.rest);
        key_at(queue.class, time)
    }

    /// Behind the last of all others; if that is none, behind now.
    fn idle_time(&self, given: Given<'_>, index: Index, now: Instant) -> i64 {
        let others = self.iter().chain(given.active).filter(|other| *other != index);
        let others = others.filter(|other| !given.queues[*other].is_empty());
        let last = others.map(|other| given.queues[other].key).max();
        // A queue that has the disk and more requests has a key: it may itself be the last.
        let own = given.active.filter(|active| *active == index).map(|_| given.queues[index].key);
        match last {
            Some(last) if own.is_none_or(|own| own < last) => time_of(last).saturating_add(IDLE_DELAY),
            _ => (now.0 as i64).saturating_add(IDLE_DELAY),
        }
    }
}

/// What a key follows from.
#[derive(Clone, Copy)]
pub(super) struct Given<'a> {
    pub(super) queues: &'a Queues,
    pub(super) settings: &'a Settings,
    /// Queues that have requests.
    pub(super) busy: usize,
    pub(super) active: Option<Index>,
}

impl Given<'_> {
    /// What the other queues may be given before `queue`: for each, by how much the longest slice is
    /// longer than its own.
    #[inline]
    fn offset(&self, queue: &Queue) -> i64 {
        let longest = self.settings.slice(true, 0).0 as i64;
        let own = self.settings.slice(queue.sync, queue.level).0 as i64;
        (self.busy as i64 - 1).saturating_mul(longest - own)
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
