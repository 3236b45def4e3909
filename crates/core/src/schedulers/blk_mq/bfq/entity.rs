//! A queue as B-WF2Q+ sees it: its share, its budget and its virtual times.
//!
//! Virtual times wrap as in Linux: they are compared by their signed difference.

use crate::request::Class;

/// Binary digits of virtual time below one sector at weight 1.
const SHIFT: u32 = 22;
/// What `sectors` of service are in virtual time.
pub(super) const fn virtual_time(sectors: u64, weight: u64) -> u64 {
    (if sectors < 1 << 41 { sectors } else { 1 << 41 } << SHIFT) / weight
}

/// Whether virtual time `a` is after `b`.
pub(super) const fn later(a: u64, b: u64) -> bool {
    a.wrapping_sub(b).cast_signed() > 0
}

/// In which tree of its class a queue is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Listed {
    /// In none: the queue is unknown, or in service.
    #[default]
    No,
    /// Among the queues to be served.
    Active,
    /// Among the queues that have nothing to do, but whose finish is still to come.
    Idle,
}

/// What B-WF2Q+ knows of a queue.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Entity {
    pub(super) start: u64,
    pub(super) finish: u64,
    /// What it may be served when it is next, in sectors.
    pub(super) budget: u64,
    /// What of that it was.
    pub(super) service: u64,
    /// The queue's weight, which is `own` × `raised`; 0 before it was first active.
    pub(super) weight: u64,
    pub(super) own: u64,
    /// What the queue is to weigh, without raising, and its class, from when it is next listed.
    pub(super) wanted: u64,
    pub(super) wanted_class: Class,
    pub(super) class: Class,
    pub(super) changed: bool,
    /// By how much its weight is raised; 0 counts as 1.
    pub(super) raised: u64,
    pub(super) listed: Listed,
    /// How many were inserted into trees before it.
    pub(super) sequence: u64,
    /// The queue's weight counts in its class.
    pub(super) weighs: bool,
    /// The queue has something to do.
    pub(super) busy: bool,
    /// The queue's weight where that counts among those that make queues differ; 0 if it does not.
    pub(super) counted: u64,
}

impl Entity {
    /// A queue of this class and weight that was never active.
    pub(super) fn new(class: Class, weight: u64) -> Entity {
        let (wanted, wanted_class, raised) = (weight, class, 1);
        Entity { wanted, wanted_class, class, own: weight, raised, changed: true, ..Entity::default() }
    }

    /// What is left of its budget; nothing if it was served more.
    pub(super) const fn left(&self) -> u64 {
        self.budget.saturating_sub(self.service)
    }

    /// Whether at least a third of its budget is left.
    pub(super) const fn has_third_left(&self) -> bool {
        self.left() >= self.budget / 3
    }

    /// By how much its weight is raised, as far as that is in force.
    pub(super) fn raised_now(&self) -> u64 {
        (self.weight / self.own.max(1)).max(1)
    }

    /// The queue's virtual finish, in sectors at weight 1.
    pub(super) const fn last_sector(&self) -> u64 {
        self.finish >> SHIFT
    }
}
