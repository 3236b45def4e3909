//! TPC-B as SOSP'01 §4.6 has it: clients that select or update records of a database at random.

use idlewise_core::Duration;
use rand::Rng;

use super::setting::{Full, Setting, own_rng};
use crate::machine::program::{FileId, Op, Part, program};
use crate::machine::running::Job;

/// A database.
const DATABASE: u64 = 780 << 20;
/// A record.
const RECORD: u64 = 4096;
/// What MySQL and the client do for a query: some hundred microseconds each on a processor of 550 MHz.
const QUERY: Duration = Duration::from_ms(1);
/// Queries of a client.
const QUERIES: u64 = 5000;

/// Clients of one database, or each of a database of its own. Separate databases lie apart: each begins an equal part of
/// the disk.
fn clients(setting: &mut Setting, separate: bool, update: bool) -> Result<Vec<Job>, Full> {
    let bytes = setting.scaled(DATABASE / RECORD) * RECORD;
    let count = if separate { setting.wish.instances } else { 1 };
    let mut databases = Vec::new();
    for place in 0..count {
        let directory = setting.files.make_directory_at(place, count)?;
        databases.push(setting.files.make_file(directory, bytes)?);
    }
    let queries = setting.scaled(QUERIES);
    let mut jobs = Vec::new();
    for place in 0..setting.wish.instances {
        let (file, mut rng) = (databases[(place % count) as usize], own_rng(setting));
        let query = move |_: u64| query(file, rng.random_range(0..bytes / RECORD), update);
        jobs.push(Job { name: "client", program: program((0..queries).flat_map(query)), background: false });
    }
    Ok(jobs)
}

fn query(file: FileId, record: u64, update: bool) -> impl Iterator<Item = Op> + Send {
    let part = Part { file, from: record * RECORD, bytes: RECORD, call: RECORD as u32 };
    [Op::Compute(QUERY), Op::Read(part)].into_iter().chain(update.then_some(Op::Write(part)))
}

pub(super) fn select_one(setting: &mut Setting) -> Result<Vec<Job>, Full> {
    clients(setting, false, false)
}

pub(super) fn select_each(setting: &mut Setting) -> Result<Vec<Job>, Full> {
    clients(setting, true, false)
}

pub(super) fn update_one(setting: &mut Setting) -> Result<Vec<Job>, Full> {
    clients(setting, false, true)
}

pub(super) fn update_each(setting: &mut Setting) -> Result<Vec<Job>, Full> {
    clients(setting, true, true)
}
