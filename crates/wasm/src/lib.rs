//! The simulator as a WebAssembly module, for the page in `web/`.
//!
//! The page says what to run as JSON ([`Wanted`]); a run tells it what happens as it happens, packed into numbers
//! (`frames`), and at its end gives the report that `idlewise run --json` has as `result`. No rule of scheduling, of disks
//! or of loads is here.
//!
//! | file | what |
//! |---|---|
//! | `abi` | the functions that JavaScript calls, and the one that it lends: the only unsafe code |
//! | `catalogue` | schedulers with their tunables, disks and workloads, as JSON |
//! | `wanted` | from JSON to an experiment |
//! | `bytes` | a trace that lies in memory |
//! | `frames` | what happens in a run, packed |
//! | `playing` | a run from its beginning to its report |
#![deny(unsafe_code)]

#[cfg(target_family = "wasm")]
mod abi;
mod bytes;
mod catalogue;
mod frames;
mod playing;
mod wanted;

pub use catalogue::catalogue;
pub use playing::{Part, play};
pub use wanted::{LoadWanted, Wanted};
