//! Files and directories: which blocks each has, and which blocks say so.
//!
//! Blocks are counted from the start of the disk. A group begins with its block bitmap, its inode bitmap and its inode
//! table. A file's first block is sought where its directory's group has free ones, each next one behind the one before.
//! Inodes that were given back are not used again, for benches that make files of the same names anew find theirs
//! by number.

use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::groups::Groups;
use super::space::{Full, Space};
use crate::machine::parameters::{Layout, Mapping, PAGE};
use crate::machine::program::{DirectoryId, FileId};

/// Blocks of bitmaps at the start of a group.
const BITMAPS: u32 = 2;

/// Blocks in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Extent {
    page: u32,
    block: u32,
    count: u32,
}

/// A file.
#[derive(Clone, Debug, Default)]
pub struct File {
    /// The directory that names it. `None`: the file is not there.
    pub directory: Option<DirectoryId>,
    /// The file's place among the names of its directory.
    pub place: u32,
    /// The block in which its inode lies.
    pub inode: u32,
    /// The file's length in bytes.
    pub bytes: u64,
    group: u32,
    extents: Vec<Extent>,
    pages: u32,
    /// Blocks that say where its pages lie.
    pointers: Vec<u32>,
    /// Blocks set aside behind the end.
    reserved: Option<(u32, u32)>,
}

/// A directory.
#[derive(Clone, Debug, Default)]
pub struct Directory {
    /// The block in which its inode lies.
    pub inode: u32,
    /// The directory's own blocks.
    pub blocks: Vec<u32>,
    /// The files in it, in the order in which it lists them.
    pub files: Vec<FileId>,
    /// The directory that names it, if there is one above.
    pub parent: Option<DirectoryId>,
    /// The place of its name there.
    pub place: u32,
    group: u32,
    names: u32,
}

/// What growing a file changed besides the file.
#[derive(Clone, Debug, Default)]
pub struct Grown {
    /// Bitmaps of blocks.
    pub bitmaps: Vec<u32>,
    /// New blocks of pointers.
    pub pointers: Vec<u32>,
}

/// A file system.
pub struct FileSystem {
    layout: Layout,
    space: Space,
    groups: Groups,
    files: Vec<File>,
    directories: Vec<Directory>,
    /// Where the journal lies.
    journal: Option<(u32, u32)>,
    rng: Xoshiro256PlusPlus,
}

impl FileSystem {
    /// An empty file system of `blocks` blocks, of which `journal` in its first group are the journal.
    ///
    /// # Errors
    /// [`Full`]: the disk has no room for one group.
    pub fn new(layout: Layout, blocks: u64, journal: u32, seed: u64) -> Result<FileSystem, Full> {
        let groups = u32::try_from(blocks / u64::from(layout.group)).unwrap_or(u32::MAX / layout.group);
        if groups == 0 {
            return Err(Full);
        }
        let mut space = Space::new(groups, layout.group, BITMAPS + layout.inode_table);
        let journal = match journal {
            0 => None,
            _ => Some(space.take(space.first(0), journal)?),
        };
        let rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let (groups, files, directories) = (Groups::new(groups, &layout), Vec::new(), Vec::new());
        Ok(FileSystem { layout, space, groups, files, directories, journal, rng })
    }

    /// The journal's first block, and how many it has.
    pub fn journal(&self) -> Option<(u32, u32)> {
        self.journal
    }

    /// A directory that is not there yet.
    pub fn plan_directory(&mut self) -> DirectoryId {
        self.directories.push(Directory::default());
        DirectoryId(self.directories.len() as u32 - 1)
    }

    /// A file that is not there yet.
    pub fn plan_file(&mut self) -> FileId {
        self.files.push(File::default());
        FileId(self.files.len() as u32 - 1)
    }

    /// A planned directory is made in `parent`, or at the top.
    ///
    /// # Errors
    /// [`Full`].
    pub fn create_directory(&mut self, id: DirectoryId, parent: Option<DirectoryId>) -> Result<(), Full> {
        let home = parent.map(|parent| self.directory(parent).group);
        let group = self.groups.for_directory(self.layout.spread, home, &self.space, &mut self.rng);
        self.create_directory_in(group, id, parent)
    }

    fn create_directory_in(
        &mut self,
        group: u32,
        id: DirectoryId,
        parent: Option<DirectoryId>,
    ) -> Result<(), Full> {
        let (group, inode, _) = self.inode(group)?;
        let (block, _) = self.space.take(self.space.first(group), 1)?;
        let place = parent.map_or(Ok(0), |parent| self.name(parent, None))?;
        self.directories[id.0 as usize] =
            Directory { inode, blocks: vec![block], files: Vec::new(), group, names: 0, parent, place };
        Ok(())
    }

