//! What was measured of a disk for its selectors: a decision matrix, or a ranking by request size.
//!
//! Their files take what `idlewise matrix build` and `idlewise ranking build` write, and the same without ornament:
//!
//! ```text
//! 1  noop noop     noop deadline        up to 4096 bytes: c-look
//! 4  as   noop     as   as              4096  c-look
//! 8  as   deadline as   as              65536 as
//! 16 as   as       as   as
//! ```
//!
//! A row of the matrix has the number of processes, then the best scheduler for sequential reads, sequential writes, random
//! reads and random writes.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ffi::{c_char, c_int};
use core::fmt;

use idlewise_core::collections::OutOfMemory;
use idlewise_core::selectors::category::{CATEGORIES, PROCESSES};
use idlewise_core::selectors::contract::CANDIDATES_MAX;
use idlewise_core::selectors::{Candidate, Rank, Setup};

use crate::boundary::{INVALID, NO_MEMORY, keep, put_c, text};
use crate::candidates::{CandidateError, Label, candidate};
use crate::catalogue::{MESSAGE, tell};

/// A matrix or a ranking, and the schedulers that stand in it.
pub struct Table {
    candidates: Vec<Candidate>,
    cells: Option<[u8; CATEGORIES]>,
    ranks: Vec<Rank>,
}

/// What is wrong with the text of a table.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum TableError<'a> {
    OutOfMemory,
    Kind(&'a str),
    Row(&'a str),
    Again(&'a str),
    Short(&'a str),
    Missing(u32),
    Candidate(CandidateError<'a>),
    Many,
    Size(&'a str),
    Order(u64),
    Empty,
}

impl From<OutOfMemory> for TableError<'_> {
    fn from(_: OutOfMemory) -> Self {
        TableError::OutOfMemory
    }
}

impl fmt::Display for TableError<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TableError::OutOfMemory => OutOfMemory.fmt(f),
            TableError::Kind(word) => write!(f, "this is a {word}"),
            TableError::Row(word) => write!(f, "a row begins with 1, 4, 8 or 16, not with {word}"),
            TableError::Again(word) => write!(f, "the row {word} is there twice"),
            TableError::Short(word) => {
                write!(
                    f,
                    "the row {word} has four schedulers: sequential reads and writes, random reads and writes"
                )
            }
            TableError::Missing(row) => write!(f, "the row {row} is missing"),
            TableError::Candidate(error) => error.fmt(f),
            TableError::Many => write!(f, "there are more than {CANDIDATES_MAX} schedulers or sizes"),
            TableError::Size(word) => write!(f, "a size in bytes comes before each scheduler, not {word}"),
            TableError::Order(size) => write!(f, "sizes increase, and {size} does not"),
            TableError::Empty => f.write_str("it is empty"),
        }
    }
}

/// A line without its comment as words, without what TOML adds.
fn words(line: &str) -> impl Iterator<Item = &str> {
    let line = line.split('#').next().unwrap_or_default();
    let ornament = |c: char| c.is_whitespace() || matches!(c, '[' | ']' | '"' | ',');
    line.split(ornament).filter(|word| !matches!(*word, "" | "="))
}

/// The lines that say something of a table of that kind.
fn lines<'a>(text: &'a str, kind: &'static str) -> impl Iterator<Item = Result<&'a str, TableError<'a>>> {
    text.lines().filter_map(move |line| {
        let mut words = words(line);
        match words.next()? {
            "kind" => words.next().filter(|own| *own != kind).map(|own| Err(TableError::Kind(own))),
            "disk" | "goal" | "cells" | "rank" => None,
            _ => Some(Ok(line)),
        }
    })
}

impl Table {
    fn new() -> Table {
        Table { candidates: Vec::new(), cells: None, ranks: Vec::new() }
    }

