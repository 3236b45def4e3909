//! Shortest positioning time first, where waiting counts: nobody is forgotten.
//!
//! # How it decides
//! Positioning times T come from the curve of `sptf`; A is the age of a request, of the
//! oldest part if it was merged, in whole microseconds. Ties go to the one that arrived first.
//! - `bounded`: the oldest request, if A is at least `bound`; else the least T.
//! - `linear`: the least T - `age_weight`/1000 × A.
//! - `weighted`: the oldest request, if A is at least `max_response`; else the least T × (M - A) / M,
//!   where M is `max_response`.
//!
//! # Source
//! SOSP'01 §4 evaluates `bounded` with 1 s, at less than 1 % of throughput; 100 ms cost 8 %. `linear`
//! is ASPTF(w), Worthington, Ganger and Patt 1994, with DiskSim's factor of 0.001. `weighted` is
//! Seltzer, Chen and Ousterhout's weighted SPTF, 1990, as in DiskSim.
//!
//! # Differs from the source
//! DiskSim's `weighted` multiplies with a negative number when A exceeds M. Then a request that is far
//! away wins over one that is older and near, and the nearest is served last. Here whoever is overdue
//! goes in order of arrival.
//!
//! # Good for, bad for
//! Good for throughput with a limit to unfairness. Bad for overload: with everybody overdue it is first
//! come, first served.
//!
//! # Starvation
//! `bounded` and `weighted`: who is overdue is overtaken only by those that came before. `linear`:
//! likewise, once the weight of the age exceeds the longest positioning time. Unbounded if
//! `age_weight` is 0.

use crate::collections::OutOfMemory;
use crate::learned::Learned;
use crate::scheduler::{Algorithm, Cx, Decision, Policy, Scheduler, Setup, Starvation};
use crate::schedulers::shared::by_positioning_time::ByPositioningTime;
use crate::tunables::{Count, Milliseconds};
use crate::units::{Duration, RequestId};

crate::choices! {
    /// How age counts.
    pub enum Form {
        /// From a bound on, age alone decides.
        Bounded = "bounded",
        /// Positioning time less a share of the age.
        Linear = "linear",
        /// Positioning time shrinks to nothing as the age approaches a limit.
        Weighted = "weighted",
    }
}

crate::tunables! {
    /// Tunables of [`AgedSptf`].
    pub struct Settings {
        /// How age counts.
        form: Form = 0, 0..=2;
        /// Form bounded: the age from which the oldest request goes first.
        bound: Milliseconds = 1000, 0..=3_600_000;
        /// Form linear: thousandths of a millisecond of positioning time that a millisecond of age outweighs.
        age_weight: Count = 6, 0..=1_000_000;
        /// Form weighted: the age at which positioning time counts no more.
        max_response: Milliseconds = 2000, 1..=3_600_000;
    }
}

/// Shortest positioning time first, with ageing.
pub struct AgedSptf {
    positions: ByPositioningTime,
    tunables: Settings,
}

/// The longest time that a curve can hold.
const LONGEST: u64 = u32::MAX as u64;

impl Algorithm for AgedSptf {
    const NAME: &'static str = "aged-sptf";
    const SUMMARY: &'static str =
        "Serves the request that the head reaches soonest, but no one waits too long.";
    const SOURCE: &'static str = "SOSP'01 §3.3, §4; Worthington et al. 1994; Seltzer et al. 1990";
    type Tunables = Settings;

    fn new(setup: Setup<'_>, tunables: Settings) -> Result<Self, OutOfMemory> {
        Ok(AgedSptf { positions: ByPositioningTime::new(setup)?, tunables })
    }

    fn tune(&mut self, tunables: Settings) {
        self.tunables = tunables;
    }

    fn starvation(tunables: &Settings) -> Starvation {
        let after = match (tunables.form, tunables.age_weight.0) {
            (Form::Bounded, _) => tunables.bound.0,
            (Form::Weighted, _) => tunables.max_response.0,
            (Form::Linear, 0) => return Starvation::Unbounded,
            // Whoever comes later than this cannot outweigh our age by being nearer.
            (Form::Linear, weight) => Duration::from_us(LONGEST / weight + 2),
        };
        Starvation::Bounded { after, per_waiting: 1, plus: 0 }
    }
}

impl AgedSptf {
    /// The request that would be next if age did not count.
    pub fn nearest(&self, cx: Cx<'_>) -> Option<RequestId> {
        self.positions.least(cx, |time, _| time, |time| time)
    }

    /// The oldest request, if it is overdue.
    fn overdue(&self, cx: Cx<'_>) -> Option<RequestId> {
        let limit = match self.tunables.form {
            Form::Bounded => self.tunables.bound.0,
            Form::Weighted => self.tunables.max_response.0,
            Form::Linear => return None,
        };
        self.positions.fifo.front().filter(|oldest| cx.age(*oldest) >= limit)
    }
}

