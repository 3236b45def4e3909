//! Which group a new directory goes to, and how many inodes each group has left.
//!
//! Orlov's rule, of ext2 and ext3 from 2.6 on: a directory at the top goes to a group, from a random one on, that has more free
//! inodes and blocks than the average, and the fewest directories. Any other one stays in its parent's group, or goes to the next one
//! that is not much fuller than the average. The rule of FFS until 2001 is that each directory goes to the group with
//! the fewest, if that has inodes enough.
//!
//! Sources: fs/ext3/ialloc.c of Linux 2.6.9, ufs/ffs/ffs_alloc.c (`ffs_dirpref`) of FreeBSD 4.3.

use rand::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::geometry::Geometry;
use super::space::{Full, Space};
use crate::machine::parameters::{Layout, Spread};

/// Inodes and directories of the flex groups.
pub(super) struct Groups {
    geometry: Geometry,
    /// Inodes in a group.
    per_group: u32,
    /// Inodes in use.
    used: Vec<u32>,
    directories: Vec<u32>,
    all_used: u64,
    all_directories: u64,
}

impl Groups {
    pub(super) fn new(geometry: Geometry, layout: &Layout) -> Groups {
        let none = vec![0; geometry.flex_groups() as usize];
        let per_group = layout.inode_table * layout.inodes_per_block;
        Groups { geometry, per_group, used: none.clone(), directories: none, all_used: 0, all_directories: 0 }
    }

    /// Inodes of a flex group.
    fn inodes(&self, flex: u32) -> u32 {
        self.geometry.groups_of(flex).len() as u32 * self.per_group
    }

    /// The flex group for a directory whose parent is in `parent`; `None`: at the top.
    pub(super) fn for_directory(
        &mut self,
        spread: Spread,
        parent: Option<u32>,
        space: &Space,
        rng: &mut Xoshiro256PlusPlus,
    ) -> u32 {
        let count = self.geometry.flex_groups();
        let all = 0..count;
        let mean_used = (self.all_used / u64::from(count)) as u32;
        let roomy = |group: &u32| {
            self.used[*group as usize] <= mean_used && space.free_in_flex(*group) >= space.mean_free()
        };
        let chosen = match (spread, parent) {
            (Spread::Every, _) => all
                .filter(|group| self.used[*group as usize] <= mean_used)
                .min_by_key(|group| self.directories[*group as usize]),
            (Spread::Top, None) => {
                let start = rng.random_range(0..count);
                let groups = all.map(|step| (start + step) % count).filter(&roomy);
                groups.min_by_key(|group| self.directories[*group as usize])
            }
            (Spread::Top, Some(parent)) => {
                let (inodes, blocks) = (self.inodes(0), self.geometry.blocks(0));
                let most_directories = (self.all_directories / u64::from(count)) as u32 + inodes / 16;
                let (most_used, least_free) =
                    (mean_used + inodes / 4, space.mean_free().saturating_sub(blocks / 4));
                all.map(|step| (parent + step) % count).find(|group| {
                    let at = *group as usize;
                    self.directories[at] < most_directories
                        && self.used[at] < most_used
                        && space.free_in_flex(*group) >= least_free
                })
            }
        };
        let group = chosen.unwrap_or(parent.unwrap_or(0));
        self.directories[group as usize] += 1;
        self.all_directories += 1;
        group
    }

    /// An inode in the flex group `flex`, or in the next one that has one: its group, and its place there.
    pub(super) fn inode(&mut self, flex: u32) -> Result<(u32, u32), Full> {
        let count = self.used.len() as u32;
        let mut all = (0..count).map(|step| (flex + step) % count);
        let chosen = all.find(|one| self.used[*one as usize] < self.inodes(*one)).ok_or(Full)?;
        let place = self.used[chosen as usize];
        self.used[chosen as usize] += 1;
        self.all_used += 1;
        Ok((self.geometry.groups_of(chosen).start + place / self.per_group, place % self.per_group))
    }
}
