//! A file: its name's place, its inode, and where its pages lie.

use crate::machine::parameters::{Mapping, PAGE};
use crate::machine::program::DirectoryId;

/// Blocks in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    pub(super) page: u32,
    pub(super) block: u32,
    pub(super) count: u32,
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
    pub(super) group: u32,
    pub(super) extents: Vec<Extent>,
    /// Pages that have blocks.
    pub(super) pages: u32,
    /// Blocks that say where its pages lie.
    pub(super) pointers: Vec<u32>,
    /// Blocks set aside behind the end.
    pub(super) reserved: Option<(u32, u32)>,
}

impl File {
    /// The file's pages, also those that have no blocks yet.
    pub fn length(&self) -> u32 {
        self.pages.max(self.bytes.div_ceil(PAGE) as u32)
    }

    /// Where `page` lies, and how many pages from there on lie in a row.
    pub fn map(&self, page: u32) -> Option<(u32, u32)> {
        let place = self.extents.partition_point(|extent| extent.page <= page).checked_sub(1)?;
        let Extent { page: first, block, count } = self.extents[place];
        let inside = page - first;
        (inside < count).then(|| (block + inside, count - inside))
    }

    /// The block that says where `page` lies, if the inode does not.
    pub fn pointer(&self, mapping: Mapping, page: u32) -> Option<u32> {
        match mapping {
            Mapping::Indirect { direct, .. } if page < direct => None,
            Mapping::Indirect { direct, each } => {
                self.pointers.get(((page - direct) / each) as usize).copied()
            }
            Mapping::Extents { .. } => self.pointers.first().copied(),
        }
    }
}
