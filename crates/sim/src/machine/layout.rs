//! Where files, inodes and names lie on the disk.
//!
//! `space` knows which blocks are free, `groups` chooses groups for directories and files, `files` has the files and
//! directories themselves.

mod files;
mod groups;
mod space;
#[cfg(test)]
mod tests;

pub use files::{Directory, File, FileSystem, Grown};
pub use space::Full;
