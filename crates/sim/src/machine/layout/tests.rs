//! Where things come to lie.

use super::*;
use crate::machine::parameters::{Allocation, Layout, Mapping};
use crate::machine::presets;
use crate::machine::program::FileId;

fn ext3() -> Layout {
    presets::named("linux-2.6.9").unwrap().layout
}

fn file_system(layout: Layout) -> FileSystem {
    FileSystem::new(layout, 64 * u64::from(layout.group), 0, 1).unwrap()
}

/// The blocks of a file, page by page.
fn blocks(files: &FileSystem, file: FileId) -> Vec<u32> {
    (0..files.pages(file)).map(|page| files.map(file, page).unwrap().0).collect()
}

/// 12 pages, a block of pointers, 1024 pages, a block of pointers: all in a row.
#[test]
fn pointers_lie_before_what_they_point_to() {
    let mut files = file_system(ext3());
    let directory = files.make_directory(None).unwrap();
    let file = files.make_file(directory, 1100 * 4096).unwrap();
    let blocks = blocks(&files, file);
    assert_eq!(blocks[11], blocks[0] + 11);
    assert_eq!(files.pointer(file, 11), None);
    assert_eq!(files.pointer(file, 12), Some(blocks[0] + 12));
    assert_eq!(blocks[12], blocks[0] + 13);
    assert_eq!(files.pointer(file, 1035), Some(blocks[0] + 12));
    assert_eq!(files.pointer(file, 1036), Some(blocks[1035] + 1));
    assert_eq!(blocks[1036], blocks[1035] + 2);
    assert_eq!(files.map(file, 12), Some((blocks[12], 1024)));
}

#[test]
fn files_lie_near_their_directory_and_one_behind_the_other() {
    let mut files = file_system(ext3());
    let top = files.make_directory(None).unwrap();
    let directory = files.make_directory(Some(top)).unwrap();
    let [a, b] = [(); 2].map(|()| files.make_file(directory, 10_000).unwrap());
    let group = |block: u32| block / ext3().group;
    assert_eq!(group(files.directory(top).inode), group(files.directory(directory).inode));
    assert_eq!(group(files.file(a).inode), group(files.directory(directory).inode));
    assert_eq!(blocks(&files, b)[0], blocks(&files, a)[2] + 1);
    assert_eq!(files.file(a).inode, files.file(b).inode, "32 inodes share a block");
}

/// Orlov fills a group to a quarter beyond the average before it turns to the next.
#[test]
fn a_large_tree_goes_on_in_the_next_group() {
    let mut files = file_system(ext3());
    let top = files.make_directory(None).unwrap();
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..100 {
        let directory = files.make_directory(Some(top)).unwrap();
        files.make_file(directory, 1 << 20).unwrap();
        seen.insert(files.directory(directory).inode / ext3().group);
    }
    assert!((3..=5).contains(&seen.len()), "{seen:?}");
    let first = *seen.first().unwrap();
    assert!(seen.iter().copied().eq(first..first + seen.len() as u32) || seen.contains(&0), "{seen:?}");
}

#[test]
fn directories_at_the_top_spread() {
    let mut files = file_system(ext3());
    let made: Vec<_> = (0..8).map(|_| files.make_directory(None).unwrap()).collect();
    let group = |directory| files.directory(directory).inode / ext3().group;
    let groups: std::collections::BTreeSet<u32> = made.into_iter().map(group).collect();
    assert!(groups.len() >= 7, "{groups:?}");
}

/// FFS: each directory in a group of its own, each 16 MiB of a file in another one.
#[test]
fn ffs_spreads_directories_and_large_files() {
    let layout = presets::named("freebsd-4.3").unwrap().layout;
    let mut files = file_system(layout);
    let top = files.make_directory(None).unwrap();
    let other = files.make_directory(Some(top)).unwrap();
    assert_ne!(files.directory(top).inode / layout.group, files.directory(other).inode / layout.group);
    let file = files.make_file(top, 40 << 20).unwrap();
    let groups: Vec<u32> = blocks(&files, file).iter().map(|block| block / layout.group).collect();
    assert_eq!(groups[4095] + 1, groups[4096]);
    assert_eq!(groups[4096] + 1, groups[8192]);
    assert!(groups[..4096].iter().all(|group| *group == groups[0]));
}

