//! Files and directories: which blocks each has, and which blocks say so.
//!
//! Blocks are counted from the start of the disk. `growing.rs` says which ones a file gets.
//! Inodes that were given back are not used again, for benches that make files of the same names anew find theirs
//! by number.

use rand::seq::SliceRandom;

use super::file::File;
use super::groups::Groups;
use super::growing::{Blocks, Grown};
use super::space::Full;
use crate::machine::parameters::{Allocation, Layout, PAGE};
use crate::machine::program::{DirectoryId, FileId};

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
    /// Places of names that are gone.
    vacant: Vec<u32>,
}

/// A file system.
pub struct FileSystem {
    blocks: Blocks,
    groups: Groups,
    files: Vec<File>,
    directories: Vec<Directory>,
    /// Where the journal lies.
    journal: Option<(u32, u32)>,
}

impl FileSystem {
    /// An empty file system of `blocks` blocks, of which `journal` are the journal.
    ///
    /// # Errors
    /// [`Full`]: the disk has no room for one group.
    pub fn new(layout: Layout, blocks: u64, journal: u32, seed: u64) -> Result<FileSystem, Full> {
        let groups = u32::try_from(blocks / u64::from(layout.group)).unwrap_or(u32::MAX / layout.group);
        if groups == 0 {
            return Err(Full);
        }
        let mut blocks = Blocks::new(layout, groups, seed);
        let geometry = blocks.geometry;
        let home = if layout.journal_in_middle { groups / 2 } else { 0 };
        let journal = match journal {
            0 => None,
            _ => Some(blocks.space.take_row(geometry.data(home), journal, 1)?),
        };
        let (groups, files, directories) = (Groups::new(geometry, &layout), Vec::new(), Vec::new());
        Ok(FileSystem { blocks, groups, files, directories, journal })
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
        let home = parent.map(|parent| self.blocks.geometry.flex_of(self.directory(parent).group));
        let flex = self.groups.for_directory(
            self.blocks.layout.spread,
            home,
            &self.blocks.space,
            &mut self.blocks.rng,
        );
        self.create_directory_in(flex, id, parent)
    }

    fn create_directory_in(
        &mut self,
        flex: u32,
        id: DirectoryId,
        parent: Option<DirectoryId>,
    ) -> Result<(), Full> {
        let (group, inode, _) = self.inode(flex)?;
        let (block, _) = self.blocks.space.take(self.blocks.geometry.names(group), 1)?;
        let place = parent.map_or(Ok(0), |parent| self.name(parent, None))?;
        self.directories[id.0 as usize] =
            Directory { inode, blocks: vec![block], group, parent, place, ..Directory::default() };
        Ok(())
    }

    /// A planned file is made in `directory`, and is empty. True if no other inode in its block was ever used.
    ///
    /// # Errors
    /// [`Full`].
    pub fn create(&mut self, id: FileId, directory: DirectoryId) -> Result<bool, Full> {
        let flex = self.blocks.geometry.flex_of(self.directory(directory).group);
        let (group, inode, first) = self.inode(flex)?;
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
        let flex = u64::from(self.blocks.geometry.flex_groups()) * u64::from(place) / u64::from(parts.max(1));
        self.create_directory_in(flex as u32, id, None)?;
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
        self.release(file);
        Ok(file)
    }

    /// `directory` gets one more name, of a file or of a directory; returns the name's place.
    fn name(&mut self, directory: DirectoryId, id: Option<FileId>) -> Result<u32, Full> {
        let own = &mut self.directories[directory.0 as usize];
        if let Some(place) = own.vacant.pop() {
            own.files.extend(id);
            return Ok(place);
        }
        let place = own.names;
        own.names += 1;
        if place / self.blocks.layout.names_per_block >= own.blocks.len() as u32 {
            let goal = own.blocks.last().map_or(0, |last| last + 1);
            let (block, _) = self.blocks.space.take(goal, 1)?;
            own.blocks.push(block);
        }
        own.files.extend(id);
        Ok(place)
    }

    /// Lists the files made until now in the order of their hashes, and so these directories, where the file system has it so.
    pub fn settle(&mut self, directories: &mut [DirectoryId]) {
        if self.blocks.layout.hashed {
            self.directories.iter_mut().for_each(|one| one.files.shuffle(&mut self.blocks.rng));
            directories.shuffle(&mut self.blocks.rng);
        }
    }

