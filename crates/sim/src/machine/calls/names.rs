//! Names: finding, making and removing files and directories.

use super::pages::{need, need_inode, write_blocks};
use crate::machine::kernel::Kernel;
use crate::machine::layout::Full;
use crate::machine::process::{On, Process, Step};
use crate::machine::program::{DirectoryId, FileId};

/// The blocks of a directory that must be looked at for the name at `place`.
fn need_name(kernel: &mut Kernel, process: &mut Process, directory: DirectoryId, place: u32) -> Option<Step> {
    let blocks = kernel.files.name_blocks(directory, place).to_vec();
    blocks.into_iter().find_map(|block| need(kernel, process, block))
}

/// Finds a file by its name, and reads its inode: `stat(2)`, and what `open(2)` begins with.
pub(crate) fn find(kernel: &mut Kernel, process: &mut Process, file: FileId) -> Step {
    if process.stage == 0 {
        process.owe(kernel.parameters.costs.call + kernel.parameters.costs.name);
        process.stage = 1;
    }
    let own = kernel.files.file(file);
    let (directory, place, inode) = (own.directory, own.place, own.inode);
    let Some(directory) = directory else { return Step::Done };
    let name = need_name(kernel, process, directory, place);
    name.or_else(|| need_inode(kernel, process, inode)).unwrap_or(Step::Done)
}

/// The blocks that change reach the disk before the call returns, if the file system has it so.
fn write_through(kernel: &Kernel, process: &mut Process, blocks: &[u32]) {
    if kernel.parameters.synchronous_names {
        process.writes.extend(blocks);
    }
}

/// Makes an empty file, or empties one that is there.
///
/// # Errors
/// [`Full`].
pub(crate) fn create(
    kernel: &mut Kernel,
    process: &mut Process,
    file: FileId,
    directory: DirectoryId,
) -> Result<Step, Full> {
    let parent = kernel.files.directory(directory);
    let (parent_inode, last) = (parent.inode, *parent.blocks.last().unwrap_or(&parent.inode));
    if process.stage == 0 {
        process.owe(kernel.parameters.costs.call + kernel.parameters.costs.name);
        process.stage = 1;
    }
    if process.stage == 1 {
        let [blocks, inodes] = kernel.files.bitmaps_of_inode(parent_inode);
        // Who gives blocks later does not look for them now.
        let blocks = (!kernel.files.delays()).then_some(blocks);
        let wanted = [last, inodes].into_iter().chain(blocks);
        let step = wanted.into_iter().find_map(|block| need(kernel, process, block));
        if let Some(step) = step {
            return Ok(step);
        }
        process.stage = 2;
        if kernel.files.file(file).directory.is_some() {
            empty(kernel, file);
            return Ok(Step::Done);
        }
        let first = kernel.files.create(file, directory)?;
        kernel.change_bitmap(inodes);
        let inode = kernel.files.file(file).inode;
        if first && let Err(_full) = kernel.fresh(inode) {
            return Ok(Step::Wait(On::Room));
        }
    }
    let inode = kernel.files.file(file).inode;
    if process.stage == 2 {
        if let Some(step) = need(kernel, process, inode) {
            return Ok(step);
        }
        let name = *kernel.files.directory(directory).blocks.last().unwrap_or(&last);
        [name, parent_inode].into_iter().for_each(|block| kernel.change(block));
        kernel.change_file(file, true);
        write_through(kernel, process, &[inode, name]);
        process.stage = 3;
    }
    Ok(write_blocks(kernel, process))
}

/// Takes a file's data from it.
fn empty(kernel: &mut Kernel, file: FileId) {
    kernel.forget(file);
    let bitmaps = kernel.files.truncate(file);
    bitmaps.into_iter().for_each(|bitmap| kernel.change_bitmap(bitmap));
    kernel.change_orphans();
    kernel.change_file(file, true);
}

/// Makes a directory in another one.
///
/// # Errors
/// [`Full`].
pub(crate) fn make_directory(
    kernel: &mut Kernel,
    process: &mut Process,
    id: DirectoryId,
    parent: DirectoryId,
) -> Result<Step, Full> {
    let above = kernel.files.directory(parent);
    let (above_inode, last) = (above.inode, *above.blocks.last().unwrap_or(&above.inode));
    if process.stage == 0 {
        process.owe(kernel.parameters.costs.call + kernel.parameters.costs.name);
        process.stage = 1;
    }
    if process.stage == 1 {
        let step = need(kernel, process, last).or_else(|| need_inode(kernel, process, above_inode));
        if let Some(step) = step {
            return Ok(step);
        }
        kernel.files.create_directory(id, Some(parent))?;
        process.stage = 2;
    }
    let own = kernel.files.directory(id);
    let (inode, block) = (own.inode, *own.blocks.first().unwrap_or(&own.inode));
    if process.stage == 2 {
        let [blocks, inodes] = kernel.files.bitmaps_of_inode(inode);
        let step = [blocks, inodes, inode].into_iter().find_map(|block| need(kernel, process, block));
        if let Some(step) = step {
            return Ok(step);
        }
        let name = *kernel.files.directory(parent).blocks.last().unwrap_or(&last);
        [inodes, blocks].into_iter().for_each(|bitmap| kernel.change_bitmap(bitmap));
        [inode, block, name, above_inode].into_iter().for_each(|block| kernel.change(block));
        write_through(kernel, process, &[inode, above_inode, block, name]);
        process.stage = 3;
    }
    Ok(write_blocks(kernel, process))
}

/// Removes a file.
pub(crate) fn unlink(kernel: &mut Kernel, process: &mut Process, file: FileId) -> Step {
    if process.stage == 0 {
        process.owe(kernel.parameters.costs.call + kernel.parameters.costs.name);
        process.stage = 1;
    }
    let own = kernel.files.file(file);
    let (directory, place, inode) = (own.directory, own.place, own.inode);
    if process.stage == 1 {
        let Some(directory) = directory else { return Step::Done };
        let step = need_name(kernel, process, directory, place)
            .or_else(|| need_inode(kernel, process, inode))
            .or_else(|| need(kernel, process, kernel.files.bitmaps_of_inode(inode)[1]));
        if let Some(step) = step {
            return step;
        }
        let name = kernel.files.name_blocks(directory, place).last().copied().unwrap_or(inode);
        let above = kernel.files.directory(directory).inode;
        kernel.forget(file);
        let mut bitmaps = kernel.files.unlink(file);
        bitmaps.push(kernel.files.bitmaps_of_inode(inode)[1]);
        bitmaps.into_iter().for_each(|bitmap| kernel.change_bitmap(bitmap));
        [inode, name, above].into_iter().for_each(|block| kernel.change(block));
        kernel.change_orphans();
        write_through(kernel, process, &[name, inode]);
        process.stage = 2;
    }
    write_blocks(kernel, process)
}
