//! The schedulers as functions that the C shim of the kernel module calls.
//!
//! | file | what |
//! |---|---|
//! | `selector` | a selector that follows a queue |
//! | `boundary` | text into and out of C's memory, memory for what C holds, error numbers |
//! | `candidates` | schedulers with their settings as words |
//! | `catalogue` | which schedulers there are, under which elevator names, with which tunables |
//! | `curve` | a disk's positioning time by distance |
//! | `queue` | a queue: what the shim does for each request |
//! | `memory` | the kernel's allocator as Rust's |
//! | `panic` | what a panic says, and its way out |
//! | `tables` | what was measured of a disk for its selectors |
//!
//! `shim/core.h`, which a test makes of these files, declares the same functions for C. Unsafe code is in this
//! crate and in `kernel/disk` alone. `asm/guard.h` stands between: a function that panics returns 0. The shim passes what these functions
//! gave it, or its own memory; one call for a queue at a time. Functions that may sleep say so. The shim calls
//! those, and those that free something, without a lock.
#![cfg_attr(not(test), no_std)]
#![allow(clippy::missing_safety_doc, reason = "the shim's duties are those stated above, for all")]

extern crate alloc;

mod boundary;
mod candidates;
pub mod catalogue;
pub mod curve;
#[cfg(not(test))]
mod memory;
#[cfg(not(test))]
mod panic;
pub mod queue;
pub mod selector;
pub mod tables;