    /// The place of the candidate that `word` names, which it may take.
    fn place<'a>(&mut self, word: &'a str) -> Result<u8, TableError<'a>> {
        let wanted = candidate(word).map_err(TableError::Candidate)?;
        let same = |own: &Candidate| own.entry.name == wanted.entry.name && own.settings == wanted.settings;
        if let Some(place) = self.candidates.iter().position(same) {
            return Ok(place as u8);
        }
        push(&mut self.candidates, wanted)?;
        Ok(self.candidates.len() as u8 - 1)
    }

    pub(crate) fn matrix(text: &str) -> Result<Table, TableError<'_>> {
        let (mut table, mut rows) = (Table::new(), [None; PROCESSES.len()]);
        for line in lines(text, "matrix") {
            let mut words = words(line?);
            let Some(row) = words.next() else { continue };
            let place = PROCESSES.iter().position(|number| row.parse() == Ok(*number));
            let cells: &mut Option<[u8; 4]> = &mut rows[place.ok_or(TableError::Row(row))?];
            if cells.is_some() {
                return Err(TableError::Again(row));
            }
            let mut own = [0; 4];
            for cell in &mut own {
                *cell = table.place(words.next().ok_or(TableError::Short(row))?)?;
            }
            if words.next().is_some() {
                return Err(TableError::Short(row));
            }
            *cells = Some(own);
        }
        let mut cells = [0; CATEGORIES];
        for ((row, number), own) in rows.iter().zip(PROCESSES).zip(cells.chunks_exact_mut(4)) {
            own.copy_from_slice(row.as_ref().ok_or(TableError::Missing(number))?);
        }
        table.cells = Some(cells);
        Ok(table)
    }

    pub(crate) fn ranking(text: &str) -> Result<Table, TableError<'_>> {
        let (mut table, mut size) = (Table::new(), None);
        for line in lines(text, "ranking") {
            for word in words(line?).filter(|word| !matches!(*word, "up_to_bytes" | "scheduler")) {
                let Some(up_to) = size.take() else {
                    size = Some(word.parse().map_err(|_| TableError::Size(word))?);
                    continue;
                };
                if table.ranks.last().is_some_and(|last| last.up_to >= up_to) {
                    return Err(TableError::Order(up_to));
                }
                let candidate = table.place(word)?;
                push(&mut table.ranks, Rank { up_to, candidate })?;
            }
        }
        if table.ranks.is_empty() || size.is_some() { Err(TableError::Empty) } else { Ok(table) }
    }

    /// What a selector that looks the table up is built for.
    pub(crate) fn setup(&self) -> Setup<'_> {
        Setup { candidates: &self.candidates, cells: self.cells, ranks: &self.ranks }
    }
}

/// Adds `item`, as long as there is room for it.
fn push<'a, T>(to: &mut Vec<T>, item: T) -> Result<(), TableError<'a>> {
    if to.len() == CANDIDATES_MAX {
        return Err(TableError::Many);
    }
    to.try_reserve(1).map_err(|_| TableError::OutOfMemory)?;
    to.push(item);
    Ok(())
}

/// The rows of a matrix, of what stands in each cell.
pub(crate) struct Rows<F>(pub(crate) F);

impl<T: fmt::Display, F: Fn(usize) -> T> fmt::Display for Rows<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        PROCESSES.iter().enumerate().try_for_each(|(row, number)| {
            let [a, b, c, d] = [0, 1, 2, 3].map(|column| (self.0)(row * 4 + column));
            writeln!(f, "{number} {a} {b} {c} {d}")
        })
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let label = |place: u8| Label(&self.candidates[usize::from(place)]);
        match &self.cells {
            Some(cells) => Rows(|index: usize| label(cells[index])).fmt(f),
            None => {
                self.ranks.iter().try_for_each(|rank| writeln!(f, "{} {}", rank.up_to, label(rank.candidate)))
            }
        }
    }
}

