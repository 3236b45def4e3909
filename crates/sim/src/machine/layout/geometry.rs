//! Where groups begin, and where their bitmaps and inodes lie.
//!
//! With `flex` groups together (ext4's `flex_bg`) the first of them begins with the block bitmaps of all, then their
//! inode bitmaps, then their inode tables. A group by itself begins with its own. Before all that lie the superblock and the
//! descriptors of all groups; copies of them in some other groups are left out.

use crate::machine::parameters::{Layout, PAGE};

/// Bitmaps of a group: of its blocks, and of its inodes.
const BITMAPS: u32 = 2;

/// The groups of a disk. Blocks are counted from the start of the disk.
#[derive(Clone, Copy, Debug)]
pub(super) struct Geometry {
    /// Blocks in a group.
    pub(super) group: u32,
    /// How many groups.
    pub(super) groups: u32,
    flex: u32,
    inode_table: u32,
    descriptor: u32,
}

impl Geometry {
    pub(super) fn new(layout: &Layout, groups: u32) -> Geometry {
        let Layout { group, flex, inode_table, descriptor, .. } = *layout;
        Geometry { group, groups, flex: flex.max(1), inode_table, descriptor }
    }

    /// The group that `block` lies in.
    pub(super) fn group_of(&self, block: u32) -> u32 {
        block / self.group
    }

    /// how many flex groups.
    pub(super) fn flex_groups(&self) -> u32 {
        self.groups.div_ceil(self.flex)
    }

    /// The flex group of a group.
    pub(super) fn flex_of(&self, group: u32) -> u32 {
        group / self.flex
    }

    /// The groups of a flex group.
    pub(super) fn groups_of(&self, flex: u32) -> std::ops::Range<u32> {
        flex * self.flex..self.groups.min((flex + 1) * self.flex)
    }

    /// Blocks before the first group's own: the superblock and the descriptors.
    fn head(&self) -> u32 {
        if self.descriptor == 0 { 0 } else { 1 + (self.groups * self.descriptor).div_ceil(PAGE as u32) }
    }

    /// Blocks at the start of a group that hold bitmaps and inodes, and of the first group what lies before.
    pub(super) fn overhead(&self, group: u32) -> u32 {
        let own = self.groups_of(self.flex_of(group));
        let head = if group == 0 { self.head() } else { 0 };
        head + if group == own.start { (own.end - own.start) * (BITMAPS + self.inode_table) } else { 0 }
    }

    /// The first block of `group` that a file may have.
    pub(super) fn first(&self, group: u32) -> u32 {
        group * self.group + self.overhead(group)
    }

    /// Blocks of a flex group that files may have.
    pub(super) fn blocks(&self, flex: u32) -> u32 {
        self.groups_of(flex).map(|group| self.group - self.overhead(group)).sum()
    }

    /// Where the data of files whose inodes lie in `group` begins: ext4 leaves the first group of a flex group to directories.
    pub(super) fn data(&self, group: u32) -> u32 {
        let own = self.groups_of(self.flex_of(group));
        if self.flex < 4 { self.first(group) } else { self.first((own.start + 1).min(own.end - 1)) }
    }

    /// Where the blocks of directories whose inodes lie in `group` begin.
    pub(super) fn names(&self, group: u32) -> u32 {
        if self.flex < 4 { self.first(group) } else { self.first(self.groups_of(self.flex_of(group)).start) }
    }

    /// Where a flex group's bitmaps begin, how many groups it has, and which of them `group` is.
    fn place(&self, group: u32) -> (u32, u32, u32) {
        let own = self.groups_of(self.flex_of(group));
        let head = if own.start == 0 { self.head() } else { 0 };
        (own.start * self.group + head, own.end - own.start, group - own.start)
    }

    /// The block that has the descriptor of the group whose bitmap `bitmap` is.
    pub(super) fn descriptor_of(&self, bitmap: u32) -> Option<u32> {
        let first = self.groups_of(self.flex_of(self.group_of(bitmap))).start;
        let (start, count, _) = self.place(first);
        let group = first + (bitmap - start) % count;
        (self.descriptor > 0).then(|| 1 + group * self.descriptor / PAGE as u32)
    }

    /// The bitmaps of a group: of its blocks and of its inodes.
    pub(super) fn bitmaps(&self, group: u32) -> [u32; 2] {
        let (start, count, place) = self.place(group);
        [start + place, start + count + place]
    }

    /// The first block of a group's inode table.
    pub(super) fn inode_table(&self, group: u32) -> u32 {
        let (start, count, place) = self.place(group);
        start + BITMAPS * count + place * self.inode_table
    }

    /// The group in whose table `inode` lies.
    pub(super) fn group_of_inode(&self, inode: u32) -> u32 {
        let first = self.groups_of(self.flex_of(self.group_of(inode))).start;
        first + (inode - self.inode_table(first)) / self.inode_table
    }

    /// The blocks of the inode table in which `inode` lies: the first, and the one behind the last.
    pub(super) fn table_around(&self, inode: u32) -> (u32, u32) {
        let table = self.inode_table(self.group_of_inode(inode));
        (table, table + self.inode_table)
    }
}
