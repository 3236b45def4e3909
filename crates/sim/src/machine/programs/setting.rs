//! What a program's files and processes are made from: an empty file system, a scale, random numbers.

use idlewise_core::Duration;
use rand::{Rng, SeedableRng};
use rand_distr::{Distribution, LogNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::machine::layout::FileSystem;
pub(super) use crate::machine::layout::Full;
use crate::machine::parameters::{PAGE_SECTORS, Parameters};
use crate::machine::program::{DirectoryId, FileId, Op, Part, Program, program};
use crate::workloads::Ground;

/// How a program is to be run.
#[derive(Clone, Copy, Debug)]
pub struct Wish {
    /// The machine.
    pub parameters: Parameters,
    /// Instances at once.
    pub instances: u32,
    /// Percent of the paper's sizes and counts.
    pub scale: u32,
}

/// What programs are made from.
pub struct Setting {
    /// How it is to be run.
    pub wish: Wish,
    /// The file system.
    pub files: FileSystem,
    /// Random numbers.
    pub rng: Xoshiro256PlusPlus,
}

/// A tree of files.
#[derive(Clone, Debug, Default)]
pub(super) struct Tree {
    /// The directory above all others.
    pub(super) top: Option<DirectoryId>,
    /// Directories, each with its files in the order in which it lists them.
    pub(super) directories: Vec<(DirectoryId, Vec<FileId>)>,
}

/// How large files are: log-normal, by median and mean in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    pub(super) median: f64,
    pub(super) mean: f64,
}

impl Sizes {
    pub(super) fn draw(self, rng: &mut Xoshiro256PlusPlus) -> u64 {
        // A log-normal distribution's mean is its median times e^(σ²/2).
        let sigma = (2.0 * (self.mean / self.median).ln()).max(0.0).sqrt();
        let sizes = LogNormal::new(self.median.ln(), sigma).map(|sizes| sizes.sample(rng));
        sizes.unwrap_or(self.median).clamp(1.0, 1e9) as u64
    }
}

impl Setting {
    /// An empty file system over the whole disk.
    ///
    /// # Errors
    /// [`Full`]: the disk has no room for a file system.
    pub fn new(wish: Wish, ground: Ground) -> Result<Setting, Full> {
        let parameters = wish.parameters;
        let journal = parameters.journal.map_or(0, |journal| journal.blocks);
        let blocks = ground.capacity.0 / PAGE_SECTORS;
        let files = FileSystem::new(parameters.layout, blocks, journal, ground.seed)?;
        Ok(Setting { wish, files, rng: Xoshiro256PlusPlus::seed_from_u64(!ground.seed) })
    }

    /// `count` at the wish's scale: at least one.
    pub(super) fn scaled(&self, count: u64) -> u64 {
        (count * u64::from(self.wish.scale) / 100).max(1)
    }

    /// The directory that a file system has from the beginning, which lies in its first group.
    pub(super) fn root(&mut self) -> Result<DirectoryId, Full> {
        self.files.make_directory_at(0, 1)
    }

    /// A tree of `files` files in `directories` directories below one, unpacked in that order.
    pub(super) fn tree(
        &mut self,
        parent: Option<DirectoryId>,
        files: u64,
        directories: u64,
        sizes: Sizes,
    ) -> Result<Tree, Full> {
        let top = self.files.make_directory(parent)?;
        let mut made = Vec::new();
        for place in 0..directories {
            let directory = self.files.make_directory(Some(top))?;
            for _ in place * files / directories..(place + 1) * files / directories {
                let bytes = sizes.draw(&mut self.rng);
                self.files.make_file(directory, bytes)?;
            }
            made.push(directory);
        }
        self.files.settle(&mut made);
        let listed = made.into_iter().map(|one| (one, self.files.directory(one).files.clone()));
        Ok(Tree { top: Some(top), directories: listed.collect() })
    }
}

/// Random numbers for one process.
pub(super) fn own_rng(setting: &mut Setting) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(setting.rng.random())
}

/// How coreutils read a file: from the beginning to the end, a buffer at a time.
pub(super) fn read_all(file: FileId, machine: &Parameters) -> impl Iterator<Item = Op> + Send + use<> {
    let advise = machine.advises.then_some(Op::Advise(file));
    [Op::Open(file)].into_iter().chain(advise).chain([Op::Read(Part::all(file, machine.buffer))])
}

/// `cat`.
pub(super) fn cat(file: FileId, machine: &Parameters) -> Program {
    program(read_all(file, machine).chain([Op::Close(file)]))
}

/// Time from `least` to `most`.
pub(super) fn between(rng: &mut Xoshiro256PlusPlus, least: Duration, most: Duration) -> Duration {
    Duration(rng.random_range(least.0..=most.0))
}
