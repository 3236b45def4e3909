//! Programs that go through trees of files: `find -exec cat`, `cp -r`, the Andrew benchmark.

use idlewise_core::Duration;

use super::setting::{Full, Setting, Sizes, Tree, cat, read_all};
use crate::machine::parameters::Parameters;
use crate::machine::program::{DirectoryId, FileId, Op, Part, Program, program};
use crate::machine::running::Job;

/// Linux 2.6.9 has 16 000 files in 1000 directories; half of them are smaller than 6 KB, and the mean is 12 KB.
pub(super) fn source_tree(setting: &mut Setting, parent: DirectoryId) -> Result<Tree, Full> {
    let (files, directories) = (setting.scaled(16_000), setting.scaled(1000));
    setting.tree(Some(parent), files, directories, Sizes { median: 6144.0, mean: 12_288.0 })
}

/// `find . -type f -exec cat {} \;`: `find` looks at each name, and has a child read the file.
pub(super) fn find(tree: Tree, machine: Parameters) -> Program {
    let each = move |file: FileId| [Op::Stat(file), Op::Spawn("cat", cat(file, &machine)), Op::Wait];
    let directory = move |(directory, files): (DirectoryId, Vec<FileId>)| {
        std::iter::once(Op::List(directory)).chain(files.into_iter().flat_map(each))
    };
    program(tree.directories.into_iter().flat_map(directory))
}

/// One `find` for each instance, each in a tree of its own.
pub(super) fn find_exec_cat(setting: &mut Setting) -> Result<Vec<Job>, Full> {
    let mut jobs = Vec::new();
    let home = setting.root()?;
    for _ in 0..setting.wish.instances {
        let tree = source_tree(setting, home)?;
        let program = find(tree, setting.wish.parameters);
        jobs.push(Job { name: "find", program, background: false });
    }
    Ok(jobs)
}

/// A file, its length, and the file to copy it to.
type Pair = (FileId, u64, FileId);

/// Copies files into a directory, which is there, to files that are not. Small files are read whole before they are written.
fn copy(files: Vec<Pair>, into: DirectoryId, machine: Parameters) -> impl Iterator<Item = Op> + Send {
    files.into_iter().flat_map(move |(from, bytes, to)| {
        let write = Op::Write(Part { file: to, from: 0, bytes, call: machine.buffer });
        let rest = [Op::Create(to, into), write, Op::Close(from), Op::Close(to)];
        read_all(from, &machine).chain(rest)
    })
}

/// Each of `files` with its length, and a file to copy it to.
fn pairs(setting: &mut Setting, files: &[FileId]) -> Vec<Pair> {
    let pair = |file: &FileId| (*file, setting.files.file(*file).bytes, setting.files.plan_file());
    files.iter().map(pair).collect()
}

/// `cp -r`, one process for each instance, which takes what is in a directory in the order of the inodes.
pub(super) fn copy_tree(setting: &mut Setting) -> Result<Vec<Job>, Full> {
    let mut jobs = Vec::new();
    let home = setting.root()?;
    for _ in 0..setting.wish.instances {
        let tree = source_tree(setting, home)?;
        let top = setting.files.plan_directory();
        let above = match tree.top {
            Some(above) => above,
            None => setting.files.make_directory(None)?,
        };
        let mut steps = Vec::new();
        let machine = setting.wish.parameters;
        let mut directories = tree.directories;
        directories.sort_unstable();
        for (from, mut files) in directories {
            files.sort_unstable();
            let into = setting.files.plan_directory();
            steps.push((from, into, pairs(setting, &files)));
        }
        let each = move |(from, into, files)| {
            [Op::MakeDirectory(into, top), Op::List(from)].into_iter().chain(copy(files, into, machine))
        };
        let all = std::iter::once(Op::MakeDirectory(top, above)).chain(steps.into_iter().flat_map(each));
        jobs.push(Job { name: "cp", program: program(all), background: false });
    }
    Ok(jobs)
}

/// Files of the Andrew benchmark's source: 71, of 200 KB together.
const SOURCES: u64 = 71;
const SOURCE_SIZES: Sizes = Sizes { median: 1800.0, mean: 2900.0 };
/// Compiling one of them: a file of a hundred lines on a processor of 550 MHz.
const COMPILE: Duration = Duration::from_ms(20);

/// One client's directories: the directory, the files to copy there, and an object file for each.
type Repository = Vec<(DirectoryId, Vec<Pair>, Vec<FileId>)>;

/// A program for each directory, one after the other, each by a process of its own.
fn each(repository: &Repository, name: &'static str, make: fn(&[FileId]) -> Vec<Op>) -> Vec<Op> {
    let copies = |files: &[Pair]| files.iter().map(|(_, _, copy)| *copy).collect::<Vec<_>>();
    let run = |files| [Op::Spawn(name, program(make(&copies(files)))), Op::Wait];
    repository.iter().flat_map(|(_, files, _)| run(files)).collect()
}

/// Reads all of these files, by blocks of 8 KiB as FFS has them.
fn scan(files: &[FileId]) -> Vec<Op> {
    let read = |file: &FileId| [Op::Open(*file), Op::Read(Part::all(*file, 8192)), Op::Close(*file)];
    files.iter().flat_map(read).collect()
}

fn stat(files: &[FileId]) -> Vec<Op> {
    files.iter().map(|file| Op::Stat(*file)).collect()
}

/// A client's five phases.
fn client(repository: &Repository, above: DirectoryId, machine: Parameters) -> Vec<Op> {
    let mut all = vec![Op::Mark("mkdir")];
    all.extend(repository.iter().map(|(directory, _, _)| Op::MakeDirectory(*directory, above)));
    all.push(Op::Mark("cp"));
    for (directory, files, _) in repository {
        all.push(Op::Spawn("cp", program(copy(files.clone(), *directory, machine).collect::<Vec<_>>())));
        all.push(Op::Wait);
    }
    all.push(Op::Mark("stat"));
    all.extend(each(repository, "ls", stat));
    all.push(Op::Mark("scan"));
    for name in ["grep", "wc"] {
        all.extend(each(repository, name, scan));
    }
    all.push(Op::Mark("gcc"));
    for (directory, files, objects) in repository {
        for ((_, bytes, source), object) in files.iter().zip(objects) {
            let compile = [
                Op::Open(*source),
                Op::Read(Part::all(*source, 8192)),
                Op::Compute(COMPILE),
                Op::Create(*object, *directory),
                Op::Write(Part { file: *object, from: 0, bytes: *bytes, call: 8192 }),
            ];
            all.extend([Op::Spawn("gcc", program(compile)), Op::Wait]);
        }
    }
    all
}

/// The Andrew benchmark: each client copies the same 71 files into each of 500 directories, looks at them, reads them
/// and compiles them.
pub(super) fn andrew(setting: &mut Setting) -> Result<Vec<Job>, Full> {
    let sources = setting.tree(None, SOURCES, 1, SOURCE_SIZES)?;
    let sources = sources.directories.into_iter().next().map(|(_, files)| files).unwrap_or_default();
    let mut jobs = Vec::new();
    for _ in 0..setting.wish.instances {
        let above = setting.files.make_directory(None)?;
        let mut repository = Repository::new();
        for _ in 0..setting.scaled(500) {
            let directory = setting.files.plan_directory();
            let objects = sources.iter().map(|_| setting.files.plan_file()).collect();
            repository.push((directory, pairs(setting, &sources), objects));
        }
        let program = program(client(&repository, above, setting.wish.parameters));
        jobs.push(Job { name: "client", program, background: false });
    }
    Ok(jobs)
}
