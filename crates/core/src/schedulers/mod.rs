//! The registry of schedulers: one line for each file.

use crate::registry::{calls, registry};
use crate::request::Request;
use crate::scheduler::{Algorithm, Cx, Decision, Scheduler};
use crate::tunables::{TunableError, Tunables};
use crate::units::{Issuer, RequestId};

mod arm;
mod clocks;
mod dispatch_list;
mod lines;
mod means;
mod positions;
mod sides;
mod ways;

pub use clocks::Clocked;

registry! {
    noop: Noop;
    random: Random;
    sstf: Sstf;
    scan: Scan, CScan;
    look: Look;
    c_look: CLook;
    vscan: Vscan;
    n_step_scan: FScan, NStepScan;
    sptf: Sptf;
    aged_sptf: AgedSptf;
    antic: AnticSptf, AnticAgedSptf, AnticCLook, AnticStride, AnticYfq, AnticStrideSptf, AnticAdaptive;
    deadline: Deadline, Deadline2611;
    mq_deadline: MqDeadline;
    kyber: Kyber;
    adios: Adios;
    anticipatory_linux: As, As2611;
    cas: Cas;
    cfq: Cfq;
    cfq_service: Cfq2612;
    cfq_rounds: Cfq269;
    bfq: Bfq;
    aql: Aql;
    rwfifo: RwFifo;
    stride: Stride;
    stride_sptf: StrideSptf;
    lottery: Lottery;
    yfq: Yfq;
}
