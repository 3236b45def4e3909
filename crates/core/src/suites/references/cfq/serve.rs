//! Which queue the reference serves next, when that would change, which preempts, and which is waited for.

use alloc::vec::Vec;

use super::{Lane, MS, Reference, Turn, rank};
use crate::request::Class;
use crate::scheduler::{Cx, Decision};
use crate::units::{Instant, RequestId};

impl Reference {
    /// Whether `id`, new in the queue `name`, goes before whose turn it is.
    pub(super) fn goes_before(&self, cx: Cx<'_>, id: RequestId, name: usize) -> bool {
        let Some(turn) = self.turn else { return false };
        let (old, new) = (self.lane(turn.lane), self.lane(name));
        let far = cx[id].start.0.abs_diff(self.head);
        let plain = !old.by_arrival.iter().any(|held| cx[*held].metadata);
        let idle = |lane: &Lane| lane.class == Class::Idle;
        let real_time = |lane: &Lane| lane.class == Class::RealTime;
        let over = turn.end.is_some_and(|end| cx.now.0 as i64 >= end);
        let better = cx[id].sync && !old.sync
            || cx[id].metadata && plain
            || real_time(new) && !real_time(old)
            || turn.wait.is_some() && turn.who.is_some() && far <= self.close(turn.lane);
        over || !idle(new) && (idle(old) || better)
    }

    pub(super) fn close(&self, name: usize) -> u64 {
        let seek = self.lane(name).seek;
        if seek.0 > 80 { seek.2 } else { 8192 }
    }

    /// A queue that continues where this one, which is empty, ended.
    pub(super) fn company(&self, cx: Cx<'_>, name: usize) -> Option<usize> {
        let lane = self.lane(name);
        let fits = |lane: &Lane| lane.sync && lane.seek.2 <= 8192;
        let distance = |lane: &&Lane| {
            let (id, start) = (lane.next.unwrap(), cx[lane.next.unwrap()].start.0);
            (start.abs_diff(self.head), start < self.head, id)
        };
        let all = self.lanes.iter().filter(|other| !other.by_arrival.is_empty() && other.name != name);
        let alike = all.filter(|other| other.class != Class::Idle && other.level == lane.level);
        let nearest = alike.min_by_key(distance).filter(|other| distance(other).0 <= self.close(name))?;
        (fits(lane) && fits(nearest)).then_some(nearest.name)
    }

    /// A request of whose turn it is, is done.
    pub(super) fn goes_on(&mut self, cx: Cx<'_>, sync: bool) {
        let now = cx.now.0 as i64;
        let Some(turn) = self.turn else { return };
        let (slice, lane) = {
            let lane = self.lane(turn.lane);
            (self.slice(lane.sync, lane.level), lane)
        };
        let empty = lane.by_arrival.is_empty();
        let idle = lane.class == Class::Idle;
        let end = turn.end.unwrap_or(now + slice);
        self.turn.as_mut().unwrap().end = Some(end);
        if now >= end || idle {
            return self.end_turn(now, true);
        }
        if !empty || !sync || self.company(cx, turn.lane).is_some() {
            return;
        }
        let lane = self.lane(turn.lane);
        let wait = self.set.slice_idle.0.0 as i64;
        let process = turn.who.map(|who| &self.processes[who as usize]);
        let Some(process) = process.filter(|process| !process.gone) else { return };
        let no_seeks = self.no_seeks(cx);
        let long = process.think.0 > 80 && process.think.2 as i64 > end - now;
        if !no_seeks && wait > 0 && lane.window && self.flying(true) + self.flying(false) == 0 && !long {
            let seeks = lane.seek.0 > 80 && lane.seek.2 > 8192;
            let length = if seeks { wait.min(2 * MS) } else { wait };
            self.turn.as_mut().unwrap().wait = Some((now + length, false));
        }
    }

    /// Who is next once whose turn it is has a new key.
    fn next_lane(&self, now: i64) -> usize {
        let mut order: Vec<(u8, i64, bool, usize)> = Vec::new();
        if let Some(first) = self.in_order().first() {
            let lane = self.lane(*first);
            order.push((rank(lane.key_class), lane.key.unwrap(), false, *first));
        }
        if let Some(turn) = self.turn
            && !self.lane(turn.lane).by_arrival.is_empty()
        {
            order.push((rank(self.lane(turn.lane).class), self.new_key(turn.lane, now), true, turn.lane));
        }
        order.into_iter().min().unwrap().3
    }

    /// Who would be served at `now`: `None`, if a wait continues. And who takes over as company.
    fn next_to_serve(&self, cx: Cx<'_>, now: i64) -> (Option<usize>, Option<usize>) {
        let Some(turn) = self.turn else { return (Some(self.next_lane(now)), None) };
        let lane = self.lane(turn.lane);
        if turn.end.is_some_and(|end| now >= end) && !turn.owed {
            return (Some(self.next_lane(now)), None);
        }
        if !lane.by_arrival.is_empty() {
            return (Some(turn.lane), None);
        }
        if let Some(other) = self.company(cx, turn.lane) {
            return (Some(other), Some(turn.lane));
        }
        let waits = turn.wait.is_some_and(|(until, over)| !over && now < until);
        if waits || lane.flying > 0 && lane.window && !self.no_seeks(cx) {
            return (None, None);
        }
        (Some(self.next_lane(now)), None)
    }

