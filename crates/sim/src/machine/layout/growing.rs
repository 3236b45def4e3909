//! Which blocks a file gets as it grows.
//!
//! A file's first block is sought where the data of its directory's group begins, each next one behind the one before. With
//! delayed allocation a small file gets the next blocks of a run that all small files share, and a larger one lies behind the
//! large one before it, unless its own place is free.
//!
//! Sources: fs/ext3/balloc.c of Linux 2.6.11, fs/ext4/mballoc.c of Linux 6.1; `filefrag` of trees on ext4 shows the runs.

use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::file::{Extent, File};
use super::geometry::Geometry;
use super::space::{Full, Space};
use crate::machine::parameters::{Allocation, Layout, Mapping};

/// The longest extent that a file gets at a time: 8 MiB.
const LONGEST: u32 = 2048;

/// What files share that get their blocks when they are written back.
#[derive(Clone, Debug, Default)]
pub(super) struct Runs {
    /// What is left of the runs for small files: the first block, and how many.
    small: Vec<(u32, u32)>,
    /// Behind the last large file.
    large: u32,
}

/// What growing a file changed besides the file.
#[derive(Clone, Debug, Default)]
pub struct Grown {
    /// Bitmaps of blocks.
    pub bitmaps: Vec<u32>,
    /// New blocks of pointers.
    pub pointers: Vec<u32>,
}

/// The blocks of a file system, and the habits by which files get them.
pub(super) struct Blocks {
    pub(super) layout: Layout,
    pub(super) geometry: Geometry,
    pub(super) space: Space,
    runs: Runs,
    pub(super) rng: Xoshiro256PlusPlus,
}

impl Blocks {
    /// `groups` groups, of which nobody has anything.
    pub(super) fn new(layout: Layout, groups: u32, seed: u64) -> Blocks {
        let geometry = Geometry::new(&layout, groups);
        let (space, rng) = (Space::new(geometry), Xoshiro256PlusPlus::seed_from_u64(seed));
        Blocks { layout, geometry, space, runs: Runs::default(), rng }
    }

    /// The bitmap of the blocks of the group in which `block` lies.
    pub(super) fn block_bitmap(&self, block: u32) -> u32 {
        self.geometry.bitmaps(self.geometry.group_of(block))[0]
    }

    /// Makes `file` as long as `pages` pages at least.
    ///
    /// # Errors
    /// [`Full`].
    pub(super) fn grow(&mut self, file: &mut File, pages: u32) -> Result<Grown, Full> {
        let mut grown = Grown::default();
        while file.pages < pages {
            let at = file.pages;
            let mut wanted = (pages - at).min(LONGEST);
            if let Mapping::Indirect { direct, each } = self.layout.mapping {
                let beyond = at.checked_sub(direct);
                if beyond.is_some_and(|beyond| beyond % each == 0) {
                    let goal = self.goal(file);
                    let (block, _) = self.take(file, goal, 1, &mut grown)?;
                    file.pointers.push(block);
                    grown.pointers.push(block);
                }
                wanted = wanted.min(beyond.map_or(direct - at.min(direct), |beyond| each - beyond % each));
            }
            if self.layout.hop > 0 {
                wanted = wanted.min(self.layout.hop - at % self.layout.hop);
            }
            if self.layout.fragments > 0 {
                let run = (0..wanted).find(|_| self.rng.random_range(0..1000) < self.layout.fragments);
                wanted = run.map_or(wanted, |run| run + 1);
            }
            let goal = self.goal(file);
            let (block, count) = self.take(file, goal, wanted, &mut grown)?;
            self.append(file, block, count, &mut grown)?;
        }
        Ok(grown)
    }

    /// Where the next block of `file` should lie.
    fn goal(&mut self, file: &File) -> u32 {
        let (hop, fragments) = (self.layout.hop, self.layout.fragments);
        let Some(last) = file.extents.last().copied() else { return self.geometry.data(file.group) };
        let behind = last.block + last.count;
        let behind = file.pointers.last().map_or(behind, |pointer| behind.max(pointer + 1));
        if hop > 0 && file.pages.is_multiple_of(hop) {
            let next = (self.geometry.group_of(last.block) + 1) % self.geometry.groups;
            return self.geometry.first(next);
        }
        if fragments > 0 && self.rng.random_range(0..1000) < fragments {
            let group = self.geometry.group_of(last.block);
            return self.geometry.first(group) + self.rng.random_range(0..self.layout.group / 2);
        }
        behind
    }

