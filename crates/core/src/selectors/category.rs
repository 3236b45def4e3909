//! Categories of load: how many processes, sequential or random, reads or writes (IOAZ §3.3).
//!
//! The paper names the numbers 1, 4, 8 and "16 or more" and no bounds between them, and says that its
//! thresholds were found by experiment but not what they are. Here a number goes to the nearest of
//! the four, and half of the requests decide; both can be set.

use core::fmt;

use super::summary::Summary;
use crate::tunables::{Count, Percent, SectorCount};
use crate::units::Sectors;

crate::choices! {
    /// What tells sequential from random load.
    pub enum Judge {
        /// Requests pooled from several blocks are sequential (IOAZ §3.3).
        Merged = "merged",
        /// Requests that begin where their process's last one ended are.
        Place = "place",
    }
}

crate::tunables! {
    /// The bounds between categories.
    pub struct Bounds {
        /// From this number of processes on, they count as four.
        four_from: Count = 2, 1..=10_000;
        /// From this number on, as eight.
        eight_from: Count = 6, 1..=10_000;
        /// From this number on, as sixteen.
        sixteen_from: Count = 12, 1..=10_000;
        /// With this share of sequential requests, the load is sequential.
        sequential_from: Percent = 50, 0..=100;
        /// With this share of reads, the load is one of reads.
        reads_from: Percent = 50, 0..=100;
        /// What makes a request sequential: it is pooled from several blocks, or it continues its process's last one.
        judge: Judge = Judge::Merged as u64, 0..=1;
        /// A request that is longer counts as pooled from several blocks, and so do reads that follow one another and
        /// are longer together. So a page of a database is one block, up to 16 KiB.
        block: SectorCount = 32, 1..=65_536;
    }
}

/// The default of [`Bounds::judge`] for a selector that needs not be faithful: what continues is sequential.
pub(super) const BY_PLACE: (&str, u64) = ("judge", Judge::Place as u64);

impl Bounds {
    /// The size up to which requests count as one block.
    pub const fn block(&self) -> Sectors {
        Sectors(self.block.0 as u32)
    }
}

/// The numbers of processes that are told apart.
pub const PROCESSES: [u32; 4] = [1, 4, 8, 16];
/// How many categories there are.
pub const CATEGORIES: usize = 16;

/// One category.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Category {
    /// The index into [`PROCESSES`].
    pub processes: u8,
    /// Places are random, not sequential.
    pub random: bool,
    /// Most requests are writes.
    pub write: bool,
}

impl Category {
    /// The category of a period; `None` if nothing was asked for.
    pub fn of(summary: &Summary, bounds: &Bounds) -> Option<Category> {
        if summary.requests == 0 {
            return None;
        }
        let count = summary.processes;
        let from = [bounds.four_from, bounds.eight_from, bounds.sixteen_from];
        let processes = from.iter().filter(|from| count >= from.0).count() as u8;
        let sequential = match bounds.judge {
            Judge::Merged => summary.merged_percent(),
            Judge::Place => summary.sequential_percent(),
        };
        let random = sequential < bounds.sequential_from.0;
        let write = summary.read_percent() < bounds.reads_from.0;
        Some(Category { processes, random, write })
    }

    /// A number below [`CATEGORIES`]: the row of the processes, then sequential reads, sequential
    /// writes, random reads, random writes, as the columns of IOAZ's tables.
    pub const fn index(self) -> usize {
        self.processes as usize * 4 + self.random as usize * 2 + self.write as usize
    }

    /// The category with this index.
    pub const fn from_index(index: usize) -> Category {
        Category { processes: (index / 4 % 4) as u8, random: index & 2 != 0, write: index & 1 != 0 }
    }

    /// The category's pattern in words.
    pub const fn pattern(self) -> &'static str {
        ["sequential reads", "sequential writes", "random reads", "random writes"][self.index() % 4]
    }

    /// The category's number of processes in words.
    pub const fn processes_in_words(self) -> &'static str {
        ["1", "4", "8", "16+"][self.processes as usize]
    }
}

impl fmt::Display for Category {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.processes_in_words(), self.pattern())
    }
}

#[cfg(test)]
mod tests {
    use std::string::ToString;

    use super::*;
    use crate::tunables::Tunables as _;

    #[test]
    fn numbers_go_to_the_nearest_of_four() {
        let of = |processes| {
            let summary = Summary { requests: 100, processes, ..Summary::default() };
            Category::of(&summary, &Bounds::defaults()).unwrap().processes_in_words()
        };
        let seen: std::vec::Vec<_> = [0, 1, 2, 5, 6, 11, 12, 500].into_iter().map(of).collect();
        assert_eq!(seen, ["1", "1", "4", "4", "8", "8", "16+", "16+"]);
    }

    #[test]
    fn half_of_the_requests_decide() {
        let summary = Summary { requests: 10, processes: 1, reads: 5, merged: 4, ..Summary::default() };
        assert_eq!(Category::of(&summary, &Bounds::defaults()).unwrap().to_string(), "1 random reads");
        let summary = Summary { reads: 4, merged: 5, ..summary };
        assert_eq!(Category::of(&summary, &Bounds::defaults()).unwrap().to_string(), "1 sequential writes");
        assert_eq!(Category::of(&Summary::default(), &Bounds::defaults()), None);
    }

    #[test]
    fn every_index_is_a_category() {
        (0..CATEGORIES).for_each(|index| assert_eq!(Category::from_index(index).index(), index));
    }
}
