//! What MySQL 5.0 does to files for its sql-bench: tables of MyISAM, which are made, filled, searched, changed and dropped (IOAZ §4.1).

use idlewise_core::Duration;
use rand::Rng;

use super::setting::{Full, Setting, own_rng};
use crate::machine::program::{DirectoryId, FileId, Op, Part, program};
use crate::machine::running::Job;

/// Tables of test-create, and rows of test-insert (`$opt_loop_count`, three times for the latter).
const TABLES: u64 = 10_000;
const ROWS: u64 = 300_000;
/// Bytes of a row, of a block of keys, of a table's definition, and of the head of a file of keys.
const ROW: u64 = 36;
const BLOCK: u64 = 1024;
const DEFINITION: u64 = 8600;
const HEAD: u64 = 1024;
/// Keys in a block that is two thirds full.
const KEYS: u64 = 50;
/// What the server and its client compute for a statement, and for one that makes or drops a table, on a processor of 1.2 GHz: some
/// hundred microseconds, and some milliseconds.
const STATEMENT: Duration = Duration::from_us(400);
const DEFINE: Duration = Duration::from_ms(5);

/// A table: its definition, its rows, its keys.
#[derive(Clone, Copy)]
struct Table {
    definition: FileId,
    rows: FileId,
    keys: FileId,
}

impl Table {
    fn plan(setting: &mut Setting) -> Table {
        let mut plan = || setting.files.plan_file();
        Table { definition: plan(), rows: plan(), keys: plan() }
    }

    fn create(self, into: DirectoryId) -> [Op; 6] {
        let write = |file, bytes| Op::Write(Part { file, from: 0, bytes, call: bytes as u32 });
        [
            Op::Compute(DEFINE),
            Op::Create(self.definition, into),
            write(self.definition, DEFINITION),
            Op::Create(self.keys, into),
            write(self.keys, HEAD),
            Op::Create(self.rows, into),
        ]
    }

    fn drop(self) -> [Op; 4] {
        let [definition, rows, keys] = [self.definition, self.rows, self.keys].map(Op::Unlink);
        [Op::Compute(DEFINE), definition, rows, keys]
    }

    fn row(self, number: u64) -> Part {
        Part { file: self.rows, from: number * ROW, bytes: ROW, call: ROW as u32 }
    }

    /// The block with the key of row `number`.
    fn key(self, number: u64) -> Part {
        let from = HEAD + number / KEYS * BLOCK;
        Part { file: self.keys, from, bytes: BLOCK, call: BLOCK as u32 }
    }
}

/// `run-all-tests`, one client after the other.
pub(super) fn run_all(setting: &mut Setting) -> Result<Vec<Job>, Full> {
    let directory = setting.root()?;
    let (count, rows) = (setting.scaled(TABLES), setting.scaled(ROWS));
    let tables: Vec<Table> = (0..count).map(|_| Table::plan(setting)).collect();
    let (table, mut rng) = (Table::plan(setting), own_rng(setting));
    let mut places = rng.clone();
    // Rows come in the order in which they are written, and their keys in any other.
    let insert = move |number| {
        [
            Op::Compute(STATEMENT),
            Op::Write(table.row(number)),
            Op::Write(table.key(places.random_range(0..=number))),
        ]
    };
    let mut any = move || rng.random_range(0..rows);
    let mut places: Vec<u64> = (0..2 * rows).map(|_| any()).collect();
    let updates = places.split_off(rows as usize);
    let select = move |row| [Op::Compute(STATEMENT), Op::Read(table.key(row)), Op::Read(table.row(row))];
    let update = move |row| [Op::Compute(STATEMENT), Op::Read(table.key(row)), Op::Write(table.row(row))];
    let all = std::iter::once(Op::Mark("create"))
        .chain(tables.clone().into_iter().flat_map(move |one| one.create(directory)))
        .chain([Op::Mark("drop")])
        .chain(tables.into_iter().flat_map(Table::drop))
        .chain([Op::Mark("insert")])
        .chain(table.create(directory))
        .chain((0..rows).flat_map(insert))
        .chain([Op::Mark("select")])
        .chain(places.into_iter().flat_map(select))
        .chain([Op::Mark("update")])
        .chain(updates.into_iter().flat_map(update))
        .chain(table.drop());
    Ok(vec![Job { name: "mysqld", program: program(all), background: false }])
}
