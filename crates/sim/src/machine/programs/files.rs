//! IOzone in its throughput mode: workers, each with a file of its own.

use rand::Rng;

use super::setting::{Full, Setting, own_rng};
use crate::machine::program::{Op, Part, program};
use crate::machine::running::Job;

/// The size of a file: IOzone's default of 512 KiB says nothing of a disk; with 512 MiB some workers exceed a memory of 1 GB.
const FILE: u64 = 512 << 20;
/// A record.
const RECORD: u64 = 4096;

fn workers(setting: &mut Setting, random: bool, write: bool) -> Result<Vec<Job>, Full> {
    let records = setting.scaled(FILE / RECORD);
    let directory = setting.root()?;
    let mut jobs = Vec::new();
    for _ in 0..setting.wish.instances {
        let old = !write || random;
        let file = if old {
            setting.files.make_file(directory, records * RECORD)?
        } else {
            setting.files.plan_file()
        };
        let first = if old { Op::Open(file) } else { Op::Create(file, directory) };
        let mut rng = own_rng(setting);
        let record = move |place: u64| {
            let place = if random { rng.random_range(0..records) } else { place };
            let part = Part { file, from: place * RECORD, bytes: RECORD, call: RECORD as u32 };
            if write { Op::Write(part) } else { Op::Read(part) }
        };
        // IOzone's times of writes have the fsync in them.
        let all = std::iter::once(first).chain((0..records).map(record));
        let all = all.chain(write.then_some(Op::Sync(file)));
        jobs.push(Job { name: "worker", program: program(all), background: false });
    }
    Ok(jobs)
}

pub(super) fn write(setting: &mut Setting) -> Result<Vec<Job>, Full> {
    workers(setting, false, true)
}

pub(super) fn read(setting: &mut Setting) -> Result<Vec<Job>, Full> {
    workers(setting, false, false)
}

pub(super) fn random_read(setting: &mut Setting) -> Result<Vec<Job>, Full> {
    workers(setting, true, false)
}

pub(super) fn random_write(setting: &mut Setting) -> Result<Vec<Job>, Full> {
    workers(setting, true, true)
}
