//! Databases: TPC-B as SOSP'01 §4.6 has it, clients that select or update records at random; and what sqlite does for an insert.

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

/// Inserts.
const INSERTS: u64 = 1000;
/// Rows of about 90 bytes in a page of 4 KiB.
const ROWS: u64 = 45;
/// What sqlite and its shell do for an insert.
const INSERT: Duration = Duration::from_us(100);
/// A rollback journal's header, and a page in it with its number and its checksum.
const HEADER: u64 = 512;
const JOURNALED: u64 = 4 + 4096 + 4;

/// `sqlite3`, inserts into a table whose rows lie in the order of their keys, each in a transaction of its own.
///
/// Each transaction saves the pages that it will change in a journal: the first, the last leaf, and for a new leaf the root. The journal is
/// made durable, then with the number of its pages once more; then the pages, and the journal is removed (`journal_mode`
/// DELETE, `synchronous` FULL). Source: <https://www.sqlite.org/atomiccommit.html>.
pub(super) fn inserts(setting: &mut Setting) -> Result<Vec<Job>, Full> {
    let mut jobs = Vec::new();
    for _ in 0..setting.wish.instances {
        let directory = setting.root()?;
        let database = setting.files.make_file(directory, 2 * RECORD)?;
        let journal = setting.files.plan_file();
        let whole = |file, page: u64| Part { file, from: page * RECORD, bytes: RECORD, call: RECORD as u32 };
        let insert = move |number: u64| {
            let (leaf, grows) = (1 + number / ROWS, number > 0 && number.is_multiple_of(ROWS));
            let saved = HEADER + 2 * JOURNALED;
            let pages = [Some(0), grows.then_some(1), Some(leaf)];
            [
                Op::Compute(INSERT),
                Op::Create(journal, directory),
                Op::Write(Part { file: journal, from: 0, bytes: saved, call: JOURNALED as u32 }),
                Op::SyncData(journal),
                Op::SyncNames(directory),
                Op::Write(Part { file: journal, from: 0, bytes: 12, call: 12 }),
                Op::SyncData(journal),
            ]
            .into_iter()
            .chain(pages.into_iter().flatten().map(move |page| Op::Write(whole(database, page))))
            .chain([Op::SyncData(database), Op::Close(journal), Op::Unlink(journal)])
        };
        let reads = [Op::Open(database), Op::Read(Part::all(database, RECORD as u32))];
        let all = reads.into_iter().chain((0..setting.scaled(INSERTS)).flat_map(insert));
        jobs.push(Job { name: "sqlite", program: program(all), background: false });
    }
    Ok(jobs)
}
