//! A generator of random numbers, drawn from a seed.

/// A generator of random numbers: SplitMix64, a mix of a seed and a count of draws.
///
/// The seed is an argument of each draw, so that a tunable can hold it and change while in use.
#[derive(Clone, Copy, Debug, Default)]
pub struct Random {
    drawn: u64,
}

impl Random {
    /// The next number.
    #[inline]
    pub fn next(&mut self, seed: u64) -> u64 {
        self.drawn = self.drawn.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mix = seed.wrapping_add(self.drawn);
        mix = (mix ^ (mix >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mix = (mix ^ (mix >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mix ^ (mix >> 31)
    }

    /// The next number below `bound`, which is not zero; each of them is equally likely.
    #[inline]
    pub fn below(&mut self, seed: u64, bound: u32) -> u32 {
        // The high half of a 32 × 32 bit product is even once the products whose low half lies in
        // an incomplete last round are drawn again (Lemire 2019).
        loop {
            let product = (self.next(seed) >> 32) * bound as u64;
            let low = product as u32;
            if low >= bound || low >= bound.wrapping_neg() % bound {
                return (product >> 32) as u32;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_below_the_bound_is_equally_likely() {
        let mut random = Random::default();
        let mut counts = [0u32; 6];
        for _ in 0..60_000 {
            counts[random.below(7, 6) as usize] += 1;
        }
        assert!(counts.iter().all(|count| count.abs_diff(10_000) < 400), "{counts:?}");
    }

    #[test]
    fn a_bound_of_one_leaves_no_choice() {
        assert_eq!(Random::default().below(0, 1), 0);
        assert!(Random::default().below(1, u32::MAX) < u32::MAX);
    }
}
