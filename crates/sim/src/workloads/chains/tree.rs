//! A tree of small files on a disk, as a file system with block groups lays it out (ext2 and ext3).
//!
//! The disk is cut into groups of 128 MiB: an inode table, then data. A directory, its files and their
//! inodes lie in one group; neighbouring directories share a group, and files lie in the order in which they were
//! made, as in a source tree that was unpacked once and never changed. Files are read in that order, or in the order of
//! a hash of their names, in which ext3 and ext4 with indexed directories list them.

use std::collections::HashSet;

use idlewise_core::{SECTOR_BYTES, Sector, Sectors};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_distr::{Distribution, LogNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A block of the file system: 4 KiB.
pub(super) const BLOCK: u64 = 8;
/// A group: 128 MiB.
const GROUP: u64 = (128 << 20) / SECTOR_BYTES;
/// The inode table of a group: 2 MiB.
const INODE_TABLE: u64 = (2 << 20) / SECTOR_BYTES;
/// How many files a directory's block names.
const NAMES: u64 = 128;

/// What a tree is like.
#[derive(Clone, Copy, Debug)]
pub struct TreeSettings {
    /// Files in it.
    pub files: u64,
    /// Directories, which have as many files each.
    pub directories: u64,
    /// Block groups over which the directories spread.
    pub groups: u64,
    /// The median size of a file, in bytes.
    pub median: u64,
    /// The mean size of a file, in bytes, before rounding to blocks.
    pub mean: u64,
    /// Inodes that share a block.
    pub inodes: u64,
    /// A directory's files are read in any order but that in which they lie.
    pub hashed: bool,
}

/// A place on the disk.
pub(super) type Extent = (Sector, Sectors);

/// One file.
#[derive(Clone, Copy, Debug)]
pub(super) struct File {
    /// The blocks of the file's directory, if the file is the first in it.
    pub(super) directory: Option<Extent>,
    /// The block of its inode, if no earlier file's inode lies in it.
    pub(super) inode: Option<Extent>,
    /// The file's data.
    pub(super) data: Extent,
}

/// The files of a tree, in the order in which they are read.
pub(super) struct Tree {
    pub(super) files: Vec<File>,
    /// Sectors from its start to its end.
    pub(super) span: u64,
}

/// The part of `total` that comes before piece `index` of `pieces`.
fn before(index: u64, pieces: u64, total: u64) -> u64 {
    (u128::from(index) * u128::from(total) / u128::from(pieces)) as u64
}

impl Tree {
    /// A tree that begins at `start`.
    pub(super) fn new(settings: TreeSettings, start: Sector, seed: u64) -> Tree {
        let TreeSettings { files, directories, groups, median, mean, inodes, hashed } = settings;
        // Of its own, so that both orders are of the same tree.
        let mut names = Xoshiro256PlusPlus::seed_from_u64(!seed);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        // A log-normal distribution's mean is its median times e^(σ²/2).
        let sigma = (2.0 * (mean as f64 / median as f64).ln()).max(0.0).sqrt();
        let sizes = LogNormal::new((median as f64).ln(), sigma).expect("σ is finite");
        let (mut found, mut group_start) = (Vec::new(), start.0);
        for group in 0..groups {
            let (mut inode, mut known) = (0, HashSet::new());
            let mut data = group_start + INODE_TABLE;
            for directory in before(group, groups, directories)..before(group + 1, groups, directories) {
                let own = before(directory, directories, files)..before(directory + 1, directories, files);
                let blocks = (own.end - own.start).div_ceil(NAMES) * BLOCK;
                let mut listing = Some((Sector(data), Sectors(blocks as u32)));
                data += blocks;
                let lie = own.map(|_| {
                    let bytes = sizes.sample(&mut rng).clamp(1.0, 1e9) as u64;
                    let length = bytes.div_ceil(BLOCK * SECTOR_BYTES) * BLOCK;
                    let table_block = Sector(group_start + inode / inodes * BLOCK % INODE_TABLE);
                    inode += 1;
                    data += length;
                    (table_block, (Sector(data - length), Sectors(length as u32)))
                });
                let mut read: Vec<_> = lie.collect();
                if hashed {
                    read.shuffle(&mut names);
                }
                found.extend(read.into_iter().map(|(table_block, data)| File {
                    directory: listing.take(),
                    inode: known.insert(table_block).then_some((table_block, Sectors(BLOCK as u32))),
                    data,
                }));
            }
            group_start += (data - group_start).div_ceil(GROUP) * GROUP;
        }
        Tree { files: found, span: group_start - start.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTINGS: TreeSettings = TreeSettings {
        files: 3000,
        directories: 100,
        groups: 4,
        median: 6144,
        mean: 12288,
        inodes: 32,
        hashed: false,
    };

    #[test]
    fn sizes_are_those_of_a_source_tree() {
        let tree = Tree::new(SETTINGS, Sector(0), 7);
        let mut sizes: Vec<u64> = tree.files.iter().map(|file| file.data.1.bytes()).collect();
        sizes.sort_unstable();
        let mean = sizes.iter().sum::<u64>() / sizes.len() as u64;
        // Half a block more than before rounding.
        assert!((13_000..16_000).contains(&mean), "{mean}");
        assert_eq!(sizes[1500], 8192);
    }

    #[test]
    fn extents_do_not_overlap_and_stay_inside() {
        let start = Sector(1000);
        let tree = Tree::new(SETTINGS, start, 7);
        let mut extents: Vec<Extent> = tree
            .files
            .iter()
            .flat_map(|file| [file.directory, file.inode, Some(file.data)])
            .flatten()
            .collect();
        extents.sort_unstable();
        assert!(extents.windows(2).all(|pair| pair[0].0 + pair[0].1 <= pair[1].0));
        assert!(extents[0].0 >= start);
        let (last, length) = extents[extents.len() - 1];
        assert!((last + length).0 <= start.0 + tree.span);
        assert_eq!(tree.span, 4 * GROUP);
    }

    #[test]
    fn files_follow_one_another_within_a_directory_and_share_inode_blocks() {
        let tree = Tree::new(SETTINGS, Sector(0), 7);
        assert_eq!(tree.files.len(), 3000);
        assert_eq!(tree.files.iter().filter(|file| file.directory.is_some()).count(), 100);
        // 750 inodes in each of four groups, 32 to a block.
        assert_eq!(tree.files.iter().filter(|file| file.inode.is_some()).count(), 4 * 24);
        let [first, second] = [&tree.files[0], &tree.files[1]];
        assert_eq!(first.data.0 + first.data.1, second.data.0);
    }

    #[test]
    fn a_hash_changes_the_order_within_each_directory_and_nothing_else() {
        let (tree, hashed) = (
            Tree::new(SETTINGS, Sector(0), 7),
            Tree::new(TreeSettings { hashed: true, ..SETTINGS }, Sector(0), 7),
        );
        let mut moved = 0;
        for (plain, other) in tree.files.chunks(30).zip(hashed.files.chunks(30)) {
            assert_eq!(plain[0].directory, other[0].directory);
            let places = |files: &[File]| files.iter().map(|file| file.data).collect::<Vec<_>>();
            let (lie, mut read) = (places(plain), places(other));
            moved += lie.iter().zip(&read).filter(|(a, b)| a != b).count();
            read.sort_unstable();
            assert_eq!(lie, read);
        }
        assert!(moved > 2500, "{moved} of 3000");
        let inodes = |tree: &Tree| {
            let mut blocks: Vec<_> = tree.files.iter().filter_map(|file| file.inode).collect();
            blocks.sort_unstable();
            blocks
        };
        assert_eq!(inodes(&tree), inodes(&hashed), "each block of inodes is read once");
    }
}
