//! B-WF2Q+: which queue is next, by virtual time.
//!
//! Each class has a virtual time, which advances with service divided by the weights of all that are
//! there. A queue is to be served from its start to its finish: the start plus its budget divided by its
//! weight. Of those whose start has come the one with the least finish is next, of equals the one that
//! came first; if no start has come, virtual time jumps to the least. A queue that has nothing to do is
//! remembered until virtual time has passed its finish, so that it cannot begin a second share early.

use alloc::vec::Vec;

use super::entity::{Entity, Seat, later, virtual_time};
use super::shares::Shares;
use crate::collections::{OutOfMemory, table};
use crate::request::Class;
use crate::units::{Duration, Instant};

/// Linux's `BFQ_CL_IDLE_TIMEOUT`: so often the idle class may go first.
pub(super) const IDLE_CLASS_EVERY: Duration = Duration::from_ms(200);

/// A queue in a list of its class.
#[derive(Clone, Copy)]
struct Node {
    finish: u64,
    start: u64,
    /// When it was listed, as a count.
    turn: u64,
    queue: u32,
}

/// A class.
struct Tree {
    /// By finish, then by turn.
    active: Vec<Node>,
    idle: Vec<Node>,
    time: u64,
    /// The sum of the weights of all that are here or in service.
    weights: u64,
}

impl Tree {
    fn new(queues: usize) -> Result<Tree, OutOfMemory> {
        let (mut active, mut idle) = (Vec::new(), Vec::new());
        active.try_reserve_exact(queues).map_err(|_| OutOfMemory)?;
        idle.try_reserve_exact(queues).map_err(|_| OutOfMemory)?;
        Ok(Tree { active, idle, time: 0, weights: 0 })
    }
}

fn list(nodes: &mut Vec<Node>, node: Node) {
    let at = nodes.partition_point(|held| !later(held.finish, node.finish));
    nodes.insert(at, node);
}

fn unlist(nodes: &mut Vec<Node>, queue: usize, finish: u64) {
    let from = nodes.partition_point(|held| later(finish, held.finish));
    if let Some(at) = nodes[from..].iter().position(|held| held.queue as usize == queue) {
        nodes.remove(from + at);
    }
}

/// All queues by virtual time.
pub(super) struct Service {
    pub(super) entities: Vec<Entity>,
    trees: [Tree; 3],
    pub(super) shares: Shares,
    pub(super) in_service: Option<usize>,
    /// Who is next, as far as is known.
    pub(super) next: Option<usize>,
    turn: u64,
    /// When it was last looked whether the idle class may go first.
    idle_looked: Option<Instant>,
}

impl Service {
    pub(super) fn new(queues: usize) -> Result<Service, OutOfMemory> {
        Ok(Service {
            entities: table(queues, Entity::default())?,
            trees: [Tree::new(queues)?, Tree::new(queues)?, Tree::new(queues)?],
            shares: Shares::new(queues)?,
            in_service: None,
            next: None,
            turn: 0,
            idle_looked: None,
        })
    }

    fn tree(&mut self, class: Class) -> &mut Tree {
        &mut self.trees[class as usize]
    }

    /// The virtual time of the class of `queue`.
    pub(super) fn time(&self, queue: usize) -> u64 {
        self.trees[self.entities[queue].class as usize].time
    }

    /// All that wait to be served, the one listed last first.
    pub(super) fn newest_first(&self, mut suits: impl FnMut(usize) -> bool) -> Option<usize> {
        let nodes = self.trees.iter().flat_map(|tree| &tree.active);
        let fit = nodes.filter(|node| suits(node.queue as usize));
        fit.max_by_key(|node| node.turn).map(|node| node.queue as usize)
    }

