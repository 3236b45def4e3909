//! What the slow reference for `turns` dispatches next.

use super::*;

impl Reference {
    /// Of the pool, in the batch or not, the two next to the head: the one that is reached sooner.
    pub(super) fn nearest(&self, batch: bool) -> Option<RequestId> {
        let pool = || self.waiting.iter().filter(|held| held.kind == Kind::Pool && held.batch == batch);
        let above = pool().filter(|held| held.start >= self.head).min_by_key(|held| (held.start, held.came));
        let below =
            pool().filter(|held| held.start < self.head).max_by_key(|held| (held.start, Reverse(held.came)));
        let both = above.into_iter().chain(below);
        both.min_by_key(|held| self.learned.curve.expected(self.head, held.start)).map(|held| held.id)
    }

    /// The next of `kind` upward, or the lowest.
    fn upward(&self, kind: Kind) -> Option<RequestId> {
        let such = self.waiting.iter().filter(|held| held.kind == kind);
        such.min_by_key(|held| (held.start < self.head, held.start, held.came)).map(|held| held.id)
    }

    pub(super) fn overdue(&self, cx: Cx<'_>, idle: bool) -> Option<RequestId> {
        self.oldest(cx, idle).filter(|id| cx.age(*id) >= self.expire())
    }

    /// Whether enough requests of higher classes have been dispatched.
    fn enough(&self, now: Instant, which: usize, next: &Next) -> bool {
        let (count, last) = self.went[which];
        let sends = matches!(next, Next::Send(_) | Next::Begin(..));
        let long = last.is_none_or(|last| now.since(last).0 >= self.target / 2);
        count >= 512 || sends && count >= 32 && long
    }

    pub(super) fn choose(&self, cx: Cx<'_>) -> Next {
        let heads = cx.device.rotational;
        let stuck = |held: &Held| cx.now.since(held.since) >= self.longest();
        let stuck = heads && self.flying.first().is_some_and(stuck);
        let above = self.real_time(cx);
        let first = above.is_some();
        let next = match above {
            Some(Next::Send(_)) | None if stuck => Next::Wait(None),
            Some(next) => next,
            None if heads => self.with_heads(cx),
            None => self.without_heads(cx),
        };
        let goes = self.overdue(cx, false).filter(|id| {
            let write = self.waiting.iter().any(|held| held.id == *id && held.kind == Kind::Write);
            match next {
                _ if first => self.enough(cx.now, 0, &next),
                _ if self.went[0].0 >= 32 => true,
                Next::Wait(None) => true,
                Next::Wait(Some(_)) => !write,
                Next::Send(_) | Next::Begin(..) | Next::Round => false,
            }
        });
        let idle = || self.overdue(cx, true).filter(|_| self.enough(cx.now, 1, &next));
        match goes.or_else(idle) {
            Some(id) => Next::Send(id),
            None => next,
        }
    }

    fn real_time(&self, cx: Cx<'_>) -> Option<Next> {
        if let Some(id) = self.upward(Kind::RealTime) {
            return Some(Next::Send(id));
        }
        if !cx.device.rotational {
            return None;
        }
        if self.flying.iter().any(|held| held.kind == Kind::RealTime) {
            return Some(Next::Wait(None));
        }
        (cx.now < self.real_time_until).then_some(Next::Wait(Some(self.real_time_until)))
    }

    fn idle(&self, cx: Cx<'_>) -> Next {
        let busy = self.flying.iter().any(|held| cx.device.rotational || held.kind != Kind::Idle);
        let Some(id) = self.upward(Kind::Idle).filter(|_| !busy) else { return Next::Wait(None) };
        let from = self.idle_from;
        if cx.now < from { Next::Wait(Some(from)) } else { Next::Send(id) }
    }

    /// Writes in flight: those that somebody waits for, or those that nobody waits for.
    pub(super) fn writes_in_flight(&self, cx: Cx<'_>, sync: bool) -> u64 {
        let such = |held: &&Held| match sync {
            true => held.kind.costs() && cx[held.id].operation != Operation::Read,
            false => held.kind == Kind::Write,
        };
        self.flying.iter().filter(such).count() as u64
    }

    /// `held` is done: what that tells of a device without heads.
    pub(super) fn measure_flash(&mut self, cx: Cx<'_>, held: &Held) {
        if cx[held.id].operation == Operation::Read {
            let writes = [false, true].map(|sync| self.writes_in_flight(cx, sync));
            self.bound.measure(cx.now.0, cx.now.since(held.since).0, writes);
        } else if held.kind.costs() || held.kind == Kind::Write {
            self.bound.wrote(held.kind != Kind::Write, cx[held.id].length.0);
        }
    }

    fn without_heads(&self, cx: Cx<'_>) -> Next {
        let sync = |reads: bool| {
            let such = |held: &&Held| {
                let others = [Kind::Write, Kind::Idle].contains(&held.kind);
                !others && (cx[held.id].operation == Operation::Read) == reads
            };
            self.waiting.iter().find(such).map(|held| held.id)
        };
        let allowed = |sync| self.bound.allows(cx.now.0, sync, self.writes_in_flight(cx, sync));
        let write = sync(false);
        let may = write.filter(|_| allowed(true));
        let next = if self.reads_gone >= 16 { may.or(sync(true)) } else { sync(true).or(may) };
        if let Some(id) = next {
            return Next::Send(id);
        }
        match self.first_write(cx) {
            Some(id) if allowed(false) => Next::Send(id),
            Some(_) => Next::Wait(None),
            None if write.is_some() => Next::Wait(None),
            None => self.idle(cx),
        }
    }

