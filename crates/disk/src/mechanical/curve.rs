//! Expected positioning time by distance in sectors, from the geometry.
//!
//! What a scheduler can know of a disk before it has measured anything: the seek over the mean
//! number of cylinders that the distance spans, plus half a revolution. Distance 0 (sequential)
//! costs nothing.

use super::Mechanical;
use super::media::{ReadMode, Stream};
use alloc::vec::Vec;
use idlewise_core::Duration;

impl Mechanical {
    /// A table of `points` ascending LBA distances in sectors, and the expected time to get there:
    /// seek plus half a revolution; 0 for distance 0. Distances grow geometrically.
    pub(super) fn expected_positioning(&self, points: usize) -> Vec<(u64, Duration)> {
        let geometry = self.geometry();
        let capacity = geometry.capacity();
        let cylinders = u64::from(geometry.cylinders());
        let per_cylinder = (capacity / cylinders).max(1);
        let half = u64::from(geometry.period()) / 2;
        let mut table = Vec::with_capacity(points);
        for index in 0..points {
            let distance = geometric(capacity - 1, index, points.saturating_sub(1));
            // Within a cylinder's worth, the chance of leaving the cylinder grows with the distance.
            let whole = (distance / per_cylinder).min(cylinders - 1) as u32;
            let part = distance % per_cylinder;
            let near = u64::from(self.seek_curve().time(whole));
            let far = u64::from(self.seek_curve().time((whole + 1).min(cylinders as u32)));
            let seek = near + (far.saturating_sub(near)) * part / per_cylinder;
            let time = if distance == 0 { 0 } else { seek + half };
            if table.last().is_none_or(|&(d, _)| d < distance) {
                table.push((distance, Duration(time)));
            }
        }
        table
    }

    /// Sequential rate in a zone, over tracks and cylinders, in bytes a second. The zone must exist.
    pub fn sequential_rate(&self, zone: usize) -> u64 {
        let zone = self.geometry().zones()[zone];
        let sectors = (zone.end - zone.start).min(4 * u64::from(zone.per_cylinder)) as u32;
        // From the first sector of one cylinder to the first of another: whole cylinders only.
        let whole = sectors / zone.per_cylinder * zone.per_cylinder;
        let sectors = if whole > 0 { whole } else { sectors };
        let mut media = self.media.clone();
        let mut stream = Stream::new(0, sectors, 1, 0, 0);
        let extent = media.extent(zone.start, sectors);
        let first = media.read(0, extent, ReadMode::default(), 0, &mut stream);
        let mut time = first.end - first.seek - first.rotation;
        if zone.start + u64::from(sectors) < zone.end {
            // With the switch to the next cylinder.
            let next = media.extent(zone.start + u64::from(sectors), 1);
            let mut stream = Stream::new(0, 1, 1, 0, 0);
            let run = media.read(first.end, next, ReadMode::default(), 0, &mut stream);
            time += run.seek + run.rotation;
        }
        (u64::from(sectors) * 512).saturating_mul(1_000_000_000) / time.max(1)
    }
}

/// Step `index` of `last` from 0 to `max`: each step multiplies the distance by about the same factor.
fn geometric(max: u64, index: usize, last: usize) -> u64 {
    if index == 0 || last == 0 {
        return 0;
    }
    if index >= last {
        return max;
    }
    // In units of 1/16 octave: 2^(x/16) from the bits of x, mantissa linear within the octave.
    let octaves = u64::from(u64::BITS - max.leading_zeros()) * 16;
    let at = octaves * (index as u64) / (last as u64);
    (((16 + at % 16) << (at / 16)) / 16).min(max)
}
