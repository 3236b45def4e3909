//! B-WF2Q+: which queue is next, by virtual time.
//!
//! Each class has a virtual time, which advances with service divided by the weights of all that are
//! there. A queue is to be served from its start to its finish: the start plus its budget divided by its
//! weight. Of those whose start has come the one with the least finish is next; ties go to the one that
//! came first. If no start has come, virtual time jumps to the least. A queue that has nothing to do is
//! remembered until virtual time has passed its finish, so that it cannot begin a second share early.

use alloc::vec::Vec;

use super::entity::{Entity, Listed, later, virtual_time};
use super::tree::ServiceTree;
use crate::collections::{OutOfMemory, table};
use crate::request::Class;
use crate::units::{Duration, Instant};

/// Linux's `BFQ_CL_IDLE_TIMEOUT`: so often the idle class may go first.
pub(super) const IDLE_CLASS_EVERY: Duration = Duration::from_ms(200);

/// All queues by virtual time.
pub(super) struct Wf2q {
    pub(super) entities: Vec<Entity>,
    trees: [ServiceTree; 3],
    /// Weights of those that have requests, waiting or in flight, and are not raised, with how many have
    /// each, least weight first.
    weights: Vec<(u64, u32)>,
    /// How many of each class have something to do.
    busy: [u32; 3],
    pub(super) in_service: Option<usize>,
    /// Who is next, as far as is known.
    pub(super) next: Option<usize>,
    /// How many were inserted into trees.
    sequence: u64,
    /// When it was last looked whether the idle class may go first.
    idle_looked: Option<Instant>,
}

impl Wf2q {
    pub(super) fn new(queues: usize) -> Result<Wf2q, OutOfMemory> {
        let mut weights = Vec::new();
        weights.try_reserve_exact(queues + 1).map_err(|_| OutOfMemory)?;
        Ok(Wf2q {
            entities: table(queues, Entity::default())?,
            trees: [ServiceTree::new(queues)?, ServiceTree::new(queues)?, ServiceTree::new(queues)?],
            weights,
            busy: [0; 3],
            in_service: None,
            next: None,
            sequence: 0,
            idle_looked: None,
        })
    }

    /// How many queues have something to do.
    pub(super) fn busy(&self) -> u32 {
        self.busy.iter().sum()
    }

    /// Whether queues differ, so that only idling keeps their shares: they are of different classes, or
    /// of different weights and `queue` has not the least.
    pub(super) fn differs(&self, queue: usize) -> bool {
        let classes = self.busy.iter().filter(|count| **count > 0).count();
        classes > 1 || self.weights.len() > 1 && self.weights[0].0 != self.entities[queue].counted
    }

    /// The weight of `queue` counts, if it did not.
    fn count(&mut self, queue: usize) {
        let entity = &mut self.entities[queue];
        if entity.counted != 0 {
            return;
        }
        entity.counted = entity.weight;
        let weight = entity.weight;
        let at = self.weights.partition_point(|(held, _)| *held < weight);
        match self.weights.get_mut(at) {
            Some((held, count)) if *held == weight => *count += 1,
            _ => self.weights.insert(at, (weight, 1)),
        }
    }

    /// The weight of `queue` counts no longer, as nothing of it waits or is in flight.
    pub(super) fn uncount(&mut self, queue: usize) {
        let weight = core::mem::take(&mut self.entities[queue].counted);
        if let Some(at) = self.weights.iter().position(|(held, _)| *held == weight) {
            self.weights[at].1 -= 1;
            if self.weights[at].1 == 0 {
                self.weights.remove(at);
            }
        }
    }

    /// `queue` has something to do from now on, or no longer.
    fn set_busy(&mut self, queue: usize, busy: bool) {
        let entity = &mut self.entities[queue];
        if core::mem::replace(&mut entity.busy, busy) != busy {
            let count = &mut self.busy[entity.class as usize];
            *count = if busy { *count + 1 } else { *count - 1 };
        }
    }

    /// While it waits for its turn, `queue` gets a budget of at least `budget`.
    pub(super) fn renew_budget(&mut self, now: Instant, queue: usize, budget: u64) {
        let entity = &mut self.entities[queue];
        let budget = budget.max(entity.service);
        if core::mem::replace(&mut entity.budget, budget) != budget {
            self.requeue(now, queue, false);
        }
    }

    /// Whether `queue` is raised takes effect at once. Returns the class of `queue`.
    pub(super) fn apply_raise(&mut self, queue: usize) -> Class {
        let Entity { weight, own, raised, class, .. } = self.entities[queue];
        if (weight > own) != (raised > 1) {
            self.reweigh(queue, false);
        }
        class
    }

