//! Bonnie++ 1.03: a file by characters and by blocks, rewriting, seeking, and many empty files.

use idlewise_core::Duration;
use rand::Rng;
use rand::seq::SliceRandom;

use super::setting::{Full, Setting, own_rng};
use crate::machine::parameters::PAGE;
use crate::machine::program::{DirectoryId, FileId, Op, Part, Program, program};
use crate::machine::running::Job;

/// A block (`Chunksize`), and what stdio writes and reads at a time.
const BLOCK: u64 = 8192;
const STDIO: u64 = 4096;
/// `putc` or `getc` of [`STDIO`] characters: 30 cycles each, with the lock of the stream, at 2.4 GHz.
const CHARACTERS: Duration = Duration(STDIO * 30 * 10 / 24);
/// Processes that seek (`SeekProcCount`), their seeks together (`Seeks`), and those after which a block is written (`UpdateSeek`).
const SEEKERS: u64 = 3;
const SEEKS: u64 = 8000;
const UPDATE: u64 = 10;
/// Empty files (`-n 16`).
const FILES: u64 = 16 * 1024;

/// `bonnie++`, with a file twice as large as the memory.
pub(super) fn bonnie(setting: &mut Setting) -> Result<Vec<Job>, Full> {
    let mut jobs = Vec::new();
    for _ in 0..setting.wish.instances {
        let directory = setting.root()?;
        let file = setting.files.plan_file();
        let blocks = 2 * u64::from(setting.wish.parameters.memory) * PAGE / BLOCK;
        let throughput = throughput(file, directory, blocks);
        let seeks = seeks(setting, file, blocks);
        let names = names(setting, directory);
        let all = throughput.chain(seeks).chain([Op::Unlink(file)]).chain(names);
        jobs.push(Job { name: "bonnie", program: program(all), background: false });
    }
    Ok(jobs)
}

fn block(file: FileId, place: u64) -> Part {
    Part { file, from: place * BLOCK, bytes: BLOCK, call: BLOCK as u32 }
}

fn characters(file: FileId, blocks: u64) -> impl Iterator<Item = Part> + Send {
    let part = move |place| Part { file, from: place * STDIO, bytes: STDIO, call: STDIO as u32 };
    (0..blocks * BLOCK / STDIO).map(part)
}

/// The file written by characters, again by blocks, each block changed, read by characters and by blocks.
fn throughput(file: FileId, directory: DirectoryId, blocks: u64) -> impl Iterator<Item = Op> + Send {
    let put = characters(file, blocks).flat_map(|part| [Op::Compute(CHARACTERS), Op::Write(part)]);
    let get = characters(file, blocks).flat_map(|part| [Op::Read(part), Op::Compute(CHARACTERS)]);
    let write = (0..blocks).map(move |place| Op::Write(block(file, place)));
    let change = (0..blocks).flat_map(move |at| [Op::Read(block(file, at)), Op::Write(block(file, at))]);
    let read = (0..blocks).map(move |place| Op::Read(block(file, place)));
    let written = move || [Op::Sync(file), Op::Close(file)];
    std::iter::empty()
        .chain([Op::Mark("putc"), Op::Create(file, directory)])
        .chain(put)
        .chain(written())
        .chain([Op::Mark("write"), Op::Create(file, directory)])
        .chain(write)
        .chain(written())
        .chain([Op::Mark("rewrite"), Op::Open(file)])
        .chain(change)
        .chain(written())
        .chain([Op::Mark("getc"), Op::Open(file)])
        .chain(get)
        .chain([Op::Close(file), Op::Mark("read"), Op::Open(file)])
        .chain(read)
        .chain([Op::Close(file)])
}

/// Processes that read blocks at random and write some of them again.
fn seeks(setting: &mut Setting, file: FileId, blocks: u64) -> impl Iterator<Item = Op> + Send + use<> {
    let each = setting.scaled(SEEKS) / SEEKERS;
    let seeker = |_| {
        let mut rng = own_rng(setting);
        let seek = move |number: u64| {
            let part = block(file, rng.random_range(0..blocks));
            let update = number.is_multiple_of(UPDATE).then_some(Op::Write(part));
            [Op::Read(part)].into_iter().chain(update)
        };
        let seeks: Program = program((0..each).flat_map(seek));
        Op::Spawn("seeker", seeks)
    };
    let seekers: Vec<Op> = (0..SEEKERS).map(seeker).collect();
    [Op::Mark("seeks")].into_iter().chain(seekers).chain([Op::Wait])
}

/// Empty files made and removed, in order and at random.
fn names(setting: &mut Setting, directory: DirectoryId) -> impl Iterator<Item = Op> + Send + use<> {
    let count = setting.scaled(FILES);
    let mut files = || -> Vec<FileId> { (0..count).map(|_| setting.files.plan_file()).collect() };
    let (ordered, random) = (files(), files());
    let mut removed = random.clone();
    removed.shuffle(&mut setting.rng);
    let create = move |file| Op::Create(file, directory);
    std::iter::empty()
        .chain([Op::Mark("create")])
        .chain(ordered.clone().into_iter().map(create))
        .chain([Op::Mark("delete")])
        .chain(ordered.into_iter().map(Op::Unlink))
        .chain([Op::Mark("create-random")])
        .chain(random.into_iter().map(create))
        .chain([Op::Mark("delete-random")])
        .chain(removed.into_iter().map(Op::Unlink))
}
