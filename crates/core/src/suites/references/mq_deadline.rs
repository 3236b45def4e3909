//! Slow reference for `mq-deadline`, for the oracle suite: one list of all that waits, searched for each
//! question.

use super::*;
use crate::request::{Class, Direction};
use crate::schedulers::blk_mq::mq_deadline::{MqDeadline, Settings};

impl Referenced for MqDeadline {
    fn reference(_: Setup<'_>, settings: Settings) -> Box<dyn Scheduler> {
        let (waiting, in_flight, next) = (Vec::new(), Vec::new(), Vec::new());
        Box::new(Reference { settings, waiting, in_flight, next, turn: (true, 0, 0), sorted: 0 })
    }
}

/// A waiting request.
#[derive(Clone, Copy)]
struct Waiting {
    id: RequestId,
    class: Class,
    write: bool,
    /// Where it was sorted in, and when that was.
    start: u64,
    sorted: u64,
    deadline: u64,
}

struct Reference {
    settings: Settings,
    /// In order of arrival.
    waiting: Vec<Waiting>,
    in_flight: Vec<Class>,
    /// What follows by address, for a class and a direction.
    next: Vec<(Class, bool, RequestId)>,
    /// The batch is one of writes, how much it has sent, and how often reads were preferred.
    turn: (bool, u64, u64),
    sorted: u64,
}

impl Reference {
    fn queued(&self, class: Class) -> bool {
        self.waiting.iter().any(|held| held.class == class) || self.in_flight.contains(&class)
    }

    fn of(&self, class: Class, write: bool) -> impl Iterator<Item = &Waiting> {
        self.waiting.iter().filter(move |held| held.class == class && held.write == write)
    }

    fn next_of(&self, class: Class, write: bool) -> Option<RequestId> {
        self.next.iter().find(|(c, w, _)| (*c, *w) == (class, write)).map(|(_, _, id)| *id)
    }

    fn would_send(&mut self, now: u64, class: Class) -> Option<RequestId> {
        let batch = self.settings.deadline.fifo_batch.0;
        let [reads, writes] = [false, true].map(|write| self.of(class, write).next().is_some());
        if let (Some(next), true) = (self.next_of(class, self.turn.0), self.turn.1 < batch) {
            return Some(next);
        }
        let write = match (reads, writes) {
            (false, false) => return None,
            (true, false) => false,
            (false, true) => true,
            (true, true) => {
                self.turn.2 += 1;
                self.turn.2 > self.settings.deadline.writes_starved.0
            }
        };
        if write {
            self.turn.2 = 0;
        }
        (self.turn.0, self.turn.1) = (write, 0);
        let oldest = *self.of(class, write).next().unwrap();
        if now >= oldest.deadline { Some(oldest.id) } else { self.next_of(class, write).or(Some(oldest.id)) }
    }

    /// Takes `id` out. Whoever follows it by address is next if it is sent, or was to be next.
    fn forget(&mut self, id: RequestId, sent: bool) {
        let gone = *self.waiting.iter().find(|held| held.id == id).unwrap();
        let mut order: Vec<&Waiting> = self.of(gone.class, gone.write).collect();
        order.sort_by_key(|held| (held.start, held.sorted));
        let place = order.iter().position(|held| held.id == id).unwrap();
        let after = order.get(place + 1).map(|held| held.id);
        if sent || self.next_of(gone.class, gone.write) == Some(id) {
            self.next.retain(|(class, write, _)| (*class, *write) != (gone.class, gone.write));
            self.next.extend(after.map(|after| (gone.class, gone.write, after)));
        }
        self.waiting.retain(|held| held.id != id);
    }

    fn send(&mut self, cx: Cx<'_>, id: RequestId) -> Decision {
        self.turn.1 += 1;
        self.forget(id, true);
        self.in_flight.push(cx[id].priority.class);
        Decision::Dispatch(id)
    }
}

impl Scheduler for Reference {
    fn insert(&mut self, cx: Cx<'_>, id: RequestId) {
        let write = cx[id].direction() == Direction::Write;
        let settings = &self.settings.deadline;
        let expire = if write { settings.write_expire } else { settings.read_expire };
        self.sorted += 1;
        self.waiting.push(Waiting {
            id,
            class: cx[id].priority.class,
            write,
            start: cx[id].start.0,
            sorted: self.sorted,
            deadline: cx[id].arrival.0 + expire.0.0,
        });
    }
    fn dispatch(&mut self, cx: Cx<'_>) -> Decision {
        let before = self.turn;
        let now = cx.now.0;
        let classes = [Class::RealTime, Class::BestEffort, Class::Idle];
        let ageing = self.settings.classes.prio_aging_expire.0.0;
        let mut times = Vec::new();
        if classes.iter().filter(|class| self.queued(**class)).count() >= 2 {
            for class in [Class::BestEffort, Class::Idle] {
                let Some(id) = self.would_send(now, class) else { continue };
                if now - cx[id].arrival.0 >= ageing {
                    return self.send(cx, id);
                }
                times.push(cx[id].arrival.0 + ageing);
                for write in [false, true] {
                    times.extend(self.of(class, write).next().map(|oldest| oldest.deadline));
                }
            }
        }
        for class in classes {
            if let Some(id) = self.would_send(now, class) {
                return self.send(cx, id);
            }
            if self.queued(class) {
                break;
            }
        }
        self.turn = before;
        times.retain(|time| *time > now);
        times.into_iter().min().map_or(Decision::Idle, |time| Decision::WaitUntil(Instant(time)))
    }
    fn complete(&mut self, cx: Cx<'_>, id: RequestId) {
        let place = self.in_flight.iter().position(|class| *class == cx[id].priority.class).unwrap();
        self.in_flight.remove(place);
    }
    fn remove(&mut self, _: Cx<'_>, id: RequestId) {
        self.forget(id, false);
    }
    fn grown(&mut self, cx: Cx<'_>, id: RequestId) {
        self.sorted += 1;
        let sorted = self.sorted;
        let held = self.waiting.iter_mut().find(|held| held.id == id).unwrap();
        if held.start != cx[id].start.0 {
            (held.start, held.sorted) = (cx[id].start.0, sorted);
        }
    }
    fn absorbed(&mut self, cx: Cx<'_>, survivor: RequestId, other: RequestId) {
        let place = |id| self.waiting.iter().position(|held| held.id == id).unwrap();
        let (ours, theirs) = (place(survivor), place(other));
        let (own, earlier) = (self.waiting[ours], self.waiting[theirs].deadline);
        if earlier < own.deadline {
            self.waiting.insert(theirs, Waiting { deadline: earlier, ..own });
            let old = self.waiting.iter().rposition(|held| held.id == survivor && held.deadline != earlier);
            self.waiting.remove(old.unwrap());
        }
        self.forget(other, false);
        self.grown(cx, survivor);
    }
    fn adopt(&mut self, cx: Cx<'_>, id: RequestId) {
        self.in_flight.push(cx[id].priority.class);
    }
    fn front_merges(&self) -> bool {
        self.settings.deadline.front_merges
    }
}
