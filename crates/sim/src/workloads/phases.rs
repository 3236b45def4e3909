//! Loads that change: phases one after the other, each with processes of its own.
//!
//! Phases last by time, not by work: under every scheduler the same processes run at the same time, and what is done
//! in a phase can be compared. When a phase ends its processes issue nothing more; what they have issued is
//! finished in the next one. Where exactly a phase ends varies with the seed, so that no selector's period can fit.

mod kinds;
mod mixes;

pub use kinds::Kind;
pub use mixes::{MIXES, Mix};

use idlewise_core::{Duration, Instant};
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{Ground, Processes};

/// The end of a phase varies by up to this.
const VARIATION: Duration = Duration::from_ms(900);

/// What follows the last phase, in reports.
pub const REST: &str = "rest";

/// The processes of these phases with their lengths, on `ground`.
pub(super) fn phased(phases: &[(Kind, Duration)], ground: Ground) -> Processes {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(ground.seed);
    let (mut all, mut named) = (Vec::new(), Vec::new());
    let mut begins = Instant::ZERO;
    for (kind, length) in phases {
        named.push((kind.name().to_owned(), begins));
        let varied = Duration(rng.random_range(0..=VARIATION.0.min(length.0 / 10)));
        let length = *length - VARIATION.min(*length / 10) / 2 + varied;
        for mut process in kind.processes(ground) {
            // A process never starts after the end of its phase.
            let lag = Duration(process.start.0.min(length.0 / 2));
            process.start = begins + lag;
            process.runtime = length - lag;
            process.name = format!("{}-{}", named.len(), process.name);
            all.push(process);
        }
        begins += length;
    }
    named.push((REST.to_owned(), begins));
    Processes::new(all, ground.seed).phased(named)
}
