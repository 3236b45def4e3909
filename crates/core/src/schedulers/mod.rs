//! The registry of schedulers: one line for each file.

use crate::registry::registry;
use crate::request::Request;
use crate::scheduler::{Algorithm, Cx, Decision, Scheduler};
use crate::tunables::{TunableError, Tunables};
use crate::units::{Issuer, RequestId};

mod arm;

registry! {
    noop: Noop;
    sstf: Sstf;
    scan: Scan, CScan;
    look: Look;
    c_look: CLook;
    vscan: Vscan;
}
