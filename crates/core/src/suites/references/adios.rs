//! Slow reference for `adios`, for the oracle suite: one list of all that waits, and every measurement by itself.

use super::*;
use crate::request::Operation;
use crate::schedulers::blk_mq::adios::{Adios, Order, Settings};

impl Referenced for Adios {
    fn reference(setup: Setup<'_>, settings: Settings) -> Box<dyn Scheduler> {
        Box::new(Reference {
            settings,
            rotational: setup.device.rotational,
            urgent: Vec::new(),
            waiting: Vec::new(),
            front: (Vec::new(), Order::Kind),
            back: (Vec::new(), Order::Kind),
            in_flight: Vec::new(),
            models: Default::default(),
            pool: Default::default(),
            timer: None,
            bias: 0,
            stable: false,
            origin: None,
            busy_since: None,
            completed: 0,
            head: 0,
            downward: false,
        })
    }
}

#[derive(Clone, Copy)]
struct Held {
    id: RequestId,
    kind: usize,
    bytes: u64,
    predicted: u64,
    /// From the arrival to the deadline, the deadline, and its step.
    slack: u64,
    deadline: u64,
    step: u64,
    sent: Option<u64>,
}

/// A measurement: bucket, latency, bytes, weight.
type Sample = (u64, u64, u64, u64);

#[derive(Clone, Default)]
struct Model {
    base: u64,
    slope: u64,
    small: (u64, u64),
    large: (u64, u64),
    updated: u64,
    samples: [Vec<Sample>; 2],
}

struct Reference {
    settings: Settings,
    rotational: bool,
    urgent: Vec<Held>,
    /// In order of arrival, or of the last merge.
    waiting: Vec<Held>,
    /// What is sent, and what is next: pairs of a list and what is in it. With their orders.
    front: (Vec<(usize, Held)>, Order),
    back: (Vec<(usize, Held)>, Order),
    in_flight: Vec<Held>,
    models: [Model; 4],
    pool: [Vec<Sample>; 2],
    timer: Option<u64>,
    bias: i128,
    stable: bool,
    origin: Option<u64>,
    busy_since: Option<u64>,
    completed: u64,
    head: u64,
    downward: bool,
}

fn total(held: &[Held]) -> u64 {
    held.iter().map(|held| held.predicted).sum()
}

fn trimmed(samples: &[Sample], percent: u64) -> (u64, u64, u64) {
    let enough = samples.iter().map(|sample| sample.3).sum::<u64>() * percent / 100;
    let (mut latency, mut bytes, mut weight) = (0, 0, 0);
    for bucket in 0..64 {
        let inside: Vec<&Sample> = samples.iter().filter(|sample| sample.0 == bucket).collect();
        let w: u64 = inside.iter().map(|sample| sample.3).sum();
        let l: u64 = inside.iter().map(|sample| sample.1 * sample.3).sum();
        let b: u64 = inside.iter().map(|sample| sample.2 * sample.3).sum();
        let part = w.min(enough - weight);
        latency += (l * part).checked_div(w).unwrap_or(0);
        bytes += (b * part).checked_div(w).unwrap_or(0);
        weight += part;
    }
    (latency, bytes, weight)
}

impl Reference {
    fn under_way(&self) -> u64 {
        let pages = self.front.0.iter().chain(&self.back.0).map(|(_, held)| held.predicted);
        total(&self.urgent) + total(&self.in_flight) + pages.sum::<u64>()
    }

    fn timer(&mut self, now: u64) {
        if let Some(at) = self.timer.filter(|at| *at <= now) {
            self.timer = None;
            (0..4).for_each(|kind| self.update(kind, at));
        }
    }

    fn update(&mut self, kind: usize, now: u64) {
        let model = &mut self.models[kind];
        for size in 0..2 {
            self.pool[size].append(&mut model.samples[size]);
        }
        let settings = &self.settings;
        let weights = [0, 1].map(|size: usize| self.pool[size].iter().map(|sample| sample.3).sum::<u64>());
        let late = model.base == 0 || now >= model.updated + 1_500_000_000;
        let (mut small, mut large) = (None, None);
        if weights[0] > 0 && (late || weights[0] >= 1024) {
            let (latency, _, weight) = trimmed(&self.pool[0], if model.base == 0 { 100 } else { 99 });
            self.pool[0].clear();
            if model.small.1 >= settings.shrink_at_kreqs.0 * 1000 {
                let keep = |sum: u64| sum - sum / (1 << settings.shrink_resist.0);
                model.small = (keep(model.small.0), keep(model.small.1));
            }
            if weight > 0 {
                model.small = (model.small.0 + latency, model.small.1 + weight);
                small = Some(model.small.0 / model.small.1);
            }
        }
        if weights[1] > 0 && (late || weights[1] >= 1024 || model.slope == 0) {
            let (latency, bytes, weight) = trimmed(&self.pool[1], if model.slope == 0 { 100 } else { 99 });
            self.pool[1].clear();
            if weight > 0 {
                if model.large.1 >= settings.shrink_at_gbytes.0 << 30 {
                    let keep = |sum: u64| sum - sum / (1 << settings.shrink_resist.0);
                    model.large = (keep(model.large.0), keep(model.large.1));
                }
                let less = if latency > model.base { model.base } else { 0 };
                model.large = (model.large.0 + latency - less, model.large.1 + bytes);
                large = Some(model.large.0.checked_div(model.large.1.div_ceil(1024)).unwrap_or(model.slope));
            }
        }
        if late || small.is_some() || large.is_some() {
            model.updated = now;
        }
        model.base = small.unwrap_or(model.base);
        model.slope = large.unwrap_or(model.slope);
    }

