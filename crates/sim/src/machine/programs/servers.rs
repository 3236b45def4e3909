//! FFSB's profiles: threads that read, write, make, lengthen and remove files at random (OLS'05 §5.1).

use rand::Rng;

use super::setting::{Full, Setting, own_rng};
use crate::machine::program::{DirectoryId, FileId, Op, Part, program};
use crate::machine::running::Job;

/// Files in the beginning, and the directories that they are in.
const FILES: u64 = 100_000;
const DIRECTORIES: u64 = 100;
/// Their sizes, uniformly.
const SIZES: std::ops::RangeInclusive<u64> = 4096..=65_536;
/// Operations of a thread.
const OPERATIONS: u64 = 20_000;
/// FFSB reads and writes by blocks of 4 KiB.
const CALL: u32 = 4096;

/// How often a thread does what, in percent; the rest deletes.
#[derive(Clone, Copy, Debug)]
struct Mix {
    read: u32,
    write: u32,
    create: u32,
    append: u32,
}

fn threads(setting: &mut Setting, mix: Mix) -> Result<Vec<Job>, Full> {
    let count = setting.scaled(DIRECTORIES);
    let mut directories: Vec<(DirectoryId, Vec<(FileId, u64)>)> = Vec::new();
    for _ in 0..count {
        directories.push((setting.files.make_directory(None)?, Vec::new()));
    }
    for place in 0..setting.scaled(FILES) {
        let bytes = setting.rng.random_range(SIZES);
        let (directory, files) = &mut directories[(place % count) as usize];
        files.push((setting.files.make_file(*directory, bytes)?, bytes));
    }
    let operations = setting.scaled(OPERATIONS);
    let instances = setting.wish.instances;
    let mut jobs = Vec::new();
    for thread in 0..instances {
        let mut rng = own_rng(setting);
        // Threads delete files in directories of their own, so that nobody wants what is gone.
        let own = directories.iter().enumerate().filter(|(place, _)| *place as u32 % instances == thread);
        let mut own: Vec<_> = own.map(|(_, directory)| directory.clone()).collect();
        if own.is_empty() {
            continue;
        }
        let mut all = Vec::new();
        for _ in 0..operations {
            let at = rng.random_range(0..own.len());
            let (directory, files) = &mut own[at];
            let draw = rng.random_range(0..100);
            let [reads, writes, creates] =
                [mix.read, mix.read + mix.write, mix.read + mix.write + mix.create];
            let bytes = rng.random_range(SIZES);
            if files.is_empty() || (writes..creates).contains(&draw) {
                let file = setting.files.plan_file();
                files.push((file, bytes));
                all.push(Op::Create(file, *directory));
                all.push(Op::Write(Part { file, from: 0, bytes, call: CALL }));
                continue;
            }
            let pick = rng.random_range(0..files.len());
            let (file, length) = files[pick];
            if draw < reads {
                all.extend([Op::Open(file), Op::Read(Part::all(file, CALL)), Op::Close(file)]);
            } else if draw < writes {
                all.extend([Op::Open(file), Op::Write(Part { file, from: 0, bytes: length, call: CALL })]);
            } else if draw < creates + mix.append {
                files[pick].1 += u64::from(CALL);
                let more = Part { file, from: length, bytes: u64::from(CALL), call: CALL };
                all.extend([Op::Open(file), Op::Write(more)]);
            } else {
                files.swap_remove(pick);
                all.push(Op::Unlink(file));
            }
        }
        jobs.push(Job { name: "thread", program: program(all), background: false });
    }
    Ok(jobs)
}

pub(super) fn web(setting: &mut Setting) -> Result<Vec<Job>, Full> {
    threads(setting, Mix { read: 100, write: 0, create: 0, append: 0 })
}

pub(super) fn file(setting: &mut Setting) -> Result<Vec<Job>, Full> {
    threads(setting, Mix { read: 80, write: 20, create: 0, append: 0 })
}

pub(super) fn mail(setting: &mut Setting) -> Result<Vec<Job>, Full> {
    threads(setting, Mix { read: 40, write: 0, create: 40, append: 0 })
}

pub(super) fn metadata(setting: &mut Setting) -> Result<Vec<Job>, Full> {
    threads(setting, Mix { read: 0, write: 0, create: 40, append: 40 })
}