    /// An inode in the flex group `flex`, or near it: its group, its block, and whether it is the first in the block.
    fn inode(&mut self, flex: u32) -> Result<(u32, u32, bool), Full> {
        let (group, place) = self.groups.inode(flex)?;
        let (table, each) = (self.blocks.geometry.inode_table(group), self.blocks.layout.inodes_per_block);
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

    /// The bitmap of the blocks of the group in which `block` lies.
    pub fn block_bitmap(&self, block: u32) -> u32 {
        self.blocks.geometry.bitmaps(self.blocks.geometry.group_of(block))[0]
    }

    /// The bitmaps of the group in whose table `inode` lies: of blocks and of inodes.
    pub fn bitmaps_of_inode(&self, inode: u32) -> [u32; 2] {
        self.blocks.geometry.bitmaps(self.blocks.geometry.group_of_inode(inode))
    }

    /// The block that has the descriptor of the group whose bitmap `bitmap` is, if the file system has such.
    pub fn descriptor_of(&self, bitmap: u32) -> Option<u32> {
        self.blocks.geometry.descriptor_of(bitmap)
    }

    /// The blocks of `directory` that are looked at for the name at `place`: with a hash the one that has it, or else all
    /// up to that one.
    pub fn name_blocks(&self, directory: DirectoryId, place: u32) -> &[u32] {
        let blocks = &self.directory(directory).blocks;
        let last = ((place / self.blocks.layout.names_per_block) as usize).min(blocks.len() - 1);
        &blocks[if self.blocks.layout.hashed { last } else { 0 }..=last]
    }

    /// The pages that `file` has blocks for.
    pub fn pages(&self, file: FileId) -> u32 {
        self.file(file).pages
    }

    /// The pages of `file`, also those that have no blocks yet.
    pub fn length(&self, file: FileId) -> u32 {
        self.file(file).length()
    }

    /// Free blocks.
    pub fn free(&self) -> u64 {
        self.blocks.space.free()
    }

    /// Whether files get their blocks only when they are written back.
    pub fn delays(&self) -> bool {
        matches!(self.blocks.layout.allocation, Allocation::Delayed { .. })
    }

    /// Blocks of inodes that are read with `inode`: the first, and how many.
    pub fn inodes_around(&self, inode: u32) -> (u32, u32) {
        let (table, end) = self.blocks.geometry.table_around(inode);
        let together = self.blocks.layout.inode_readahead.max(1);
        let first = table + (inode - table) / together * together;
        (first, together.min(end - first))
    }

    /// Where `page` of `file` lies, and how many pages from there on lie in a row.
    pub fn map(&self, file: FileId, page: u32) -> Option<(u32, u32)> {
        self.file(file).map(page)
    }

    /// The block that says where `page` lies, if the inode does not.
    pub fn pointer(&self, file: FileId, page: u32) -> Option<u32> {
        self.file(file).pointer(self.blocks.layout.mapping, page)
    }

    /// Makes `file` as long as `pages` pages at least.
    ///
    /// # Errors
    /// [`Full`].
    pub fn grow(&mut self, file: FileId, pages: u32) -> Result<Grown, Full> {
        self.blocks.grow(&mut self.files[file.0 as usize], pages)
    }

    /// The file is closed: what is set aside for it is free again.
    pub fn release(&mut self, file: FileId) {
        self.blocks.release(&mut self.files[file.0 as usize]);
    }

    /// The file is `bytes` long.
    pub fn set_length(&mut self, file: FileId, bytes: u64) {
        self.files[file.0 as usize].bytes = bytes;
    }

    /// Takes a file's blocks from it. Returns bitmaps that change.
    pub fn truncate(&mut self, file: FileId) -> Vec<u32> {
        self.blocks.truncate(&mut self.files[file.0 as usize])
    }

    /// Takes a file's name and blocks from it. Returns bitmaps that change.
    pub fn unlink(&mut self, file: FileId) -> Vec<u32> {
        let own = &mut self.files[file.0 as usize];
        if let Some(directory) = own.directory.take() {
            let above = &mut self.directories[directory.0 as usize];
            above.files.retain(|other| *other != file);
            above.vacant.push(own.place);
        }
        self.truncate(file)
    }
}
