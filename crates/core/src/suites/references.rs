//! The references: every scheduler's rules again, slow and obvious. The oracle suite compares decisions with theirs.
//!
//! Each file is named as its scheduler, or as what several have in common.

mod adios;
mod anticipatory;
mod anticipatory_linux;
mod aql;
mod bfq;
mod cfq;
mod cfq_2_6_12;
mod cfq_2_6_9;
mod deadline;
mod dispatch_list;
mod kyber;
mod lottery;
mod mq_deadline;
mod n_step_scan;
mod noop;
mod random;
mod rwfifo;
mod scan;
mod seek;
mod sptf;
mod stride;
mod stride_sptf;
mod time_shares;
mod turns;
mod yfq;

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::SlowList;
use crate::request::Request;
use crate::scheduler::{Algorithm, Cx, Decision, Scheduler, Setup};
use crate::units::{Duration, Instant, Issuer, RequestId, Sector};

/// A scheduler with a reference.
pub(crate) trait Referenced: Algorithm {
    /// Builds the reference.
    fn reference(setup: Setup<'_>, tunables: Self::Tunables) -> Box<dyn Scheduler>;
}

/// Two requests of `line` become one: the survivor has the earlier place.
fn merge(line: &mut Vec<RequestId>, survivor: RequestId, other: RequestId) {
    let either = |held: &RequestId| *held == survivor || *held == other;
    let earlier = line.iter().position(either).unwrap();
    line.retain(|held| !either(held));
    line.insert(earlier, survivor);
}
