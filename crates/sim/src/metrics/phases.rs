//! What was done in each phase of a workload, by when it was done.

use idlewise_core::Instant;
use serde::Serialize;

/// What was done in one phase.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PhaseShare {
    /// Its place, from 1.
    pub id: u32,
    /// Its name.
    pub name: String,
    /// When it began.
    pub begins_ns: u64,
    /// When the next one began, or the last request was done.
    pub ends_ns: u64,
    /// Requests done in it.
    pub requests: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Bytes in a second.
    pub throughput_bytes_per_s: f64,
}

/// Counts by phase.
#[derive(Debug, Default)]
pub(super) struct Phases {
    phases: Vec<PhaseShare>,
    /// The phase that runs.
    current: usize,
    /// When the next one begins, at hand for those who ask at every completion.
    next: Instant,
}

impl Phases {
    pub(super) fn new(named: Vec<(String, Instant)>) -> Phases {
        let phases: Vec<PhaseShare> = named
            .into_iter()
            .zip(1..)
            .map(|((name, begins), id)| PhaseShare { id, name, begins_ns: begins.0, ..PhaseShare::default() })
            .collect();
        let next = begins(&phases, 1);
        Phases { phases, current: 0, next }
    }

    #[inline]
    pub(super) fn count(&mut self, now: Instant, bytes: u64) {
        while now >= self.next && self.current + 1 < self.phases.len() {
            self.current += 1;
            self.next = begins(&self.phases, self.current + 1);
        }
        if let Some(phase) = self.phases.get_mut(self.current) {
            phase.requests += 1;
            phase.bytes += bytes;
        }
    }

    /// The phases of a run that ended at `end`.
    pub(super) fn shares(&self, end: Instant) -> Vec<PhaseShare> {
        let mut shares = self.phases.clone();
        for place in 0..shares.len() {
            let ends_ns = shares.get(place + 1).map_or(end.0, |next| next.begins_ns);
            let share = &mut shares[place];
            share.ends_ns = ends_ns.max(share.begins_ns);
            let seconds = (share.ends_ns - share.begins_ns) as f64 / 1e9;
            share.throughput_bytes_per_s = if seconds > 0.0 { share.bytes as f64 / seconds } else { 0.0 };
        }
        shares
    }
}

/// When a phase begins; never, if there is none.
fn begins(phases: &[PhaseShare], place: usize) -> Instant {
    phases.get(place).map_or(Instant::MAX, |phase| Instant(phase.begins_ns))
}
