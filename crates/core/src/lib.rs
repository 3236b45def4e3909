//! Disk schedulers, each written once as a small, safe, deterministic state machine.
//!
//! A scheduler does no I/O, reads no clock and allocates only when it is built. A *host* (the
//! simulator, a kernel, a server) holds a [`Queue`], tells it what happened and when, and asks what
//! to do next.
//!
//! ```
//! use idlewise_core::{Decision, Device, Instant, Queue, Request, Sector, Sectors, registry};
//!
//! let entry = registry::find("c-look").unwrap();
//! let mut queue = Queue::new(128, Device::default(), entry, &[]).unwrap();
//! let now = Instant(0);
//! queue.insert(now, Request::read(Sector(9_000), Sectors(8))).unwrap();
//! let near = queue.insert(now, Request::read(Sector(1_000), Sectors(8))).unwrap().id();
//! assert_eq!(queue.dispatch(now), Ok(Decision::Dispatch(near)));
//! ```
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod admission;
pub mod collections;
pub mod device;
pub mod host;
pub mod learned;
pub mod ops;
pub mod queue;
pub mod registry;
pub mod request;
pub mod request_table;
pub mod rng;
pub mod scheduler;
pub mod schedulers;
pub mod selectors;
#[cfg(test)]
mod suites;
pub mod tunables;
pub mod units;
pub mod why;

pub use admission::{Admission, AdmissionClass, DepthLimit};
pub use device::{Device, Merging};
pub use host::Host;
pub use queue::{HostError, Inserted, Queue};
pub use registry::AnyScheduler;
pub use request::{Class, Direction, Durable, Operation, Priority, Request};
pub use scheduler::{Algorithm, Cx, Decision, Policy, Scheduler, Setup, Starvation};
pub use units::{Duration, Group, Instant, Issuer, RequestId, SECTOR_BYTES, Sector, Sectors, Weight};
pub use why::Why;
