//! Positioning time by distance on the disk, as an operating system can know it (SOSP'01 §3.6).
//!
//! A disk hides its geometry. What can be measured is how long a request took and how far, in
//! sectors, it lay from the end of the one before. [`Curve`] keeps that relation in buckets of
//! half an octave, for seeks forward and backward apart. The curve folds in rotational delay and track
//! buffers, and improves with each completion.

use crate::units::{Duration, Sector};

/// Buckets for one direction: two for each power of two of distance.
const BUCKETS: usize = 96;
/// A new sample moves its bucket by 1/16 of the difference.
pub(super) const LEARNING_SHIFT: u32 = 4;

/// Expected positioning time by distance, forward and backward.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Curve {
    /// Nanoseconds by bucket; forward, then backward.
    expected: [[u32; BUCKETS]; 2],
    /// The least expectation at or beyond each bucket.
    floor: [[u32; BUCKETS]; 2],
    /// The greatest expectation.
    most: u32,
}

/// The bucket of a distance: 0 for 0; then two for each power of two.
#[inline]
const fn bucket(distance: u64) -> usize {
    if distance < 2 {
        return distance as usize;
    }
    let octave = 63 - distance.leading_zeros();
    let half = (distance >> (octave - 1)) & 1;
    let bucket = 2 * octave as usize + half as usize;
    if bucket >= BUCKETS { BUCKETS - 1 } else { bucket }
}

/// The smallest distance in a bucket.
const fn distance_of(bucket: usize) -> u64 {
    if bucket < 2 {
        return bucket as u64;
    }
    let octave = bucket / 2;
    (1 << octave) + if bucket % 2 == 1 { 1 << (octave - 1) } else { 0 }
}

/// The integer square root.
const fn square_root(value: u64) -> u64 {
    if value < 2 {
        return value;
    }
    let mut guess = 1u64 << ((64 - value.leading_zeros()).div_ceil(2));
    loop {
        let next = (guess + value / guess) / 2;
        if next >= guess {
            return guess;
        }
        guess = next;
    }
}

impl Default for Curve {
    /// A guess for a disk of which nothing is known: 1.5 ms for the shortest seek, growing with the
    /// square root of the distance to 16 ms at 2 TB; nothing for the next sector.
    fn default() -> Self {
        const SHORTEST: u64 = 1_500_000;
        const SPAN: u64 = 14_500_000;
        let root_of_all = square_root(1 << 32);
        let mut curve = Curve::LEVEL;
        for bucket in 1..BUCKETS {
            let root = square_root(distance_of(bucket)).min(root_of_all);
            let time = (SHORTEST + SPAN * root / root_of_all) as u32;
            curve.expected[0][bucket] = time;
            curve.expected[1][bucket] = time;
        }
        curve.settle();
        curve
    }
}

impl Curve {
    /// Each place is as near as any other.
    pub const LEVEL: Curve = Curve { expected: [[0; BUCKETS]; 2], floor: [[0; BUCKETS]; 2], most: 0 };

    /// A curve through points of (distance in sectors, time), in order of distance, for both
    /// directions; straight lines between, level outside. Without points: the default curve.
    pub fn through(points: &[(u64, Duration)]) -> Curve {
        let mut curve = Curve::default();
        let (Some(first), Some(last)) = (points.first(), points.last()) else { return curve };
        for bucket in 0..BUCKETS {
            let distance = distance_of(bucket);
            let after = points.partition_point(|point| point.0 <= distance);
            let time = match (after.checked_sub(1).map(|i| points[i]), points.get(after)) {
                (None, _) => first.1,
                (_, None) => last.1,
                (Some(low), Some(high)) => {
                    let share = (distance - low.0) << 16;
                    let weight = share / (high.0 - low.0).max(1);
                    let (from, to) = (low.1.0 as i64, high.1.0 as i64);
                    Duration((from + (((to - from) * weight as i64) >> 16)) as u64)
                }
            };
            let time = u32::try_from(time.0).unwrap_or(u32::MAX);
            curve.expected[0][bucket] = time;
            curve.expected[1][bucket] = time;
        }
        curve.settle();
        curve
    }