    fn line_up(&mut self, cx: Cx<'_>, mut held: Held) {
        let arrival = cx[held.id].arrival.0;
        let origin = *self.origin.get_or_insert(arrival);
        held.deadline = arrival + held.slack;
        held.step = (held.deadline - origin) / (1 << 20);
        self.waiting.push(held);
    }

    fn first(&self, reads: bool) -> Option<Held> {
        let side = self.waiting.iter().filter(|held| (held.kind == 0) == reads);
        side.min_by_key(|held| held.step).copied()
    }

    fn fill(&mut self, cx: Cx<'_>) {
        let settings = self.settings;
        let default = if self.rotational { 22_000_000 } else { 16_000_000 };
        let window = Some(settings.global_latency_window.0.0).filter(|set| *set > 0).unwrap_or(default);
        let before = self.under_way();
        let low = before == 0 || before < window * settings.bq_refill_below_ratio.0 / 100;
        if !self.back.0.is_empty() || !low || self.waiting.is_empty() {
            return;
        }
        let order = if self.rotational { settings.batch_order } else { Order::Kind };
        let limits = [settings.batch_limit_read, settings.batch_limit_write, settings.batch_limit_discard];
        let mut page: Vec<(usize, Held)> = Vec::new();
        loop {
            let for_reads = self.bias >= 0;
            let (own, other) = (self.first(for_reads), self.first(!for_reads));
            let Some(held) = own.or(other) else { break };
            let moves = own.is_some_and(|own| other.is_none_or(|other| own.deadline > other.deadline));
            let alike = page.iter().filter(|(_, other)| other.kind == held.kind).count() as u64;
            let limit = limits.get(held.kind).map_or(1, |limit| limit.0);
            let added: u64 = page.iter().map(|(_, held)| held.predicted).sum();
            let room = alike < limit && before + added + held.predicted <= window;
            let joins = room && self.models[held.kind].base > 0;
            if !joins && !page.is_empty() {
                break;
            }
            if moves {
                let sign = if for_reads { -1 } else { 1 };
                let weight = if for_reads { settings.read_priority.weight() } else { 1024 };
                let price = (i128::from(held.predicted) * i128::from(weight)) >> 10;
                self.bias = if held.predicted == 0 { sign } else { self.bias + sign * price };
            }
            self.waiting.retain(|other| other.id != held.id);
            let list = match (order, held.kind) {
                (Order::Elevator, 0..=2) => usize::from(held.slack > 0),
                (_, kind) => kind,
            };
            page.push((list, held));
        }
        let writes = page.iter().filter(|(_, held)| held.kind == 1).count();
        if writes > 1 && order == Order::Elevator {
            // A stable sort of one list among others.
            let mut sorted: Vec<(usize, Held)> =
                page.iter().copied().filter(|(list, _)| *list == 1).collect();
            sorted.sort_by_key(|(_, held)| cx[held.id].start);
            page.retain(|(list, _)| *list != 1);
            page.append(&mut sorted);
        }
        self.back = (page, order);
    }

    fn choose_way(&mut self, cx: Cx<'_>) {
        let inside: Vec<u64> =
            self.front.0.iter().filter(|(list, _)| *list == 1).map(|(_, held)| cx[held.id].start.0).collect();
        self.downward = match (inside.first(), inside.last(), self.front.1) {
            (Some(first), Some(last), Order::Elevator) => self.head > first.midpoint(*last),
            _ => false,
        };
    }