/// A matrix, or else a ranking, of its text. Null, an error number and what is wrong, ended by a zero byte, if it
/// cannot be had. May sleep.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iw_table_new(
    matrix: bool,
    words: *const c_char,
    length: usize,
    failure: &mut c_int,
    wrong: &mut [c_char; MESSAGE],
) -> Option<Box<Table>> {
    *failure = NO_MEMORY;
    let text = unsafe { text(words, length) };
    match if matrix { Table::matrix(text) } else { Table::ranking(text) } {
        Ok(table) => keep(table),
        Err(error) => {
            if error != TableError::OutOfMemory {
                *failure = INVALID;
            }
            tell(wrong, format_args!("{error}"));
            None
        }
    }
}

/// Frees a table; null is none.
#[unsafe(no_mangle)]
pub extern "C" fn iw_table_free(table: Option<Box<Table>>) {
    drop(table);
}

/// Writes a table as its file takes it; returns the length.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iw_table_show(table: &Table, room: *mut c_char, size: usize) -> usize {
    unsafe { put_c(room, size, format_args!("{table}")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    const MATRIX: &str = "kind = \"matrix\"\ndisk = \"rank 1\"\ngoal = \"mean\"\n\n# processes = [..]\n[cells]\n\
        1 = [\"noop\", \"noop\", \"noop\", \"deadline\"]\n4 = [\"as\", \"noop\", \"as\", \"as\"]\n\
        8 = [\"as\", \"deadline\", \"as\", \"as\"]\n16 = [\"as\", \"as\", \"as\", \"as:antic_expire=3\"]\n";
    const PLAIN: &str =
        "1 noop noop noop deadline\n4 as noop as as\n8 as deadline as as\n16 as as as as:antic_expire=3\n";

    #[test]
    fn a_matrix_is_read_with_and_without_ornament() {
        for text in [
            MATRIX,
            PLAIN,
            "16 as as as as:antic_expire=3ms\n8 as deadline as as\n1 none none none deadline\n4 as noop as as",
        ] {
            assert_eq!(Table::matrix(text).unwrap().to_string(), PLAIN);
        }
    }

    #[test]
    fn a_ranking_is_read_with_and_without_ornament() {
        let toml = "kind = \"ranking\"\ndisk = \"x\"\n\n[[rank]]\nup_to_bytes = 4096\nscheduler = \"c-look\"\n\n\
            [[rank]]\nup_to_bytes = 65536\nscheduler = \"as\"\n";
        let plain = "4096 c-look\n65536 as\n";
        for text in [toml, plain] {
            assert_eq!(Table::ranking(text).unwrap().to_string(), plain);
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        let matrix = |text| Table::matrix(text).err().unwrap().to_string();
        assert_eq!(matrix("kind = \"ranking\"\n"), "this is a ranking");
        assert_eq!(matrix("2 noop noop noop noop"), "a row begins with 1, 4, 8 or 16, not with 2");
        assert_eq!(matrix("1 noop noop noop noop\n1 as as as as"), "the row 1 is there twice");
        assert!(matrix("1 noop noop noop").starts_with("the row 1 has four schedulers"));
        assert!(matrix("1 noop noop noop noop noop").starts_with("the row 1 has four schedulers"));
        assert_eq!(matrix("1 noop noop noop noop\n4 as as as as\n16 as as as as"), "the row 8 is missing");
        assert!(matrix("1 noop noop noop best").starts_with("there is no scheduler best"));
        assert!(matrix("1 noop noop noop as:antic_expire=no").starts_with("as:antic_expire=no: "));
        assert!(matrix("1 noop noop noop as:x=3").starts_with("as:x=3: "));
        assert_eq!(matrix(""), "the row 1 is missing");
        let ranking = |text| Table::ranking(text).err().unwrap().to_string();
        assert_eq!(ranking("c-look 4096"), "a size in bytes comes before each scheduler, not c-look");
        assert_eq!(ranking("4096 as\n4096 noop"), "sizes increase, and 4096 does not");
        assert_eq!(ranking(" \n"), "it is empty");
        assert_eq!(ranking("4096"), "it is empty");
        let many: std::string::String = (0..40).map(|size| std::format!("{size} noop\n")).collect();
        assert!(ranking(&many).starts_with("there are more than 32"));
    }
}
