//! What is wrong with a profile, where, and what to do about it.

use core::fmt;
use std::string::{String, ToString};
use std::{format, io};

/// A profile that cannot be used.
#[derive(Debug)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum ProfileError {
    /// The file cannot be read.
    Read { file: String, error: io::Error },
    /// The text is not what a profile must be.
    Invalid { file: String, line: Option<usize>, message: String },
    /// An option of [`Profile::with`](crate::Profile::with) does not fit.
    Option { message: String },
    /// No profile of that name is built in.
    Unknown { name: String, known: String },
}

impl fmt::Display for ProfileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProfileError::Read { file, error } => {
                write!(f, "{file}: cannot read the disk profile: {error}; check the path")
            }
            ProfileError::Invalid { file, line: Some(line), message } => {
                write!(f, "{file}:{line}: {message}")
            }
            ProfileError::Invalid { file, line: None, message } => write!(f, "{file}: {message}"),
            ProfileError::Option { message } => f.write_str(message),
            ProfileError::Unknown { name, known } => write!(
                f,
                "no disk profile is called {name:?}; the built-in ones are {known}; or give the path of a .toml file"
            ),
        }
    }
}

impl std::error::Error for ProfileError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ProfileError::Read { error, .. } => Some(error),
            _ => None,
        }
    }
}

/// A wrong value: the key that holds it, and what to do.
#[derive(Debug)]
pub(super) struct Fault {
    /// `section.key`, or empty for the whole file.
    pub(super) key: String,
    pub(super) message: String,
}

impl Fault {
    pub(super) fn new(key: &str, message: impl Into<String>) -> Fault {
        Fault { key: key.to_string(), message: message.into() }
    }

    /// Finds the key in the text and names its line.
    pub(super) fn at(self, file: &str, text: &str) -> ProfileError {
        let line = key_line(text, &self.key);
        let message =
            if self.key.is_empty() { self.message } else { format!("{}: {}", self.key, self.message) };
        ProfileError::Invalid { file: file.to_string(), line, message }
    }
}

/// Line of `section.key` in a TOML text, or of its section where the key is missing.
fn key_line(text: &str, path: &str) -> Option<usize> {
    let (section, key) = path.rsplit_once('.').unwrap_or(("", path));
    let mut current = String::new();
    let mut section_line = None;
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if let Some(header) = line.strip_prefix('[') {
            current = header.trim_matches(['[', ']']).trim().to_string();
            if current == section {
                section_line = Some(index + 1);
            }
        } else if current == section {
            let name = line.split('=').next().unwrap_or("").trim();
            if !key.is_empty() && name == key {
                return Some(index + 1);
            }
        }
    }
    section_line
}
