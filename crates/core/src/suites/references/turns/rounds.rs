//! Rounds of shares in the slow reference for `turns`: who may still be served, where weights count.

use super::*;

impl Reference {
    /// Whether `process` may have more of the disk.
    pub(super) fn may(&self, process: usize) -> bool {
        !self.purses.on || self.processes.all[process].purse.left > 0
    }

    pub(super) fn may_write(&self) -> bool {
        !self.purses.on || self.purses.writes > 0
    }

    /// Who asks, or has asked, for something that it pays for.
    pub(super) fn present(&self) -> Vec<usize> {
        let all = self.waiting.iter().chain(&self.flying);
        let mut present: Vec<usize> = all.filter(|held| held.kind.costs()).map(|held| held.process).collect();
        present.sort_unstable();
        present.dedup();
        present
    }

    pub(super) fn is_poor(&mut self, process: usize) {
        if !self.poor.contains(&process) {
            self.poor.push(process);
        }
    }

    pub(super) fn begin_round(&mut self, cx: Cx<'_>) {
        for _ in 0..64 {
            let weight = |process: &usize| self.processes.all[*process].purse.weight;
            let present = self.present().iter().map(weight).sum();
            self.purses.next(self.target, present, self.writers() as u64);
            let paying = self.flying.iter().map(|held| held.process);
            for process in paying.chain(self.holder()) {
                self.purses.fill(&mut self.processes.all[process].purse);
            }
            self.admit_poor(cx, false);
            let holder =
                self.holder().is_some_and(|process| self.first_of(process).is_some() && self.may(process));
            let writes = self.any(Kind::Write) && self.may_write();
            if holder || writes || !self.line.is_empty() || self.any(Kind::Pool) {
                return;
            }
        }
        self.purses.writes = self.purses.writes.max(1);
        if let Some(process) = self.holder() {
            let purse = &mut self.processes.all[process].purse;
            purse.left = purse.left.max(1);
        }
        self.admit_poor(cx, true);
    }

    /// Whoever has something left, or `all`, is no longer poor.
    pub(super) fn admit_poor(&mut self, cx: Cx<'_>, all: bool) {
        let pool = self.any(Kind::Pool);
        for process in core::mem::take(&mut self.poor) {
            self.purses.fill(&mut self.processes.all[process].purse);
            if !all && !self.may(process) {
                self.poor.push(process);
                continue;
            }
            let mine = |held: &&mut Held| held.process == process && held.kind == Kind::Poor;
            let mut admitted: Vec<&mut Held> = self.waiting.iter_mut().filter(mine).collect();
            admitted.sort_unstable_by_key(|held| held.came);
            for held in admitted {
                (held.kind, held.came, held.batch) = (Kind::Pool, self.came, false);
                self.came += 1;
            }
            if self.first_of(process).is_some() && self.holder() != Some(process) {
                self.line.push(process, cx.now, self.thinks(cx, process));
            }
        }
        if !pool && self.any(Kind::Pool) {
            self.pool_since = cx.now;
        }
    }

    /// The drive was busy with `held` until now. Returns for how long.
    pub(super) fn pays(&mut self, now: Instant, held: &Held) -> u64 {
        let time = now.since(held.since.max(self.done)).0 as i64;
        self.done = now;
        if held.kind != Kind::Idle {
            self.idle_from = now + Duration::from_ms(40);
        }
        if !self.purses.on {
            return time as u64;
        }
        if held.kind == Kind::Write {
            self.purses.writes -= time;
        }
        if held.kind.costs() {
            let purse = &mut self.processes.all[held.process].purse;
            self.purses.fill(purse);
            purse.left -= time;
        }
        time as u64
    }

    /// `process` is about to ask for `id`, which somebody waits for.
    pub(super) fn counts(&mut self, cx: Cx<'_>, id: RequestId, process: usize) {
        if !cx.device.rotational {
            return;
        }
        let usual = cx[id].metadata && cx[id].operation == Operation::Write;
        let level = if usual { 4 } else { cx[id].priority.level };
        let weight = u64::from(cx.weight(cx[id].issuer).get()) * (8 - u64::from(level));
        self.processes.all[process].purse.weight = weight;
        let mut present = self.present();
        present.extend((!present.contains(&process)).then_some(process));
        let present = present.iter().map(|process| self.processes.all[*process].purse.weight).sum();
        self.purses.asks(cx.now.0, weight, self.target, present);
        self.purses.fill(&mut self.processes.all[process].purse);
        if !self.purses.on {
            self.admit_poor(cx, true);
        }
    }
}
