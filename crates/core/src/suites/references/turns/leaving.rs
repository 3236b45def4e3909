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

    /// Only streams wait, and the first of them would not be waited for.
    pub(super) fn only_thinkers(&self, cx: Cx<'_>) -> bool {
        let first = self.line.first().map(|(process, _)| &self.processes.all[*process].asks);
        first.is_some_and(|asks| asks.worth(self.return_costs(true), cx.device.depth > 1).is_none())
            && !self.any(Kind::Pool)
            && !self.any(Kind::Write)
    }
}