    fn first_write(&self, cx: Cx<'_>) -> Option<RequestId> {
        let oldest = self.waiting.iter().find(|held| held.kind == Kind::Write).map(|held| held.id);
        oldest.filter(|id| cx.age(*id).0 >= self.target / 2).or_else(|| self.upward(Kind::Write))
    }

    fn with_heads(&self, cx: Cx<'_>) -> Next {
        let idle = self.any(Kind::Idle);
        let wanted = idle
            || !self.poor.is_empty()
            || !self.line.is_empty()
            || self.any(Kind::Pool)
            || self.any(Kind::Write);
        if let Some(turn) = self.turn {
            let ends = wanted || self.holder().is_none();
            let over = ends && turn.until.is_some_and(|until| cx.now >= until);
            let next = if over { None } else { self.go_on(cx, turn) };
            if let Some(next) = next {
                return next;
            }
        }
        self.begin_next(cx)
    }

    fn go_on(&self, cx: Cx<'_>, turn: Turn) -> Option<Next> {
        match turn.party {
            Party::Pool => self.nearest(true).map(Next::Send),
            Party::Stream(process) => {
                if let Some(id) = self.first_of(process) {
                    let end = turn.until.filter(|end| cx.now < *end).unwrap_or(Instant::MAX);
                    let writes = cx[id].operation == Operation::Write;
                    let full = writes && !self.line.is_empty() && self.buffer.is_full(turn.length);
                    return Some(if cx.now < self.buffer.held_back {
                        Next::Wait(Some(end.min(self.buffer.held_back)))
                    } else if full {
                        Next::Wait(turn.until)
                    } else {
                        Next::Send(id)
                    });
                }
                let flies = self.any_of(process, Kind::Stream, &self.flying);
                let others_think = self.next_thinker(cx).is_some();
                if flies {
                    let left = cx.device.depth > 1 && self.processes.all[process].left;
                    let goes_on = !left || !self.thinks(cx, process) || !others_think;
                    return goes_on.then_some(Next::Wait(turn.until));
                }
                let wait = self.worth(cx, process, others_think).unwrap_or(0);
                let end = self.processes.all[process].idle? + Duration(wait);
                let end = end.min(turn.until.unwrap_or(Instant::MAX));
                (cx.now < end).then_some(Next::Wait(Some(end)))
            }
            Party::Writes => {
                if !self.line.is_empty() && self.buffer.is_full(turn.length) {
                    return Some(Next::Wait(turn.until));
                }
                let id = self.upward(Kind::Write);
                let owner = self.waiting.iter().find(|held| Some(held.id) == id).map(|held| held.process);
                let until = self.last_writer.and_then(|writer| {
                    let process = &self.processes.all[writer];
                    let writes = self.any_of(writer, Kind::Write, &self.flying);
                    let in_order = writes && Some(writer) != owner && process.writes.is_stream();
                    let until = process.written.map_or(Instant::MAX, |since| since + Duration::from_ms(1));
                    (in_order && cx.now < until).then_some(until)
                });
                let Some(until) = until else { return id.map(Next::Send) };
                self.line.is_empty().then_some(Next::Wait(turn.until.into_iter().chain([until]).min()))
            }
        }
    }

    /// Whoever has been ready for longest; whose turn it was comes last.
    fn begin_next(&self, cx: Cx<'_>) -> Next {
        let mut ready: Vec<(Instant, Party)> = Vec::new();
        for first in [false, true].into_iter().filter_map(|thinks| self.line.first(thinks)) {
            ready.push((first.since, Party::Stream(first.process)));
        }
        if self.any(Kind::Pool) {
            ready.push((self.pool_since, Party::Pool));
        }
        if self.any(Kind::Write) && self.may_write() {
            ready.push((self.writes_since, Party::Writes));
        }
        let had = self.turn.map(|turn| turn.party);
        let next = ready.iter().min_by_key(|(since, party)| (Some(*party) == had, *since));
        let thinker = self.next_thinker(cx).map(Party::Stream);
        let next = thinker.or(next.map(|(_, party)| *party));
        let ready = |process: &usize| self.first_of(*process).is_some() && self.may(*process);
        let again = || self.holder().filter(ready);
        let Some(party) = next.or_else(|| again().map(Party::Stream)) else { return self.with_nobody(cx) };
        let id = match party {
            Party::Stream(process) => self.first_of(process),
            Party::Pool => self.nearest(true).or_else(|| self.nearest(false)),
            Party::Writes => self.first_write(cx),
        };
        Next::Begin(party, id.unwrap())
    }

    fn with_nobody(&self, cx: Cx<'_>) -> Next {
        if self.waiting.iter().all(|held| held.kind == Kind::Idle) {
            return self.idle(cx);
        }
        if self.present().iter().any(|process| self.processes.all[*process].purse.left > 0) {
            return Next::Wait(None);
        }
        if cx.now < self.rich_until { Next::Wait(Some(self.rich_until)) } else { Next::Round }
    }
}
