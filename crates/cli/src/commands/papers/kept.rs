//! What runs gave, in a file: a line for each, written as it ends, so that an interrupted command loses what was under way and
//! nothing else.
//!
//! The first line says which build of the program wrote the file: another one may simulate otherwise.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use idlewise_sim::papers::{Measured, Results, Run};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::failure::Failure;

const SCHEMA: &str = "idlewise-papers-runs-1";

/// The first line.
#[derive(PartialEq, Serialize, Deserialize)]
struct Head {
    schema: String,
    /// SHA-256 of the program.
    build: String,
}

/// Every other line.
#[derive(Serialize, Deserialize)]
struct Line {
    run: String,
    gave: Measured,
}

/// Where results are kept; nowhere, if no file is named.
pub(super) struct Kept {
    path: PathBuf,
    file: Option<Mutex<(File, Option<std::io::Error>)>>,
}

impl Kept {
    /// Opens the file and reads what it has. A line that was not finished is forgotten.
    pub(super) fn open(path: Option<&Path>) -> Result<(Kept, Results), Failure> {
        let Some(path) = path else {
            return Ok((Kept { path: PathBuf::new(), file: None }, Results::new()));
        };
        let failed = |error: &std::io::Error| Failure::failed(format!("{}: {error}", path.display()));
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false);
        let mut file = options.open(path).map_err(|error| failed(&error))?;
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(|error| failed(&error))?;
        let head = Head { schema: SCHEMA.to_owned(), build: build()? };
        let (results, whole) = read(&text, &head).map_err(|problem| {
            Failure::usage(format!("--resume {}: {problem}; name another file, or delete it", path.display()))
        })?;
        file.set_len(whole).and_then(|()| file.seek(SeekFrom::End(0))).map_err(|error| failed(&error))?;
        if whole == 0 {
            let line = serde_json::to_string(&head).map_err(Failure::failed)? + "\n";
            file.write_all(line.as_bytes()).map_err(|error| failed(&error))?;
        }
        Ok((Kept { path: path.to_owned(), file: Some(Mutex::new((file, None))) }, results))
    }

    /// Keeps what a run gave.
    pub(super) fn keep(&self, run: &Run, gave: &Measured) {
        let Some(file) = &self.file else { return };
        let line = Line { run: run.to_string(), gave: gave.clone() };
        let (file, failed) = &mut *file.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let written = serde_json::to_string(&line).map_err(std::io::Error::other);
        let written = written.and_then(|line| file.write_all((line + "\n").as_bytes()));
        if let Err(error) = written {
            failed.get_or_insert(error);
        }
    }

    /// An error if something could not be kept.
    pub(super) fn finish(self) -> Result<(), Failure> {
        let failed = self.file.and_then(|file| file.into_inner().ok()?.1);
        failed.map_or(Ok(()), |error| Err(Failure::failed(format!("{}: {error}", self.path.display()))))
    }
}

/// SHA-256 of this program.
fn build() -> Result<String, Failure> {
    let program = std::env::current_exe().and_then(std::fs::read).map_err(|error| {
        Failure::failed(format!(
            "cannot read the program itself, to mark the file of --resume with it: {error}"
        ))
    })?;
    Ok(Sha256::digest(program).iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The results in `text`, and how many of its bytes are whole lines.
fn read(text: &str, head: &Head) -> Result<(Results, u64), String> {
    let mut results = Results::new();
    let mut whole = 0;
    for (number, line) in text.split_inclusive('\n').filter(|line| line.ends_with('\n')).enumerate() {
        if number == 0 {
            let found: Head =
                serde_json::from_str(line).map_err(|_| "is no file of this command".to_owned())?;
            if found != *head {
                return Err("is from another build of idlewise, which may simulate otherwise".to_owned());
            }
        } else {
            let line: Line =
                serde_json::from_str(line).map_err(|error| format!("line {}: {error}", number + 1))?;
            results.insert(line.run, line.gave);
        }
        whole += line.len() as u64;
    }
    if whole == 0 && !text.is_empty() && !text.starts_with('{') {
        return Err("is no file of this command".to_owned());
    }
    Ok((results, whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_finished_is_forgotten() {
        let head = Head { schema: SCHEMA.to_owned(), build: "a".to_owned() };
        let first = serde_json::to_string(&head).unwrap() + "\n";
        let line = Line { run: "one".to_owned(), gave: Measured::default() };
        let line = serde_json::to_string(&line).unwrap() + "\n";
        let text = format!("{first}{line}{}", &line[..line.len() / 2]);
        let (results, whole) = read(&text, &head).unwrap();
        assert_eq!((results.len(), whole as usize), (1, first.len() + line.len()));
        assert_eq!(read("", &head).unwrap().1, 0);
        assert_eq!(read(&first[..9], &head).unwrap().1, 0);
    }

    #[test]
    fn other_files_are_refused() {
        let head = Head { schema: SCHEMA.to_owned(), build: "a".to_owned() };
        let other = Head { schema: SCHEMA.to_owned(), build: "b".to_owned() };
        let first = serde_json::to_string(&other).unwrap() + "\n";
        assert!(read(&first, &head).unwrap_err().contains("another build"));
        for text in ["a letter", "a letter\n", "{}\n"] {
            assert!(read(text, &head).unwrap_err().contains("no file of this command"), "{text}");
        }
        let own = serde_json::to_string(&head).unwrap() + "\nnonsense\n";
        assert!(read(&own, &head).unwrap_err().contains("line 2"));
    }
}
