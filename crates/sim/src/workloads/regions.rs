//! Files in regions: file systems lay a large file out as several regions of the disk (SOSP'01 §4.1). Where one begins says nothing of
//! where the platter stands then, while two whole files keep the same rotational delay between them all along.

use idlewise_core::SECTOR_BYTES;
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// How far behind its earliest place a region begins at most, in sectors: more than a track has.
const SLACK: u64 = (1 << 20) / SECTOR_BYTES;

/// Where a file's regions lie.
pub(super) struct Regions {
    /// Sectors of a region; 0: the file is whole.
    each: u64,
    /// Decides where they lie.
    seed: u64,
    /// The region that was asked for last, and by how many sectors it lies behind its earliest place.
    last: (u64, u64),
}

impl Regions {
    pub(super) fn new(each: u64, seed: u64) -> Regions {
        Regions { each, seed, last: (u64::MAX, 0) }
    }

    /// Sectors from the beginning to the end of a file of `sectors` in regions of `each`.
    pub(super) fn span(sectors: u64, each: u64) -> u64 {
        sectors.saturating_add(sectors.checked_div(each).map_or(0, |full| (full + 1) * SLACK))
    }

    /// Where the file's sector `place` lies, counted from the file's beginning.
    #[inline]
    pub(super) fn locate(&mut self, place: u64) -> u64 {
        let Some(region) = place.checked_div(self.each) else { return place };
        if self.last.0 != region {
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(self.seed.wrapping_add(region));
            self.last = (region, rng.random_range(0..SLACK));
        }
        place + region * SLACK + self.last.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_keep_their_order_and_do_not_overlap() {
        let (each, count) = (32_768, 100);
        let mut regions = Regions::new(each, 7);
        let starts: Vec<u64> = (0..count).map(|region| regions.locate(region * each)).collect();
        assert!(starts.windows(2).all(|pair| pair[0] + each <= pair[1]), "{starts:?}");
        assert!(starts[99] + each <= Regions::span(count * each, each));
        let distances: std::collections::BTreeSet<u64> =
            starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(distances.len() > 90, "they are not equally far apart");
        assert_eq!(regions.locate(5 * each + 9), starts[5] + 9);
        assert_eq!((Regions::new(0, 7).locate(12_345), Regions::span(12_345, 0)), (12_345, 12_345));
    }
}
