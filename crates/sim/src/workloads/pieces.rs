//! Files in pieces: file systems lay a large file out as several regions of the disk (SOSP'01 §4.1). Where one begins says nothing of
//! where the platter stands then, while two whole files keep the same rotational delay between them all along.

use idlewise_core::SECTOR_BYTES;
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A piece begins up to so many sectors behind the earliest place: more than a track has.
const SLACK: u64 = (1 << 20) / SECTOR_BYTES;

/// Where a file's pieces lie.
pub(super) struct Pieces {
    /// Sectors of a piece; 0: the file is whole.
    each: u64,
    /// Decides where they lie.
    seed: u64,
    /// The piece that was asked for last, and by how many sectors it lies behind its earliest place.
    last: (u64, u64),
}

impl Pieces {
    pub(super) fn new(each: u64, seed: u64) -> Pieces {
        Pieces { each, seed, last: (u64::MAX, 0) }
    }

    /// Sectors from the beginning to the end of a file of `sectors` in pieces of `each`.
    pub(super) fn span(sectors: u64, each: u64) -> u64 {
        sectors.saturating_add(sectors.checked_div(each).map_or(0, |full| (full + 1) * SLACK))
    }

    /// Where the file's sector `place` lies, counted from the file's beginning.
    #[inline]
    pub(super) fn locate(&mut self, place: u64) -> u64 {
        let Some(piece) = place.checked_div(self.each) else { return place };
        if self.last.0 != piece {
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(self.seed.wrapping_add(piece));
            self.last = (piece, rng.random_range(0..SLACK));
        }
        place + piece * SLACK + self.last.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_keep_their_order_and_do_not_overlap() {
        let (each, count) = (32_768, 100);
        let mut pieces = Pieces::new(each, 7);
        let starts: Vec<u64> = (0..count).map(|piece| pieces.locate(piece * each)).collect();
        assert!(starts.windows(2).all(|pair| pair[0] + each <= pair[1]), "{starts:?}");
        assert!(starts[99] + each <= Pieces::span(count * each, each));
        let distances: std::collections::BTreeSet<u64> =
            starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(distances.len() > 90, "they are not equally far apart");
        assert_eq!(pieces.locate(5 * each + 9), starts[5] + 9);
        assert_eq!((Pieces::new(0, 7).locate(12_345), Pieces::span(12_345, 0)), (12_345, 12_345));
    }
}
