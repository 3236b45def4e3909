//! The elevator that sweeps upward only, to the end of the disk, and begins again at sector 0.
//!
//! # How it decides
//! 1. Take the nearest request at or above the end of the last one dispatched. Requests with equal
//!    addresses are dispatched in order of arrival.
//! 2. If there is none, the head moves on to the end of the disk and from there to sector 0. The travel
//!    begins when the last request in flight completes, or when a request arrives after a pause.
//! 3. A request that arrives ahead of where the last one ended, before the travel is over, still belongs
//!    to this sweep, and is dispatched at once.
//! 4. When the travel is over, the request with the lowest address begins the next sweep.
//!
//! A scheduler chooses an order; it cannot move the head to a place where nothing is to be read. `c-scan`
//! therefore waits as long as the detour takes: the seeks to the end, to sector 0 and to the request,
//! less the seek that the disk itself will do, all by the device's curve of positioning times. On a
//! device without moving heads no time passes.
//!
//! # Source
//! Textbooks.
//!
//! # Differs from the source
//! The head's place during the detour is not modelled: a request that the head has passed on its way to
//! the end is still served in this sweep.
//!
//! # Good for, bad for
//! Good for comparison: `c-scan` shows what `c-look` saves. Bad for light loads, where each sweep pays
//! for two empty ends of the disk.
//!
//! # Starvation
//! Unbounded: arrivals just ahead of the head hold it in place.

use super::scan::{EndToEnd, Sweep};

/// Sweeps upward from sector 0 to the end of the disk.
pub type CScan = EndToEnd<Upward>;

/// The rule of [`CScan`].
pub struct Upward;

impl Sweep for Upward {
    const NAME: &'static str = "c-scan";
    const SUMMARY: &'static str = "Sweeps upward to the very end of the disk and starts again at sector 0.";
    const TURNS: bool = false;
}
