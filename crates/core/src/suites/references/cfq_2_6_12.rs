//! Slow reference for `cfq-2.6.12`, for the oracle suite: a list of processes, each with its requests in plain lists.

use super::dispatch_list::SlowList;
use super::*;
use crate::schedulers::linux_2_6::cfq_2_6_12::{Cfq2612, Settings};

impl Referenced for Cfq2612 {
    fn reference(_: Setup<'_>, set: Settings) -> Box<dyn Scheduler> {
        let (processes, taken, list) = (Vec::new(), Vec::new(), SlowList::default());
        Box::new(Reference { set, processes, taken, flying: 0, overlaps: false, head: 0, turn: 0, list })
    }
}

#[derive(Clone, Default)]
struct Process {
    who: u32,
    /// Start and id, in order of insertion or rekeying; ids in order of arrival.
    by_address: Vec<(u64, RequestId)>,
    by_arrival: Vec<RequestId>,
    flying: u64,
    used: u64,
    since: Option<Instant>,
    expired: Option<Instant>,
    turn: u64,
}

struct Reference {
    set: Settings,
    processes: Vec<Process>,
    /// With the device or on the list: when it went, and whose it is.
    taken: Vec<(RequestId, Instant, Option<u32>)>,
    flying: u64,
    overlaps: bool,
    head: u64,
    turn: u64,
    list: SlowList,
}

impl Reference {
    fn process(&mut self, who: u32) -> &mut Process {
        if !self.processes.iter().any(|process| process.who == who) {
            self.processes.push(Process { who, ..Process::default() });
        }
        self.processes.iter_mut().find(|process| process.who == who).unwrap()
    }

    fn holder(&mut self, id: RequestId) -> Option<&mut Process> {
        self.processes.iter_mut().find(|process| process.by_arrival.contains(&id))
    }

    fn gives(&mut self, cx: Cx<'_>, who: u32) -> RequestId {
        let (set, head) = (self.set, self.head);
        let process = self.process(who);
        if process.expired.is_none_or(|last| cx.now.since(last) >= set.fifo_batch_expire.0) {
            for (sync, expire) in [(true, set.fifo_expire_sync), (false, set.fifo_expire_async)] {
                let oldest = process.by_arrival.iter().find(|id| cx[**id].sync == sync);
                if let Some(id) = oldest.filter(|id| cx.age(**id) > expire.0) {
                    process.expired = Some(cx.now);
                    return *id;
                }
            }
        }
        let mut all = process.by_address.clone();
        all.sort_by_key(|(start, _)| *start);
        if !set.find_best {
            return all[0].1;
        }
        let way = |start: u64| match start.checked_sub(head) {
            Some(ahead) => (0, ahead, u64::MAX - start),
            None if head - start <= set.back_seek_max.0 * 2 => {
                (0, (head - start).saturating_mul(set.back_seek_penalty.0), u64::MAX - start)
            }
            None => (1, start, 0),
        };
        all.iter().min_by_key(|(start, _)| way(*start)).unwrap().1
    }

    fn fill(&mut self, cx: Cx<'_>) {
        let (mut moved, mut fresh) = (0, true);
        while moved < self.set.quantum.0
            && self.processes.iter().any(|process| !process.by_arrival.is_empty())
        {
            let mut order: Vec<Process> = self.processes.clone();
            order.retain(|process| !process.by_arrival.is_empty() && (!fresh || process.flying == 0));
            order.sort_by_key(|process| (process.used, process.flying, process.turn));
            for Process { who, .. } in order {
                if moved < self.set.quantum.0 {
                    let id = self.gives(cx, who);
                    self.lose(id);
                    self.turn += 1;
                    let turn = self.turn;
                    let process = self.process(who);
                    (process.flying, process.turn) = (process.flying + 1, turn);
                    self.head = cx[id].end().0;
                    self.taken.push((id, cx.now, Some(who)));
                    self.list.sort_in(cx, id);
                    moved += 1;
                }
            }
            fresh = false;
        }
    }

