//! Slow reference for `scan` and `c-scan`, for the oracle suite: all requests are looked at for each step of the head.

use super::*;
use crate::schedulers::textbook::scan::{EndToEnd, Sweep};
use crate::tunables::Nothing;

impl<S: Sweep> Referenced for EndToEnd<S> {
    fn reference(_: Setup<'_>, _: Nothing) -> Box<dyn Scheduler> {
        Box::new(Reference { both_ways: S::TURNS, ..Reference::default() })
    }
}

#[derive(Default)]
struct Reference {
    both_ways: bool,
    list: SlowList,
    head: u64,
    down: bool,
    in_flight: i64,
    at_rest: u64,
}

impl Reference {
    fn travel(&self, cx: Cx<'_>, stops: &[u64]) -> u64 {
        let seek = |leg: &[u64]| cx.device.learned.curve.expected(Sector(leg[0]), Sector(leg[1])).0;
        stops.windows(2).map(seek).sum()
    }
}

impl Scheduler for Reference {
    fn insert(&mut self, cx: Cx<'_>, id: RequestId) {
        if self.list.0.is_empty() {
            self.at_rest = cx.now.0;
        }
        self.list.insert(cx, id);
    }
    fn dispatch(&mut self, cx: Cx<'_>) -> Decision {
        let (head, down, both_ways) = (self.head, self.down, self.both_ways);
        let behind = |start: u64| if both_ways { (start < head) != down } else { start < head };
        let key = |start: u64| (behind(start), if both_ways { start.abs_diff(head) } else { start });
        let Some((start, id)) = self.list.0.iter().min_by_key(|(start, _)| key(*start)).copied() else {
            return Decision::Idle;
        };
        if behind(start) {
            if cx.device.rotational && self.in_flight > 0 {
                return Decision::Idle;
            }
            let end = cx.device.capacity.0;
            let detour = match (both_ways, down) {
                (true, false) => self.travel(cx, &[head, end, start]),
                (true, true) => self.travel(cx, &[head, 0, start]),
                (false, _) => self.travel(cx, &[head, end, 0, start]),
            };
            let extra = detour.saturating_sub(self.travel(cx, &[head, start]));
            if cx.device.rotational && cx.now.0 - self.at_rest < extra {
                return Decision::WaitUntil(Instant(self.at_rest + extra));
            }
        }
        self.list.remove(id);
        self.in_flight += 1;
        self.down = start < head;
        self.head = cx[id].end().0;
        Decision::Dispatch(id)
    }
    fn complete(&mut self, cx: Cx<'_>, _: RequestId) {
        self.in_flight = (self.in_flight - 1).max(0);
        self.at_rest = cx.now.0;
    }
    fn adopt(&mut self, _: Cx<'_>, _: RequestId) {
        self.in_flight += 1;
    }
    fn remove(&mut self, _: Cx<'_>, id: RequestId) {
        self.list.remove(id);
    }
    fn grown(&mut self, cx: Cx<'_>, id: RequestId) {
        self.list.grown(cx, id);
    }
}
