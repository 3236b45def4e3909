//! Slow reference for `sstf`, `look`, `c-look` and `vscan`, for the oracle suite: each rule is a number for each
//! request. The request with the least number is dispatched next; ties go to the earlier one.

use super::*;
use crate::schedulers::shared::head::{Rule, Seek};
use crate::schedulers::textbook::{c_look, look, sstf, vscan};
use crate::tunables::Nothing;

/// A rule as a number for each request.
pub(crate) trait Key: Rule {
    fn key(head: u64, down: bool, start: u64, cx: Cx<'_>, tunables: &Self::Tunables) -> (u64, u64);
}

impl Key for sstf::Nearest {
    fn key(head: u64, down: bool, start: u64, _: Cx<'_>, _: &Nothing) -> (u64, u64) {
        (start.abs_diff(head), u64::from((start < head) != down))
    }
}

impl Key for look::BackAndForth {
    fn key(head: u64, down: bool, start: u64, _: Cx<'_>, _: &Nothing) -> (u64, u64) {
        (u64::from((start < head) != down), start.abs_diff(head))
    }
}

impl Key for c_look::Upward {
    fn key(head: u64, _: bool, start: u64, _: Cx<'_>, _: &Nothing) -> (u64, u64) {
        (u64::from(start < head), start)
    }
}

impl Key for vscan::Inert {
    fn key(head: u64, down: bool, start: u64, cx: Cx<'_>, settings: &vscan::Settings) -> (u64, u64) {
        let behind = (start < head) != down;
        let price = (cx.device.capacity.0 as u128 * settings.r.0 as u128 / 100) as u64;
        (start.abs_diff(head) + if behind { price } else { 0 }, u64::from(behind))
    }
}

impl<R: Key + 'static> Referenced for Seek<R>
where
    R::Tunables: 'static,
{
    fn reference(_: Setup<'_>, tunables: R::Tunables) -> Box<dyn Scheduler> {
        Box::new(Slow::<R> { list: SlowList::default(), head: 0, down: false, tunables })
    }
}

/// A [`Rule`] by comparing all requests.
struct Slow<R: Key> {
    list: SlowList,
    head: u64,
    down: bool,
    tunables: R::Tunables,
}

impl<R: Key> Scheduler for Slow<R> {
    fn insert(&mut self, cx: Cx<'_>, id: RequestId) {
        self.list.insert(cx, id);
    }
    fn dispatch(&mut self, cx: Cx<'_>) -> Decision {
        let (head, down, tunables) = (self.head, self.down, &self.tunables);
        let key = |start, _| R::key(head, down, start, cx, tunables);
        let Some(id) = self.list.take_min_by(key) else { return Decision::Idle };
        self.down = cx[id].start.0 < head;
        self.head = cx[id].end().0;
        Decision::Dispatch(id)
    }
    fn remove(&mut self, _: Cx<'_>, id: RequestId) {
        self.list.remove(id);
    }
    fn grown(&mut self, cx: Cx<'_>, id: RequestId) {
        self.list.grown(cx, id);
    }
}