    fn lose(&mut self, id: RequestId) {
        for process in &mut self.processes {
            process.by_address.retain(|(_, held)| *held != id);
            process.by_arrival.retain(|held| *held != id);
        }
    }

    fn untake(&mut self, id: RequestId) -> Option<(Instant, u32)> {
        let at = self.taken.iter().position(|(held, ..)| *held == id)?;
        let (_, sent, who) = self.taken.remove(at);
        who.map(|who| (sent, who))
    }
}

fn forget(process: &mut Process, now: Instant, divisor: u64) {
    let since = *process.since.get_or_insert(now);
    if now.since(since) > Duration::from_s(1) {
        process.used /= divisor;
        process.since = Some(now);
    }
}

impl Scheduler for Reference {
    fn insert(&mut self, cx: Cx<'_>, id: RequestId) {
        let turn = self.turn + 1;
        let process = self.process(cx[id].issuer.0);
        let was_empty = process.by_arrival.is_empty();
        if was_empty {
            forget(process, cx.now, 8);
            process.turn = turn;
        }
        process.by_address.push((cx[id].start.0, id));
        process.by_arrival.push(id);
        self.turn += u64::from(was_empty);
    }
    fn dispatch(&mut self, cx: Cx<'_>) -> Decision {
        if self.list.ids.is_empty() {
            self.fill(cx);
        }
        let Some(id) = self.list.pop(cx) else { return Decision::Idle };
        self.taken.iter_mut().find(|(held, ..)| *held == id).unwrap().1 = cx.now;
        self.flying += 1;
        self.overlaps |= self.flying >= 4;
        Decision::Dispatch(id)
    }
    fn complete(&mut self, cx: Cx<'_>, id: RequestId) {
        self.flying -= 1;
        let Some((sent, who)) = self.untake(id) else { return };
        let (took, divisor) = if self.overlaps { (1_000_000, 10) } else { (cx.now.since(sent).0, 8) };
        let process = self.process(who);
        process.flying -= 1;
        process.used += took;
        forget(process, cx.now, divisor);
    }
    fn remove(&mut self, _: Cx<'_>, id: RequestId) {
        if let Some((_, who)) = self.untake(id) {
            self.process(who).flying -= 1;
        }
        self.list.ids.retain(|held| *held != id);
        self.lose(id);
    }
    fn grown(&mut self, cx: Cx<'_>, id: RequestId) {
        let own = &mut self.holder(id).unwrap().by_address;
        if let Some(at) = own.iter().position(|(start, held)| *held == id && *start != cx[id].start.0) {
            own.remove(at);
            own.push((cx[id].start.0, id));
        }
    }
    fn absorbed(&mut self, cx: Cx<'_>, survivor: RequestId, other: RequestId) {
        let line = &mut self.holder(survivor).unwrap().by_arrival;
        let place = |id: RequestId| line.iter().position(|held| *held == id);
        if let (Some(own), Some(others)) = (place(survivor), place(other))
            && others < own
        {
            line.remove(own);
            line.insert(others, survivor);
        }
        self.grown(cx, survivor);
        self.remove(cx, other);
    }
    fn issuer_gone(&mut self, _: Cx<'_>, Issuer(who): Issuer) {
        let busy = |process: &Process| process.flying > 0 || !process.by_arrival.is_empty();
        self.processes.retain(|process| process.who != who || busy(process));
    }
    fn adopt(&mut self, cx: Cx<'_>, id: RequestId) {
        self.flying += 1;
        self.taken.push((id, cx.now, None));
    }
    fn may_merge(&self, cx: Cx<'_>, id: RequestId, new: &Request) -> bool {
        !self.list.ids.contains(&id) && cx[id].sync == new.sync && cx[id].issuer == new.issuer
    }
}
