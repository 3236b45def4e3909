//! The user's own matrices and rankings, in TOML, and candidates by name.
//!
//! ```toml
//! kind = "matrix"
//! disk = "maxtor-40g"           # what it was measured on; for people
//! [cells]                       # processes = [seq. reads, seq. writes, random reads, random writes]
//! 1 = ["noop", "noop", "noop", "deadline"]
//! 4 = ["as", "noop", "as", "as"]
//! 8 = ["as", "deadline", "as", "as"]
//! 16 = ["as", "as", "as:antic_expire=3", "as"]
//! ```
//!
//! ```toml
//! kind = "ranking"
//! disk = "maxtor-40g"
//! [[rank]]
//! up_to_bytes = 4096
//! scheduler = "c-look"
//! ```

use std::fmt::Write as _;

use idlewise_core::registry::{self, Assignment};
use idlewise_core::selectors::{Candidate, Rank};
use idlewise_core::tunables::{Tunable, Unit};
use serde::Deserialize;

use crate::experiment::own_name;

/// What is wrong with a matrix, a ranking or a candidate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum FileError {
    /// The text is not TOML of this shape.
    #[error("{0}")]
    Shape(String),
    /// A scheduler is not known.
    #[error("there is no scheduler '{0}': `idlewise list` names them all")]
    Unknown(String),
    /// A setting is wrong.
    #[error("'{text}': {problem}")]
    Setting { text: String, problem: String },
    /// A row of cells is missing or too many schedulers are named.
    #[error("{0}")]
    Content(String),
}

/// A decision matrix.
#[derive(Clone)]
pub struct Matrix {
    /// The schedulers that stand in it.
    pub candidates: Vec<Candidate>,
    /// For each category the place of its candidate.
    pub cells: [u8; 16],
}

/// A ranking by request size.
#[derive(Clone)]
pub struct Ranking {
    /// The schedulers that stand in it.
    pub candidates: Vec<Candidate>,
    /// The best for each size, in increasing order.
    pub ranks: Vec<Rank>,
}

/// A candidate from its text: `NAME` or `NAME:tunable=value;tunable=value`.
pub fn candidate(text: &str) -> Result<Candidate, FileError> {
    let (entry, settings) =
        tuned(text, |name| registry::find(own_name(name)).map(|entry| (entry, entry.tunables)))?;
    Ok(Candidate { entry, settings })
}