    /// All that wait to be served, in no particular order.
    pub(super) fn active(&self) -> impl Iterator<Item = usize> + '_ {
        self.trees.iter().flat_map(|tree| &tree.active).map(|node| node.queue as usize)
    }

    fn sit(&mut self, queue: usize, seat: Seat) {
        let Entity { start, finish, class, .. } = self.entities[queue];
        self.turn += 1;
        let node = Node { finish, start, turn: self.turn, queue: queue as u32 };
        let tree = self.tree(class);
        list(if seat == Seat::Active { &mut tree.active } else { &mut tree.idle }, node);
        self.entities[queue].seat = seat;
    }

    fn rise(&mut self, queue: usize) {
        let Entity { finish, class, seat, .. } = self.entities[queue];
        let tree = self.tree(class);
        match seat {
            Seat::Off => {}
            Seat::Active => unlist(&mut tree.active, queue, finish),
            Seat::Idle => unlist(&mut tree.idle, queue, finish),
        }
        self.entities[queue].seat = Seat::Off;
    }

    /// Its weight no longer counts.
    fn forget(&mut self, queue: usize) {
        let Entity { weight, class, .. } = self.entities[queue];
        self.entities[queue].weighs = false;
        self.tree(class).weights -= weight;
    }

    /// Forgets one queue whose finish has passed. If nobody is to be served, virtual time may have to
    /// wait for the last of those that are remembered.
    fn forget_idle(&mut self, class: Class) {
        let tree = self.tree(class);
        let (Some(first), Some(last)) = (tree.idle.first(), tree.idle.last()) else { return };
        if tree.active.is_empty() && !later(last.finish, tree.time) {
            tree.time = last.finish;
        }
        if !later(first.finish, tree.time) {
            let queue = first.queue as usize;
            self.rise(queue);
            self.forget(queue);
        }
    }

    /// Makes the weight and, if `class_too`, the class what they shall be.
    pub(super) fn reweigh(&mut self, queue: usize, class_too: bool) {
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
            self.shares.uncount(queue);
            if raised <= 1 {
                self.shares.count(queue, weight);
            }
        }
        self.tree(old_class).weights -= before;
        self.tree(class).weights += weight;
        if class != old_class {
            self.shares.moves(queue, old_class, class);
            self.entities[queue].start = self.tree(class).time;
        }
    }

    /// `queue` has something to do. It `waited` if it emptied when it could not have more to do: then it
    /// starts where it finished, though virtual time has passed that.
    pub(super) fn activate(&mut self, now: Instant, queue: usize, waited: bool) {
        let Entity { finish, class, seat, weight, .. } = self.entities[queue];
        if seat == Seat::Active || self.in_service == Some(queue) {
            return self.requeue(now, queue, false);
        }
        let time = self.tree(class).time;
        let back = waited && later(time, finish);
        let earliest = if back { finish } else { time };
        if seat == Seat::Idle {
            self.rise(queue);
            self.entities[queue].start = if later(earliest, finish) { earliest } else { finish };
        } else {
            self.entities[queue].start = earliest;
            self.entities[queue].weighs = true;
            self.tree(class).weights += weight;
        }
        self.enqueue(queue, back);
        self.renew_next(now, Some(queue), false);
    }

    /// `queue` goes on after its service, or with another budget.
    pub(super) fn requeue(&mut self, now: Instant, queue: usize, expires: bool) {
        if self.in_service == Some(queue) {
            let entity = &mut self.entities[queue];
            entity.start = entity.start.wrapping_add(virtual_time(entity.service, entity.weight.max(1)));
        }
        self.rise(queue);
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
        self.sit(queue, Seat::Active);
    }

    /// `queue` has nothing to do any more. It is remembered if it shall be and its finish is to come.
    pub(super) fn deactivate(&mut self, now: Instant, queue: usize, remember: bool, expires: bool) {
        let time = self.time(queue);
        if !self.entities[queue].weighs {
            return;
        }
        // Where it is listed depends on its old finish.
        self.rise(queue);
        let entity = &mut self.entities[queue];
        entity.finish = entity.start.wrapping_add(virtual_time(entity.service, entity.weight.max(1)));
        let finish = entity.finish;
        if self.in_service == Some(queue) {
            self.in_service = None;
        } else {
            entity.service = 0;
        }
        if remember && later(finish, time) {
            self.sit(queue, Seat::Idle);
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
        let tree = self.tree(class);
        tree.time = tree.time.wrapping_add(virtual_time(sectors, tree.weights.max(1)));
        self.forget_idle(class);
    }

    /// Takes the next queue into service.
    pub(super) fn take_next(&mut self, now: Instant) -> Option<usize> {
        let queue = self.next?;
        self.in_service = Some(queue);
        self.rise(queue);
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
        let stays = self.in_service.is_some() && !expires;
        let tree = self.tree(class);
        let mut time = tree.time;
        let come = |tree: &Tree, time: u64| {
            tree.active.iter().find(|node| !later(node.start, time)).map(|node| node.queue as usize)
        };
        if let Some(queue) = come(tree, time) {
            return Some(queue);
        }
        let starts = tree.active.iter().map(|node| node.start);
        time = starts.reduce(|least, start| if later(least, start) { start } else { least })?;
        if !stays {
            tree.time = time;
            self.forget_idle(class);
        }
        come(self.tree(class), time)
    }

    /// `queue` is somebody else's from now on.
    pub(super) fn replace(&mut self, queue: usize, fresh: Entity) {
        self.rise(queue);
        if self.entities[queue].weighs {
            self.forget(queue);
        }
        self.shares.uncount(queue);
        self.entities[queue] = fresh;
    }
}