/// Positioning time less the weight of the age, in nanoseconds.
fn linear(time: Duration, age: Duration, weight: u64) -> i64 {
    // Microseconds times thousandths are nanoseconds.
    let credit = i64::try_from(age.as_us().saturating_mul(weight)).unwrap_or(i64::MAX);
    time.0 as i64 - credit
}

/// Positioning time times what is left to the limit. Dividing by the limit would change no order.
fn weighted(time: Duration, age: Duration, limit: Duration) -> u64 {
    let left = limit.as_us().saturating_sub(age.as_us());
    time.0.saturating_mul(left)
}

impl Scheduler for AgedSptf {
    fn insert(&mut self, cx: Cx<'_>, id: RequestId) {
        self.positions.insert(cx, id);
    }

    fn dispatch(&mut self, cx: Cx<'_>) -> Decision {
        self.serve(cx)
    }

    fn complete(&mut self, cx: Cx<'_>, _: RequestId) {
        self.positions.completed(cx);
    }

    fn remove(&mut self, _: Cx<'_>, id: RequestId) {
        self.positions.remove(id);
    }

    fn grown(&mut self, cx: Cx<'_>, id: RequestId) {
        self.positions.grown(cx, id);
    }

    fn absorbed(&mut self, cx: Cx<'_>, survivor: RequestId, other: RequestId) {
        self.positions.absorbed(cx, survivor, other);
    }

    fn adopt(&mut self, _: Cx<'_>, _: RequestId) {
        self.positions.adopted();
    }

    fn learned(&self) -> Option<&Learned> {
        Some(&self.positions.learned)
    }

    fn inherit(&mut self, learned: &Learned) {
        self.positions.learned.clone_from(learned);
    }
}

impl Policy for AgedSptf {
    fn select(&self, cx: Cx<'_>) -> Option<RequestId> {
        if let Some(id) = self.overdue(cx) {
            return Some(id);
        }
        let highest_age = cx.age(self.positions.fifo.front()?);
        match self.tunables.form {
            Form::Bounded => self.positions.least(cx, |time, _| time, |time| time),
            Form::Linear => {
                let weight = self.tunables.age_weight.0;
                let cost = |time, id| linear(time, cx.age(id), weight);
                self.positions.least(cx, cost, |time| linear(time, highest_age, weight))
            }
            Form::Weighted => {
                let limit = self.tunables.max_response.0;
                let cost = |time, id| weighted(time, cx.age(id), limit);
                self.positions.least(cx, cost, |time| weighted(time, highest_age, limit))
            }
        }
    }

    fn take(&mut self, cx: Cx<'_>, id: RequestId) {
        if self.overdue(cx) == Some(id) {
            cx.because("the oldest has waited {}, as long as anybody may", || [cx.age(id).into()]);
        } else {
            let facts = || [self.positions.expected(cx, id).into(), cx.age(id).into()];
            cx.because("least by positioning time, about {}, and its age, {}", facts);
        }
        self.positions.take(cx, id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Device;
    use crate::queue::Queue;
    use crate::request::Request;
    use crate::units::{Instant, Sector, Sectors};

    /// Far waits at the other end of the disk; near arrives at `ms`, where the head is. Who goes first?
    fn far_goes_first(settings: &[(&str, u64)], ms: u64) -> bool {
        let entry = crate::registry::find("aged-sptf").unwrap();
        let mut queue = Queue::new(8, Device::default(), entry, settings).unwrap();
        let far = queue.insert(Instant(0), Request::read(Sector(1_900_000_000), Sectors(8))).unwrap().id();
        let now = Instant(ms * 1_000_000);
        queue.insert(now, Request::read(Sector(8), Sectors(8))).unwrap();
        queue.dispatch(now) == Ok(Decision::Dispatch(far))
    }

    #[test]
    fn from_the_bound_on_the_oldest_goes_first() {
        assert!(!far_goes_first(&[], 999));
        assert!(far_goes_first(&[], 1000));
        assert!(far_goes_first(&[("bound", 100)], 100));
    }

    #[test]
    fn linear_weighs_age_against_positioning() {
        // About 10 ms of positioning, so 10 s of age at a weight of 1.
        assert!(!far_goes_first(&[("form", 1), ("age_weight", 1)], 1000));
        assert!(far_goes_first(&[("form", 1), ("age_weight", 1)], 20_000));
        assert!(!far_goes_first(&[("form", 1), ("age_weight", 0)], 3_000_000));
    }

    #[test]
    fn weighted_prefers_near_ones_ever_less() {
        assert!(!far_goes_first(&[("form", 2)], 100));
        assert!(far_goes_first(&[("form", 2)], 1999));
    }
}