/// Where `filefrag` and `debugfs` show a tree that Linux 6.1 unpacks on a disk of 40 GB: the directories' blocks behind the
/// inode tables of their flex group, small files in its second group one behind the other, larger ones behind the first run of those.
#[test]
fn ext4_packs_small_files_and_keeps_large_ones_apart() {
    let layout = presets::named("debian12").unwrap().layout;
    let mut files = FileSystem::new(layout, 320 * u64::from(layout.group), 16_384, 1).unwrap();
    assert_eq!(files.journal(), Some((161 * layout.group, 16_384)));
    let top = files.make_directory(None).unwrap();
    let start = files.directory(top).blocks[0] - 16 * (2 + 512);
    assert!(start.is_multiple_of(16 * layout.group));
    let directories = [(); 3].map(|()| files.make_directory(Some(top)).unwrap());
    let own = directories.map(|directory| files.directory(directory).blocks[0]);
    assert_eq!(own, [1, 2, 3].map(|place| files.directory(top).blocks[0] + place));
    let data = start + layout.group;
    let sizes = [
        (1041, 0),
        (11_384, 1),
        (14_219, 4),
        (75_574, 512),
        (4368, 8),
        (76_966, 531),
        (139_768, 550),
        (65_536, 10),
    ];
    for (number, (bytes, place)) in sizes.into_iter().enumerate() {
        let file = files.make_file(directories[number % 3], bytes).unwrap();
        assert_eq!(blocks(&files, file)[0], data + place, "{bytes} bytes");
    }
    // A run of 512 blocks is full: the next one begins at the next multiple that is free.
    let full = (0..40).map(|_| files.make_file(directories[0], 64 << 10).unwrap());
    let last = full.last().unwrap();
    assert_eq!(blocks(&files, last)[0], data + 1024 + 9 * 16);
}

#[test]
fn inodes_of_a_flex_group_lie_together() {
    let layout = presets::named("debian12").unwrap().layout;
    let mut files = FileSystem::new(layout, 64 * u64::from(layout.group), 0, 1).unwrap();
    let top = files.make_directory_at(1, 4).unwrap();
    let start = 16 * layout.group;
    assert_eq!(files.directory(top).inode, start + 32);
    assert_eq!(files.bitmaps_of_inode(start + 32), [start, start + 16]);
    assert_eq!(files.bitmaps_of_inode(start + 32 + 512), [start + 1, start + 17]);
    assert_eq!(files.block_bitmap(start + 3 * layout.group), start + 3);
    assert_eq!(files.inodes_around(start + 32 + 40), (start + 32 + 32, 32));
}

#[test]
fn files_that_grow_by_turns_interleave_unless_blocks_are_set_aside() {
    for (reserve, runs) in [(0, 64), (8, 8)] {
        let mut files = file_system(Layout { allocation: Allocation::AtOnce { reserve }, ..ext3() });
        let directory = files.make_directory(None).unwrap();
        let [a, b] = [(); 2].map(|()| files.make_file(directory, 0).unwrap());
        for page in 1..=64 {
            files.grow(a, page).unwrap();
            files.grow(b, page).unwrap();
        }
        let breaks = blocks(&files, a).windows(2).filter(|pair| pair[0] + 1 != pair[1]).count() + 1;
        assert!(breaks.abs_diff(runs) <= 2, "{reserve} set aside: {breaks} runs");
    }
}

#[test]
fn fragments_are_as_many_as_was_said() {
    let mut files = file_system(Layout { fragments: 100, ..ext3() });
    let directory = files.make_directory(None).unwrap();
    let file = files.make_file(directory, 4000 * 4096).unwrap();
    let breaks = blocks(&files, file).windows(2).filter(|pair| pair[0] + 1 != pair[1]).count();
    assert!((20..=400).contains(&breaks), "{breaks}");
}

#[test]
fn what_is_given_back_can_be_had_again() {
    let mut files = file_system(ext3());
    let directory = files.make_directory(None).unwrap();
    let file = files.make_file(directory, 50 << 20).unwrap();
    let before = blocks(&files, file);
    assert!(!files.truncate(file).is_empty());
    assert_eq!((files.pages(file), files.file(file).bytes), (0, 0));
    files.grow(file, before.len() as u32).unwrap();
    assert_eq!(blocks(&files, file), before);
    files.unlink(file);
    assert!(files.directory(directory).files.is_empty());
}

#[test]
fn no_block_belongs_to_two() {
    for name in ["linux-2.6.9", "freebsd-4.3", "debian12"] {
        let mut files = file_system(presets::named(name).unwrap().layout);
        let mut all = Vec::new();
        for size in [100, 5000, 60_000, 3 << 20, 30 << 20] {
            let directory = files.make_directory(None).unwrap();
            all.extend(&files.directory(directory).blocks);
            let made: Vec<FileId> = (0..20).map(|_| files.make_file(directory, size).unwrap()).collect();
            for file in made {
                all.extend(blocks(&files, file));
                let pointers = (0..files.pages(file)).filter_map(|page| files.pointer(file, page));
                all.extend(pointers.collect::<std::collections::BTreeSet<_>>());
            }
        }
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count, "{name}");
    }
}

#[test]
fn a_full_disk_says_so() {
    let layout = Layout { mapping: Mapping::Extents { direct: 4 }, ..ext3() };
    let mut files = FileSystem::new(layout, u64::from(layout.group), 0, 1).unwrap();
    let directory = files.make_directory(None).unwrap();
    assert_eq!(files.make_file(directory, 200 << 20), Err(Full));
    assert!(FileSystem::new(layout, 100, 0, 1).is_err());
}
