//! Read-ahead: what a `read(2)` reads beyond what it was asked for.
//!
//! An algorithm is told of each unit (a page, or a block of FreeBSD's) that a call comes to, and whether the unit is in
//! the cache. The algorithm answers with windows: what is to be read now, in this order. Each `open(2)`
//! has a state of its own.

mod clusters;
mod hits;
mod on_demand;
#[cfg(test)]
mod tests;
pub mod window;
mod windows;

use super::parameters::Readahead;
use clusters::Clusters;
use hits::Hits;
use on_demand::OnDemand;
use window::{Unit, Window};
use windows::Windows;

/// What an algorithm knows of an open file.
#[derive(Clone, Copy, Debug)]
pub enum State {
    /// Linux 2.6 until 2.6.10.
    Hits(Hits),
    /// Linux 2.6.11 to 2.6.22.
    Windows(Windows),
    /// Linux from 2.6.23 on.
    OnDemand(OnDemand),
    /// FreeBSD 4.
    Clusters(Clusters),
}

impl State {
    /// A file that was opened.
    pub fn new(readahead: Readahead) -> State {
        match readahead {
            Readahead::Hits { max } => State::Hits(Hits::new(max)),
            Readahead::Windows { max } => State::Windows(Windows::new(max)),
            Readahead::OnDemand { max } => State::OnDemand(OnDemand::new(max)),
            Readahead::Clusters { cluster } => State::Clusters(Clusters::new(cluster)),
        }
    }

    /// A call begins that wants these bytes.
    pub fn call(&mut self, from: u64, bytes: u64) {
        match self {
            State::Windows(windows) => windows.call(),
            State::Hits(_) | State::OnDemand(_) => {}
            State::Clusters(clusters) => clusters.call(from, bytes),
        }
    }

    /// A call has come to `unit`. The windows to read are added to `out`.
    pub fn at(&mut self, unit: Unit, cached: &dyn Fn(u64) -> bool, out: &mut Vec<Window>) {
        match self {
            State::Hits(state) => state.at(unit, cached, out),
            State::Windows(state) => state.at(unit, cached, out),
            State::OnDemand(state) => state.at(unit, cached, out),
            State::Clusters(state) => state.at(unit, cached, out),
        }
    }

    /// A unit that had been read ahead is gone again.
    pub fn missed(&mut self) {
        match self {
            State::Hits(state) => state.missed(),
            State::Windows(state) => state.missed(),
            State::OnDemand(_) | State::Clusters(_) => {}
        }
    }
}