    /// Takes blocks for `file`: the first, and how many.
    fn take(
        &mut self,
        file: &mut File,
        goal: u32,
        wanted: u32,
        grown: &mut Grown,
    ) -> Result<(u32, u32), Full> {
        let (block, count) = match self.layout.allocation {
            Allocation::AtOnce { reserve } => self.take_at_once(file, goal, wanted, reserve)?,
            Allocation::Delayed { small, run, .. } if file.pages + wanted <= small => {
                self.take_small(goal, wanted, run)?
            }
            Allocation::Delayed { .. } => self.take_large(goal, wanted)?,
        };
        let bitmap = self.block_bitmap(block);
        if !grown.bitmaps.contains(&bitmap) {
            grown.bitmaps.push(bitmap);
        }
        Ok((block, count))
    }

    /// First of what is set aside for the file; what is taken beyond the wanted blocks is set aside.
    fn take_at_once(
        &mut self,
        file: &mut File,
        goal: u32,
        wanted: u32,
        reserve: u32,
    ) -> Result<(u32, u32), Full> {
        let (block, count) = match file.reserved.take() {
            Some(reserved) => reserved,
            None => self.space.take(goal, wanted.max(reserve))?,
        };
        let used = wanted.min(count);
        file.reserved = (count > used).then_some((block + used, count - used));
        Ok((block, used))
    }

    /// Of the runs that have room the one with the least, by powers of two; or else a new one.
    fn take_small(&mut self, goal: u32, wanted: u32, run: u32) -> Result<(u32, u32), Full> {
        let roomy = self.runs.small.iter().enumerate().filter(|(_, (_, left))| *left >= wanted);
        let place = match roomy.min_by_key(|(_, (_, left))| left.ilog2()) {
            Some((place, _)) => place,
            None => {
                self.runs.small.push(self.space.take_row(goal, run, run)?);
                self.runs.small.len() - 1
            }
        };
        let (block, left) = self.runs.small[place];
        let used = wanted.min(left);
        self.runs.small[place] = (block + used, left - used);
        self.runs.small.retain(|(_, left)| *left > 0);
        Ok((block, used))
    }

    /// Where the file wants to be, if all of it has room there; or else behind the large file before it.
    fn take_large(&mut self, goal: u32, wanted: u32) -> Result<(u32, u32), Full> {
        let own = self.space.is_free(goal, wanted);
        let from = if own || self.runs.large == 0 { goal } else { self.runs.large };
        let (block, count) = self.space.take_row(from, wanted, 1)?;
        self.runs.large = block + count;
        Ok((block, count))
    }

    /// The file is closed: what is set aside for it is free again.
    pub(super) fn release(&mut self, file: &mut File) {
        if let Some((block, count)) = file.reserved.take() {
            self.space.give(block, count);
        }
    }

    fn append(&mut self, file: &mut File, block: u32, count: u32, grown: &mut Grown) -> Result<(), Full> {
        let page = file.pages;
        file.pages += count;
        match file.extents.last_mut() {
            Some(last) if last.block + last.count == block => last.count += count,
            _ => file.extents.push(Extent { page, block, count }),
        }
        let Mapping::Extents { direct } = self.layout.mapping else { return Ok(()) };
        if file.extents.len() as u32 > direct && file.pointers.is_empty() {
            let (leaf, _) = self.space.take(self.geometry.data(file.group), 1)?;
            file.pointers.push(leaf);
            grown.pointers.push(leaf);
        }
        Ok(())
    }

    /// Takes a file's blocks from it. Returns bitmaps that change.
    pub(super) fn truncate(&mut self, file: &mut File) -> Vec<u32> {
        (file.bytes, file.pages) = (0, 0);
        let reserved = file.reserved.take().map(|(block, count)| Extent { page: 0, block, count });
        let pointers = file.pointers.drain(..).map(|block| Extent { page: 0, block, count: 1 });
        let all: Vec<Extent> = file.extents.drain(..).chain(pointers).chain(reserved).collect();
        let mut bitmaps = Vec::new();
        let group = self.layout.group;
        for Extent { mut block, mut count, .. } in all {
            // What lies in a row may lie in two groups, if nothing is between them.
            while count > 0 {
                let here = count.min(group - block % group);
                self.space.give(block, here);
                let bitmap = self.block_bitmap(block);
                if !bitmaps.contains(&bitmap) {
                    bitmaps.push(bitmap);
                }
                (block, count) = (block + here, count - here);
            }
        }
        bitmaps
    }
}