    /// The virtual time of the class of `queue`.
    fn time(&self, queue: usize) -> u64 {
        self.trees[self.entities[queue].class as usize].time
    }

    /// The queues that wait to be served, in no particular order.
    pub(super) fn active(&self) -> impl Iterator<Item = usize> + '_ {
        self.trees.iter().flat_map(|tree| tree.active.iter())
    }

    /// Of the queues that wait to be served and suit, the one inserted last.
    pub(super) fn newest(&self, suits: impl Fn(usize) -> bool) -> Option<usize> {
        let fit = self.active().filter(|queue| suits(*queue));
        fit.max_by_key(|queue| self.entities[*queue].sequence)
    }

    fn insert(&mut self, queue: usize, listed: Listed) {
        self.sequence += 1;
        let entity = &mut self.entities[queue];
        (entity.listed, entity.sequence) = (listed, self.sequence);
        let tree = &mut self.trees[entity.class as usize];
        if listed == Listed::Active { &mut tree.active } else { &mut tree.idle }
            .insert(&self.entities, queue);
    }

    fn extract(&mut self, queue: usize) {
        let entity = &mut self.entities[queue];
        let tree = &mut self.trees[entity.class as usize];
        let tree = match core::mem::take(&mut entity.listed) {
            Listed::No => return,
            Listed::Active => &mut tree.active,
            Listed::Idle => &mut tree.idle,
        };
        tree.remove(&self.entities, queue);
    }

    /// The weight of `queue` no longer counts.
    fn forget(&mut self, queue: usize) {
        let Entity { weight, class, .. } = self.entities[queue];
        self.entities[queue].weighs = false;
        self.trees[class as usize].weights -= weight;
    }

    /// Forgets one queue whose finish has passed. If nobody is to be served, virtual time may have to
    /// wait for the last of those that are remembered.
    fn forget_idle(&mut self, class: Class) {
        let tree = &mut self.trees[class as usize];
        let Some(first) = tree.idle.iter().next() else { return };
        if tree.active.is_empty()
            && let Some(last) = tree.idle.iter().next_back().map(|last| self.entities[last].finish)
            && !later(last, tree.time)
        {
            tree.time = last;
        }
        if !later(self.entities[first].finish, tree.time) {
            self.extract(first);
            self.forget(first);
        }
    }

    /// Makes the weight what is wanted, and the class too if `class_too`.
    fn reweigh(&mut self, queue: usize, class_too: bool) {
        let entity = &mut self.entities[queue];
        if !entity.changed {
            return;
        }
        let (before, old_class) = (entity.weight, entity.class);
        entity.own = entity.wanted;
        if class_too {
            entity.class = entity.wanted_class;
        }
        entity.changed = entity.class != entity.wanted_class;
        entity.weight = entity.own * entity.raised.max(1);
        let Entity { weight, class, raised, .. } = *entity;
        if before != weight {
            self.uncount(queue);
            if raised <= 1 {
                self.count(queue);
            }
        }
        self.trees[old_class as usize].weights -= before;
        self.trees[class as usize].weights += weight;
        if class != old_class {
            if self.entities[queue].busy {
                self.busy[old_class as usize] -= 1;
                self.busy[class as usize] += 1;
            }
            self.entities[queue].start = self.trees[class as usize].time;
        }
    }

    /// `queue` has something to do. `waited`: it emptied when it could not have more to do. Then it
    /// starts where it finished, though virtual time has passed that. If it `counts`, shares depend on its weight.
    pub(super) fn activate(&mut self, now: Instant, queue: usize, waited: bool, counts: bool) {
        let Entity { finish, class, listed, weight, .. } = self.entities[queue];
        let time = self.trees[class as usize].time;
        let back = waited && later(time, finish);
        let earliest = if back { finish } else { time };
        if listed == Listed::Idle {
            self.extract(queue);
            self.entities[queue].start = if later(earliest, finish) { earliest } else { finish };
        } else {
            self.entities[queue].start = earliest;
            self.entities[queue].weighs = true;
            self.trees[class as usize].weights += weight;
        }
        self.enqueue(queue, back);
        self.renew_next(now, Some(queue), false);
        self.set_busy(queue, true);
        if counts {
            self.count(queue);
        }
    }

    /// `queue`, which was in service, waits for its turn.
    pub(super) fn put_back(&mut self, now: Instant, queue: usize) {
        let entity = &mut self.entities[queue];
        entity.start = entity.start.wrapping_add(virtual_time(entity.service, entity.weight.max(1)));
        self.requeue(now, queue, true);
        self.in_service = None;
    }

    fn requeue(&mut self, now: Instant, queue: usize, expires: bool) {
        self.extract(queue);
        self.enqueue(queue, false);
        self.renew_next(now, Some(queue), expires);
    }

    /// Lists `queue` from its start on. One that was shifted back must not finish in the past, or it
    /// would take more than its share: its times move up, a raised one's less.
    fn enqueue(&mut self, queue: usize, back: bool) {
        self.reweigh(queue, true);
        let time = self.time(queue);
        let entity = &mut self.entities[queue];
        entity.finish = entity.start.wrapping_add(virtual_time(entity.budget, entity.weight));
        if back && later(time, entity.finish) {
            let behind = time.wrapping_sub(entity.finish) / entity.raised.max(1);
            entity.start = entity.start.wrapping_add(behind);
            entity.finish = entity.finish.wrapping_add(behind);
        }
        self.insert(queue, Listed::Active);
    }

    /// `queue` has nothing to do any more, and if it is `done` nothing in flight. The tree remembers it if its
    /// finish is to come.
    pub(super) fn deactivate(&mut self, now: Instant, queue: usize, expires: bool, done: bool) {
        self.set_busy(queue, false);
        if done {
            self.uncount(queue);
        }
        let time = self.time(queue);
        // Where it is inserted depends on its old finish.
        self.extract(queue);
        let entity = &mut self.entities[queue];
        entity.finish = entity.start.wrapping_add(virtual_time(entity.service, entity.weight.max(1)));
        let finish = entity.finish;
        if self.in_service == Some(queue) {
            self.in_service = None;
        } else {
            entity.service = 0;
        }
        if later(finish, time) {
            self.insert(queue, Listed::Idle);
        } else {
            self.forget(queue);
        }
        if self.next == Some(queue) {
            self.renew_next(now, None, expires);
        }
    }

    /// `queue` was served.
    pub(super) fn serve(&mut self, queue: usize, sectors: u64) {
        let entity = &mut self.entities[queue];
        entity.service += sectors;
        let class = entity.class;
        let tree = &mut self.trees[class as usize];
        tree.time = tree.time.wrapping_add(virtual_time(sectors, tree.weights.max(1)));
        if !tree.idle.is_empty() {
            self.forget_idle(class);
        }
    }

    /// Takes the next queue into service.
    pub(super) fn take_next(&mut self, now: Instant) -> Option<usize> {
        let queue = self.next?;
        self.in_service = Some(queue);
        self.extract(queue);
        self.renew_next(now, None, false);
        Some(queue)
    }

    /// Finds out who is next. If `arrived` was listed and goes before who was next, it is clear.
    fn renew_next(&mut self, now: Instant, arrived: Option<usize>, expires: bool) {
        if let Some(arrived) = arrived
            && self.next != Some(arrived)
        {
            let (new, time) = (self.entities[arrived], self.time(arrived));
            let wins = self.next.is_none_or(|next| {
                let old = self.entities[next];
                new.class == old.class && !later(new.start, time) && later(old.finish, new.finish)
            });
            if wins {
                self.next = Some(arrived);
                return;
            }
        }
        self.next = self.look_up(now, expires);
    }

    fn look_up(&mut self, now: Instant, expires: bool) -> Option<usize> {
        let looked = *self.idle_looked.get_or_insert(now);
        if looked + IDLE_CLASS_EVERY < now {
            self.idle_looked = Some(now);
            if let Some(queue) = self.first_of(Class::Idle, expires) {
                return Some(queue);
            }
        }
        let classes = [Class::RealTime, Class::BestEffort, Class::Idle];
        classes.into_iter().find_map(|class| self.first_of(class, expires))
    }

    /// The first queue of a class. While another is in service virtual time stays.
    fn first_of(&mut self, class: Class, expires: bool) -> Option<usize> {
        let tree = &mut self.trees[class as usize];
        if tree.active.is_empty() {
            return None;
        }
        if let Some(queue) = tree.active.first_started(&self.entities, tree.time) {
            return Some(queue);
        }
        let time = tree.active.least_start(&self.entities)?;
        let stays = self.in_service.is_some() && !expires;
        if !stays {
            tree.time = time;
            self.forget_idle(class);
        }
        self.trees[class as usize].active.first_started(&self.entities, time)
    }

    /// `queue` is somebody else's from now on, of this class and weight.
    pub(super) fn replace(&mut self, queue: usize, class: Class, weight: u64) {
        self.extract(queue);
        if self.entities[queue].weighs {
            self.forget(queue);
        }
        self.uncount(queue);
        self.entities[queue] = Entity { busy: self.entities[queue].busy, ..Entity::new(class, weight) };
    }
}
