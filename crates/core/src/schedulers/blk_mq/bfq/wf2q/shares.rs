//! How unequal the queues are that have something to do: how many of each weight and of each class.

use alloc::vec::Vec;

use crate::collections::{OutOfMemory, table};
use crate::request::Class;

/// Counts of queues.
pub(super) struct Shares {
    /// Weights of those that have requests, waiting or in flight, and are not raised, with how many have
    /// each, least weight first.
    weights: Vec<(u64, u32)>,
    /// Under which weight a queue is counted; 0 if it is not.
    counted: Vec<u64>,
    busy: [u32; 3],
    is_busy: Vec<bool>,
}

impl Shares {
    pub(super) fn new(queues: usize) -> Result<Shares, OutOfMemory> {
        let mut weights = Vec::new();
        weights.try_reserve_exact(queues + 1).map_err(|_| OutOfMemory)?;
        Ok(Shares { weights, counted: table(queues, 0)?, busy: [0; 3], is_busy: table(queues, false)? })
    }

    /// Counts `queue`, unless it is counted.
    pub(super) fn count(&mut self, queue: usize, weight: u64) {
        if self.counted[queue] != 0 {
            return;
        }
        self.counted[queue] = weight;
        let at = self.weights.partition_point(|(held, _)| *held < weight);
        match self.weights.get_mut(at) {
            Some((held, count)) if *held == weight => *count += 1,
            _ => self.weights.insert(at, (weight, 1)),
        }
    }

    /// Counts `queue` no longer.
    pub(super) fn uncount(&mut self, queue: usize) {
        let weight = core::mem::take(&mut self.counted[queue]);
        if let Some(at) = self.weights.iter().position(|(held, _)| *held == weight) {
            self.weights[at].1 -= 1;
            if self.weights[at].1 == 0 {
                self.weights.remove(at);
            }
        }
    }

    /// Whether queues differ, so that only idling keeps their shares: they are of different classes, or
    /// of different weights and that of `queue` is not the least.
    pub(super) fn differ(&self, queue: usize) -> bool {
        let classes = self.busy.iter().filter(|count| **count > 0).count();
        classes > 1 || self.weights.len() > 1 && self.weights[0].0 != self.counted[queue]
    }

    /// How many queues are busy.
    pub(super) fn busy(&self) -> u32 {
        self.busy.iter().sum()
    }

    pub(super) fn is_busy(&self, queue: usize) -> bool {
        self.is_busy[queue]
    }

    /// `queue` is busy from now on, or no longer.
    pub(super) fn set_busy(&mut self, queue: usize, class: Class, busy: bool) {
        if self.is_busy[queue] != busy {
            let count = &mut self.busy[class as usize];
            *count = if busy { *count + 1 } else { *count - 1 };
            self.is_busy[queue] = busy;
        }
    }

    /// `queue` changes its class.
    pub(super) fn moves(&mut self, queue: usize, from: Class, to: Class) {
        if self.is_busy[queue] {
            self.busy[from as usize] -= 1;
            self.busy[to as usize] += 1;
        }
    }
}