    /// A planned file is made in `directory`, and is empty. True if no other inode in its block was ever used.
    ///
    /// # Errors
    /// [`Full`].
    pub fn create(&mut self, id: FileId, directory: DirectoryId) -> Result<bool, Full> {
        let (group, inode, first) = self.inode(self.directory(directory).group)?;
        let place = self.name(directory, Some(id))?;
        let directory = Some(directory);
        self.files[id.0 as usize] = File { directory, place, inode, group, ..File::default() };
        Ok(first)
    }

    /// A directory that is there from the beginning.
    ///
    /// # Errors
    /// [`Full`].
    pub fn make_directory(&mut self, parent: Option<DirectoryId>) -> Result<DirectoryId, Full> {
        let id = self.plan_directory();
        self.create_directory(id, parent)?;
        Ok(id)
    }

    /// A directory that is there from the beginning, where the part `place` of `parts` equal parts of the disk begins: one
    /// that somebody placed by hand.
    ///
    /// # Errors
    /// [`Full`].
    pub fn make_directory_at(&mut self, place: u32, parts: u32) -> Result<DirectoryId, Full> {
        let id = self.plan_directory();
        let group = u64::from(self.space.groups()) * u64::from(place) / u64::from(parts.max(1));
        self.create_directory_in(group as u32, id, None)?;
        Ok(id)
    }

    /// A file that is there from the beginning, with its data.
    ///
    /// # Errors
    /// [`Full`].
    pub fn make_file(&mut self, directory: DirectoryId, bytes: u64) -> Result<FileId, Full> {
        let file = self.plan_file();
        self.create(file, directory)?;
        self.set_length(file, bytes);
        self.grow(file, bytes.div_ceil(PAGE) as u32)?;
        Ok(file)
    }

    /// `directory` gets one more name, of a file or of a directory; returns the name's place.
    fn name(&mut self, directory: DirectoryId, id: Option<FileId>) -> Result<u32, Full> {
        let own = &mut self.directories[directory.0 as usize];
        let place = own.names;
        own.names += 1;
        if place / self.layout.names_per_block >= own.blocks.len() as u32 {
            let goal = own.blocks.last().map_or(0, |last| last + 1);
            let (block, _) = self.space.take(goal, 1)?;
            own.blocks.push(block);
        }
        own.files.extend(id);
        Ok(place)
    }

    /// Lists the files made until now in the order of their hashes, where the file system has it so.
    pub fn settle(&mut self) {
        if self.layout.hashed {
            self.directories.iter_mut().for_each(|one| one.files.shuffle(&mut self.rng));
        }
    }

    /// An inode near `group`: its group, its block, and whether it is the first in the block.
    fn inode(&mut self, group: u32) -> Result<(u32, u32, bool), Full> {
        let (group, place) = self.groups.inode(group)?;
        let (table, each) = (group * self.layout.group + BITMAPS, self.layout.inodes_per_block);
        Ok((group, table + place / each, place % each == 0))
    }

    /// A file.
    pub fn file(&self, file: FileId) -> &File {
        &self.files[file.0 as usize]
    }

    /// A directory.
    pub fn directory(&self, directory: DirectoryId) -> &Directory {
        &self.directories[directory.0 as usize]
    }

    /// The bitmaps of the group in which `block` lies: of blocks and of inodes.
    pub fn bitmaps(&self, block: u32) -> [u32; 2] {
        let start = self.space.group_of(block) * self.layout.group;
        [start, start + 1]
    }

    /// The blocks of `directory` that are looked at for the name at `place`: with a hash the one that has it, or else all
    /// up to that one.
    pub fn name_blocks(&self, directory: DirectoryId, place: u32) -> &[u32] {
        let blocks = &self.directory(directory).blocks;
        let last = ((place / self.layout.names_per_block) as usize).min(blocks.len() - 1);
        &blocks[if self.layout.hashed { last } else { 0 }..=last]
    }

    /// The pages that `file` has blocks for.
    pub fn pages(&self, file: FileId) -> u32 {
        self.file(file).pages
    }

    /// Blocks of inodes that are read with `inode`: the first, and how many.
    pub fn inodes_around(&self, inode: u32) -> (u32, u32) {
        let table = self.space.group_of(inode) * self.layout.group + BITMAPS;
        let together = self.layout.inode_readahead.max(1);
        let first = table + (inode - table) / together * together;
        (first, together.min(table + self.layout.inode_table - first))
    }

    /// Where `page` of `file` lies, and how many pages from there on lie in a row.
    pub fn map(&self, file: FileId, page: u32) -> Option<(u32, u32)> {
        let extents = &self.file(file).extents;
        let place = extents.partition_point(|extent| extent.page <= page).checked_sub(1)?;
        let Extent { page: first, block, count } = extents[place];
        let inside = page - first;
        (inside < count).then(|| (block + inside, count - inside))
    }

    /// The block that says where `page` lies, if the inode does not.
    pub fn pointer(&self, file: FileId, page: u32) -> Option<u32> {
        let pointers = &self.file(file).pointers;
        match self.layout.mapping {
            Mapping::Indirect { direct, .. } if page < direct => None,
            Mapping::Indirect { direct, each } => pointers.get(((page - direct) / each) as usize).copied(),
            Mapping::Extents { .. } => pointers.first().copied(),
        }
    }

