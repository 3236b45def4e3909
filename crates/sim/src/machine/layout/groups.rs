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

use super::space::{Full, Space};
use crate::machine::parameters::{Layout, Spread};

/// Inodes and directories of the groups.
pub(super) struct Groups {
    per_group: u32,
    /// Inodes in use, by group.
    used: Vec<u32>,
    directories: Vec<u32>,
    all_used: u64,
    all_directories: u64,
}

impl Groups {
    pub(super) fn new(groups: u32, layout: &Layout) -> Groups {
        let none = vec![0; groups as usize];
        let per_group = layout.inode_table * layout.inodes_per_block;
        Groups { per_group, used: none.clone(), directories: none, all_used: 0, all_directories: 0 }
    }

    /// The group for a directory in `parent`; `None`: at the top.
    pub(super) fn for_directory(
        &mut self,
        spread: Spread,
        parent: Option<u32>,
        space: &Space,
        rng: &mut Xoshiro256PlusPlus,
    ) -> u32 {
        let count = space.groups();
        let all = 0..count;
        let mean_used = (self.all_used / u64::from(count)) as u32;
        let roomy = |group: &u32| {
            self.used[*group as usize] <= mean_used && space.free_in(*group) >= space.mean_free()
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
                let size = space.first(1) - space.first(0);
                let most_directories = (self.all_directories / u64::from(count)) as u32 + self.per_group / 16;
                let (most_used, least_free) =
                    (mean_used + self.per_group / 4, space.mean_free().saturating_sub(size / 4));
                all.map(|step| (parent + step) % count).find(|group| {
                    let at = *group as usize;
                    self.directories[at] < most_directories
                        && self.used[at] < most_used
                        && space.free_in(*group) >= least_free
                })
            }
        };
        let group = chosen.unwrap_or(parent.unwrap_or(0));
        self.directories[group as usize] += 1;
        self.all_directories += 1;
        group
    }

    /// An inode in `group`, or in the next one that has one: the number of its group, and its place there.
    pub(super) fn inode(&mut self, group: u32) -> Result<(u32, u32), Full> {
        let count = self.used.len() as u32;
        let groups = (0..count).map(|step| (group + step) % count);
        let chosen =
            groups.into_iter().find(|group| self.used[*group as usize] < self.per_group).ok_or(Full)?;
        self.used[chosen as usize] += 1;
        self.all_used += 1;
        Ok((chosen, self.used[chosen as usize] - 1))
    }
}
