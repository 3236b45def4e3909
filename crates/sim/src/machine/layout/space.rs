//! Free blocks: a bitmap for each group that was ever used.

use rustc_hash::FxHashMap;

/// The file system has no free block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the machine's file system is full: choose a smaller scale or a larger disk")]
pub struct Full;

/// A group's bitmap: ones are in use.
struct Map {
    words: Vec<u64>,
    free: u32,
}

/// The blocks of a disk in groups, each of which begins with blocks that nobody may have.
pub(super) struct Space {
    group: u32,
    groups: u32,
    /// Blocks at the start of each group that hold bitmaps and inodes.
    overhead: u32,
    maps: FxHashMap<u32, Map>,
    /// Free blocks in all groups.
    free: u64,
}

impl Space {
    /// `groups` groups of `group` blocks.
    pub(super) fn new(groups: u32, group: u32, overhead: u32) -> Space {
        let free = u64::from(groups) * u64::from(group - overhead);
        Space { group, groups, overhead, maps: FxHashMap::default(), free }
    }

    /// How many groups.
    pub(super) fn groups(&self) -> u32 {
        self.groups
    }

    /// The group that `block` lies in.
    pub(super) fn group_of(&self, block: u32) -> u32 {
        block / self.group
    }

    /// The first block of `group` that a file may have.
    pub(super) fn first(&self, group: u32) -> u32 {
        group * self.group + self.overhead
    }

    /// Free blocks of `group`.
    pub(super) fn free_in(&self, group: u32) -> u32 {
        self.maps.get(&group).map_or(self.group - self.overhead, |map| map.free)
    }

    /// Free blocks of a group, on average.
    pub(super) fn mean_free(&self) -> u32 {
        (self.free / u64::from(self.groups)) as u32
    }

    fn map(&mut self, group: u32) -> &mut Map {
        let (size, overhead) = (self.group, self.overhead);
        self.maps.entry(group).or_insert_with(|| {
            let mut words = vec![0; size.div_ceil(64) as usize];
            (0..overhead).for_each(|bit| words[bit as usize / 64] |= 1 << (bit % 64));
            (size..size.next_multiple_of(64)).for_each(|bit| words[bit as usize / 64] |= 1 << (bit % 64));
            Map { words, free: size - overhead }
        })
    }

    /// Takes up to `wanted` blocks in a row: from `goal` on if that is free, or else from the next free block of the group,
    /// or of the next group that has one. Returns the first block and how many.
    ///
    /// # Errors
    /// [`Full`].
    pub(super) fn take(&mut self, goal: u32, wanted: u32) -> Result<(u32, u32), Full> {
        let goal = if self.group_of(goal) < self.groups { goal } else { self.first(0) };
        let home = self.group_of(goal);
        for step in 0..=self.groups {
            let group = (home + step) % self.groups;
            if self.free_in(group) == 0 {
                continue;
            }
            let from = if step == 0 { goal % self.group } else { 0 };
            if let Some(first) = self.map(group).first_free(from) {
                let size = self.group;
                let taken = self.map(group).take(first, wanted, size);
                self.free -= u64::from(taken);
                return Ok((group * self.group + first, taken));
            }
        }
        Err(Full)
    }

    /// Gives blocks of one group back.
    pub(super) fn give(&mut self, block: u32, count: u32) {
        let (group, first) = (self.group_of(block), block % self.group);
        let map = self.map(group);
        (first..first + count).for_each(|bit| map.words[bit as usize / 64] &= !(1 << (bit % 64)));
        map.free += count;
        self.free += u64::from(count);
    }
}

impl Map {
    fn first_free(&self, from: u32) -> Option<u32> {
        let start = from as usize / 64;
        let first = self.words[start] | ((1u64 << (from % 64)) - 1);
        let words = std::iter::once(first).chain(self.words[start + 1..].iter().copied());
        let (place, word) = words.enumerate().find(|(_, word)| *word != u64::MAX)?;
        Some((start + place) as u32 * 64 + word.trailing_ones())
    }

    /// Takes `wanted` blocks from the free block `first` on, or as many as are free in a row.
    fn take(&mut self, first: u32, wanted: u32, size: u32) -> u32 {
        let free = |bit: u32| self.words[bit as usize / 64] & (1 << (bit % 64)) == 0;
        let end = (first + 1..size.min(first + wanted.max(1))).find(|bit| !free(*bit));
        let end = end.unwrap_or(size.min(first + wanted.max(1)));
        (first..end).for_each(|bit| self.words[bit as usize / 64] |= 1 << (bit % 64));
        self.free -= end - first;
        end - first
    }
}