    /// Makes `file` as long as `pages` pages at least.
    ///
    /// # Errors
    /// [`Full`].
    pub fn grow(&mut self, file: FileId, pages: u32) -> Result<Grown, Full> {
        let mut grown = Grown::default();
        while self.file(file).pages < pages {
            let at = self.file(file).pages;
            let mut wanted = pages - at;
            if let Mapping::Indirect { direct, each } = self.layout.mapping {
                let beyond = at.checked_sub(direct);
                if beyond.is_some_and(|beyond| beyond % each == 0) {
                    let goal = self.goal(file);
                    let (block, _) = self.take(file, goal, 1, &mut grown)?;
                    self.files[file.0 as usize].pointers.push(block);
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
    fn goal(&mut self, file: FileId) -> u32 {
        let (hop, fragments) = (self.layout.hop, self.layout.fragments);
        let own = &self.files[file.0 as usize];
        let Some(last) = own.extents.last().copied() else { return self.space.first(own.group) };
        let behind = last.block + last.count;
        let behind = own.pointers.last().map_or(behind, |pointer| behind.max(pointer + 1));
        if hop > 0 && own.pages.is_multiple_of(hop) {
            return self.space.first((self.space.group_of(last.block) + 1) % self.space.groups());
        }
        if fragments > 0 && self.rng.random_range(0..1000) < fragments {
            let group = self.space.group_of(last.block);
            let size = self.space.first(1) - self.space.first(0);
            return self.space.first(group) + self.rng.random_range(0..size / 2);
        }
        behind
    }

    /// Takes blocks for `file`, first of what is set aside for it.
    fn take(&mut self, file: FileId, goal: u32, wanted: u32, grown: &mut Grown) -> Result<(u32, u32), Full> {
        let reserve = self.layout.reserve;
        if let Some((block, count)) = self.files[file.0 as usize].reserved.take() {
            let used = wanted.min(count);
            self.files[file.0 as usize].reserved = (count > used).then_some((block + used, count - used));
            return Ok((block, used));
        }
        let (block, count) = self.space.take(goal, wanted.max(reserve))?;
        let bitmap = self.bitmaps(block)[0];
        if !grown.bitmaps.contains(&bitmap) {
            grown.bitmaps.push(bitmap);
        }
        let used = wanted.min(count);
        if count > used {
            self.files[file.0 as usize].reserved = Some((block + used, count - used));
        }
        Ok((block, used))
    }

    fn append(&mut self, file: FileId, block: u32, count: u32, grown: &mut Grown) -> Result<(), Full> {
        let own = &mut self.files[file.0 as usize];
        let page = own.pages;
        own.pages += count;
        match own.extents.last_mut() {
            Some(last) if last.block + last.count == block => last.count += count,
            _ => own.extents.push(Extent { page, block, count }),
        }
        let Mapping::Extents { direct } = self.layout.mapping else { return Ok(()) };
        if own.extents.len() as u32 > direct && own.pointers.is_empty() {
            let (leaf, _) = self.space.take(self.space.first(own.group), 1)?;
            self.files[file.0 as usize].pointers.push(leaf);
            grown.pointers.push(leaf);
        }
        Ok(())
    }

    /// The file is `bytes` long.
    pub fn set_length(&mut self, file: FileId, bytes: u64) {
        self.files[file.0 as usize].bytes = bytes;
    }

    /// Takes a file's blocks from it. Returns bitmaps that change.
    pub fn truncate(&mut self, file: FileId) -> Vec<u32> {
        let own = &mut self.files[file.0 as usize];
        (own.bytes, own.pages) = (0, 0);
        let reserved = own.reserved.take().map(|(block, count)| Extent { page: 0, block, count });
        let pointers = own.pointers.drain(..).map(|block| Extent { page: 0, block, count: 1 });
        let all: Vec<Extent> = own.extents.drain(..).chain(pointers).chain(reserved).collect();
        let mut bitmaps = Vec::new();
        let group = self.layout.group;
        for Extent { mut block, mut count, .. } in all {
            // What lies in a row may lie in two groups, if nothing is between them.
            while count > 0 {
                let here = count.min(group - block % group);
                self.space.give(block, here);
                let bitmap = self.bitmaps(block)[0];
                if !bitmaps.contains(&bitmap) {
                    bitmaps.push(bitmap);
                }
                (block, count) = (block + here, count - here);
            }
        }
        bitmaps
    }

    /// Takes a file's name and blocks from it. Returns bitmaps that change.
    pub fn unlink(&mut self, file: FileId) -> Vec<u32> {
        if let Some(directory) = self.files[file.0 as usize].directory.take() {
            self.directories[directory.0 as usize].files.retain(|other| *other != file);
        }
        self.truncate(file)
    }
}
