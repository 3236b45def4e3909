//! Seek time by distance: straight lines between published points, laid out as tables.
//!
//! Short distances have an entry each, since curves are uneven there. Long ones have an entry every
//! `1 << shift` cylinders and a line between; up to 12 000 cylinders that is an entry each too.
//! Beyond the last point the last line continues.

use crate::error::{BuildError, reserve};
use alloc::vec::Vec;

/// Distances below this have an entry each.
const NEAR: u32 = 4096;

/// Most entries for the longer distances.
const FAR: u32 = 8192;

/// No seek takes longer: a second.
const LONGEST_NS: i64 = 1_000_000_000;

/// Seek time as a function of distance in cylinders.
#[derive(Clone, Debug)]
pub struct SeekCurve {
    near: Vec<u32>,
    far: Vec<u32>,
    shift: u32,
}

impl SeekCurve {
    /// A curve through `(cylinders, ns)` points with ascending distances, the first at least 1, for
    /// a disk of `cylinders` cylinders.
    pub fn new(points: &[(u32, u32)], cylinders: u32) -> Result<SeekCurve, BuildError> {
        if points.is_empty() || points[0].0 == 0 || !points.is_sorted_by(|a, b| a.0 < b.0) {
            return Err(BuildError::SeekCurve);
        }
        if points.iter().any(|&(distance, _)| distance > i32::MAX as u32) {
            return Err(BuildError::TooMany { what: "cylinders", limit: i32::MAX as u64 });
        }
        let mut shift = 0;
        while (cylinders.saturating_sub(NEAR) >> shift) > FAR {
            shift += 1;
        }
        let mut curve = SeekCurve { near: Vec::new(), far: Vec::new(), shift };
        // One more entry than there are distances, as the far ones have it.
        let near = cylinders.saturating_add(2).min(NEAR);
        reserve(&mut curve.near, near as usize)?;
        curve.near.extend((0..near).map(|distance| interpolate(points, distance)));
        if cylinders >= NEAR {
            // Two more entries, so that the last interval has an end.
            let far = ((cylinders - NEAR) >> shift) + 3;
            reserve(&mut curve.far, far as usize)?;
            curve.far.extend((0..far).map(|entry| interpolate(points, NEAR + (entry << shift))));
        }
        Ok(curve)
    }

    /// Time in ns to move the arm by `distance` cylinders and settle for reading; 0 for no distance.
    /// The distance must lie on the disk.
    #[inline]
    pub fn time(&self, distance: u32) -> u32 {
        if let Some(&time) = self.near.get(distance as usize) {
            return time;
        }
        let beyond = distance - NEAR;
        let entry = (beyond >> self.shift) as usize;
        let from = i64::from(self.far[entry]);
        if self.shift == 0 {
            return from as u32;
        }
        let part = i64::from(beyond & ((1 << self.shift) - 1));
        (from + (((i64::from(self.far[entry + 1]) - from) * part) >> self.shift)) as u32
    }
}

/// The curve at one distance.
fn interpolate(points: &[(u32, u32)], distance: u32) -> u32 {
    if distance == 0 {
        return 0;
    }
    let after = points.partition_point(|&(d, _)| d <= distance);
    let (left, right) = match (after, points.len()) {
        (_, 1) => return points[0].1,
        (0, _) => (0, 1),
        (after, count) if after == count => (count - 2, count - 1),
        (after, _) => (after - 1, after),
    };
    let ((d0, t0), (d1, t1)) = (points[left], points[right]);
    let (d0, t0, d1, t1) = (i64::from(d0), i64::from(t0), i64::from(d1), i64::from(t1));
    // A falling last line does not keep falling.
    let rise = if after == points.len() { (t1 - t0).max(0) } else { t1 - t0 };
    let base = if after == points.len() { (d1, t1) } else { (d0, t0) };
    let time = base.1 + (i64::from(distance) - base.0) * rise / (d1 - d0);
    time.clamp(0, LONGEST_NS) as u32
}
