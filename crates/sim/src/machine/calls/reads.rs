//! Reading: `read(2)` with its read-ahead, page faults, and the names of a directory.

use super::pages::{held_up, need, need_inode, ready};
use crate::machine::kernel::Kernel;
use crate::machine::parameters::PAGE;
use crate::machine::process::{Open, Pending, Process, Step};
use crate::machine::program::{DirectoryId, FileId, Part};
use crate::machine::readahead::State;
use crate::machine::readahead::window::{Found, Unit, Window};

/// The place of `file` among those that a process has open; opens it if need be.
fn open(kernel: &Kernel, process: &mut Process, file: FileId) -> usize {
    let found = process.open.iter().position(|open| open.file == file);
    found.unwrap_or_else(|| {
        process.open.push(Open { file, state: State::new(kernel.parameters.readahead) });
        process.open.len() - 1
    })
}

/// Reads a part of a file, call by call. A read changes the inode's time of access.
pub(crate) fn read(kernel: &mut Kernel, process: &mut Process, part: Part) -> Step {
    let end = part.from.saturating_add(part.bytes).min(kernel.files.file(part.file).bytes);
    let costs = kernel.parameters.costs;
    loop {
        if let Some(step) = held_up(kernel, process) {
            return step;
        }
        let at = part.from + process.done;
        if at >= end {
            process.owe(costs.call);
            if kernel.parameters.access_times {
                kernel.change_file(part.file, false);
            }
            return Step::Done;
        }
        let place = open(kernel, process, part.file);
        if process.call_end == 0 {
            process.call_end = end.min(at + u64::from(part.call.max(1)));
            process.asked = None;
            process.open[place].state.call(at, process.call_end - at);
            process.owe(costs.call);
        }
        if ask_readahead(kernel, process, part.file, at, place) {
            continue;
        }
        let page = (at / PAGE) as u32;
        let Some(id) = kernel.cache.find(part.file, page) else {
            process.open[place].state.missed();
            process.reads.push_back(Pending { file: part.file, next: page, end: page + 1, marks: [None; 2] });
            continue;
        };
        if let Err(step) = ready(kernel, process, id) {
            return step;
        }
        kernel.cache.touch(id);
        process.owe(costs.page);
        process.done = process.call_end.min((at / PAGE + 1) * PAGE) - part.from;
        if part.from + process.done >= process.call_end {
            process.call_end = 0;
        }
    }
}

/// Asks read-ahead at the unit in which `at` lies, once a call; true if there is something to read.
fn ask_readahead(kernel: &mut Kernel, process: &mut Process, file: FileId, at: u64, place: usize) -> bool {
    let size = u64::from(kernel.parameters.readahead.unit());
    let unit = at / PAGE / size;
    if process.asked == Some(unit) {
        return false;
    }
    process.asked = Some(unit);
    let found = match kernel.cache.find(file, (unit * size) as u32) {
        None => Found::Absent,
        Some(page) if kernel.cache.take_mark(page) => Found::Marked,
        Some(_) => Found::Here,
    };
    let last = (process.call_end - 1) / PAGE / size;
    let end = u64::from(kernel.files.length(file)).div_ceil(size);
    let whole = kernel.files.file(file).bytes / (size * PAGE);
    let cache = &kernel.cache;
    let cached =
        |unit: u64| (unit * size..(unit + 1) * size).any(|page| cache.find(file, page as u32).is_some());
    let mut windows = Vec::new();
    let here = Unit { place: unit, left: last + 1 - unit, found, end, whole };
    process.open[place].state.at(here, &cached, &mut windows);
    let pending = |window: &Window| Pending {
        file,
        next: (window.start * size) as u32,
        end: ((window.start + window.count) * size) as u32,
        marks: window.marks.map(|mark| mark.map(|mark| (mark * size) as u32)),
    };
    process.reads.extend(windows.iter().map(pending));
    !windows.is_empty()
}

/// Touches each page of a mapped file. A missing one is read with those around it.
pub(crate) fn touch(kernel: &mut Kernel, process: &mut Process, part: Part) -> Step {
    let end = part.from.saturating_add(part.bytes).min(kernel.files.file(part.file).bytes);
    let fault = kernel.parameters.fault;
    loop {
        if let Some(step) = held_up(kernel, process) {
            return step;
        }
        let at = part.from + process.done;
        if at >= end {
            return Step::Done;
        }
        let page = (at / PAGE) as u32;
        let Some(id) = kernel.cache.find(part.file, page) else {
            process.owe(kernel.parameters.costs.fault);
            let (next, end) = (page.saturating_sub(fault.before), page + fault.after + 1);
            let file = part.file;
            let absent = |page: &u32| kernel.cache.find(file, *page).is_none();
            let next = (next..=page).rev().take_while(absent).last().unwrap_or(page);
            process.reads.push_back(Pending { file, next, end, marks: [None; 2] });
            continue;
        };
        if let Err(step) = ready(kernel, process, id) {
            return step;
        }
        kernel.cache.touch(id);
        process.owe(kernel.parameters.costs.page);
        process.done = (at / PAGE + 1) * PAGE - part.from;
    }
}

/// Reads the names of a directory, block by block.
pub(crate) fn list(kernel: &mut Kernel, process: &mut Process, directory: DirectoryId) -> Step {
    let inode = kernel.files.directory(directory).inode;
    loop {
        if let Some(step) = need_inode(kernel, process, inode) {
            return step;
        }
        let own = kernel.files.directory(directory);
        let block = own.blocks.get(process.done as usize).copied();
        let Some(block) = block else {
            process.owe(kernel.parameters.costs.call);
            if kernel.parameters.access_times {
                kernel.change(inode);
            }
            return Step::Done;
        };
        if let Some(step) = need(kernel, process, block) {
            return step;
        }
        process.owe(kernel.parameters.costs.call);
        process.done += 1;
    }
}
