//! Where in its file a process goes next: patterns of places, counted in blocks.

use rand::Rng;
use rand_distr::{Distribution, Zipf};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Where in its file a process reads or writes next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pattern {
    /// One block after the other.
    Sequential,
    /// Every other block.
    Alternate,
    /// Any block, uniformly.
    Random,
    /// Runs of this many blocks, each from a multiple of that number on, which is anywhere: small files.
    Runs(u64),
    /// Every block once in random order, then again in another order.
    Shuffled,
    /// The k-th most popular block comes with a frequency of 1/k^θ; popular blocks lie anywhere.
    Zipf(f64),
    /// The share h of the blocks gets 1-h of the requests, and so on within it; popular blocks lie anywhere.
    Pareto(f64),
}

/// The places of one process. Some patterns need state that only they have.
pub(super) enum Places {
    /// The next block of reads and the next of writes, and how far it then goes.
    Ordered {
        next: [u64; 2],
        step: u64,
    },
    Uniform,
    /// The length of a run, the next block of it, and how many are left.
    Runs {
        length: u64,
        next: u64,
        left: u64,
    },
    Shuffled {
        order: Shuffle,
        place: u64,
    },
    Zipf {
        ranks: Zipf<f64>,
        order: Shuffle,
    },
    Pareto {
        exponent: f64,
        order: Shuffle,
    },
}

impl Places {
    /// Places of `pattern` in a file of `blocks`.
    pub(super) fn new(pattern: Pattern, blocks: u64, rng: &mut Xoshiro256PlusPlus) -> Places {
        match pattern {
            Pattern::Sequential => Places::Ordered { next: [0; 2], step: 1 },
            Pattern::Alternate => Places::Ordered { next: [0; 2], step: 2 },
            Pattern::Random => Places::Uniform,
            Pattern::Runs(length) => Places::Runs { length: length.clamp(1, blocks), next: 0, left: 0 },
            Pattern::Shuffled => Places::Shuffled { order: Shuffle::new(blocks, rng), place: 0 },
            Pattern::Zipf(theta) => {
                let ranks = Zipf::new(blocks as f64, theta).expect("θ is positive and a file has a block");
                Places::Zipf { ranks, order: Shuffle::new(blocks, rng) }
            }
            Pattern::Pareto(h) => {
                Places::Pareto { exponent: h.ln() / (1.0 - h).ln(), order: Shuffle::new(blocks, rng) }
            }
        }
    }

    /// The block at which a request of `length` blocks starts, in a file of `blocks`.
    #[inline]
    pub(super) fn next(
        &mut self,
        blocks: u64,
        length: u64,
        write: bool,
        rng: &mut Xoshiro256PlusPlus,
    ) -> u64 {
        let block = match self {
            Places::Ordered { next, step } => {
                let next = &mut next[usize::from(write)];
                let block = if *next + length <= blocks { *next } else { 0 };
                *next = block + length * *step;
                return block;
            }
            Places::Uniform => rng.random_range(0..blocks),
            Places::Runs { length, next, left } => {
                if *left == 0 {
                    (*next, *left) = (rng.random_range(0..blocks / *length) * *length, *length);
                }
                (*next, *left) = (*next + 1, *left - 1);
                *next - 1
            }
            Places::Shuffled { order, place } => {
                if *place == blocks {
                    *order = Shuffle::new(blocks, rng);
                    *place = 0;
                }
                *place += 1;
                order.at(*place - 1)
            }
            Places::Zipf { ranks, order } => order.at((ranks.sample(rng) as u64 - 1).min(blocks - 1)),
            Places::Pareto { exponent, order } => {
                let rank = (blocks - 1) as f64 * rng.random::<f64>().powf(*exponent);
                order.at((rank as u64).min(blocks - 1))
            }
        };
        block.min(blocks.saturating_sub(length))
    }
}

/// A random order of the numbers below `count`, in constant memory: a Feistel network over the next
/// power of four, walked until it lands below `count`.
pub(super) struct Shuffle {
    count: u64,
    half_bits: u32,
    keys: [u64; 4],
}

impl Shuffle {
    fn new(count: u64, rng: &mut Xoshiro256PlusPlus) -> Shuffle {
        let bits = u64::BITS - count.saturating_sub(1).leading_zeros();
        Shuffle { count, half_bits: bits.div_ceil(2).max(1), keys: rng.random() }
    }

    /// The number at `place`.
    fn at(&self, place: u64) -> u64 {
        let mask = (1 << self.half_bits) - 1;
        let mut number = place;
        loop {
            let (mut left, mut right) = (number >> self.half_bits, number & mask);
            for key in self.keys {
                let mixed = (right ^ key).wrapping_mul(0x9E37_79B9_7F4A_7C15);
                (left, right) = (right, left ^ ((mixed ^ (mixed >> 29)) >> 7 & mask));
            }
            number = left << self.half_bits | right;
            if number < self.count {
                return number;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    fn draw(pattern: Pattern, blocks: u64, count: usize) -> Vec<u64> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
        let mut places = Places::new(pattern, blocks, &mut rng);
        (0..count).map(|_| places.next(blocks, 1, false, &mut rng)).collect()
    }

    #[test]
    fn shuffled_visits_every_block_once_a_round() {
        for blocks in [1, 2, 3, 17, 64, 1000] {
            let drawn = draw(Pattern::Shuffled, blocks, 2 * blocks as usize);
            for round in drawn.chunks(blocks as usize) {
                let mut round = round.to_vec();
                round.sort_unstable();
                assert_eq!(round, (0..blocks).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn shuffled_is_not_sequential() {
        let drawn = draw(Pattern::Shuffled, 1000, 1000);
        let neighbours = drawn.windows(2).filter(|pair| pair[1] == pair[0] + 1).count();
        assert!(neighbours < 20, "{neighbours} of 1000 follow their predecessor");
    }

    #[test]
    fn skewed_patterns_favour_few_blocks_and_stay_inside() {
        for pattern in [Pattern::Zipf(1.2), Pattern::Pareto(0.2)] {
            let drawn = draw(pattern, 1000, 10_000);
            let mut counts = vec![0; 1000];
            drawn.iter().for_each(|block| counts[*block as usize] += 1);
            counts.sort_unstable();
            let top: u32 = counts.iter().rev().take(200).sum();
            assert!(top > 7_500, "{pattern:?}: a fifth of the blocks got {top} of 10000");
        }
    }

    #[test]
    fn order_wraps_where_a_request_no_longer_fits() {
        assert_eq!(draw(Pattern::Sequential, 3, 4), [0, 1, 2, 0]);
        assert_eq!(draw(Pattern::Alternate, 5, 4), [0, 2, 4, 0]);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
        let mut places = Places::new(Pattern::Sequential, 5, &mut rng);
        let drawn: Vec<_> = (0..3).map(|_| places.next(5, 2, false, &mut rng)).collect();
        assert_eq!(drawn, [0, 2, 0]);
    }
}
