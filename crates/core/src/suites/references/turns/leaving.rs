//! What it costs to leave a stream, in the slow reference for `turns`.

use super::*;

impl Reference {
    /// What it takes longer to come back than to stay: soon, or after a round.
    pub(super) fn return_costs(&self, soon: bool) -> u64 {
        let back = if soon { self.ways[1] } else { self.ways[2].min(self.ways[3]) };
        back.saturating_sub(self.ways[0])
    }

    pub(super) fn learn(&mut self, way: usize, time: u64) {
        self.ways[way] = (31 * self.ways[way] + time) / 32;
        self.stayed |= way == 0;
    }

    /// A read of the pool is done, of as many sectors.
    pub(super) fn learn_of_batch(&mut self, sectors: u64, process: usize, busy: u64, measured: Option<u64>) {
        self.learn(3, busy);
        self.size = (31 * self.size + 16 * sectors) / 32;
        if self.processes.all[process].asks.is_stream() {
            self.learn(2, measured.unwrap_or(busy));
        }
    }

    /// How long a wait for `process` is worth it, if others think meanwhile or not.
    pub(super) fn worth(&self, cx: Cx<'_>, process: usize, soon: bool) -> Option<u64> {
        let (queue, asks) = (cx.device.depth > 1, &self.processes.all[process].asks);
        let mut cost = self.return_costs(soon);
        if queue && !soon && self.line.is_empty() && asks.pace > 0 {
            let all = self.waiting.iter().chain(&self.flying);
            let pool = all.filter(|held| held.kind == Kind::Pool).count() as u64;
            let more = self.ways[3].saturating_sub(self.size * asks.pace / 256);
            cost += pool * more;
        }
        asks.worth(cost, queue)
    }

    pub(super) fn thinks(&self, cx: Cx<'_>, process: usize) -> bool {
        self.worth(cx, process, true).is_none()
    }

    /// Only streams wait, and it is time for those that think: the first of them.
    pub(super) fn next_thinker(&self, cx: Cx<'_>) -> Option<usize> {
        let others = self.any(Kind::Pool) || self.any(Kind::Write) && self.may_write();
        let first = self.line.first(true).map(|ready| ready.process);
        first.filter(|_| self.line.is_together(cx.now) && !others)
    }
}