/// What `NAME` or `NAME:tunable=value;tunable=value` stands for, where `find` knows the names and their tunables.
pub fn tuned<T>(
    text: &str,
    find: impl Fn(&str) -> Option<(T, &'static [Tunable])>,
) -> Result<(T, Vec<Assignment<'static>>), FileError> {
    let (name, rest) = text.trim().split_once(':').unwrap_or((text.trim(), ""));
    let (found, tunables) = find(name).ok_or_else(|| FileError::Unknown(name.to_owned()))?;
    let wrong = |problem: String| FileError::Setting { text: text.to_owned(), problem };
    let mut settings = Vec::new();
    for part in rest.split(';').filter(|part| !part.trim().is_empty()) {
        let (key, value) = part
            .split_once('=')
            .ok_or_else(|| wrong("write settings as tunable=value;tunable=value".to_owned()))?;
        let tunable = tunables.iter().find(|tunable| tunable.name == key.trim()).ok_or_else(|| {
            let known: Vec<_> = tunables.iter().map(|tunable| tunable.name).collect();
            wrong(format!("{name} has no tunable '{}' (it has: {})", key.trim(), known.join(", ")))
        })?;
        let value = tunable.parse(value.trim()).map_err(|error| wrong(error.to_string()))?;
        settings.push((tunable.name, value));
    }
    Ok((found, settings))
}

/// The text of a candidate, as [`candidate`] reads it.
pub fn label(candidate: &Candidate) -> String {
    text(candidate.entry.name, candidate.entry.tunables, &candidate.settings)
}

/// The text of `name` with `settings` of its `tunables`, as [`tuned`] reads it.
pub fn text(name: &str, tunables: &[Tunable], settings: &[Assignment<'_>]) -> String {
    let mut text = name.to_owned();
    for (index, (name, value)) in settings.iter().enumerate() {
        let _ = write!(text, "{}{name}=", if index == 0 { ':' } else { ';' });
        let _ = match tunables.iter().find(|tunable| tunable.name == *name) {
            Some(tunable) if matches!(tunable.unit, Unit::Choice(_) | Unit::Switch) => {
                write!(text, "{}", tunable.show(*value))
            }
            _ => write!(text, "{value}"),
        };
    }
    text
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MatrixFile {
    kind: String,
    #[serde(default)]
    #[allow(dead_code, reason = "for people")]
    disk: Option<String>,
    #[serde(default)]
    #[allow(dead_code, reason = "for people")]
    goal: Option<String>,
    cells: std::collections::BTreeMap<String, [String; 4]>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RankingFile {
    kind: String,
    #[serde(default)]
    #[allow(dead_code, reason = "for people")]
    disk: Option<String>,
    rank: Vec<RankRow>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RankRow {
    up_to_bytes: u64,
    scheduler: String,
}

/// The place of a candidate's text among those seen, which it may join.
fn place(seen: &mut Vec<(String, Candidate)>, text: &str) -> Result<u8, FileError> {
    let known = seen.iter().position(|(own, _)| own == text);
    let at = match known {
        Some(at) => at,
        None => {
            seen.push((text.to_owned(), candidate(text)?));
            seen.len() - 1
        }
    };
    if seen.len() > idlewise_core::selectors::contract::CANDIDATES_MAX {
        let most = idlewise_core::selectors::contract::CANDIDATES_MAX;
        return Err(FileError::Content(format!("name at most {most} different schedulers")));
    }
    Ok(at as u8)
}

/// Parses TOML, with the line in the error.
fn parse<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, FileError> {
    toml::from_str(text).map_err(|error| {
        let line = error.span().map_or(1, |span| text[..span.start].lines().count().max(1));
        FileError::Shape(format!("line {line}: {}", error.message()))
    })
}

fn kind(found: &str, wanted: &str) -> Result<(), FileError> {
    if found == wanted {
        return Ok(());
    }
    Err(FileError::Content(format!("kind is '{found}': this option wants a file of kind '{wanted}'")))
}

/// Names of the rows of a matrix.
const ROWS: [&str; 4] = ["1", "4", "8", "16"];

impl Matrix {
    /// Reads a matrix.
    pub fn parse(text: &str) -> Result<Matrix, FileError> {
        let file: MatrixFile = parse(text)?;
        kind(&file.kind, "matrix")?;
        if let Some(row) = file.cells.keys().find(|row| !ROWS.contains(&row.as_str())) {
            return Err(FileError::Content(format!("[cells] has a row '{row}': rows are 1, 4, 8 and 16")));
        }
        let mut seen = Vec::new();
        let mut cells = [0; 16];
        for (index, row) in ROWS.iter().enumerate() {
            let missing = || FileError::Content(format!("[cells] lacks the row '{row}'"));
            for (column, text) in file.cells.get(*row).ok_or_else(missing)?.iter().enumerate() {
                cells[index * 4 + column] = place(&mut seen, text)?;
            }
        }
        Ok(Matrix { candidates: seen.into_iter().map(|(_, candidate)| candidate).collect(), cells })
    }

    /// The matrix as a file.
    pub fn text(&self, disk: &str, goal: &str) -> String {
        let mut text = format!("kind = \"matrix\"\ndisk = \"{disk}\"\ngoal = \"{goal}\"\n\n");
        text.push_str(
            "# processes = [sequential reads, sequential writes, random reads, random writes]\n[cells]\n",
        );
        for (index, row) in ROWS.iter().enumerate() {
            let names = self.cells[index * 4..index * 4 + 4]
                .iter()
                .map(|cell| format!("\"{}\"", label(&self.candidates[usize::from(*cell)])));
            let _ = writeln!(text, "{row} = [{}]", names.collect::<Vec<_>>().join(", "));
        }
        text
    }
}

impl Ranking {
    /// Reads a ranking.
    pub fn parse(text: &str) -> Result<Ranking, FileError> {
        let file: RankingFile = parse(text)?;
        kind(&file.kind, "ranking")?;
        if file.rank.is_empty() || !file.rank.is_sorted_by_key(|row| row.up_to_bytes) {
            return Err(FileError::Content("give one [[rank]] or more, in order of up_to_bytes".to_owned()));
        }
        let mut seen = Vec::new();
        let mut ranks = Vec::new();
        for row in &file.rank {
            ranks.push(Rank { up_to: row.up_to_bytes, candidate: place(&mut seen, &row.scheduler)? });
        }
        Ok(Ranking { candidates: seen.into_iter().map(|(_, candidate)| candidate).collect(), ranks })
    }

    /// The ranking as a file.
    pub fn text(&self, disk: &str) -> String {
        let mut text = format!("kind = \"ranking\"\ndisk = \"{disk}\"\n");
        for rank in &self.ranks {
            let name = label(&self.candidates[usize::from(rank.candidate)]);
            let _ = write!(text, "\n[[rank]]\nup_to_bytes = {}\nscheduler = \"{name}\"\n", rank.up_to);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Chosen;

    #[test]
    fn a_matrix_reads_back_as_written() {
        let text = "kind = \"matrix\"\n[cells]\n1 = [\"noop\", \"noop\", \"as:antic_expire=3\", \"deadline\"]\n\
                    4 = [\"as\", \"as\", \"as\", \"as\"]\n8 = [\"as\", \"as\", \"as\", \"as\"]\n\
                    16 = [\"noop\", \"noop\", \"noop\", \"noop\"]\n";
        let matrix = Matrix::parse(text).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(matrix.cells[..5], [0, 0, 1, 2, 3]);
        let again = Matrix::parse(&matrix.text("d", "mean")).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(again.cells, matrix.cells);
        assert_eq!(label(&again.candidates[1]), "as:antic_expire=3");
    }

    #[test]
    fn every_setting_reads_back_as_written() {
        for entry in Chosen::all() {
            let find = |name: &str| Chosen::find(name).map(|entry| (entry, entry.tunables()));
            for tunable in entry.tunables() {
                for settings in [[(tunable.name, tunable.min)], [(tunable.name, tunable.max)]] {
                    let written = text(entry.name(), entry.tunables(), &settings);
                    let (found, read) = tuned(&written, find).unwrap_or_else(|error| panic!("{error}"));
                    assert_eq!((found.name(), &read[..]), (entry.name(), &settings[..]), "{written}");
                }
            }
        }
    }

    #[test]
    fn errors_say_what_is_wrong() {
        let error = |text: &str| Matrix::parse(text).err().unwrap().to_string();
        assert!(error("kind = \"matrix\"\n[cells]\n1 = 3\n").starts_with("line 3"));
        assert!(error("kind = \"ranking\"\n[cells]\n").contains("wants a file of kind 'matrix'"));
        assert!(error("kind = \"matrix\"\n[cells]\n").contains("lacks the row '1'"));
        assert!(candidate("nop").err().unwrap().to_string().contains("there is no scheduler 'nop'"));
        assert!(candidate("as:x=1").err().unwrap().to_string().contains("it has: "));
    }
}
