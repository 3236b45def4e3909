//! The elevator that sweeps over `n` requests at a time, in groups by arrival.
//!
//! # How it decides
//! 1. Arriving requests line up. When the sweep has nothing left, the first `n` of the line become the
//!    next sweep.
//! 2. The sweep is served as `look` serves: the nearest request in the direction of the head, then turn. The direction is kept
//!    from sweep to sweep. Requests with equal addresses are dispatched in order of arrival, or of joining the sweep.
//!
//! With `n` = 1 this is first come, first served.
//!
//! # Source
//! Textbooks, after Teorey and Pinkerton 1972.
//!
//! # Differs from the source
//! Textbooks know no merging. Here a request may become part of one that is being swept: it costs no
//! seek, so it keeps nobody waiting for long. If the line and the sweep meet in a merge, the result
//! belongs to the sweep.
//!
//! # Good for, bad for
//! Good for deep queues where nobody may be forgotten: no stream can hold the head. Bad for throughput
//! compared with `look`: a newcomer right under the head waits a sweep.
//!
//! # Starvation
//! None: whoever stands in line is overtaken by at most `n` - 1 that came later.

use core::marker::PhantomData;

use crate::collections::{Fifo, OutOfMemory, Sorted};
use crate::scheduler::{Algorithm, Cx, Decision, Scheduler, Setup, Starvation};
use crate::schedulers::shared::head::Head;
use crate::tunables::{Count, Tunables};
use crate::units::{Duration, RequestId};

crate::tunables! {
    /// Tunables of [`NStepScan`].
    pub struct Settings {
        /// Requests in a sweep.
        n: Count = 16, 1..=1_000_000;
    }
}

/// Sweeps over the requests in line, `n` at a time.
pub type NStepScan = Closed<Steps>;

/// How many requests make a sweep.
pub trait Group: 'static {
    /// See [`Algorithm::NAME`].
    const NAME: &'static str;
    /// See [`Algorithm::SUMMARY`].
    const SUMMARY: &'static str;
    /// See [`Algorithm::Tunables`].
    type Tunables: Tunables + 'static;
    /// The most requests that a sweep takes from the line.
    fn most(tunables: &Self::Tunables) -> u64;
    /// See [`Algorithm::starvation`].
    fn starvation(tunables: &Self::Tunables) -> Starvation;
}

/// `n` requests.
pub struct Steps;

impl Group for Steps {
    const NAME: &'static str = "n-step-scan";
    const SUMMARY: &'static str = "Sweeps over n requests at a time, in groups by arrival.";
    type Tunables = Settings;

    fn most(tunables: &Settings) -> u64 {
        tunables.n.0
    }

    fn starvation(tunables: &Settings) -> Starvation {
        Starvation::Bounded { after: Duration::ZERO, per_waiting: 1, plus: tunables.n.0 - 1 }
    }
}

/// An elevator whose sweep is closed to newcomers.
pub struct Closed<G: Group> {
    /// Requests that came after the sweep was closed.
    line: Fifo,
    /// What this sweep still has to serve.
    sweep: Sorted,
    head: Head,
    tunables: G::Tunables,
    group: PhantomData<G>,
}

impl<G: Group> Algorithm for Closed<G> {
    const NAME: &'static str = G::NAME;
    const SUMMARY: &'static str = G::SUMMARY;
    const SOURCE: &'static str = "textbook";
    type Tunables = G::Tunables;

    fn new(setup: Setup<'_>, tunables: G::Tunables) -> Result<Self, OutOfMemory> {
        let (line, sweep) = (Fifo::new(setup.capacity)?, Sorted::new(setup.capacity)?);
        Ok(Closed { line, sweep, head: Head::default(), tunables, group: PhantomData })
    }

    fn tune(&mut self, tunables: G::Tunables) {
        self.tunables = tunables;
    }

    fn starvation(tunables: &G::Tunables) -> Starvation {
        G::starvation(tunables)
    }
}

impl<G: Group> Scheduler for Closed<G> {
    fn insert(&mut self, _: Cx<'_>, id: RequestId) {
        self.line.push(id);
    }

    fn dispatch(&mut self, cx: Cx<'_>) -> Decision {
        if self.sweep.is_empty() {
            let most = G::most(&self.tunables).min(self.line.len() as u64);
            for id in (0..most).map_while(|_| self.line.pop()) {
                self.sweep.insert(cx[id].start.0, id);
            }
        }
        let Some(id) = self.head.sweep(&self.sweep) else { return Decision::Idle };
        self.sweep.remove(id);
        self.head.goes_to(&cx[id]);
        let facts = || [self.head.heading.word().into(), self.sweep.len().into(), self.line.len().into()];
        cx.because("next {} in this sweep, {} left in it, {} in line for the next", facts);
        Decision::Dispatch(id)
    }

    fn remove(&mut self, _: Cx<'_>, id: RequestId) {
        if self.sweep.contains(id) {
            self.sweep.remove(id);
        } else {
            self.line.remove(id);
        }
    }

    fn grown(&mut self, cx: Cx<'_>, id: RequestId) {
        if self.sweep.contains(id) {
            self.sweep.rekey(id, cx[id].start.0);
        }
    }

    fn absorbed(&mut self, cx: Cx<'_>, survivor: RequestId, other: RequestId) {
        match (self.sweep.contains(survivor), self.sweep.contains(other)) {
            (false, false) => self.line.absorb(survivor, other),
            (false, true) => {
                self.line.remove(survivor);
                self.sweep.remove(other);
                self.sweep.insert(cx[survivor].start.0, survivor);
            }
            (true, _) => {
                self.remove(cx, other);
                self.grown(cx, survivor);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::schedulers::shared::head::tests::order;

    #[test]
    fn a_sweep_takes_n_requests_of_the_line() {
        let starts = [900, 100, 500, 400, 300];
        assert_eq!(order("n-step-scan", &[("n", 2)], 50, &starts), [100, 900, 500, 400, 300]);
        assert_eq!(order("n-step-scan", &[("n", 1)], 50, &starts), starts);
        assert_eq!(order("fscan", &[], 450, &starts), [500, 900, 400, 300, 100]);
    }
}
