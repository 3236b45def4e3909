//! Disk schedulers, each written once as a small, safe, deterministic state machine.
//!
//! A scheduler does no I/O, reads no clock and allocates only when it is built. A *host* (the
//! simulator, a kernel, a server) owns a queue of requests, tells it what happened and when, and
//! asks what to do next.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]

extern crate alloc;

pub mod request;
pub mod units;

pub use request::{Class, Direction, Operation, Priority, Request};
pub use units::{Duration, Instant, Issuer, RequestId, SECTOR_BYTES, Sector, Sectors};
