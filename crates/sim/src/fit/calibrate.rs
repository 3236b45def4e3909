//! Which reads show a disk, where no recording does.
//!
//! A disk with platters is read in a row in each zone (rates), at places again and again (rotation), at random
//! distances (positioning), and a little after what was read before (buffer and reading ahead). A flash device is read in
//! all sizes, alone and beside others. Nothing is written, so that what only writes show stays unknown.

use std::io;

use idlewise_core::{Instant, Sector, Sectors};

use super::platters::ZONES;
use super::rows::PLATTERS_NS;
use crate::traces::Record;

/// Somebody who reads a disk, past all buffers of the host.
pub trait Reader {
    /// Sectors on the disk.
    fn capacity(&self) -> u64;

    /// Reads each extent (first sector, sectors), `depth` at once, in order; gives when each was sent and when it was
    /// done, in ns since any one moment.
    ///
    /// # Errors
    /// The disk cannot be read.
    fn read(&mut self, extents: &[(u64, u32)], depth: usize) -> io::Result<Vec<(u64, u64)>>;
}

/// Reads are at places that are multiples of this, in sectors: 4 KiB.
const UNIT: u64 = 8;

/// Reads at first, which tell platters from flash.
const PROBES: u64 = 64;

/// Places on the disk where it is read in a row: as many as a model has zones; the size of each read in sectors, and how
/// many: 24 MiB, or less on a disk that takes 40 revolutions for that.
const RUNS: u64 = ZONES as u64;
const RUN_READ: u32 = 512;
const RUN_READS: u64 = 96;
const RUN_NS: u64 = 350_000_000;

/// Places that are read again and again, and how often.
const AGAIN: u64 = 16;
const ROUNDS: u64 = 20;

/// Reads at random distances, at most; the time that is left decides.
const FAR_READS: u64 = 2400;

/// Reads at once.
const BATCH: u64 = 40;

/// Reads of flash of each size at each depth.
const FLASH_READS: u64 = 400;

struct Plan<'a> {
    reader: &'a mut dyn Reader,
    progress: &'a mut dyn FnMut(&str, f64),
    records: Vec<Record>,
    random: u64,
    began: Option<u64>,
    budget_ns: u64,
    used_ns: u64,
}

impl Plan<'_> {
    fn below(&mut self, bound: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11) % bound.max(1)
    }

    /// A place for a read of `sectors`.
    fn anywhere(&mut self, sectors: u64) -> u64 {
        let room = self.reader.capacity().saturating_sub(sectors) / UNIT;
        self.below(room) * UNIT
    }

    fn read(&mut self, what: &str, extents: &[(u64, u32)], depth: usize) -> io::Result<()> {
        let times = self.reader.read(extents, depth)?;
        for (&(start, sectors), (issued, done)) in extents.iter().zip(times) {
            let began = *self.began.get_or_insert(issued);
            let at = |time: u64| Instant(time.saturating_sub(began));
            let record = Record::read(at(issued), Sector(start), Sectors(sectors));
            self.records.push(Record { dispatched: Some(at(issued)), completed: Some(at(done)), ..record });
            self.used_ns = self.used_ns.max(done.saturating_sub(began));
        }
        (self.progress)(what, self.used_ns as f64 / self.budget_ns.max(1) as f64);
        Ok(())
    }

    /// Whether this share of the time is used.
    fn used(&self, share: f64) -> bool {
        self.used_ns as f64 > self.budget_ns as f64 * share
    }

    fn platters(&mut self) -> io::Result<()> {
        let capacity = self.reader.capacity();
        for run in 0..RUNS {
            if self.used(0.3) {
                break;
            }
            // Spread from the first on, so that few runs too lie all over the disk.
            let place = (run * 27) % RUNS;
            let began = self.used_ns;
            let span = RUN_READS * u64::from(RUN_READ);
            let first = (capacity.saturating_sub(span) / RUNS * place) / UNIT * UNIT;
            let reads: Vec<(u64, u32)> = (0..RUN_READS)
                .map(|at| (first + at * u64::from(RUN_READ), RUN_READ))
                .filter(|&(start, sectors)| start + u64::from(sectors) <= capacity)
                .collect();
            for some in reads.chunks(RUN_READS as usize / 3) {
                if self.used_ns - began < RUN_NS {
                    self.read("transfer rates", some, 1)?;
                }
            }
        }
        let places: Vec<u64> = (0..AGAIN).map(|_| self.anywhere(UNIT).max(ROUNDS * UNIT)).collect();
        for round in 0..ROUNDS {
            if self.used(0.5) {
                break;
            }
            // Each time the sectors before: those after may have been read ahead.
            let reads: Vec<(u64, u32)> =
                places.iter().map(|place| (place - round * UNIT, UNIT as u32)).collect();
            self.read("rotation", &reads, 1)?;
        }
        let mut at = capacity / 2;
        for _ in 0..FAR_READS / BATCH {
            if self.used(0.95) {
                break;
            }
            let mut reads = Vec::new();
            for _ in 0..BATCH {
                // Distances from 1/16384 of the disk to all of it, each octave alike.
                let octave = 1u64 << self.below(14);
                let distance = capacity / (octave * 2) + self.below(capacity / (octave * 2));
                let up = at + distance + UNIT < capacity && (at < distance || self.below(2) == 0);
                at = if up { at + distance } else { at.saturating_sub(distance) } / UNIT * UNIT;
                reads.push((at, UNIT as u32));
            }
            self.read("positioning", &reads, 1)?;
        }
        for _ in 0..BATCH {
            if self.used(1.0) {
                break;
            }
            let first = self.anywhere(1 << 15);
            let reads = [0, 8, 24, 72, 256, 1024, 4096, 16].map(|after| (first + after, UNIT as u32));
            self.read("buffer", &reads, 1)?;
        }
        Ok(())
    }

    fn flash(&mut self) -> io::Result<()> {
        for depth in [1, 4, 16] {
            for sectors in [8u32, 16, 32, 64, 128, 256, 512] {
                let reads: Vec<(u64, u32)> =
                    (0..FLASH_READS).map(|_| (self.anywhere(u64::from(sectors)), sectors)).collect();
                if self.used(1.0) {
                    return Ok(());
                }
                self.read(&format!("reads of {} KiB, {depth} at once", sectors / 2), &reads, depth)?;
            }
        }
        Ok(())
    }
}

/// Reads a disk for as long as `budget_ns` at most, and gives what a recording of it would have. `progress` is told what
/// is measured and the share of the time that is used.
///
/// # Errors
/// The disk cannot be read.
pub fn calibrate(
    reader: &mut dyn Reader,
    budget_ns: u64,
    progress: &mut dyn FnMut(&str, f64),
) -> io::Result<Vec<Record>> {
    let random = 0x9e37_79b9_7f4a_7c15;
    let mut plan = Plan { reader, progress, records: Vec::new(), random, began: None, budget_ns, used_ns: 0 };
    let reads: Vec<(u64, u32)> = (0..PROBES).map(|_| (plan.anywhere(UNIT), UNIT as u32)).collect();
    plan.read("kind of disk", &reads, 1)?;
    let mut times: Vec<u64> =
        plan.records.iter().filter_map(|record| record.response()).map(|time| time.0).collect();
    times.sort_unstable();
    if times.get(times.len() / 2).is_some_and(|&median| median > PLATTERS_NS) {
        plan.platters()?;
    } else {
        plan.flash()?;
    }
    Ok(plan.records)
}
