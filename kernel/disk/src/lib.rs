//! The disk models as functions that the C driver of the kernel module calls.
//!
//! | file | what |
//! |---|---|
//! | `profiles` | the disks by name, compiled from their TOML files by `build.rs` |
//! | `device` | a disk: commands in, completions out |
//!
//! The boundary to C, memory and panics are as in the schedulers' module; after a panic `iw_panicked` in `driver/driver.c` takes over. `driver/model.h`, which a test makes of
//! these files, declares the same functions for C. The driver passes what these functions gave it, or its own memory;
//! one call for a disk at a time. Functions that may sleep say so.
//! The driver calls those, and those that free something, without a lock.
#![cfg_attr(not(test), no_std)]
#![allow(clippy::missing_safety_doc, reason = "the driver's duties are those stated above, for all")]

extern crate alloc;

#[path = "../../src/boundary.rs"]
mod boundary;
pub mod device;
#[cfg(not(test))]
#[path = "../../src/memory.rs"]
mod memory;
#[cfg(not(test))]
#[path = "../../src/panic.rs"]
mod panic;
mod profiles;
