//! GnuLD: the last link of a kernel (SOSP'01 §4.5).

use idlewise_core::Duration;
use rand::Rng;
use rand::seq::SliceRandom;

use super::setting::{Full, Setting, Sizes, between, own_rng};
use crate::machine::program::{FileId, Op, Part, program};
use crate::machine::running::Job;

/// Object files. 75 % are smaller than 10 KB and 96 % than 25 KB: a log-normal distribution with median 5640 and σ 0.85.
const OBJECTS: u64 = 385;
const SIZES: Sizes = Sizes { median: 5640.0, mean: 8100.0 };
/// Directories of the kernel's source tree that lie beside the objects: `find /usr/src/sys -type d` of FreeBSD 4.
const SOURCES: u64 = 400;
/// What stdio reads at once: a block of FFS.
const CALL: u32 = 8192;
/// Sections that are read of a file: up to 9, usually about 6.
const SECTIONS: [usize; 7] = [4, 5, 6, 6, 6, 7, 9];
/// Working on a section: within the think times of applications in §4.2.1.
const WORK: (Duration, Duration) = (Duration::from_us(100), Duration::from_us(500));
/// The kernel that is written.
const KERNEL: u64 = 3 << 20;

/// Each instance links objects of its own: reads all headers in the order in which the objects were made, which is that
/// of the command line, then the sections of each file, in an order of its own.
pub(super) fn link(setting: &mut Setting) -> Result<Vec<Job>, Full> {
    let mut jobs = Vec::new();
    for _ in 0..setting.wish.instances {
        let objects = setting.scaled(OBJECTS);
        // The kernel's sources, which FFS spreads over as many groups.
        for _ in 0..setting.scaled(SOURCES) {
            setting.files.make_directory(None)?;
        }
        let tree = setting.tree(None, objects, 1, SIZES)?;
        let Some((directory, mut files)) = tree.directories.into_iter().next() else { continue };
        let mut rng = own_rng(setting);
        let mut all: Vec<Op> = files.iter().flat_map(|file| header(*file)).collect();
        files.shuffle(&mut rng);
        for file in files {
            let bytes = setting.files.file(file).bytes;
            for _ in 0..SECTIONS[rng.random_range(0..SECTIONS.len())] {
                // stdio reads the block in which a section begins.
                let from = rng.random_range(0..bytes) / u64::from(CALL) * u64::from(CALL);
                all.push(Op::Read(Part { file, from, bytes: u64::from(CALL), call: CALL }));
                all.push(Op::Compute(between(&mut rng, WORK.0, WORK.1)));
            }
        }
        let kernel = setting.files.plan_file();
        all.push(Op::Create(kernel, directory));
        all.push(Op::Write(Part { file: kernel, from: 0, bytes: KERNEL, call: CALL }));
        jobs.push(Job { name: "ld", program: program(all), background: false });
    }
    Ok(jobs)
}

fn header(file: FileId) -> [Op; 2] {
    [Op::Open(file), Op::Read(Part { file, from: 0, bytes: u64::from(CALL), call: CALL })]
}
