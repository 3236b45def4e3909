//! Free blocks: a bitmap for each group that was ever used.

use rustc_hash::FxHashMap;

use super::geometry::Geometry;

/// The file system has no free block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the machine's file system is full: choose a smaller scale or a larger disk")]
pub struct Full;

/// A group's bitmap: ones are in use.
struct Map {
    words: Vec<u64>,
    free: u32,
}

/// The blocks of a disk in groups, some of which begin with blocks that nobody may have.
pub(super) struct Space {
    geometry: Geometry,
    maps: FxHashMap<u32, Map>,
    /// Free blocks in all groups.
    free: u64,
}

impl Space {
    /// All blocks are free but bitmaps and inode tables.
    pub(super) fn new(geometry: Geometry) -> Space {
        let overhead: u64 = (0..geometry.groups).map(|group| u64::from(geometry.overhead(group))).sum();
        let free = u64::from(geometry.groups) * u64::from(geometry.group) - overhead;
        Space { geometry, maps: FxHashMap::default(), free }
    }

    /// Free blocks.
    pub(super) fn free(&self) -> u64 {
        self.free
    }

    /// Free blocks of `group`.
    fn free_in(&self, group: u32) -> u32 {
        let all = self.geometry.group - self.geometry.overhead(group);
        self.maps.get(&group).map_or(all, |map| map.free)
    }

    /// Free blocks of the groups of a flex group.
    pub(super) fn free_in_flex(&self, flex: u32) -> u32 {
        self.geometry.groups_of(flex).map(|group| self.free_in(group)).sum()
    }

    /// Free blocks of a flex group, on average.
    pub(super) fn mean_free(&self) -> u32 {
        (self.free / u64::from(self.geometry.flex_groups())) as u32
    }

    fn map(&mut self, group: u32) -> &mut Map {
        let (size, overhead) = (self.geometry.group, self.geometry.overhead(group));
        self.maps.entry(group).or_insert_with(|| {
            let mut words = vec![0; size.div_ceil(64) as usize];
            (0..overhead).for_each(|bit| words[bit as usize / 64] |= 1 << (bit % 64));
            (size..size.next_multiple_of(64)).for_each(|bit| words[bit as usize / 64] |= 1 << (bit % 64));
            Map { words, free: size - overhead }
        })
    }

    /// The groups from the one of `goal` on, each with the place from which on to look there.
    fn groups_from(&self, goal: u32) -> impl Iterator<Item = (u32, u32)> + use<> {
        let Geometry { group, groups, .. } = self.geometry;
        let (home, from) = if goal / group < groups { (goal / group, goal % group) } else { (0, 0) };
        // The home group comes again at the end, from its start on.
        (0..=groups).map(move |step| ((home + step) % groups, if step == 0 { from } else { 0 }))
    }

    /// Takes up to `wanted` blocks in a row: from `goal` on if that is free, or else from the next free block of the group,
    /// or of the next group that has one. Returns the first block and how many.
    ///
    /// # Errors
    /// [`Full`].
    pub(super) fn take(&mut self, goal: u32, wanted: u32) -> Result<(u32, u32), Full> {
        for (group, from) in self.groups_from(goal) {
            if self.free_in(group) == 0 {
                continue;
            }
            if let Some(first) = self.map(group).first_free(from) {
                return Ok(self.take_at(group, first, wanted));
            }
        }
        Err(Full)
    }

    /// Takes `wanted` blocks in a row, the first of them a multiple of `aligned`, from `goal` on; where no group has that
    /// many in a row, as many as there are.
    ///
    /// # Errors
    /// [`Full`].
    pub(super) fn take_row(&mut self, goal: u32, wanted: u32, aligned: u32) -> Result<(u32, u32), Full> {
        for (group, from) in self.groups_from(goal) {
            if self.free_in(group) < wanted {
                continue;
            }
            let size = self.geometry.group;
            if let Some(first) = self.map(group).first_row(from, wanted, aligned, size) {
                return Ok(self.take_at(group, first, wanted));
            }
        }
        self.take(goal, wanted)
    }

    /// Whether `wanted` blocks from `block` on are free, all in one group.
    pub(super) fn is_free(&mut self, block: u32, wanted: u32) -> bool {
        let Geometry { group: size, groups, .. } = self.geometry;
        let (group, first) = (block / size, block % size);
        group < groups && first + wanted <= size && self.map(group).row(first, first + wanted) == wanted
    }

    fn take_at(&mut self, group: u32, first: u32, wanted: u32) -> (u32, u32) {
        let size = self.geometry.group;
        let taken = self.map(group).take(first, wanted, size);
        self.free -= u64::from(taken);
        (group * size + first, taken)
    }

    /// Gives blocks of one group back.
    pub(super) fn give(&mut self, block: u32, count: u32) {
        let (group, first) = (self.geometry.group_of(block), block % self.geometry.group);
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

    /// How many blocks from `first` on, and before `end`, are free in a row.
    fn row(&self, first: u32, end: u32) -> u32 {
        let free = |bit: &u32| self.words[*bit as usize / 64] & (1 << (bit % 64)) == 0;
        (first..end).take_while(free).count() as u32
    }

    /// The first of `wanted` free blocks in a row from `from` on, a multiple of `aligned`.
    fn first_row(&self, from: u32, wanted: u32, aligned: u32, size: u32) -> Option<u32> {
        let mut first = self.first_free(from)?.next_multiple_of(aligned);
        while first + wanted <= size {
            match self.row(first, first + wanted) {
                row if row == wanted => return Some(first),
                row => first = self.first_free(first + row)?.next_multiple_of(aligned),
            }
        }
        None
    }

    /// Takes `wanted` blocks from the free block `first` on, or as many as are free in a row.
    fn take(&mut self, first: u32, wanted: u32, size: u32) -> u32 {
        let taken = self.row(first, size.min(first + wanted.max(1)));
        (first..first + taken).for_each(|bit| self.words[bit as usize / 64] |= 1 << (bit % 64));
        self.free -= taken;
        taken
    }
}
