//! What the reference knows of processes, and which queues are theirs.

use alloc::vec::Vec;

use super::{Lane, MS, Mean, Process, Reference, mix};
use crate::request::{Class, Priority, Request};
use crate::units::RequestId;

fn add(mean: &mut Mean, sample: u64) {
    mean.0 = (7 * mean.0 + 256) / 8;
    mean.1 = mix(mean.1, sample);
}

fn level_of(priority: Priority) -> i64 {
    if priority.class == Class::Idle { 7 } else { i64::from(priority.level) }
}

impl Reference {
    pub(super) fn owner(&self, id: RequestId) -> Option<(usize, usize)> {
        self.owned.iter().find(|owned| owned.0 == id).unwrap().1
    }

    /// Who issues it.
    pub(super) fn process(&mut self, now: i64, request: &Request) -> usize {
        let who = request.issuer.0;
        let known = self.processes.iter().position(|process| process.who == who && !process.gone);
        let at = known.unwrap_or_else(|| {
            let priority = request.priority;
            self.processes.push(Process {
                who,
                gone: false,
                priority,
                lane: None,
                done: now,
                think: (0, 0, 0),
            });
            self.processes.len() - 1
        });
        if self.processes[at].priority != request.priority {
            self.processes[at].priority = request.priority;
            if let Some(name) = self.processes[at].lane {
                let lane = self.lane_mut(name);
                (lane.class, lane.level) = (request.priority.class, level_of(request.priority));
                lane.window &= lane.class != Class::Idle;
            }
        }
        at
    }

    fn make_lane(&mut self, sync: bool, priority: Priority) -> usize {
        self.names += 1;
        self.lanes.push(Lane {
            name: self.names,
            sync,
            class: priority.class,
            level: level_of(priority),
            by_address: Vec::new(),
            by_arrival: Vec::new(),
            next: None,
            flying: 0,
            key: None,
            key_class: priority.class,
            moved: 0,
            rest: 0,
            window: sync && priority.class != Class::Idle,
            seek: (0, 0, 0),
            position: 0,
            users: 1,
            joins: None,
            coop: false,
            seeky_since: None,
        });
        self.names
    }

    pub(super) fn is_common(lane: &Lane, priority: Priority) -> bool {
        !lane.sync && lane.class == priority.class && lane.level == level_of(priority)
    }

    pub(super) fn common_lane(&mut self, priority: Priority) -> usize {
        let known = self.lanes.iter().find(|lane| Self::is_common(lane, priority)).map(|lane| lane.name);
        known.unwrap_or_else(|| self.make_lane(false, priority))
    }

    /// The queue for the next synchronous request of the process.
    pub(super) fn own_lane(&mut self, now: i64, who: usize, request: Request) -> usize {
        let Some(mut name) = self.processes[who].lane else {
            let name = self.make_lane(true, request.priority);
            self.processes[who].lane = Some(name);
            return name;
        };
        let lane = self.lane_mut(name);
        if lane.coop && lane.seeky_since.is_some_and(|since| now - since > 1000 * MS) {
            if lane.users > 1 {
                self.let_go(name);
                self.processes[who].lane = None;
                return self.own_lane(now, who, request);
            }
            (lane.coop, lane.seeky_since) = (false, None);
        }
        if let Some(target) = self.lane(name).joins {
            self.lane_mut(name).users -= 1;
            self.lane_mut(target).coop = true;
            self.processes[who].lane = Some(target);
            name = target;
        }
        name
    }

    /// One user less for the queue, and for those that it was to join.
    fn let_go(&mut self, name: usize) {
        let mut at = Some(name);
        while let Some(name) = at {
            self.lane_mut(name).users -= 1;
            at = self.lane(name).joins;
        }
    }

    /// The processes of two queues are to share one of them.
    pub(super) fn marry(&mut self, one: usize, other: usize) {
        let mut chain = alloc::vec![other];
        while let Some(next) = self.lane(*chain.last().unwrap()).joins {
            chain.push(next);
        }
        let end = *chain.last().unwrap();
        let (own, others) = (self.lane(one).users, self.lane(end).users);
        if self.lane(one).joins.is_some() || chain.contains(&one) || own == 0 || others == 0 {
            return;
        }
        let (from, to) = if others >= own { (one, end) } else { (end, one) };
        self.lane_mut(from).joins = Some(to);
        self.lane_mut(to).users += self.lane(from).users;
    }

    pub(super) fn leave(&mut self, now: i64, who: u32) {
        let Some(at) = self.processes.iter().position(|process| process.who == who && !process.gone) else {
            return;
        };
        self.processes[at].gone = true;
        if let Some(name) = self.processes[at].lane.take() {
            if self.is_turn_of(name) {
                self.end_turn(now, false);
            }
            self.let_go(name);
        }
    }

    pub(super) fn learn(&mut self, now: i64, name: usize, who: usize, request: &Request) {
        let wait = self.set.slice_idle.0.0;
        let process = &mut self.processes[who];
        add(&mut process.think, ((now - process.done) as u64).min(2 * wait));
        process.think.2 = (process.think.1 + 128_000_000) / process.think.0 / 1_000_000 * 1_000_000;
        let think = process.think;
        let lane = self.lane_mut(name);
        let mut seek = if lane.position == 0 { 0 } else { lane.position.abs_diff(request.start.0) };
        let most = u128::from(lane.seek.2) * 4 + if lane.seek.0 <= 60 { 2_097_152 } else { 131_072 };
        seek = u128::from(seek).min(most) as u64;
        add(&mut lane.seek, seek);
        lane.seek.2 = lane.seek.1.saturating_add(lane.seek.0 / 2) / lane.seek.0;
        lane.position = request.end().0;
        let seeky = lane.seek.2 > 8192;
        if lane.coop && (!seeky || lane.seeky_since.is_none()) {
            lane.seeky_since = if seeky { Some(now) } else { None };
        }
        let known = lane.seek.0 > 80;
        let (sync, idle) = (lane.sync, lane.class == Class::Idle);
        let never = wait == 0 || !self.set.low_latency && self.device.2 && seeky;
        let limit = if known && seeky { 2_000_000 } else { wait };
        let lane = self.lane_mut(name);
        if sync && !idle {
            if never {
                lane.window = false;
            } else if think.0 > 80 {
                lane.window = think.2 <= limit;
            }
        }
    }
}
