//! What is wrong with a job file.

use std::fmt;

/// What is wrong with a job file, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FioError {
    /// The file's name.
    pub file: String,
    /// The line; 0 if it is the file as a whole.
    pub line: u32,
    /// What is wrong and what to do.
    pub what: String,
}

impl FioError {
    pub(super) fn at(file: &str, line: u32, what: impl Into<String>) -> FioError {
        FioError { file: file.to_owned(), line, what: what.into() }
    }
}

impl fmt::Display for FioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.file, self.what),
            line => write!(f, "{}:{line}: {}", self.file, self.what),
        }
    }
}

impl std::error::Error for FioError {}
