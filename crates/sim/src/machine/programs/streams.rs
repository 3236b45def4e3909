//! Streams: OLS'05's first two experiments.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use idlewise_core::Duration;

use super::setting::{Full, Setting, between, cat, own_rng};
use super::trees::{find, source_tree};
use crate::machine::program::{DirectoryId, Op, Part, Program, program};
use crate::machine::running::Job;

const MIB: u64 = 1 << 20;

/// Each process reads a file of 1 GB in order, by calls of 64 KiB.
pub(super) fn readers(setting: &mut Setting) -> Result<Vec<Job>, Full> {
    let mut jobs = Vec::new();
    for _ in 0..setting.wish.instances {
        let directory = setting.files.make_directory(None)?;
        let bytes = setting.scaled(1024) * MIB;
        let file = setting.files.make_file(directory, bytes)?;
        let all = [Op::Open(file), Op::Read(Part::all(file, 64 << 10))];
        jobs.push(Job { name: "reader", program: program(all), background: false });
    }
    Ok(jobs)
}

/// For how long the other program has been running when the one that counts begins, at least and at most.
const HEAD_START: [Duration; 2] = [Duration::from_ms(2000), Duration::from_ms(2100)];

/// `while true; do dd if=/dev/zero of=file count=2048 bs=1M; done` beside `cat 200mb-file`, which begins later.
pub(super) fn dd_beside_cat(setting: &mut Setting) -> Result<Vec<Job>, Full> {
    let directory = setting.root()?;
    let read = setting.scaled(200) * MIB;
    let read = setting.files.make_file(directory, read)?;
    let (written, bytes) = (setting.files.plan_file(), setting.scaled(2048) * MIB);
    let part = Part { file: written, from: 0, bytes, call: MIB as u32 };
    let dd = move |_: u64| [Op::Create(written, directory), Op::Write(part)];
    let (before, known) = known_disk(setting, directory);
    let cat = later("cat", cat(read, &setting.wish.parameters), setting);
    Ok(vec![
        Job { name: "dd", program: program(before.chain((0..).flat_map(dd))), background: true },
        Job { name: "cat", program: program(known.chain(cat)), background: false },
    ])
}

/// A machine that paces its writers learns how fast the disk writes, which the machine does not know at its start. So `dd` first writes and syncs a
/// file as large as the one that `cat` reads, and `cat` waits until that is done.
fn known_disk(
    setting: &mut Setting,
    directory: DirectoryId,
) -> (impl Iterator<Item = Op> + Send + use<>, impl Iterator<Item = Op> + Send + use<>) {
    let learns = setting.wish.parameters.dirty.paces;
    let (file, bytes) = (setting.files.plan_file(), setting.scaled(200) * MIB);
    let write = Op::Write(Part { file, from: 0, bytes, call: MIB as u32 });
    let before = learns.then(|| [Op::Create(file, directory), write, Op::Sync(file)]);
    let known = Arc::new(AtomicBool::new(!learns));
    let tells = Arc::clone(&known);
    let tell = std::iter::once_with(move || tells.store(true, Ordering::Relaxed)).flat_map(|()| None);
    let wait = move || (!known.load(Ordering::Relaxed)).then_some(Op::Sleep(Duration::from_ms(1)));
    (before.into_iter().flatten().chain(tell), std::iter::from_fn(wait))
}

/// `program` after a head start for another one. Its phase says how long it took.
fn later(
    name: &'static str,
    program: Program,
    setting: &mut Setting,
) -> impl Iterator<Item = Op> + Send + use<> {
    let [least, most] = HEAD_START;
    let wait = between(&mut own_rng(setting), least, most);
    [Op::Sleep(wait), Op::Mark(name)].into_iter().chain(program)
}

/// `while true; do cat big-file; done` beside `find . -type f -exec cat {} \;`, which begins later. The file is twice as
/// large as the memory.
pub(super) fn cat_beside_find(setting: &mut Setting) -> Result<Vec<Job>, Full> {
    let directory = setting.root()?;
    let bytes = setting.scaled(2048) * MIB;
    let large = setting.files.make_file(directory, bytes)?;
    let tree = source_tree(setting, directory)?;
    let machine = setting.wish.parameters;
    let again = move |_: u64| cat(large, &machine);
    Ok(vec![
        Job { name: "cat", program: program((0..).flat_map(again)), background: true },
        Job {
            name: "find",
            program: program(later("find", find(tree, machine), setting)),
            background: false,
        },
    ])
}
