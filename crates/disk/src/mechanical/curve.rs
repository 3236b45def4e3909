//! Expected positioning time by distance in sectors, from the geometry.
//!
//! What a scheduler can know of a disk before it has measured anything: the seek over the mean
//! number of cylinders that the distance spans, plus half a revolution. Distance 0 (sequential)
//! costs nothing.

use super::Mechanical;
use alloc::vec::Vec;
use idlewise_core::Duration;

impl Mechanical {
    /// A table of `points` ascending LBA distances in sectors, and the expected time to get there:
    /// seek plus half a revolution; 0 for distance 0. Distances grow geometrically.
    pub fn positioning_curve(&self, points: usize) -> Vec<(u64, Duration)> {
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
