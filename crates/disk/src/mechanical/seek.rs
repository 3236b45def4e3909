//! Seek time by distance: straight lines between published points.
//!
//! A lookup takes the distance's logarithm and next three bits to a table, then at most a few
//! steps along the points. Beyond the last point the last line goes on.

use super::error::{BuildError, reserve};
use alloc::vec::Vec;

/// Bits of fraction in a slope.
const FRACTION: u32 = 12;

/// A line from one point to the next.
#[derive(Clone, Copy, Debug)]
struct Line {
    from: u32,
    time: u32,
    /// ns per cylinder, shifted left by `FRACTION`.
    slope: i64,
}

/// Seek time as a function of distance in cylinders.
#[derive(Clone, Debug)]
pub struct SeekCurve {
    lines: Vec<Line>,
    /// First line for each bucket of distances.
    first: Vec<u16>,
}

/// Distances 0 to 7 have a bucket each, then each power of two has eight.
#[inline]
fn bucket(distance: u32) -> usize {
    if distance < 8 {
        return distance as usize;
    }
    let log = 31 - distance.leading_zeros();
    (((log - 2) << 3) | ((distance >> (log - 3)) & 7)) as usize
}

/// The smallest distance of a bucket.
fn bucket_start(bucket: usize) -> u64 {
    if bucket < 8 {
        return bucket as u64;
    }
    let log = (bucket >> 3) + 2;
    ((8 | (bucket & 7)) as u64) << (log - 3)
}

impl SeekCurve {
    /// A curve through `(cylinders, ns)` points with ascending distances, the first at least 1.
    pub fn new(points: &[(u32, u32)]) -> Result<SeekCurve, BuildError> {
        if points.is_empty() || points[0].0 == 0 || !points.is_sorted_by(|a, b| a.0 < b.0) {
            return Err(BuildError::SeekCurve);
        }
        if points.len() > usize::from(u16::MAX) {
            return Err(BuildError::TooMany { what: "seek points", limit: u64::from(u16::MAX) });
        }
        let mut lines: Vec<Line> = Vec::new();
        reserve(&mut lines, points.len())?;
        for (i, &(from, time)) in points.iter().enumerate() {
            let slope = match points.get(i + 1) {
                Some(&(to, later)) => {
                    ((i64::from(later) - i64::from(time)) << FRACTION) / i64::from(to - from)
                }
                None => lines.last().map_or(0, |line: &Line| line.slope.max(0)),
            };
            lines.push(Line { from, time, slope });
        }
        let buckets = bucket(u32::MAX) + 1;
        let mut first = Vec::new();
        reserve(&mut first, buckets)?;
        for b in 0..buckets {
            let below = lines.partition_point(|line| u64::from(line.from) <= bucket_start(b));
            first.push(below.saturating_sub(1) as u16);
        }
        Ok(SeekCurve { lines, first })
    }

    /// Time in ns to move the arm by `distance` cylinders and settle for reading; 0 for no distance.
    #[inline]
    pub fn time(&self, distance: u32) -> u32 {
        if distance == 0 {
            return 0;
        }
        let mut index = usize::from(self.first[bucket(distance)]);
        while index + 1 < self.lines.len() && self.lines[index + 1].from <= distance {
            index += 1;
        }
        let line = &self.lines[index];
        let beyond = i64::from(distance) - i64::from(line.from);
        let time = i64::from(line.time) + ((beyond * line.slope) >> FRACTION);
        time.clamp(0, i64::from(u32::MAX)) as u32
    }

    /// The points the curve was made of.
    pub fn points(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.lines.iter().map(|line| (line.from, line.time))
    }
}
