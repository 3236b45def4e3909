//! Where files, inodes and names lie on the disk.
//!
//! `geometry` says where groups begin, `space` which blocks are free, `groups` which group a directory or a file goes to,
//! `growing` which blocks a file gets; `file` is one, and `files` has all files and directories.

mod file;
mod files;
mod geometry;
mod groups;
mod growing;
mod space;
#[cfg(test)]
mod tests;

pub use file::File;
pub use files::{Directory, FileSystem};
pub use growing::Grown;
pub use space::Full;