    fn no_seeks(&self, cx: Cx<'_>) -> bool {
        !cx.device.rotational && self.device.2
    }

    /// Whether the queue may send a request now.
    fn may(&self, cx: Cx<'_>, name: usize) -> bool {
        let now = cx.now.0 as i64;
        let lane = self.lane(name);
        let lanes = self.owned.iter().filter(|owned| owned.3);
        let sync_flying = lanes.filter(|owned| owned.2).count();
        if lane.window && self.flying(false) > 0 || !lane.sync && sync_flying > 0 {
            return false;
        }
        let mut most = self.set.quantum.0 as i64;
        let flying = lane.flying as i64;
        if lane.class == Class::Idle {
            most = 1;
        } else if flying >= most {
            if self.busy() > 1 {
                return false;
            }
            most = if self.no_seeks(cx) { i64::MAX } else { 4 * most };
        }
        if !lane.sync && self.set.low_latency {
            let mut depth = (now - self.last_sync.unwrap()) / self.set.slice_sync.0.0 as i64;
            if depth == 0 && flying == 0 {
                depth = 1;
            }
            most = most.min(depth);
        }
        flying < most
    }

    pub(super) fn serve(&mut self, cx: Cx<'_>) -> Decision {
        let now = cx.now.0 as i64;
        let (next, instead_of) = self.next_to_serve(cx, now);
        if let Some(name) = next.filter(|name| self.may(cx, *name)) {
            if let Some(old) = instead_of {
                self.marry(old, name);
            }
            return self.send(cx, name);
        }
        let mut times = self.moments(cx, next);
        times.retain(|time| *time > now);
        times.sort_unstable();
        times.first().map_or(Decision::Idle, |time| Decision::WaitUntil(Instant(*time as u64)))
    }

    /// When the answer could be another though nothing happens: `next`, if any, may not send now.
    fn moments(&self, cx: Cx<'_>, next: Option<usize>) -> Vec<i64> {
        let now = cx.now.0 as i64;
        let mut times = Vec::new();
        let order = self.in_order();
        if let Some(turn) = self.turn {
            times.extend(turn.end.filter(|_| !order.is_empty()));
            times.extend(turn.wait.filter(|(_, over)| !over).map(|(until, _)| until));
        }
        let Some(name) = next else { return times };
        let lane = self.lane(name);
        let blocked = lane.sync || self.flying(true) > 0 || lane.flying >= self.limit(cx, name);
        if !blocked && self.set.low_latency {
            let step = self.set.slice_sync.0.0 as i64;
            times.push(self.last_sync.unwrap() + step * (lane.flying as i64 + 1));
        }
        // The key of whose turn it was grows with time, until another comes first.
        let over = self.turn.is_some_and(|turn| turn.end.is_some_and(|end| now >= end) && !turn.owed);
        let first = order.first().map(|first| self.lane(*first));
        if let Some(first) = first.filter(|first| over && first.key_class == lane.class)
            && self.is_turn_of(name)
        {
            times.push(now + first.key.unwrap() - self.new_key(name, now));
        }
        times
    }

    fn limit(&self, cx: Cx<'_>, name: usize) -> u64 {
        let lane = self.lane(name);
        match (lane.class == Class::Idle, lane.flying >= self.set.quantum.0, self.busy() > 1) {
            (true, ..) => 1,
            (_, true, true) => 0,
            (_, true, false) if self.no_seeks(cx) => u64::MAX,
            (_, true, false) => 4 * self.set.quantum.0,
            _ => self.set.quantum.0,
        }
    }

    fn send(&mut self, cx: Cx<'_>, name: usize) -> Decision {
        let now = cx.now.0 as i64;
        let over = self.turn.is_some_and(|turn| turn.end.is_some_and(|end| now >= end) && !turn.owed);
        if !self.is_turn_of(name) || over {
            self.end_turn(now, false);
            let (end, who, wait) = (None, None, None);
            self.turn = Some(Turn { lane: name, end, sent: 0, looked: false, owed: false, who, wait });
        }
        let turn = self.turn.unwrap();
        let lane = self.lane(name);
        let oldest = lane.by_arrival[0];
        let due = lane.by_address.iter().find(|held| held.id == oldest).unwrap().due;
        let id = if !turn.looked && now >= due { oldest } else { lane.next.unwrap() };
        self.pull(cx, id, name);
        let owned = self.owned.iter_mut().find(|owned| owned.0 == id).unwrap();
        owned.3 = true;
        let (_, who) = owned.1.unwrap();
        self.head = cx[id].end().0;
        self.lane_mut(name).flying += 1;
        let turn = self.turn.as_mut().unwrap();
        turn.who.get_or_insert(who as u64);
        (turn.sent, turn.looked, turn.owed) = (turn.sent + 1, true, false);
        let sent = turn.sent;
        let lane = self.lane(name);
        let quota = 2 * self.set.slice_async_rq.0 * (8 - lane.level as u64);
        let ends = lane.class == Class::Idle || !lane.sync && sent >= quota;
        if ends && self.busy() > 1 {
            self.end_turn(now, false);
        }
        Decision::Dispatch(id)
    }
}