    fn take(&mut self, cx: Cx<'_>) -> Option<Held> {
        if !self.urgent.is_empty() {
            let held = self.urgent.remove(0);
            if self.urgent.is_empty() {
                self.choose_way(cx);
            }
            return Some(held);
        }
        self.fill(cx);
        if self.front.0.is_empty() && !self.back.0.is_empty() {
            core::mem::swap(&mut self.front, &mut self.back);
            self.choose_way(cx);
        }
        let list = self.front.0.iter().map(|(list, _)| *list).max()?;
        let backward = list == 1 && self.downward && self.front.1 == Order::Elevator;
        let mut places = (0..self.front.0.len()).filter(|place| self.front.0[*place].0 == list);
        let place = if backward { places.next_back() } else { places.next() };
        Some(self.front.0.remove(place.unwrap()).1)
    }
}

impl Scheduler for Reference {
    fn insert(&mut self, cx: Cx<'_>, id: RequestId) {
        self.timer(cx.now.0);
        let request = &cx[id];
        let kind = match request.operation {
            Operation::Read => 0,
            Operation::Write => 1,
            Operation::Discard => 2,
            Operation::Flush => 3,
        };
        let bytes = u64::from(request.length.0) * 512;
        let model = &self.models[kind];
        let more = if bytes > 4096 { (bytes - 4096).div_ceil(1024) } else { 0 };
        let predicted = (model.base + model.slope * more).min(1 << 40);
        let settings = &self.settings;
        let targets = [settings.lat_target_read, settings.lat_target_write, settings.lat_target_discard];
        let mut slack = 0;
        if !request.sync {
            slack += targets.get(kind).map_or(0, |target| target.0.0);
            slack += if settings.compliance_flags.0 & 4 == 0 { predicted } else { 0 };
        }
        let held = Held { id, kind, bytes, predicted, slack, deadline: 0, step: 0, sent: None };
        let flush_first = kind == 3 && [2, 3, 6, 7].contains(&settings.compliance_flags.0);
        if !self.stable || flush_first {
            self.urgent.push(held);
            self.stable |= self.models[0].base > 0 && self.models[1].base > 0;
        } else {
            self.line_up(cx, held);
        }
    }
    fn dispatch(&mut self, cx: Cx<'_>) -> Decision {
        self.timer(cx.now.0);
        let Some(held) = self.take(cx) else { return Decision::Idle };
        self.head = cx[held.id].end().0;
        self.in_flight.push(Held { sent: Some(cx.now.0), ..held });
        Decision::Dispatch(held.id)
    }
    fn complete(&mut self, cx: Cx<'_>, id: RequestId) {
        let now = cx.now.0;
        self.timer(now);
        let Some(place) = self.in_flight.iter().position(|held| held.id == id) else { return };
        let held = self.in_flight.remove(place);
        if held.kind == 3 {
            self.completed = 0;
            return;
        }
        let since = self.busy_since.or(held.sent).unwrap();
        self.busy_since = if self.under_way() > 0 { Some(now) } else { None };
        let latency = now - since;
        if held.bytes == 0 || latency > self.settings.lat_model_latency_limit.0.0 {
            return;
        }
        let mut weight = 1;
        if self.rotational {
            if self.completed > 0 {
                let distance = cx[id].start.0.abs_diff(self.completed);
                weight = if distance == 0 { 1 } else { 2 + u64::from(distance.ilog2()) };
            }
            self.completed = cx[id].end().0;
        }
        let base = self.models[held.kind].base;
        let small = held.bytes <= 4096;
        if small || (base > 0 && held.predicted > 0) {
            let expected = if small { base.max(1) } else { held.predicted };
            let bucket = match latency / expected {
                0..2 => latency * 20 / expected,
                2..5 => latency * 10 / expected + 20,
                _ => latency * 3 / expected + 40,
            };
            let sample = ((bucket % 256).min(63), latency, held.bytes, weight);
            self.models[held.kind].samples[usize::from(!small)].push(sample);
        }
        if small && base == 0 {
            self.update(held.kind, now);
        }
        self.timer = Some(self.timer.unwrap_or(now + 100_000_000));
    }
    fn remove(&mut self, cx: Cx<'_>, id: RequestId) {
        self.timer(cx.now.0);
        self.urgent.retain(|held| held.id != id);
        self.waiting.retain(|held| held.id != id);
        self.front.0.retain(|(_, held)| held.id != id);
        self.back.0.retain(|(_, held)| held.id != id);
    }
    fn grown(&mut self, cx: Cx<'_>, id: RequestId) {
        let place = self.waiting.iter().position(|held| held.id == id).unwrap();
        let held = self.waiting.remove(place);
        self.line_up(cx, held);
    }
    fn absorbed(&mut self, _: Cx<'_>, _: RequestId, other: RequestId) {
        self.waiting.retain(|held| held.id != other);
    }
    fn front_merges(&self) -> bool {
        false
    }
    fn may_merge(&self, _: Cx<'_>, id: RequestId, _: &Request) -> bool {
        self.waiting.iter().any(|held| held.id == id)
    }
}