    /// Expected positioning time from `head` to `target`.
    #[inline]
    pub fn expected(&self, head: Sector, target: Sector) -> Duration {
        let direction = usize::from(target < head);
        Duration(self.expected[direction][bucket(head.distance(target))] as u64)
    }

    /// No target at least `distance` away in the direction of `target` is expected sooner than this.
    #[inline]
    pub fn at_least(&self, head: Sector, target: Sector) -> Duration {
        let direction = usize::from(target < head);
        Duration(self.floor[direction][bucket(head.distance(target))] as u64)
    }

    /// How much longer the longest way is expected to take than the shortest.
    #[inline]
    pub fn spread(&self) -> Duration {
        Duration(self.most as u64) - self.nearest()
    }

    /// No target is expected sooner than this.
    #[inline]
    pub fn nearest(&self) -> Duration {
        Duration(self.floor[0][0].min(self.floor[1][0]) as u64)
    }

    fn greatest(&self) -> u32 {
        self.expected.iter().flatten().copied().max().unwrap_or(0)
    }

    /// Takes in that positioning from `head` to `target` took `time`.
    pub fn learn(&mut self, head: Sector, target: Sector, time: Duration) {
        let direction = usize::from(target < head);
        let bucket = bucket(head.distance(target));
        let old = self.expected[direction][bucket] as i64;
        let sample = time.0.min(u32::MAX as u64) as i64;
        if self.most == 0 {
            return self.levels_at(sample as u32);
        }
        let step = (sample - old) >> LEARNING_SHIFT;
        if step == 0 {
            return;
        }
        let new = (old + step) as u32;
        self.expected[direction][bucket] = new;
        if new >= self.most {
            self.most = new;
        } else if old == self.most as i64 {
            self.most = self.greatest();
        }
        self.settle_direction(direction, bucket);
    }

    /// Nothing was known: what is not measured is taken to be as near as the first that was.
    fn levels_at(&mut self, sample: u32) {
        (self.expected, self.floor, self.most) = ([[sample; BUCKETS]; 2], [[sample; BUCKETS]; 2], sample);
    }

    /// Makes `floor` anew after any change.
    fn settle(&mut self) {
        // No time is as long: nothing of the old floor is taken for settled.
        self.floor = [[u32::MAX; BUCKETS]; 2];
        self.settle_direction(0, BUCKETS - 1);
        self.settle_direction(1, BUCKETS - 1);
        self.most = self.greatest();
    }

    /// Restores `floor` after a change of bucket `changed`.
    fn settle_direction(&mut self, direction: usize, changed: usize) {
        let mut least = self.floor[direction].get(changed + 1).copied().unwrap_or(u32::MAX);
        for bucket in (0..=changed).rev() {
            least = least.min(self.expected[direction][bucket]);
            if bucket < changed && self.floor[direction][bucket] == least {
                break;
            }
            self.floor[direction][bucket] = least;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_nothing_is_known_all_is_as_near_as_what_was_measured_first() {
        let (here, near, far) = (Sector(0), Sector(8), Sector(1 << 20));
        let mut curve = Curve::LEVEL;
        curve.learn(here, here, Duration::ZERO);
        assert_eq!((curve.spread(), curve.nearest()), (Duration::ZERO, Duration::ZERO));
        curve.learn(here, near, Duration::from_us(90));
        assert_eq!((curve.expected(here, far), curve.spread()), (Duration::from_us(90), Duration::ZERO));
        curve.learn(here, far, Duration::from_us(90 + 1600));
        assert_eq!(curve.expected(here, far), Duration::from_us(190));
        assert_eq!((curve.nearest(), curve.spread()), (Duration::from_us(90), Duration::from_us(100)));
        curve.learn(here, far, Duration::from_us(190 - 160));
        assert_eq!(curve.spread(), Duration::from_us(90), "the greatest may become less");
    }
}
