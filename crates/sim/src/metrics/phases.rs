//! Work per phase of a workload, assigned by completion time.

use idlewise_core::selectors::observed;
use idlewise_core::{Direction, Duration, Instant, Request, SECTOR_BYTES};

use super::declare::Better::{Less, More};
use super::declare::{Column, figures};
use super::small_histogram::SmallHistogram;

figures! {
    /// What was done in one phase.
    PhaseShare "phase" {
        /// The phase's place, from 1.
        id: u32, Id;
        /// The phase's name.
        name: String, Text;
        /// When the phase began.
        begins_ns: u64, Seconds;
        /// When the next phase began, or the last request was done.
        ends_ns: u64, Seconds;
        /// Requests done in the phase.
        requests: u64, Count;
        /// Bytes moved.
        bytes: u64, Bytes;
        /// Bytes in a second.
        throughput_bytes_per_s: f64, Rate [Column::new("", "", More, 0).goal("throughput")];
        /// 99th percentile of the latencies of synchronous reads, within 3 %; 0 if there were none. A read counts again
        /// for each tenth of a second of waiting, so that starvation shows.
        sync_read_latency_ns_p99: u64, Millis [Column::new("", "", Less, 1).goal("p99 read latency")];
    }
}

/// Counts by phase.
#[derive(Debug, Default)]
pub(super) struct Phases {
    phases: Vec<PhaseShare>,
    /// The latencies of the synchronous reads of each.
    sync_reads: Vec<SmallHistogram>,
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
        let (next, sync_reads) = (begins(&phases, 1), vec![SmallHistogram::default(); phases.len()]);
        Phases { phases, sync_reads, current: 0, next }
    }

    /// `request` is done, after so long.
    #[inline]
    pub(super) fn count(&mut self, now: Instant, request: &Request, latency_ns: u64) {
        while now >= self.next && self.current + 1 < self.phases.len() {
            self.current += 1;
            self.next = begins(&self.phases, self.current + 1);
        }
        if let Some(phase) = self.phases.get_mut(self.current) {
            phase.requests += 1;
            phase.bytes += u64::from(request.length.0) * SECTOR_BYTES;
            if request.sync && request.direction() == Direction::Read {
                self.count_sync_read(now, Duration(latency_ns));
            }
        }
    }

    /// A synchronous read is done: each check of it counts in the phase of that check.
    fn count_sync_read(&mut self, now: Instant, latency: Duration) {
        let mut phase = self.current;
        for waited in observed(latency) {
            let look = now - (latency - waited);
            while phase > 0 && look.0 < self.phases[phase].begins_ns {
                phase -= 1;
            }
            self.sync_reads[phase].record(waited.0);
        }
    }

    /// The phases of a run that ended at `end`.
    pub(super) fn shares(&self, end: Instant) -> Vec<PhaseShare> {
        let mut shares = self.phases.clone();
        for place in 0..shares.len() {
            let ends_ns = shares.get(place + 1).map_or(end.0, |next| next.begins_ns);
            let share = &mut shares[place];
            share.sync_read_latency_ns_p99 = self.sync_reads[place].quantile(0.99);
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
